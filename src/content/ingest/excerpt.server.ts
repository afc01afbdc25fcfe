/** The excerpt of an article: the text that every reader may see. */
import { countWords, truncateAtWord } from '../../lib/text.ts';
import { textOf } from './sanitize.server.ts';

const most = { words: 100, share: 1 / 3, paragraphs: 3 };

const readable = /^(?:P|H[2-6]|BLOCKQUOTE|UL|OL)$/u;

/**
 * The first two or three paragraphs, at most 100 words and never more than a third of the body, cut between blocks. If the first
 * paragraph alone is longer, it is cut between words.
 *
 * @param words number of words in the body
 */
export function openingOf(body: HTMLElement, words: number): string {
  const limit = Math.min(most.words, Math.floor(words * most.share));
  const chosen: Element[] = [];
  let paragraphs = 0;
  let used = 0;
  for (const block of body.children) {
    if (!readable.test(block.nodeName)) continue;
    const length = countWords(textOf(block));
    if (used + length > limit) break;
    used += length;
    chosen.push(block);
    if (!/^H/u.test(block.nodeName)) paragraphs++;
    if (paragraphs === most.paragraphs) break;
  }
  while (/^H/u.test(chosen.at(-1)?.nodeName ?? '')) chosen.pop();
  if (chosen.length > 0) return chosen.map((block) => block.outerHTML).join('\n');
  return cutParagraph(body, limit);
}

function cutParagraph(body: HTMLElement, limit: number): string {
  const first = [...body.children].find((block) => block.nodeName === 'P' && countWords(textOf(block)) > 0);
  if (!first || limit < 1) return '';
  const words = textOf(first).match(/\S+/gu) ?? [];
  const paragraph = body.ownerDocument.createElement('p');
  if (first.getAttribute('dir')) paragraph.setAttribute('dir', first.getAttribute('dir') ?? 'auto');
  // In scripts without spaces a paragraph may count as one word, so characters are limited, too.
  const kept = words.slice(0, limit).join(' ');
  paragraph.textContent = kept.length > 700 ? truncateAtWord(kept, 700) : `${kept}…`;
  return paragraph.outerHTML;
}

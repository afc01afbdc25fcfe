/**
 * Transforms a body between the two passes of the sanitizer: pictures get the image path, links lead to the site's own pages, frames
 * become click-to-load shells, and the structure is corrected.
 */

import { countWords, truncateAtWord } from '../../lib/text.ts';
import { publication } from '../../publication.ts';
import { idPrefix, originalAddressAttribute } from '../store/body-links.ts';
import { linkTarget } from './addresses.ts';
import { numberingOf, unfoldBlocks } from './body-blocks.server.ts';
import {
  type BodyContext,
  create,
  embedBlocks,
  isMediaLink,
  type LinkContext,
  preparePictures,
  preparePlayers,
  restoreEmoji,
  unwrap,
} from './body-media.server.ts';
import { normalizeFormulas } from './math.server.ts';
import { cleanLine, hasRightToLeft, type Sanitizer, textOf } from './sanitize.server.ts';

/** Classes that the site has styles for (src/styles/prose*.css); all others are removed. */
const allowedClass = new RegExp(
  [
    'wp-block-[\\w-]+',
    'align(?:left|right|center|wide|full|none)',
    'has-text-align-(?:left|right|center)',
    'has-drop-cap',
    'is-style-(?:box|large|plain)',
    'columns-[1-8]',
  ]
    .map((each) => `^${each}$`)
    .join('|'),
  'u',
);

export interface ShapedBody {
  readonly html: string;
  /** The same as elements, from which ingest derives the text and the opening. */
  readonly body: HTMLElement;
  /** Whether the sanitizer removed something: HTML that is serialized from `body` must then pass the sanitizer again. */
  readonly altered: boolean;
}

/**
 * Sanitizes and reshapes one body.
 *
 * @param heading level of its highest headings
 */
export async function shapeBody(
  sanitizer: Sanitizer,
  html: string,
  context: BodyContext,
  heading = 2,
): Promise<ShapedBody> {
  const { body, altered } = sanitizer.parseBody(html);
  // Authors have no body, and querying an empty one for every kind of element takes two milliseconds of a publish.
  if (!body.hasChildNodes()) return { html: '', body, altered };
  dropComments(body);
  restoreEmoji(body);
  normalizeFormulas(body);
  unfoldBlocks(body);
  normalizeAttributes(body);
  dropCommentForms(body);
  embedBlocks(body, context);
  await preparePlayers(body, context);
  dropStrayAddresses(body);
  normalizeLinks(body, context);
  await preparePictures(body, context);
  normalizeHeadings(body, heading);
  removeEmptyElements(body);
  wrapLooseText(body);
  wrapTables(body);
  markDirections(body);
  return { html: sanitizer.finish(body.innerHTML, altered).trim(), body, altered };
}

/** Sanitizes and transforms a comment, which may contain only a few elements. */
export function shapeComment(sanitizer: Sanitizer, html: string, context: LinkContext): string {
  const body = sanitizer.parseComment(html);
  dropComments(body);
  restoreEmoji(body);
  for (const image of body.querySelectorAll('img')) image.remove();
  for (const element of body.querySelectorAll('*')) for (const name of ['class', 'alt']) element.removeAttribute(name);
  dropStrayAddresses(body);
  normalizeLinks(body, context);
  for (const link of body.querySelectorAll(`a[${originalAddressAttribute}]`))
    link.removeAttribute(originalAddressAttribute);
  removeEmptyElements(body);
  normalizeCommentLinks(body);
  wrapLooseText(body);
  markDirections(body);
  return body.innerHTML.trim();
}

/**
 * Sanitizes the text of a correction: one paragraph's content, without block elements.
 *
 * @param longest characters of text; a longer one is cut between words and loses its links and emphasis
 */
export function shapeNote(sanitizer: Sanitizer, html: string, context: LinkContext, longest: number): string {
  // A space before each block, so that words of two paragraphs don't run together.
  const body = sanitizer.parseNote(html.replace(/<(?=\/?(?:p|div|br|li|h[1-6])\b)/giu, ' <'));
  dropComments(body);
  normalizeLinks(body, context);
  removeEmptyElements(body);
  const text = cleanLine(body.textContent ?? '');
  if (text === '') return '';
  if ([...text].length > longest) body.textContent = truncateAtWord(text, longest);
  return body.innerHTML.replace(/\s+/gu, ' ').trim();
}

/** Marks readers' links `nofollow` for search engines, and keeps only the first ones of each comment as links. */
function normalizeCommentLinks(body: HTMLElement): void {
  for (const [at, link] of [...body.querySelectorAll('a[href]')].entries()) {
    if (at < publication.comments.links) link.setAttribute('rel', 'nofollow ugc noopener noreferrer');
    else unwrap(link);
  }
}

function dropComments(body: HTMLElement): void {
  const walker = body.ownerDocument.createTreeWalker(body, 128 /* comments */);
  const found: Node[] = [];
  while (walker.nextNode()) found.push(walker.currentNode);
  for (const node of found) node.parentNode?.removeChild(node);
}

/** Removes the comment forms and lists that WordPress prints: the site has its own. */
function dropCommentForms(body: HTMLElement): void {
  for (const block of body.querySelectorAll(
    '[id="user-content-respond"], .wp-block-comments, .wp-block-post-comments-form',
  ))
    block.remove();
}

function normalizeAttributes(body: HTMLElement): void {
  for (const element of body.querySelectorAll('[style], [class], [id], [name], [dir], [cite], ol[type]')) {
    const align = /(?:^|;)\s*text-align\s*:\s*(left|right|center)\s*(?:;|$)/iu.exec(
      element.getAttribute('style') ?? '',
    )?.[1];
    const numbering = numberingOf(element);
    element.removeAttribute('style');
    const classes = [...element.classList].filter((name) => allowedClass.test(name));
    if (align) classes.push(`has-text-align-${align.toLowerCase()}`);
    if (numbering !== null) classes.push(numbering);
    if (classes.length > 0) element.setAttribute('class', [...new Set(classes)].join(' '));
    else element.removeAttribute('class');
    const id = element.getAttribute('id') ?? (element.localName === 'a' ? element.getAttribute('name') : null);
    element.removeAttribute('name');
    element.removeAttribute('id');
    const clean = id?.replace(/\s+/gu, '');
    if (clean) element.setAttribute('id', clean.startsWith(idPrefix) ? clean : idPrefix + clean);
    const dir = element.getAttribute('dir')?.toLowerCase();
    if (dir !== undefined && !['ltr', 'rtl', 'auto'].includes(dir)) element.removeAttribute('dir');
    // No browser shows `cite`, and it would be one more address to check.
    element.removeAttribute('cite');
  }
}

/** Removes `href` and `src` from elements where they have no meaning: the steps for links and pictures wouldn't check them there. */
function dropStrayAddresses(body: HTMLElement): void {
  for (const element of body.querySelectorAll('[href]:not(a)')) element.removeAttribute('href');
  for (const element of body.querySelectorAll('[src]:not(img, audio, video, source, track), [srcset]:not(img)')) {
    element.removeAttribute('src');
    element.removeAttribute('srcset');
  }
}

function normalizeLinks(body: HTMLElement, context: LinkContext): void {
  for (const link of body.querySelectorAll('a')) {
    const href = link.getAttribute('href');
    if (href === null) {
      if (!link.id) unwrap(link);
      continue;
    }
    const target = linkTarget(href, context, context.base);
    if (!target) {
      if (link.id) link.removeAttribute('href');
      else unwrap(link);
      continue;
    }
    if (target.kind === 'anchor') {
      const id = decodeAnchor(target.id);
      link.setAttribute('href', `#${id.startsWith(idPrefix) ? id : idPrefix + id}`);
    } else {
      link.setAttribute('href', target.href);
      if (target.kind === 'external') link.setAttribute('rel', 'noopener noreferrer');
      if (target.kind === 'wordpress') link.setAttribute(originalAddressAttribute, target.original);
    }
  }
}

function decodeAnchor(id: string): string {
  try {
    return decodeURIComponent(id);
  } catch {
    return id;
  }
}

/** Moves headings to start at a level below the headline, without skipped levels. */
function normalizeHeadings(body: HTMLElement, top: number): void {
  const headings = [...body.querySelectorAll('h1, h2, h3, h4, h5, h6')];
  const level = (heading: Element): number => Number(heading.localName.slice(1));
  const shift = Math.min(...headings.map(level)) - top;
  let above = top - 1;
  for (const heading of headings) {
    const wanted = Math.min(6, above + 1, Math.max(top, level(heading) - shift));
    above = wanted;
    if (wanted === level(heading)) continue;
    const replacement = body.ownerDocument.createElement(`h${wanted}`);
    for (const { name, value } of heading.attributes) replacement.setAttribute(name, value);
    replacement.append(...heading.childNodes);
    heading.replaceWith(replacement);
  }
}

/** Elements that count as content without any text. */
const contentWithoutText = 'img, table, hr, audio, video, [id], [data-embed-src]';

const isBlank = (element: Element): boolean =>
  !/[^\s\u00a0\u200b]/u.test(element.textContent ?? '') &&
  !element.matches(contentWithoutText) &&
  !element.querySelector(contentWithoutText);

const mayBeEmpty =
  'p, div, section, aside, span, em, strong, b, i, u, h2, h3, h4, h5, h6, blockquote, ul, ol, li, figure, figcaption, a, pre';

/** Removes empty elements, and spans without attributes but not their content. */
function removeEmptyElements(body: HTMLElement): void {
  // Inner elements come first, so that an element that contained only empty ones is empty when its turn comes.
  for (const element of [...body.querySelectorAll(mayBeEmpty)].reverse()) {
    if (isBlank(element)) element.remove();
    else if (element.localName === 'span' && element.attributes.length === 0) unwrap(element);
  }
}

const inline =
  /^(?:#text|A|EM|STRONG|B|I|U|S|DEL|INS|MARK|SMALL|SUB|SUP|SPAN|CITE|Q|CODE|KBD|SAMP|VAR|ABBR|DFN|TIME|BDI|BDO|RUBY|BR|WBR|math)$/u;

/** Wraps text outside of any block in a paragraph. */
function wrapLooseText(body: HTMLElement): void {
  let paragraph: HTMLElement | null = null;
  for (const node of [...body.childNodes]) {
    if (!inline.test(node.nodeName)) {
      paragraph = null;
      continue;
    }
    if (!paragraph && (node.nodeName === 'BR' || !/[^\s\u00a0]/u.test(node.textContent ?? ''))) {
      if (node.nodeName !== '#text') node.parentNode?.removeChild(node);
      continue;
    }
    if (!paragraph) {
      paragraph = body.ownerDocument.createElement('p');
      body.insertBefore(paragraph, node);
    }
    paragraph.append(node);
  }
}

/** Wraps a wide table in an element of its own that scrolls, by keyboard too, instead of the page. */
function wrapTables(body: HTMLElement): void {
  for (const table of body.querySelectorAll('table')) {
    if (table.parentElement?.closest('table')) continue;
    const attributes = { class: 'table-scroll', tabindex: '0', role: 'group', 'aria-label': 'Table' };
    const wrapper = create(body.ownerDocument, 'div', attributes);
    table.replaceWith(wrapper);
    wrapper.append(table);
  }
}

/** Lets browsers find the direction of each block with right-to-left letters. */
function markDirections(body: HTMLElement): void {
  if (!hasRightToLeft(body.textContent ?? '')) return;
  for (const block of body.querySelectorAll('p, h2, h3, h4, h5, h6, li, blockquote, figcaption, td, th, dt, dd, pre')) {
    if (!block.hasAttribute('dir') && hasRightToLeft(block.textContent ?? '')) block.setAttribute('dir', 'auto');
  }
}

// The opening of an article: the part of a restricted body that every reader may see.

/** Characters, because in languages without spaces a paragraph counts as one word. */
const mostInOpening = { words: 100, characters: 700, share: 1 / 3, paragraphs: 3 };

const openingBlocks = /^(?:P|H[2-6]|BLOCKQUOTE|UL|OL)$/u;

/** What no opening shows: anyone who knows the address of a paid picture or recording can open it. */
const paidMedia = 'img, figure, table, audio, video, iframe, [data-embed-src]';

/** The blocks of a body that an opening may show, including those in groups and columns. @param groups names of groups */
const blocksForOpening = (parent: Element, groups: RegExp): HTMLElement[] =>
  [...parent.children].flatMap((child) => {
    if (groups.test(child.nodeName)) return blocksForOpening(child, groups);
    return openingBlocks.test(child.nodeName) && !isOnlyLinks(child) ? [child as HTMLElement] : [];
  });

/** A block of nothing but links may stand for frames, recordings and pictures that the site can't show. */
function isOnlyLinks(block: Element): boolean {
  const letters = (elements: readonly Element[]): string => elements.map(textOf).join('').replace(/\s+/gu, '');
  const inLinks = letters([...block.querySelectorAll('a')]);
  return inLinks !== '' && inLinks === letters([block]);
}

interface Amount {
  readonly words: number;
  readonly characters: number;
}

function amountOf(text: string): Amount {
  const characters = [...text.replace(/\s+/gu, ' ').trim()].length;
  return { words: countWords(text), characters };
}

/**
 * The first two or three paragraphs, at most 100 words and 700 characters and never more than a third of the body, cut between blocks.
 * If the first paragraph alone is longer, it is cut between words.
 *
 * @param body loses media that no opening shows
 * @param text text of the body
 */
export function openingOf(body: HTMLElement, text: string): string {
  const all = amountOf(text);
  const limit: Amount = {
    words: Math.min(mostInOpening.words, Math.floor(all.words * mostInOpening.share)),
    characters: Math.min(mostInOpening.characters, Math.floor(all.characters * mostInOpening.share)),
  };
  const within = (groups: RegExp): string => openingFrom(blocksForOpening(body, groups), limit);
  // An aside usually is a box, but a group block can also be one that contains the story.
  return within(/^(?:DIV|SECTION)$/u) || within(/^(?:DIV|SECTION|ASIDE)$/u);
}

function openingFrom(blocks: readonly HTMLElement[], limit: Amount): string {
  const chosen: Element[] = [];
  let paragraphs = 0;
  let words = 0;
  let characters = 0;
  for (const block of blocks) {
    const amount = amountOf(textOf(withoutMedia(block)));
    // Blocks without words cost nothing: all the anchors and pictures of a story would be in its opening.
    if (amount.words === 0) continue;
    words += amount.words;
    characters += amount.characters;
    if (words > limit.words || characters > limit.characters) break;
    chosen.push(block);
    if (!/^H/u.test(block.nodeName)) paragraphs++;
    if (paragraphs === mostInOpening.paragraphs) break;
  }
  while (/^H/u.test(chosen.at(-1)?.nodeName ?? '')) chosen.pop();
  if (paragraphs > 0) return chosen.map((block) => block.outerHTML).join('\n');
  return cutParagraph(blocks, limit);
}

/** Removes media from a block, and links that contained nothing else: they often lead to the file of the picture. */
function withoutMedia(block: HTMLElement): HTMLElement {
  const found = [...block.querySelectorAll(`${paidMedia}, a`)].filter(
    (each) => each.localName !== 'a' || isMediaLink(each),
  );
  for (const media of found) {
    const link = media.closest('a');
    media.remove();
    if (link && countWords(textOf(link)) === 0) link.remove();
  }
  if (found.length > 0) removeEmptyElements(block);
  return block;
}

/** The start of the first paragraph, if even that is longer than the limit. */
function cutParagraph(blocks: readonly HTMLElement[], limit: Amount): string {
  const first = blocks.find((block) => block.nodeName === 'P' && countWords(textOf(withoutMedia(block))) > 0);
  if (!first || limit.words < 1 || limit.characters < 1) return '';
  const words = textOf(first).match(/\S+/gu) ?? [];
  const paragraph = first.ownerDocument.createElement('p');
  if (first.getAttribute('dir')) paragraph.setAttribute('dir', first.getAttribute('dir') ?? 'auto');
  paragraph.textContent = truncateAtWord(`${words.slice(0, limit.words).join(' ')}…`, limit.characters);
  return paragraph.outerHTML;
}

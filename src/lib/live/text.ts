/** The words of a live story's entries, for search. */
import type { ContentReader } from '../content/reader.ts';
import { plainText } from '../text.ts';

/** Entries that are read at a time. */
const portion = 20;

/**
 * Headlines and texts of a story's entries as plain text: pinned ones first, then the newest, as the story's page has them.
 *
 * @param most characters after which no further entry is read; the last one is whole
 */
export function entriesText(content: Pick<ContentReader, 'liveEntries'>, story: number, most: number): string {
  const texts: string[] = [];
  let length = 0;
  for (const list of ['pinned', 'story'] as const) {
    for (let offset = 0; length < most; offset += portion) {
      const { items } = content.liveEntries(story, { list, offset, limit: portion });
      for (const { title, bodyHtml } of items) {
        if (length >= most) break;
        const text = [title, plainText(bodyHtml)].filter((part) => part !== '').join('\n');
        texts.push(text);
        length += text.length;
      }
      if (items.length < portion) break;
    }
  }
  return texts.join('\n');
}

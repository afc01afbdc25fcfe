/**
 * The entries of a live story in an open page: where each belongs, and how they are added, changed or removed without moving the text
 * that is being read.
 */
import { keyEventTitle } from '../../lib/live/schema.ts';
import { plainText } from '../../lib/text.ts';
import { prepareEmbeds } from '../embeds.ts';

/** The lists of the page; a further page has no pinned entries. */
export interface Lists {
  readonly section: HTMLElement;
  readonly story: HTMLElement;
  readonly pinned: HTMLElement | null;
}

export function listsOf(page: ParentNode): Lists | null {
  const section = page.querySelector<HTMLElement>('[data-live]');
  const story = section?.querySelector<HTMLElement>('[data-live-list="story"]');
  return section && story ? { section, story, pinned: section.querySelector('[data-live-list="pinned"]') } : null;
}

/** Every entry of the page. */
export const entriesIn = (root: ParentNode): HTMLElement[] => [...root.querySelectorAll<HTMLElement>('[data-entry]')];

export const shownEntry = (lists: Lists, id: string): HTMLElement | null =>
  lists.section.querySelector<HTMLElement>(`[data-entry="${CSS.escape(id)}"]`);

/** An entry's element from its markup, which the site has sanitized; `null` for anything else. */
export function parseEntry(html: string): HTMLElement | null {
  const template = document.createElement('template');
  template.innerHTML = html;
  return template.content.querySelector<HTMLElement>('[data-entry]');
}

/** Whether `a` comes above `b`: newest first; within the same second, the higher id. */
export function isAbove({ dataset: a }: HTMLElement, { dataset: b }: HTMLElement): boolean {
  if (a.at !== b.at) return String(a.at) > String(b.at);
  return Number(a.entry) > Number(b.entry);
}

/** Where an entry belongs: its list, and the entry that it comes before. */
function placeOf(lists: Lists, entry: HTMLElement): { list: HTMLElement; before: Element | null } | null {
  const list = 'pinned' in entry.dataset ? lists.pinned : lists.story;
  if (!list) return null;
  const before = [...list.children].find((other) => other !== entry && isAbove(entry, other as HTMLElement)) ?? null;
  return { list, before };
}

/** Whether an entry belongs on a later page. */
export function isOfLaterPage({ section, story }: Lists, entry: HTMLElement): boolean {
  const last = story.lastElementChild as HTMLElement | null;
  return (
    !('pinned' in entry.dataset) &&
    last !== null &&
    isAbove(last, entry) &&
    section.querySelector('[rel=next]') !== null
  );
}

/**
 * Puts an entry where it belongs, replacing the version that the page showed. Its embeds wait for a click, like those of the page.
 */
export function placeEntry(lists: Lists, entry: HTMLElement): void {
  shownEntry(lists, entry.dataset.entry ?? '')?.remove();
  const place = placeOf(lists, entry);
  prepareEmbeds(entry);
  place?.list.insertBefore(entry, place.before);
  lists.section.querySelector('.live-none')?.remove();
}

/** Top of the list in the window; new entries are inserted below it. */
export const topOf = ({ story, pinned }: Lists, entry: HTMLElement): number =>
  ('pinned' in entry.dataset && pinned ? pinned : story).getBoundingClientRect().top;

/** Elements that can be used to keep the page in place: none that is fixed in the window. */
const parts = '.live-head, .live-keys, [data-entry], [data-entry] > *, .prose > *';

/**
 * Changes the page without moving the visible text: the reference is the first element that starts below the header and isn't changed
 * itself. Browsers with scroll anchoring keep it in place; in others the page is scrolled by the difference.
 */
export function changeInPlace(lists: Lists, changed: Element | null, change: () => void): void {
  const held = [...lists.section.querySelectorAll(parts)].find((part) => {
    if (changed && (part.contains(changed) || changed.contains(part))) return false;
    const { top, height } = part.getBoundingClientRect();
    return height > 0 && top >= 0 && top < innerHeight;
  });
  const before = held?.getBoundingClientRect().top ?? 0;
  change();
  if (!held?.isConnected) return;
  const moved = held.getBoundingClientRect().top - before;
  if (Math.abs(moved) >= 1) scrollBy({ top: moved, behavior: 'instant' });
}

/** The item of an entry in the list of key events: its time and a link. */
function keyEventItem(entry: HTMLElement): HTMLElement | null {
  const own = entry.querySelector('.entry-when a');
  const time = own?.querySelector('time')?.cloneNode(true);
  if (!own || !time) return null;
  const item = document.createElement('li');
  item.dataset.keyEvent = entry.dataset.entry ?? '';
  const link = document.createElement('a');
  // An element that isn't in the page yet may have no address to resolve its links.
  link.href = own.getAttribute('href') ?? '';
  link.dir = 'auto';
  link.textContent = keyEventTitle(
    entry.querySelector('.entry-title')?.textContent ?? '',
    plainText(entry.querySelector('.prose')?.innerHTML ?? ''),
  );
  item.append(time, ' ', link);
  return item;
}

/** Updates the list of key events for an entry. @param entry `null`: it was removed; else not placed yet, so without buttons of embeds */
export function updateKeyEvents({ section }: Lists, id: string, entry: HTMLElement | null): void {
  const keys = section.querySelector<HTMLElement>('[data-live-keys]');
  const list = keys?.querySelector('ol');
  if (!keys || !list) return;
  list.querySelector(`[data-key-event="${CSS.escape(id)}"]`)?.remove();
  const item = entry && 'key' in entry.dataset ? keyEventItem(entry) : null;
  const instantOf = (each: Element): string => each.querySelector('time')?.dateTime ?? '';
  if (item) list.insertBefore(item, [...list.children].find((other) => instantOf(other) < instantOf(item)) ?? null);
  keys.hidden = list.children.length === 0;
}

/** Updates the key events from a newer version of the page; those of waiting entries are added with their entries. */
export function takeOverKeyEvents({ section }: Lists, found: Lists, waiting: ReadonlyMap<string, unknown>): void {
  const keys = section.querySelector<HTMLElement>('[data-live-keys]');
  const items = [...found.section.querySelectorAll<HTMLElement>('[data-key-event]')];
  const shown = items.filter(({ dataset }) => !waiting.has(dataset.keyEvent ?? ''));
  keys?.querySelector('ol')?.replaceChildren(...shown.map((item) => document.importNode(item, true)));
  if (keys) keys.hidden = shown.length === 0;
}

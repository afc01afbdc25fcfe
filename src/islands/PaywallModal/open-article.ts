/**
 * Opens the article of this page in place once it is paid for: the same address is asked again, which is the full variant now, and
 * its body takes the place of the opening. Header, comments, scroll and the page's frame stay as they are.
 */
import styles from './PaywallModal.module.css';

/** Where an article ends for those who may not read on. */
const cut = '.story .body > .prose[data-cut]';
/** Milliseconds between tries: the cookie that opens the article may come with the next answer only. */
const pauses = [0, 300, 1000, 2500];

/** What is laid over a metered article, whose text is there already. */
const overlay = '.meter-wall:not([hidden])';
/** What needs a script that this page does not have. */
const scripted = '[data-ad-slot], [data-gift], script, template';

/** Whether this page is an article that ends before its end. */
export const isCut = (page: Document = document): boolean => page.querySelector(cut) !== null;

/** Whether this page is an article that its reader has just been kept from. */
export const isWalled = (page: Document = document): boolean => isCut(page) || page.querySelector(overlay) !== null;

const wait = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

/** @returns puts the whole article in its place; `null` when it could not be had */
export async function fetchArticle(page: Document = document): Promise<(() => void) | null> {
  const wall = page.querySelector<HTMLElement>(overlay);
  if (wall && !isCut(page)) return () => uncover(wall, page);
  for (const pause of pauses) {
    await wait(pause);
    const full = await fetchFull(page.location.pathname + page.location.search);
    const opening = page.querySelector<HTMLElement>(cut);
    if (full && opening) return () => put(opening, full, page);
  }
  return null;
}

async function fetchFull(path: string): Promise<Element[] | null> {
  try {
    const answer = await fetch(path, {
      credentials: 'same-origin',
      cache: 'no-store',
      headers: { accept: 'text/html' },
    });
    if (!answer.ok) return null;
    const other = new DOMParser().parseFromString(await answer.text(), 'text/html');
    if (isCut(other)) return null;
    const parts = [...other.querySelectorAll('.story .body > *')];
    const end = parts.findIndex(isAfterText);
    const text = end < 0 ? parts : parts.slice(0, end);
    const shown = text.filter((part) => !part.matches(scripted));
    return shown.some((part) => part.matches('.prose')) ? shown : null;
  } catch {
    return null;
  }
}

/** Comments stay those of this page: their scripts know them. */
const isAfterText = (part: Element): boolean => part.matches('.comments, [data-comments], #comments');

function put(opening: HTMLElement, full: readonly Element[], page: Document): void {
  const top = page.defaultView?.scrollY ?? 0;
  const read = opening.textContent?.length ?? 0;
  const old: Element[] = [];
  for (let part: Element | null = opening; part && !isAfterText(part); part = part.nextElementSibling) old.push(part);
  const fresh = full.map((part) => page.importNode(part, true) as HTMLElement);
  opening.before(...fresh);
  for (const part of old) part.remove();
  const first = fresh.find((part) => part.matches('.prose'));
  const next = first && whereItGoesOn(first, read);
  const note = noteFor(page);
  if (next) next.before(note);
  else first?.before(note);
  // Who reads with the keyboard or by ear goes on where the opening ended.
  const target = next ?? first;
  if (target) {
    target.tabIndex = -1;
    target.focus({ preventScroll: true });
    target.addEventListener('blur', () => target.removeAttribute('tabindex'), { once: true });
  }
  page.defaultView?.scrollTo({ top, behavior: 'instant' });
}

/** Takes the overlay away; the quiet line stands where the reader is. */
function uncover(wall: HTMLElement, page: Document): void {
  wall.hidden = true;
  const blocks = [...page.querySelectorAll<HTMLElement>('.story .body > .prose > *')];
  const here = blocks.find((block) => block.getBoundingClientRect().top > 0) ?? blocks[0];
  here?.before(noteFor(page));
  if (!here) return;
  here.tabIndex = -1;
  here.focus({ preventScroll: true });
  here.addEventListener('blur', () => here.removeAttribute('tabindex'), { once: true });
}

/** The first block behind as much text as the opening had. */
function whereItGoesOn(prose: HTMLElement, read: number): HTMLElement | null {
  let seen = 0;
  for (const block of prose.children) {
    if (seen >= read - 1) return block as HTMLElement;
    seen += block.textContent?.length ?? 0;
  }
  return null;
}

/** A quiet line that thanks, and leads to what comes next. */
function noteFor(page: Document): HTMLElement {
  const note = page.createElement('p');
  note.className = styles.joined ?? '';
  note.setAttribute('role', 'status');
  note.dataset.joined = '';
  const link = page.createElement('a');
  link.href = '/thankyou';
  link.textContent = 'See what comes with your subscription';
  note.append('Welcome. The whole story is open. ', link);
  return note;
}

/**
 * Comments read on, sorted and answered in place. The links lead to pages that hold the same lists, so the script fetches what a
 * link leads to and moves the list's items and the next link here; when the fetch fails, the links are links.
 *
 * Contract with the markup: a link `a[data-more]` stands behind the list whose id is in its `data-more`; the fetched page
 * holds a list with the same id, and behind it a link again when there is more. With `data-whole` the fetched list
 * replaces what stands here, as it does for the links of `.comments-sort`. `a[data-act]` is answered by the island, where there is
 * one on the page.
 */
import { $commentAct } from '../stores/comments.ts';

/** Milliseconds within which the island must have begun with what was asked of it. */
const patience = 8000;

/** Starts the island: it is one that waits for a touch. */
export function wake(): boolean {
  const island = document.querySelector('[data-comments] .comments-write astro-island');
  island?.dispatchEvent(new Event('focusin'));
  return island !== null;
}

/** Does in place what a link leads to. */
export async function follow(link: HTMLAnchorElement): Promise<void> {
  if (link.dataset.act) act(link);
  else if (link.getAttribute('aria-busy') !== 'true') await load(link);
}

function act(link: HTMLAnchorElement): void {
  const id = Number(link.closest<HTMLElement>('[data-comment]')?.dataset.comment);
  const asked = { act: link.dataset.act === 'report' ? ('report' as const) : ('reply' as const), id };
  $commentAct.set(asked);
  if (!wake()) location.assign(link.href);
  else setTimeout(() => $commentAct.get() === asked && location.assign(link.href), patience);
}

/** Counts what takes a list's place: of two orders that were asked for in a row the later one stays, whichever comes first. */
const turns = new Map<string, number>();

async function load(link: HTMLAnchorElement): Promise<void> {
  const sorts = link.dataset.sort !== undefined;
  const id = link.dataset.more ?? link.dataset.sort ?? '';
  const list = document.getElementById(id);
  if (!list) return location.assign(link.href);
  const whole = sorts || 'whole' in link.dataset;
  const turn = (turns.get(id) ?? 0) + (whole ? 1 : 0);
  turns.set(id, turn);
  const isLate = (): boolean => turns.get(id) !== turn;
  link.setAttribute('aria-busy', 'true');
  let page: Document;
  try {
    const answer = await fetch(link.href, { headers: { accept: 'text/html' } });
    if (!answer.ok) throw new Error(`${answer.status}`);
    page = new DOMParser().parseFromString(await answer.text(), 'text/html');
  } catch {
    return isLate() ? undefined : location.assign(link.href);
  }
  if (isLate()) return link.removeAttribute('aria-busy');
  const fetched = page.getElementById(id);
  if (!fetched) return location.assign(link.href);

  // A comment that came in between shifts the pages: what is here already is not shown twice.
  const items = [...fetched.children].filter((item) => whole || !document.getElementById(item.id));
  const first = items[0];
  if (whole) list.replaceChildren(...items);
  else list.append(...items);
  const further = `a[data-more="${CSS.escape(id)}"]`;
  const next = page.querySelector(further);
  const shown = sorts ? document.querySelector(further) : link;
  if (next && shown) shown.replaceWith(next);
  else if (next) list.after(next);
  else shown?.remove();
  if (sorts) showSort(link, page);
  dispatchEvent(new Event('broadsheet:stories'));
  if (first instanceof HTMLElement && !sorts) {
    first.tabIndex = -1;
    first.focus({ preventScroll: true });
  }
}

/** The choice is where the reader is: it keeps the focus, and says what is chosen now. */
function showSort(link: HTMLAnchorElement, page: Document): void {
  const fresh = page.querySelector('.comments-sort');
  const name = link.textContent;
  link.closest('.comments-sort')?.replaceWith(fresh ?? '');
  for (const each of fresh?.querySelectorAll('a') ?? []) if (each.textContent === name) each.focus();
}

/**
 * Loads more comments, sorts them and opens replies in place. The links lead to pages with the same lists, so the script fetches the page
 * of a link and moves the list's items and the next link here; if the fetch fails, the browser follows the link.
 *
 * Contract with the markup: a link `a[data-more]` follows the list whose id is in its `data-more`; the fetched page has a list with the
 * same id, and a link again if there is more. With `data-whole`, and for the links of `.comments-sort`, the fetched list replaces this
 * one. The island handles `a[data-act]`.
 */
import { $commentAct } from '../stores/ui.ts';

/** Milliseconds in which the island must handle a request. */
const timeoutMs = 8000;

/** Hydrates the island. */
export function wake(): boolean {
  const island = document.querySelector('[data-comments] .comments-write astro-island');
  island?.dispatchEvent(new Event('focusin'));
  return island !== null;
}

/** Handles a link in place. */
export async function follow(link: HTMLAnchorElement): Promise<void> {
  if (link.dataset.act) act(link);
  else if (link.getAttribute('aria-busy') !== 'true') await load(link);
}

function act(link: HTMLAnchorElement): void {
  const id = Number(link.closest<HTMLElement>('[data-comment]')?.dataset.comment);
  const asked = { act: link.dataset.act === 'report' ? ('report' as const) : ('reply' as const), id };
  $commentAct.set(asked);
  if (!wake()) location.assign(link.href);
  else setTimeout(() => $commentAct.get() === asked && location.assign(link.href), timeoutMs);
}

/**
 * Number of the last request that replaces a list: of two orders requested in quick succession the later one is shown, regardless of
 * which arrives first.
 */
const latestRequests = new Map<string, number>();

async function load(link: HTMLAnchorElement): Promise<void> {
  const sorts = link.dataset.sort !== undefined;
  const id = link.dataset.more ?? link.dataset.sort ?? '';
  const list = document.getElementById(id);
  if (!list) return location.assign(link.href);
  const whole = sorts || 'whole' in link.dataset;
  const request = (latestRequests.get(id) ?? 0) + (whole ? 1 : 0);
  latestRequests.set(id, request);
  // A link that was pressed while the order changed continues the previous order, and is gone with it.
  const isLate = (): boolean => latestRequests.get(id) !== request || !link.isConnected;
  link.setAttribute('aria-busy', 'true');
  let page: Document;
  try {
    const answer = await fetch(link.href, { headers: { accept: 'text/html' } });
    if (!answer.ok) throw new Error(`${answer.status}`);
    page = new DOMParser().parseFromString(await answer.text(), 'text/html');
  } catch {
    return isLate() ? undefined : location.assign(link.href);
  } finally {
    // After a failure, too: the browser may restore this page later.
    link.removeAttribute('aria-busy');
  }
  if (isLate()) return;
  const fetched = page.getElementById(id);
  if (!fetched) return location.assign(link.href);

  // A new comment shifts the pages, so items that are already in the list are skipped.
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

/** Shows the chosen order and keeps the focus on it. */
function showSort(link: HTMLAnchorElement, page: Document): void {
  const fresh = page.querySelector('.comments-sort');
  const name = link.textContent;
  link.closest('.comments-sort')?.replaceWith(fresh ?? '');
  for (const each of fresh?.querySelectorAll('a') ?? []) if (each.textContent === name) each.focus();
}

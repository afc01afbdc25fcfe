/**
 * Links to the previous and next page of a list. Hydrated, the link to the next page adds that page's items to the list, and the address
 * changes without a new entry in the history, so that a reload or a shared link shows the page that was loaded last. If the request fails,
 * the browser follows the link.
 */
import { type MouseEvent, useState } from 'react';
import type { Paging } from '../../lib/paging.ts';
import { isPlainClick } from '../../lib/plain-click.ts';
import styles from './LoadMore.module.css';

/** Id of the list that further items are added to. */
const listId = 'stories';

interface Props {
  paging: Paging;
  /** Name of the items: "stories". */
  noun?: string;
}

export default function LoadMore({ paging, noun = 'stories' }: Props) {
  const [next, setNext] = useState(paging.next);
  const [last, setLast] = useState({ page: paging.page, pages: paging.pages });
  const [busy, setBusy] = useState(false);
  const [added, setAdded] = useState('');

  const load = async (event: MouseEvent<HTMLAnchorElement>) => {
    if (!isPlainClick(event) || next === null) return;
    event.preventDefault();
    if (busy) return;
    setBusy(true);
    try {
      const page = await fetchPage(next);
      const count = append(page.items);
      history.replaceState(history.state, '', next);
      setAdded(count === 1 ? '1 more loaded.' : `${count} more ${noun} loaded.`);
      setNext(page.next);
      setLast({ page: last.page + 1, pages: page.pages ?? last.pages });
    } catch {
      location.assign(next);
    }
    // After a failure, too: the browser may restore this page later.
    setBusy(false);
  };

  return (
    <>
      {(next !== null || paging.previous !== null) && (
        <nav className={styles.pages} aria-label="Pages" data-load-more={last.pages}>
          {paging.previous && (
            <a className={styles.previous} href={paging.previous} rel="prev">
              <Arrow /> Newer {noun}
            </a>
          )}
          <p className={styles.where}>
            {last.page === paging.page ? `Page ${last.page}` : `Pages ${paging.page} to ${last.page}`} of {last.pages}
          </p>
          {next && (
            <a className={styles.next} href={next} rel="next" aria-disabled={busy || undefined} onClick={load}>
              <span className={styles.scripted}>{busy ? 'Loading…' : `More ${noun}`}</span>
              <span className={styles.plain}>
                Older {noun} <Arrow />
              </span>
            </a>
          )}
        </nav>
      )}
      <p className="visually-hidden" role="status" data-load-more-status="">
        {added}
      </p>
    </>
  );
}

const Arrow = () => (
  <svg className={`icon ${styles.arrow}`} viewBox="0 0 20 20" width="20" height="20" aria-hidden="true">
    <path d="M3 10h13M11 5l5 5-5 5" fill="none" stroke="currentColor" strokeWidth="1.6" />
  </svg>
);

/** The items of a list on another page, the address of the page after that one, and how many pages the list has by now. */
async function fetchPage(address: string): Promise<{ items: Element[]; next: string | null; pages: number | null }> {
  const response = await fetch(address, { headers: { Accept: 'text/html' } });
  if (!response.ok) throw new Error(`${address} answered ${response.status}`);
  const page = new DOMParser().parseFromString(await response.text(), 'text/html');
  const items = [...(page.getElementById(listId)?.children ?? [])];
  if (items.length === 0) throw new Error(`${address} has no list ${listId}`);
  const nav = page.querySelector<HTMLElement>('[data-load-more]');
  const next = nav?.querySelector('a[rel="next"]')?.getAttribute('href') ?? null;
  return { items, next, pages: Number(nav?.dataset.loadMore) || null };
}

const linkOf = (item: Element) => item.querySelector<HTMLAnchorElement>('a[href^="/article/"]');

/** Appends items, moves the focus to the first of them, and returns their number. */
function append(fetched: readonly Element[]): number {
  const list = document.getElementById(listId);
  // A new story moves the last stories of a page to the next page, so stories that are already in the list are skipped.
  const known = new Set([...(list?.children ?? [])].map((item) => linkOf(item)?.pathname));
  const items = fetched.filter((item) => !known.has(linkOf(item)?.pathname ?? ''));
  const [first] = items;
  const last = list?.lastElementChild;
  // A page of /latest may start with the last day of the list, whose heading is already there.
  if (
    last instanceof HTMLElement &&
    first instanceof HTMLElement &&
    first.dataset.day &&
    first.dataset.day === last.dataset.day
  )
    first.querySelector('.day')?.remove();
  list?.append(...items);
  dispatchEvent(new Event('broadsheet:stories'));
  if (first) linkOf(first)?.focus({ preventScroll: true });
  return items.length;
}

/**
 * Brings the breaking-news banner of an open page up to date: with what the event stream of a live page says, or with the fragment when a page
 * is looked at again. The press has put the banner of that moment into the page; this does in an open page what the banner's own script does
 * while a page loads (`lib/alerts/model.ts`). What is being read stays where it is.
 */

import { alertFragment, alertWords, closedKey } from '../lib/alerts/model.ts';
import { readStored, writeStored } from '../lib/browser-storage.ts';

/** Looks whether the alert is another one; nearly always the browser's copy of the fragment is still right. */
export async function renewAlert(): Promise<void> {
  const response = await fetch(alertFragment, { cache: 'no-cache' }).catch(() => null);
  if (response?.ok) showAlert(await response.text());
}

/** @param html the banner as the fragment has it; anything without a banner: there is no alert */
export function showAlert(html: string): void {
  const shown = document.querySelector<HTMLElement>('.alert');
  const next = readBanner(html);
  if (shown?.dataset.alert === next?.dataset.alert) return;
  const skipLink = document.querySelector('.skip-link');
  const isOver = Number(shown?.dataset.until) < Date.now();
  steadily(() => {
    if (shown?.contains(document.activeElement)) document.getElementById('main')?.focus({ preventScroll: true });
    shown?.remove();
    if (next) skipLink?.after(next);
  });
  if (next?.isConnected) announce(alertWords.news(next.querySelector('p')?.lastChild?.textContent ?? ''));
  else if (shown && !isOver) announce(alertWords.withdrawn);
}

/** @returns `null` for no banner, and for one that the reader has closed or whose time is over */
function readBanner(html: string): HTMLElement | null {
  const template = document.createElement('template');
  template.innerHTML = html;
  const banner = template.content.querySelector<HTMLElement>('.alert');
  const { alert: id = '', until } = banner?.dataset ?? {};
  if (!banner || readStored(closedKey) === id || Date.now() > Number(until)) return null;
  banner.querySelector('script')?.remove();
  const details = banner.querySelector('details');
  details?.addEventListener('toggle', () => details.open || writeStored(closedKey, id));
  return banner;
}

/**
 * Changes what stands above the page. A reader at the top of the page sees it; of anyone else the page is scrolled by the difference, if the
 * browser doesn't do so by itself.
 */
function steadily(change: () => void): void {
  const page = document.getElementById('main');
  const before = page?.getBoundingClientRect().top ?? 0;
  const isAtTop = scrollY === 0;
  change();
  const moved = (page?.getBoundingClientRect().top ?? 0) - before;
  if (!isAtTop && Math.abs(moved) >= 1) scrollBy({ top: moved, behavior: 'instant' });
}

const status = document.createElement('p');

/** Tells readers who can't see the change, after what is being read aloud. */
function announce(words: string): void {
  if (!status.isConnected) {
    status.className = 'visually-hidden';
    status.setAttribute('role', 'status');
    document.body.append(status);
  }
  // Screen readers tell of changes of an element that they know already.
  setTimeout(() => {
    status.textContent = words;
  }, 100);
}

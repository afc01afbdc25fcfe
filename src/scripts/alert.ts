/**
 * Keeps the breaking-news banner of an open page up to date: from the event stream of a live story, or from the fragment when the reader
 * returns to the page. The press inserted the banner that was current then; this script does for an open page what the banner's own script
 * does while a page loads (`lib/alerts/model.ts`). The text that is being read doesn't move.
 */

import { alertFragment, alertWords, closedKey } from '../lib/alerts/model.ts';
import { readStored, writeStored } from '../lib/browser-storage.ts';

/** Checks whether the alert has changed; usually the browser's cached copy of the fragment is still valid. */
export async function renewAlert(): Promise<void> {
  const response = await fetch(alertFragment, { cache: 'no-cache' }).catch(() => null);
  if (response?.ok) showAlert(await response.text());
}

/** @param html the banner from the fragment; anything without a banner means that there is no alert */
export function showAlert(html: string): void {
  const shown = document.querySelector<HTMLElement>('.alert');
  const sent = readBanner(html);
  const next = sent && isCurrent(sent) ? sent : null;
  if (shown?.dataset.alert === next?.dataset.alert) return;
  const skipLink = document.querySelector('.skip-link');
  const isOver = Number(shown?.dataset.until) < Date.now();
  steadily(() => {
    if (shown?.contains(document.activeElement)) focusPage();
    shown?.remove();
    if (next) skipLink?.after(next);
  });
  if (next?.isConnected) announce(alertWords.news(next.querySelector('p')?.lastChild?.textContent ?? ''));
  else if (shown && !sent && !isOver) announce(alertWords.withdrawn);
}

/** @returns `null` if there is no banner */
function readBanner(html: string): HTMLElement | null {
  const template = document.createElement('template');
  template.innerHTML = html;
  const banner = template.content.querySelector<HTMLElement>('.alert');
  banner?.querySelector('script')?.remove();
  const details = banner?.querySelector('details');
  details?.addEventListener('toggle', () => {
    if (details.open) return;
    focusPage();
    writeStored(closedKey, banner?.dataset.alert ?? '');
  });
  return banner;
}

/** Whether the reader hasn't closed the alert and its time isn't over. */
const isCurrent = ({ dataset }: HTMLElement): boolean =>
  readStored(closedKey) !== dataset.alert && Date.now() <= Number(dataset.until);

/** A banner that goes leaves the focus nowhere. */
const focusPage = (): void => document.getElementById('main')?.focus({ preventScroll: true });

/**
 * Changes the content above the page's text. Readers at the top see the change; for others the page is scrolled by the difference, unless
 * the browser does so itself.
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

/** Announces the change to screen readers, after what is being read aloud. */
function announce(words: string): void {
  if (!status.isConnected) {
    status.className = 'visually-hidden';
    status.setAttribute('role', 'status');
    document.body.append(status);
  }
  // Screen readers announce only changes of an element that they already know.
  setTimeout(() => {
    status.textContent = words;
  }, 100);
}

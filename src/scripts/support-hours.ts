/** Says anew each minute whether the support inbox is staffed, while the page is looked at. */
import { supportHours } from '../lib/support/hours.ts';

function say(): void {
  const { open, words } = supportHours(Date.now());
  for (const element of document.querySelectorAll<HTMLElement>('[data-support-hours]')) {
    if (element.textContent !== words) element.textContent = words;
    element.dataset.open = String(open);
  }
}

setInterval(say, 60_000);
document.addEventListener('visibilitychange', () => {
  if (!document.hidden) say();
});

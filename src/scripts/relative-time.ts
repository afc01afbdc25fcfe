/** Shows young moments as "N ago" (spec section 9) and keeps them right while the page is open. */
import { relativeText } from '../lib/relative-time.ts';

const dates = new WeakMap<Element, string>();

function update(): void {
  const now = Date.now();
  for (const element of document.querySelectorAll<HTMLTimeElement>('time[data-ago]')) {
    const text = relativeText(element.dateTime, now) ?? '';
    if (element.textContent !== text) element.textContent = text;
  }
  for (const element of document.querySelectorAll<HTMLTimeElement>('time[data-relative]')) {
    const absolute = dates.get(element) ?? element.textContent ?? '';
    if (!dates.has(element)) {
      dates.set(element, absolute);
      element.title = absolute;
    }
    const text = relativeText(element.dateTime, now) ?? absolute;
    if (element.textContent !== text) element.textContent = text;
  }
}

update();
setInterval(update, 60_000);
// A tab that was asleep, a page from the browser's memory, stories that were loaded later.
addEventListener('visibilitychange', update);
addEventListener('pageshow', update);
addEventListener('broadsheet:stories', update);

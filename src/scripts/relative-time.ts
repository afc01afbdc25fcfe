/** Shows young moments as "N ago" (spec section 9), and keeps them right while the page is open. */
import { relativeText } from '../lib/relative-time.ts';

const absolutes = new WeakMap<Element, string>();

function say(element: HTMLTimeElement, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}

function update(): void {
  const now = Date.now();
  for (const element of document.querySelectorAll<HTMLTimeElement>('time[data-ago]'))
    say(element, relativeText(element.dateTime, now) ?? '');
  for (const element of document.querySelectorAll<HTMLTimeElement>('time[data-relative]')) {
    const absolute = absolutes.get(element) ?? element.textContent ?? '';
    if (!absolutes.has(element)) {
      absolutes.set(element, absolute);
      element.title = absolute;
    }
    say(element, relativeText(element.dateTime, now) ?? absolute);
  }
}

update();
setInterval(update, 60_000);
// A tab that was asleep, a page from the browser's memory, stories that were loaded later.
addEventListener('visibilitychange', update);
addEventListener('pageshow', update);
addEventListener('broadsheet:stories', update);

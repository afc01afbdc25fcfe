/**
 * Keeps moments right while a page is stored or open: young ones as "N ago" (spec section 9), and the masthead's day as it is in New York.
 */
import { relativeText } from '../lib/relative-time.ts';
import { publication } from '../publication.ts';

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
  const masthead = document.querySelector<HTMLTimeElement>('[data-masthead-day]');
  if (masthead) turnDay(masthead, now);
}

function turnDay(element: HTMLTimeElement, now: number): void {
  const { timeZone } = publication;
  say(element, new Intl.DateTimeFormat('en-US', { timeZone, dateStyle: 'full' }).format(now));
  // Canada writes a day as `yyyy-mm-dd`.
  element.dateTime = new Intl.DateTimeFormat('en-CA', { timeZone }).format(now);
}

update();
setInterval(update, 60_000);
// A tab that was asleep, a page from the browser's memory, stories that were loaded later.
addEventListener('visibilitychange', update);
addEventListener('pageshow', update);
addEventListener('broadsheet:stories', update);

/** Keeps the masthead on the day it is in New York: a stored page may be older, a tab may stay open past midnight. */
import { publication } from '../publication.ts';

const { timeZone } = publication;
const format = new Intl.DateTimeFormat('en-US', { timeZone, dateStyle: 'full' });
/** Canada writes a day as `yyyy-mm-dd`. */
const machineFormat = new Intl.DateTimeFormat('en-CA', { timeZone });
const element = document.querySelector<HTMLTimeElement>('[data-masthead-day]');

function update(): void {
  const now = new Date();
  const day = format.format(now);
  if (!element || element.textContent === day) return;
  element.textContent = day;
  element.dateTime = machineFormat.format(now);
}

update();
setInterval(update, 60_000);
addEventListener('visibilitychange', update);
addEventListener('pageshow', update);

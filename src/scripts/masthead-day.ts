/** Keeps the masthead on the day it is in New York: a stored page may be older, a tab may stay open past midnight. */
import { publication } from '../publication.ts';

const format = new Intl.DateTimeFormat('en-US', { timeZone: publication.timeZone, dateStyle: 'full' });
/** `yyyy-mm-dd`, which is how Canada writes a day. */
const machineFormat = new Intl.DateTimeFormat('en-CA', { timeZone: publication.timeZone });

function update(): void {
  for (const element of document.querySelectorAll<HTMLTimeElement>('[data-masthead-day]')) {
    const day = format.format(new Date());
    if (element.textContent === day) continue;
    element.textContent = day;
    element.dateTime = machineFormat.format(new Date());
  }
}

update();
setInterval(update, 60_000);
addEventListener('visibilitychange', update);
addEventListener('pageshow', update);

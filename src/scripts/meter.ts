/**
 * Counts the reading of a metered article, and lays a wall over it when there is none left. The text stays where it is: for search
 * engines, for readers without scripts, and for whoever scrolls past.
 */
import { $meter, readMetered } from '../stores/meter.ts';
import { $ui } from '../stores/ui.ts';

const wall = document.querySelector<HTMLElement>('.meter-wall');

/** How long a wall waits for the prices, in milliseconds. */
const patience = 3000;
let offer: Promise<void> | undefined;

/** Brings what a subscription costs and brings. A wall that cannot have it opens without: its links lead to the plans. */
async function bringOffer(place: HTMLElement): Promise<void> {
  try {
    const response = await fetch(place.dataset.offer ?? '', { signal: AbortSignal.timeout(patience) });
    if (!response.ok) return;
    const page = new DOMParser().parseFromString(await response.text(), 'text/html');
    place.replaceChildren(...page.body.children);
    const { showCurrency } = await import('./currency.ts');
    showCurrency(place);
  } catch {
    // Offline, or too slow.
  }
}

/** Lays the wall whole, so that nothing of it moves once it is seen, or takes it away. */
async function lay(): Promise<void> {
  if (!wall) return;
  const place = wall.querySelector<HTMLElement>('[data-offer]');
  if (place && $meter.get().ask !== 'nothing') {
    offer ??= bringOffer(place);
    await offer;
  }
  // It may have changed in the meantime.
  const { ask } = $meter.get();
  wall.hidden = ask === 'nothing';
  for (const part of wall.querySelectorAll<HTMLElement>('[data-ask]')) part.hidden = part.dataset.ask !== ask;
}

if (wall) {
  $meter.subscribe(() => void lay());
  const { meterWall: article, days, total } = wall.dataset;
  const rules = { days: Number(days), anonymous: Number(total) };
  const read = () => void readMetered(Number(article), location.pathname, rules);
  // A page that is made ready ahead is not read yet.
  if ('prerendering' in document && document.prerendering)
    document.addEventListener('prerenderingchange', read, { once: true });
  else read();
  // A sign-in in this page or another tab changes who is asked.
  new MutationObserver(() => {
    // Who is joining here stays where they are: the paywall opens the article itself.
    if ($ui.get().paywall.open) return;
    if (document.documentElement.dataset.visitor !== undefined && $meter.get().ask === 'registration')
      location.reload();
  }).observe(document.documentElement, { attributeFilter: ['data-visitor'] });
}

/**
 * Counts the reading of a metered article, and shows the metered paywall over it if no free article is left. The text stays in the
 * page: for search engines and for readers without JavaScript.
 */
import { whenShown } from '../lib/when-shown.ts';
import { $meter, readMetered } from '../stores/meter.ts';
import { $ui } from '../stores/ui.ts';

const paywall = document.querySelector<HTMLElement>('.metered-paywall');

/** How long the paywall waits for the prices, milliseconds. */
const timeoutMs = 3000;
let offer: Promise<void> | undefined;

/** Loads the prices and benefits of a subscription. Without them the paywall's links lead to the plans. */
async function loadOffer(place: HTMLElement): Promise<void> {
  try {
    const response = await fetch(place.dataset.offer ?? '', { signal: AbortSignal.timeout(timeoutMs) });
    if (!response.ok) return;
    const page = new DOMParser().parseFromString(await response.text(), 'text/html');
    place.replaceChildren(...page.body.children);
    const { showCurrency } = await import('./currency.ts');
    showCurrency(place);
  } catch {
    // Offline, or too slow.
  }
}

const { metered: article, days, total, unmetered = '' } = paywall?.dataset ?? {};
const isUnmetered = (visitor = ''): boolean => visitor !== '' && unmetered.split(' ').includes(visitor);

/** Shows the paywall when it is complete, so that nothing moves, or hides it. */
async function update(): Promise<void> {
  if (!paywall) return;
  const place = paywall.querySelector<HTMLElement>('[data-offer]');
  if (place && $meter.get() !== 'nothing') {
    offer ??= loadOffer(place);
    await offer;
  }
  // The decision may have changed in the meantime.
  const ask = $meter.get();
  paywall.hidden = ask === 'nothing' || isUnmetered(document.documentElement.dataset.visitor);
  for (const part of paywall.querySelectorAll<HTMLElement>('[data-ask]')) part.hidden = part.dataset.ask !== ask;
}

/** Opens the story, or counts the reading again, after a sign-in or a payment in this page or another tab. */
function follow(): void {
  // While the reader is subscribing on this page, the paywall itself opens the article.
  if (!paywall || $ui.get().paywall.open) return;
  const { visitor } = document.documentElement.dataset;
  if (isUnmetered(visitor)) paywall.hidden = true;
  else if (visitor !== undefined && $meter.get() === 'registration') location.reload();
}

if (paywall) {
  $meter.subscribe(() => void update());
  const rules = { days: Number(days), anonymous: Number(total) };
  whenShown(() => void readMetered(Number(article), location.pathname, rules));
  new MutationObserver(follow).observe(document.documentElement, { attributeFilter: ['data-visitor'] });
  // The reader may have closed the paywall after signing in there.
  $ui.listen(follow);
}

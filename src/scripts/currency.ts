/**
 * Asks for the reader's currency the first time a browser scrolls near prices. Pages hold prices in all currencies; `data-currency` on
 * <html> shows one (components/plans/InCurrency.astro).
 */

import { payingKinds } from '../lib/accounts/products.ts';
import { type CurrencyAnswer, readCurrency } from '../lib/billing/schema.ts';
import { whenShown } from '../lib/when-shown.ts';

async function learn(): Promise<void> {
  try {
    const answer = await fetch('/api/v1/checkout/currency');
    if (!answer.ok) return;
    const { currency } = (await answer.json()) as CurrencyAnswer;
    document.documentElement.dataset.currency = currency;
  } catch {
    // Offline: the checkout shows the amount that is charged.
  }
}

/** Requests the reader's currency when prices in this part of the page come near, unless the browser already knows it. */
export function showCurrency(part: ParentNode): void {
  const prices = part.querySelectorAll<HTMLElement>('.in-currency');
  const { visitor } = document.documentElement.dataset;
  const pays = payingKinds.some((kind) => kind === visitor);
  // A subscription keeps its currency; a country's currency holds until there is a subscription.
  if (prices.length === 0 || readCurrency(document.cookie)?.own === pays) return;
  if (!pays && prices[0]?.dataset.asked === undefined) return;
  const near = new IntersectionObserver(
    (entries) => {
      if (!entries.some(({ isIntersecting }) => isIntersecting)) return;
      near.disconnect();
      void learn();
    },
    { rootMargin: '100%' },
  );
  for (const one of prices) near.observe(one);
}

whenShown(() => showCurrency(document));

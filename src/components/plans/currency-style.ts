/** Styles of InCurrency.astro, which follow from the currencies of the publication: the first text of a page brings them. */
import { currencies } from '../../lib/billing/currency.ts';

const shown = currencies.map((one, at) => {
  const own = `html[data-currency=${one}] [data-in~=${one}]`;
  return at === 0 ? `html:not([data-currency]) [data-in~=${one}],${own}` : own;
});
const rules = `.in-currency{display:inline-grid}.in-currency>*{grid-area:1/1;visibility:hidden}${shown.join()}{visibility:inherit}`;

const styled = new WeakSet<Request>();

/** The styles, once for each page; `null` after that. */
export function styleOnce(request: Request): string | null {
  if (styled.has(request)) return null;
  styled.add(request);
  return rules;
}

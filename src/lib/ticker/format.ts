/** How the ticker writes numbers, the same on the server and in the browser. */

const digits = (places: number) =>
  new Intl.NumberFormat('en-US', { minimumFractionDigits: places, maximumFractionDigits: places });
const formats = { 2: digits(2), 4: digits(4) };

/** Exchange rates have four places, everything else two. */
const placesOf = (price: number): 2 | 4 => (Math.abs(price) < 10 ? 4 : 2);

/** A price in its own unit. */
export const priceText = (price: number): string => formats[placesOf(price)].format(price);

/** A change with its sign; a minus is a minus and no hyphen. */
export function changeText(change: number, price: number): string {
  const text = formats[placesOf(price)].format(Math.abs(change));
  return /[1-9]/.test(text) ? `${change < 0 ? '−' : '+'}${text}` : text;
}

/** `(+0.52%)` (spec section 3, "changePercent"). @param percent hundredths */
export const percentText = (percent: number): string => `(${changeText(percent, 100)}%)`;

export type Direction = 'up' | 'down' | 'same';

/** Which way it went, as far as the written change shows it. */
export const directionOf = (change: number, price: number): Direction =>
  /[1-9]/.test(changeText(change, price)) ? (change < 0 ? 'down' : 'up') : 'same';

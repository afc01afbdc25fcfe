/**
 * Addresses of resized pictures: `/image?url=…&width=…&quality=…` (spec section 7). The service behind them is
 * `images.server.ts`; it refuses widths that are not listed in the publication.
 */
import { publication } from '../../publication.ts';

export const imagePath = '/image';

/** The largest width that pages offer. */
const widest = 2048;

/** Every width that the service accepts, ascending. */
export const imageWidths: readonly number[] = [...publication.images.smallWidths, ...publication.images.deviceWidths];

/** Address of one size of a picture. `width` must be one of {@link imageWidths}. */
export function imageUrl(url: string, width: number): string {
  if (!imageWidths.includes(width)) {
    throw new RangeError(`imageUrl: ${width} is not a listed width (${imageWidths.join(', ')})`);
  }
  return `${imagePath}?url=${encodeURIComponent(url)}&width=${width}&quality=${publication.images.quality}`;
}

/** Address of a picture cropped to 1280×720 as JPEG, for cards on social networks (spec section 9). */
export const socialImageUrl = (url: string): string => `${imagePath}?url=${encodeURIComponent(url)}&crop=social`;

/**
 * Value for `srcset`: every listed width from `from` up to the first that reaches the original's width (never beyond `to`), so
 * that no enlargement is offered.
 *
 * @param originalWidth pixels of the original; `null` offers all widths
 */
export function imageSrcset(url: string, originalWidth: number | null, from = 256, to = widest): string {
  const widths: number[] = [];
  for (const width of imageWidths) {
    if (width < from || width > to) continue;
    widths.push(width);
    if (originalWidth !== null && width >= originalWidth) break;
  }
  return widths.map((width) => `${imageUrl(url, width)} ${width}w`).join(', ');
}

/**
 * A `sizes` attribute for a picture that is as wide as a phone's window. Phones with three pixels for each CSS pixel load two, and every
 * phone may load a picture that is a twentieth narrower than its window: most then find the next smaller width enough. Readers see no
 * difference, and the file is half as large, or a quarter smaller.
 *
 * @param sizes whose last case is `100vw`
 */
export const sizesOnPhones = (sizes: string): string =>
  sizes.replace(/\b100vw$/, '(min-resolution: 2.1dppx) 63vw, 95vw');

/** At the text size that browsers start with. */
const pixelsPerEm = 16;

/**
 * The largest width that a browser can need, in pixels: three for each CSS pixel of a fixed width, two for a width that is a share of the
 * window, up to the window's next breakpoint. For a share of the widest windows there is no maximum.
 *
 * @param sizes a `sizes` attribute, its cases from wide windows to narrow ones; lengths in `em`, which follow the reader's text size as the
 *   breakpoints of the layout do
 */
export function widthFor(sizes: string): number {
  let window = Number.POSITIVE_INFINITY;
  let most = 0;
  for (const part of sizes.split(/,\s*/)) {
    const [, from, value, unit] = /^(?:\(min-width: ([\d.]+)em\) )?([\d.]+)(em|vw)$/.exec(part) ?? [];
    if (value === undefined) return widest;
    most = Math.max(most, unit === 'em' ? 3 * pixelsPerEm * Number(value) : (2 * window * Number(value)) / 100);
    window = pixelsPerEm * Number(from ?? 0);
  }
  return imageWidths.find((width) => width >= most && width <= widest) ?? widest;
}

/** Colors of the placeholders for missing pictures, used in turn (spec section 9). */
const colors = ['white', 'gold', 'red'] as const;

/** @param position position among the placeholders of a page, from 0 */
export const placeholderColor = (position: number): (typeof colors)[number] =>
  colors[position % colors.length] ?? 'white';

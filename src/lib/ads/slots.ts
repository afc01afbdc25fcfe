/**
 * The slots of a page in the browser (components/ads/AdSlot.astro): which of them want an advertisement, and which show one. Their room is
 * there from the first paint; nothing here moves what a reader sees.
 */

import type { AdPlace } from './gpt.ts';
import { type AdShape, adShapes } from './model.ts';

const slots = (): HTMLElement[] => [...document.querySelectorAll<HTMLElement>('[data-ad-room]')];
const placeIn = (slot: HTMLElement) => slot.querySelector<HTMLElement>('[data-ad-place]');

/** Places that are shown to this reader, and hold nothing yet. */
export function openPlaces(): AdPlace[] {
  return slots().flatMap((slot) => {
    const { adSlot: name, shape } = slot.dataset;
    const element = placeIn(slot)?.id;
    const known = adShapes.find((each) => each === shape) as AdShape | undefined;
    return name && known && element && isShown(slot) ? [{ name, shape: known, element }] : [];
  });
}

/**
 * Opens slots that are closed as long as advertising is not allowed. Only below what is in sight: the others would push down what is
 * being read, and open on the next page.
 */
export function openBelow(): void {
  for (const slot of slots()) {
    if (slot.dataset.adRoom !== 'opens' || isShown(slot)) continue;
    // What is not shown has no place; what stands before it in the page has.
    const before = nearestShownBefore(slot);
    if (before && before.getBoundingClientRect().bottom > window.innerHeight) slot.dataset.open = '';
  }
}

/** Shows what was set into a slot, or the house's own word again. */
export function fill(element: string, filled: boolean): void {
  const slot = document.getElementById(element)?.closest<HTMLElement>('[data-ad-room]');
  if (!slot) return;
  if (!filled) {
    empty(slot);
    return;
  }
  slot.dataset.filled = '';
  slot.dataset.word ??= slot.ariaLabel ?? '';
  slot.ariaLabel = slot.dataset.adLabel ?? null;
}

function empty(slot: HTMLElement): void {
  delete slot.dataset.filled;
  if (slot.dataset.word) slot.ariaLabel = slot.dataset.word;
}

/** Every slot shows the house's own word. */
export function emptyAll(): void {
  for (const slot of slots()) empty(slot);
}

const isShown = (element: HTMLElement): boolean => element.getClientRects().length > 0;

function nearestShownBefore(element: Element): HTMLElement | null {
  for (let at: Element | null = element; at; at = at.parentElement) {
    let before = at.previousElementSibling;
    while (before && !(before instanceof HTMLElement && isShown(before))) before = before.previousElementSibling;
    if (before instanceof HTMLElement) return before;
  }
  return null;
}

/**
 * Advertising on a page through Google Publisher Tag, with its current API
 * (developers.google.com/publisher-tag/guides/config-migration): page settings by `setConfig`, slots with a size mapping,
 * `destroySlots` at the end. Commands wait in an array until the script has loaded.
 */
/// <reference types="google-publisher-tag" />

import { loadScriptOnce } from '../third-party/load-script.ts';
import type { Adapter, AdapterContext, PageFacts, VisitorType } from '../third-party/model.ts';

type Tag = typeof googletag;

/** The vendor's object before its script has loaded: an array of commands. */
interface WaitingTag {
  cmd: Tag['cmd'];
}

/** The declarations describe the loaded tag; before that, the object is an array of commands, or missing. */
const host = globalThis as unknown as { googletag?: Tag | WaitingTag };

interface AdRequest {
  readonly network: string;
  readonly places: readonly AdPlace[];
  readonly targeting: Readonly<Record<string, string>>;
  /** Limited ads: they don't depend on the reader and set no cookies. */
  readonly limited: boolean;
}

/**
 * How far ahead ads are fetched and rendered, in percent of the window's height; twice as far on phones, which scroll faster than ads
 * load.
 */
const lazyLoad = {
  fetchMarginPercent: 200,
  renderMarginPercent: 100,
  mobileScaling: 2,
} satisfies googletag.config.LazyLoadConfig;

/** Runs an action when the vendor's script has loaded. */
const whenLoaded = (action: (tag: Tag) => void) => {
  host.googletag ??= { cmd: [] };
  host.googletag.cmd.push(() => action(host.googletag as Tag));
};

/** The vendor's types require mutable arrays. */
const sizesFor = (sizes: readonly AdSize[]): googletag.MultiSize => sizes.map(([width, height]) => [width, height]);

let listening = false;

/** @param onRendered called for each slot after the response; `isEmpty`: there is no ad for it */
function requestAds(
  { network, places, targeting, limited }: AdRequest,
  onRendered: (element: string, isEmpty: boolean) => void,
): void {
  whenLoaded((tag) => {
    // No `singleRequest`: with it, the first slot that comes near fetches all others, however far away they are.
    tag.setConfig({ lazyLoad, targeting: { ...targeting } } satisfies googletag.config.PageSettingsConfig);
    if (limited) tag.pubads().setPrivacySettings({ limitedAds: true } satisfies googletag.PrivacySettingsConfig);
    if (!listening) {
      listening = true;
      tag
        .pubads()
        .addEventListener('slotRenderEnded', ({ slot, isEmpty }) => onRendered(slot.getSlotElementId(), isEmpty));
    }
    const defined: string[] = [];
    for (const { name, shape, element } of places) {
      const slot = tag.defineSlot(adUnit(network, name), sizesFor(adSizes(shape)), element);
      if (!slot) continue;
      const mapping = tag.sizeMapping();
      for (const { from, sizes } of adSteps[shape]) mapping.addSize([from, 0], sizesFor(sizes));
      const steps = mapping.build();
      if (steps) slot.defineSizeMapping(steps);
      // The ad is a frame of another origin: it can't access the page, and the page's policy doesn't apply to it.
      slot.setConfig({ safeFrame: { forceSafeFrame: true } } satisfies googletag.config.SlotSettingsConfig);
      slot.addService(tag.pubads());
      defined.push(element);
    }
    tag.enableServices();
    for (const element of defined) tag.display(element);
  });
}

/** Removes every ad from the page. */
function destroyAds(): void {
  if (host.googletag) whenLoaded((tag) => tag.destroySlots());
}

/** Removes the waiting commands of a script that did not load: if it loads later after all, it does nothing. */
function dropCommands(): void {
  if (host.googletag) host.googletag = { cmd: [] };
}

export function makeAds({ settings, page }: AdapterContext<'ads'>): Adapter {
  const { network } = settings;
  let visitor: VisitorType | null = null;
  /**
   * Whether this page uses limited ads; the first choice stays for the page's lifetime, because a loaded tag can't be replaced.
   */
  let limited: boolean | null = null;
  let on = false;
  /** Names of the slots that were requested. */
  let requestedNames = '';

  const stop = () => {
    if (requestedNames !== '') destroyAds();
    showOwnTexts();
    requestedNames = '';
  };

  /** Requests ads for the visible places, unless they were requested already. */
  async function requestVisible(): Promise<void> {
    // The type of visitor decides whether there are ads, and which.
    if (!on || limited === null || visitor === null) return;
    if (!limited) openSlotsBelow();
    const places = visiblePlaces();
    const names = places.map(({ name }) => name).join(' ');
    if (names === requestedNames) return;
    stop();
    requestedNames = names;
    if (places.length > 0) await request(places, limited);
  }

  async function request(places: readonly AdPlace[], withoutCookies: boolean): Promise<void> {
    requestAds({ network, places, targeting: adTargeting(page, visitor), limited: withoutCookies }, (element, empty) =>
      showAd(element, !empty),
    );
    const loaded = await loadScriptOnce(withoutCookies ? settings.limitedScriptUrl : settings.scriptUrl);
    // The script is blocked: the house ad is still there.
    if (!loaded.ok) dropCommands();
  }

  return {
    async allow({ advertising }) {
      limited ??= !advertising;
      on = advertising || limited;
      if (on) await requestVisible();
      else stop();
    },
    withdraw() {
      on = false;
      stop();
    },
    visitor(type) {
      visitor = type;
      void requestVisible();
    },
    route() {
      stop();
      void requestVisible();
    },
  };
}

// Ad slots: their sizes, and the page's data for the ad server (spec section 2, "Ad slots").

/** A place for an ad. */
interface AdPlace {
  /** Name of the slot, and of its ad unit. */
  readonly name: string;
  readonly shape: AdShape;
  /** Id of the element that holds the ad. */
  readonly element: string;
}

const adShapes = ['ribbon', 'billboard', 'box'] as const;
type AdShape = (typeof adShapes)[number];

/** Width and height in CSS pixels. */
type AdSize = readonly [number, number];

/** Sizes for windows of at least this width; the widest first. */
interface AdStep {
  readonly from: number;
  readonly sizes: readonly AdSize[];
}

/**
 * The sizes of each shape. A ribbon is 50 px high on every window, because it is above the header. AdSlot.astro reserves the room for
 * these sizes, at the same widths.
 */
export const adSteps: Readonly<Record<AdShape, readonly AdStep[]>> = {
  ribbon: [{ from: 0, sizes: [[320, 50]] }],
  billboard: [
    { from: 1024, sizes: [[970, 250]] },
    { from: 0, sizes: [[320, 50]] },
  ],
  box: [{ from: 0, sizes: [[300, 250]] }],
};

/** Every size of a shape. */
export const adSizes = (shape: AdShape): AdSize[] => adSteps[shape].flatMap(({ sizes }) => [...sizes]);

/** Name of the ad unit of a slot, e.g. `/1234567/home-2`. */
export const adUnit = (network: string, slot: string): string => `/${network}/${slot}`;

/** The targeting of all slots of a page: the section, the article, the type of visitor. Nothing personal. */
export function adTargeting(page: PageFacts, visitor: VisitorType | null): Record<string, string> {
  const targeting: Record<string, string> = { page: page.kind };
  if (page.section) targeting.section = page.section;
  if (page.article) targeting.slug = page.article.slug;
  if (visitor) targeting.visitor = visitor;
  return targeting;
}

const slots = (): HTMLElement[] => [...document.querySelectorAll<HTMLElement>('[data-ad-room]')];
const placeIn = (slot: HTMLElement) => slot.querySelector<HTMLElement>('[data-ad-place]');

/** Places that this reader can see. */
function visiblePlaces(): AdPlace[] {
  return slots().flatMap((slot) => {
    const { adSlot: name, shape } = slot.dataset;
    const element = placeIn(slot)?.id;
    const known = adShapes.find((each) => each === shape) as AdShape | undefined;
    return name && known && element && isShown(slot) ? [{ name, shape: known, element }] : [];
  });
}

/**
 * Opens the slots that are closed without consent to advertising, but only below the visible part of the page: the others would push
 * down the text that is being read, and open on the next page.
 */
function openSlotsBelow(): void {
  for (const slot of slots()) {
    if (slot.dataset.adRoom !== 'opens' || isShown(slot)) continue;
    // A hidden element has no position, so the visible one before it counts.
    const before = nearestShownBefore(slot);
    if (before && before.getBoundingClientRect().bottom > window.innerHeight) slot.dataset.open = '';
  }
}

/** Shows the ad in a slot, or the site's own text again. */
function showAd(element: string, filled: boolean): void {
  const slot = document.getElementById(element)?.closest<HTMLElement>('[data-ad-room]');
  if (!slot) return;
  if (!filled) {
    showOwnText(slot);
    return;
  }
  slot.dataset.filled = '';
  slot.dataset.word ??= slot.ariaLabel ?? '';
  slot.ariaLabel = slot.dataset.adLabel ?? null;
}

function showOwnText(slot: HTMLElement): void {
  delete slot.dataset.filled;
  if (slot.dataset.word) slot.ariaLabel = slot.dataset.word;
}

/** Shows the site's own text in every slot. */
function showOwnTexts(): void {
  for (const slot of slots()) showOwnText(slot);
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

/**
 * Google Publisher Tag by its present interface (developers.google.com/publisher-tag/guides/config-migration): page settings by
 * `setConfig`, slots with a size mapping, `destroySlots` when they are done with. Commands wait in a list, so that the script may
 * come late or never.
 */
import { type AdShape, type AdSize, adSizes, adSteps, adUnit } from './model.ts';

interface GptSlot {
  addService(service: unknown): GptSlot;
  defineSizeMapping(mapping: unknown): GptSlot;
  setConfig(config: Readonly<Record<string, unknown>>): void;
  getSlotElementId(): string;
}

interface SizeMappingBuilder {
  addSize(viewport: AdSize, sizes: readonly AdSize[]): SizeMappingBuilder;
  build(): unknown;
}

interface RenderEnded {
  readonly slot: Pick<GptSlot, 'getSlotElementId'>;
  readonly isEmpty: boolean;
}

interface PubAds {
  addEventListener(name: 'slotRenderEnded', listener: (event: RenderEnded) => void): unknown;
  setPrivacySettings(settings: Readonly<Record<string, boolean>>): unknown;
}

interface Googletag {
  readonly cmd: { push(command: () => void): unknown };
  setConfig(config: Readonly<Record<string, unknown>>): void;
  defineSlot(unit: string, sizes: readonly AdSize[], element: string): GptSlot | null;
  sizeMapping(): SizeMappingBuilder;
  pubads(): PubAds;
  enableServices(): void;
  display(element: string): void;
  destroySlots(): boolean;
}

declare global {
  interface Window {
    googletag?: Partial<Googletag> & Pick<Googletag, 'cmd'>;
  }
}

/** A place that an advertisement is wanted for. */
export interface AdPlace {
  /** Name of the slot, and of its ad unit. */
  readonly name: string;
  readonly shape: AdShape;
  /** Id of the element that it is set into. */
  readonly element: string;
}

export interface AdRequest {
  readonly network: string;
  readonly places: readonly AdPlace[];
  readonly targeting: Readonly<Record<string, string>>;
  /** Ads that know nothing of the reader and set no cookies. */
  readonly limited: boolean;
}

/**
 * How far ahead advertisements are fetched and set, in percent of the window's height; on phones twice as far, for they scroll faster
 * than they load.
 */
const lazyLoad = { fetchMarginPercent: 200, renderMarginPercent: 100, mobileScaling: 2 };

const later = (action: (tag: Googletag) => void) => {
  window.googletag ??= { cmd: [] };
  window.googletag.cmd.push(() => action(window.googletag as Googletag));
};

let listening = false;

/** @param ended told of each slot that was answered, and whether it was empty */
export function requestAds(
  { network, places, targeting, limited }: AdRequest,
  ended: (element: string, isEmpty: boolean) => void,
): void {
  later((tag) => {
    tag.setConfig({ singleRequest: true, lazyLoad, targeting });
    if (limited) tag.pubads().setPrivacySettings({ limitedAds: true });
    if (!listening) {
      listening = true;
      tag.pubads().addEventListener('slotRenderEnded', ({ slot, isEmpty }) => ended(slot.getSlotElementId(), isEmpty));
    }
    const defined: string[] = [];
    for (const { name, shape, element } of places) {
      const slot = tag.defineSlot(adUnit(network, name), adSizes(shape), element);
      if (!slot) continue;
      let mapping = tag.sizeMapping();
      for (const { from, sizes } of adSteps[shape]) mapping = mapping.addSize([from, 0], sizes);
      slot.defineSizeMapping(mapping.build());
      // A frame of another origin: what is in it reaches neither the page nor its policy.
      slot.setConfig({ safeFrame: { forceSafeFrame: true } });
      slot.addService(tag.pubads());
      defined.push(element);
    }
    tag.enableServices();
    for (const element of defined) tag.display(element);
  });
}

/** Takes every advertisement out of the page. */
export function destroyAds(): void {
  if (window.googletag) later((tag) => tag.destroySlots());
}

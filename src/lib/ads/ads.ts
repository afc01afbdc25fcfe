/** Advertising on a page through Google Publisher Tag: requested when it is allowed, removed when it is not. */
/// <reference types="google-publisher-tag" />

import { loadScriptOnce } from '../third-party/load-script.ts';
import type { Adapter, AdapterContext, VisitorType } from '../third-party/model.ts';
/**
 * Google Publisher Tag by its present interface (developers.google.com/publisher-tag/guides/config-migration): page settings by
 * `setConfig`, slots with a size mapping, `destroySlots` when they are done with. Commands wait in a list, so that the script may
 * come late or never. Typed by the vendor's own declarations (@types/google-publisher-tag).
 */
/// <reference types="google-publisher-tag" />
import {
  type AdPlace,
  type AdSize,
  adSizes,
  adSteps,
  adTargeting,
  adUnit,
  emptyAll,
  fill,
  openBelow,
  openPlaces,
} from './model.ts';

type Tag = typeof googletag;

/** The vendor's object before its script has come: a list of commands. */
interface WaitingTag {
  cmd: Tag['cmd'];
}

/** The declarations promise the whole tag; until its script has come there is a list of commands, or nothing. */
const host = globalThis as unknown as { googletag?: Tag | WaitingTag };

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
const lazyLoad = {
  fetchMarginPercent: 200,
  renderMarginPercent: 100,
  mobileScaling: 2,
} satisfies googletag.config.LazyLoadConfig;

const later = (action: (tag: Tag) => void) => {
  host.googletag ??= { cmd: [] };
  host.googletag.cmd.push(() => action(host.googletag as Tag));
};

/** The vendor's types are mutable arrays. */
const sizesFor = (sizes: readonly AdSize[]): googletag.MultiSize => sizes.map(([width, height]) => [width, height]);

let listening = false;

/** @param ended told of each slot that was answered, and whether it was empty */
export function requestAds(
  { network, places, targeting, limited }: AdRequest,
  ended: (element: string, isEmpty: boolean) => void,
): void {
  later((tag) => {
    // No `singleRequest`: with it the first slot that comes near fetches all others, however far away they are.
    tag.setConfig({ lazyLoad, targeting: { ...targeting } } satisfies googletag.config.PageSettingsConfig);
    if (limited) tag.pubads().setPrivacySettings({ limitedAds: true } satisfies googletag.PrivacySettingsConfig);
    if (!listening) {
      listening = true;
      tag.pubads().addEventListener('slotRenderEnded', ({ slot, isEmpty }) => ended(slot.getSlotElementId(), isEmpty));
    }
    const defined: string[] = [];
    for (const { name, shape, element } of places) {
      const slot = tag.defineSlot(adUnit(network, name), sizesFor(adSizes(shape)), element);
      if (!slot) continue;
      const mapping = tag.sizeMapping();
      for (const { from, sizes } of adSteps[shape]) mapping.addSize([from, 0], sizesFor(sizes));
      const steps = mapping.build();
      if (steps) slot.defineSizeMapping(steps);
      // A frame of another origin: what is in it reaches neither the page nor its policy.
      slot.setConfig({ safeFrame: { forceSafeFrame: true } } satisfies googletag.config.SlotSettingsConfig);
      slot.addService(tag.pubads());
      defined.push(element);
    }
    tag.enableServices();
    for (const element of defined) tag.display(element);
  });
}

/** Takes every advertisement out of the page. */
export function destroyAds(): void {
  if (host.googletag) later((tag) => tag.destroySlots());
}

/** Forgets what waits for a script that did not come: should it come after all, it finds nothing to do. */
export function dropCommands(): void {
  if (host.googletag) host.googletag = { cmd: [] };
}

export function makeAds({ settings, page }: AdapterContext<'ads'>): Adapter {
  const { network } = settings;
  let visitor: VisitorType | null = null;
  /** Whether this page's tag is the one without cookies; the first choice lasts as long as the page, for a tag cannot be changed. */
  let limited: boolean | null = null;
  let on = false;
  /** Names of the places that have been asked for. */
  let asked = '';

  const stop = () => {
    if (asked !== '') destroyAds();
    emptyAll();
    asked = '';
  };

  /** Asks for what is to be shown, unless that is what is shown. */
  async function ask(): Promise<void> {
    // Whose ads these are, and whether there are any, depends on who is reading.
    if (!on || limited === null || visitor === null) return;
    if (!limited) openBelow();
    const places = openPlaces();
    const names = places.map(({ name }) => name).join(' ');
    if (names === asked) return;
    stop();
    asked = names;
    if (places.length > 0) await request(places, limited);
  }

  async function request(places: readonly AdPlace[], withoutCookies: boolean): Promise<void> {
    requestAds({ network, places, targeting: adTargeting(page, visitor), limited: withoutCookies }, (element, empty) =>
      fill(element, !empty),
    );
    const loaded = await loadScriptOnce(withoutCookies ? settings.limitedScriptUrl : settings.scriptUrl);
    // Blocked: the house ad has never gone.
    if (!loaded.ok) dropCommands();
  }

  return {
    async allow({ advertising }) {
      limited ??= !advertising;
      on = advertising || limited;
      if (on) await ask();
      else stop();
    },
    withdraw() {
      on = false;
      stop();
    },
    visitor(type) {
      visitor = type;
      void ask();
    },
    route() {
      stop();
      void ask();
    },
  };
}

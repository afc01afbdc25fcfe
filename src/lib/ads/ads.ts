/** Advertising on a page: asked for when it is allowed, taken away when it is not, and never in the way when it does not come. */

import type { Adapter, AdapterContext } from '../third-party/adapter.ts';
import { loadScriptOnce } from '../third-party/load-script.ts';
import type { VisitorType } from '../third-party/visitor-type.ts';
import { type AdPlace, destroyAds, dropCommands, requestAds } from './gpt.ts';
import { adTargeting } from './model.ts';
import { emptyAll, fill, openBelow, openPlaces } from './slots.ts';

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

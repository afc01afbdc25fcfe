/**
 * Google Tag Manager (docs/services/tag-manager.md). The data layer and its consent commands are created before the container, without an
 * inline script, which the policy would block. The vendor's declarations (@types/gtag.js) type the commands.
 */
/// <reference types="gtag.js" />
import type { Consent } from '../consent/model.ts';
import { loadScriptOnce } from './load-script.ts';
import type { Adapter, AdapterContext } from './model.ts';
import { createTracker, onTrack } from './tracker.ts';

declare global {
  interface Window {
    dataLayer?: unknown[];
  }
}

const layer = (): unknown[] => {
  window.dataLayer ??= [];
  return window.dataLayer;
};

/** Google's consent mode recognizes commands by the type of the `arguments` object. */
function command(..._words: ['consent', Gtag.ConsentArg, Gtag.ConsentParams]): void {
  // biome-ignore lint/complexity/noArguments: an array would be taken for something else
  layer().push(arguments);
}

const state = (allowed: boolean) => (allowed ? 'granted' : 'denied');
const consentMode = ({ measurement, advertising }: Pick<Consent, 'measurement' | 'advertising'>) =>
  ({
    analytics_storage: state(measurement),
    ad_storage: state(advertising),
    ad_user_data: state(advertising),
    ad_personalization: state(advertising),
  }) satisfies Gtag.ConsentParams;

export function makeTagManager({ settings, page, codes }: AdapterContext<'tagManager'>): Adapter {
  const { container, scriptUrl } = settings;
  const tracker = createTracker({ page, codes, path: () => location.pathname, send: (event) => layer().push(event) });
  let begun = false;

  function begin(): void {
    begun = true;
    command('consent', 'default', consentMode({ measurement: false, advertising: false }));
    onTrack(tracker.event);
  }
  return {
    async allow(consent) {
      const first = !begun;
      if (first) begin();
      command('consent', 'update', consentMode(consent));
      tracker.allow(true);
      if (!first) return;
      layer().push({ 'gtm.start': Date.now(), event: 'gtm.js' });
      tracker.event('page_view');
      await loadScriptOnce(`${scriptUrl}?id=${encodeURIComponent(container)}`);
    },
    withdraw() {
      tracker.allow(false);
      command('consent', 'update', consentMode({ measurement: false, advertising: false }));
    },
    visitor: tracker.visitor,
    route: () => tracker.event('page_view'),
  };
}

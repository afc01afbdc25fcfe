/** GrowSurf, the referral widget (docs/services/growsurf.md). It gets the campaign and no data about the reader. */
import { loadScriptOnce } from './load-script.ts';
import type { Adapter, AdapterContext } from './model.ts';

declare global {
  interface Window {
    grsfSettings?: { readonly campaignId: string; readonly version: string };
  }
}

const version = '2.0.0';

export function makeReferral({ settings }: AdapterContext<'referral'>): Adapter {
  const { campaign, scriptUrl } = settings;
  return {
    async allow() {
      window.grsfSettings = { campaignId: campaign, version };
      await loadScriptOnce(`${scriptUrl}?v=${version}`, { attributes: { 'grsf-campaign': campaign } });
    },
    // The widget sends nothing before the reader opens it; it ends with the page.
    withdraw() {},
  };
}

/** GrowSurf, the referral widget (vendors.md 5). It is told the campaign and nothing of the reader. */

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
    // The widget sends nothing by itself before it is opened; it is gone with the page.
    withdraw() {},
  };
}

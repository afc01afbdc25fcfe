/** A certified consent platform on a page: loads it, and keeps what the reader answers as a choice of our own. */
import { gpcPurposes } from '../lib/consent/model.ts';
import { listenToPlatform } from '../lib/consent/platform.ts';
import { loadScriptOnce } from '../lib/third-party/load-script.ts';
import { $consent, chooseConsent } from '../stores/consent.ts';

const { dataset } = document.documentElement;

/** @param scriptUrl of the platform, which brings its own question. Where it does not come, nothing is allowed. */
export async function followPlatform(scriptUrl: string): Promise<void> {
  const loaded = await loadScriptOnce(scriptUrl);
  if (!loaded.ok) return;
  listenToPlatform({
    // The banner is in the page, and hidden while the platform may ask (styles/privacy.css).
    outside: () => delete dataset.platform,
    answered(granted) {
      const consent = $consent.get();
      // The platform knows nothing of Global Privacy Control.
      const kept = granted.filter((purpose) => !consent.gpc || !gpcPurposes.includes(purpose));
      const same = (['measurement', 'marketing', 'advertising'] as const).every(
        (purpose) => consent[purpose] === kept.includes(purpose),
      );
      if (consent.status !== 'chosen' || !same) chooseConsent(kept);
    },
  });
}

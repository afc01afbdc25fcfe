/** A certified consent platform on a page: loads it, and keeps what the reader answers as a choice of our own. */
import installStub from '@iabtechlabtcf/stub';
import { gpcPurposes, optionalPurposes } from '../lib/consent/model.ts';
import { listenToPlatform } from '../lib/consent/platform.ts';
import { loadScriptOnce } from '../lib/third-party/load-script.ts';
import { $consent, chooseConsent } from '../stores/consent.ts';

const { dataset } = document.documentElement;

/** @param scriptUrl of the platform, which brings its own question. Where it does not come, nothing is allowed. */
export async function followPlatform(scriptUrl: string): Promise<void> {
  // Platforms have it in the inline part of their snippets, which our policy refuses. It queues calls, those of frames too.
  installStub();
  listenToPlatform({
    // The banner is in the page, and hidden while the platform may ask (styles/privacy.css).
    outside: () => delete dataset.platform,
    answered(granted, now) {
      const consent = $consent.get();
      // What was taken back on our own page stays so until the platform asks again.
      const takenBack = (purpose: (typeof optionalPurposes)[number]) =>
        !now && consent.status === 'chosen' && !consent[purpose];
      // The platform knows nothing of Global Privacy Control.
      const denied = (purpose: (typeof optionalPurposes)[number]) => consent.gpc && gpcPurposes.includes(purpose);
      const kept = granted.filter((purpose) => !takenBack(purpose) && !denied(purpose));
      const same = optionalPurposes.every((purpose) => consent[purpose] === kept.includes(purpose));
      if (consent.status !== 'chosen' || !same) chooseConsent(kept);
    },
  });
  await loadScriptOnce(scriptUrl);
}

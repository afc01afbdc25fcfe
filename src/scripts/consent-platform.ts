/** Loads a certified consent platform, and stores the reader's answer as a choice of the site. */
import installStub from '@iabtechlabtcf/stub';
import { gpcPurposes, optionalPurposes } from '../lib/consent/model.ts';
import { listenToPlatform } from '../lib/consent/platform.ts';
import { loadScriptOnce } from '../lib/third-party/load-script.ts';
import { $consent, chooseConsent } from '../stores/consent.ts';

const { dataset } = document.documentElement;

/** @param scriptUrl the platform's script. If it doesn't load, nothing is allowed. */
export async function followPlatform(scriptUrl: string): Promise<void> {
  // The stub queues calls. Platforms include it as an inline script, which our policy blocks.
  installStub();
  listenToPlatform({
    // Outside the platform's jurisdiction, our own banner is shown (styles/privacy.css).
    outside: () => delete dataset.platform,
    answered(granted, now) {
      const consent = $consent.get();
      // Purposes that the reader denied on our own page stay denied until the platform asks again.
      const deniedHere = (purpose: (typeof optionalPurposes)[number]) =>
        !now && consent.status === 'chosen' && !consent[purpose];
      // The platform doesn't handle Global Privacy Control, so it is applied here.
      const denied = (purpose: (typeof optionalPurposes)[number]) => consent.gpc && gpcPurposes.includes(purpose);
      const kept = granted.filter((purpose) => !deniedHere(purpose) && !denied(purpose));
      const same = optionalPurposes.every((purpose) => consent[purpose] === kept.includes(purpose));
      if (consent.status !== 'chosen' || !same) chooseConsent(kept);
    },
  });
  await loadScriptOnce(scriptUrl);
}

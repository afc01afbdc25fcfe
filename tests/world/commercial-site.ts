/** A site that loads third parties, each of them a stand-in that records its calls. The edition is a copy of the world's. */
import { startThirdParty } from '../../sandbox/third-party/third-party.ts';
import { thirdPartyEnvironment } from '../../scripts/sandbox.ts';
import { startOwnSite } from './own-site.ts';

export interface CommercialSite {
  readonly site: string;
  /** Address of the stand-ins. */
  readonly vendors: string;
  stop(): Promise<void>;
}

/** @param consent whose banner asks for consent: the site's own or that of a consent platform */
export async function openCommercialSite(consent: 'own' | 'platform'): Promise<CommercialSite> {
  const standIn = await startThirdParty();
  const settings = thirdPartyEnvironment({ thirdParty: standIn.access });
  if (consent === 'platform') settings.CONSENT_PLATFORM_URL = `${standIn.access.url}/cmp/choice.js?id=sandbox`;
  const own = await startOwnSite(settings);
  return {
    site: own.site,
    vendors: standIn.access.url,
    async stop() {
      await own.stop();
      await standIn.stop();
    },
  };
}

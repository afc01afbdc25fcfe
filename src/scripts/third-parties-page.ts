/** Third parties on a page, once something is allowed: puts together consent, who is reading, and the adapters. */

import { forgetThirdParty, hidePayment } from '../lib/third-party/forget.ts';
import {
  type Adapter,
  type AdapterContext,
  type PageData,
  readPageData,
  visitorType,
} from '../lib/third-party/model.ts';
import { runThirdParties, type Startable } from '../lib/third-party/run.ts';
import { presentThirdParties, type ThirdPartyName, thirdPartyPurposes } from '../lib/third-party/settings.ts';
import { publication } from '../publication.ts';
import { $consent, tellConsent } from '../stores/consent.ts';
import { $session } from '../stores/session.ts';
import { whenQuiet } from './when-quiet.ts';

/** Each adapter is a module of its own, fetched when it is allowed. */
const adapters: { readonly [Name in ThirdPartyName]: () => Promise<(context: AdapterContext<Name>) => Adapter> } = {
  tagManager: async () => (await import('../lib/third-party/tag-manager.ts')).makeTagManager,
  audience: async () => (await import('../lib/third-party/marfeel.ts')).makeAudience,
  webPush: async () => (await import('../lib/third-party/web-push.ts')).makeWebPush,
  referral: async () => (await import('../lib/third-party/referral.ts')).makeReferral,
  scheduling: async () => (await import('../lib/third-party/scheduling.ts')).makeScheduling,
  ads: async () => (await import('../lib/ads/ads.ts')).makeAds,
};

async function load<Name extends ThirdPartyName>(name: Name, { settings, page }: PageData): Promise<Adapter> {
  const make = await adapters[name]();
  const own = settings[name];
  if (own === null) throw new Error('It is not set up.');
  // The audience tool has numbers of its own; everything else is told the newspaper's.
  const codes = name === 'audience' ? publication.marfeelUserTypes : publication.visitorTypeCodes;
  return make({ settings: own, page, codes });
}

async function run(): Promise<void> {
  const data = readPageData();
  if (!data) return;
  const { settings } = data;
  // A newsletter's link may hold an address, which is taken out of the address bar before a third party's script can read it.
  if (hasAddress()) await import('./session-page.ts').catch(() => {});
  if (hasAddress()) return;
  hidePayment();

  const parties = presentThirdParties(settings).map((name): Startable => {
    const { purpose } = thirdPartyPurposes[name];
    const always = name === 'ads' && settings.ads?.withoutConsent === 'limited';
    return {
      name,
      allowed: (consent) => consent[purpose] || always,
      remembers: (consent) => consent[purpose],
      load: () => load(name, data),
      forget: () => forgetThirdParty(name),
    };
  });
  const running = runThirdParties(parties, whenQuiet, (name, error) =>
    console.warn(`${thirdPartyPurposes[name].name} could not be started.`, error),
  );

  $consent.subscribe(running.consent);
  $session.subscribe((session) => {
    const type = visitorType(session);
    if (type) running.visitor(type);
  });
  if (new URLSearchParams(location.search).has('saved')) tellConsent();
  addEventListener('popstate', running.route);
  addEventListener('pageshow', (event) => event.persisted && running.route());
}

const hasAddress = () => /[?&]recognized_email=/.test(location.search);

await run();

/** Runs the third parties that the reader has allowed, and takes the answer of the privacy banner. */
import { consentFields, grantedByForm } from '../lib/consent/model.ts';
import {
  type Adapter,
  type AdapterContext,
  type PageData,
  readPageData,
  visitorType,
} from '../lib/third-party/model.ts';
import { forgetThirdParty, hidePayment, runThirdParties, type Startable } from '../lib/third-party/run.ts';
import { presentThirdParties, type ThirdPartyName, thirdPartyPurposes } from '../lib/third-party/settings.ts';
import { publication } from '../publication.ts';
import { $consent, announceConsent, chooseConsent, refreshConsent } from '../stores/consent.ts';
import { $session } from '../stores/session.ts';

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
  if (own === null) throw new Error(`${name} is not set up`);
  // The audience tool has its own codes for types of visitors; all others use the publication's.
  const codes = name === 'audience' ? publication.marfeelUserTypes : publication.visitorTypeCodes;
  return make({ settings: own, page, codes });
}

/** @param whenIdle calls back when the page is loaded and the browser idle */
export async function start(whenIdle: (action: () => void) => void): Promise<void> {
  const data = readPageData();
  if (!data) return;
  const { settings } = data;
  // A newsletter's link may hold an email address, which leaves the address bar before a third party's script can read it.
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
  const running = runThirdParties(parties, whenIdle, (name, error) =>
    console.warn(`${thirdPartyPurposes[name].name} could not be started.`, error),
  );

  $consent.subscribe(running.consent);
  $session.subscribe((session) => {
    const type = visitorType(session);
    if (type) running.visitor(type);
  });
  if (new URLSearchParams(location.search).has('saved')) announceConsent();
  addEventListener('popstate', running.route);
  addEventListener('pageshow', (event) => event.persisted && running.route());
}

const hasAddress = () => /[?&]recognized_email=/.test(location.search);

/**
 * Applies the reader's choice in the privacy banner at once, and sends it to the server.
 *
 * @param submitter the button that was pressed
 */
export function applyChoice(form: HTMLFormElement, submitter: HTMLElement | null): void {
  const data = new FormData(form, submitter);
  const choice = data.get(consentFields.choice);
  const ticked = data.getAll(consentFields.purpose).map(String);
  const granted = grantedByForm(typeof choice === 'string' ? choice : null, ticked, $consent.get().gpc);
  if (granted === null) return;
  chooseConsent(granted);
  // The banner disappears, and the focus would be lost with it.
  document.getElementById('main')?.focus({ preventScroll: true });
  // Some browsers delete a script's cookie after a week; the server's cookie stays.
  const body = new URLSearchParams([...data].map(([name, value]): [string, string] => [name, String(value)]));
  fetch(form.action, { method: 'POST', body, redirect: 'manual', keepalive: true }).then(
    () => {
      // Some browsers send Global Privacy Control to the server only, which then stores less than was chosen here.
      refreshConsent();
      announceConsent();
    },
    () => {},
  );
}

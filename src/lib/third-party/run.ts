/**
 * Starts third parties when their reader has allowed them and the browser is idle, each at most once and independently: one that fails,
 * or never loads, affects neither the others nor the page.
 */
import { storedNames, writeStored } from '../browser-storage.ts';
import type { Consent } from '../consent/model.ts';
import type { Adapter, VisitorType } from './model.ts';
import type { ThirdPartyName } from './settings.ts';

export interface Startable {
  readonly name: ThirdPartyName;
  /** Whether a consent allows it. */
  readonly allowed: (consent: Consent) => boolean;
  /** Whether a consent allows the third party to store data in the browser: limited ads run without storing any. */
  readonly remembers: (consent: Consent) => boolean;
  /** Loads its adapter, which is a module of its own. */
  readonly load: () => Promise<Adapter>;
  /** Removes its data from the browser. */
  readonly forget: () => void;
}

export interface Running {
  consent(consent: Consent): void;
  visitor(type: VisitorType): void;
  route(): void;
}

interface State {
  readonly party: Startable;
  readonly report: (error: unknown) => void;
  /** The reader's last choice; `null` before it is known. */
  consent: Consent | null;
  type: VisitorType | null;
  adapter: Adapter | null;
  loading: boolean;
  on: boolean;
}

/**
 * @param idle calls back when the browser is idle
 * @param report called with each error, for the console
 */
export function runThirdParties(
  parties: readonly Startable[],
  idle: (action: () => void) => void,
  report: (name: ThirdPartyName, error: unknown) => void,
): Running {
  const states = parties.map(
    (party): State => ({
      party,
      report: (error) => report(party.name, error),
      consent: null,
      type: null,
      adapter: null,
      loading: false,
      on: false,
    }),
  );
  return {
    consent(next) {
      for (const state of states) {
        state.consent = next;
        if (state.adapter) applyConsent(state);
        else if (isAllowed(state)) loadWhenIdle(state, idle);
        // Removes data that was stored on this page, or on a page before the choice changed.
        if (!state.party.remembers(next)) state.party.forget();
      }
    },
    visitor(next) {
      for (const state of states) {
        state.type = next;
        if (state.on) safely(state, (adapter) => adapter.visitor?.(next));
      }
    },
    route() {
      for (const state of states) if (state.on) safely(state, (adapter) => adapter.route?.());
    },
  };
}

const isAllowed = ({ party, consent }: State): boolean => consent !== null && party.allowed(consent);

/** Reports an adapter's error instead of throwing it. */
function safely({ adapter, report }: State, action: (adapter: Adapter) => void | Promise<void>): void {
  if (!adapter) return;
  try {
    Promise.resolve(action(adapter)).catch(report);
  } catch (error) {
    report(error);
  }
}

function applyConsent(state: State): void {
  const { consent, type } = state;
  if (consent === null) return;
  if (isAllowed(state)) {
    state.on = true;
    safely(state, async (adapter) => {
      await adapter.allow(consent);
      // A script that was still loading when its consent was withdrawn has stored data since.
      if (state.consent && !state.party.remembers(state.consent)) state.party.forget();
    });
    if (type) safely(state, (adapter) => adapter.visitor?.(type));
  } else if (state.on) {
    state.on = false;
    safely(state, (adapter) => adapter.withdraw());
  }
}

function loadWhenIdle(state: State, idle: (action: () => void) => void): void {
  if (state.loading) return;
  state.loading = true;
  idle(() => {
    // The consent may have been withdrawn while the browser was busy.
    if (!isAllowed(state)) {
      state.loading = false;
      return;
    }
    state.party.load().then(
      (adapter) => {
        state.adapter = adapter;
        applyConsent(state);
      },
      (error: unknown) => {
        state.loading = false;
        state.report(error);
      },
    );
  });
}

// Removes the data that third parties store under this site's own origin: cookies, local storage, and the worker for notifications.

/** Names of cookies and of entries in local storage, from the vendors' documentation. */
const traces: Readonly<Record<ThirdPartyName, RegExp>> = {
  tagManager: /^_(?:ga|gid|gat|gcl|dc_gtm)(?:_|$)|^_ga_/,
  audience: /^(?:compass_|___nrbi|___m_rec|_lpp|mrf)/i,
  webPush: /^(?:onesignal|os_|isPushNotificationsEnabled|isOptedOut)/i,
  referral: /^(?:grsf|growsurf)/i,
  scheduling: /^(?:__)?calendly/i,
  ads: /^(?:__gads|__gpi|__eoi|_gac_|GoogleAdServingTest|google_(?:adtest|experiment|pub_config))/,
};

/** Database of OneSignal's SDK v16. */
const pushDatabase = 'ONE_SIGNAL_SDK_DB';

/** Removes the data of one third party. */
export function forgetThirdParty(name: ThirdPartyName): void {
  const trace = traces[name];
  for (const pair of document.cookie.split('; ')) {
    const cookie = pair.split('=', 1)[0] ?? '';
    if (trace.test(cookie)) expire(cookie);
  }
  for (const key of storedNames()) if (trace.test(key)) writeStored(key, null);
  if (name !== 'webPush') return;
  void dropPushWorker();
  try {
    // The vendor's record of the subscription. The browser deletes it once the vendor's script has closed it, at the latest with the
    // page.
    indexedDB.deleteDatabase(pushDatabase);
  } catch {
    // Storage is unavailable, so there is nothing to remove.
  }
}

/** Expires a cookie for this host and for every parent domain, because the domain is part of a cookie's identity. */
function expire(name: string): void {
  const labels = location.hostname.split('.');
  const domains = labels.map((_, place) => `; Domain=${labels.slice(place).join('.')}`);
  for (const domain of ['', ...domains]) {
    // biome-ignore lint/suspicious/noDocumentCookie: the cookie store is not in every browser, and cannot name these domains in some
    document.cookie = `${name}=; Path=/; Max-Age=0${domain}`;
  }
}

async function dropPushWorker(): Promise<void> {
  try {
    const workers = (await navigator.serviceWorker?.getRegistrations()) ?? [];
    for (const worker of workers) if (worker.scope.includes('/push/onesignal/')) await worker.unregister();
  } catch {
    // Without support for workers there is none to remove.
  }
}

/**
 * A bank's page redirects to a URL that contains the key to the payment's state (docs.stripe.com: `payment_intent_client_secret`,
 * which Stripe says only the customer may see). The site doesn't need it, so it is removed from the URL before a third party's script
 * could read it, on this page or as the next page's referrer.
 */
export function hidePayment(): void {
  const url = new URL(location.href);
  for (const name of [...url.searchParams.keys()])
    if (/^(?:payment|setup)_intent|^redirect_status$/.test(name)) url.searchParams.delete(name);
  if (url.href !== location.href) history.replaceState(history.state, '', url);
}

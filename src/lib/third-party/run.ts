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
  /** Whether a consent lets it store data in the browser: limited ads run without. */
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

/**
 * @param idle calls back when the browser is idle
 * @param report called with each error, for the console
 */
export function runThirdParties(
  parties: readonly Startable[],
  idle: (action: () => void) => void,
  report: (name: ThirdPartyName, error: unknown) => void,
): Running {
  let type: VisitorType | null = null;
  let consent: Consent | null = null;
  const states = parties.map((party) => ({ party, adapter: null as Adapter | null, asked: false, on: false }));
  type State = (typeof states)[number];

  const safely = (state: State, action: (adapter: Adapter) => void | Promise<void>) => {
    if (!state.adapter) return;
    try {
      Promise.resolve(action(state.adapter)).catch((error: unknown) => report(state.party.name, error));
    } catch (error) {
      report(state.party.name, error);
    }
  };
  const wanted = (state: State) => consent !== null && state.party.allowed(consent);

  const turn = (state: State) => {
    const now = consent;
    if (now === null) return;
    if (wanted(state)) {
      state.on = true;
      safely(state, (adapter) => adapter.allow(now));
      const known = type;
      if (known) safely(state, (adapter) => adapter.visitor?.(known));
    } else if (state.on) {
      state.on = false;
      safely(state, (adapter) => adapter.withdraw());
    }
  };

  const fetchAdapter = (state: State) => {
    if (state.asked) return;
    state.asked = true;
    idle(() => {
      // The consent may have been withdrawn while the browser was busy.
      if (!wanted(state)) {
        state.asked = false;
        return;
      }
      state.party.load().then(
        (adapter) => {
          state.adapter = adapter;
          turn(state);
        },
        (error: unknown) => {
          state.asked = false;
          report(state.party.name, error);
        },
      );
    });
  };

  return {
    consent(next) {
      consent = next;
      for (const state of states) {
        if (state.adapter) turn(state);
        else if (wanted(state)) fetchAdapter(state);
        // Removes data of this page, or of a page before the choice changed.
        if (!state.party.remembers(next)) state.party.forget();
      }
    },
    visitor(next) {
      type = next;
      for (const state of states) if (state.on) safely(state, (adapter) => adapter.visitor?.(next));
    },
    route() {
      for (const state of states) if (state.on) safely(state, (adapter) => adapter.route?.());
    },
  };
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
    // Unavailable storage is empty.
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
 * A bank's page returns to an address with the key to the payment's state (docs.stripe.com: `payment_intent_client_secret`, which
 * Stripe says only the customer may see). Nothing here reads it, so it is removed from the address before a third party's script could
 * read it, on this page or as the referrer of the next.
 */
export function hidePayment(): void {
  const url = new URL(location.href);
  for (const name of [...url.searchParams.keys()])
    if (/^(?:payment|setup)_intent|^redirect_status$/.test(name)) url.searchParams.delete(name);
  if (url.href !== location.href) history.replaceState(history.state, '', url);
}

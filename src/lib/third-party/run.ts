/**
 * Starts third parties when their reader has allowed them and the browser has nothing better to do, each at most once and each
 * for itself: one that fails, or never comes, changes nothing for the others and nothing for the page.
 */
import type { Consent } from '../consent/model.ts';
import type { Adapter, VisitorType } from './model.ts';
import type { ThirdPartyName } from './settings.ts';

export interface Startable {
  readonly name: ThirdPartyName;
  /** Whether a consent allows it. */
  readonly allowed: (consent: Consent) => boolean;
  /** Whether a consent lets it keep anything in the browser: limited ads are shown without. */
  readonly remembers: (consent: Consent) => boolean;
  /** Fetches its adapter, which is a module of its own. */
  readonly load: () => Promise<Adapter>;
  /** Takes away what it has left in the browser. */
  readonly forget: () => void;
}

export interface Running {
  consent(consent: Consent): void;
  visitor(type: VisitorType): void;
  route(): void;
}

/**
 * @param idle calls back when the browser has time
 * @param report told of what went wrong, for the console
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
      // It may have been taken back while the browser was busy.
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
        // Left behind by this page, or by one before the choice was changed.
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

// Removes what third parties store under this site's own origin: cookies, local storage, and the worker for notifications.

/** Names of cookies and of entries in local storage, as the vendors document them. */
const traces: Readonly<Record<ThirdPartyName, RegExp>> = {
  tagManager: /^_(?:ga|gid|gat|gcl|dc_gtm)(?:_|$)|^_ga_/,
  audience: /^(?:compass_|___nrbi|___m_rec|_lpp|mrf)/i,
  webPush: /^(?:onesignal|os_|isPushNotificationsEnabled|isOptedOut)/i,
  referral: /^(?:grsf|growsurf)/i,
  scheduling: /^(?:__)?calendly/i,
  ads: /^(?:__gads|__gpi|__eoi|_gac_|GoogleAdServingTest|google_(?:adtest|experiment|pub_config))/,
};

/** Of OneSignal's SDK v16. */
const pushDatabase = 'ONE_SIGNAL_SDK_DB';

/** Removes the traces of one. */
export function forgetThirdParty(name: ThirdPartyName): void {
  const trace = traces[name];
  for (const pair of document.cookie.split('; ')) {
    const cookie = pair.split('=', 1)[0] ?? '';
    if (trace.test(cookie)) expire(cookie);
  }
  try {
    for (const key of Object.keys(localStorage)) if (trace.test(key)) localStorage.removeItem(key);
  } catch {
    // Storage that cannot be reached holds nothing.
  }
  if (name !== 'webPush') return;
  void dropPushWorker();
  try {
    // Who subscribed, in the words of the vendor. It goes when the vendor's script has let go of it, at the latest with the page.
    indexedDB.deleteDatabase(pushDatabase);
  } catch {
    // As above.
  }
}

/** A cookie is named by its domain too: it may stand at this host or at any above it. */
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
    // Without workers there is none to drop.
  }
}

/**
 * A bank's page leads back to an address that opens the payment's state (docs.stripe.com: `payment_intent_client_secret`, which
 * Stripe says only the customer may see). Nothing here reads it, so it is taken out of the address before
 * a third party's script could, on this page or as the referrer of the next.
 */
export function hidePayment(): void {
  const url = new URL(location.href);
  for (const name of [...url.searchParams.keys()])
    if (/^(?:payment|setup)_intent|^redirect_status$/.test(name)) url.searchParams.delete(name);
  if (url.href !== location.href) history.replaceState(history.state, '', url);
}

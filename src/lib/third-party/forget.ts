/**
 * Takes away what third parties leave in this browser under our own address: cookies and storage that scripts may reach,
 * and the worker for notifications. What they keep
 * under their own addresses is theirs.
 */
import type { ThirdPartyName } from './settings.ts';

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

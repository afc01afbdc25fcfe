/** What the reader has allowed third parties, shared by the browser's tabs. */
import { atom, onMount, type ReadableAtom } from 'nanostores';
import {
  type Consent,
  consentCookieName,
  consentMaxAge,
  consentValue,
  type OptionalPurpose,
  readConsent,
} from '../lib/consent/model.ts';

const hasGpc = (): boolean =>
  typeof navigator !== 'undefined' && (navigator as { globalPrivacyControl?: boolean }).globalPrivacyControl === true;
const currentConsent = (): Consent => readConsent(typeof document === 'undefined' ? '' : document.cookie, hasGpc());

const $store = atom<Consent>(currentConsent());

/** If a purpose is `false`, nothing is loaded or sent for it. It may change at any time. */
export const $consent: ReadableAtom<Consent> = $store;

const channelName = 'broadsheet-privacy';
let notifyTabs = () => {};

onMount($store, () => {
  if (typeof document === 'undefined') return;
  let channel: BroadcastChannel | null = null;
  const openChannel = () => {
    if (typeof BroadcastChannel === 'undefined') return;
    channel ??= new BroadcastChannel(channelName);
    channel.onmessage = refreshConsent;
  };
  // A page with an open channel can't enter the back-forward cache.
  const closeChannel = () => {
    channel?.close();
    channel = null;
  };
  const resume = () => {
    openChannel();
    refreshConsent();
  };
  openChannel();
  refreshConsent();
  notifyTabs = () => channel?.postMessage('changed');
  addEventListener('pagehide', closeChannel);
  addEventListener('pageshow', resume);
  document.addEventListener('visibilitychange', refreshConsent);
  return () => {
    closeChannel();
    notifyTabs = () => {};
    removeEventListener('pagehide', closeChannel);
    removeEventListener('pageshow', resume);
    document.removeEventListener('visibilitychange', refreshConsent);
  };
});

/** Notifies the other tabs that a choice was made. */
export const announceConsent = (): void => notifyTabs();

/** Reads the cookie again; the server may have written it. */
export function refreshConsent(): void {
  const next = currentConsent();
  const before = $store.get();
  if (Object.entries(next).some(([name, value]) => before[name as keyof Consent] !== value)) $store.set(next);
  if (next.status === 'chosen') {
    const { measurement, marketing, advertising } = next;
    document.documentElement.dataset.consent = Object.entries({ measurement, marketing, advertising })
      .flatMap(([purpose, allowed]) => (allowed ? [purpose] : []))
      .join(' ');
  }
}

/** Stores a choice in this browser and notifies its other tabs. */
export function chooseConsent(granted: readonly OptionalPurpose[]): void {
  const secure = location.protocol === 'https:' ? '; Secure' : '';
  const value = consentValue(granted, hasGpc());
  // biome-ignore lint/suspicious/noDocumentCookie: the cookie store is not in every browser, and this is one cookie.
  document.cookie = `${consentCookieName}=${value}; Path=/; Max-Age=${consentMaxAge}; SameSite=Lax${secure}`;
  refreshConsent();
  notifyTabs();
}

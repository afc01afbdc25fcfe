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
const now = (): Consent => readConsent(typeof document === 'undefined' ? '' : document.cookie, hasGpc());

const $store = atom<Consent>(now());

/** If a purpose is `false`, nothing is loaded or sent for it. It may change at any time. */
export const $consent: ReadableAtom<Consent> = $store;

const channelName = 'broadsheet-privacy';
let notifyTabs = () => {};

onMount($store, () => {
  if (typeof document === 'undefined') return;
  let channel: BroadcastChannel | null = null;
  const open = () => {
    if (typeof BroadcastChannel === 'undefined') return;
    channel ??= new BroadcastChannel(channelName);
    channel.onmessage = refreshConsent;
  };
  // A page with an open channel can't enter the back-forward cache.
  const shut = () => {
    channel?.close();
    channel = null;
  };
  const back = () => {
    open();
    refreshConsent();
  };
  open();
  refreshConsent();
  notifyTabs = () => channel?.postMessage('changed');
  addEventListener('pagehide', shut);
  addEventListener('pageshow', back);
  document.addEventListener('visibilitychange', refreshConsent);
  return () => {
    shut();
    notifyTabs = () => {};
    removeEventListener('pagehide', shut);
    removeEventListener('pageshow', back);
    document.removeEventListener('visibilitychange', refreshConsent);
  };
});

/** Notifies the other tabs that a choice was made. */
export const announceConsent = (): void => notifyTabs();

/** Reads the cookie again; the server may have written it. */
export function refreshConsent(): void {
  const next = now();
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

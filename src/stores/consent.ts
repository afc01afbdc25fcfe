/** What the reader has allowed third parties, shared by the browser's tabs. */
import { atom, onMount, type ReadableAtom } from 'nanostores';
import { tabs } from '../lib/accounts/visitor.ts';
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

let notifyTabs = () => {};

onMount($store, () => {
  if (typeof document === 'undefined') return;
  const others = tabs(refreshConsent, 'broadsheet-privacy');
  notifyTabs = others.notify;
  refreshConsent();
  // A page from the back-forward cache may have missed a choice.
  addEventListener('pageshow', refreshConsent);
  document.addEventListener('visibilitychange', refreshConsent);
  return () => {
    others.close();
    notifyTabs = () => {};
    removeEventListener('pageshow', refreshConsent);
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

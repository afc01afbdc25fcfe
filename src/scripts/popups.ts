/**
 * Opens the popups to sign in and the paywall, whose code no page includes: for links, for islands that set `$ui`, and for the address of
 * a mailed link (`#join=…`). If the code can't be loaded, the link works as a link.
 *
 * A link to sign in may name options: `data-sign-in-heading`, and `data-sign-in-note` for "Have an account? …" (spec section 2, "Auth
 * popup"). A link to the paywall says what it sells: `data-paywall='{"planId": …}'`.
 */
import { readPending } from '../lib/accounts/storage.ts';
import { isPlainClick } from '../lib/plain-click.ts';
import { whenShown } from '../lib/when-shown.ts';
import { $ui, closeAuthPopup, closePaywall, openAuthPopup, openPaywall, setWelcomePopup } from '../stores/ui.ts';

type Payload = import('../stores/ui.ts').PaywallPayload;
type Provider = import('../lib/accounts/service.ts').Provider;

const popups = document.querySelector<HTMLElement>('[data-popups]');
const paywall = document.querySelector<HTMLElement>('[data-paywall-host]');
let popupsRequested = false;
let paywallRequested = false;
/** Address of the last link to the paywall that was clicked. */
let fallback = '/pricing';

async function fetchPopups(host: HTMLElement): Promise<void> {
  try {
    const { mount } = await import('../islands/HeaderAuth/AuthPopup.island.tsx');
    mount(host, (host.dataset.popups ?? '').split(' ').filter(Boolean) as Provider[]);
  } catch {
    popupsRequested = false;
    const wanted = $ui.get().authPopup !== null;
    closeAuthPopup();
    setWelcomePopup(false);
    if (wanted) location.assign(`/socialLogin?return=${encodeURIComponent(location.pathname + location.search)}`);
  }
}

if (popups) {
  // The page was reloaded while the reader looked for the code in their mail.
  whenShown(() => readPending('popup') && openAuthPopup());
  document.addEventListener('click', (event) => {
    if (event.defaultPrevented || !isPlainClick(event)) return;
    const link = (event.target as Element).closest<HTMLAnchorElement>('a[href^="/socialLogin"]');
    if (!link) return;
    event.preventDefault();
    const { signInHeading, signInNote } = link.dataset;
    openAuthPopup({ heading: signInHeading, showSigninDialog: signInNote !== undefined });
  });
  $ui.subscribe(({ authPopup, welcomePopup }) => {
    if (popupsRequested || (authPopup === null && !welcomePopup)) return;
    popupsRequested = true;
    void fetchPopups(popups);
  });
}

/** What a link opens; `null` if its data is not a payload. */
function payloadOf(link: HTMLElement): Payload | null {
  try {
    const read: unknown = JSON.parse(link.dataset.paywall ?? '');
    return typeof read === 'object' && read !== null && !Array.isArray(read) ? (read as Payload) : null;
  } catch {
    return null;
  }
}

async function fetchPaywall(host: HTMLElement): Promise<void> {
  try {
    const { mount } = await import('../islands/PaywallModal/PaywallModal.island.tsx');
    mount(host);
  } catch {
    paywallRequested = false;
    closePaywall();
    location.assign(fallback);
  }
}

if (paywall) {
  document.addEventListener('click', (event) => {
    if (event.defaultPrevented || !isPlainClick(event)) return;
    const link = (event.target as Element).closest<HTMLElement>('a[data-paywall], button[data-paywall]');
    const payload = link && payloadOf(link);
    if (!payload) return;
    event.preventDefault();
    fallback = link.getAttribute('href') ?? '/pricing';
    openPaywall(payload);
  });
  $ui.subscribe(({ paywall: { open } }) => {
    if (paywallRequested || !open) return;
    paywallRequested = true;
    void fetchPaywall(paywall);
  });
  whenShown(() => {
    const join = /^#join=([\w.-]+)$/.exec(location.hash)?.[1];
    if (!join) return;
    history.replaceState(history.state, '', location.pathname + location.search);
    openPaywall({ planId: join });
  });
}

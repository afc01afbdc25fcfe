/**
 * Social sign-in in a window of its own (spec section 7; vendors.md 1.8): the window goes to /blaize/oauth/{provider} and says
 * with a message how it ended. A message counts only when it comes from this site and from that window.
 */
import { popupFeatures } from '../../lib/accounts/model.ts';
import type { Provider } from '../../lib/accounts/service.ts';

export type SocialEnd =
  | { readonly kind: 'login'; readonly cookie: string | null }
  | { readonly kind: 'register'; readonly identifier: string | null; readonly stateKey: string }
  | { readonly kind: 'failure'; readonly message: string | null }
  /** The reader shut the window, or it cannot be seen any more. A message may still come. */
  | { readonly kind: 'closed' }
  /** The browser opened no window: the whole page is on its way to the provider. */
  | { readonly kind: 'blocked' };

/** How often the window is looked at, in milliseconds; browsers do not say that one was shut. */
const lookEvery = 500;

/** Where a social sign-in begins that takes the whole page, and comes back to a path of this site. */
export const socialPath = (provider: Provider, returnTo: string): string =>
  `/blaize/oauth/${provider}?return=${encodeURIComponent(returnTo)}`;

/** Reads a message of the window; `null` for what is none of ours. */
export function readMessage(data: unknown): SocialEnd | null {
  if (typeof data !== 'object' || data === null) return null;
  const { action, cookie, identifier, stateKey, message } = data as Record<string, unknown>;
  const text = (value: unknown) => (typeof value === 'string' && value !== '' ? value : null);
  if (action === 'login') return { kind: 'login', cookie: text(cookie) };
  if (action === 'failure') return { kind: 'failure', message: text(message) };
  const key = text(stateKey);
  return action === 'register' && key ? { kind: 'register', identifier: text(identifier), stateKey: key } : null;
}

/**
 * Opens the window. Must run within the click. Where it is blocked, the page itself goes to the provider.
 *
 * @param onEnd called with every end: a window that seems shut may still answer, for a provider may cut the tie to it
 * @returns stops listening
 */
export function openSocial(
  provider: Provider,
  returnTo: string,
  onEnd: (end: SocialEnd) => void,
  page: Window = window,
): () => void {
  const path = socialPath(provider, returnTo);
  const popup = page.open(path, 'social-sign-in', popupFeatures);
  if (!popup || popup.closed) {
    onEnd({ kind: 'blocked' });
    page.location.assign(path);
    return () => {};
  }

  const listen = (event: MessageEvent) => {
    if (event.origin !== page.location.origin || event.source !== popup) return;
    const end = readMessage(event.data);
    if (!end) return;
    stop();
    popup.close();
    onEnd(end);
  };
  const look = page.setInterval(() => {
    if (!popup.closed) return;
    page.clearInterval(look);
    onEnd({ kind: 'closed' });
  }, lookEvery);
  const stop = () => {
    page.clearInterval(look);
    page.removeEventListener('message', listen);
  };
  page.addEventListener('message', listen);
  popup.focus();
  return stop;
}

export type { Provider };

export const providerNames: Readonly<Record<Provider, string>> = { google: 'Google', facebook: 'Facebook' };

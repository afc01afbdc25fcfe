/**
 * Social sign-in in a popup window (spec section 7; vendors.md 1.8): the window goes to /blaize/oauth/{provider} and reports the result
 * with a message, which counts only if it comes from this site and from that window.
 */
import type { Provider } from '../../lib/accounts/service.ts';

export type SocialEnd =
  | { readonly kind: 'login'; readonly cookie: string | null }
  | { readonly kind: 'register'; readonly identifier: string | null; readonly stateKey: string }
  | { readonly kind: 'failure'; readonly message: string | null }
  /** The user closed the window, or the page lost its reference to it. A message may still come. */
  | { readonly kind: 'closed' }
  /** The browser blocked the window: the whole page goes to the provider. */
  | { readonly kind: 'blocked' };

/** The window (vendors.md 1.8). */
const popupFeatures = 'menubar=no,location=yes,resizable=no,scrollbars=no,status=no,width=500,height=600';

/** How often the window is checked, milliseconds; browsers send no event when it is closed. */
const lookEvery = 500;

/** Where a social sign-in starts that uses the whole page and returns to a path of this site. */
export const socialPath = (provider: Provider, returnTo: string): string =>
  `/blaize/oauth/${provider}?return=${encodeURIComponent(returnTo)}`;

/** Reads a message of the window; `null` for any other message. */
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
 * Opens the window; call it within the click. If the window is blocked, the page itself goes to the provider.
 *
 * @param onEnd called with every result: a window that seems closed may still respond, because a provider may cut the reference
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

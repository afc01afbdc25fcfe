/**
 * Social sign-in (spec section 7; vendors.md 1.8): links to the providers, and the popup window that they open. Without JavaScript, or
 * where popups are blocked, the whole page goes to the provider and comes back.
 */
import type { MouseEvent } from 'react';
import type { Provider } from '../../lib/accounts/service.ts';
import styles from './shared.module.css';

const names: Readonly<Record<Provider, string>> = { google: 'Google', facebook: 'Facebook' };

const labels = {
  choose: (provider: Provider): string => `Continue with ${names[provider]}`,
  waiting: (provider: Provider): string => `Waiting for ${names[provider]}…`,
};

interface Props {
  providers: readonly Provider[];
  /** Path on this site to return to. */
  returnTo: string;
  /** The provider whose window is open. */
  waiting?: Provider | null;
  /** Shows only the logos; the names stay for assistive technology. */
  compact?: boolean;
  /** Opens the window. It is called within the click; otherwise browsers block the window. */
  onChoose(provider: Provider): void;
}

const plainClick = (event: MouseEvent) =>
  event.button === 0 && !event.ctrlKey && !event.metaKey && !event.shiftKey && !event.altKey;

export function SocialButtons({ providers, returnTo, waiting = null, compact = false, onChoose }: Props) {
  if (providers.length === 0) return null;
  return (
    <ul className={compact ? styles.marks : styles.social}>
      {providers.map((provider) => (
        <li key={provider}>
          <a
            className={compact ? styles.mark : `button button-plain ${styles.provider}`}
            href={socialPath(provider, returnTo)}
            rel="nofollow"
            title={compact ? labels.choose(provider) : undefined}
            aria-label={compact ? labels.choose(provider) : undefined}
            onClick={(event) => {
              if (!plainClick(event)) return;
              event.preventDefault();
              onChoose(provider);
            }}
          >
            <Mark provider={provider} />
            {!compact && (waiting === provider ? labels.waiting(provider) : labels.choose(provider))}
          </a>
        </li>
      ))}
    </ul>
  );
}

function Mark({ provider }: { provider: Provider }) {
  return (
    <svg viewBox="0 0 24 24" width="20" height="20" aria-hidden="true" focusable="false">
      {provider === 'google' ? (
        <>
          <path
            fill="#4285f4"
            d="M22.5 12.23c0-.75-.07-1.47-.19-2.17H12v4.1h5.89a5.03 5.03 0 0 1-2.19 3.3v2.75h3.54c2.07-1.91 3.26-4.72 3.26-7.98z"
          />
          <path
            fill="#34a853"
            d="M12 22.9c2.95 0 5.43-.98 7.24-2.66l-3.54-2.75c-.98.66-2.24 1.05-3.7 1.05-2.85 0-5.26-1.92-6.12-4.51H2.22v2.84A10.93 10.93 0 0 0 12 22.9z"
          />
          <path fill="#fbbc05" d="M5.88 14.03a6.57 6.57 0 0 1 0-4.18V7.01H2.22a10.93 10.93 0 0 0 0 9.86z" />
          <path
            fill="#ea4335"
            d="M12 5.34c1.6 0 3.05.55 4.19 1.64l3.14-3.14A10.93 10.93 0 0 0 2.22 7.01l3.66 2.84C6.74 7.26 9.15 5.34 12 5.34z"
          />
        </>
      ) : (
        <path
          fill="#0866ff"
          d="M23 12a11 11 0 1 0-13.66 10.68v-7.32H7.07V12h2.27v-1.45c0-3.74 1.7-5.48 5.37-5.48.7 0 1.9.14 2.39.27v3.05a14 14 0 0 0-1.27-.04c-1.8 0-2.5.68-2.5 2.46V12h3.6l-.62 3.36h-2.98v7.56A11 11 0 0 0 23 12z"
        />
      )}
    </svg>
  );
}

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
 * Opens the window, which goes to /blaize/oauth/{provider} and reports the result with a message; it counts only if it comes from this site
 * and from that window. Call it within the click. If the window is blocked, the page itself goes to the provider.
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

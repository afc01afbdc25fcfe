/**
 * Social sign-in (spec section 7; docs/services/zephr.md): links to the providers, and the popup window that they open. Without JavaScript,
 * or where popups are blocked, the whole page goes to the provider and comes back.
 */
import type { Provider } from '../../lib/accounts/service.ts';
import { isPlainClick } from '../../lib/plain-click.ts';
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
              if (!isPlainClick(event)) return;
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

/** The provider's logo, drawn by styles: in the markup, it would be in every page with the sticky footer. */
const Mark = ({ provider }: { provider: Provider }) => <span className={styles[provider]} aria-hidden="true" />;

export type SocialEnd =
  | { readonly kind: 'login'; readonly cookie: string | null }
  | { readonly kind: 'register'; readonly identifier: string | null; readonly stateKey: string }
  | { readonly kind: 'failure'; readonly message: string | null }
  /** The user closed the window, or the page lost its reference to it. A message may still come. */
  | { readonly kind: 'closed' }
  /** The browser blocked the window: the whole page goes to the provider. */
  | { readonly kind: 'blocked' };

/** The window (docs/services/zephr.md). */
const popupFeatures = 'menubar=no,location=yes,resizable=no,scrollbars=no,status=no,width=500,height=600';

/** How often the window is checked, milliseconds; browsers send no event when it is closed. */
const pollMs = 500;

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
 * @param onEnd called with every result: a window that seems closed may still respond, because a provider's page may sever the reference
 *   (Cross-Origin-Opener-Policy)
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
  const poll = page.setInterval(() => {
    if (!popup.closed) return;
    page.clearInterval(poll);
    onEnd({ kind: 'closed' });
  }, pollMs);
  const stop = () => {
    page.clearInterval(poll);
    page.removeEventListener('message', listen);
  };
  page.addEventListener('message', listen);
  popup.focus();
  return stop;
}

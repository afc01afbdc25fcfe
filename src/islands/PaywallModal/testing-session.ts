/** Takes the place of stores/session.ts and after-payment.ts in tests of the paywall. */
import { atom } from 'nanostores';
import { vi } from 'vitest';
import { anonymousSession, type Session } from '../../lib/accounts/session.ts';

/** The session as the server's cookie would report it. */
export const onServer: { signedIn: boolean; product: 'reader' | null } = { signedIn: false, product: null };
export const reader = (): Session => ({
  ...anonymousSession,
  status: onServer.product ? 'customer' : 'registered',
  isAuthenticated: true,
  activeProduct: onServer.product,
  isPayingSubscriber: onServer.product !== null,
});

export const $session = atom<Session>(anonymousSession);
export const signOut = vi.fn(async () => ({ ok: true }));
export const refreshSession = async () => void (onServer.signedIn && $session.set(reader()));

/** after-payment.ts decides where the reader goes afterward. */
export const closeAfterPayment = vi.fn();

/**
 * Step 1 (spec section 2, "Paywall modal"; section 5): an e-mail address becomes an account that may pay at once. An address that
 * has one already is asked to sign in.
 */
import { atom, type ReadableAtom } from 'nanostores';
import type * as client from '../../lib/accounts/client.ts';
import { readPending } from '../../lib/accounts/pending.ts';
import { paywall as messages } from '../../lib/plans/messages.ts';
import { complaintAbout } from '../shared/email.ts';
import { wordsFor } from '../shared/messages.ts';

export interface AccountState {
  /** As typed. */
  readonly email: string;
  readonly busy: boolean;
  readonly error: string | null;
  /** The address belongs to somebody: "Sign in?" stands beside the error. */
  readonly exists: boolean;
  /** The sign-in by link or code is shown in the place of the address. */
  readonly signingIn: boolean;
}

export type AccountCalls = Pick<typeof client, 'verifyEmail' | 'createAndEnter'>;

export interface AccountStep {
  readonly $state: ReadableAtom<AccountState>;
  submit(email: string): Promise<void>;
  signIn(): void;
  /** Back from the sign-in to the address. */
  back(): void;
  /** Somebody is signed in, or has gone. @param error what to say about it */
  reset(error?: string): void;
}

interface Options {
  readonly calls: AccountCalls;
  readonly email: string;
  onTyped(email: string): void;
  /** The browser has a session now. */
  onEntered(): Promise<void>;
}

export function createAccountStep({ calls, email, onTyped, onEntered }: Options): AccountStep {
  // A sign-in that this page had begun before it was loaded again goes on.
  const signingIn = readPending('paywall') !== null;
  const $state = atom<AccountState>({ email, busy: false, error: null, exists: false, signingIn });
  const set = (change: Partial<AccountState>) => $state.set({ ...$state.get(), ...change });

  return {
    $state,
    async submit(typed) {
      if ($state.get().busy) return;
      const email = typed.trim();
      set({ email, busy: true, error: null, exists: false });
      onTyped(email);
      const complaint = await complaintAbout(email, calls.verifyEmail);
      if (complaint !== null) return set({ busy: false, error: complaint });
      const made = await calls.createAndEnter(email);
      if (made.ok) {
        await onEntered();
        return set({ busy: false });
      }
      if (made.status === 409) return set({ busy: false, error: messages.exists, exists: true });
      set({
        busy: false,
        error: wordsFor(made, made.status === 400 ? (made.message ?? messages.wrong) : messages.wrong),
      });
    },
    signIn: () => set({ signingIn: true, error: null, exists: false }),
    back: () => set({ signingIn: false }),
    reset: (error) => set({ busy: false, error: error ?? null, exists: false, signingIn: false }),
  };
}

/** Signing up by an address alone (spec sections 2 and 7, POST /api/zephr-create), without a screen. */
import { atom, type ReadableAtom } from 'nanostores';
import type * as client from '../../lib/accounts/client.ts';
import { complaintAbout } from '../shared/email.ts';
import { messages, wordsFor } from '../shared/messages.ts';

export interface NewsletterState {
  readonly step: 'email' | 'done';
  readonly email: string;
  readonly busy: boolean;
  readonly error: string | null;
}

export type NewsletterCalls = Pick<typeof client, 'verifyEmail' | 'createUser'>;

export interface NewsletterFlow {
  readonly $state: ReadableAtom<NewsletterState>;
  submit(email: string): Promise<void>;
}

/** @param initial what a page was asked to begin with */
export function createNewsletterFlow(calls: NewsletterCalls, initial: Partial<NewsletterState> = {}): NewsletterFlow {
  const $state = atom<NewsletterState>({ step: 'email', email: '', busy: false, error: null, ...initial });
  const set = (change: Partial<NewsletterState>) => $state.set({ ...$state.get(), ...change });

  return {
    $state,
    async submit(typed) {
      if ($state.get().busy) return;
      const email = typed.trim();
      set({ email, busy: true, error: null });
      const complaint = await complaintAbout(email, calls.verifyEmail);
      if (complaint !== null) return set({ busy: false, error: complaint });
      const answer = await calls.createUser(email);
      if (!answer.ok) return set({ busy: false, error: wordsFor(answer, answer.message ?? messages.createFailed) });
      set({ busy: false, step: 'done' });
    },
  };
}

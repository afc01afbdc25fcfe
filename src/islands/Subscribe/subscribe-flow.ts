/** Signing up by an address alone (spec sections 2 and 7, POST /api/zephr-create), without a screen. */
import { atom, type ReadableAtom } from 'nanostores';
import type * as client from '../../lib/accounts/client.ts';
import { complaintAbout } from '../shared/check-email.ts';
import { messages, wordsFor } from '../shared/messages.ts';

export interface SubscribeState {
  readonly step: 'email' | 'done';
  readonly email: string;
  readonly busy: boolean;
  readonly error: string | null;
}

export type SubscribeCalls = Pick<typeof client, 'verifyEmail' | 'createUser'>;

export interface SubscribeFlow {
  readonly $state: ReadableAtom<SubscribeState>;
  submit(email: string): Promise<void>;
}

/** @param initial what a page was asked to begin with */
export function createSubscribeFlow(calls: SubscribeCalls, initial: Partial<SubscribeState> = {}): SubscribeFlow {
  const $state = atom<SubscribeState>({ step: 'email', email: '', busy: false, error: null, ...initial });
  const set = (change: Partial<SubscribeState>) => $state.set({ ...$state.get(), ...change });

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

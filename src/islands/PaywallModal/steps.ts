/**
 * The paywall's accordion (spec section 4, "Paywall step") as pure functions, and the store of its first step (section 5): an email address
 * becomes an account that can pay at once; an address with an account is asked to sign in.
 */
import { atom, type ReadableAtom } from 'nanostores';
import type * as client from '../../lib/accounts/client.ts';
import { readPending } from '../../lib/accounts/storage.ts';
import { paywall as messages } from '../../lib/plans/messages.ts';
import { emailProblem, refusalMessage } from '../shared/messages.ts';

export type StepName = 'account' | 'shipping' | 'payment';

export interface Steps {
  /** Two steps, or three with a shipping address. */
  readonly names: readonly StepName[];
  /** `null`: all are closed. */
  readonly open: StepName | null;
  /** The furthest step that may be opened, as an index. */
  readonly reached: number;
}

const at = ({ names }: Steps, step: StepName) => names.indexOf(step);

/** The first steps: step 2 is open for a signed-in reader. */
export function startSteps(print: boolean, signedIn: boolean): Steps {
  const names: readonly StepName[] = print ? ['account', 'shipping', 'payment'] : ['account', 'payment'];
  const reached = signedIn ? 1 : 0;
  return { names, open: names[reached] ?? 'account', reached };
}

/** After another plan was chosen: the same step, if the plan has it. */
export function withPlan(steps: Steps, print: boolean): Steps {
  const next = startSteps(print, steps.reached > 0);
  return steps.open === 'account' ? { ...next, open: 'account' } : next;
}

/** After an email has appeared in the session: the second step. */
export const emailAppeared = (steps: Steps): Steps =>
  steps.open === 'account' ? completeStep(steps, 'account') : steps;

/** After a step is done: the next one. */
export function completeStep(steps: Steps, done: StepName): Steps {
  const next = at(steps, done) + 1;
  return { ...steps, open: steps.names[next] ?? null, reached: Math.max(steps.reached, next) };
}

/** Reopens step 1 after "Change". */
export const reopenAccount = (steps: Steps): Steps => ({ ...steps, open: 'account' });

/** "Edit toggles": opens a reached step, or closes it if it is open. */
export function toggle(steps: Steps, step: StepName): Steps {
  if (at(steps, step) > steps.reached) return steps;
  return { ...steps, open: steps.open === step ? null : step };
}

/** After a sign-out. */
export const signedOut = (steps: Steps): Steps => ({ ...steps, open: 'account', reached: 0 });

export interface AccountState {
  /** As typed. */
  readonly email: string;
  readonly busy: boolean;
  readonly error: string | null;
  /** The address has an account: "Sign in?" is shown next to the error. */
  readonly exists: boolean;
  /** Whether the sign-in by link or code is shown instead of the address. */
  readonly signingIn: boolean;
}

export type AccountCalls = Pick<typeof client, 'verifyEmail' | 'createAndEnter'>;

export type AccountStep = ReturnType<typeof createAccountStep>;

interface Options {
  readonly calls: AccountCalls;
  readonly email: string;
  onTyped(email: string): void;
  /** The browser has a session now. */
  onEntered(): Promise<void>;
}

export function createAccountStep({ calls, email, onTyped, onEntered }: Options) {
  // Continues a sign-in that began before the page was reloaded.
  const signingIn = readPending('paywall') !== null;
  const $state = atom<AccountState>({ email, busy: false, error: null, exists: false, signingIn });
  const set = (change: Partial<AccountState>) => $state.set({ ...$state.get(), ...change });

  return {
    $state: $state as ReadableAtom<AccountState>,
    async submit(typed: string): Promise<void> {
      if ($state.get().busy) return;
      const email = typed.trim();
      set({ email, busy: true, error: null, exists: false });
      onTyped(email);
      const complaint = await emailProblem(email, calls.verifyEmail);
      if (complaint !== null) return set({ busy: false, error: complaint });
      const answer = await calls.createAndEnter(email);
      if (answer.ok) {
        await onEntered();
        return set({ busy: false });
      }
      if (answer.status === 409) return set({ busy: false, error: messages.exists, exists: true });
      set({
        busy: false,
        error: refusalMessage(answer, answer.status === 400 ? (answer.message ?? messages.wrong) : messages.wrong),
      });
    },
    signIn: () => set({ signingIn: true, error: null, exists: false }),
    /** Returns from the sign-in to the address. */
    back: () => set({ signingIn: false }),
    /** After a sign-in or a sign-out. @param error a message about it */
    reset: (error?: string) => set({ busy: false, error: error ?? null, exists: false, signingIn: false }),
  };
}

/**
 * What happens between an e-mail address and a session (spec section 4, "Sign-in form" and "Code entry"), without a screen:
 * one store with the state, and what a reader can do. Screens draw the state and call these.
 */
import { atom, type ReadableAtom } from 'nanostores';
import type * as client from '../../lib/accounts/client.ts';
import type { Answer, Refused } from '../../lib/http/ask.ts';
import { complaintAbout } from '../shared/email.ts';
import { messages, wordsFor } from '../shared/messages.ts';
import type { Provider, SocialEnd } from '../shared/social.ts';

export type Method = 'link' | 'code';

export interface SignInState {
  readonly step: 'email' | 'sent' | 'code' | 'done';
  /** As typed, without space around it. */
  readonly email: string;
  /** Whether the address belongs to a reader: `login`, or to nobody yet: `register`. */
  readonly purpose: 'login' | 'register';
  readonly busy: boolean;
  readonly error: { readonly where: 'email' | 'code' | 'form'; readonly text: string } | null;
  /** For a moment after a message was sent again. */
  readonly resent: boolean;
  /** Whose window is open. */
  readonly social: Provider | null;
}

/** The calls that signing in makes. */
export type Calls = Pick<
  typeof client,
  'verifyEmail' | 'userExists' | 'sendLink' | 'sendCode' | 'checkCode' | 'login' | 'register'
>;

export interface FlowOptions {
  readonly calls: Calls;
  /** How the reader is asked to prove the address first. */
  readonly method?: Method;
  /** Whether there are codes at all; else everybody gets a link. */
  readonly codes?: boolean;
  /** Path on this site to come back to by a link. */
  readonly redirect: string;
  readonly initial?: Partial<SignInState> | undefined;
  /** Called once when there is a session; the state turns to `done` when it is over. */
  onSignedIn(): Promise<void> | void;
}

export interface Flow {
  readonly $state: ReadableAtom<SignInState>;
  submit(email: string): Promise<void>;
  /** Goes on where the page was before it was loaded again. */
  resume(pending: Pick<SignInState, 'step' | 'email' | 'purpose'>): void;
  /** Back to the address, which is kept. */
  edit(): void;
  /** Sends the link or the code once more. */
  resend(): Promise<void>;
  /** Mails a code in the place of the link. */
  useCode(): Promise<void>;
  confirm(code: string): Promise<void>;
  /** Notes that a provider's window was opened. */
  socialOpened(provider: Provider): void;
  socialEnded(end: SocialEnd): Promise<void>;
  /** Nothing that is still under way changes the state any more. */
  stop(): void;
}

/** Milliseconds for which "Resent!" is shown. */
const brief = 4000;

const start: SignInState = {
  step: 'email',
  email: '',
  purpose: 'login',
  busy: false,
  error: null,
  resent: false,
  social: null,
};

export function createFlow({ calls, codes = true, redirect, initial, onSignedIn, ...options }: FlowOptions): Flow {
  const method = codes ? (options.method ?? 'link') : 'link';
  const $state = atom<SignInState>({ ...start, ...initial });
  const set = (change: Partial<SignInState>) => $state.set({ ...$state.get(), ...change });
  const fail = (where: 'email' | 'code' | 'form', text: string) => set({ busy: false, error: { where, text } });
  let turn = 0;
  let note: ReturnType<typeof setTimeout> | undefined;

  /** Runs one thing at a time; `current()` is false once something else has begun, and the thing then changes nothing. */
  async function run(action: (current: () => boolean) => Promise<void>): Promise<void> {
    if ($state.get().busy) return;
    turn += 1;
    const mine = turn;
    clearTimeout(note);
    set({ busy: true, error: null, resent: false });
    await action(() => mine === turn);
    if (mine === turn && $state.get().busy) set({ busy: false });
  }

  /** Mails a link or a code. An address that turns out to be known, or unknown, changes the purpose. */
  async function send(how: Method): Promise<{ sent: Method } | { refused: Refused }> {
    const { email, purpose } = $state.get();
    if (how === 'code') {
      const answer = await calls.sendCode({ email, action: purpose, redirect });
      if (answer.ok && answer.value) return { sent: 'code' };
      // 404 and 405: there are no codes for this address, or none at all. A link does it too.
      if (!answer.ok && answer.status !== 405) return { refused: answer };
    }
    let answer: Answer<unknown> = await calls.sendLink({ email, action: purpose, redirect });
    if (!answer.ok && answer.status === 409 && purpose === 'register') {
      answer = await calls.sendLink({ email, action: 'login', redirect });
      if (answer.ok) set({ purpose: 'login' });
    }
    // A tenant that doesn't say who has an account: without one there is no link to sign in.
    if (!answer.ok && (answer.status === 404 || answer.status === 400) && $state.get().purpose === 'login') {
      answer = await calls.sendLink({ email, action: 'register', redirect });
      if (answer.ok) set({ purpose: 'register' });
    }
    return answer.ok ? { sent: 'link' } : { refused: answer };
  }

  async function sendAndShow(how: Method, where: 'email' | 'form', current: () => boolean): Promise<boolean> {
    const result = await send(how);
    if (!current()) return false;
    if ('refused' in result) {
      fail(where, wordsFor(result.refused, result.refused.message ?? messages.wrong));
      return false;
    }
    set({ busy: false, step: result.sent === 'code' ? 'code' : 'sent' });
    return true;
  }

  async function finish(): Promise<void> {
    await onSignedIn();
    set({ busy: false, step: 'done', social: null });
  }

  /** "409 on register triggers a login link" (spec section 7). */
  async function linkInstead(email: string, current: () => boolean): Promise<void> {
    set({ email, purpose: 'login' });
    await sendAndShow('link', 'form', current);
  }

  return {
    $state,
    submit: (typed) =>
      run(async (current) => {
        const email = typed.trim();
        set({ email });
        const complaint = await complaintAbout(email, calls.verifyEmail);
        if (!current()) return;
        if (complaint !== null) return fail('email', complaint);
        const known = await calls.userExists(email);
        if (!current()) return;
        if (!known.ok) return fail('email', wordsFor(known, known.message ?? messages.wrong));
        set({ purpose: known.value ? 'login' : 'register' });
        await sendAndShow(method, 'email', current);
      }),
    resume({ step, email, purpose }) {
      if ($state.get().step === 'email' && !$state.get().busy) set({ step, email, purpose, error: null });
    },
    edit() {
      turn += 1;
      clearTimeout(note);
      set({ step: 'email', busy: false, error: null, resent: false });
    },
    resend: () =>
      run(async (current) => {
        const how = $state.get().step === 'code' ? 'code' : 'link';
        if (!(await sendAndShow(how, 'form', current))) return;
        set({ resent: true });
        note = setTimeout(() => set({ resent: false }), brief);
      }),
    useCode: () =>
      run(async (current) => {
        await sendAndShow('code', 'form', current);
      }),
    confirm: (typed) =>
      run(async (current) => {
        const code = typed.replace(/\s+/gu, '');
        if (!/^\d{6}$/u.test(code)) return fail('code', messages.codeLength);
        const { email, purpose } = $state.get();
        const checked = await calls.checkCode(email, code);
        if (!current()) return;
        // A server that is in trouble has not said anything about the code.
        if (!checked.ok)
          return fail('code', wordsFor(checked, checked.status < 500 ? messages.invalidCode : undefined));
        const entered = await enter(email, code, purpose);
        if (!current()) return;
        if (entered.ok) return finish();
        if (entered.status === 409) return linkInstead(email, current);
        fail('code', wordsFor(entered, entered.status < 500 ? messages.invalidCode : undefined));
      }),
    socialOpened: (social) => set({ social, error: null }),
    async socialEnded(end) {
      if ($state.get().step === 'done') return;
      set({ social: null });
      if (end.kind === 'blocked') return;
      if (end.kind === 'closed') return fail('form', messages.socialClosed);
      if (end.kind === 'failure') return fail('form', end.message ?? messages.socialFailed);
      await run(async (current) => {
        if (end.kind === 'login') return finish();
        const made = await calls.register({ proof: { stateKey: end.stateKey } });
        if (!current()) return;
        if (made.ok) return finish();
        if (made.status === 409 && end.identifier) return linkInstead(end.identifier, current);
        fail('form', wordsFor(made, made.message ?? messages.socialFailed));
      });
    },
    stop() {
      turn += 1;
      clearTimeout(note);
    },
  };

  /** Signs in, or makes the account. An account that has gone in the meantime is made anew. */
  async function enter(email: string, code: string, purpose: 'login' | 'register'): Promise<Answer<unknown>> {
    if (purpose === 'register') return calls.register({ email, proof: { code } });
    const answer = await calls.login({ email, proof: { code } });
    return !answer.ok && answer.status === 404 ? calls.register({ email, proof: { code } }) : answer;
  }
}

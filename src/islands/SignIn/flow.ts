/**
 * The steps between an email address and a session (spec section 4, "Sign-in form" and "Code entry"), without a user interface: one store
 * with the state, and the user's actions.
 */
import { atom, type ReadableAtom, type WritableAtom } from 'nanostores';
import type * as client from '../../lib/accounts/client.ts';
import type { Provider } from '../../lib/accounts/service.ts';
import type { Refused, Reply } from '../../lib/http/ask.ts';
import { emailProblem, messages, refusalMessage } from '../shared/messages.ts';
import type { SocialEnd } from '../shared/social.tsx';

type Method = 'link' | 'code';

export interface SignInState {
  readonly step: 'email' | 'sent' | 'code' | 'done';
  /** As typed, without space around it. */
  readonly email: string;
  /** `login` where the address has an account, else `register`. */
  readonly purpose: 'login' | 'register';
  readonly busy: boolean;
  readonly error: { readonly where: 'email' | 'code' | 'form'; readonly text: string } | null;
  /** For a moment after a message was sent again. */
  readonly resent: boolean;
  /** The provider whose window is open. */
  readonly social: Provider | null;
}

/** The calls that signing in makes. */
export type Calls = Pick<
  typeof client,
  'verifyEmail' | 'userExists' | 'sendLink' | 'sendCode' | 'checkCode' | 'login' | 'register'
>;

export interface FlowOptions {
  readonly calls: Calls;
  /** Path on this site to come back to by a link. */
  readonly redirect: string;
  readonly initial?: Partial<SignInState> | undefined;
  /** Called once when there is a session; the state turns to `done` when it is over. */
  onSignedIn(): Promise<void> | void;
}

export interface Flow {
  readonly $state: ReadableAtom<SignInState>;
  submit(email: string): Promise<void>;
  /** Continues at the step at which the page was reloaded. */
  resume(pending: Pick<SignInState, 'step' | 'email' | 'purpose'>): void;
  /** Goes back to the address, which is kept. */
  edit(): void;
  /** Sends the link or the code once more. */
  resend(): Promise<void>;
  /** Mails a code instead of the link. */
  useCode(): Promise<void>;
  confirm(code: string): Promise<void>;
  /** Notes that a provider's window was opened. */
  socialOpened(provider: Provider): void;
  socialEnded(end: SocialEnd): Promise<void>;
  /** Ends what is under way. */
  stop(): void;
}

/** Milliseconds for which "Resent!" is shown. */
const resentMs = 4000;

const start: SignInState = {
  step: 'email',
  email: '',
  purpose: 'login',
  busy: false,
  error: null,
  resent: false,
  social: null,
};

interface FlowState extends Pick<FlowOptions, 'calls' | 'redirect' | 'onSignedIn'> {
  readonly $state: WritableAtom<SignInState>;
  /** Number of the latest action: an earlier one that is still under way changes nothing any more. */
  latest: number;
  /** Ends the note "Resent!". */
  note: ReturnType<typeof setTimeout> | undefined;
}

type Current = () => boolean;

const set = ({ $state }: FlowState, change: Partial<SignInState>) => $state.set({ ...$state.get(), ...change });
const fail = (flow: FlowState, where: 'email' | 'code' | 'form', text: string) =>
  set(flow, { busy: false, error: { where, text } });

/** Ends what is under way. */
function interrupt(flow: FlowState): void {
  flow.latest += 1;
  clearTimeout(flow.note);
}

export function createFlow({ calls, redirect, initial, onSignedIn }: FlowOptions): Flow {
  const $state = atom<SignInState>({ ...start, ...initial });
  const flow: FlowState = {
    calls,
    redirect,
    onSignedIn,
    $state,
    latest: 0,
    note: undefined,
  };
  return {
    $state,
    submit: (typed) => run(flow, (current) => submit(flow, typed.trim(), current)),
    resume({ step, email, purpose }) {
      if ($state.get().step === 'email' && !$state.get().busy) set(flow, { step, email, purpose, error: null });
    },
    edit() {
      interrupt(flow);
      set(flow, { step: 'email', busy: false, error: null, resent: false });
    },
    resend: () => run(flow, (current) => resend(flow, current)),
    useCode: () => run(flow, async (current) => void (await sendAndShow(flow, 'code', 'form', current))),
    confirm: (typed) => run(flow, (current) => confirm(flow, typed.replace(/\s+/gu, ''), current)),
    socialOpened: (social) => set(flow, { social, error: null }),
    socialEnded: (end) => socialEnded(flow, end),
    stop: () => interrupt(flow),
  };
}

/** Runs one action at a time. @param action given a function that is false once another action has begun */
async function run(flow: FlowState, action: (current: Current) => Promise<void>): Promise<void> {
  if (flow.$state.get().busy) return;
  interrupt(flow);
  const mine = flow.latest;
  const current = () => mine === flow.latest;
  set(flow, { busy: true, error: null, resent: false });
  await action(current);
  if (current() && flow.$state.get().busy) set(flow, { busy: false });
}

async function submit(flow: FlowState, email: string, current: Current): Promise<void> {
  const { calls } = flow;
  set(flow, { email });
  const complaint = await emailProblem(email, calls.verifyEmail);
  if (!current()) return;
  if (complaint !== null) return fail(flow, 'email', complaint);
  const known = await calls.userExists(email);
  if (!current()) return;
  if (!known.ok) return fail(flow, 'email', refusalMessage(known, known.message ?? messages.wrong));
  set(flow, { purpose: known.value ? 'login' : 'register' });
  await sendAndShow(flow, 'link', 'email', current);
}

/** Mails a link or a code. Where the server says that the address is known, or unknown, the purpose changes. */
async function send(flow: FlowState, how: Method): Promise<{ sent: Method } | { refused: Refused }> {
  const { calls, redirect, $state } = flow;
  const { email, purpose } = $state.get();
  if (how === 'code') {
    const answer = await calls.sendCode({ email, action: purpose, redirect });
    if (answer.ok && answer.value) return { sent: 'code' };
    // 404 and 405: codes aren't available for this address, or not at all, so a link is sent.
    if (!answer.ok && answer.status !== 405) return { refused: answer };
  }
  let answer: Reply<unknown> = await calls.sendLink({ email, action: purpose, redirect });
  if (!answer.ok && answer.status === 409 && purpose === 'register') {
    answer = await calls.sendLink({ email, action: 'login', redirect });
    if (answer.ok) set(flow, { purpose: 'login' });
  }
  // A tenant that doesn't say which addresses have an account refuses the link to sign in.
  if (!answer.ok && (answer.status === 404 || answer.status === 400) && $state.get().purpose === 'login') {
    answer = await calls.sendLink({ email, action: 'register', redirect });
    if (answer.ok) set(flow, { purpose: 'register' });
  }
  return answer.ok ? { sent: 'link' } : { refused: answer };
}

async function sendAndShow(flow: FlowState, how: Method, where: 'email' | 'form', current: Current): Promise<boolean> {
  const result = await send(flow, how);
  if (!current()) return false;
  if ('refused' in result) {
    fail(flow, where, refusalMessage(result.refused, result.refused.message ?? messages.wrong));
    return false;
  }
  set(flow, { busy: false, step: result.sent === 'code' ? 'code' : 'sent' });
  return true;
}

async function resend(flow: FlowState, current: Current): Promise<void> {
  const how = flow.$state.get().step === 'code' ? 'code' : 'link';
  if (!(await sendAndShow(flow, how, 'form', current))) return;
  set(flow, { resent: true });
  flow.note = setTimeout(() => set(flow, { resent: false }), resentMs);
}

async function confirm(flow: FlowState, code: string, current: Current): Promise<void> {
  if (!/^\d{6}$/u.test(code)) return fail(flow, 'code', messages.codeLength);
  // An answer of 500 or more says nothing about the code.
  const refusal = (answer: Refused) => refusalMessage(answer, answer.status < 500 ? messages.invalidCode : undefined);
  const { email, purpose } = flow.$state.get();
  const checked = await flow.calls.checkCode(email, code);
  if (!current()) return;
  if (!checked.ok) return fail(flow, 'code', refusal(checked));
  const entered = await enter(flow, email, code, purpose);
  if (!current()) return;
  if (entered.ok) return finish(flow);
  if (entered.status === 409) return linkInstead(flow, email, current);
  fail(flow, 'code', refusal(entered));
}

/** Signs in, or creates the account. If the account was deleted in the meantime, it is created again. */
async function enter(
  { calls }: FlowState,
  email: string,
  code: string,
  purpose: 'login' | 'register',
): Promise<Reply<unknown>> {
  if (purpose === 'register') return calls.register({ email, proof: { code } });
  const answer = await calls.login({ email, proof: { code } });
  return !answer.ok && answer.status === 404 ? calls.register({ email, proof: { code } }) : answer;
}

async function finish(flow: FlowState): Promise<void> {
  await flow.onSignedIn();
  set(flow, { busy: false, step: 'done', social: null });
}

/** "409 on register triggers a login link" (spec section 7). */
async function linkInstead(flow: FlowState, email: string, current: Current): Promise<void> {
  set(flow, { email, purpose: 'login' });
  await sendAndShow(flow, 'link', 'form', current);
}

async function socialEnded(flow: FlowState, end: SocialEnd): Promise<void> {
  if (flow.$state.get().step === 'done') return;
  set(flow, { social: null });
  if (end.kind === 'blocked') return;
  if (end.kind === 'closed') {
    // A provider's window that was left open doesn't affect a sign-in by mail.
    const { step, busy } = flow.$state.get();
    return step === 'email' && !busy ? fail(flow, 'form', messages.socialClosed) : undefined;
  }
  if (end.kind === 'failure') return fail(flow, 'form', end.message ?? messages.socialFailed);
  await run(flow, async (current) => {
    if (end.kind === 'login') return finish(flow);
    const answer = await flow.calls.register({ proof: { stateKey: end.stateKey } });
    if (!current()) return;
    if (answer.ok) return finish(flow);
    if (answer.status === 409 && end.identifier) return linkInstead(flow, end.identifier, current);
    fail(flow, 'form', refusalMessage(answer, answer.message ?? messages.socialFailed));
  });
}

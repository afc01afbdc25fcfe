import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { VerificationAnswer } from '../../lib/accounts/schema.ts';
import type { Refused, Reply } from '../../lib/http/ask.ts';
import { type Calls, createFlow, type Flow, type FlowOptions } from './flow.ts';

const yes = <T>(value: T): Reply<T> => ({ ok: true, status: 200, value });
const no = (status: number, message: string | null = null): Reply<never> => ({
  ok: false,
  status,
  message,
  retryAfter: null,
  suggestedEmail: null,
});
const ok = yes({ message: 'OK' });
const signedIn = yes({ cookie: '', message: 'Login successful', tracking_id: '1' });

type FakeCalls = { [Name in keyof Calls]: ReturnType<typeof vi.fn<Calls[Name]>> };
let calls: FakeCalls;
let entered: number;

beforeEach(() => {
  entered = 0;
  calls = {
    verifyEmail: vi.fn<Calls['verifyEmail']>(async () =>
      yes<VerificationAnswer>({ verified: true, suggestedEmail: null, message: '' }),
    ),
    userExists: vi.fn<Calls['userExists']>(async () => yes(true)),
    sendLink: vi.fn<Calls['sendLink']>(async () => ok),
    sendCode: vi.fn<Calls['sendCode']>(async () => yes(true)),
    checkCode: vi.fn<Calls['checkCode']>(async () => ok),
    login: vi.fn<Calls['login']>(async () => signedIn),
    register: vi.fn<Calls['register']>(async () => signedIn),
  };
});
afterEach(() => vi.useRealTimers());

const make = (more: Partial<FlowOptions> = {}): Flow =>
  createFlow({
    calls,
    redirect: '/article/a',
    onSignedIn: () => {
      entered += 1;
    },
    ...more,
  });
const atCode = (purpose: 'login' | 'register' = 'login') =>
  make({ initial: { step: 'code', email: 'ada@example.com', purpose } });
const state = (flow: Flow) => flow.$state.get();

describe('an address', () => {
  it('of a reader gets a link to sign in', async () => {
    const flow = make();
    await flow.submit('  ada@example.com ');
    expect(calls.sendLink).toHaveBeenCalledExactlyOnceWith({
      email: 'ada@example.com',
      action: 'login',
      redirect: '/article/a',
    });
    expect(state(flow)).toMatchObject({ step: 'sent', email: 'ada@example.com', busy: false, error: null });
  });

  it('without an account gets a link to register', async () => {
    calls.userExists.mockResolvedValue({ ok: true, status: 404, value: false });
    const flow = make();
    await flow.submit('ada@example.com');
    expect(calls.sendLink.mock.calls[0]?.[0].action).toBe('register');
    expect(state(flow)).toMatchObject({ step: 'sent', purpose: 'register' });
  });

  it('gets a code when the reader asks for one', async () => {
    const flow = make();
    await flow.submit('ada@example.com');
    await flow.useCode();
    expect(calls.sendCode).toHaveBeenCalledOnce();
    expect(calls.sendLink).toHaveBeenCalledOnce();
    expect(state(flow).step).toBe('code');
  });

  it.each([
    ['the address has no account (404)', { ok: true, status: 404, value: false } as Reply<boolean>],
    ['codes are off (405)', no(405)],
  ])('gets a link instead of a code when %s', async (_why, answer) => {
    calls.sendCode.mockResolvedValue(answer);
    const flow = make();
    await flow.submit('ada@example.com');
    await flow.useCode();
    expect(calls.sendLink).toHaveBeenCalledTimes(2);
    expect(state(flow).step).toBe('sent');
  });

  it('without an account gets a link to register when the server answers 404 only to the link request', async () => {
    calls.sendLink.mockResolvedValueOnce(no(404));
    const flow = make();
    await flow.submit('ada@example.com');
    expect(calls.sendLink.mock.calls.map(([{ action }]) => action)).toEqual(['login', 'register']);
    expect(state(flow)).toMatchObject({ step: 'sent', purpose: 'register', error: null });
  });

  it('that the verifier rejects is not looked up, and a correction is suggested', async () => {
    calls.verifyEmail.mockResolvedValue(
      yes<VerificationAnswer>({ verified: false, suggestedEmail: 'ada@gmail.com', message: 'No such domain.' }),
    );
    const flow = make();
    await flow.submit('ada@gmial.com');
    expect(state(flow)).toMatchObject({
      step: 'email',
      email: 'ada@gmial.com',
      busy: false,
      error: { where: 'email', text: 'Did you mean ada@gmail.com?' },
    });
    expect(calls.userExists).not.toHaveBeenCalled();
  });

  it('is accepted when the verifier cannot be reached', async () => {
    calls.verifyEmail.mockResolvedValue(no(0));
    const flow = make();
    await flow.submit('ada@example.com');
    expect(state(flow).step).toBe('sent');
  });

  it('is kept when a request fails, and the next try succeeds', async () => {
    calls.sendLink.mockResolvedValueOnce(no(0));
    const flow = make();
    await flow.submit('ada@example.com');
    expect(state(flow)).toMatchObject({ step: 'email', email: 'ada@example.com', busy: false });
    expect(state(flow).error?.text).toMatch(/couldn’t reach the server/);
    await flow.submit('ada@example.com');
    expect(state(flow)).toMatchObject({ step: 'sent', error: null });
  });

  it('over a rate limit shows the server’s message', async () => {
    calls.userExists.mockResolvedValue(no(429, 'Too many tries. Please wait 12 minutes.'));
    const flow = make();
    await flow.submit('ada@example.com');
    expect(state(flow).error).toEqual({ where: 'email', text: 'Too many tries. Please wait 12 minutes.' });
  });

  it('that was registered a moment ago gets a link to sign in instead (409)', async () => {
    calls.userExists.mockResolvedValue({ ok: true, status: 404, value: false });
    calls.sendLink.mockResolvedValueOnce(no(409));
    const flow = make();
    await flow.submit('ada@example.com');
    expect(calls.sendLink.mock.calls.map(([delivery]) => delivery.action)).toEqual(['register', 'login']);
    expect(state(flow)).toMatchObject({ step: 'sent', purpose: 'login' });
  });

  it('that a later request rejects also gets a suggested correction', async () => {
    calls.sendLink.mockResolvedValue({ ...no(400, 'No such domain.'), suggestedEmail: 'ada@gmail.com' } as Refused);
    const flow = make();
    await flow.submit('ada@gmail.con');
    expect(state(flow).error).toEqual({ where: 'email', text: 'Did you mean ada@gmail.com?' });
  });

  it('is submitted once for two clicks', async () => {
    const flow = make();
    await Promise.all([flow.submit('ada@example.com'), flow.submit('ada@example.com')]);
    expect(calls.sendLink).toHaveBeenCalledOnce();
  });
});

describe('a link that was sent', () => {
  it('can be sent again, with a message for five seconds', async () => {
    vi.useFakeTimers();
    const flow = make({ initial: { step: 'sent', email: 'ada@example.com' } });
    await flow.resend();
    expect(calls.sendLink).toHaveBeenCalledOnce();
    expect(state(flow)).toMatchObject({ step: 'sent', resent: true });
    vi.advanceTimersByTime(5000);
    expect(state(flow).resent).toBe(false);
  });

  it('that cannot be sent again shows the reason at the form', async () => {
    calls.sendLink.mockResolvedValue(no(429, 'Please wait.'));
    const flow = make({ initial: { step: 'sent', email: 'ada@example.com' } });
    await flow.resend();
    expect(state(flow)).toMatchObject({ step: 'sent', resent: false, error: { where: 'form', text: 'Please wait.' } });
  });

  it('can be replaced by a code', async () => {
    const flow = make({ initial: { step: 'sent', email: 'ada@example.com', purpose: 'register' } });
    await flow.useCode();
    expect(calls.sendCode).toHaveBeenCalledExactlyOnceWith({
      email: 'ada@example.com',
      action: 'register',
      redirect: '/article/a',
    });
    expect(state(flow).step).toBe('code');
  });

  it('can be replaced by another address, even while it is being resent', async () => {
    const { promise, resolve } = Promise.withResolvers<Reply<typeof ok extends Reply<infer T> ? T : never>>();
    calls.sendLink.mockReturnValue(promise);
    const flow = make({ initial: { step: 'sent', email: 'ada@example.com' } });
    const resending = flow.resend();
    flow.edit();
    resolve(ok);
    await resending;
    expect(state(flow)).toMatchObject({ step: 'email', email: 'ada@example.com', busy: false, resent: false });
  });
});

describe('a code', () => {
  it('signs a reader in', async () => {
    const flow = atCode();
    await flow.confirm('123 456');
    expect(calls.checkCode).toHaveBeenCalledExactlyOnceWith('ada@example.com', '123456');
    expect(calls.login).toHaveBeenCalledExactlyOnceWith({ email: 'ada@example.com', proof: { code: '123456' } });
    expect(calls.register).not.toHaveBeenCalled();
    expect(entered).toBe(1);
    expect(state(flow).step).toBe('done');
  });

  it('registers a new reader', async () => {
    const flow = atCode('register');
    await flow.confirm('123456');
    expect(calls.register).toHaveBeenCalledExactlyOnceWith({ email: 'ada@example.com', proof: { code: '123456' } });
    expect(calls.login).not.toHaveBeenCalled();
    expect(entered).toBe(1);
  });

  it('must be six characters', async () => {
    const flow = atCode();
    await flow.confirm('12345');
    expect(state(flow).error).toEqual({ where: 'code', text: 'Code must be six characters.' });
    expect(calls.checkCode).not.toHaveBeenCalled();
  });

  it.each([400, 401, 404, 410])(
    'that is refused with %i shows the spec’s message about an invalid code',
    async (status) => {
      calls.checkCode.mockResolvedValue(no(status, 'No.'));
      const flow = atCode();
      await flow.confirm('123456');
      const text = 'Invalid code. Please check the code and try again.';
      expect(state(flow)).toMatchObject({ step: 'code', busy: false, error: { where: 'code', text } });
      expect(calls.login).not.toHaveBeenCalled();
    },
  );

  it('that only the sign-in request refuses also shows the message about an invalid code', async () => {
    calls.login.mockResolvedValue(no(401));
    const flow = atCode();
    await flow.confirm('123456');
    expect(state(flow).error?.text).toBe('Invalid code. Please check the code and try again.');
    expect(entered).toBe(0);
  });

  it.each([
    [0, /couldn’t reach the server/],
    [503, /^Something went wrong\. Please try again\.$/],
    [429, /^Wait\.$/],
  ])('is not called invalid when the server has not checked it (%i)', async (status, words) => {
    calls.checkCode.mockResolvedValue(no(status, status === 429 ? 'Wait.' : null));
    const flow = atCode();
    await flow.confirm('123456');
    expect(state(flow).error?.text).toMatch(words);
  });

  it('for an address that has been registered since leads to a sign-in link (409)', async () => {
    calls.register.mockResolvedValue(no(409));
    const flow = atCode('register');
    await flow.confirm('123456');
    expect(calls.sendLink).toHaveBeenCalledExactlyOnceWith({
      email: 'ada@example.com',
      action: 'login',
      redirect: '/article/a',
    });
    expect(state(flow)).toMatchObject({ step: 'sent', purpose: 'login' });
  });

  it('registers the account again when it has been deleted since (404)', async () => {
    calls.login.mockResolvedValue(no(404));
    const flow = atCode();
    await flow.confirm('123456');
    expect(calls.register).toHaveBeenCalledOnce();
    expect(entered).toBe(1);
  });

  it('can be sent again', async () => {
    const flow = atCode();
    await flow.resend();
    expect(calls.sendCode).toHaveBeenCalledOnce();
    expect(state(flow)).toMatchObject({ step: 'code', resent: true });
  });
});

describe('signing in with a provider', () => {
  it('signs a known reader in', async () => {
    const flow = make();
    flow.socialOpened('google');
    expect(state(flow).social).toBe('google');
    await flow.socialEnded({ kind: 'login', cookie: null });
    expect(entered).toBe(1);
    expect(state(flow)).toMatchObject({ step: 'done', social: null });
  });

  it('registers a new reader with the state key and without an address', async () => {
    const flow = make();
    await flow.socialEnded({ kind: 'register', identifier: 'ada@example.com', stateKey: 'key' });
    expect(calls.register).toHaveBeenCalledExactlyOnceWith({ proof: { stateKey: 'key' } });
    expect(entered).toBe(1);
  });

  it('leads to a sign-in link when the address already has an account (409)', async () => {
    calls.register.mockResolvedValue(no(409));
    const flow = make();
    await flow.socialEnded({ kind: 'register', identifier: 'ada@example.com', stateKey: 'key' });
    expect(calls.sendLink.mock.calls[0]?.[0]).toMatchObject({ email: 'ada@example.com', action: 'login' });
    expect(state(flow)).toMatchObject({ step: 'sent', email: 'ada@example.com' });
  });

  it('shows why it failed, or just that it did not work', async () => {
    const flow = make();
    await flow.socialEnded({ kind: 'failure', message: 'No address came with it.' });
    expect(state(flow).error).toEqual({ where: 'form', text: 'No address came with it.' });
    await flow.socialEnded({ kind: 'failure', message: null });
    expect(state(flow).error?.text).toMatch(/did not work/);
  });

  it('says that the window was closed, and still accepts a late answer', async () => {
    const flow = make();
    flow.socialOpened('facebook');
    await flow.socialEnded({ kind: 'closed' });
    expect(state(flow)).toMatchObject({ social: null, error: { where: 'form' } });
    await flow.socialEnded({ kind: 'login', cookie: null });
    expect(state(flow)).toMatchObject({ step: 'done', error: null });
    await flow.socialEnded({ kind: 'closed' });
    expect(state(flow).error).toBeNull();
  });
});

it('closing a provider’s window during an email sign-in shows no error and leaves the form busy', async () => {
  const { promise, resolve } = Promise.withResolvers<Reply<boolean>>();
  calls.userExists.mockReturnValue(promise);
  const flow = make();
  flow.socialOpened('google');
  const submitting = flow.submit('ada@example.com');
  await flow.socialEnded({ kind: 'closed' });
  expect(state(flow)).toMatchObject({ busy: true, social: null, error: null });
  resolve(yes(true));
  await submitting;
  await flow.socialEnded({ kind: 'closed' });
  expect(state(flow)).toMatchObject({ step: 'sent', error: null });
});

it('a stopped sign-in flow sends nothing more', async () => {
  const { promise, resolve } = Promise.withResolvers<Reply<boolean>>();
  calls.userExists.mockReturnValue(promise);
  const flow = make();
  const submitting = flow.submit('ada@example.com');
  flow.stop();
  resolve(yes(true));
  await submitting;
  expect(calls.sendLink).not.toHaveBeenCalled();
});

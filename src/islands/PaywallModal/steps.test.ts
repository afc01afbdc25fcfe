import { describe, expect, it, vi } from 'vitest';
import {
  type AccountCalls,
  completeStep,
  createAccountStep,
  emailAppeared,
  reopenAccount,
  signedOut,
  startSteps,
  toggle,
  withPlan,
} from './steps.ts';
import { granted, refusal } from './testing.ts';

describe('the steps of the paywall', () => {
  it('are two, or three for a print subscription', () => {
    expect(startSteps(false, false)).toEqual({ names: ['account', 'payment'], open: 'account', reached: 0 });
    expect(startSteps(true, false).names).toEqual(['account', 'shipping', 'payment']);
  });

  it('start at step 2 for a signed-in reader', () => {
    expect(startSteps(false, true).open).toBe('payment');
    expect(startSteps(true, true).open).toBe('shipping');
  });

  it('move on to step 2 when an email address appears', () => {
    expect(emailAppeared(startSteps(false, false))).toMatchObject({ open: 'payment', reached: 1 });
    expect(emailAppeared(startSteps(true, false))).toMatchObject({ open: 'shipping', reached: 1 });
    const paying = startSteps(false, true);
    expect(emailAppeared(paying)).toBe(paying);
  });

  it('return to step 1 on Change, and Edit toggles the payment step', () => {
    const paying = startSteps(false, true);
    const changed = reopenAccount(paying);
    expect(changed).toMatchObject({ open: 'account', reached: 1 });
    const edited = toggle(changed, 'payment');
    expect(edited.open).toBe('payment');
    expect(toggle(edited, 'payment').open).toBeNull();
    expect(completeStep(changed, 'account').open).toBe('payment');
  });

  it('cannot be opened before they are reached', () => {
    const steps = startSteps(true, true);
    expect(toggle(steps, 'payment')).toBe(steps);
    expect(toggle(completeStep(steps, 'shipping'), 'payment').open).toBeNull();
  });

  it('start over when the reader signs out, and gain shipping when the plan includes print', () => {
    expect(signedOut(startSteps(false, true))).toMatchObject({ open: 'account', reached: 0 });
    expect(withPlan(startSteps(false, true), true)).toMatchObject({ open: 'shipping' });
    expect(withPlan(startSteps(false, false), true)).toMatchObject({ open: 'account', reached: 0 });
    expect(withPlan(reopenAccount(startSteps(false, true)), true)).toMatchObject({ open: 'account', reached: 1 });
  });
});

function fixture(more: Partial<Record<keyof AccountCalls, unknown>> = {}) {
  const calls = {
    verifyEmail: vi.fn(async () => granted({ verified: true })),
    createAndEnter: vi.fn(async () => granted({ sessionId: 's' })),
    ...more,
  };
  const [onTyped, onEntered] = [vi.fn(), vi.fn(async () => {})];
  const step = createAccountStep({ calls: calls as unknown as AccountCalls, email: '', onTyped, onEntered });
  return { step, calls, onTyped, onEntered, state: () => step.$state.get() };
}

describe('the address of a new reader', () => {
  it('creates an account and signs the reader in at once', async () => {
    const { step, calls, onTyped, onEntered, state } = fixture();
    await step.submit(' ada@example.com ');
    expect(calls.createAndEnter).toHaveBeenCalledExactlyOnceWith('ada@example.com');
    expect(onTyped).toHaveBeenCalledExactlyOnceWith('ada@example.com');
    expect(onEntered).toHaveBeenCalledOnce();
    expect(state()).toMatchObject({ busy: false, error: null });
  });

  it('is verified before an account is created', async () => {
    const { step, calls, state } = fixture({
      verifyEmail: async () => granted({ verified: false, suggestedEmail: 'ada@gmail.com' }),
    });
    await step.submit('ada@gmial.com');
    expect(state().error).toBe('Did you mean ada@gmail.com?');
    await step.submit('');
    expect(state().error).toBe('Please enter your email address.');
    expect(calls.createAndEnter).not.toHaveBeenCalled();
  });

  it('is sent once for two submits', async () => {
    const gate = Promise.withResolvers<unknown>();
    const { step, calls } = fixture({ createAndEnter: vi.fn(() => gate.promise) });
    const first = step.submit('ada@example.com');
    await step.submit('ada@example.com');
    gate.resolve(granted({ sessionId: 's' }));
    await first;
    expect(calls.createAndEnter).toHaveBeenCalledOnce();
  });
});

describe('an address that has an account', () => {
  it('shows that the account exists, and offers to sign in', async () => {
    const { step, state, onEntered } = fixture({ createAndEnter: async () => refusal(409) });
    await step.submit('ada@example.com');
    expect(state()).toMatchObject({ error: 'A user with this email already exists.', exists: true, busy: false });
    step.signIn();
    expect(state()).toMatchObject({ signingIn: true, exists: false, error: null, email: 'ada@example.com' });
    step.back();
    expect(state().signingIn).toBe(false);
    expect(onEntered).not.toHaveBeenCalled();
  });
});

describe('a failed account request', () => {
  it.each([
    ['no connection', refusal(0), 'We couldn’t reach the server. Check your connection and try again.'],
    ['a server error', refusal(500, 'Failed to create user'), 'Something went wrong. Please try again.'],
    ['too many tries', refusal(429, 'Wait.'), 'Wait.'],
    ['an invalid address', refusal(400, 'Please enter a valid email address.'), 'Please enter a valid email address.'],
    ['a suggested correction', { ...refusal(400), suggestedEmail: 'ada@gmail.com' }, 'Did you mean ada@gmail.com?'],
  ])('shows a message (%s)', async (_, answer, text) => {
    const { step, state } = fixture({ createAndEnter: async () => answer });
    await step.submit('ada@example.com');
    expect(state()).toMatchObject({ busy: false, error: text, exists: false });
  });
});

import { describe, expect, it } from 'vitest';
import { change, emailAppeared, onward, replan, signedOut, startSteps, toggle } from './steps.ts';

describe('the steps', () => {
  it('are two, and three with the printed paper', () => {
    expect(startSteps(false, false)).toEqual({ names: ['account', 'payment'], open: 'account', reached: 0 });
    expect(startSteps(true, false).names).toEqual(['account', 'shipping', 'payment']);
  });

  it('start at 2 for a reader who is signed in', () => {
    expect(startSteps(false, true).open).toBe('payment');
    expect(startSteps(true, true).open).toBe('shipping');
  });

  it('move to 2 when an e-mail appears', () => {
    expect(emailAppeared(startSteps(false, false))).toMatchObject({ open: 'payment', reached: 1 });
    expect(emailAppeared(startSteps(true, false))).toMatchObject({ open: 'shipping', reached: 1 });
    const paying = startSteps(false, true);
    expect(emailAppeared(paying)).toBe(paying);
  });

  it('return to 1 by Change, and Edit toggles', () => {
    const paying = startSteps(false, true);
    const changed = change(paying);
    expect(changed).toMatchObject({ open: 'account', reached: 1 });
    const edited = toggle(changed, 'payment');
    expect(edited.open).toBe('payment');
    expect(toggle(edited, 'payment').open).toBeNull();
    expect(onward(changed, 'account').open).toBe('payment');
  });

  it('do not open what is not reached', () => {
    const steps = startSteps(true, true);
    expect(toggle(steps, 'payment')).toBe(steps);
    expect(toggle(onward(steps, 'shipping'), 'payment').open).toBeNull();
  });

  it('begin again for nobody, and follow the plan', () => {
    expect(signedOut(startSteps(false, true))).toMatchObject({ open: 'account', reached: 0 });
    expect(replan(startSteps(false, true), true)).toMatchObject({ open: 'shipping' });
    expect(replan(startSteps(false, false), true)).toMatchObject({ open: 'account', reached: 0 });
    expect(replan(change(startSteps(false, true)), true)).toMatchObject({ open: 'account', reached: 1 });
  });
});

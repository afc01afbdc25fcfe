import { describe, expect, it } from 'vitest';
import { anonymousSession, loadingSession, type Session, sessionOf, visitorOf } from './session.ts';

const signedIn = (...activeProducts: string[]) => sessionOf({ authenticated: true, activeProducts });

describe('sessionOf', () => {
  it.each([[null], [undefined], [{}], [{ authenticated: false, activeProducts: ['sun-founder'] }]])(
    'is anonymous for %j',
    (facts) => {
      expect(sessionOf(facts)).toEqual(anonymousSession);
    },
  );

  it('recognizes a registered reader', () => {
    expect(signedIn()).toMatchObject({
      status: 'registered',
      isAuthenticated: true,
      isPayingSubscriber: false,
      activeProduct: null,
    });
    expect(signedIn('something-else').status).toBe('registered');
  });

  it.each([
    ['founder', { isFounder: true, isMember: false, isReader: false }],
    ['member', { isFounder: false, isMember: true, isReader: false }],
    ['reader', { isFounder: false, isMember: false, isReader: true }],
  ] as const)('recognizes a paying %s', (product, flags) => {
    expect(signedIn(`sun-${product}`)).toMatchObject({
      status: 'customer',
      isPayingSubscriber: true,
      activeProduct: product,
      ...flags,
    });
  });

  it('makes the highest of several products the active one, and sets the flags of all', () => {
    const session = signedIn('sun-reader', 'sun-member');
    expect(session).toMatchObject({ activeProduct: 'member', isMember: true, isReader: true, isFounder: false });
    expect(signedIn('sun-reader', 'sun-founder').activeProduct).toBe('founder');
  });

  it('also reads the form that the vendor’s browser script writes', () => {
    expect(sessionOf({ isAuthenticated: true }).status).toBe('registered');
  });

  it('is trialing with a trial that was used in the decision, or with an active timed trial', () => {
    const trial = { totalCredits: 5, remainingCredits: 2, usedInDecision: false };
    expect(sessionOf({ trials: { a: trial } }).isTrialing).toBe(false);
    expect(sessionOf({ trials: { a: trial, b: { ...trial, usedInDecision: true } } })).toEqual({
      ...anonymousSession,
      isTrialing: true,
    });
    const timed = { trialDurationUnits: 'HOURS', trialDuration: 48, timeRemainingInTrial: 12, activeInDecision: true };
    expect(sessionOf({ authenticated: true, timeTrials: { b: timed } }).isTrialing).toBe(true);
    expect(sessionOf({ timeTrials: { b: { ...timed, activeInDecision: false } } }).isTrialing).toBe(false);
  });
});

describe('visitorOf', () => {
  it('returns the product, otherwise “registered”, otherwise null', () => {
    expect(visitorOf(anonymousSession)).toBeNull();
    expect(visitorOf(loadingSession)).toBeNull();
    expect(visitorOf(signedIn())).toBe('registered');
    expect(visitorOf(signedIn('sun-member'))).toBe('member');
  });
});

describe('Session', () => {
  it('has a status, an active product and a trialing flag, and no product or trial while loading', () => {
    const shown = ({ status, activeProduct, isTrialing }: Session) => [status, activeProduct, isTrialing];
    expect(shown(loadingSession)).toEqual(['loading', null, false]);
    expect(shown(anonymousSession)).toEqual(['anonymous', null, false]);
    expect(shown(signedIn())).toEqual(['registered', null, false]);
    expect(shown(signedIn('sun-founder'))).toEqual(['customer', 'founder', false]);
  });
});

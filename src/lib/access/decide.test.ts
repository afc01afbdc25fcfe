import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  decide,
  type Facts,
  meterStates,
  type Outcome,
  readerOf,
  readers,
  ruleApplies,
  rules,
  subjects,
} from './decide.ts';

const anonymous: Facts = {
  subject: 'default',
  authenticated: false,
  paying: false,
  promotion: false,
  timed: false,
  gift: false,
  meter: 'left',
};
const reader: Facts = { ...anonymous, authenticated: true };
const whole: Outcome = { body: 'whole', paywall: 'none', ask: 'nothing', count: false, by: null };
const excerpt = { ...whole, body: 'excerpt', paywall: 'hard' } as const;

/** Each rule with facts that meet it and the required outcome, written independently of the code. */
const table: Record<string, [Partial<Facts>, Outcome]> = {
  'a page that isn’t an article is open': [{ ...anonymous, subject: 'none', meter: 'over' }, whole],
  'a free article is open': [{ ...anonymous, subject: 'free', meter: 'over' }, whole],
  'a subscriber reads everything': [
    { ...reader, subject: 'subscriber', paying: true, meter: 'over' },
    { ...whole, by: 'subscriber' },
  ],
  'a promotion counts as a subscription': [
    { ...reader, subject: 'subscriber', paying: true, promotion: true },
    { ...whole, by: 'trialing' },
  ],
  'a timed trial opens everything while it runs': [
    { ...reader, subject: 'subscriber', timed: true },
    { ...whole, by: 'timed' },
  ],
  'a gift opens its article and does not count toward the meter': [
    { ...anonymous, subject: 'subscriber', gift: true },
    { ...whole, by: 'gifted' },
  ],
  'an account opens an article for registered readers': [
    { ...reader, subject: 'registered' },
    { ...whole, by: 'registered' },
  ],
  'an article for registered readers asks for an account': [
    { ...anonymous, subject: 'registered' },
    { ...excerpt, ask: 'registration' },
  ],
  'an article for subscribers asks for a subscription': [
    { ...reader, subject: 'subscriber' },
    { ...excerpt, ask: 'subscription' },
  ],
  'an article that was counted once is not counted again': [{ ...anonymous, meter: 'counted' }, whole],
  'a metered article is counted': [anonymous, { ...whole, count: true }],
  'a registered reader beyond the meter is asked to subscribe': [
    { ...reader, meter: 'over' },
    { ...whole, paywall: 'soft', ask: 'subscription' },
  ],
  'an anonymous reader beyond the meter is asked to register': [
    { ...anonymous, meter: 'over' },
    { ...whole, paywall: 'soft', ask: 'registration' },
  ],
};

const facts: fc.Arbitrary<Facts> = fc.record({
  subject: fc.constantFrom(...subjects),
  authenticated: fc.boolean(),
  paying: fc.boolean(),
  promotion: fc.boolean(),
  timed: fc.boolean(),
  gift: fc.boolean(),
  meter: fc.constantFrom(...meterStates),
});

describe('the table of access rules', () => {
  test('has an example for every rule', () => {
    expect(Object.keys(table).toSorted()).toEqual(rules.map(({ name }) => name).toSorted());
  });
  test.each(Object.entries(table))('%s', (name, [given, then]) => {
    const rule = decide(given as Facts);
    expect([rule.name, rule.outcome]).toEqual([name, then]);
  });
  test('has exactly one rule for each combination of subject, reader and meter', () => {
    for (const subject of subjects)
      for (const who of readers)
        for (const meter of meterStates) {
          const met = rules.filter((rule) => ruleApplies(rule, { subject, reader: who, meter }));
          expect(met, `${subject} ${who} ${meter}`).toHaveLength(1);
        }
  });
  test('has exactly one rule for any facts, and that rule decides', () => {
    fc.assert(
      fc.property(facts, (given) => {
        const situation = { subject: given.subject, reader: readerOf(given), meter: given.meter };
        const met = rules.filter((rule) => ruleApplies(rule, situation));
        expect(met).toEqual([decide(given)]);
      }),
    );
  });
});

describe('for any facts', () => {
  const holds = (claim: (given: Facts, then: Outcome) => void) =>
    fc.assert(fc.property(facts, (given) => claim(given, decide(given).outcome)));

  test('a restricted article is never opened without the account, subscription, trial or gift that it needs', () =>
    holds((given, then) => {
      if (given.subject === 'subscriber' && !given.gift && !(given.authenticated && (given.paying || given.timed)))
        expect(then.body).toBe('excerpt');
      if (given.subject === 'registered' && !given.gift && !given.authenticated) expect(then.body).toBe('excerpt');
    }));
  test('a subscriber is never asked for anything and never counted by the meter', () =>
    holds((given, then) => {
      if (given.authenticated && given.paying)
        expect(then).toMatchObject({ body: 'whole', paywall: 'none', ask: 'nothing', count: false });
    }));
  test('a subscription has no effect without a session', () =>
    holds((given, then) => {
      if (!given.authenticated) expect(then).toEqual(decide({ ...given, paying: !given.paying }).outcome);
    }));
  test('a public article is never cut, and every paywall asks for something', () =>
    holds((given, then) => {
      if (['none', 'free', 'default'].includes(given.subject)) expect(then.body).toBe('whole');
      expect(then.paywall === 'none').toBe(then.ask === 'nothing');
      expect(then.paywall === 'hard').toBe(then.body === 'excerpt');
    }));
  test('signing in with a subscription never opens less', () =>
    holds((given, then) => {
      const more = decide({ ...given, authenticated: true, paying: true }).outcome;
      if (then.body === 'whole') expect(more.body).toBe('whole');
    }));
});

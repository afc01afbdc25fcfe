/**
 * The billing service against Stripe's own books, under random sequences: readers who click twice and come back, refused cards,
 * lost, duplicated and shuffled webhooks, processes that die at any call or commit, failures of Stripe, and a running clock. Once
 * everything has come to rest, the site's records match Stripe's, each decision was charged once, and readers who have paid, and no
 * others, have access.
 *
 * `BILLING_SEQUENCES` says how many to play, `BILLING_SEED` repeats those of a run that failed.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { prepareEnvironments } from '../../../tests/world/billing-model/environment.ts';
import { play } from '../../../tests/world/billing-model/play.ts';
import { type Sequence, sequences } from '../../../tests/world/billing-model/steps.ts';
import { prepare } from '../../../tests/world/databases.ts';
import { runs, seedFrom } from '../../../tests/world/runs.ts';

const count = Number(process.env.BILLING_SEQUENCES ?? runs(60, 10_000));
const seed = seedFrom('BILLING_SEED');
/** PostgreSQL differs only in its locks and types. */
const share = { sqlite: 1, postgres: 0.05 };
/** With this many sequences or more, every rare event has happened often enough to count. */
const telling = 500;

const subscribing = {
  do: 'subscribe',
  plan: 'reader-monthly',
  card: 'good',
  sameCard: false,
  attempt: 'new',
  coupon: null,
  told: false,
} as const;
/** Sequences that once ended in different records. */
const once: [Sequence][] = [
  [
    {
      steps: [
        { do: 'action', reader: 0, action: subscribing, fault: null, process: 0 },
        { do: 'wait', minutes: 24 * 60 },
        // It ends after the renewal, within the period that is never collected.
        { do: 'pause', reader: 0, days: 30, behavior: 'keep_as_draft' },
        { do: 'wait', minutes: 40 * 24 * 60 },
      ],
      compare: null,
    },
  ],
  [
    {
      steps: [
        {
          do: 'both',
          reader: 0,
          actions: [{ ...subscribing, card: 'asks always' }, { do: 'confirm' }],
          apart: false,
          fault: null,
        },
        {
          do: 'action',
          reader: 0,
          action: { ...subscribing, coupon: 'SUNSHINE20' },
          fault: { at: 11, trouble: 'dies before' },
          process: 0,
        },
        {
          do: 'both',
          reader: 0,
          actions: [
            { do: 'switch', plan: 'reader-monthly', attempt: 'new', told: false },
            { do: 'use card', card: 'good' },
          ],
          apart: false,
          fault: null,
        },
      ],
      compare: 0,
    },
  ],
];

const seen = new Map<string, number>();
const note = (what: string) => void seen.set(what, (seen.get(what) ?? 0) + 1);
let played = 0;

describe.each(['sqlite', 'postgres'] as const)('subscriptions on %s', (engine) => {
  const engines = prepare(engine);

  it(`match Stripe’s records after any random sequence of events (BILLING_SEED=${seed})`, {
    timeout: 3_600_000,
  }, async () => {
    const environments = await prepareEnvironments(await engines.open());
    await fc.assert(
      fc.asyncProperty(sequences, async (sequence) => {
        played += 1;
        expect(await play(environments, sequence, note)).toEqual([]);
      }),
      { seed, numRuns: Math.ceil(count * share[engine]), examples: once, interruptAfterTimeLimit: 3_000_000 },
    );
  });
});

it('the random sequences contain enough charges, comparisons and, in long runs, rare events', () => {
  console.log(
    `${played} sequences (BILLING_SEED=${seed}):`,
    Object.fromEntries([...seen].sort(([, a], [, b]) => b - a)),
  );
  const often = (what: RegExp): number =>
    [...seen].reduce((sum, [name, times]) => sum + (what.test(name) ? times : 0), 0);
  expect(played).toBeGreaterThanOrEqual(count * (share.sqlite + share.postgres));
  expect(often(/^a charge/)).toBeGreaterThan(played / 4);
  expect(often(/^a comparison/)).toBeGreaterThan(played);
  if (played < telling) return;
  expect(often(/^a charge/)).toBeGreaterThan(played / 2);
  expect(often(/the process ended/)).toBeGreaterThan(played / 50);
  expect(often(/^switch: done/)).toBeGreaterThan(played / 50);
  expect(often(/^a dispute: lost/)).toBeGreaterThan(played / 50);
  expect(often(/: 402/)).toBeGreaterThan(played / 50);
  expect(often(/^an offer: running/)).toBeGreaterThan(played / 50);
  expect(often(/^an offer: over/)).toBeGreaterThan(played / 100);
});

/**
 * The billing service against Stripe's own books, under sequences that chance makes up: readers who click twice and come back, cards
 * that are refused, webhooks that are lost, doubled and shuffled, processes that die at any call or commit, failures of Stripe's,
 * and a clock that goes on. Whatever happened, once it has come to rest: what we keep is what Stripe has, one decision was charged
 * once, readers who have paid read, and no others.
 *
 * `BILLING_SEQUENCES` says how many to play, `BILLING_SEED` repeats those of a run that failed.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { prepareEnvironments } from '../../../tests/world/billing-model/environment.ts';
import { play } from '../../../tests/world/billing-model/play.ts';
import { sequences } from '../../../tests/world/billing-model/steps.ts';
import { prepare } from '../../../tests/world/databases.ts';
import { runs, seedFrom } from '../../../tests/world/runs.ts';

const count = Number(process.env.BILLING_SEQUENCES ?? runs(60, 10_000));
const seed = seedFrom('BILLING_SEED');
/** PostgreSQL differs in its locks and types alone. */
const share = { sqlite: 1, postgres: 0.05 };
/** From this many sequences on, everything rare has happened often enough to be counted. */
const telling = 500;

const seen = new Map<string, number>();
const note = (what: string) => void seen.set(what, (seen.get(what) ?? 0) + 1);
let played = 0;

describe.each(['sqlite', 'postgres'] as const)('subscriptions on %s', (engine) => {
  const engines = prepare(engine);

  it(`end as Stripe has them, whatever happens in between (BILLING_SEED=${seed})`, { timeout: 3_600_000 }, async () => {
    const environments = await prepareEnvironments(await engines.open());
    await fc.assert(
      fc.asyncProperty(sequences, async (sequence) => {
        played += 1;
        expect(await play(environments, sequence, note)).toEqual([]);
      }),
      { seed, numRuns: Math.ceil(count * share[engine]), interruptAfterTimeLimit: 3_000_000 },
    );
  });
});

it('show something: charges, processes that end, switches, refusals, disputes, Trial Offers, comparisons', () => {
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

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { isInGoodStanding, isLive, isOver, isOverdue, isUnpaid, mayRenew } from './status.ts';

it.each([
  ['incomplete', { unpaid: true }],
  ['incomplete_expired', { unpaid: true, over: true }],
  ['trialing', { live: true, good: true, renews: true }],
  ['active', { live: true, good: true, renews: true }],
  ['past_due', { live: true, overdue: true, renews: true }],
  ['unpaid', { live: true, overdue: true }],
  ['paused', { live: true }],
  ['canceled', { over: true }],
  ['a status that Stripe makes up tomorrow', {}],
])('%s', (status, meaning) => {
  const one = { status };
  const said = {
    unpaid: isUnpaid(one),
    live: isLive(one),
    good: isInGoodStanding(one),
    overdue: isOverdue(one),
    renews: mayRenew(one),
    over: isOver(one),
  };
  expect(said).toEqual({
    unpaid: false,
    live: false,
    good: false,
    overdue: false,
    renews: false,
    over: false,
    ...meaning,
  });
});

it('is the only place that lists statuses; state.ts tells the wire of one', () => {
  const source = join(import.meta.dirname, '../..');
  const listing = readdirSync(source, { recursive: true, encoding: 'utf8' })
    .filter((path) => !path.startsWith(join('server', 'verify')))
    .filter((path) => /\.(?:ts|tsx|astro)$/.test(path) && !/\.test\.tsx?$/.test(path))
    .filter((path) => /['"](?:past_due|incomplete_expired)['"]/.test(readFileSync(join(source, path), 'utf8')));
  expect(listing.toSorted()).toEqual(['lib/billing/state.ts', 'lib/billing/status.ts', 'lib/billing/wire.ts']);
});

/** The site's rate limiter over the database of a test. */
import { createHmacs } from '../../src/lib/crypto.server.ts';
import type { Database } from '../../src/lib/database.ts';
import { createLimiter, type RunningLimiter } from '../../src/lib/http/limiter.server.ts';
import { defaultLimits, type Limits } from '../../src/lib/http/limits.ts';

const secret = 'a secret of the tests that is long enough';

/** Counts in the database even on a machine that is busy with other tests. @param now epoch milliseconds */
export const limiterOf = (
  database: Database,
  limits: Limits = defaultLimits,
  now: () => number = Date.now,
): RunningLimiter => createLimiter(database, createHmacs(secret), limits, now, undefined, 60_000);

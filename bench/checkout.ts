/**
 * `npm run bench:checkout`: what access costs (a decision in microseconds, the check on the way of a stored page). Server and load
 * have a core each. Takes about a minute and a half.
 */
import { benchAccess } from './checkout/access.ts';

export async function run(): Promise<number> {
  return (await benchAccess()) ? 0 : 1;
}

if (import.meta.main) process.exitCode = await run();

/**
 * `npm run bench:checkout`: checkouts a second, with Stripe's part shown separately; then what access costs (a decision in microseconds,
 * and the check when a stored page is served). Server and load have a core each. Takes about seven minutes.
 */
import { benchAccess } from './checkout/access.ts';
import { benchPurchases } from './checkout/purchases.ts';

export async function run(): Promise<number> {
  await benchPurchases();
  console.log();
  return (await benchAccess()) ? 0 : 1;
}

if (import.meta.main) process.exitCode = await run();

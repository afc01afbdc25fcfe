/**
 * `npm run bench:press`: the finished site as `npm run serve` starts it, compared with nginx with the same bytes and headers, and with
 * `node:http` with prepared responses (bench/press/product.ts). The page cache alone: `npm run bench:cache`.
 *
 * Server and load have a core each; contenders take turns, and each round's ratios compare requests per second of processor time, which
 * the machine's other load hardly affects. Runs without wrk and nginx, but is better with both. Takes about four minutes.
 */
import { parseArgs } from 'node:util';
import { compare } from './press/compare.ts';
import { compareProduct } from './press/product.ts';

/** @returns exit code: 1 when a bound is missed */
export async function run(args: readonly string[]): Promise<number> {
  parseArgs({ args: [...args] });
  return await compare(async (folder, bound) => {
    for (const { what, holds, figure } of await compareProduct(folder)) bound(what, holds, figure);
  });
}

if (import.meta.main) process.exitCode = await run(process.argv.slice(2));

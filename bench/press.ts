/**
 * `npm run bench:press`: the finished site as `npm run serve` starts it, beside nginx with the same bytes and headers and `node:http` with
 * ready responses (bench/press/product.ts). The page cache alone: `npm run bench:cache`.
 *
 * Server and load have a core each; contenders take turns, and ratios are taken within each round from the requests per second of
 * processor time, which what else the machine does hardly touches. Needs no wrk and no nginx, and is better with both. Takes about four
 * minutes.
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

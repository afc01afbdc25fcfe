/**
 * Fills a data folder as `npm run press` does, in a process of its own: `node bench/support/prerender.ts <concurrency> [path …]`.
 * Settings come from the environment. Prints what was rendered as one line of JSON.
 */
import { prerender } from '../../src/server/commands/prerender.ts';

const [concurrency, ...only] = process.argv.slice(2);
const warmed = await prerender(process.env, { concurrency: Number(concurrency), only });
console.log(JSON.stringify(warmed));

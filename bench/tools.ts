/**
 * `npm run bench:tools [-- --only search,popular,comments --articles 1000,10000,50000]`: how fast the reader's tools are, each part
 * in processes of its own; `--articles` are the sizes of the archives that are searched. Fails if a bound is exceeded; the bounds are printed.
 */
import { parseArgs } from 'node:util';
import { ensureBuilt } from '../scripts/build.ts';
import { wholeFlag } from './support/figures.ts';

/** What is measured; resolves to whether every bound holds. */
const parts: Readonly<Record<string, (articles: readonly number[]) => Promise<boolean>>> = {
  search: async (articles) => (await import('./tools/search.ts')).benchSearch(articles),
  popular: async () => (await import('./tools/popular.ts')).benchPopular(),
  comments: async () => {
    await (await import('./tools/comments.ts')).benchComments();
    return true;
  },
};

/** @returns exit code: 1 when a bound is broken */
export async function run(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: { only: { type: 'string' }, articles: { type: 'string', default: '1000,10000,50000' } },
  });
  const wanted = values.only?.split(',') ?? Object.keys(parts);
  const articles = values.articles.split(',').map((text) => wholeFlag('articles', text, 0));
  await ensureBuilt();
  let good = true;
  for (const name of wanted) {
    const part = parts[name];
    if (!part) throw new Error(`--only ${name}: there is no such part; there are ${Object.keys(parts).join(', ')}.`);
    good = (await part(articles)) && good;
  }
  return good ? 0 : 1;
}

if (import.meta.main) process.exitCode = await run(process.argv.slice(2));

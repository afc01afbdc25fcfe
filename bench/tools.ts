/**
 * `npm run bench:tools [-- --only search,popular --articles 1000,10000,50000]`: how fast the reader's tools are, each part in
 * processes of its own. Fails when a bound is broken; the bounds are printed.
 */
import { parseArgs } from 'node:util';
import { wholeFlag } from './support/figures.ts';

export interface ToolsOptions {
  /** Sizes of the paper to be measured. */
  readonly articles: readonly number[];
}

/** @returns whether every bound holds */
type Part = (options: ToolsOptions) => Promise<boolean>;

const parts: Readonly<Record<string, () => Promise<{ measure: Part }>>> = {
  search: () => import('./tools/search.ts'),
};

/** @returns exit code: 1 when a bound is broken */
export async function run(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: { only: { type: 'string' }, articles: { type: 'string', default: '1000,10000,50000' } },
  });
  const wanted = values.only?.split(',') ?? Object.keys(parts);
  const articles = values.articles.split(',').map((text) => wholeFlag('articles', text, 0));
  let good = true;
  for (const name of wanted) {
    const part = parts[name];
    if (!part) throw new Error(`--only ${name}: there is no such part; there are ${Object.keys(parts).join(', ')}.`);
    const { measure } = await part();
    good = (await measure({ articles })) && good;
  }
  return good ? 0 : 1;
}

if (import.meta.main) process.exitCode = await run(process.argv.slice(2));

import { expect, it } from 'vitest';
import { earlierFiles } from './static-files.ts';

it('a file of an earlier build is sent compressed to browsers that accept it, with Vary', async () => {
  const files: Record<string, string> = { 'a.1.css': 'plain', 'a.1.css.br': 'small', 'b.2.js': 'never compressed' };
  const answer = earlierFiles({
    find: async (path) => (Object.hasOwn(files, path) ? Buffer.from(files[path] ?? '') : undefined),
  });
  const ask = async (path: string, encoding?: string) => {
    const found = await answer(`/_assets/${path}`, encoding === undefined ? {} : { 'accept-encoding': encoding });
    const { vary, 'content-encoding': coding, 'content-length': length } = found?.headers ?? {};
    return found && [String(found.body), coding, length, vary];
  };
  expect(await ask('a.1.css', 'gzip, br')).toEqual(['small', 'br', '5', 'Accept-Encoding']);
  expect(await ask('a.1.css', 'gzip')).toEqual(['plain', undefined, '5', 'Accept-Encoding']);
  expect(await ask('a.1.css')).toEqual(['plain', undefined, '5', 'Accept-Encoding']);
  expect(await ask('b.2.js', 'br')).toEqual(['never compressed', undefined, '16', 'Accept-Encoding']);
  expect([await ask('a.1.css.br', 'br'), await ask('c.3.js', 'br')]).toEqual([null, null]);
});

import { expect, it } from 'vitest';
import { bestEncoding, earlierFiles, etagMatches } from './static-files.ts';

it('a static file uses the best encoding that the browser accepts', () => {
  expect(bestEncoding('gzip, deflate, br, zstd')).toBe('br');
  expect(bestEncoding('GZIP ; q=0.5 , br\t;\tq=0')).toBe('gzip');
  expect(bestEncoding('*;q=0.1')).toBe('br');
  expect(bestEncoding('br;q=0, gzip;q=0.0, *')).toBeNull();
  expect(bestEncoding('identity')).toBeNull();
  expect(bestEncoding(undefined)).toBeNull();
});

it('the longest Accept-Encoding and If-None-Match headers are read within 20 ms', () => {
  const spaces = ' '.repeat(15_000);
  const times = Array.from({ length: 5 }, () => {
    const began = performance.now();
    bestEncoding(`br${spaces}x`);
    etagMatches(`"a${spaces}b"`, '"c"');
    return performance.now() - began;
  });
  expect(Math.min(...times)).toBeLessThan(20);
});

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

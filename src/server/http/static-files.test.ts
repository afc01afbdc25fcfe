import { expect, it } from 'vitest';
import { bestEncoding, etagMatches } from './static-files.ts';

it('chooses the best encoding that a browser takes', () => {
  expect(bestEncoding('gzip, deflate, br, zstd')).toBe('br');
  expect(bestEncoding('GZIP ; q=0.5 , br\t;\tq=0')).toBe('gzip');
  expect(bestEncoding('*;q=0.1')).toBe('br');
  expect(bestEncoding('br;q=0, gzip;q=0.0, *')).toBeNull();
  expect(bestEncoding('identity')).toBeNull();
  expect(bestEncoding(undefined)).toBeNull();
});

it('reads the longest header in no time, whatever is in it', () => {
  const spaces = ' '.repeat(15_000);
  const times = Array.from({ length: 5 }, () => {
    const began = performance.now();
    bestEncoding(`br${spaces}x`);
    etagMatches(`"a${spaces}b"`, '"c"');
    return performance.now() - began;
  });
  expect(Math.min(...times)).toBeLessThan(20);
});

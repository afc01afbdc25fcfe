import { describe, expect, it } from 'vitest';
import { acceptedEncodings, matchesEtag } from './negotiation.server.ts';

describe('accepted encodings', () => {
  it.each([
    [undefined, 'identity'],
    ['', 'identity'],
    ['gzip, deflate, br, zstd', 'br gzip identity'],
    ['gzip', 'gzip identity'],
    ['GZIP;Q=1', 'gzip identity'],
    ['x-gzip', 'gzip identity'],
    ['br;q=0.5, gzip', 'gzip br identity'],
    ['br;q=0, gzip', 'gzip identity'],
    ['*', 'br gzip identity'],
    ['*;q=0', 'identity'],
    ['gzip, *;q=0', 'gzip identity'],
    ['identity;q=0', 'identity'],
    ['gzip;q=0.5, identity', 'identity gzip'],
    ['identity;q=0, *;q=0.1', 'br gzip identity'],
    ['br;q=abc, gzip', 'gzip identity'],
    ['br; q=0.8 , gzip ; q=0.9', 'gzip br identity'],
    [',,;q=1,br', 'br identity'],
    ['zstd', 'identity'],
  ])('for Accept-Encoding %j are %s', (header, expected) => {
    expect(acceptedEncodings(header).join(' ')).toBe(expected);
    expect(acceptedEncodings(header).join(' ')).toBe(expected);
  });

  it('are remembered for a header of up to 256 characters, and read each time from a longer one', () => {
    const remembers = (header: string) => {
      const before = acceptedEncodings(header);
      return acceptedEncodings(header) === before;
    };
    const longest = `br, ${'x'.repeat(252)}`;
    expect([remembers(longest), remembers(`${longest}x`)]).toEqual([true, false]);
    expect(acceptedEncodings(`br, ${'x'.repeat(5000)}`)).toEqual(['br', 'identity']);
  });
});

describe('the ETag of a page', () => {
  const etag = '"abc-br"';
  it.each([
    [undefined, false],
    ['', false],
    ['"abc-br"', true],
    ['W/"abc-br"', true],
    ['"x", W/"abc-br" , "y"', true],
    ['*', true],
    [' * ', true],
    ['"abc"', false],
    ['abc-br', false],
    ['"a,b", "abc-br"', true],
    ['"abc-br', false],
  ])('matches If-None-Match %j: %s', (header, expected) => expect(matchesEtag(header, etag)).toBe(expected));
});

it('the longest Accept-Encoding and If-None-Match headers are read within 20 ms', () => {
  const spaces = ' '.repeat(15_000);
  const times = Array.from({ length: 5 }, () => {
    const began = performance.now();
    acceptedEncodings(`br${spaces}x`);
    matchesEtag(`"a${spaces}b"`, '"c"');
    return performance.now() - began;
  });
  expect(Math.min(...times)).toBeLessThan(20);
});

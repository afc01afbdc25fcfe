import { describe, expect, it } from 'vitest';
import { acceptedEncodings, matchesEtag } from './negotiation.ts';

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
  ])('%j → %s', (header, expected) => {
    expect(acceptedEncodings(header).join(' ')).toBe(expected);
    expect(acceptedEncodings(header).join(' ')).toBe(expected);
  });

  it('does not remember endless headers', () => {
    expect(acceptedEncodings(`br, ${'x'.repeat(5000)}`)).toEqual(['br', 'identity']);
  });
});

describe('If-None-Match', () => {
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
  ])('%j → %s', (header, expected) => expect(matchesEtag(header, etag)).toBe(expected));
});

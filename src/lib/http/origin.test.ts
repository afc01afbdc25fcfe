import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runs } from '../../../tests/world/runs.ts';
import { comesFromHere, isPrefetch, returnPath } from './origin.ts';

const site = 'https://paper.example';
const here = (headers: Record<string, string>) => comesFromHere(new Headers(headers), site);

it.each([
  { origin: site },
  { origin: site, 'sec-fetch-site': 'same-origin', cookie: 'a=b' },
  { origin: 'null', 'sec-fetch-site': 'same-origin' },
  { 'sec-fetch-site': 'same-origin', cookie: 'a=b' },
  {},
])('a request with the headers %j comes from the site itself', (headers: object) => {
  expect(here(headers as Record<string, string>)).toBe(true);
});

it.each([
  { origin: 'https://other.example' },
  { origin: 'http://paper.example' },
  { origin: 'https://paper.example:8443' },
  { origin: 'https://sub.paper.example', 'sec-fetch-site': 'same-site' },
  { origin: 'null' },
  { origin: 'null', 'sec-fetch-site': 'cross-site' },
  // Both headers have to agree.
  { origin: site, 'sec-fetch-site': 'cross-site' },
  { origin: 'https://other.example', 'sec-fetch-site': 'same-origin' },
  { 'sec-fetch-site': 'none', cookie: 'a=b' },
  { cookie: 'a=b' },
])('a request with the headers %j does not come from the site itself', (headers: object) => {
  expect(here(headers as Record<string, string>)).toBe(false);
});

describe('the path that a reader returns to', () => {
  it.each([
    ['/', '/'],
    ['/article/a?page=2#end', '/article/a?page=2#end'],
    ['https://paper.example/article/a', '/article/a'],
    ['/dashboard/account', '/dashboard/account'],
    ['/search?q=https://other.example', '/search?q=https://other.example'],
    ['/accounting', '/accounting'],
    ['/account/subscribed?letters=a', '/account/subscribed?letters=a'],
    ['/account/plan?plan=member-yearly', '/account/plan?plan=member-yearly'],
    ['/account/podcast?series=how-it-works', '/account/podcast?series=how-it-works'],
  ])('%s is accepted', (wanted, path) => {
    expect(returnPath(wanted, site)).toBe(path);
  });

  it.each([
    null,
    undefined,
    '',
    'article/a',
    '//other.example',
    '///other.example',
    '/\\other.example',
    '\\\\other.example',
    '/\t/other.example',
    '/\n/other.example',
    ' /a',
    '/..//other.example',
    '/a/..//other.example',
    '/.//other.example',
    'https://other.example/',
    'https://paper.example.other.example/',
    'https://paper.example@other.example/',
    'https://user@paper.example/a',
    'http://paper.example/a',
    'https:other.example',
    'javascript:alert(1)',
    'data:text/html,x',
    '/blaize/oauth/google',
    '/zephr/x',
    '/api/v1/me/export',
    '/account/link-sent',
    '/socialLogin?return=/socialLogin',
    `/${'a'.repeat(2000)}`,
  ])('%j becomes the home page', (wanted) => {
    expect(returnPath(wanted, site)).toBe('/');
  });

  it('never leads to another site, for any combination of URL parts', () => {
    const part = fc.constantFrom(
      '/',
      '\\',
      '..',
      '.',
      '//',
      'other.example',
      '@',
      ':',
      '?',
      '#',
      '%2f',
      '%5c',
      '\t',
      'a',
    );
    fc.assert(
      fc.property(fc.array(part, { maxLength: 12 }), (parts) => {
        const path = returnPath(parts.join(''), site);
        expect(path.startsWith('/')).toBe(true);
        expect(new URL(path, site).origin).toBe(site);
        // The same path as a browser resolves it from another page.
        expect(new URL(path, `${site}/a/b`).origin).toBe(site);
      }),
      { numRuns: runs(500, 20_000) },
    );
  });
});

const from = (purpose?: string) => ({ headers: new Headers(purpose === undefined ? {} : { 'sec-purpose': purpose }) });

it('a request with a prefetch Sec-Purpose counts as fetched ahead, and one with another purpose does not', () => {
  for (const purpose of ['prefetch', 'prefetch;prerender', 'prefetch;anonymous-client-ip'])
    expect(isPrefetch(from(purpose)), purpose).toBe(true);
  for (const purpose of [undefined, '', 'navigate']) expect(isPrefetch(from(purpose)), purpose).toBe(false);
});

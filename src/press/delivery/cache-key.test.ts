import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runs } from '../../../tests/world/runs.ts';
import { createKeys, type KeyRules, type RedirectRule } from './cache-key.ts';

const rules: KeyRules = {
  queries: [
    { path: /^\/(?:section|author)\/|^\/(?:latest|media|games)$/, allow: { page: /^[1-9]\d{0,4}$/ } },
    { path: /^\/article\//, allow: { comments: /^[1-9]\d{0,3}$/, a: /^\w+$/ } },
  ],
  uncached: [/^\/api\//, /^\/search$/],
  capitals: ['/newsletter-signUp', '/socialLogin'],
  exists: (path) => ['/about', '/section/politics', '/article/caf%c3%a9'].includes(path),
  redirects: [
    { from: '/old', to: '/new', status: 308 },
    { from: '/2019/*', to: '/archive/*', status: 301 },
    { from: '/shop', to: 'https://shop.example.com/', status: 302 },
    { from: '/deleted', to: '', status: 410 },
  ],
};
const keyOf = createKeys(rules);
const get = (target: string) => keyOf('GET', target);
const page = (target: string) => {
  const result = get(target);
  return result.kind === 'page' ? result.key : result;
};

describe('a page key', () => {
  it('has the path and only the parameters that the page uses', () => {
    expect(page('/')).toBe('/');
    expect(page('/section/politics?page=2')).toBe('/section/politics?page=2');
    expect(page('/section/politics?utm_source=x&page=2&fbclid=1')).toBe('/section/politics?page=2');
    expect(page('/article/a?page=2&utm_campaign=%00')).toBe('/article/a');
    expect(page('/article/a?a=1&comments=2')).toBe(page('/article/a?comments=2&a=1&a=9'));
    expect(page('/section/politics?page=%3Cscript%3E')).toBe('/section/politics');
    expect(page('/?#x')).toBe('/');
  });

  it('is the same however the path is escaped', () => {
    for (const spelling of ['/article/caf%c3%a9', '/article/caf%C3%A9', '/%61rticle/caf%C3%A9', '/article/cafÃ©']) {
      expect(page(spelling)).toBe('/article/caf%c3%a9');
    }
    expect(page("/article/it's")).toBe(page('/article/it%27s'));
    expect(page('/article/a%2Fb')).toBe('/article/a%2fb');
    expect(page('/article/%252e%252e')).toBe('/article/%252e%252e');
  });

  it('ignores the host of an absolute URL', () => {
    expect(page('http://evil.example/about')).toBe('/about');
    expect(page('https://evil.example')).toBe('/');
  });

  it('does not exist for paths and methods whose responses are not cached', () => {
    expect(get('/api/v1/me?x=1')).toEqual({ kind: 'uncached', path: '/api/v1/me', target: '/api/v1/me?x=1' });
    expect(get('/search?q=a&page=9')).toMatchObject({ kind: 'uncached', target: '/search?q=a&page=9' });
    expect(keyOf('POST', '/about')).toMatchObject({ kind: 'uncached', path: '/about' });
    expect(keyOf('HEAD', '/about')).toMatchObject({ kind: 'page' });
  });
});

describe('redirects of URLs', () => {
  it.each([
    ['/about/', '/about'],
    ['/About', '/about'],
    ['/ABOUT/?page=2', '/about?page=2'],
    ['//about', '/about'],
    ['//evil.example/about', '/evil.example/about'],
    ['/section//politics', '/section/politics'],
    ['/section/./politics', '/section/politics'],
    ['/x/%2e%2e/about', '/about'],
    ['/../../about', '/about'],
    ['/Section/Politics/?page=3', '/section/politics?page=3'],
    ['/newsletter-signup', '/newsletter-signUp'],
    ['/SOCIALLOGIN', '/socialLogin'],
    ['/article/CAF%C3%89', '/article/caf%c3%a9'],
  ])('%s → %s', (from, to) => {
    expect(get(from)).toEqual({ kind: 'redirect', location: to, status: 301 });
  });

  it('do not apply to a path whose capitals are right, or to an unknown path', () => {
    expect(page('/newsletter-signUp')).toBe('/newsletter-signUp');
    expect(page('/Unknown')).toBe('/Unknown');
  });

  it('follow the publisher’s list', () => {
    expect(get('/old?a=1')).toEqual({ kind: 'redirect', location: '/new?a=1', status: 308 });
    expect(get('/2019/05/story')).toEqual({ kind: 'redirect', location: '/archive/05/story', status: 301 });
    expect(get('/shop')).toMatchObject({ location: 'https://shop.example.com/', status: 302 });
    expect(get('/deleted')).toMatchObject({ kind: 'reject', status: 410 });
  });

  it('for a folder are overridden by those for a subfolder or a page, in any order of the list', () => {
    const redirects: RedirectRule[] = [
      { from: '/old/*', to: '/new/*', status: 301 },
      { from: '/old/sports/*', to: '/section/sports', status: 301 },
      { from: '/old/sports/final', to: '/article/final', status: 301 },
    ];
    for (const list of [redirects, redirects.toReversed()]) {
      const locate = (target: string) => createKeys({ ...rules, redirects: list })('GET', target);
      expect(locate('/old/politics/x')).toMatchObject({ location: '/new/politics/x' });
      expect(locate('/old/sports/x')).toMatchObject({ location: '/section/sports' });
      expect(locate('/old/sports/final')).toMatchObject({ location: '/article/final' });
      expect(locate('/older/sports')).toMatchObject({ kind: 'page', key: '/older/sports' });
    }
  });

  it('may be written with letters outside of ASCII', () => {
    const redirects: RedirectRule[] = [
      { from: '/opinión/*', to: '/sección/*', status: 301 },
      { from: '/мнение', to: 'https://пример.example/да', status: 301 },
    ];
    const locate = createKeys({ ...rules, redirects });
    // A browser sends escapes; some clients send the letters' bytes, which Node reads as Latin-1.
    for (const from of ['/opini%C3%B3n/a', '/opini%c3%b3n/a', '/opini\u00c3\u00b3n/a'])
      expect(locate('GET', from)).toMatchObject({ location: '/secci%c3%b3n/a' });
    const escaped = `/${encodeURIComponent('мнение')}`;
    expect(locate('GET', escaped)).toMatchObject({
      location: `https://xn--e1afmkfd.example/${encodeURIComponent('да')}`,
    });
  });

  it('put the query before the fragment of their target', () => {
    const to = (target: string) =>
      createKeys({ ...rules, redirects: [{ from: '/old', to: target, status: 301 }] })('GET', '/old?utm_source=x');
    expect(to('/new#plans')).toMatchObject({ location: '/new?utm_source=x#plans' });
    expect(to('https://shop.example.com/#a?b')).toMatchObject({
      location: 'https://shop.example.com/?utm_source=x#a?b',
    });
    expect(to('/new?own=1#plans')).toMatchObject({ location: '/new?own=1#plans' });
  });

  it('with a loop, a chain of over 20 or an invalid URL throw an error at startup', () => {
    const list =
      (...redirects: RedirectRule[]) =>
      () =>
        createKeys({ ...rules, redirects });
    expect(list({ from: '/a', to: '/b', status: 301 }, { from: '/b', to: '/a', status: 301 })).toThrow(
      'back to itself',
    );
    expect(list({ from: '/a', to: '/a#part', status: 301 })).toThrow('back to itself');
    const chain = Array.from(
      { length: 25 },
      (_, at): RedirectRule => ({ from: `/${at}`, to: `/${at + 1}`, status: 301 }),
    );
    expect(list(...chain)).toThrow('/0 leads through more than 20 redirects');
    expect(list(...chain.slice(0, 20))).not.toThrow();
    expect(list({ from: '/a', to: '//evil.example', status: 301 })).toThrow('neither a path nor an address');
    expect(list({ from: 'a', to: '/b', status: 301 })).toThrow("isn't a path");
  });

  it('of an address that is never cached are reported and ignored', () => {
    const redirects: RedirectRule[] = ['/search', '/search/*', '/old'].map((from) => ({ from, to: '/b', status: 301 }));
    const unused: string[] = [];
    const locate = createKeys({ ...rules, redirects, onUnused: ({ from }) => void unused.push(from) });
    expect(unused).toEqual(['/search']);
    expect(locate('GET', '/search')).toMatchObject({ kind: 'uncached' });
    expect(locate('GET', '/old')).toMatchObject({ location: '/b' });
  });
});

describe('invalid request targets', () => {
  it.each([
    '/a%00b',
    '/a\\b',
    '/a%5cb',
    '/%ff',
    '/%c3',
    '/%zz',
    '/%',
    '/a b',
    '/a%0d%0aSet-Cookie:x',
    'ftp://x/',
    '*',
    '',
    '/\xff',
  ])('are refused with 400: %j', (target) => expect(get(target)).toMatchObject({ kind: 'reject', status: 400 }));
  it('are refused with 414 if too long', () => {
    expect(get(`/${'a'.repeat(1024)}`)).toMatchObject({ kind: 'reject', status: 414 });
    expect(get(`/?${'a'.repeat(5000)}`)).toMatchObject({ kind: 'reject', status: 414 });
  });
});

it('each request target has one normal form, and no redirect leaves the site unless the publisher listed it', () => {
  const piece = fc.oneof(
    fc.constantFrom(
      '/',
      '//',
      '.',
      '..',
      '%2e',
      '%2E%2e',
      '%2f',
      '%5c',
      '\\',
      '%00',
      'About',
      'a',
      '?',
      '&',
      'page=2',
      '#',
      '%c3%a9',
      'é',
      ':',
      '@',
    ),
    fc.string({ maxLength: 6 }),
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
      const result = get(`/${pieces.join('')}`);
      if (result.kind === 'page') {
        // biome-ignore lint/suspicious/noControlCharactersInRegex: that there are none is the point
        expect(result.key).not.toMatch(/\/\/|\/\.{1,2}(?:\/|$)|\\|[\x00-\x20\x7f-\uffff]/);
        expect(page(result.key)).toBe(result.key);
      } else if (result.kind === 'redirect') {
        expect(result.location).toMatch(/^\/(?![/\\])|^https:\/\/shop\.example\.com/);
        if (result.location.startsWith('/')) {
          const next = get(result.location);
          expect(next.kind === 'redirect' ? get(next.location).kind : next.kind).not.toBe('redirect');
        }
      }
    }),
    { numRuns: runs(500, 20_000) },
  );
});

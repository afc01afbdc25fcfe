import { expect, it } from 'vitest';
import { loggedAddress, requestKind } from './request-kind.ts';

const files = { statics: { has: (path: string) => path === '/favicon.svg', answer: () => null } };
const fixedTexts = new Map([['/key.txt', 'key']]);

it.each([
  ['/article/a', 'page'],
  ['/search?q=/api/', 'page'],
  ['/imagery', 'page'],
  ['/metrics-explained', 'page'],
  ['/api/v1/me/saved', 'api'],
  ['/blaize/login', 'api'],
  ['/zephr/feature', 'api'],
  ['/image?url=a', 'image'],
  ['/sound/12/0.mp3?key=x', 'audio'],
  ['/-/press', 'operators'],
  ['/metrics', 'operators'],
  ['/readyz?complete', 'operators'],
  ['/favicon.svg?1', 'static'],
  ['/_assets/old.js', 'static'],
  ['/key.txt', 'static'],
] as const)('a request for %s counts as the kind %s', (url, kind) => {
  expect(requestKind({ ...files, fixedTexts }, { incoming: { url } })).toBe(kind);
});

it('a request that waited for a render counts as a miss', () => {
  expect(requestKind(files, { incoming: { url: '/article/a' }, missed: true })).toBe('miss');
});

it.each([
  ['/podcast/how-it-works/private/Abc_-9.xml?x=1', '/podcast/how-it-works/private/…?x=1'],
  ['/PODCAST/a/private/abc', '/PODCAST/a/private/…'],
  ['/gift/abc', '/gift/…'],
  ['/sound/12/0.mp3?feed=f&until=9&key=abc', '/sound/12/0.mp3?feed=f&until=9&key=…'],
  ['/preview?type=articles&signature=abc', '/preview?type=articles&signature=…'],
  ['//gift//abc', '//gift//…'],
  ['http://paper.example/gift/abc?x=1', 'http://paper.example/gift/…?x=1'],
  ['/account/unsubscribe?t=abc', '/account/unsubscribe?t=…'],
  ['/blaize/oauth/google/callback?state=s&code=abc', '/blaize/oauth/google/callback?state=s&code=…'],
  [
    '/article/a?utm_source=mail&recognized_email=b%40example.com&page=2',
    '/article/a?utm_source=mail&recognized_email=…&page=2',
  ],
  ['/?recognized_email=b', '/?recognized_email=…'],
  ['/search?mail=b@example.com&b@example.com=1&page=2', '/search?mail=…&…&page=2'],
  ['/article/a?page=2', '/article/a?page=2'],
  ['/podcast/how-it-works/rss.xml', '/podcast/how-it-works/rss.xml'],
])('%s is logged without secrets', (address, logged) => expect(loggedAddress(address)).toBe(logged));

it.each(['/?', '/?a', '/?a=', '/?&', '/podcast', '/podcast/', 'http://'])(
  'the address %s with any 16,000 more characters is prepared for the log within half a second',
  (start) => {
    const took = (): number => {
      const began = performance.now();
      for (const end of ['?', '&', '/', 'a', '@', '=']) loggedAddress(start + end.repeat(16_000));
      return performance.now() - began;
    };
    // A busy machine may delay one try.
    expect(Math.min(took(), took(), took())).toBeLessThan(500);
  },
);

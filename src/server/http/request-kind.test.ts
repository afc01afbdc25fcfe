import { expect, it } from 'vitest';
import { requestKind } from './request-kind.ts';

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

import { expect, it } from 'vitest';
import { requestKind } from './request-kind.ts';

const files = { statics: { has: (path: string) => path === '/favicon.svg', answer: () => null } };
const texts = new Map([['/key.txt', 'key']]);

it.each([
  ['/article/a', 'page'],
  ['/search?q=/api/', 'page'],
  ['/imagery', 'page'],
  ['/metrics-explained', 'page'],
  ['/api/v1/me/saved', 'api'],
  ['/blaize/login', 'api'],
  ['/zephr/feature', 'api'],
  ['/image?url=a', 'image'],
  ['/-/press', 'operators'],
  ['/metrics', 'operators'],
  ['/readyz?complete', 'operators'],
  ['/favicon.svg?1', 'static'],
  ['/_assets/old.js', 'static'],
  ['/key.txt', 'static'],
] as const)('%s is of the kind %s', (url, kind) => {
  expect(requestKind({ ...files, texts }, { incoming: { url } })).toBe(kind);
});

it('is a miss when it waited for a render', () => {
  expect(requestKind(files, { incoming: { url: '/article/a' }, missed: true })).toBe('miss');
});

import { describe, expect, test } from 'vitest';
import { announceable, isIndexNowKey, isPublicOrigin } from './indexnow.server.ts';

test('an IndexNow key has 8 to 128 letters, digits and dashes', () => {
  for (const key of ['abcd1234', 'A-b-C-d-', 'x'.repeat(128)]) expect(isIndexNowKey(key)).toBe(true);
  for (const key of ['abc1234', 'x'.repeat(129), 'abcd_1234', 'abcd1234\n', 'abcd 1234', '../../../etc']) {
    expect(isIndexNowKey(key)).toBe(false);
  }
});

describe('isPublicOrigin', () => {
  test.each(['https://www.thesun.paper', 'https://xn--zeitung-k2a.de'])('%s is public', (url) => {
    expect(isPublicOrigin(url)).toBe(true);
  });

  test.each([
    'http://www.thesun.paper',
    'https://www.thesun.paper:8443',
    'https://localhost',
    'https://intranet',
    'https://127.0.0.1',
    'https://93.184.216.34',
    'https://[2606:2800:220:1::1]',
    'https://paper.local',
    'https://paper.test',
    'https://www.example.com',
    'https://paper.home.arpa',
    'nonsense',
  ])('%s is not public', (url) => {
    expect(isPublicOrigin(url)).toBe(false);
  });
});

test('only the site’s own URLs are announced to IndexNow, each once and absolute', () => {
  const urls = [
    '/article/a#top',
    'https://www.thesun.paper/article/a',
    'https://elsewhere.org/',
    '//elsewhere.org/x',
    'http://[',
  ];
  expect(announceable(urls, 'https://www.thesun.paper')).toEqual(['https://www.thesun.paper/article/a']);
});

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { bareSettings } from '../../../tests/world/http-servers.ts';
import { silent } from '../../lib/logging.ts';
import type { StoredPage } from '../../press/store/stored-page.ts';
import { pageHeaders } from '../press/render-page.ts';
import { securityHeaders } from './security-headers.ts';
import { openSharedDictionary } from './shared-dictionary.ts';
import { openStatics } from './static-files.ts';

let dir: string;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'dictionary-'));
  mkdirSync(join(dir, '_assets'));
  writeFileSync(join(dir, '_assets', 'pages.Ab-_1234.dict'), 'the page of a story');
  writeFileSync(join(dir, '_assets', 'Article.css'), 'a {}');
});
afterAll(() => rmSync(dir, { recursive: true }));

const on = { sharedDictionary: true };

it('the shared dictionary has a link for pages, and is served as a dictionary that browsers keep', () => {
  const statics = openStatics(dir);
  const dictionary = openSharedDictionary(statics, on, silent);
  expect(dictionary).toMatchObject({
    link: '</_assets/pages.Ab-_1234.dict>; rel="compression-dictionary"',
    available: expect.stringMatching(/^:[\w+/]{43}=:$/),
  });
  expect(statics.answer('/_assets/pages.Ab-_1234.dict', {})).toMatchObject({
    status: 200,
    headers: {
      'use-as-dictionary': 'match="/*", match-dest=("document")',
      'cache-control': 'public, max-age=31536000, immutable',
      'content-type': 'application/octet-stream',
    },
  });
  expect(statics.answer('/_assets/Article.css', {})?.headers).not.toHaveProperty('use-as-dictionary');
});

it('the shared dictionary is absent when it is off or the build has none', () => {
  expect(openSharedDictionary(openStatics(dir), { sharedDictionary: false }, silent)).toBeNull();
  expect(openSharedDictionary(openStatics(join(dir, 'none')), on, silent)).toBeNull();
});

const security = securityHeaders(bareSettings);
const page = {
  variant: 'public',
  status: 200,
  headers: { 'content-type': 'text/html' },
  tags: ['card:1'],
} as unknown as StoredPage;
const lower = (headers: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));

it.each([null, 'cloudflare', 'fastly'] as const)(
  'shared caches do not keep a response that needs the shared dictionary (CDN: %s)',
  (provider) => {
    const cdn = provider && ({ provider } as never);
    const headersOf = pageHeaders(security, { cdn, cdnHeaders: true }, '<x>');
    expect(lower(headersOf(page, false))).toMatchObject({ link: '<x>', vary: 'Available-Dictionary' });
    const small = lower(headersOf(page, true));
    expect(small).toMatchObject({
      'cache-control': 'private, max-age=0, must-revalidate',
      'cdn-cache-control': 'no-store',
      vary: 'Available-Dictionary',
    });
    for (const name of ['surrogate-control', 'surrogate-key', 'cache-tag']) expect(small).not.toHaveProperty(name);
  },
);

it('404s and feeds get no headers for the shared dictionary, nor do pages without one', () => {
  const withIt = pageHeaders(security, { cdn: null, cdnHeaders: false }, '<x>');
  const without = pageHeaders(security, { cdn: null, cdnHeaders: false });
  const feed = { ...page, headers: { 'content-type': 'application/rss+xml' } };
  for (const other of [{ ...page, status: 404 }, feed]) expect(withIt(other)).toEqual(without(other));
  expect(without(page)).not.toHaveProperty('link');
  expect(without(page)).not.toHaveProperty('vary');
});

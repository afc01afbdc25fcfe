import { afterEach, beforeEach, expect, it } from 'vitest';
import { type Bucket, startBucket } from '../../../sandbox/bucket/bucket.ts';
import { buildFolders } from '../../../tests/world/build-folders.ts';
import { silent } from '../../lib/logging.ts';
import { createBucketAssets } from './bucket.ts';
import { createSharedAssets } from './shared-assets.ts';

const day = 24 * 60 * 60 * 1000;
const build = buildFolders();
let bucket: Bucket;
beforeEach(async () => {
  // Small enough that lists have several pages.
  bucket = await startBucket({ pageSize: 2 });
});
afterEach(() => bucket.stop());

interface NodeOptions {
  readonly secret?: string;
  readonly keyId?: string;
  readonly name?: string;
  readonly region?: string;
  readonly url?: string;
  readonly timeoutMs?: number;
}

/** A node with a build, and its warnings. */
function node(files: Readonly<Record<string, string>>, options: NodeOptions = {}) {
  const { id, secret, region } = bucket.key;
  const settings = {
    endpoint: options.url ?? bucket.url,
    bucket: options.name ?? bucket.name,
    prefix: 'a/site',
    region: options.region ?? region,
    keyId: options.keyId ?? id,
    secret: options.secret ?? secret,
  };
  // Enough for a busy machine.
  const { timeoutMs = 20_000 } = options;
  const warnings: string[] = [];
  const log = {
    ...silent,
    warn: ({ problem }: { problem?: string }, text: string) => void warnings.push(`${text}: ${problem}`),
  };
  const store = createBucketAssets({ settings, requestMs: timeoutMs });
  const assets = createSharedAssets({ store, source: build(files), log, answerMs: timeoutMs });
  return { offer: assets.offer, find: async (path: string) => (await assets.find(path))?.toString(), warnings };
}

const puts = (): string[] => bucket.requests.filter((request) => request.startsWith('PUT '));
const kept = (): string[] => [...bucket.objects.keys()].sort();

it('nodes share their builds’ files through the bucket, each file uploaded once', async () => {
  const before = node({ 'Article.aaaa.css': 'old', 'parts/shared.cccc.js': 'same', 'Article.aaaa.css.br': 'small' });
  const after = node({ 'Article.bbbb.css': 'new', 'parts/shared.cccc.js': 'same' });
  const twin = node({ 'Article.bbbb.css': 'new', 'parts/shared.cccc.js': 'same' });
  for (const each of [before, after, twin]) await each.offer();
  expect(await before.find('Article.bbbb.css')).toBe('new');
  expect(await after.find('Article.aaaa.css')).toBe('old');
  expect(await after.find('parts/shared.cccc.js')).toBe('same');
  expect(await after.find('Article.dddd.css')).toBeUndefined();
  expect(puts().sort()).toEqual([
    'PUT a/site/_assets/Article.aaaa.css',
    'PUT a/site/_assets/Article.aaaa.css.br',
    'PUT a/site/_assets/Article.bbbb.css',
    'PUT a/site/_assets/parts/shared.cccc.js',
  ]);
  expect(bucket.objects.get('a/site/_assets/Article.aaaa.css')?.headers).toEqual({
    'content-type': 'text/css; charset=utf-8',
    'cache-control': 'public, max-age=31536000, immutable',
  });
  expect(bucket.objects.get('a/site/_assets/Article.aaaa.css.br')?.headers).toMatchObject({
    'content-type': 'application/octet-stream',
  });
  expect([before, after, twin].flatMap(({ warnings }) => warnings)).toEqual([]);
});

it('a build’s files stay in the bucket until no node has had the build for three days', async () => {
  const old = node({ 'old.aaaa.js': 'old' });
  const present = node({ 'new.bbbb.js': 'new' });
  await old.offer();
  for (let days = 0; days < 4; days++) {
    bucket.age(day + 5000);
    await old.offer();
    await present.offer();
    expect(kept()).toEqual(['a/site/_assets/new.bbbb.js', 'a/site/_assets/old.aaaa.js']);
  }
  bucket.age(2.9 * day);
  await present.offer();
  expect(kept()).toContain('a/site/_assets/old.aaaa.js');
  bucket.age(0.2 * day);
  await present.offer();
  expect(kept()).toEqual(['a/site/_assets/new.bbbb.js']);
  // The same if this build comes back after a week.
  bucket.age(7 * day);
  await present.offer();
  expect(kept()).toEqual(['a/site/_assets/new.bbbb.js']);
});

it('deleting old files leaves other objects in the bucket alone', async () => {
  await node({ 'x.aaaa.js': 'x' }).offer();
  const object = bucket.objects.get('a/site/_assets/x.aaaa.js');
  for (const name of ['a/site/letter.txt', 'a/other/_assets/x.js', 'x.js'])
    if (object) (bucket.objects as Map<string, typeof object>).set(name, object);
  bucket.age(30 * day);
  await node({ 'y.bbbb.js': 'y' }).offer();
  expect(kept()).toEqual(['a/other/_assets/x.js', 'a/site/_assets/y.bbbb.js', 'a/site/letter.txt', 'x.js']);
  const deleted = bucket.requests.filter((request) => request.startsWith('DELETE '));
  expect(deleted).toEqual(['DELETE a/site/_assets/x.aaaa.js']);
});

it('a node requests a file from the bucket once, even for several readers at once', async () => {
  await node({ 'a.aaaa.js': 'a' }).offer();
  const other = node({});
  expect(await Promise.all([1, 2, 3].map(() => other.find('a.aaaa.js')))).toEqual(['a', 'a', 'a']);
  expect(await other.find('a.aaaa.js')).toBe('a');
  for (const path of ['', '../x.js', 'a//b.js', 'a/./b.js', 'a?b', 'a\0b', 'x'.repeat(301)])
    expect(await other.find(path)).toBeUndefined();
  expect(bucket.requests.filter((request) => request.startsWith('GET '))).toEqual(['GET a/site/_assets/a.aaaa.js']);
});

it('requests to the bucket are signed correctly for names with any characters', async () => {
  const name = "[slug] (ü)+&=!'*$@;,~.日.js";
  await node({ [name]: 'odd' }).offer();
  const other = node({ [name]: 'odd' });
  expect(await other.find(name)).toBe('odd');
  await other.offer();
  expect(puts()).toEqual([`PUT a/site/_assets/${name}`]);
});

it.each(['down', 'hang'] as const)(
  'a node works without the bucket while it fails (%s), and warns once',
  async (mode) => {
    await node({ 'b.bbbb.js': 'b' }).offer();
    // The limit ends every wait for a bucket that hangs, and is long enough for the answers of one that is back.
    const timeoutMs = mode === 'hang' ? 2000 : 20_000;
    const { offer, find, warnings } = node({ 'a.aaaa.js': 'a' }, { timeoutMs });
    bucket.fail(mode);
    await offer();
    await offer();
    expect(await find('b.bbbb.js')).toBeUndefined();
    expect(warnings).toEqual([
      `This build's files couldn't be given to the other nodes yet; retrying: ${mode === 'down' ? 'the bucket answers 503 ServiceUnavailable' : 'no answer within 2000 ms'}`,
    ]);
    bucket.fail(null);
    await offer();
    expect(await find('b.bbbb.js')).toBe('b');
    bucket.fail(mode);
    expect(await find('c.cccc.js')).toBeUndefined();
    expect(warnings).toHaveLength(2);
    expect(warnings[1]).toMatch(/^A file of another build couldn't be read; .*(503|2000 ms)/);
  },
);

it.each([
  [{ secret: 'another-secret' }, '403 SignatureDoesNotMatch: check ASSETS_BUCKET_SECRET'],
  [{ keyId: 'another' }, '403 InvalidAccessKeyId: check ASSETS_BUCKET_KEY_ID'],
  [{ name: 'another-bucket' }, '404 NoSuchBucket: check ASSETS_BUCKET'],
  [{ region: 'us-east-1' }, '400 AuthorizationHeaderMalformed: check ASSETS_BUCKET_REGION'],
])('a warning says which bucket setting to check for %j', async (options, problem) => {
  const { offer, find, warnings } = node({ 'a.aaaa.js': 'a' }, options);
  await offer();
  expect(await find('b.bbbb.js')).toBeUndefined();
  expect(warnings).toEqual([
    `This build's files couldn't be given to the other nodes yet; retrying: the bucket answers ${problem}`,
  ]);
  expect(bucket.objects.size).toBe(0);
});

it('a warning says what to do about missing permissions, a wrong clock, and an unreachable bucket', async () => {
  const denied = node({ 'a.aaaa.js': 'a' });
  bucket.fail('denied');
  await denied.offer();
  expect(denied.warnings.join()).toContain('403 AccessDenied: give the key the rights to list');
  await bucket.stop();
  const gone = node({ 'a.aaaa.js': 'a' }, { url: bucket.url });
  await gone.offer();
  expect(gone.warnings.join()).toContain("the bucket can't be reached: connect ECONNREFUSED");
  bucket = await startBucket({ clockMs: 3_600_000 });
  const late = node({ 'a.aaaa.js': 'a' });
  await late.offer();
  expect(late.warnings.join()).toContain('403 RequestTimeTooSkewed: set the clock of this machine');
});

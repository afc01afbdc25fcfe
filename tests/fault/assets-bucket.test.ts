/** A whole site in a cluster whose nodes share hashed files in a bucket, and a bucket that is down when the site starts. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Bucket, startBucket } from '../../sandbox/bucket/bucket.ts';
import { root } from '../../scripts/setup/places.mjs';
import { openBucket } from '../../src/server/cluster/bucket.ts';
import { type Paper, startPaper } from '../fixtures/paper.ts';
import { type SharedPostgres, sharedPostgres } from '../world/shared-databases.ts';

let postgres: SharedPostgres;
let bucket: Bucket;
let paper: Paper | undefined;
let settings: Record<string, string>;
beforeAll(async () => {
  [postgres, bucket] = await Promise.all([sharedPostgres(), startBucket()]);
  settings = {
    DATABASE_URL: await postgres.database('without tables'),
    ASSETS_BUCKET: `${bucket.url}/${bucket.name}/site`,
    ASSETS_BUCKET_REGION: bucket.key.region,
    ASSETS_BUCKET_KEY_ID: bucket.key.id,
    ASSETS_BUCKET_SECRET: bucket.key.secret,
  };
});
afterAll(async () => {
  await paper?.close();
  await bucket?.stop();
  await postgres?.removeDatabases();
});

it('a node uploads its files to the bucket before it serves, and serves another build’s files from it', async () => {
  const files = readdirSync(join(root, 'dist/client/_assets'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => `site/_assets/${entry.name}`);
  const { id: keyId, secret, region } = bucket.key;
  const place = { endpoint: bucket.url, bucket: bucket.name, prefix: 'site', region, keyId, secret };
  await openBucket(place, 20_000).put('Other.zzzz.css', Buffer.from('.other {}'));
  paper = await startPaper(settings);
  expect(bucket.objects.size).toBe(files.length + 1);
  const answer = await paper.ask('/_assets/Other.zzzz.css');
  expect([answer.status, answer.text]).toEqual([200, '.other {}']);
  expect(answer.headers['cache-control']).toBe('public, max-age=31536000, immutable');
  expect((await paper.ask('/_assets/Missing.zzzz.css')).status).toBe(404);
  expect(paper.output()).not.toContain("couldn't be");
});

it('a node starts and serves while the bucket is down, and logs the reason once', async () => {
  await paper?.kill('SIGTERM');
  bucket.fail('down');
  await paper?.start();
  expect((await paper?.ask('/healthz'))?.status).toBe(200);
  expect((await paper?.ask('/_assets/Another.zzzz.css'))?.status).toBe(404);
  const output = paper?.output() ?? '';
  expect(output.match(/the bucket answers 503 ServiceUnavailable/g)).toHaveLength(1);
  expect(output).not.toContain(bucket.key.secret);
});

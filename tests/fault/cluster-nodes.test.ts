/**
 * Whole sites as nodes of a cluster: the syncing node freezes and resumes, one node's disk is full, and one is cut off from PostgreSQL.
 */
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Paper, startPaper, until } from '../fixtures/paper.ts';
import type { Json } from '../fixtures/wordpress.ts';
import { type SharedPostgres, sharedPostgres } from '../world/shared-databases.ts';
import { type SlowProxy, startSlowProxy } from '../world/slow-proxy.ts';
import { openSmallDisk, type SmallDisk } from './fixtures/small-disk.ts';

let postgres: SharedPostgres;
let DATABASE_URL: string;
let folder: string;
let disk: SmallDisk;
let proxy: SlowProxy | undefined;
/** The node that came with WordPress, and has the lease at first. */
let first: Paper;
/** A node on a small disk. */
let second: Paper;
const papers: Paper[] = [];

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'cluster-disk-'));
  disk = openSmallDisk(folder);
  postgres = await sharedPostgres();
  DATABASE_URL = await postgres.database('without tables');
  first = await startPaper({ DATABASE_URL });
  papers.push(first);
  const settings = { DATABASE_URL, WORDPRESS_URL: first.wordpressUrl, DATA_DIR: folder };
  second = await startPaper(settings, { nodeArgs: disk.nodeArgs });
  papers.push(second);
  for (const paper of papers) await until(() => paper.output().includes('The important pages are ready'), paper.output);
});
afterAll(async () => {
  proxy?.thaw();
  for (const paper of papers) paper.site()?.kill('SIGCONT');
  await Promise.all(papers.map((paper) => paper.close()));
  proxy?.close();
  await postgres?.removeDatabases();
  disk?.close();
  if (folder) rmSync(folder, { recursive: true, force: true });
});

const leads = async (paper: Paper): Promise<boolean> => (await paper.metric('broadsheet_cluster_leads')) === 1;
const shows = async (paper: Paper, path: string, words: string): Promise<void> =>
  until(async () => (await paper.ask(path)).text.includes(words), paper.output);

it('a frozen node that has lost the lease appends nothing of what it had fetched', async () => {
  expect(await leads(first)).toBe(true);
  const { wordpress } = first;
  // WordPress has answered the first node with the old headline, and the answer is in transit.
  const asked = Promise.withResolvers<void>();
  const release = Promise.withResolvers<void>();
  let held = 0;
  const old = wordpress.handle.bind(wordpress);
  first.edit(1, { title: { rendered: 'The old headline' } });
  wordpress.intercept = (request) => {
    if (!new URL(request.url).pathname.endsWith('/articles/1') || held++ > 0) return null;
    const answer = old(request);
    asked.resolve();
    return release.promise.then(() => answer);
  };
  const late = first.deliver().catch(() => null);
  await asked.promise;
  first.site()?.kill('SIGSTOP');
  await until(() => leads(second), second.output);
  first.edit(1, { title: { rendered: 'The new headline' } });
  await until(async () => (await second.deliver()).status === 200, second.output);
  await shows(second, '/article/story-1', 'The new headline');
  release.resolve();
  first.site()?.kill('SIGCONT');
  // WordPress would send the webhook again.
  expect((await late)?.status ?? 503).toBe(503);
  await shows(first, '/article/story-1', 'The new headline');
  await until(async () => (await first.ask('/readyz')).status === 200, first.output);
  expect([await leads(first), await leads(second)]).toEqual([false, true]);
  for (const paper of papers) expect((await paper.ask('/article/story-1')).text).not.toContain('The old headline');
  // A node that starts empty gets the story from the log.
  const client = new pg.Client(DATABASE_URL);
  await client.connect();
  const { rows } = await client.query("select payload from content_entries where kind = 'document' and id = '1'");
  await client.end();
  expect(rows[0].payload).toContain('The new headline');
});

it('a node with a full disk gives up the lease, serves its pages, and recovers when there is room', async () => {
  expect(await leads(second)).toBe(true);
  await disk.fill(second);
  // The file may still have some free space. A webhook that can't be stored waits until another node has the lease.
  for (let edit = 0; !(await leads(first)); edit++) {
    first.edit(1, {
      title: { rendered: `Edit ${edit}` },
      content: { rendered: `<p>${'Long. '.repeat(3000)}${edit}</p>` },
    });
    const refused = first.deliver().then(({ status }) => status !== 200);
    await Promise.race([refused, until(() => leads(first), first.output, 90_000)]);
    expect(edit, 'The disk was never felt.').toBeLessThan(200);
  }
  first.edit(2, { title: { rendered: 'By the other node' } });
  await until(async () => (await first.deliver({ id: 2, slug: 'story-2' })).status === 200, first.output);
  await shows(first, '/article/story-2', 'By the other node');
  expect((await second.ask('/readyz')).status).toBe(503);
  // It can read the log but not store it, and doesn't ask WordPress what was withdrawn.
  expect((await second.ask('/readyz?serves')).status).toBe(503);
  expect((await second.ask('/')).status).toBe(200);
  await disk.free(second);
  await shows(second, '/article/story-2', 'By the other node');
  await until(async () => (await second.ask('/readyz')).status === 200, second.output);
});

it('a node cut off from PostgreSQL stops serving withdrawn and newly paid stories, and serves the rest', async () => {
  const url = new URL(DATABASE_URL);
  proxy = await startSlowProxy(Number(url.port));
  url.port = String(proxy.port);
  const cutOff = await startPaper({ DATABASE_URL: url.href, WORDPRESS_URL: first.wordpressUrl });
  papers.push(cutOff);
  for (const id of [3, 4, 5]) await shows(cutOff, `/article/story-${id}`, `ENDING-${id}`);
  proxy.freeze();
  await until(async () => (await cutOff.ask('/readyz')).status === 503, cutOff.output);
  const changed = async (id: number, part: Json, event: string): Promise<void> => {
    first.edit(id, part);
    const row = (first.wordpress.changes?.length ?? 0) + 1;
    first.wordpress.changes?.push({ row, delivery: randomUUID(), event, type: 'articles', id, slug: `story-${id}` });
    await until(async () => (await first.deliver({ event, id, slug: `story-${id}` })).status === 200, first.output);
  };
  await changed(3, { status: 'draft' }, 'unpublish');
  await changed(4, { access: 'subscriber' }, 'update');
  await changed(5, { title: { rendered: 'An edit meanwhile' } }, 'update');
  await until(async () => (await cutOff.ask('/article/story-3')).status === 410, cutOff.output);
  await until(async () => !(await cutOff.ask('/article/story-4')).text.includes('ENDING-4'), cutOff.output);
  const kept = await cutOff.ask('/article/story-5');
  expect([kept.status, kept.text.includes('ENDING-5')]).toEqual([200, true]);
  expect(kept.text).not.toContain('An edit meanwhile');
  proxy.thaw();
  await shows(cutOff, '/article/story-5', 'An edit meanwhile');
  await until(async () => (await cutOff.ask('/readyz')).status === 200, cutOff.output);
  expect((await cutOff.ask('/article/story-3')).status).toBe(410);
});

it('a node whose PostgreSQL stops answering shuts down in order within 45 seconds', async () => {
  const url = new URL(DATABASE_URL);
  const silent = await startSlowProxy(Number(url.port));
  url.port = String(silent.port);
  const env = {
    DATABASE_URL: url.href,
    WORDPRESS_URL: first.wordpressUrl,
    ACCOUNTS_SECRET: 'the same secret on both nodes, long enough',
    SMTP_URL: 'smtp://127.0.0.1:9',
    MAIL_FROM: 'The Sun <news@paper.example>',
  };
  const node = await startPaper(env);
  papers.push(node);
  silent.freeze();
  await until(async () => (await node.ask('/readyz')).status === 503, node.output);
  const began = performance.now();
  await node.kill('SIGTERM');
  expect(node.site()?.exitCode).toBe(0);
  expect(performance.now() - began).toBeLessThan(45_000);
  silent.close();
});

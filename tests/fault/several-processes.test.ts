/**
 * Two sites of one paper, on one WordPress and one PostgreSQL, each with its own pages. The plugin delivers to the first; the second polls
 * once an hour, so that it knows of a change only from the first.
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Paper, startPaper, until } from '../fixtures/paper.ts';
import { type Cluster, startPostgres } from '../world/postgres.ts';

let cluster: Cluster;
let papers: readonly [Paper, Paper];
beforeAll(async () => {
  cluster = await startPostgres();
  const DATABASE_URL = await cluster.database();
  const first = await startPaper({ DATABASE_URL });
  try {
    papers = [first, await startPaper({ DATABASE_URL, WORDPRESS_URL: first.wordpressUrl })];
  } catch (error) {
    await first.close();
    throw error;
  }
  await everyoneListens();
  for (const paper of papers) await until(() => paper.output().includes('The important pages are ready'), paper.output);
}, 120_000);
afterAll(async () => {
  await Promise.all((papers ?? []).map((paper) => paper.close()));
  await cluster?.remove();
});

async function everyoneListens(): Promise<void> {
  for (const paper of papers)
    await until(async () => (await paper.metric('broadsheet_webhooks_listening')) === 1, paper.output);
}

const stored = async (paper: Paper, path: string): Promise<{ status: number; text: string; how: unknown }> => {
  const { status, text, headers } = await paper.ask(path);
  return { status, text, how: headers['server-timing'] };
};

/** Both have made it already, before a reader asks for it. */
async function bothShow(path: string, words: string): Promise<void> {
  for (const paper of papers) {
    await until(async () => (await stored(paper, path)).text.includes(words), paper.output);
    expect((await stored(paper, path)).how).toBe('press;desc="hit"');
  }
}

it('shows an edit and a withdrawal on both, though one was told', async () => {
  const [first, second] = papers;
  for (const path of ['/', '/article/story-1', '/article/story-2'])
    for (const paper of papers) expect((await paper.ask(path)).status).toBe(200);
  first.edit(1, { title: { rendered: 'Corrected on both sites' } });
  expect((await first.deliver()).status).toBe(200);
  await bothShow('/article/story-1', 'Corrected on both sites');
  await bothShow('/', 'Corrected on both sites');
  expect((await second.ask('/')).text).toContain('/article/story-2"');
  first.edit(2, { status: 'draft' });
  const hook = { event: 'unpublish', id: 2, slug: 'story-2', status: 'draft' };
  expect((await first.deliver(hook)).status).toBe(200);
  await until(async () => (await second.ask('/article/story-2')).status === 410, second.output);
  await until(async () => !(await second.ask('/')).text.includes('/article/story-2"'), second.output);
  // Nothing that was refused, and nothing further.
  expect((await first.deliver({}, { secret: 'another plugin’s' })).status).toBe(401);
  const counts = (name: string) =>
    Promise.all(papers.map((paper) => paper.metric(`broadsheet_webhooks_broadcast_${name}_total`)));
  expect(await counts('sent')).toEqual([2, 0]);
  expect(await counts('received')).toEqual([0, 2]);
});

it('continues after an outage of PostgreSQL, with the changes made meanwhile', async () => {
  const [first, second] = papers;
  await cluster.stop();
  try {
    for (const paper of papers)
      await until(async () => (await paper.metric('broadsheet_webhooks_listening')) === 0, paper.output);
    first.edit(3, { title: { rendered: 'Told while it was away' } });
    // The other way about, so that both have received a webhook.
    expect((await second.deliver({ id: 3, slug: 'story-3' })).status).toBe(200);
    expect((await stored(second, '/article/story-3')).text).toContain('Told while it was away');
  } finally {
    await cluster.start();
  }
  await bothShow('/article/story-3', 'Told while it was away');
  await everyoneListens();
  first.edit(4, { title: { rendered: 'Told afterwards' } });
  expect((await first.deliver({ id: 4, slug: 'story-4' })).status).toBe(200);
  await bothShow('/article/story-4', 'Told afterwards');
});

it('shuts down cleanly while PostgreSQL is down', async () => {
  const [, second] = papers;
  await cluster.stop();
  try {
    await second.kill('SIGTERM');
    expect(second.site()?.exitCode).toBe(0);
  } finally {
    await cluster.start();
  }
});

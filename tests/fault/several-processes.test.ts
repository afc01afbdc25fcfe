/**
 * Three sites of one newspaper, on one WordPress and one PostgreSQL, each with its own data folder: each thing is done once, and the
 * others replace a killed node.
 */
import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Paper, startPaper, until } from '../fixtures/paper.ts';
import type { Json } from '../fixtures/wordpress.ts';
import { type Cluster, startPostgres } from '../world/postgres.ts';
import { read } from './fixtures/deploy-files.ts';

let cluster: Cluster;
let DATABASE_URL: string;
/** The node that came with WordPress. */
let newsroom: Paper;
const papers: Paper[] = [];
/** Addresses by which the load balancers of deploy/ decide which node gets readers. */
const readinessPaths = [
  /readinessProbe:\s+httpGet: \{ path: "(.+?)"/.exec(read('deploy/kubernetes.yaml'))?.[1],
  /^\s*health_uri (.+)$/m.exec(read('deploy/Caddyfile'))?.[1],
].map(String);
/** Requests that WordPress has received. */
const requests = (): string[] => newsroom.wordpress.requests;

beforeAll(async () => {
  cluster = await startPostgres();
  DATABASE_URL = await cluster.database();
  newsroom = await startPaper({ DATABASE_URL });
  papers.push(newsroom);
  for (let more = 0; more < 2; more++) papers.push(await another());
  for (const paper of papers) await until(() => paper.output().includes('The important pages are ready'), paper.output);
  // The tests count requests to WordPress, so the node that syncs must have copied everything.
  const phase = async (paper: Paper): Promise<string> => JSON.parse((await paper.ask('/readyz')).text).sync.phase;
  for (const paper of papers) await until(async () => (await phase(paper)) === 'following', paper.output);
});
afterAll(async () => {
  await Promise.all(papers.map((paper) => paper.close()));
  await cluster?.remove();
});

const another = (settings: Readonly<Record<string, string>> = {}): Promise<Paper> =>
  startPaper({ DATABASE_URL, WORDPRESS_URL: newsroom.wordpressUrl, ...settings });

/** @returns the value of a metric on each node */
const metrics = (name: string): Promise<number[]> =>
  Promise.all(papers.map((paper) => paper.metric(`broadsheet_${name}`)));
const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

async function holder(): Promise<Paper> {
  const leads = await metrics('cluster_leads');
  return papers[leads.indexOf(1)] as Paper;
}

async function follower(): Promise<Paper> {
  const leads = await metrics('cluster_leads');
  return papers[leads.indexOf(0)] as Paper;
}

/** @returns the one row that a query gives */
async function rowOf(query: string): Promise<Record<string, string>> {
  const client = new pg.Client(DATABASE_URL);
  await client.connect();
  try {
    return (await client.query<Record<string, string>>(query)).rows[0] ?? {};
  } finally {
    await client.end();
  }
}

/** Delivers a webhook as WordPress does: again until it is answered with 200, because a busy node may refuse it. */
const deliver = (paper: Paper, hook: Json): Promise<void> =>
  until(async () => (await paper.deliver(hook)).status === 200, paper.output);

/** All of them show it from their cache, before a reader requests it. */
async function allShow(path: string, words: string): Promise<void> {
  for (const paper of papers) {
    await until(async () => (await paper.ask(path)).text.includes(words), paper.output);
    expect((await paper.ask(path)).headers['server-timing']).toBe('press;desc="hit"');
  }
}

it('only the node with the lease copies WordPress; a node that joins later makes no request to it', async () => {
  expect(sum(await metrics('cluster_leads'))).toBe(1);
  const before = requests().length;
  const late = await another();
  papers.push(late);
  await until(async () => (await late.ask('/readyz?complete')).status === 200, late.output);
  for (let id = 1; id <= 10; id++) expect((await late.ask(`/article/story-${id}`)).status).toBe(200);
  expect(requests().length).toBe(before);
  expect((await newsroom.ask('/article/story-10')).status).toBe(200);
  await until(() => late.output().includes('The important pages are ready'), late.output);
});

it('a node logs a setting that differs from the other nodes’, without its value', async () => {
  const secret = 'another-key-than-the-other-nodes-have';
  const odd = await another({ ACCESS_KEYS: `other:${secret}` });
  try {
    await until(() => odd.output().includes("ACCESS_KEYS isn't the same on all nodes of the cluster"), odd.output);
    expect(odd.output()).not.toContain(secret);
  } finally {
    await odd.close();
  }
});

it('a cluster fetches an edit once and shares the rendered pages, whichever node receives the webhook', async () => {
  for (const [at, receiver] of [await holder(), await follower()].entries()) {
    for (const paper of papers) expect((await paper.ask('/article/story-1')).status).toBe(200);
    const fetched = requests().length;
    const before = sum(await metrics('pages_given_total'));
    const { revision } = await rowOf('select max(revision) as revision from content_log');
    newsroom.edit(1, { title: { rendered: `Corrected on all, ${at}` } });
    const answer = await receiver.deliver();
    expect(answer.status).toBe(200);
    await allShow('/article/story-1', `Corrected on all, ${at}`);
    await allShow('/', `Corrected on all, ${at}`);
    expect(requests().slice(fetched)).toEqual(['/wp/v2/articles/1']);
    await until(async () => sum(await metrics('press_queue_length')) === 0, receiver.output);
    // What a claim leads to is counted and stored before the claim ends.
    await until(
      async () => (await rowOf('select count(*) as open from shared_pages where claim is not null')).open === '0',
    );
    const { pages } = await rowOf(`select count(*) as pages from shared_pages where revision > ${revision}`);
    expect(Number(pages)).toBeGreaterThan(2);
    const alone = sum(await metrics('pages_alone_total'));
    expect(sum(await metrics('pages_given_total')) - before).toBe(Number(pages));
    // On a very busy machine, a node that waits too long for PostgreSQL renders by itself and says so.
    if (alone > 0) expect(papers.map((paper) => paper.output()).join('')).toContain('renders every page by itself');
  }
});

it('a story is withdrawn on every node before the webhook is answered', async () => {
  for (const paper of papers) expect((await paper.ask('/article/story-2')).status).toBe(200);
  newsroom.edit(2, { status: 'draft' });
  const hook = { event: 'unpublish', id: 2, slug: 'story-2', status: 'draft' };
  await deliver(await follower(), hook);
  expect(await Promise.all(papers.map(async (paper) => (await paper.ask('/article/story-2')).status))).toEqual(
    papers.map(() => 410),
  );
});

it('each node itself refuses a forged webhook with 401', async () => {
  const before = requests().length;
  for (const paper of papers) expect((await paper.deliver({}, { secret: 'another plugin’s' })).status).toBe(401);
  expect(requests().length).toBe(before);
});

it('when the node that syncs is killed, another takes over and no edit is lost', async () => {
  const killed = await holder();
  const left = papers.filter((paper) => paper !== killed);
  await killed.kill();
  papers.splice(0, papers.length, ...left);
  newsroom.edit(3, { title: { rendered: 'After the kill' } });
  await deliver(left[0] as Paper, { id: 3, slug: 'story-3' });
  await allShow('/article/story-3', 'After the kill');
  expect(sum(await metrics('cluster_leads'))).toBe(1);
  newsroom.edit(5, { status: 'draft' });
  const gone = { event: 'unpublish', id: 5, slug: 'story-5', status: 'draft' };
  await deliver(left[0] as Paper, gone);
  await killed.start();
  papers.push(killed);
  // The node got no webhook: it checks before it serves its first reader.
  expect((await killed.ask('/article/story-5')).status).toBe(410);
  await allShow('/article/story-3', 'After the kill');
});

it('while PostgreSQL is down, nodes serve cached pages and refuse webhooks with 503, and catch up afterwards', async () => {
  await cluster.stop();
  try {
    for (const paper of papers)
      await until(async () => (await paper.metric('broadsheet_cluster_connected')) === 0, paper.output);
    newsroom.edit(4, { title: { rendered: 'While it was down' } });
    for (const paper of papers) {
      expect((await paper.deliver({ id: 4, slug: 'story-4' })).status).toBe(503);
      expect((await paper.ask('/')).status).toBe(200);
      expect((await paper.ask('/article/story-4')).status).toBe(200);
      expect((await paper.ask('/readyz')).status).toBe(503);
      for (const path of readinessPaths) expect([path, (await paper.ask(path)).status]).toEqual([path, 200]);
    }
  } finally {
    await cluster.start();
  }
  // Nodes that reach PostgreSQL before the holder does pass their webhooks on as soon as it is there.
  const hook = { id: 4, slug: 'story-4' };
  // A webhook that isn't passed on again is refused after nine seconds, although the holder was there for most of them.
  const refused: { began: number; ended: number }[] = [];
  const taken = async (paper: Paper): Promise<boolean> => {
    const began = performance.now();
    const { status } = await paper.deliver(hook);
    if (status !== 200) refused.push({ began, ended: performance.now() });
    return status === 200;
  };
  const sent = Promise.all(papers.map((paper) => until(() => taken(paper), paper.output)));
  sent.catch(() => {});
  const together = async (): Promise<boolean> =>
    sum(await metrics('cluster_leads')) === 1 &&
    (await metrics('cluster_connected')).every((connected) => connected === 1);
  await until(together, newsroom.output);
  const ready = performance.now();
  await sent;
  expect(refused.filter(({ began, ended }) => ended - began > 8000 && ended - ready > 4000)).toEqual([]);
  await allShow('/article/story-4', 'While it was down');
  for (const paper of papers) expect((await paper.ask('/readyz')).status).toBe(200);
});

it('a node exits with code 0 on SIGTERM while PostgreSQL is down', async () => {
  const last = papers.at(-1) as Paper;
  await cluster.stop();
  try {
    await last.kill('SIGTERM');
    expect(last.site()?.exitCode).toBe(0);
  } finally {
    await cluster.start();
  }
});

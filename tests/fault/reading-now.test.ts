/**
 * What is read now, on real processes: two nodes with serving workers on one PostgreSQL, `kill -9`, a database that goes down, unsigned
 * requests.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Paper, siteUrl, startPaper, until, webhookRequest } from '../fixtures/paper.ts';
import { type Cluster, startPostgres } from '../world/postgres.ts';

interface Story {
  readonly id: number;
  readonly readings: number;
  readonly before: number;
}

const question = { event: 'test', type: 'site', id: 0, slug: 'reading-now' };
const path = '/api/v1/articles/popular/now';
const ask = (paper: Paper, ...given: Parameters<typeof webhookRequest>) => paper.ask(path, webhookRequest(...given));
const storiesOf = async (paper: Paper): Promise<readonly Story[]> => {
  const { status, text } = await ask(paper, question);
  if (status !== 200) return [];
  const { periods } = JSON.parse(text) as { periods: { minutes: number; stories: Story[] }[] };
  return periods.find(({ minutes }) => minutes === 60)?.stories ?? [];
};

let reader = 0;
async function read(paper: Paper, id: number, readers: number): Promise<void> {
  for (let count = 0; count < readers; count++) {
    const { status } = await paper.ask(`/api/v1/articles/popular/increment/${id}?categoryId=2`, {
      method: 'POST',
      body: '{}',
      headers: { 'content-type': 'application/json', origin: siteUrl, 'x-forwarded-for': `198.18.0.${++reader}` },
    });
    expect(status).toBe(200);
  }
}

describe('the reading counts of two nodes with serving workers', () => {
  let cluster: Cluster;
  const papers: Paper[] = [];
  const [first, second] = [() => papers[0] as Paper, () => papers[1] as Paper];

  beforeAll(async () => {
    cluster = await startPostgres();
    const env = {
      DATABASE_URL: await cluster.database(),
      ACCOUNTS_SECRET: 'a secret that both nodes have, long enough',
      TRUSTED_PROXIES: '1',
      WORKERS: '2',
    };
    const paper = await startPaper(env);
    papers.push(paper, await startPaper({ ...env, WORDPRESS_URL: paper.wordpressUrl }));
  });
  afterAll(async () => {
    await Promise.all(papers.map((paper) => paper.close()));
    await cluster?.remove();
  });

  it('are added up in the answer of each node', async () => {
    await read(first(), 1, 2);
    await read(second(), 1, 1);
    await read(second(), 2, 1);
    const sum = JSON.stringify([
      { id: 1, readings: 3, before: 0 },
      { id: 2, readings: 1, before: 0 },
    ]);
    for (const paper of papers) await until(async () => JSON.stringify(await storiesOf(paper)) === sum, paper.output);
  });

  it('survive kill -9', async () => {
    await first().kill();
    await first().start();
    const counts = async () => (await storiesOf(first())).map(({ id, readings }) => [id, readings]);
    await expect.poll(counts).toEqual([
      [1, 3],
      [2, 1],
    ]);
  });

  it('leave out a withdrawn story', async () => {
    first().wordpress.remove('articles', 2);
    await Promise.all(
      papers.map((paper) => paper.deliver({ event: 'trash', id: 2, slug: 'story-2', status: 'trash' })),
    );
    for (const paper of papers)
      await until(async () => (await storiesOf(paper)).every(({ id }) => id !== 2), paper.output);
  });

  it('are given only to WordPress’s signed requests about the site', async () => {
    const answers = [
      ask(first(), question, { secret: 'another plugin’s' }),
      ask(first(), question, { timestamp: Math.floor(Date.now() / 1000) - 600 }),
      ask(first(), { ...question, type: 'articles' }),
      ask(first(), {}, { body: '{' }),
      ask(first(), {}, { body: JSON.stringify({ ...question, slug: 'x'.repeat(5000) }) }),
      first().ask(path),
      first().ask(path, {
        method: 'POST',
        body: JSON.stringify(question),
        headers: { 'content-type': 'application/json' },
      }),
    ];
    expect((await Promise.all(answers)).map(({ status }) => status)).toEqual([401, 412, 422, 422, 413, 405, 401]);
  });

  it('answer 503 without the database, and continue when it is back', async () => {
    await cluster.stop();
    await until(async () => (await ask(second(), question)).status === 503, second().output);
    await cluster.start();
    await until(async () => (await ask(second(), question)).status === 200, second().output);
    await read(second(), 3, 1);
    await until(async () => (await storiesOf(second())).some(({ id }) => id === 3), second().output);
  });
});

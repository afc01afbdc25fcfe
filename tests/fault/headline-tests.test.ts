/** A headline test on real processes: serving workers, two nodes on one PostgreSQL, `kill -9`, webhooks twice and out of order. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { groups, headlineFor } from '../../src/lib/headline-tests/model.ts';
import type { TestReport } from '../../src/lib/headline-tests/service.server.ts';
import { type Paper, ready, siteUrl, startPaper, until, webhookRequest } from '../fixtures/paper.ts';
import { firstOf, workersOf } from '../fixtures/workers.ts';
import { type SharedPostgres, sharedPostgres } from '../world/shared-databases.ts';

const testOf = (id: string, others: readonly string[] = ['Second headline'], part: object = {}) => ({
  id,
  state: 'running',
  started: new Date().toISOString().replace(/\.\d+/, ''),
  others: others.map((headline) => ({ headline, image: null })),
  ...part,
});
const allGroups = Array.from({ length: groups }, (_, group) => group);
const titleOf = (text: string): string =>
  /<a class="cover" href="\/article\/story-8"[^>]*>([\s\S]*?)<\/a>/.exec(text)?.[1] ?? '';

async function start(paper: Paper, headline_test: object | null): Promise<void> {
  paper.edit(8, { headline_test });
  expect((await paper.deliver({ id: 8, slug: 'story-8' })).status).toBe(200);
}

let address = 0;
/** A reading from an address of its own. */
async function read(paper: Paper, group: number): Promise<number> {
  address++;
  const answer = await paper.ask('/api/v1/articles/popular/increment/8', {
    method: 'POST',
    headers: {
      origin: siteUrl,
      cookie: `headline-group=${group}; privacy-choices=1.measurement`,
      'x-forwarded-for': `10.7.${address >> 8}.${address & 255}`,
    },
  });
  return answer.status;
}

async function report(paper: Paper, test: string): Promise<TestReport> {
  const request = webhookRequest({ event: 'test', type: 'headline-tests', id: 8, slug: test });
  return JSON.parse((await paper.ask('/api/v1/headline-tests/report', request)).text) as TestReport;
}
/** Each process looks for new tests once a second. */
const isKnown = async (paper: Paper, test: string): Promise<boolean> => 'readings' in (await report(paper, test));
const sum = ({ readings }: TestReport): number => readings.reduce((total, each) => total + each, 0);
const settings = { HEADLINE_TESTS: 'all', TRUSTED_PROXIES: '1' };

describe('a headline test on serving workers', () => {
  const count = 3;
  let paper: Paper;
  beforeAll(async () => {
    paper = await startPaper({ ...settings, WORKERS: String(count) });
    await ready(paper);
    const serving = (): number => paper.output().split('A worker serves cached pages').length - 1;
    await until(() => serving() >= count - 1, paper.output);
  });
  afterAll(() => paper?.close());

  /** Requests over separate connections, which the supervisor spreads over the workers. */
  const askAll = (group: number | null, headers: Record<string, string> = {}) =>
    Promise.all(
      Array.from({ length: 3 * count }, () =>
        paper.ask('/section/politics', {
          headers: { connection: 'close', ...(group !== null && { cookie: `headline-group=${group}` }), ...headers },
        }),
      ),
    );
  const titles = async (group: number | null, headers?: Record<string, string>) => [
    ...new Set((await askAll(group, headers)).map(({ text }) => titleOf(text))),
  ];

  it('shows each group its headline on all workers, in every encoding, once the webhook is answered', async () => {
    const before = await askAll(null);
    const plain = before[0];
    await start(paper, testOf('00000000000000a1'));
    // On a busy machine, a webhook may be answered before the last pages are rendered.
    await ready(paper);
    const renders = await paper.metric('broadsheet_renders_total');
    for (const encoding of ['br', 'gzip', 'identity'])
      for (const group of [...allGroups, null]) {
        const second = group !== null && headlineFor('00000000000000a1', 2, group) === 1;
        expect(await titles(group, { 'accept-encoding': encoding })).toEqual([second ? 'Second headline' : 'Story 8']);
      }
    expect((await paper.metric('broadsheet_renders_total')) - renders).toBe(0);
    const etags = new Set((await askAll(null, { 'accept-encoding': 'br' })).map(({ headers }) => headers.etag));
    expect(etags.size).toBe(1);
    // Readers without a group get the bytes of a page without a test.
    expect((await askAll(null)).map(({ text }) => text === plain?.text)).not.toContain(false);
    await start(paper, null);
    for (const group of [...allGroups, null]) expect(await titles(group)).toEqual(['Story 8']);
    expect((await askAll(3)).map(({ text }) => text === plain?.text)).not.toContain(false);
  });

  it('keeps its pages, counts and winner when the writer is killed', async () => {
    const id = '00000000000000b2';
    await start(paper, testOf(id));
    await until(() => isKnown(paper, id), paper.output);
    const seeing = (headline: number) => allGroups.filter((group) => headlineFor(id, 2, group) === headline);
    for (let at = 0; at < 20; at++) expect(await read(paper, seeing(at % 2)[at % 6] ?? 0)).toBe(200);
    await until(async () => sum(await report(paper, id)) === 20, paper.output);
    const { writer } = workersOf(paper.site()?.pid);
    process.kill(firstOf(writer), 'SIGKILL');
    await until(() => !workersOf(paper.site()?.pid).writer.includes(firstOf(writer)));
    expect(await titles(seeing(1)[0] ?? 0)).toEqual(['Second headline']);
    await until(() => workersOf(paper.site()?.pid).writer.length === 1);
    await until(async () => (await paper.ask('/readyz')).text.includes('"ready":true'), paper.output);
    expect((await report(paper, id)).readings).toEqual([10, 10]);
    for (let at = 0; at < 240; at++) expect(await read(paper, seeing(1)[at % 6] ?? 0)).toBe(200);
    await until(async () => (await report(paper, id)).state === 'won', paper.output);
    const end = await report(paper, id);
    expect(end.winner).toBe(1);
    const again = firstOf(workersOf(paper.site()?.pid).writer);
    process.kill(again, 'SIGKILL');
    await until(() => !workersOf(paper.site()?.pid).writer.includes(again));
    await until(() => workersOf(paper.site()?.pid).writer.length === 1);
    await until(async () => (await paper.ask('/readyz')).text.includes('"ready":true'), paper.output);
    expect(await report(paper, id)).toEqual(end);
  });
});

describe('a headline test on two nodes', () => {
  let cluster: SharedPostgres;
  const papers: Paper[] = [];
  beforeAll(async () => {
    cluster = await sharedPostgres();
    const env = {
      ...settings,
      DATABASE_URL: await cluster.database('without tables'),
      ACCOUNTS_SECRET: 'a secret that both nodes have, long enough',
    };
    const newsroom = await startPaper(env);
    papers.push(newsroom, await startPaper({ ...env, WORDPRESS_URL: newsroom.wordpressUrl }));
  });
  afterAll(async () => {
    await Promise.all(papers.map((paper) => paper.close()));
    await cluster?.removeDatabases();
  });
  const first = (): Paper => papers[0] as Paper;
  const second = (): Paper => papers[1] as Paper;

  it('shows a group the same headline on both, adds up their counts, and ends once', async () => {
    const id = '00000000000000c3';
    const test = testOf(id, ['Second headline', 'Third headline']);
    const webhook = { id: 8, slug: 'story-8' };
    first().edit(8, { headline_test: test });
    // Twice, and on both nodes.
    await Promise.all([...papers, ...papers].map((paper) => paper.deliver(webhook)));
    const shown = async (paper: Paper, group: number) =>
      titleOf((await paper.ask('/section/politics', { headers: { cookie: `headline-group=${group}` } })).text);
    await until(async () => {
      const all = await Promise.all(
        papers.map((paper) => shown(paper, allGroups.find((group) => headlineFor(id, 3, group) === 2) ?? 0)),
      );
      return all.every((title) => title === 'Third headline');
    }, first().output);
    for (const group of allGroups) expect(await shown(first(), group)).toBe(await shown(second(), group));
    const seeing = (headline: number) => allGroups.filter((group) => headlineFor(id, 3, group) === headline);
    for (const paper of papers) await until(() => isKnown(paper, id), paper.output);
    for (let at = 0; at < 60; at++) await read(papers[at % 2] as Paper, seeing(at % 3)[at % 4] ?? 0);
    await until(async () => sum(await report(first(), id)) === 60, first().output);
    expect((await report(second(), id)).readings).toEqual([20, 20, 20]);
    await second().kill('SIGKILL');
    for (let at = 0; at < 240; at++) await read(first(), seeing(2)[at % 4] ?? 0);
    await until(async () => (await report(first(), id)).state === 'won', first().output);
    await second().start();
    await until(async () => (await report(second(), id)).state === 'won', second().output);
    expect(await report(second(), id)).toEqual(await report(first(), id));
    expect((await report(first(), id)).winner).toBe(2);
    // A late webhook, out of order, doesn't change the end.
    await Promise.all(papers.map((paper) => paper.deliver(webhook)));
    expect((await report(first(), id)).winner).toBe(2);
  });
});

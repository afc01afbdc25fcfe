/**
 * `npm run bench:cluster -- [--nodes 4,8] [--edits 25] [--articles 500]`: what a cluster does once. The nodes are processes with a data folder each,
 * on one PostgreSQL and one synthetic WordPress, whose requests are counted. Fails when a bound is broken; the bounds are printed.
 */
import { parseArgs } from 'node:util';
import pg from 'pg';
import { ensureBuilt } from '../scripts/build.ts';
import { type Paper, startPaper, story, until } from '../tests/fixtures/paper.ts';
import { startPostgres } from '../tests/world/postgres.ts';
import { count, ms, percentile, printTable, wholeFlag } from './support/figures.ts';

const bounds = { requests: 1, renders: 1, skewP50: 50, skewP99: 250, freshNode: 60_000 };
const verdict = (holds: boolean): string => (holds ? 'pass' : 'FAIL');

interface Figures {
  readonly nodes: number;
  /** Requests to WordPress for each edit, and renders for each page that it changed; the largest. */
  readonly requests: number;
  readonly renders: number;
  /** Milliseconds between the first and the last node that shows an edit, for each edit. */
  readonly skews: readonly number[];
  /** Milliseconds from the webhook to the last node. */
  readonly whole: readonly number[];
  readonly fresh: { readonly ms: number; readonly requests: number; readonly wrong: number };
}

async function metric(papers: readonly Paper[], name: string): Promise<number> {
  const values = await Promise.all(papers.map((paper) => paper.metric(`broadsheet_${name}`)));
  return values.reduce((sum, value) => sum + value, 0);
}

/** Milliseconds until a node shows the words; it is asked again as soon as it has answered. */
async function shows(paper: Paper, words: string, began: number): Promise<number> {
  for (;;) {
    const { text } = await paper.ask('/article/story-1', { headers: { 'accept-encoding': 'identity' } });
    if (text.includes(words)) return performance.now() - began;
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}

async function measure(nodes: number, edits: number, articles: number): Promise<Figures> {
  const postgres = await startPostgres({ connections: 200 });
  const papers: Paper[] = [];
  const DATABASE_URL = await postgres.database();
  const database = new pg.Client(DATABASE_URL);
  await database.connect();
  const number = async (query: string, values: unknown[] = []): Promise<number> =>
    Number((await database.query<{ n: string }>(query, values)).rows[0]?.n);
  const revision = () => number('select max(revision) as n from content_log');
  /** Pages that the cluster has rendered since a revision, once none is being rendered any more. */
  const renderedSince = async (than: number): Promise<number> => {
    await until(async () => (await number('select count(*) as n from shared_pages where claim is not null')) === 0);
    return number('select count(*) as n from shared_pages where revision > $1', [than]);
  };
  try {
    const env = { DATABASE_URL, PRESS_MEMORY_MB: '32' };
    const first = await startPaper(env, {
      prepare: ({ wordpress }) => {
        for (let id = 100; id < 100 + articles; id++) wordpress.put('articles', story(id));
      },
    });
    papers.push(first);
    const more = { ...env, WORDPRESS_URL: first.wordpressUrl };
    while (papers.length < nodes) papers.push(await startPaper(more));
    for (const paper of papers) {
      await until(async () => (await paper.ask('/readyz?complete')).status === 200, paper.output, 300_000);
      await until(() => paper.output().includes('The important pages are ready'), paper.output, 300_000);
    }
    const { requests } = first.wordpress;
    const [skews, whole, fetched, renders]: [number[], number[], number[], number[]] = [[], [], [], []];
    for (let edit = 0; edit < edits; edit++) {
      const words = `Edit number ${edit} of the bench`;
      const [asked, given] = [requests.length, await metric(papers, 'pages_given_total')];
      first.edit(1, { title: { rendered: words } });
      const [began, before] = [performance.now(), await revision()];
      const seen = papers.map((paper) => shows(paper, words, began));
      const answer = await (papers[edit % nodes] as Paper).deliver();
      if (answer.status !== 200) throw new Error(`The webhook was answered with ${answer.status}: ${answer.text}`);
      const times = await Promise.all(seen);
      skews.push(Math.max(...times) - Math.min(...times));
      whole.push(Math.max(...times));
      await until(async () => (await metric(papers, 'press_queue_length')) === 0);
      fetched.push(requests.length - asked);
      const pages = await renderedSince(before);
      renders.push(((await metric(papers, 'pages_given_total')) - given) / pages);
    }
    const asked = requests.length;
    const began = performance.now();
    const late = await startPaper(more);
    papers.push(late);
    await until(async () => (await late.ask('/readyz?complete')).status === 200, late.output, 300_000);
    const took = performance.now() - began;
    let wrong = 0;
    for (let id = 100; id < 100 + articles; id++) if ((await late.ask(`/article/story-${id}`)).status !== 200) wrong++;
    const fresh = { ms: took, requests: requests.length - asked, wrong };
    return { nodes, requests: Math.max(...fetched), renders: Math.max(...renders), skews, whole, fresh };
  } finally {
    await Promise.all(papers.map((paper) => paper.close()));
    await database.end();
    await postgres.remove();
  }
}

/** @returns the exit code */
export async function run(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      nodes: { type: 'string', default: '4,8' },
      edits: { type: 'string', default: '25' },
      articles: { type: 'string', default: '500' },
    },
  });
  const sizes = values.nodes.split(',').map((text) => wholeFlag('nodes', text, 2));
  const edits = wholeFlag('edits', values.edits, 1);
  const articles = wholeFlag('articles', values.articles, 1);
  await ensureBuilt();
  const rows = [
    [
      'nodes',
      'requests an edit',
      'renders a page',
      'skew p50',
      'p99',
      'to the last p50',
      'new node',
      'its requests',
      'wrong 404',
    ],
  ];
  let good = true;
  for (const size of sizes) {
    const { requests, renders, skews, whole, fresh } = await measure(size, edits, articles);
    const [p50, p99] = [percentile(skews, 0.5), percentile(skews, 0.99)];
    const isOnce = requests <= bounds.requests && renders <= bounds.renders;
    const isFresh = fresh.ms <= bounds.freshNode && fresh.requests === 0 && fresh.wrong === 0;
    good &&= isOnce && isFresh && p50 <= bounds.skewP50 && p99 <= bounds.skewP99;
    rows.push([
      ...[count(size), `${requests} ${verdict(requests <= bounds.requests)}`],
      ...[`${renders.toFixed(2)} ${verdict(renders <= bounds.renders)}`],
      ...[`${ms(p50)} ${verdict(p50 <= bounds.skewP50)}`, `${ms(p99)} ${verdict(p99 <= bounds.skewP99)}`],
      ...[ms(percentile(whole, 0.5)), `${ms(fresh.ms)} ${verdict(isFresh)}`],
      ...[count(fresh.requests), count(fresh.wrong)],
    ]);
  }
  console.log(
    `\n${count(articles)} articles, ${count(edits)} edits of one story, each to another node; milliseconds\n`,
  );
  printTable(rows);
  console.log(
    'requests: of WordPress; skew: from the first node that shows an edit to the last; new node: a node on an empty folder, until /readyz?complete.',
  );
  return good ? 0 : 1;
}

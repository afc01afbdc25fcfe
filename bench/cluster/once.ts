/** What a cluster does once: an edit's request to WordPress, the render of a page, the copy of the archive. */
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { type Paper, until } from '../../tests/fixtures/paper.ts';
import { verdict } from '../support/bounds.ts';
import { count, ms, percentile, printTable } from '../support/figures.ts';
import { startNodes } from './nodes.ts';

const bounds = { requests: 1, renders: 1, purges: 1, skewP50: 50, skewP99: 250, freshNode: 60_000 };

interface Figures {
  /** The most requests to WordPress for one edit, and the most renders of one page that it changed. */
  readonly requests: number;
  readonly renders: number;
  /** Purges of the CDN per edit; an average, because a second purge would come after its edit was counted. */
  readonly purges: number;
  /** Milliseconds between the first and the last node that shows an edit, for each edit. */
  readonly skews: readonly number[];
  /** Milliseconds from the webhook to the last node. */
  readonly whole: readonly number[];
  readonly fresh: { readonly ms: number; readonly requests: number; readonly wrong: number };
  /** The requests that the bounds don't allow, as they were sent. */
  readonly tooMany: readonly string[];
}

/** Milliseconds until a node shows the text; it is requested again two milliseconds after each answer. */
async function shows(paper: Paper, words: string, began: number): Promise<number> {
  for (;;) {
    const { text } = await paper.ask('/article/story-1', { headers: { 'accept-encoding': 'identity' } });
    if (text.includes(words)) return performance.now() - began;
    await pause(2);
  }
}

async function measure(size: number, edits: number, articles: number): Promise<Figures> {
  const nodes = await startNodes(size, articles);
  const { papers, metric, cdn } = nodes;
  const database = new pg.Client(nodes.databaseUrl);
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
    const newsroom = papers[0] as Paper;
    const { requests } = newsroom.wordpress;
    const [skews, whole, fetched, renders]: [number[], number[], number[], number[]] = [[], [], [], []];
    const tooMany: string[] = [];
    // A page that no node has cached yet would be rendered for its first reader as well.
    for (const paper of papers) await paper.ask('/article/story-1');
    const purgedBefore = cdn.purges();
    for (let edit = 0; edit < edits; edit++) {
      const words = `Edit number ${edit} of the bench`;
      const [asked, given, purged] = [requests.length, await metric('pages_given_total'), cdn.purges()];
      newsroom.edit(1, { title: { rendered: words } });
      const [began, before] = [performance.now(), await revision()];
      const seen = papers.map((paper) => shows(paper, words, began));
      const answer = await (papers[edit % size] as Paper).deliver();
      if (answer.status !== 200) throw new Error(`The webhook was answered with ${answer.status}: ${answer.text}`);
      const times = await Promise.all(seen);
      skews.push(Math.max(...times) - Math.min(...times));
      whole.push(Math.max(...times));
      await until(async () => (await metric('press_queue_length')) === 0);
      await until(() => cdn.purges() > purged);
      fetched.push(requests.length - asked);
      if (requests.length - asked > bounds.requests) tooMany.push(...requests.slice(asked));
      const pages = await renderedSince(before);
      renders.push(((await metric('pages_given_total')) - given) / pages);
    }
    const asked = requests.length;
    const began = performance.now();
    const late = await nodes.add();
    await until(async () => (await late.ask('/readyz?complete')).status === 200, late.output, 300_000);
    const took = performance.now() - began;
    const itsOwn = requests.slice(asked);
    let wrong = 0;
    for (let id = 100; id < 100 + articles; id++) if ((await late.ask(`/article/story-${id}`)).status !== 200) wrong++;
    const fresh = { ms: took, requests: itsOwn.length, wrong };
    tooMany.push(...itsOwn);
    const purges = (cdn.purges() - purgedBefore) / edits;
    return { requests: Math.max(...fetched), renders: Math.max(...renders), purges, skews, whole, fresh, tooMany };
  } finally {
    await database.end();
    await nodes.close();
  }
}

/** @returns whether every bound holds */
export async function runOnce(sizes: readonly number[], edits: number, articles: number): Promise<boolean> {
  const head = ['nodes', 'requests an edit', 'renders a page', 'purges an edit', 'skew p50', 'p99'];
  const rows = [[...head, 'to the last p50', 'new node', 'its requests', 'wrong 404']];
  let good = true;
  const notes: string[] = [];
  for (const size of sizes) {
    const { requests, renders, purges, skews, whole, fresh, tooMany } = await measure(size, edits, articles);
    const [p50, p99] = [percentile(skews, 0.5), percentile(skews, 0.99)];
    const isOnce = requests <= bounds.requests && renders <= bounds.renders && purges <= bounds.purges;
    const isFresh = fresh.ms <= bounds.freshNode && fresh.requests === 0 && fresh.wrong === 0;
    good &&= isOnce && isFresh && p50 <= bounds.skewP50 && p99 <= bounds.skewP99;
    for (const request of tooMany) notes.push(`${size} nodes: ${request}`);
    rows.push([
      ...[count(size), `${requests} ${verdict(requests <= bounds.requests)}`],
      ...[`${renders.toFixed(2)} ${verdict(renders <= bounds.renders)}`],
      `${purges.toFixed(2)} ${verdict(purges <= bounds.purges)}`,
      ...[`${ms(p50)} ${verdict(p50 <= bounds.skewP50)}`, `${ms(p99)} ${verdict(p99 <= bounds.skewP99)}`],
      ...[ms(percentile(whole, 0.5)), `${ms(fresh.ms)} ${verdict(isFresh)}`],
      ...[count(fresh.requests), count(fresh.wrong)],
    ]);
  }
  console.log(
    `\nonce: ${count(articles)} articles, ${count(edits)} edits of one story, each to another node; milliseconds\n`,
  );
  printTable(rows);
  console.log(
    'requests: of WordPress; skew: from the first node that shows an edit to the last; new node: a node on an empty folder, until /readyz?complete.',
  );
  for (const note of notes.slice(0, 40)) console.log(`  a request too many: ${note}`);
  return good;
}

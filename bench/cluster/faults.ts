/** A cluster under faults and load: nodes that are killed, a PostgreSQL that is down, releases. Readers and webhooks go through a proxy. */
import { setTimeout as pause } from 'node:timers/promises';
import { type Paper, until } from '../../tests/fixtures/paper.ts';
import { type Figure, none, printFigures } from '../support/bounds.ts';
import { ms, percentile } from '../support/figures.ts';
import { type Editors, missingEdits, type Readers, startEditors, startReaders } from './load.ts';
import { type Nodes, settled, startNodes } from './nodes.ts';
import { type LoadBalancer, startProxy } from './proxy.ts';
import { secondBuild } from './second-build.ts';

const articles = 60;
const everyMs = 400;
const edited = [1, 2, 3, 4, 5, 6, 7, 8];
const withdrawable = Array.from({ length: 40 }, (_, at) => 100 + at);
const lists = ['/', '/latest', '/section/politics', '/about', '/pricing'];
const stories = [...edited, 10, ...Array.from({ length: 15 }, (_, at) => 145 + at)];
const paths = [...lists, ...stories.map((id) => `/article/story-${id}`)];

interface Scene extends Nodes {
  readonly proxy: LoadBalancer;
  readonly readers: Readers;
  readonly editors: Editors;
}

interface Part {
  readonly title: string;
  readonly size: number;
  readonly withAssets?: boolean;
  /** What happens under load. @returns further figures */
  happens(scene: Scene): Promise<Figure[]>;
}

/** @returns whether every bound holds */
async function underLoad({ title, size, withAssets = false, happens }: Part): Promise<boolean> {
  const nodes = await startNodes(size, articles);
  const proxy = await startProxy(nodes.papers);
  const [newsroom] = nodes.papers as [Paper];
  // Every page is cached before the first fault.
  for (const paper of nodes.papers) for (const path of paths) await paper.ask(path);
  const editors = startEditors({ newsroom, port: proxy.port, everyMs, edited, withdrawable });
  const readers = startReaders({ port: proxy.port, paths, withAssets, withdrawn: editors.withdrawn });
  try {
    await pause(1000);
    const more = await happens({ ...nodes, proxy, readers, editors });
    const unanswered = await editors.stop();
    await readers.stop();
    const missing = await missingEdits(nodes.papers, editors);
    const { counts, failures } = readers;
    const figures = [
      none('failed requests', failures.length),
      none('webhooks without a 200 in five minutes', unanswered),
      none('edits and withdrawals that a node lacks', missing.length),
      ...more,
    ];
    const notes = [
      `${counts.pages} pages, ${counts.assets} scripts and styles, ${counts.withdrawn} withdrawn stories asked for; the proxy asked a second node ${proxy.counts.retried} times`,
      `${editors.counts.edits} edits, ${editors.counts.sends} webhooks sent; to the 200: p50 ${ms(percentile(editors.times, 0.5))}, longest ${ms(Math.max(...editors.times))} ms`,
      ...failures,
      ...missing,
    ];
    return printFigures(title, figures, notes);
  } finally {
    await editors.stop();
    await readers.stop();
    proxy.close();
    await nodes.close();
  }
}

async function holderOf(papers: readonly Paper[]): Promise<number> {
  let found = -1;
  await until(async () => {
    const leads = await Promise.all(papers.map((paper) => paper.metric('broadsheet_cluster_leads').catch(() => 0)));
    found = leads.indexOf(1);
    return found >= 0;
  });
  return found;
}

/** `kill -9` of one node after the other; every second one is the node that holds the lease. */
export const runKills = (size: number, kills: number): Promise<boolean> =>
  underLoad({
    title: `kills: ${kills} × kill -9 of one of ${size} nodes, every second one the holder of the lease`,
    size,
    async happens({ papers }) {
      const takeovers: number[] = [];
      for (let kill = 0; kill < kills; kill++) {
        await pause(Math.random() * 1500);
        const holder = await holderOf(papers);
        const isHolder = kill % 2 === 0;
        const killed = papers[isHolder ? holder : (holder + 1 + (kill % (size - 1))) % size] as Paper;
        await killed.kill('SIGKILL');
        const began = performance.now();
        const left = papers.filter((paper) => paper !== killed);
        await holderOf(left);
        if (isHolder) takeovers.push(performance.now() - began);
        await pause(1000);
        await killed.start();
      }
      const longest = Math.max(...takeovers);
      return [{ what: 'longest ms without a holder', value: ms(longest), bound: '5000', holds: longest <= 5000 }];
    },
  });

/** PostgreSQL stops and comes back. */
export const runOutage = (size: number, seconds: number): Promise<boolean> =>
  underLoad({
    title: `outage: PostgreSQL is away for ${seconds} s, ${size} nodes`,
    size,
    async happens({ papers, postgres, editors }) {
      await pause(2000);
      await postgres.stop();
      await pause(seconds * 1000);
      const began = performance.now();
      await postgres.start();
      // The edits made during the outage arrive all at once, and each causes renders.
      const bound = 5000 + 250 * editors.open();
      const edits = editors.answered().then(() => performance.now() - began);
      for (const paper of papers)
        await until(async () => (await paper.ask('/readyz')).status === 200, paper.output, 60_000);
      const ready = performance.now() - began;
      const answered = await edits;
      return [
        { what: 'ms until all nodes are ready again', value: ms(ready), bound: '10000', holds: ready <= 10_000 },
        { what: 'ms until every edit is answered', value: ms(answered), bound: ms(bound), holds: answered <= bound },
      ];
    },
  });

/** Releases: each node in turn is stopped in order and started from the other build. */
export const runDeploys = async (size: number, deploys: number): Promise<boolean> => {
  const other = await secondBuild();
  return underLoad({
    title: `deploy: ${deploys} releases of ${size} nodes, one node after the other; each page's scripts and styles are fetched`,
    size,
    withAssets: true,
    async happens({ papers, metric }) {
      const stops: number[] = [];
      for (let deploy = 0; deploy < deploys; deploy++) {
        for (const paper of papers) {
          const began = performance.now();
          await paper.kill('SIGTERM');
          stops.push(performance.now() - began);
          await paper.start(deploy % 2 === 0 ? { root: other } : {});
        }
        for (const paper of papers) await settled(paper);
      }
      const [given, taken] = [await metric('pages_given_total'), await metric('pages_taken_total')];
      const longest = Math.max(...stops);
      return [
        { what: 'longest ms of a stop', value: ms(longest), bound: '15000', holds: longest <= 15_000 },
        {
          what: 'pages that the last build took from other nodes',
          value: String(taken),
          bound: '> 0',
          holds: taken > 0,
        },
        { what: 'pages that it rendered', value: String(given), bound: '> 0', holds: given > 0 },
      ];
    },
  });
};

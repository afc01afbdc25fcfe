/** The nodes of a bench: processes with a data folder each, on one PostgreSQL and one WordPress in the bench's own process. */
import { operatorToken, type Paper, startPaper, story, until } from '../../tests/fixtures/paper.ts';
import { type Cluster, startPostgres } from '../../tests/world/postgres.ts';
import { type CountedCdn, startCdn } from './cdn.ts';

export interface Nodes {
  readonly postgres: Cluster;
  readonly databaseUrl: string;
  readonly cdn: CountedCdn;
  /** The first came with WordPress. */
  readonly papers: readonly Paper[];
  /** Starts one more node, on an empty folder. */
  add(): Promise<Paper>;
  /** The sum of a metric over all nodes. */
  metric(name: string): Promise<number>;
  close(): Promise<void>;
}

/** Starts nodes on a PostgreSQL with its default of 100 connections and a WordPress with this many stories from number 100 on; their pages are rendered when it resolves. */
export async function startNodes(size: number, articles: number): Promise<Nodes> {
  const postgres = await startPostgres({ connections: 100 });
  const cdn = await startCdn();
  const papers: Paper[] = [];
  const close = async (): Promise<void> => {
    await Promise.all(papers.map((paper) => paper.close()));
    await postgres.remove();
    cdn.close();
  };
  try {
    const databaseUrl = await postgres.database();
    const env: Record<string, string> = { DATABASE_URL: databaseUrl, PRESS_MEMORY_MB: '32', ...cdn.env };
    const add = async (): Promise<Paper> => {
      const [first] = papers;
      const paper = await startPaper(first ? { ...env, WORDPRESS_URL: first.wordpressUrl } : env, {
        prepare: ({ wordpress }) => {
          for (let id = 100; id < 100 + articles && !first; id++) wordpress.put('articles', story(id));
        },
      });
      papers.push(paper);
      return paper;
    };
    while (papers.length < size) await add();
    for (const paper of papers) await settled(paper);
    const [newsroom] = papers;
    if (newsroom) await quiet(newsroom);
    const metric = async (name: string): Promise<number> => {
      const values = await Promise.all(papers.map((paper) => paper.metric(`broadsheet_${name}`)));
      return values.reduce((sum, value) => sum + value, 0);
    };
    return { postgres, databaseUrl, cdn, papers, add, metric, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Milliseconds allowed for the first copy of the archive, which isn't measured: 50,000 articles take minutes. */
const fillMs = 1_200_000;

/**
 * Waits until the node is in sync with WordPress and has requested nothing for two seconds: after its copy of the archive it polls once and
 * compares some pages of ids, and the next poll comes an hour later. Any later request belongs to the edit or the node that is measured.
 */
async function quiet(paper: Paper): Promise<void> {
  const { requests } = paper.wordpress;
  const headers = { authorization: `Bearer ${operatorToken}` };
  await until(async () => (await paper.ask('/-/press', { headers })).text.includes('In sync'), paper.output, fillMs);
  let [seen, since] = [-1, 0];
  await until(
    async () => {
      if (requests.length !== seen) [seen, since] = [requests.length, performance.now()];
      return performance.now() - since > 2000;
    },
    paper.output,
    fillMs,
  );
}

/** Waits until the node has all content and has rendered its important pages. */
export async function settled(paper: Paper): Promise<void> {
  await until(async () => (await paper.ask('/readyz?complete')).status === 200, paper.output, fillMs);
  await until(() => paper.output().includes('The important pages are ready'), paper.output, fillMs);
}

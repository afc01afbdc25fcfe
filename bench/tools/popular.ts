/** Part of `npm run bench:tools`: how many readings a second are counted through HTTP, and that each of them is written. */
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { count, ms, printTable } from '../support/figures.ts';
import { asker } from '../support/http.ts';
import { type Rate, rate, startPaper } from './paper.ts';

const seconds = 5;
const callers = 32;
const perSection = 100;
const articles = 10 * perSection;
const firstId = 1001;

/** A different reader for each turn. */
const reader = (turn: number): string => `10.${(turn >> 16) & 255}.${(turn >> 8) & 255}.${turn & 255}`;

function written(folder: string): { articles: number; readings: number } {
  const database = new DatabaseSync(join(folder, 'accounts.sqlite'), { readOnly: true });
  const row = database.prepare('SELECT count(*) AS articles, sum(total) AS readings FROM popularity').get();
  database.close();
  return { articles: Number(row?.articles), readings: Number(row?.readings) };
}

/** @returns whether everything that was counted was written */
export async function benchPopular(): Promise<boolean> {
  const paper = await startPaper({ perSection });
  const { ask, close } = asker(paper.port, callers);
  const from = (turn: number) => ({ 'x-forwarded-for': reader(turn), origin: 'https://paper.example' });
  const increment = (article: number, headers: Record<string, string>) =>
    ask(`/api/v1/articles/popular/increment/${article}?categoryId=1`, { method: 'POST', headers });
  try {
    let counted = 0;
    const many = await rate(callers, seconds, async (turn) => {
      // Some are read by many, most by few.
      const article = firstId + Math.floor(articles * ((turn * 0.618_034) % 1) ** 3);
      const { status } = await increment(article, from(turn));
      if (status !== 200) throw new Error(`An increment was answered ${status}.`);
      counted++;
    });
    let turnedAway = 0;
    const flood = await rate(callers, seconds, async () => {
      const { status } = await increment(firstId, from(16_000_000));
      if (status === 429) turnedAway++;
    });
    const list = await rate(callers, seconds, async (turn) => {
      const { status } = await ask(`/api/v1/articles/popular/list?limit=10${turn % 2 ? '&section=opinion' : ''}`);
      if (status !== 200) throw new Error(`The list was answered ${status}.`);
    });
    await paper.stop();
    const rows = written(paper.folder);
    // A reader who sends a flood of readings counts once.
    const exact = rows.readings === counted + 1;
    const line = (name: string, { calls, perSecond, p50, p99 }: Rate) => [
      ...[name, count(calls), count(Math.round(perSecond)), ms(p50), ms(p99)],
    ];
    console.log(`\nPopularity through HTTP, ${callers} callers, ${count(articles)} articles, SQLite`);
    printTable([
      ['', 'calls', 'calls/s', 'p50 ms', 'p99 ms'],
      line('readings, each of another reader', many),
      line(`one reader’s flood (${count(turnedAway)} turned away)`, flood),
      line('lists of ten, of the site and of a section', list),
    ]);
    console.log(
      `${count(rows.readings)} readings of ${count(rows.articles)} articles are written: ${exact ? 'all of them' : `${count(counted + 1)} were counted, FAIL`}`,
    );
    return exact;
  } finally {
    close();
    await paper.remove();
  }
}

/**
 * `kill -9` of the whole site at random moments, while stories are published and read: fifty in `npm run prove`. `FAULT_SEED=n`
 * repeats the same moments, as closely as processes can; `FAULT_ROUNDS=n` makes it shorter or longer.
 *
 * What it can't show is a power loss: here the kernel keeps what the killed process wrote. After a power loss the last moments
 * may be missing, and the next poll of WordPress fetches their content again.
 */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, expect, it } from 'vitest';
import { randomNumbers } from '../../sandbox/random.ts';
import { type Paper, startPaper, until } from '../fixtures/paper.ts';
import { restError } from '../fixtures/wordpress.ts';
import { runs, seedFrom } from '../world/runs.ts';
import { lists, openNewsroom } from './fixtures/newsroom.ts';
import { CutOff, openReader } from './fixtures/whole.ts';

const rounds = Number(process.env.FAULT_ROUNDS ?? runs(4, 50));
const seed = seedFrom('FAULT_SEED');
const stories = [1, 2, 3, 4, 5, 6, 7, 8, 10];
const withdrawing = 10;
const pages = [...lists, ...stories.map((id) => `/article/story-${id}`)];
/** Pages that show the whole withdrawn story leave the store with it, and are missing until they have been rendered again. */
const mayBeGone = new Set([`/article/story-${withdrawing}`, '/rss.xml']);
const encodings = ['br', 'gzip', 'identity'] as const;

let paper: Paper;
afterEach(async () => {
  await paper?.close();
});

/** Messages that a site which starts from sound files never logs. */
const repairs = /damaged|set aside|(?:begun|created) anew|checksum|could(?: not|n't) be rendered|rolled back/;

it(`${rounds} kills at random moments under load tear no page and lose no publish (seed ${seed})`, async () => {
  const random = randomNumbers(seed);
  const any = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)] as T;
  paper = await startPaper();
  const newsroom = openNewsroom(paper, withdrawing);
  const reader = openReader();
  await until(() => paper.output().includes('The important pages are ready'), paper.output);
  for (const id of stories) await newsroom.publish(id);
  // Not every page is rendered ahead; from here on each of them is stored.
  for (const path of pages) await reader.read(paper.port(), path, 'gzip');
  // One normal stop: it leaves the compiled modules behind, which makes every start after it twice as fast.
  await paper.kill('SIGTERM');
  // From here on lists fail: a look into WordPress must not replace what a crash loses.
  paper.wordpress.intercept = (request) =>
    /^\/wp-json\/wp\/v2\/[a-z]+$/.test(new URL(request.url).pathname) ? restError(503, 'busy') : null;
  await paper.start();

  /** Changes with every kill and every start; requests begun before may be cut off. */
  let life = 1;
  let alive = true;
  let finished = false;
  const read = async (path: string, encoding = any(encodings)) => {
    const since = newsroom.mark();
    const answer = await reader.read(paper.port(), path, encoding);
    newsroom.check(path, answer, since);
    return answer;
  };
  /** Runs until the end, across crashes; an error while the site is up fails the test. */
  const loop = async (turn: () => Promise<unknown>): Promise<void> => {
    while (!finished) {
      if (!alive) {
        await pause(2);
        continue;
      }
      const mine = life;
      try {
        await turn();
      } catch (error) {
        const reset = error instanceof CutOff || /^(?:ECONN|EPIPE)/.test(String((error as { code?: string }).code));
        if (!reset || mine === life) throw error;
      }
    }
  };
  const desks = [0, 1, 2].map((desk) => stories.filter((_, at) => at % 3 === desk));
  const load = Promise.all([
    ...desks.map((desk) => loop(() => newsroom.publish(any(desk)))),
    // Readers pause now and then, because they share two cores with the site.
    ...[1, 2, 3, 4].map(() => loop(() => read(any(pages)).then(() => pause(1)))),
  ]);
  // An error anywhere ends the rounds at once.
  const failed = load.then(() => Promise.reject(new Error('The load ended before the rounds.')));
  failed.catch(() => {});
  const orFailed = <T>(work: Promise<T>): Promise<T> => Promise.race([work, failed]);

  let midPublish = 0;
  const kill = async (): Promise<void> => {
    life++;
    alive = false;
    if (newsroom.underWay > 0) midPublish++;
    await paper.kill();
  };
  let midStart = 0;
  try {
    for (let round = 0; round < rounds; round++) {
      const published = newsroom.acknowledged;
      await orFailed(until(() => newsroom.acknowledged > published, paper.output));
      await orFailed(pause(random() * 150));
      await kill();
      if (random() < 0.2) {
        // Killed once more, during its start.
        midStart++;
        const starting = paper.start();
        starting.catch(() => {});
        await pause(random() * 600);
        await paper.kill();
        await starting.catch(() => {});
      }
      await paper.start();
      expect(paper.output(), `round ${round}`).not.toMatch(repairs);
      // Nothing has been delivered again yet: these are the pages that the crash left.
      for (const path of pages) {
        const { headers } = await read(path);
        const stored = headers['server-timing'] === 'press;desc="hit"';
        if (!mayBeGone.has(path)) expect(stored, `${path} in round ${round}`).toBe(true);
      }
      life++;
      alive = true;
    }
  } finally {
    finished = true;
    alive = true;
  }
  await load;
  for (const id of stories) if (!newsroom.settled(id)) await newsroom.publish(id);
  for (const path of pages) for (const encoding of encodings) await read(path, encoding);
  await paper.kill('SIGTERM');
  reader.close();

  const files = readdirSync(paper.folder, { recursive: true, encoding: 'utf8' });
  expect(files.filter((name) => name.includes('damaged'))).toEqual([]);
  for (const name of files.filter((file) => file.endsWith('.sqlite'))) {
    const db = new DatabaseSync(join(paper.folder, name), { readOnly: true });
    expect(db.prepare('PRAGMA integrity_check').all(), name).toEqual([{ integrity_check: 'ok' }]);
    db.close();
  }
  const { whole, notModified, cutOff } = reader.counts;
  console.log(
    `${rounds} kills, ${midPublish} with a webhook under way, and ${midStart} more during a start (FAULT_SEED=${seed}): ` +
      `${newsroom.acknowledged} publishes acknowledged, ${whole} whole answers, ${notModified} times 304, ${cutOff} cut off`,
  );
  // Otherwise the load was too small.
  expect(midPublish).toBeGreaterThan(rounds < 20 ? 0 : rounds / 2);
}, 600_000);

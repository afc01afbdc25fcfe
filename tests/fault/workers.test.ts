/** `WORKERS`: one process that renders and others that serve, behind one port, on SQLite. */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Answer, compileCache, type Paper, siteUrl, startPaper, until } from '../fixtures/paper.ts';
import { firstOf, workersOf } from '../fixtures/workers.ts';

const count = 3;
let paper: Paper;

beforeAll(async () => {
  paper = await startPaper({ WORKERS: String(count) });
  await until(() => paper.output().includes('The important pages are ready'), paper.output);
  await allServe();
});
afterAll(() => paper?.close());

const workers = () => workersOf(paper.site()?.pid);

/** Waits until there is every serving worker, and each of them listens. */
const allServe = (): Promise<void> =>
  until(() => {
    const { serving } = workers();
    const listens = (pid: number) => paper.output().includes(`"worker":${pid},"msg":"A worker serves cached pages"`);
    return serving.length === count - 1 && serving.every(listens);
  }, paper.output);

/** Requests over separate connections, which the supervisor spreads over the workers. */
const askAll = (path: string, times = 3 * count): Promise<Answer[]> =>
  Promise.all(Array.from({ length: times }, () => paper.ask(path, { headers: { connection: 'close' } })));

const statuses = (answers: readonly Answer[]): number[] => [...new Set(answers.map(({ status }) => status))];

/** Cached pages served so far. A scrape repeats a slow worker's last answer after a second, so it waits for two that agree. */
async function hits(): Promise<number> {
  let last = Number.NaN;
  for (;;) {
    const next = await paper.metric('broadsheet_page_hits_total');
    if (next === last) return next;
    last = next;
  }
}

it('every worker serves cached pages, and one metric counts the hits of all', async () => {
  await askAll('/article/story-1');
  const before = await hits();
  const answers = await askAll('/article/story-1', 12);
  expect(statuses(answers)).toEqual([200]);
  expect(new Set(answers.map(({ headers }) => headers['server-timing']))).toEqual(new Set(['press;desc="hit"']));
  expect((await hits()) - before).toBe(12);
});

/** Request headers of a browser that has the shared dictionary. */
async function withDictionary(): Promise<Record<string, string>> {
  const { headers } = await paper.ask('/article/story-1');
  const path = /<([^>]+)>; rel="compression-dictionary"/.exec(String(headers.link))?.[1] ?? '';
  const { text } = await paper.ask(path);
  const available = `:${createHash('sha256').update(text).digest('base64')}:`;
  return { connection: 'close', 'accept-encoding': 'br, dcb, dcz', 'available-dictionary': available };
}

it('every worker compresses pages with the shared dictionary', async () => {
  const asked = await withDictionary();
  const askEach = () =>
    Promise.all(Array.from({ length: 12 }, () => paper.ask('/article/story-1', { headers: asked })));
  let answers: Awaited<ReturnType<typeof askEach>> = [];
  // A worker sends the first responses with brotli if its compression thread starts slowly.
  await expect
    .poll(async () => {
      answers = await askEach();
      return [...new Set(answers.map((answer) => answer.headers['content-encoding']))];
    })
    .toEqual(['dcb']);
  expect(new Set(answers.map((answer) => answer.headers.etag)).size).toBe(1);
});

it('every worker answers requests that only the writer can answer', async () => {
  expect(statuses(await askAll('/readyz'))).toEqual([200]);
  expect(statuses(await askAll('/article/no-such-story'))).toEqual([404]);
  expect(statuses(await askAll('/Article/Story-1'))).toEqual([301]);
  const forged = Array.from({ length: 6 }, () => paper.deliver({}, { secret: 'another plugin’s' }));
  expect(statuses(await Promise.all(forged))).toEqual([401]);
});

it('every worker shows a change once the webhook is answered', async () => {
  for (let edit = 0; edit < 5; edit++) {
    await askAll('/article/story-1');
    paper.edit(1, { title: { rendered: `Changed on all, ${edit}` } });
    expect((await paper.deliver()).status).toBe(200);
    for (const { text } of await askAll('/article/story-1')) expect(text).toContain(`Changed on all, ${edit}`);
    for (const { text } of await askAll('/')) expect(text).toContain(`Changed on all, ${edit}`);
  }
});

it('every worker answers 410 for a withdrawn story once the webhook is answered', async () => {
  await askAll('/article/story-2');
  paper.edit(2, { status: 'draft' });
  const hook = { event: 'unpublish', id: 2, slug: 'story-2', status: 'draft' };
  expect((await paper.deliver(hook)).status).toBe(200);
  expect(statuses(await askAll('/article/story-2'))).toEqual([410]);
});

it('a frozen worker is ended before the webhook of a withdrawal is answered', async () => {
  await askAll('/article/story-3');
  const stopped = firstOf(workers().serving);
  process.kill(stopped, 'SIGSTOP');
  paper.edit(3, { status: 'draft' });
  const hook = { event: 'unpublish', id: 3, slug: 'story-3', status: 'draft' };
  expect((await paper.deliver(hook)).status).toBe(200);
  expect(workers().serving).not.toContain(stopped);
  await allServe();
  await until(async () => statuses(await askAll('/article/story-3')).join() === '410', paper.output);
});

it('connections given to a briefly frozen worker are answered', async () => {
  const stopped = firstOf(workers().serving);
  process.kill(stopped, 'SIGSTOP');
  const began = performance.now();
  const answers = askAll('/article/story-1', 6);
  // Longer than a worker may take to accept a connection, and shorter than the supervisor waits before it gives the connection
  // to another worker.
  await until(() => performance.now() - began > 1650);
  process.kill(stopped, 'SIGCONT');
  expect(statuses(await answers)).toEqual([200]);
});

it('when a serving worker is killed, the others answer and a new one is started', async () => {
  const before = await hits();
  const killed = firstOf(workers().serving);
  process.kill(killed, 'SIGKILL');
  await until(() => !workers().serving.includes(killed));
  expect(statuses(await askAll('/article/story-1', 20))).toEqual([200]);
  // Prometheus would take a smaller number for a restart from zero.
  expect(await hits()).toBeGreaterThanOrEqual(before + 20);
  await allServe();
  expect(statuses(await askAll('/article/story-1', 20))).toEqual([200]);
});

it('while the writer restarts, workers serve cached pages and other requests wait for it', async () => {
  const asked = await withDictionary();
  await askAll('/article/story-4');
  const before = await hits();
  const killed = firstOf(workers().writer);
  process.kill(killed, 'SIGKILL');
  const next = () => workers().writer.find((pid) => pid !== killed);
  await until(() => next() !== undefined, paper.output);
  const started = Number(next());
  // A cached page that needed the writer would not be answered while it stands still.
  process.kill(started, 'SIGSTOP');
  let rest: Promise<Answer[]>;
  try {
    rest = askAll('/search?q=story', 4);
    const pages = Array.from({ length: 6 }, () => paper.ask('/article/story-4', { headers: asked }));
    expect(statuses(await Promise.all(pages))).toEqual([200]);
    expect(statuses(await askAll('/article/story-1', 20))).toEqual([200]);
  } finally {
    process.kill(started, 'SIGCONT');
  }
  expect(statuses(await rest)).toEqual([200]);
  expect(workers().writer).toEqual([started]);
  paper.edit(1, { title: { rendered: 'After the writer' } });
  expect((await paper.deliver()).status).toBe(200);
  for (const { text } of await askAll('/article/story-1')) expect(text).toContain('After the writer');
  expect(await hits()).toBeGreaterThanOrEqual(before + 20);
});

it('a second site that is started on the same DATA_DIR exits, and the first keeps working', async () => {
  const { folder, wordpressUrl } = paper;
  const env = { PATH: process.env.PATH, NODE_ENV: 'production', PORT: '0', WORKERS: '2', DATA_DIR: folder };
  const other = spawn(process.execPath, ['src/server/main.ts'], {
    env: Object.assign(env, { SITE_URL: siteUrl, WORDPRESS_URL: wordpressUrl, NODE_COMPILE_CACHE: compileCache }),
    stdio: ['ignore', 'inherit', 'pipe'],
  });
  let errors = '';
  other.stderr.on('data', (data) => {
    errors += data;
  });
  expect(await once(other, 'close')).toEqual([1, null]);
  expect(errors).toContain(`DATA_DIR is ${folder}, which another process of the site serves. Give each a folder`);
  // Its successor has no connection to the writer yet.
  const killed = firstOf(workers().serving);
  process.kill(killed, 'SIGKILL');
  await until(() => !workers().serving.includes(killed));
  await allServe();
  expect(statuses(await askAll('/readyz'))).toEqual([200]);
});

it('on SIGTERM, open connections are answered, new ones are refused, and every process ends', async () => {
  const failures: NodeJS.ErrnoException[] = [];
  let stopping = false;
  const readers = Array.from({ length: 6 }, async (_, at) => {
    while (!stopping) {
      await paper
        .ask(at % 2 === 0 ? '/article/story-1' : '/search?q=story')
        .catch((error: NodeJS.ErrnoException) => failures.push(error));
    }
  });
  await askAll('/article/story-1');
  const all = workers();
  const ended = paper.kill('SIGTERM');
  await until(() => workers().serving.length === 0);
  stopping = true;
  await ended;
  await Promise.all(readers);
  expect(failures.filter(({ code }) => code !== 'ECONNREFUSED')).toEqual([]);
  for (const pid of [...all.writer, ...all.serving]) expect(() => process.kill(pid, 0)).toThrow();
});

it('on SIGTERM, every process ends within 30 seconds even if a serving worker is frozen', async () => {
  await paper.start();
  await allServe();
  const { serving, writer } = workers();
  process.kill(firstOf(serving), 'SIGSTOP');
  try {
    const began = performance.now();
    await paper.kill('SIGTERM');
    expect(performance.now() - began).toBeLessThan(30_000);
    expect(paper.output()).toContain('Stopping');
    for (const pid of [...writer, ...serving]) expect(() => process.kill(pid, 0)).toThrow();
  } finally {
    for (const pid of serving) {
      try {
        process.kill(pid, 'SIGCONT');
      } catch {
        // It has ended.
      }
    }
  }
});

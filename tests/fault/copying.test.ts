/** The built site on an empty data folder, with a WordPress that serves its archive slowly: nothing that exists answers 404. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Paper, startPaper, story, until } from '../fixtures/paper.ts';

const stories = 300;
let paper: Paper;
/** Delays the older part of every list. */
const gate = Promise.withResolvers<void>();
let lookUps = 0;
let mostLookUps = 0;

function holdUpOldStories({ wordpress }: Paper): void {
  for (let id = 11; id <= stories; id++) wordpress.put('articles', story(id));
  wordpress.intercept = async (request) => {
    const { searchParams } = new URL(request.url);
    if (searchParams.has('after_key')) await gate.promise;
    if (searchParams.has('slug')) {
      mostLookUps = Math.max(mostLookUps, ++lookUps);
      await new Promise((resolve) => setTimeout(resolve, 50));
      lookUps--;
    }
    return null;
  };
}

beforeAll(async () => {
  paper = await startPaper({}, { prepare: holdUpOldStories });
});
afterAll(async () => {
  gate.resolve();
  await paper.close();
});

const status = async (path: string): Promise<number> => (await paper.ask(path)).status;

it('while the archive is being copied, every story is served, and incomplete lists answer 503', async () => {
  expect(await status('/article/story-300')).toBe(200);
  const old = await paper.ask('/article/story-2');
  expect(old.status).toBe(200);
  expect(old.text).toContain('ENDING-2');

  const { status: ready, text } = await paper.ask('/readyz');
  expect(ready).toBe(200);
  expect(JSON.parse(text)).toMatchObject({ ready: true, complete: false, sync: { phase: 'backfill' } });
  expect(await status('/readyz?complete')).toBe(503);

  for (const path of ['/latest?page=20', '/section/politics?page=30', '/sitemap.xml', '/sitemaps/articles-1.xml']) {
    const answer = await paper.ask(path);
    expect(answer.status, path).toBe(503);
    expect(Number(answer.headers['retry-after']), path).toBeGreaterThan(0);
    expect(answer.headers['cache-control'], path).toBe('no-store');
  }
});

it('many requests for an uncopied story cost one lookup in WordPress, and an unknown story answers 404', async () => {
  const before = paper.wordpress.requests.length;
  const answers = await Promise.all(
    Array.from({ length: 24 }, (_, at) => status(at < 12 ? '/article/story-5' : '/article/none-of-ours')),
  );
  expect(new Set(answers.slice(0, 12))).toEqual(new Set([200]));
  expect(new Set(answers.slice(12))).toEqual(new Set([404]));
  const asked = paper.wordpress.requests.slice(before).filter((request) => request.includes('slug='));
  expect(asked).toHaveLength(2);
  expect(mostLookUps).toBeLessThanOrEqual(2);
});

it('an uncopied story answers 503 with Retry-After while WordPress fails, and 200 once it recovers', async () => {
  const { intercept } = paper.wordpress;
  paper.wordpress.intercept = (request) =>
    request.url.includes('slug=') ? new Response('busy', { status: 500 }) : (intercept?.(request) ?? null);
  const answer = await paper.ask('/article/story-7');
  expect(answer.status).toBe(503);
  expect(answer.headers['retry-after']).toBeDefined();
  expect(answer.text).toContain('still fetching this page');
  paper.wordpress.intercept = intercept;
  await until(async () => (await status('/article/story-7')) === 200);
});

it('when the copy is complete, lists are served and unknown addresses answer 404', async () => {
  gate.resolve();
  await until(async () => (await status('/readyz?complete')) === 200, paper.output);
  expect(JSON.parse((await paper.ask('/readyz')).text)).toMatchObject({ ready: true, complete: true });
  expect(await status('/latest?page=20')).toBe(200);
  expect(await status('/latest?page=9999')).toBe(404);
  expect(await status('/article/none-of-ours')).toBe(404);
  expect((await paper.ask('/sitemaps/articles-1.xml')).text).toContain('/article/story-1<');
});

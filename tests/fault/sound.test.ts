/**
 * Recordings on the built site: a series with late webhooks, `kill -9` and a WordPress that is down; paid recordings stay closed.
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createAccessCookie } from '../../src/press/delivery/access-cookie.ts';
import { accessKey, type Paper, startPaper, until } from '../fixtures/paper.ts';
import { type Json, wirePost } from '../fixtures/wordpress.ts';

const bytes = 'RIFF-a-recording';
const feed = '/podcast/how-it-works/rss.xml';
const cookies = createAccessCookie({ name: 'access', keys: [accessKey] });
const cookie = `access=${cookies.sign('subscriber', Math.floor(Date.now() / 1000) + 3600)}`;
let paper: Paper;
/** Whether the files of recordings are available; `stalled`: WordPress sends half of a file and then nothing. */
let files: 'available' | 'stalled' | 'unavailable' = 'available';

const sound = (id: number, title = `Episode ${id}`): Json => ({
  sound: {
    audio: {
      url: `${paper.wordpressUrl}/files/recording-${id}.mp3`,
      type: 'audio/mpeg',
      bytes: bytes.length,
      seconds: 60,
    },
    title,
    chapters: [{ start: 0, title: `Chapter-of-${id}` }],
    transcript: '',
    series: 900,
  },
});
/** The first half of the recording, in a stream that stays open. */
const halfOfIt = () =>
  new ReadableStream({ start: (stream) => stream.enqueue(new TextEncoder().encode(bytes.slice(0, bytes.length / 2))) });
const series = (part: Json = {}) => ({
  ...wirePost({ id: 900, slug: 'how-it-works', title: { rendered: 'How It Works' }, ...part }),
  series: { access: 'everyone', category: ['News'] },
  id: 900,
});
/** Titles of the episodes in the feed, sorted. */
const episodes = async (): Promise<string[]> =>
  [...(await paper.ask(feed)).text.matchAll(/<item>[\s\S]*?<title>([^<]*)<\/title>/g)]
    .map(([, title]) => title ?? '')
    .sort();
const have = (...titles: string[]) => until(async () => (await episodes()).join() === titles.join(), paper.output);
const hook = (event: string, id: number) => ({ event, type: 'articles', id, slug: `story-${id}` });

beforeAll(async () => {
  paper = await startPaper(
    {},
    {
      prepare(before) {
        paper = before;
        before.wordpress.intercept = ({ url }) => {
          if (!url.includes('/files/')) return null;
          if (files === 'unavailable') return new Response('', { status: 500 });
          const headers = { 'content-type': 'audio/mpeg', 'content-length': String(bytes.length) };
          return new Response(files === 'stalled' ? halfOfIt() : bytes, { headers });
        };
        before.wordpress.put('podcasts', series());
        before.edit(1, sound(1));
      },
    },
  );
  await have('Episode 1');
});
afterAll(() => paper?.close());

it('after late, repeated and out-of-order webhooks, the podcast feed has the episodes that WordPress has', async () => {
  paper.edit(2, sound(2));
  paper.edit(3, sound(3));
  paper.edit(1, sound(1, 'Episode 1, cut again'));
  const hooks = [hook('publish', 3), hook('update', 1), hook('publish', 2), hook('publish', 3), hook('update', 1)];
  await Promise.all(hooks.map((each) => paper.deliver(each)));
  await have('Episode 1, cut again', 'Episode 2', 'Episode 3');
  paper.edit(3, { sound: null });
  await paper.deliver(hook('update', 3));
  await have('Episode 1, cut again', 'Episode 2');
});

it('a recording that is restricted while the site is down loses its public address after the restart', async () => {
  expect((await paper.ask(feed)).text).toContain('recording-2.mp3');
  await paper.kill('SIGKILL');
  paper.edit(2, { access: 'subscriber' });
  await paper.start();
  await paper.deliver(hook('update', 2));
  for (const path of [feed, '/podcast/how-it-works', '/article/story-2', '/article/story-2/chapters.json'])
    await until(async () => !/recording-2\.mp3|Chapter-of-2/.test((await paper.ask(path)).text), paper.output);
  expect((await paper.ask('/sound/2/0')).status).toBe(403);
  const heard = await paper.ask('/sound/2/0', { headers: { cookie } });
  expect([heard.status, heard.text]).toEqual([200, bytes]);
});

it('a site that is killed while it sends a recording sends it whole after a restart', async () => {
  files = 'stalled';
  const answer = await fetch(`http://127.0.0.1:${paper.port()}/sound/2/0`, { headers: { cookie } });
  const reader = answer.body?.getReader();
  const first = await reader?.read();
  expect([answer.status, new TextDecoder().decode(first?.value)]).toEqual([200, bytes.slice(0, bytes.length / 2)]);
  const rest = expect(reader?.read()).rejects.toThrow();
  await paper.kill('SIGKILL');
  await rest;
  files = 'available';
  await paper.start();
  expect((await paper.ask('/sound/2/0', { headers: { cookie } })).text).toBe(bytes);
  expect((await paper.ask('/sound/2/0')).status).toBe(403);
});

it('while WordPress cannot send audio files, recordings answer 502, and the page and feed still list them', async () => {
  files = 'unavailable';
  expect((await paper.ask('/sound/2/0', { headers: { cookie } })).status).toBe(502);
  expect((await paper.ask('/article/story-2', { headers: { cookie } })).text).toContain('src="/sound/2/');
  expect(await episodes()).toContain('Episode 1, cut again');
  files = 'available';
  expect((await paper.ask('/sound/2/0', { headers: { cookie } })).status).toBe(200);
});

it('when a podcast series is deleted in WordPress, its feed is gone and its stories keep their recordings', async () => {
  paper.wordpress.remove('podcasts', 900);
  await paper.deliver({ event: 'trash', type: 'podcasts', id: 900, slug: 'how-it-works' });
  await until(async () => [404, 410].includes((await paper.ask(feed)).status), paper.output);
  expect((await paper.ask('/article/story-1')).text).toContain('recording-1.mp3');
});

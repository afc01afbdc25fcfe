import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openStream, type Stream } from '../../../tests/fixtures/event-stream.ts';
import type { AccessLevel, LiveStory, RestrictedLevel } from '../../lib/content/model.ts';
import { eventText } from './frames.ts';
import { createLiveStreams, type LiveStreams, type LiveStreamsOptions } from './live-streams.ts';

let server: Server;
let streams: LiveStreams;
let port = 0;
const opened: Stream[] = [];

const levelOf = (cookie: string | undefined) =>
  (/level=(\w+)/.exec(cookie ?? '')?.[1] ?? null) as RestrictedLevel | null;

/** Opens streams in place of the earlier ones. */
function begin(options: Partial<LiveStreamsOptions> = {}): void {
  streams?.close();
  streams = createLiveStreams({
    pages: {
      access: { levelFor: levelOf },
      passes: { opens: (cookie, page) => cookie === `pass=${page}` },
    },
    always: { 'x-content-type-options': 'nosniff' },
    mostConnections: 100,
    ...options,
  });
}

beforeEach(async () => {
  begin();
  server = createServer((incoming, outgoing) => {
    const address = String(incoming.headers['x-from'] ?? '127.0.0.1');
    if (!streams.answer({ incoming, outgoing }, address)) outgoing.writeHead(418).end();
  });
  await new Promise<void>((done) => void server.listen(0, '127.0.0.1', done));
  port = (server.address() as AddressInfo).port;
});
afterEach(async () => {
  for (const stream of opened.splice(0)) stream.close();
  streams.close();
  server.closeAllConnections();
  await new Promise((done) => server.close(done));
});

const story = (state: string, access: AccessLevel = 'free', id = 1): LiveStory => ({
  id,
  path: `/article/${id}`,
  access,
  state,
});
const entry = (words: string) => eventText('entry', words);
async function open(path = '/live/1', headers: Record<string, string> = {}): Promise<Stream> {
  const stream = await openStream(port, path, headers);
  opened.push(stream);
  return stream;
}
const said = ({ events }: Stream) => events.map(({ name, data }) => `${name} ${data}`);
const isOpen = (count: number) => expect.poll(() => streams.stats().open).toBe(count);

it('a live page that is up to date gets only later events', async () => {
  streams.stories([story('s1')]);
  const stream = await open('/live/1?since=s1');
  expect([stream.status, stream.headers['content-type'], stream.headers['cache-control']]).toEqual([
    200,
    'text/event-stream; charset=utf-8',
    'no-store',
  ]);
  expect(stream.headers['x-content-type-options']).toBe('nosniff');
  await isOpen(1);
  streams.send(story('s2'), entry('<p>one</p>\n<p>two\r\nthree</p>'));
  await expect.poll(() => said(stream)).toEqual(['entry <p>one</p>\n<p>two\nthree</p>']);
  expect(stream.lastId()).toBe('s2');
});

it('a reader who returns to a live stream gets exactly the missed events', async () => {
  streams.stories([story('s1')]);
  for (const at of [2, 3, 4]) streams.send(story(`s${at}`), entry(`e${at}`));
  const back = await open('/live/1?since=s1', { 'last-event-id': 's2' });
  await expect.poll(() => said(back)).toEqual(['entry e3', 'entry e4']);
  const late = await open('/live/1?since=s1');
  await expect.poll(() => said(late)).toEqual(['entry e2', 'entry e3', 'entry e4']);
  const current = await open('/live/1?since=s4');
  await expect.poll(() => current.lastId()).toBe('s4');
  streams.send(story('s5'), entry('e5'));
  await expect.poll(() => said(current)).toEqual(['entry e5']);
  await expect.poll(() => said(back).at(-1)).toBe('entry e5');
});

it('the last event of a change carries the id of the live story’s new state', async () => {
  streams.stories([story('s1')]);
  const stream = await open('/live/1?since=s1');
  await isOpen(1);
  streams.send(story('s2'), entry('e2') + eventText('gone', '7'));
  streams.send(story('s3'), '');
  streams.send(story('s4'), entry('e4'));
  streams.stories([story('s5')]);
  const ids = ({ events }: Stream) => events.map(({ name, id }) => `${name} ${id}`);
  await expect.poll(() => ids(stream)).toEqual(['entry s1', 'gone s2', 'entry s4', 'sync s5']);
  const back = await open('/live/1', { 'last-event-id': 's1' });
  await expect.poll(() => ids(back)).toEqual(['entry ', 'gone s2', 'entry s4', 'sync s5']);
  const lost = await open('/live/1', { 'last-event-id': 'x' });
  await expect.poll(() => ids(lost)).toEqual(['sync s5']);
});

it('a live page that missed more events than are kept gets a sync event', async () => {
  streams.stories([story('s0')]);
  for (let at = 1; at <= 300; at++) streams.send(story(`s${at}`), entry(`e${at}`));
  for (const since of ['s0', 's99', 'unknown', '']) {
    const stream = await open(`/live/1?since=${since}`);
    await expect.poll(() => said(stream), { message: since }).toEqual(['sync s300']);
    await expect.poll(() => stream.lastId()).toBe('s300');
  }
  const near = await open('/live/1?since=s100');
  await expect.poll(() => near.events.length).toBe(200);
});

it('after a restart, a live page gets a sync event only if the entries differ', async () => {
  streams.stories([story('s7')]);
  const same = await open('/live/1', { 'last-event-id': 's7' });
  const other = await open('/live/1', { 'last-event-id': 's6' });
  await expect.poll(() => said(other)).toEqual(['sync s7']);
  await expect.poll(() => same.lastId()).toBe('s7');
  expect(said(same)).toEqual([]);
  // The process that has the content was restarted, and tells a worker which stories are live.
  streams.stories([story('s7')]);
  streams.stories([story('s8')]);
  await expect.poll(() => said(same)).toEqual(['sync s8']);
});

it('a live story that has ended closes its streams, and answers new ones with 204', async () => {
  streams.stories([story('s1'), story('t1', 'free', 2)]);
  const [ends, stays] = [await open('/live/1?since=s1'), await open('/live/2?since=t1')];
  await isOpen(2);
  streams.stories([story('t1', 'free', 2)]);
  await ends.ended;
  expect(said(ends)).toEqual(['end 1']);
  await isOpen(1);
  expect((await open('/live/1')).status).toBe(204);
  streams.send(story('t2', 'free', 2), entry('x'));
  await expect.poll(() => said(stays)).toEqual(['entry x']);
});

it('a restricted live story can be followed only by readers with access', async () => {
  streams.stories([story('s1', 'subscriber'), story('r1', 'registered', 2)]);
  const status = async (path: string, cookie = '') => (await open(path, { cookie })).status;
  expect(await status('/live/1')).toBe(403);
  expect(await status('/live/1', 'level=registered')).toBe(403);
  expect(await status('/live/1', 'level=subscriber')).toBe(200);
  expect(await status('/live/2', 'level=registered')).toBe(200);
  expect(await status('/live/1', 'pass=/article/1')).toBe(200);
  expect(await status('/live/1', 'pass=/article/2')).toBe(403);
});

it('a live stream closes at once for readers without access when its story is no longer free', async () => {
  streams.stories([story('s1')]);
  const reader = await open('/live/1?since=s1');
  await isOpen(1);
  streams.send(story('s2', 'subscriber'), entry('PAID'));
  await reader.ended;
  expect(said(reader)).toEqual([]);
  expect((await open('/live/1')).status).toBe(403);
});

it('a live stream closes at once for registered readers when its story becomes subscriber-only', async () => {
  streams.stories([story('s1', 'registered')]);
  const reader = await open('/live/1?since=s1', { cookie: 'level=registered' });
  await isOpen(1);
  streams.send(story('s2', 'subscriber'), entry('PAID'));
  await reader.ended;
  expect(said(reader)).toEqual([]);
  expect((await open('/live/1', { cookie: 'level=registered' })).status).toBe(403);
  expect((await open('/live/1', { cookie: 'level=subscriber' })).status).toBe(200);
});

it('a live stream closes at once when its story becomes paid, even without a new entry', async () => {
  streams.stories([story('s1')]);
  const reader = await open('/live/1?since=s1');
  await isOpen(1);
  streams.stories([story('s1', 'subscriber')]);
  await reader.ended;
  expect((await open('/live/1?since=s1')).status).toBe(403);
});

it('a restricted live stream closes after a while, so that readers prove their access again', async () => {
  begin({ heartbeatMs: 20, accessMs: 50 });
  streams.stories([story('s1', 'registered')]);
  const reader = await open('/live/1?since=s1', { cookie: 'level=registered' });
  await reader.ended;
  expect(streams.stats().open).toBe(0);
});

it('heartbeats keep a live stream open', async () => {
  // A free story has no access to prove.
  begin({ heartbeatMs: 10, accessMs: 15 });
  streams.stories([story('s1')]);
  const reader = await open('/live/1?since=s1');
  await expect.poll(() => reader.comments()).toBeGreaterThan(5);
  expect([said(reader), streams.stats().open]).toEqual([[], 1]);
});

it('a slow reader of a live stream is disconnected while others get everything, and catches up on return', async () => {
  begin({ mostWaiting: 64 * 1024 });
  streams.stories([story('s0')]);
  const [slow, fast] = [await open('/live/1?since=s0'), await open('/live/1?since=s0')];
  await isOpen(2);
  slow.pause();
  const long = 'x'.repeat(100_000);
  for (let at = 1; at <= 120 && streams.stats().dropped === 0; at++) {
    streams.send(story(`s${at}`), entry(`${at} ${long}`));
    await expect.poll(() => fast.events.length).toBe(at);
  }
  expect(streams.stats()).toMatchObject({ dropped: 1, open: 1 });
  slow.resume();
  await slow.ended;
  const got = slow.events.length;
  expect(got).toBeLessThan(fast.events.length);
  const back = await open('/live/1', { 'last-event-id': slow.lastId() });
  // What is remembered is limited; beyond the limit the page is fetched again.
  await expect.poll(() => said(back).length).toBeGreaterThan(0);
  const first = back.events[0];
  if (first?.name === 'entry') {
    await expect.poll(() => back.events.length).toBe(fast.events.length - got);
  } else expect(first?.name).toBe('sync');
});

it('live streams beyond the total limit or the limit per address get 503, and closing one makes room', async () => {
  begin({ mostConnections: 3, mostOfAddress: 2 });
  streams.stories([story('s1')]);
  const first = await open('/live/1', { 'x-from': '203.0.113.1' });
  expect((await open('/live/1', { 'x-from': '203.0.113.1' })).status).toBe(200);
  const refused = await open('/live/1', { 'x-from': '203.0.113.1' });
  expect([refused.status, refused.headers['retry-after']]).toEqual([503, '30']);
  expect((await open('/live/1', { 'x-from': '203.0.113.2' })).status).toBe(200);
  expect((await open('/live/1', { 'x-from': '203.0.113.3' })).status).toBe(503);
  expect(streams.stats()).toEqual({ open: 3, refused: 2, dropped: 0 });
  first.close();
  await isOpen(2);
  expect((await open('/live/1', { 'x-from': '203.0.113.1' })).status).toBe(200);
});

it('the addresses of an IPv6 household count as one, and a /48 may have ten times its live streams', async () => {
  begin({ mostConnections: 100, mostOfAddress: 2 });
  streams.stories([story('s1')]);
  const statusOf = async (address: string) => (await open('/live/1', { 'x-from': address })).status;
  expect([await statusOf('2001:db8:1:1::1'), await statusOf('2001:db8:1:1::2')]).toEqual([200, 200]);
  expect(await statusOf('2001:db8:1:1::3')).toBe(503);
  for (let at = 0; at < 18; at++) expect(await statusOf(`2001:db8:1:${at + 10}::1`)).toBe(200);
  expect([await statusOf('2001:db8:1:99::1'), await statusOf('2001:db8:2:1::1')]).toEqual([503, 200]);
});

it('addresses that are not live streams are passed on, and an invalid stream position gets a sync event', async () => {
  streams.stories([story('s1')]);
  for (const path of ['/live/', '/live/x', '/live/01', '/live/1x', '/lively', '/live/1/2', `/live/${'9'.repeat(40)}`]) {
    expect((await open(path)).status, path).toBe(418);
  }
  for (const since of ['%00', '<script>', 'x'.repeat(300)]) {
    const stream = await open(`/live/1?since=${encodeURIComponent(since)}`, {
      'last-event-id': since.replace(/[^\x20-\x7e]/g, ''),
    });
    await expect.poll(() => said(stream), { message: since }).toEqual(['sync s1']);
  }
});

it('an HTTP/1.0 client gets a live stream without chunked encoding', async () => {
  streams.stories([story('s1')]);
  const socket = connect(port, '127.0.0.1');
  let text = '';
  socket.on('data', (data) => {
    text += data;
  });
  socket.write('GET /live/1?since=s1 HTTP/1.0\r\nHost: a\r\n\r\n');
  await isOpen(1);
  streams.send(story('s2'), entry('plain'));
  await expect.poll(() => text).toMatch(/\n\nevent: entry\ndata: plain\nid: s2\n\n$/);
  socket.destroy();
});

it('all of 2,000 readers of a live stream get every event once, in order', async () => {
  begin({ mostConnections: 3000, mostOfAddress: 3000 });
  streams.stories([story('s0')]);
  const readers: Stream[] = [];
  for (let batch = 0; batch < 20; batch++) {
    readers.push(...(await Promise.all(Array.from({ length: 100 }, () => open('/live/1?since=s0')))));
  }
  for (let at = 1; at <= 5; at++) streams.send(story(`s${at}`), entry(`e${at}`));
  const wanted = [1, 2, 3, 4, 5].map((at) => `entry e${at}`);
  await expect.poll(() => readers.every((reader) => reader.events.length >= 5)).toBe(true);
  for (const reader of readers) expect(said(reader)).toEqual(wanted);
});

const banner = (id: string) => `<section class="alert" data-alert="${id}">\n<p>News</p></section>`;

it('an alert is sent to every open live stream once, and then removed', async () => {
  streams.stories([story('s1'), story('r1', 'registered', 2)]);
  const open1 = await open('/live/1?since=s1');
  const open2 = await open('/live/2?since=r1', { cookie: 'level=registered' });
  await isOpen(2);
  streams.alert(banner('a'));
  streams.alert(banner('a'));
  streams.alert(null);
  streams.alert(null);
  for (const stream of [open1, open2]) {
    await expect.poll(() => said(stream)).toEqual([`alert ${banner('a')}`, 'alert -']);
  }
  // The stream's last id is that of the entries, not of the alert.
  await expect.poll(() => open1.lastId()).toBe('s1');
});

it('a live page that returns gets the alert only if it shows a different one', async () => {
  streams.stories([story('s1')]);
  const first = await open('/live/1?since=s1&alert=gone');
  await expect.poll(() => said(first)).toEqual(['alert -']);
  streams.alert(banner('a'));
  const lacks = await open('/live/1?since=s1');
  await expect.poll(() => said(lacks)).toEqual([`alert ${banner('a')}`]);
  const old = await open('/live/1?since=s1&alert=%22%3E%3Cscript%3E');
  await expect.poll(() => said(old)).toEqual([`alert ${banner('a')}`]);
  const same = await open('/live/1?since=s0&alert=a');
  await expect.poll(() => said(same)).toEqual(['sync s1']);
});

/** Live coverage on the built site: what readers with an open page get through kills, restarts, withdrawals and late webhooks. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createAccessCookie, createPassCookie } from '../../src/press/delivery/access-cookie.ts';
import { openStream, type Stream } from '../fixtures/event-stream.ts';
import {
  entriesOf,
  liveFields,
  liveStory,
  saveEntry,
  stateOf,
  wireEntry,
  withdrawEntry,
} from '../fixtures/live-story.ts';
import { accessKey, type Paper, startPaper, until } from '../fixtures/paper.ts';
import { type SharedPostgres, sharedPostgres } from '../world/shared-databases.ts';

const page = `/article/story-${liveStory}`;
const idOf = (html: string) => Number(/data-entry="(\d+)"/.exec(html)?.[1]);

/** A reader with an open page: with the entries that the page's script would have. It reconnects as a browser does. */
class OpenPage {
  readonly shown = new Map<number, string>();
  /** Versions that the stream has delivered. */
  private readonly received = new Map<number, string>();
  /** Entries that the stream has delivered in the same version before. */
  doubled = 0;
  state = '';
  readonly paper: Paper;
  private closed = false;
  private stream: Stream | null = null;
  private constructor(paper: Paper) {
    this.paper = paper;
  }
  static async open(paper: Paper): Promise<OpenPage> {
    const reader = new OpenPage(paper);
    await reader.fetchPage();
    void reader.follow();
    await until(() => reader.stream !== null, paper.output);
    return reader;
  }
  async fetchPage(): Promise<void> {
    const { text } = await this.paper.ask(page);
    this.state = stateOf(text);
    this.shown.clear();
    for (const [html] of text.matchAll(/<article class="entry"[\s\S]*?<\/article>/g))
      this.shown.set(idOf(html), versionOf(html));
  }
  close(): void {
    this.closed = true;
    this.stream?.close();
  }
  private async follow(): Promise<void> {
    while (!this.closed) {
      try {
        this.stream = await openStream(this.paper.port(), `/live/${liveStory}?since=${this.state}`);
        const { stream } = this;
        while (!this.closed && stream.status === 200) {
          const over = await Promise.race([stream.ended.then(() => true), pause(5).then(() => false)]);
          for (const { name, data } of stream.events.splice(0)) await this.take(stream, name, data);
          if (stream.lastId() !== '') this.state = stream.lastId();
          if (over) break;
        }
      } catch {
        // The site is being started again.
      }
      await pause(20);
    }
  }
  private async take(stream: Stream, name: string, data: string): Promise<void> {
    if (name === 'gone') this.shown.delete(Number(data));
    if (name === 'entry') {
      if (this.received.get(idOf(data)) === versionOf(data)) this.doubled++;
      this.received.set(idOf(data), versionOf(data));
      this.shown.set(idOf(data), versionOf(data));
    }
    if (name === 'sync') {
      // The page may be rendered a moment later, and may have a later state by then, of which the stream has an event.
      const isAnnounced = (state: string): boolean =>
        state === data || state === stream.lastId() || stream.events.some(({ id }) => id === state);
      let over = false;
      void stream.ended.then(() => {
        over = true;
      });
      while (!this.closed && !over && !isAnnounced(stateOf((await this.paper.ask(page)).text))) await pause(20);
      await this.fetchPage();
      // It reconnects with the state of this page.
      if (over) throw new Error('The stream has ended.');
    }
  }
}
const versionOf = (html: string): string => /data-version="(\w+)"/.exec(html)?.[1] ?? '';
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const numbers = (reader: OpenPage) => [...reader.shown.keys()].sort((a, b) => a - b);

function prepare(paper: Paper): void {
  paper.edit(liveStory, liveFields());
  for (let id = 501; id <= 503; id++) paper.wordpress.put('live-entries', wireEntry(id));
}

describe.each([
  ['one process', 1],
  ['two processes', 2],
])('live coverage with %s', (_, count) => {
  let paper: Paper;
  const readers: OpenPage[] = [];
  const all = (holds: (reader: OpenPage) => boolean) => until(() => readers.every(holds), paper.output);
  const have = (...ids: number[]) => all((reader) => numbers(reader).join() === ids.join());

  beforeAll(async () => {
    paper = await startPaper({ WORKERS: String(count) }, { prepare });
    await until(() => paper.output().includes('The important pages are ready'), paper.output);
    if (count > 1) await until(() => paper.output().includes('A worker serves cached pages'), paper.output);
    await until(async () => entriesOf((await paper.ask(page)).text).length === 3, paper.output);
    for (let at = 0; at < 6; at++) readers.push(await OpenPage.open(paper));
  });
  afterAll(async () => {
    for (const reader of readers) reader.close();
    await paper?.close();
  });

  it('lists its entries newest first, each with the same markup as its fragment', async () => {
    const { text } = await paper.ask(page);
    expect(entriesOf(text)).toEqual([503, 502, 501]);
    expect(text).toContain('"@type":"LiveBlogPosting"');
    const fragment = (await paper.ask('/fragments/live/502')).text.trim();
    expect(text).toContain(fragment);
    const { headers, status } = await paper.ask('/article/story-1/live/501');
    expect([status, headers.location]).toEqual([302, `${page}#entry-501`]);
  });

  it('sends new, changed and withdrawn entries to every open page, with the fragment’s markup', async () => {
    const watch = await openStream(paper.port(), `/live/${liveStory}?since=${stateOf((await paper.ask(page)).text)}`);
    await saveEntry(paper, 504);
    await have(501, 502, 503, 504);
    await until(() => watch.events.length > 0, paper.output);
    expect(watch.events[0]?.data).toBe((await paper.ask('/fragments/live/504')).text.trim());
    watch.close();
    await saveEntry(paper, 502, { words: 'Corrected.' });
    const version = versionOf((await paper.ask('/fragments/live/502')).text);
    await all((reader) => reader.shown.get(502) === version);
    await withdrawEntry(paper, 503);
    await have(501, 502, 504);
    const { text } = await paper.ask(page);
    expect([text.includes('Corrected.'), entriesOf(text)]).toEqual([true, [504, 502, 501]]);
    expect((await paper.ask('/fragments/live/503')).status).toBe(404);
  });

  it('leaves every page in WordPress’s state when webhooks come late, twice and out of order', async () => {
    paper.wordpress.put('live-entries', wireEntry(505, { words: 'Last.' }));
    paper.wordpress.put('live-entries', wireEntry(506));
    paper.wordpress.remove('live-entries', 504);
    const hooks = [
      ['publish', 504],
      ['update', 506],
      ['publish', 505],
      ['publish', 505],
      ['publish', 506],
      ['trash', 504],
    ] as const;
    await Promise.all(
      hooks.map(([event, id]) => paper.deliver({ event, type: 'live-entries', id, slug: `entry-${id}` })),
    );
    await have(501, 502, 505, 506);
    expect(readers.map(({ doubled }) => doubled)).toEqual(readers.map(() => 0));
  });

  it('loses and repeats no entry on open pages when the site is killed between two entries', async () => {
    await saveEntry(paper, 507);
    await paper.kill('SIGKILL');
    paper.wordpress.put('live-entries', wireEntry(508));
    paper.wordpress.remove('live-entries', 505);
    await paper.start();
    await paper.deliver({ event: 'publish', type: 'live-entries', id: 508, slug: 'entry-508' });
    await paper.deliver({ event: 'trash', type: 'live-entries', id: 505, slug: 'entry-505' });
    await saveEntry(paper, 509);
    await have(501, 502, 506, 507, 508, 509);
    expect(readers.map(({ doubled }) => doubled)).toEqual(readers.map(() => 0));
  });

  it('ends its streams and turns the story into a normal article when it ends', async () => {
    const isMarked = async (path: string) => (await paper.ask(path)).text.includes('>Live</span>');
    const lists = ['/', '/latest', '/fragments/latest'];
    for (const path of lists) expect(await isMarked(path), path).toBe(true);
    const watch = await openStream(paper.port(), `/live/${liveStory}`);
    paper.edit(liveStory, liveFields({ state: 'ended', ended: '2026-11-20T18:00:00Z' }));
    await paper.deliver({ event: 'update', type: 'articles', id: liveStory, slug: 'story-1' });
    await watch.ended;
    expect(watch.events.at(-1)?.name).toBe('end');
    for (const path of lists) await until(async () => !(await isMarked(path)), paper.output);
    const { text } = await paper.ask(page);
    expect(text).toContain('"@type":"NewsArticle"');
    expect(text).not.toMatch(/LiveBlogPosting|data-live="/);
    expect(text).toContain('Live coverage has ended.');
    expect(entriesOf(text)).toHaveLength(6);
    expect((await openStream(paper.port(), `/live/${liveStory}`)).status).toBe(204);
  });
});

describe('a live story for subscribers', () => {
  let paper: Paper;
  const paid = '/article/story-9';
  const cookies = createAccessCookie({ name: 'access', keys: [accessKey] });
  const cookie = `access=${cookies.sign('subscriber', Math.floor(Date.now() / 1000) + 600)}`;
  beforeAll(async () => {
    paper = await startPaper(
      {},
      {
        prepare(before) {
          before.edit(9, { access: 'subscriber', ...liveFields() });
          for (let id = 901; id <= 925; id++)
            before.wordpress.put(
              'live-entries',
              wireEntry(id, { story: 9, words: 'HELIOTROPE', title: { rendered: 'HELIOTROPE' } }),
            );
        },
      },
    );
    await until(
      async () => entriesOf((await paper.ask(paid, { headers: { cookie } })).text).length === 20,
      paper.output,
    );
  });
  afterAll(() => paper?.close());

  it('shows its entries only to subscribers: on its pages, in fragments, and in the stream', async () => {
    const paths = [
      paid,
      `${paid}/live?page=2`,
      '/fragments/live/901',
      '/article/story-9/live/901',
      '/live/9',
      '/live/9?since=x',
    ];
    for (const path of paths) {
      const stream = path.startsWith('/live/') ? await openStream(paper.port(), path) : null;
      const { text, status } = stream ? { text: '', status: stream.status } : await paper.ask(path);
      expect(text, path).not.toMatch(/HELIOTROPE|data-entry/);
      if (stream) expect(status).toBe(403);
    }
    expect((await paper.ask(`${paid}/live?page=2`, { headers: { cookie } })).text).toContain('HELIOTROPE');
    expect((await paper.ask('/fragments/live/901', { headers: { cookie } })).text).toContain('HELIOTROPE');
    const stream = await openStream(paper.port(), '/live/9?since=x', { cookie });
    await saveEntry(paper, 926, { story: 9, words: 'HELIOTROPE new' });
    await until(() => stream.events.some(({ data }) => data.includes('HELIOTROPE new')), paper.output);
    stream.close();
  });

  it('is opened completely by a gift cookie, which opens nothing else', async () => {
    const passes = createPassCookie({ name: 'gift', keys: [accessKey] });
    const soon = Math.floor(Date.now() / 1000) + 600;
    const gift = `gift=${passes.sign(paid, soon)}`;
    const given = (path: string, jar = gift) => paper.ask(path, { headers: { cookie: jar } });
    for (const path of [paid, `${paid}/live?page=2`]) {
      const { text, headers } = await given(path);
      expect(text, path).toContain('HELIOTROPE');
      expect(headers['cache-control'], path).toMatch(/private|no-store/);
      // Neither a cache nor the next reader gets the response with the gift.
      const { text: cut, headers: own } = await paper.ask(path);
      expect(cut, path).not.toContain('HELIOTROPE');
      expect((await paper.ask(path, { headers: { 'if-none-match': String(headers.etag) } })).status, path).toBe(200);
      expect(own.etag).not.toBe(headers.etag);
    }
    // The permanent address of an entry on the second page leads there.
    const { headers, status } = await given(`${paid}/live/901`);
    expect([status, headers.location]).toEqual([302, `${paid}/live?page=2#entry-901`]);
    const stream = await openStream(paper.port(), '/live/9?since=x', { cookie: gift });
    await saveEntry(paper, 927, { story: 9, words: 'HELIOTROPE given' });
    await until(() => stream.events.some(({ data }) => data.includes('HELIOTROPE given')), paper.output);
    stream.close();

    const poor = {
      'another story': passes.sign('/article/story-1', soon),
      'a page of it that is no story': passes.sign(`${paid}/live?page=2`, soon),
      'its comments': passes.sign(`${paid}/comments`, soon),
      'its stream': passes.sign('/live/9', soon),
      'until a moment ago': passes.sign(paid, Math.floor(Date.now() / 1000) - 1),
      forged: `v1.${accessKey.id}.${soon}.${'A'.repeat(43)}`,
    };
    for (const [name, value] of Object.entries(poor)) {
      for (const path of [`${paid}/live?page=2`, `${paid}/live?page=1`, `${paid}/live`, `${paid}/live?page=3`]) {
        expect((await given(path, `gift=${value}`)).text, `${name} ${path}`).not.toContain('HELIOTROPE');
      }
      expect((await openStream(paper.port(), '/live/9', { cookie: `gift=${value}` })).status, name).toBe(403);
    }
    // The gift of one story opens no other story, on any page.
    paper.edit(8, { access: 'subscriber', ...liveFields() });
    for (let id = 801; id <= 821; id++)
      paper.wordpress.put('live-entries', wireEntry(id, { story: 8, words: 'MARIGOLD' }));
    await paper.deliver({ event: 'update', type: 'articles', id: 8, slug: 'story-8' });
    for (let id = 801; id <= 821; id++) await saveEntry(paper, id, { story: 8, words: 'MARIGOLD' });
    const other = '/article/story-8';
    expect((await paper.ask(`${other}/live?page=2`, { headers: { cookie } })).text).toContain('MARIGOLD');
    for (const path of [
      other,
      `${other}/live?page=2`,
      `${paid}/../story-8/live?page=2`,
      `${paid}/live?page=2&page=../../story-8`,
      `${other}/live?page=2&from=${paid}`,
      '/fragments/live/801',
    ]) {
      expect((await given(path)).text, path).not.toContain('MARIGOLD');
    }
    expect((await openStream(paper.port(), '/live/8', { cookie: gift })).status).toBe(403);
  });

  it('ends the streams of readers without access when it stops being free', async () => {
    paper.edit(2, liveFields());
    paper.wordpress.put('live-entries', wireEntry(2001, { story: 2 }));
    await paper.deliver({ event: 'update', type: 'articles', id: 2, slug: 'story-2' });
    await saveEntry(paper, 2001, { story: 2 });
    const stream = await openStream(paper.port(), '/live/2');
    expect(stream.status).toBe(200);
    paper.edit(2, { access: 'subscriber', ...liveFields() });
    await paper.deliver({ event: 'update', type: 'articles', id: 2, slug: 'story-2' });
    await stream.ended;
    expect((await openStream(paper.port(), '/live/2')).status).toBe(403);
    expect((await paper.ask('/fragments/live/2001')).text).not.toContain('data-entry');
  });
});

describe('live coverage on two nodes with one PostgreSQL', () => {
  let postgres: SharedPostgres;
  /** The node that came with WordPress, and syncs at first. */
  let first: Paper;
  let second: Paper;
  const readers: OpenPage[] = [];
  const have = (of: readonly OpenPage[], ...ids: number[]) =>
    until(() => of.every((reader) => numbers(reader).join() === ids.join()), second.output);

  beforeAll(async () => {
    postgres = await sharedPostgres();
    const DATABASE_URL = await postgres.database('without tables');
    first = await startPaper({ DATABASE_URL }, { prepare });
    second = await startPaper({ DATABASE_URL, WORDPRESS_URL: first.wordpressUrl });
    for (const paper of [first, second]) {
      await until(async () => entriesOf((await paper.ask(page)).text).length === 3, paper.output);
      for (let at = 0; at < 3; at++) readers.push(await OpenPage.open(paper));
    }
  });
  afterAll(async () => {
    for (const reader of readers) reader.close();
    await Promise.all([first?.close(), second?.close()]);
    await postgres?.removeDatabases();
  });

  it('sends new, changed and withdrawn entries to the open pages of both, in the same bytes', async () => {
    const state = stateOf((await first.ask(page)).text);
    expect(stateOf((await second.ask(page)).text)).toBe(state);
    const watches = [
      await openStream(first.port(), `/live/${liveStory}?since=${state}`),
      await openStream(second.port(), `/live/${liveStory}?since=${state}`),
    ];
    await saveEntry(first, 504);
    await have(readers, 501, 502, 503, 504);
    await until(() => watches.every(({ events }) => events.length > 0), second.output);
    expect(watches[1]?.events[0]).toEqual(watches[0]?.events[0]);
    expect(watches[1]?.lastId()).toBe(watches[0]?.lastId());
    for (const watch of watches) watch.close();
    await saveEntry(first, 502, { words: 'Corrected.' });
    const version = versionOf((await second.ask('/fragments/live/502')).text);
    await until(() => readers.every(({ shown }) => shown.get(502) === version), second.output);
    await withdrawEntry(first, 503);
    await have(readers, 501, 502, 504);
  });

  it('loses and repeats no entry when one node is killed and its readers move to the other', async () => {
    const kept = readers.filter(({ paper }) => paper === second);
    await first.kill('SIGKILL');
    const published = { event: 'publish', type: 'live-entries', id: 505, slug: 'entry-505' };
    first.wordpress.put('live-entries', wireEntry(505));
    await until(async () => (await second.deliver(published)).status === 200, second.output);
    await have(kept, 501, 502, 504, 505);
    const moved = await openStream(second.port(), `/live/${liveStory}?since=${readers[0]?.state}`);
    await until(() => moved.events.some(({ data }) => idOf(data) === 505), second.output);
    expect(moved.events.filter(({ name }) => name === 'entry').map(({ data }) => idOf(data))).toEqual([505]);
    moved.close();
    await first.start();
    await have(readers, 501, 502, 504, 505);
    expect(readers.map(({ doubled }) => doubled)).toEqual(readers.map(() => 0));
  });
});

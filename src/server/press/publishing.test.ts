import { expect, it, onTestFinished, vi } from 'vitest';
import type { Cdn } from '../../lib/cdn/cdn.server.ts';
import type { ContentReader } from '../../lib/content/reader.ts';
import { silent } from '../../lib/logging.ts';
import type { Invalidated } from '../../press/press.server.ts';
import { tempDir } from '../../press/testing.ts';
import { createPublishing, markPurges, type PublishingOptions } from './publishing.ts';

const now = Date.parse('2026-11-21T12:00:00Z');
const articles: Record<string, { slug: string; date: string; access: string }> = {
  news: { slug: 'news', date: '2026-11-21T11:00:00Z', access: 'default' },
  paid: { slug: 'paid', date: '2026-11-21T11:00:00Z', access: 'subscriber' },
  old: { slug: 'old', date: '2020-01-01T00:00:00Z', access: 'free' },
};
/** Dates of videos and crosswords. */
const others: Record<string, { date: string }> = {
  fresh: { date: '2026-11-21T11:00:00Z' },
  archived: { date: '2020-01-01T00:00:00Z' },
};
const outcome = (...keys: string[]): Invalidated => ({
  refreshed: keys.map((key) => ({ key, variant: 'public', ms: 1 })),
  unchanged: 0,
  failed: 0,
  late: [],
  ms: 1,
});

const content = {
  article: (slug: string) => articles[slug] ?? null,
  video: (slug: string) => others[slug] ?? null,
  crossword: (slug: string) => others[slug] ?? null,
};

/** A change in a cluster. */
const arrived = { isHolder: true, freshEverywhere: async () => true, goneEverywhere: async () => true, purged() {} };

function fixture(part: Partial<PublishingOptions> = {}) {
  const calls: unknown[][] = [];
  const note =
    (name: string) =>
    (...args: unknown[]): void =>
      void calls.push([name, ...args.map((arg) => (arg instanceof Set ? [...arg] : arg))]);
  const pressed = Promise.withResolvers<Invalidated>();
  const publishing = createPublishing({
    press: {
      invalidate: (tags, how) => {
        note('press')([...tags], [...(how?.withdrawn ?? [])]);
        return pressed.promise;
      },
      resumed: Promise.resolve(outcome()),
    },
    prioritize: note('prioritize'),
    cdn: { purge: note('purge'), idle: async () => {} },
    indexNow: { announce: note('announce') },
    reader: () => content as unknown as ContentReader,
    log: silent,
    published: note('published'),
    now: () => now,
    ...part,
  });
  return { publishing, calls, pressed, names: () => calls.map(([name]) => name) };
}

it('a change renders its pages first, purges withdrawn content from the CDN at once, and the rest when pages are stored', async () => {
  const { publishing, calls, pressed, names } = fixture();
  const answer = publishing.changed({
    tags: new Set(['card:1', 'article:1', 'latest']),
    withdrawn: [{ type: 'articles', slug: 'a' }],
    withdrawnTags: ['article:1'],
    paths: ['/article/a', '/'],
  });
  expect(names()).toEqual(['prioritize', 'press']);
  expect(calls[1]).toEqual(['press', ['card:1', 'article:1', 'latest'], ['article:1']]);
  await new Promise((resolve) => setImmediate(resolve));
  expect(names()).toEqual(['prioritize', 'press', 'purge']);
  expect(calls[2]).toEqual(['purge', ['article:1'], { withdrawn: true }]);
  pressed.resolve(outcome('/', '/article/a', '/'));
  expect(await answer).toEqual(['/', '/article/a']);
  expect(names()).toEqual(['prioritize', 'press', 'purge', 'purge', 'purge', 'announce', 'published']);
  expect(calls[3]).toEqual(['purge', ['card:1', 'latest']]);
  expect(calls[4]).toEqual(['purge', ['article:1'], { withdrawn: true }]);
  expect(calls[5]).toEqual(['announce', ['/article/a']]);
});

it('a change is answered and purged only after no other process serves the old pages, even past its time limit', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const workers = Promise.withResolvers<void>();
  const purging = fixture({ workersUpdated: () => workers.promise });
  const late = fixture({ workersUpdated: () => workers.promise, timeoutMs: 5 });
  const change = { tags: new Set(['card:1']), withdrawn: [], withdrawnTags: ['article:1'] };
  const answers = [purging, late].map(({ publishing }) => publishing.changed(change));
  purging.pressed.resolve(outcome('/'));
  const answered = vi.fn();
  for (const each of answers) void each.then(answered);
  await vi.advanceTimersByTimeAsync(5);
  expect(answered).not.toHaveBeenCalled();
  expect([...purging.names(), ...late.names()]).not.toContain('purge');
  workers.resolve();
  expect(await Promise.all(answers)).toEqual([['/'], []]);
  expect(purging.names()).toContain('purge');
});

it('withdrawn content is purged from the CDN once no node serves it, while pages are still rendering', async () => {
  const workers = Promise.withResolvers<void>();
  const nodes = Promise.withResolvers<boolean>();
  const { publishing, calls } = fixture({
    workersUpdated: () => workers.promise,
    arrived: () => ({ ...arrived, goneEverywhere: () => nodes.promise }),
  });
  void publishing.changed({ tags: new Set(['article:1']), withdrawn: [], withdrawnTags: ['article:1'] });
  workers.resolve();
  await new Promise((resolve) => setImmediate(resolve));
  expect(calls.length).toBe(2);
  nodes.resolve(true);
  await new Promise((resolve) => setImmediate(resolve));
  expect(calls.slice(2)).toEqual([['purge', ['article:1'], { withdrawn: true }]]);
});

it('in a cluster, only the node that syncs announces a story, and a late node purges it', async () => {
  for (const isHolder of [true, false]) {
    const { publishing, pressed, names } = fixture({ arrived: () => ({ ...arrived, isHolder }) });
    pressed.resolve(outcome());
    const published = [{ type: 'articles' as const, slug: 'news' }];
    await publishing.changed({ tags: new Set(['latest']), withdrawn: [], published });
    await vi.waitFor(() => expect(names()).toContain('purge'));
    expect(names().includes('announce')).toBe(isHolder);
  }
});

it('in a cluster, a purge counts as done only when the CDN has confirmed it', async () => {
  const sent = Promise.withResolvers<void>();
  const calls: string[] = [];
  const { publishing, pressed } = fixture({
    cdn: { purge: () => void calls.push('purge'), idle: () => sent.promise },
    arrived: () => ({ ...arrived, purged: () => void calls.push('purged') }),
  });
  pressed.resolve(outcome());
  await publishing.changed({ tags: new Set(['card:1']), withdrawn: [] });
  await vi.waitFor(() => expect(calls).toEqual(['purge']));
  sent.resolve();
  await vi.waitFor(() => expect(calls).toEqual(['purge', 'purged']));
});

it('purges again what another node may not have purged, withdrawals and alerts too', async () => {
  const { publishing, calls } = fixture();
  await publishing.purgeAgain(['card:1', 'alert']);
  expect(calls).toEqual([
    ['purge', []],
    ['purge', ['site'], { withdrawn: true }],
    ['purge', ['card:1', 'alert'], { withdrawn: true }],
  ]);
});

it('in a cluster, a node purges changes that only it knows of, even when another node notifies the CDN', async () => {
  for (const isOwn of [true, false]) {
    const { publishing, calls, pressed } = fixture({
      arrived: () => ({ ...arrived, freshEverywhere: async () => false, goneEverywhere: async () => false }),
    });
    pressed.resolve(outcome());
    await publishing.changed({ tags: new Set(), withdrawn: [], withdrawnTags: ['article:1'], isOwn });
    const withdrawal = ['purge', ['article:1'], { withdrawn: true }];
    expect(calls.filter(([name]) => name === 'purge')).toEqual(isOwn ? [withdrawal, ['purge', []], withdrawal] : []);
  }
});

it('only a free story published in the last two days is announced to search engines', async () => {
  const { publishing, calls, pressed } = fixture();
  pressed.resolve(outcome());
  const published = ['news', 'paid', 'old', 'unknown'].map((slug) => ({ type: 'articles' as const, slug }));
  await publishing.changed({ tags: new Set(['latest']), withdrawn: [], published });
  expect(calls.filter(([name]) => name === 'announce')).toEqual([['announce', ['/article/news']]]);
});

it('videos and crosswords are announced to search engines like stories, other documents are not', async () => {
  const { publishing, calls, pressed } = fixture();
  pressed.resolve(outcome());
  const all = (slug: string) => (['video', 'crosswords', 'authors', 'pages'] as const).map((type) => ({ type, slug }));
  const published = [...all('fresh'), ...all('archived'), ...all('unknown')];
  await publishing.changed({ tags: new Set(['latest']), withdrawn: [], published });
  await publishing.changed({ tags: new Set(['latest']), withdrawn: [...all('gone'), ...all('archived')] });
  expect(calls.filter(([name]) => name === 'announce')).toEqual([
    ['announce', ['/media/fresh', '/games/fresh']],
    ['announce', ['/media/gone', '/games/gone']],
  ]);
});

it('a withdrawn story is announced to search engines, unless a story has its address again', async () => {
  const { publishing, calls, pressed } = fixture();
  pressed.resolve(outcome());
  const withdrawn = [
    { type: 'articles' as const, slug: 'gone' },
    { type: 'articles' as const, slug: 'paid' },
    { type: 'live-entries' as const, slug: 'entry' },
  ];
  await publishing.changed({ tags: new Set(['latest']), withdrawn, withdrawnTags: ['article:1'] });
  expect(calls.filter(([name]) => name === 'announce')).toEqual([['announce', ['/article/gone']]]);
});

it('a change that outlasts the time limit is answered with the pages fresh so far, and purged when all are done', async () => {
  const { publishing, pressed, names } = fixture({ timeoutMs: 5 });
  const answer = publishing.changed({ tags: new Set(['navigation']), withdrawn: [] });
  publishing.fresh({ key: '/', variant: 'public', status: 200, tags: ['latest', 'navigation'] });
  publishing.fresh({ key: '/x', variant: 'public', status: 200, tags: ['other'] });
  expect(await answer).toEqual(['/']);
  expect(names()).not.toContain('purge');
  pressed.resolve(outcome('/', '/a'));
  await vi.waitFor(() => expect(names()).toContain('purge'));
});

it('a page that failed is purged again when it is fresh, after no process serves the old one', async () => {
  const { publishing, calls, pressed } = fixture({ workersUpdated: async () => void calls.push(['workers']) });
  const late = [
    { key: '/', variant: 'public' as const },
    { key: '/article/a', variant: 'full' as const },
  ];
  pressed.resolve({ ...outcome(), failed: 2, late });
  await publishing.changed({ tags: new Set(['card:1', 'latest']), withdrawn: [] });
  calls.length = 0;
  const page = { status: 200, tags: ['latest'] };
  publishing.fresh({ key: '/article/a', variant: 'full', ...page });
  publishing.fresh({ key: '/other', variant: 'public', ...page });
  for (const _ of [1, 2]) publishing.fresh({ key: '/', variant: 'public', ...page });
  await new Promise((resolve) => setImmediate(resolve));
  expect(calls).toEqual([['workers'], ['purge', ['card:1', 'latest']]]);
});

it('every page is purged when those that a stop left are fresh, and again when a failed one is', async () => {
  const resumed = Promise.withResolvers<Invalidated>();
  const { publishing, calls } = fixture({ press: { invalidate: async () => outcome(), resumed: resumed.promise } });
  resumed.resolve({ ...outcome('/'), failed: 1, late: [{ key: '/latest', variant: 'public' }] });
  await vi.waitFor(() => expect(calls).toEqual([['purge', ['site']]]));
  publishing.fresh({ key: '/latest', variant: 'public', status: 200, tags: ['latest'] });
  await vi.waitFor(() => expect(calls.length).toBe(2));
  expect(calls[1]).toEqual(['purge', ['site']]);
  const clean = fixture();
  await new Promise((resolve) => setImmediate(resolve));
  expect(clean.calls).toEqual([]);
});

it('a change of the alert waits until its banner is on the pages, then purges every page from the CDN', async () => {
  const banner = Promise.withResolvers<void>();
  const updateAlert = vi.fn(() => banner.promise);
  const { publishing, calls, pressed, names } = fixture({ updateAlert });
  const answer = publishing.changed({ tags: new Set(['alert']), withdrawn: [] });
  expect([names(), updateAlert.mock.calls.length]).toEqual([['prioritize', 'press'], 1]);
  pressed.resolve(outcome());
  await new Promise((resolve) => setImmediate(resolve));
  expect(names()).toEqual(['prioritize', 'press']);
  banner.resolve();
  await answer;
  expect(calls.slice(2)).toEqual([
    ['purge', ['alert']],
    ['purge', ['site'], { withdrawn: true }],
  ]);
  void publishing.changed({ tags: new Set(['card:1']), withdrawn: [] });
  expect(updateAlert).toHaveBeenCalledOnce();
});

it('a start after a crash, or after a stop with unsent purges, purges every page from the CDN', async () => {
  const folder = tempDir();
  onTestFinished(folder.remove);
  const start = (unsent: number, provider: string | null = 'fastly') => {
    const purged: string[][] = [];
    const cdn = {
      purge: (tags: Iterable<string>) => void purged.push([...tags]),
      stats: () => ({ provider }),
      close: async () => unsent,
    } as unknown as Cdn;
    return { stop: markPurges(cdn, folder.dir), purged };
  };
  const first = start(0);
  expect(first.purged).toEqual([]);
  const afterCrash = start(0);
  expect(afterCrash.purged).toEqual([['site']]);
  await afterCrash.stop();
  const afterStop = start(3);
  expect(afterStop.purged).toEqual([]);
  await afterStop.stop();
  expect(start(0, null).purged).toEqual([]);
  expect(start(0).purged).toEqual([['site']]);
});

import { setImmediate } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type Encoder, localEncoder } from './cache/compressor.server.ts';
import type { PressOptions } from './press.server.ts';
import type { Rendering } from './scheduler/render.server.ts';
import { PressBusy } from './scheduler/scheduler.server.ts';
import type { FreshPage } from './scheduler/scheduler-state.ts';
import { mayRead, type Variant } from './store/stored-page.ts';
import { deferred, html, keepLog, press, type TestPress, tempDir, textOf, until } from './testing.ts';

let folder: ReturnType<typeof tempDir>;
let open: TestPress[];

beforeEach(() => {
  folder = tempDir();
  open = [];
});
afterEach(async () => {
  for (const fixture of open) await fixture.close();
  folder.remove();
});

function start(render: PressOptions['render'], options: Partial<PressOptions> = {}): TestPress {
  const fixture = press(folder.dir, { render, ...options });
  open.push(fixture);
  return fixture;
}

/** Content by tag; a page shows the content of all its tags. */
function paper(pages: Record<string, string[]>) {
  const content: Record<string, number> = {};
  const renders: string[] = [];
  let running = 0;
  let hold: Promise<void> | null = null;
  let broken: string | null = null;
  return {
    content,
    renders,
    hold: (promise: Promise<void> | null) => {
      hold = promise;
    },
    breakDown: (cause: string | null) => {
      broken = cause;
    },
    get running() {
      return running;
    },
    async render(key: string, variant: Variant): Promise<Rendering> {
      renders.push(variant === 'full' ? `${key} full` : key);
      running++;
      try {
        const tags = pages[key];
        const text = `${key} ${variant} ${(tags ?? []).map((tag) => `${tag}=${content[tag] ?? 0}`).join(' ')}`;
        await hold;
        if (broken) throw new Error(broken);
        if (!tags) return { ...html('not found'), status: 404 };
        return { ...html(text.padEnd(2000, '.')), tags };
      } finally {
        running--;
      }
    },
  };
}

const read = async (fixture: TestPress, key: string, variant: Variant = 'public'): Promise<string> =>
  textOf(fixture.press, await fixture.press.get(key, variant)).replace(/\.*$/, '');

describe('the press, asked for a page', () => {
  it('renders it once for 50 simultaneous readers, then serves it from memory', async () => {
    const world = paper({ '/a': ['t'] });
    const fixture = start(world.render);
    const texts = await Promise.all(Array.from({ length: 50 }, () => read(fixture, '/a')));
    expect(new Set(texts)).toEqual(new Set(['/a public t=0']));
    expect(world.renders).toEqual(['/a']);
    expect(fixture.press.peek('/a', 'public')?.page.status).toBe(200);
    expect(fixture.press.stats().counters).toMatchObject({ misses: 50, renders: 1 });
  });

  it('serves it from the store after a restart, without rendering', async () => {
    const world = paper({ '/a': ['t'] });
    const first = start(world.render);
    const etag = (await first.press.get('/a', 'public')).page.etags.br;
    await first.close();
    open = [];
    const second = start(world.render);
    expect(second.press.peek('/a', 'public')?.page.etags.br).toBe(etag);
    expect(await read(second, '/a')).toBe('/a public t=0');
    expect(world.renders).toHaveLength(1);
  });

  it('stores no 404s and bounds the memory that they take', async () => {
    const world = paper({});
    const fixture = start(world.render);
    await read(fixture, '/warm-up');
    const before = process.memoryUsage().arrayBuffers;
    for (let batch = 0; batch < 100; batch++) {
      await Promise.all(Array.from({ length: 100 }, (_, i) => fixture.press.get(`/unknown-${batch}-${i}`, 'public')));
    }
    expect(fixture.press.stats().store?.pages).toBe(0);
    expect(fixture.press.stats().memory.pages).toBe(0);
    expect(fixture.press.stats().queue).toBe(0);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(32 * 1024 * 1024);
    expect((await fixture.press.get('/unknown-99-99', 'public')).page.status).toBe(404);
    expect(fixture.press.stats().counters.negativeHits).toBe(1);
  });

  it('forgets a remembered 404 after a change, so that a new page appears', async () => {
    const pages: Record<string, string[]> = {};
    const world = paper(pages);
    const fixture = start(world.render);
    expect((await fixture.press.get('/new', 'public')).page.status).toBe(404);
    pages['/new'] = ['t'];
    await fixture.press.invalidate(['anything']);
    expect((await fixture.press.get('/new', 'public')).page.status).toBe(200);
  });

  it('refuses a request when 2,000 readers are already waiting', async () => {
    const world = paper({ '/a': ['t'], '/b': ['t'] });
    const held = deferred();
    world.hold(held.promise);
    const fixture = start(world.render);
    const waiting = Array.from({ length: 2000 }, (_, n) => fixture.press.get(n % 2 === 0 ? '/a' : '/b', 'public'));
    await expect(fixture.press.get('/a', 'public')).rejects.toBeInstanceOf(PressBusy);
    held.resolve();
    await Promise.all(waiting);
    expect(await read(fixture, '/a')).toContain('/a');
  });

  it('fails the request when the render fails, and renders again on the next request', async () => {
    const world = paper({ '/a': ['t'] });
    world.breakDown('no ink');
    const fixture = start(world.render);
    await expect(fixture.press.get('/a', 'public')).rejects.toThrow('no ink');
    expect(fixture.press.stats().failures).toMatchObject([{ key: '/a', cause: 'no ink', attempts: 1 }]);
    world.breakDown(null);
    expect(await read(fixture, '/a')).toBe('/a public t=0');
  });

  it('gives up on a render after 20 seconds', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const began = deferred();
    const fixture = start(() => {
      began.resolve();
      return new Promise(() => {});
    });
    const page = fixture.press.get('/a', 'public');
    await began.promise;
    vi.advanceTimersByTime(20_000);
    vi.useRealTimers();
    await expect(page).rejects.toThrow('not rendered within 20000 ms');
  });

  it('does not store a page that sets a cookie or is marked as not storable', async () => {
    let renders = 0;
    const fixture = start(async (key) => {
      renders++;
      const page = html(`${key} ${renders}`);
      return key === '/cookie'
        ? { ...page, headers: { ...page.headers, 'Set-Cookie': 'session=1' } }
        : { ...page, storable: false };
    });
    for (const key of ['/cookie', '/cookie', '/private']) {
      expect((await fixture.press.get(key, 'public')).page.headers['set-cookie']).toBeUndefined();
    }
    expect(renders).toBe(3);
    expect(fixture.press.stats().store?.pages).toBe(0);
  });
});

describe('a change', () => {
  it('re-renders exactly the pages with its tag, while readers get the old pages', async () => {
    const world = paper({
      '/': ['card:1', 'card:2'],
      '/1': ['article:1', 'card:1'],
      '/2': ['article:2'],
      '/about': [],
    });
    const fixture = start(world.render);
    for (const key of ['/', '/1', '/2', '/about']) await read(fixture, key);
    world.renders.length = 0;
    const held = deferred();
    world.hold(held.promise);
    world.content['card:1'] = 1;
    const fresh = fixture.press.invalidate(['card:1'], { reason: 'headline' });
    await until(() => world.running === 2);
    expect(await read(fixture, '/')).toBe('/ public card:1=0 card:2=0');
    held.resolve();
    const result = await fresh;
    expect(world.renders.toSorted()).toEqual(['/', '/1']);
    expect(result.refreshed.map((page) => page.key).toSorted()).toEqual(['/', '/1']);
    expect(await read(fixture, '/')).toBe('/ public card:1=1 card:2=0');
    expect(fixture.press.stats().publishes[0]).toMatchObject({
      reason: 'headline',
      pages: 2,
      failed: 0,
      ms: result.ms,
    });
  });

  it('leaves a page untouched when the new render has the same bytes', async () => {
    const world = paper({ '/a': ['t'] });
    let now = 1_000_000;
    const fixture = start(world.render, { now: () => now });
    const before = await fixture.press.get('/a', 'public');
    now += 60_000;
    expect(await fixture.press.invalidate(['t'])).toMatchObject({ refreshed: [], unchanged: 1, failed: 0 });
    const after = fixture.press.peek('/a', 'public');
    expect(after?.page).toEqual(before.page);
    expect(fixture.store.marked()).toEqual([]);
  });

  it('updates the tags of a page whose bytes stay the same', async () => {
    const tags = ['one'];
    const fixture = start(async () => ({ ...html('always the same'.padEnd(2000)), tags: [...tags] }));
    await read(fixture, '/a');
    tags.push('two');
    expect(await fixture.press.invalidate(['one'])).toMatchObject({ unchanged: 1 });
    expect(await fixture.press.invalidate(['two'])).toMatchObject({ unchanged: 1 });
    tags.shift();
    await fixture.press.invalidate(['two']);
    expect(await fixture.press.invalidate(['one'])).toMatchObject({ unchanged: 0, refreshed: [] });
  });

  it('re-renders pages by rank first, then by number of reads', async () => {
    const world = paper({ '/': ['t'], '/rare': ['t'], '/popular': ['t'] });
    const fixture = start(world.render, { concurrency: 1, priority: ({ key }) => (key === '/' ? 0 : 10) });
    for (const key of ['/rare', '/popular', '/']) await read(fixture, key);
    for (let i = 0; i < 5; i++) fixture.press.peek('/popular', 'public');
    fixture.store.addReads(new Map([['p/popular', { ref: { key: '/popular', variant: 'public' }, count: 5 }]]));
    world.renders.length = 0;
    world.content.t = 1;
    await fixture.press.invalidate(['t']);
    expect(world.renders).toEqual(['/', '/popular', '/rare']);
  });

  it('renders five pages while the compression thread is busy, and goes on when a page is compressed', async () => {
    const renders: string[] = [];
    let edition = 0;
    const waiting: (() => void)[] = [];
    const encode: Encoder['encode'] = async (body, contentType) => {
      if (edition > 0) await new Promise<void>((resolve) => waiting.push(resolve));
      return localEncoder.encode(body, contentType);
    };
    const fixture = start(
      async (key) => {
        renders.push(key);
        return { ...html(`${key}, edition ${edition}. `.repeat(200)), tags: ['t'] };
      },
      { concurrency: 1, encoder: { ...localEncoder, encode } },
    );
    const keys = Array.from({ length: 12 }, (_, i) => `/${i}`);
    for (const key of keys) await read(fixture, key);
    renders.length = 0;
    edition = 1;
    const done = fixture.press.invalidate(['t']);
    for (let compressed = 0; compressed < keys.length; compressed++) {
      const rendered = Math.min(compressed + 5, keys.length);
      await until(() => renders.length === rendered && waiting.length > 0);
      for (let turn = 0; turn < 10; turn++) await setImmediate();
      expect(renders).toHaveLength(rendered);
      waiting.shift()?.();
    }
    await done;
    for (const key of keys) expect(await read(fixture, key)).toContain(`${key}, edition 1.`);
  });

  it('queues only one more render, however many changes arrive while the page is rendered', async () => {
    const world = paper({ '/a': ['t'] });
    const fixture = start(world.render);
    await read(fixture, '/a');
    world.renders.length = 0;
    const held = deferred();
    world.hold(held.promise);
    world.content.t = 1;
    const changes = [fixture.press.invalidate(['t'])];
    await until(() => world.running === 1);
    for (let i = 2; i <= 20; i++) {
      world.content.t = i;
      changes.push(fixture.press.invalidate(['t']));
    }
    held.resolve();
    await Promise.all(changes);
    expect(world.renders).toEqual(['/a', '/a']);
    expect(await read(fixture, '/a')).toBe('/a public t=20');
  });

  it('is merged with others, so that 1,000 at once cause at most two re-renders', async () => {
    const world = paper({ '/a': ['t'] });
    const fixture = start(world.render);
    await read(fixture, '/a');
    const changes = Array.from({ length: 1000 }, (_, i) => {
      world.content.t = i;
      return fixture.press.invalidate(['t']);
    });
    await Promise.all(changes);
    expect(world.renders.length).toBeLessThanOrEqual(3);
    expect(await read(fixture, '/a')).toBe('/a public t=999');
  });

  it('that recurs during every render still shows readers a newer page after a few renders', async () => {
    const content = { edition: 0 };
    const shown: string[] = [];
    const fixture = start(async () => {
      const text = `edition ${content.edition}`;
      const before = fixture.press.peek('/a', 'public');
      shown.push(before ? textOf(fixture.press, before).trim() : 'nothing');
      if (content.edition > 0 && content.edition < 7) {
        content.edition++;
        void fixture.press.invalidate(['t']);
      }
      return { ...html(text.padEnd(2000)), tags: ['t'] };
    });
    await fixture.press.get('/a', 'public');
    shown.length = 0;
    content.edition = 1;
    await fixture.press.invalidate(['t']);
    expect(shown).toEqual([...Array(4).fill('edition 0'), 'edition 4', 'edition 5', 'edition 6']);
    expect((await read(fixture, '/a')).trim()).toBe('edition 7');
  });

  it('keeps the first render of a page from being stored if that render began earlier', async () => {
    const world = paper({ '/a': ['t'] });
    const fixture = start(world.render);
    const held = deferred();
    world.hold(held.promise);
    const early = [read(fixture, '/a'), read(fixture, '/a')];
    await until(() => world.running === 1);
    world.content.t = 1;
    await fixture.press.invalidate(['t']);
    const late = read(fixture, '/a');
    held.resolve();
    expect(await late).toBe('/a public t=1');
    expect(new Set(await Promise.all(early))).toEqual(new Set(['/a public t=0']));
    expect(await read(fixture, '/a')).toBe('/a public t=1');
    expect(world.renders).toEqual(['/a', '/a']);
  });

  it('keeps the old page when a render fails, and retries until it succeeds', async () => {
    const { log, lines } = keepLog();
    const world = paper({ '/a': ['t'] });
    const fixture = start(world.render, { log });
    await read(fixture, '/a');
    world.breakDown('paper jam');
    world.content.t = 1;
    expect(await fixture.press.invalidate(['t'])).toMatchObject({ refreshed: [], failed: 1 });
    expect(await read(fixture, '/a')).toBe('/a public t=0');
    await until(() => fixture.press.stats().counters.failures >= 3);
    expect(lines.filter((line) => line.message.includes("couldn't be rendered")).length).toBeGreaterThanOrEqual(3);
    world.breakDown(null);
    await until(() => fixture.press.stats().queue === 0);
    expect(await read(fixture, '/a')).toBe('/a public t=1');
  });

  it('is not lost when the press stops before the pages are rendered', async () => {
    const world = paper({ '/a': ['t'], '/b': ['t'] });
    const first = start(world.render);
    for (const key of ['/a', '/b']) await read(first, key);
    world.content.t = 1;
    void first.press.invalidate(['t']);
    await first.close();
    open = [];
    const second = start(world.render);
    expect(await read(second, '/a')).toBe('/a public t=0');
    await second.press.resumed;
    expect(await read(second, '/a')).toBe('/a public t=1');
    expect(await read(second, '/b')).toBe('/b public t=1');
    expect(second.store.marked()).toEqual([]);
  });

  it('to the tag “site” re-renders every page', async () => {
    const world = paper({ '/a': ['t'], '/b': [] });
    const fixture = start(world.render, { everything: 'site' });
    for (const key of ['/a', '/b']) await read(fixture, key);
    expect(await fixture.press.invalidate(['site'])).toMatchObject({ unchanged: 2 });
  });

  it('reports each page that became fresh, with its tags', async () => {
    const fresh: FreshPage[] = [];
    const world = paper({ '/a': ['t'] });
    const fixture = start(world.render, { onFresh: (page) => fresh.push(page) });
    await read(fixture, '/a');
    await fixture.press.get('/nowhere', 'public');
    world.content.t = 1;
    await fixture.press.invalidate(['t']);
    await fixture.press.invalidate(['t']);
    expect(fresh.map(({ key, tags }) => ({ key, tags }))).toEqual([
      { key: '/a', tags: ['t'] },
      { key: '/a', tags: ['t'] },
    ]);
  });
});

describe('a withdrawal', () => {
  it('hides a page at once, and a render already under way does not bring it back', async () => {
    let published = true;
    const held = deferred();
    let hold: Promise<void> | null = null;
    const fixture = start(async () => {
      const seen = published;
      await hold;
      return seen
        ? { ...html('secret'.padEnd(3000)), tags: ['article:1'] }
        : { ...html('gone'), status: 410, tags: ['article:1'] };
    });
    await fixture.press.get('/1', 'public');
    hold = held.promise;
    const other = fixture.press.invalidate(['article:1']);
    const missing = fixture.press.get('/also-1', 'public');
    await until(() => fixture.press.stats().counters.renders === 3);
    published = false;
    const withdrawal = fixture.press.invalidate(['latest'], { withdrawn: ['article:1'] });
    expect(fixture.press.peek('/1', 'public')).toBeUndefined();
    const late = fixture.press.get('/1', 'public');
    held.resolve();
    expect((await late).page.status).toBe(410);
    expect((await missing).page.status).toBe(410);
    await other;
    expect((await withdrawal).refreshed).toMatchObject([{ key: '/1', variant: 'public' }]);
    expect(fixture.press.peek('/1', 'public')?.page.status).toBe(410);
    expect(fixture.press.peek('/also-1', 'public')?.page.status).toBe(410);
  });

  it('keeps a story off a list that is being rendered over and over', async () => {
    let published = false;
    let renders = 0;
    const fixture = start(async () => {
      const text = published ? 'list with the story' : 'list';
      const tags = published ? ['list', 'card:9'] : ['list'];
      expect(shownAt('/list')).not.toContain('story');
      renders++;
      if (renders > 1 && renders < 6) void fixture.press.invalidate(['list']);
      if (renders === 6) {
        published = false;
        void fixture.press.invalidate(['list'], { withdrawn: ['card:9'] });
      } else if (renders === 5) published = true;
      return { ...html(text.padEnd(2000)), tags };
    });
    const shownAt = (key: string): string => {
      const page = fixture.press.peek(key, 'public');
      return page ? textOf(fixture.press, page) : '';
    };
    await fixture.press.get('/list', 'public');
    expect(await fixture.press.invalidate(['list'])).toMatchObject({ failed: 0 });
    expect(renders).toBe(7);
    expect(shownAt('/list').trim()).toBe('list');
  });

  it('also removes the full variant', async () => {
    let published = true;
    const fixture = start(async (_key, variant) =>
      published
        ? { ...html(variant.padEnd(2000)), tags: ['article:1'], access: 'subscriber' as const }
        : { ...html('gone'), status: 410, tags: ['article:1'] },
    );
    await fixture.press.get('/1', 'public');
    await fixture.press.get('/1', 'full');
    published = false;
    const gone = fixture.press.invalidate([], { withdrawn: ['article:1'] });
    expect(fixture.press.peek('/1', 'full')).toBeUndefined();
    await gone;
    expect(fixture.press.stats().store?.pages).toBe(1);
  });

  it('survives a stop of the press right after it', async () => {
    let published = true;
    const render = async (): Promise<Rendering> =>
      published ? { ...html('x'.repeat(3000)), tags: ['a'] } : { ...html('gone'), status: 410, tags: ['a'] };
    const first = start(render);
    await first.press.get('/1', 'public');
    published = false;
    void first.press.invalidate([], { withdrawn: ['a'] });
    await first.close();
    open = [];
    const second = start(render);
    expect((await second.press.get('/1', 'public')).page.status).toBe(410);
  });
});

describe('on-demand pages', () => {
  const pages = { '/': ['t', 'card'], '/?page=2': ['t', 'deep', 'card'], '/?page=3': ['t'] };
  const onDemand = (key: string): boolean => key.includes('?');

  it('are not rendered by a change, but by the first request after it', async () => {
    const world = paper(pages);
    const fixture = start(world.render, { onDemand });
    for (const key of Object.keys(pages)) await read(fixture, key);
    world.renders.length = 0;
    world.content.t = 1;
    expect((await fixture.press.invalidate(['t'])).refreshed.map(({ key }) => key)).toEqual(['/']);
    expect(world.renders).toEqual(['/']);
    expect(fixture.press.peek('/?page=2', 'public')).toBeUndefined();
    const texts = await Promise.all([1, 2, 3].map(() => read(fixture, '/?page=2')));
    expect(new Set(texts)).toEqual(new Set(['/?page=2 public t=1 deep=0 card=0']));
    expect(world.renders).toEqual(['/', '/?page=2']);
    expect(fixture.press.peek('/?page=2', 'public')?.page.status).toBe(200);
  });

  it('stay cached when a change touches only other pages', async () => {
    const world = paper(pages);
    const fixture = start(world.render, { onDemand });
    for (const key of Object.keys(pages)) await read(fixture, key);
    await fixture.press.invalidate(['deep']);
    expect(fixture.press.peek('/?page=2', 'public')).toBeUndefined();
    expect(fixture.press.peek('/?page=3', 'public')).toBeDefined();
    expect(fixture.press.peek('/', 'public')).toBeDefined();
  });

  it('become stale by a change made before a restart, and by a change to the tag “site”', async () => {
    const world = paper(pages);
    const first = start(world.render, { onDemand, everything: 'site' });
    for (const key of Object.keys(pages)) await read(first, key);
    world.content.deep = 1;
    await first.press.invalidate(['deep']);
    await first.close();
    open.pop();
    const second = start(world.render, { onDemand, everything: 'site' });
    expect(second.press.peek('/?page=3', 'public')).toBeDefined();
    expect(await read(second, '/?page=2')).toBe('/?page=2 public t=0 deep=1 card=0');
    await second.press.invalidate(['site']);
    expect(second.press.peek('/?page=3', 'public')).toBeUndefined();
    expect(world.renders.filter((key) => key === '/?page=3')).toHaveLength(1);
  });

  it('are still served as they were while their render fails, unless something was withdrawn', async () => {
    const world = paper(pages);
    const fixture = start(world.render, { onDemand });
    for (const key of Object.keys(pages)) await read(fixture, key);
    world.content.t = 1;
    await fixture.press.invalidate(['t']);
    world.breakDown('no ink');
    expect(await read(fixture, '/?page=2')).toBe('/?page=2 public t=0 deep=0 card=0');
    world.breakDown(null);
    expect(await read(fixture, '/?page=2')).toBe('/?page=2 public t=1 deep=0 card=0');
    await fixture.press.invalidate(['card'], { withdrawn: ['gone'] });
    world.breakDown('no ink');
    await expect(read(fixture, '/?page=2')).rejects.toThrow('no ink');
  });

  it('expire after a day, even when the clock was set back', async () => {
    let clock = 1_000_000_000_000;
    const world = paper(pages);
    const folderStore = { now: () => clock };
    const fixture = press(folder.dir, { render: world.render, onDemand, now: () => clock }, folderStore);
    open.push(fixture);
    await read(fixture, '/?page=2');
    await fixture.press.invalidate(['other']);
    expect(fixture.press.peek('/?page=2', 'public')).toBeDefined();
    clock += 25 * 3_600_000;
    await fixture.press.invalidate(['other']);
    expect(fixture.press.peek('/?page=2', 'public')).toBeUndefined();
    await read(fixture, '/?page=2');
    clock -= 50 * 3_600_000;
    await fixture.press.invalidate(['other']);
    expect(fixture.press.peek('/?page=2', 'public')).toBeUndefined();
  });
});

describe('the full variant of an article', () => {
  const render = (access: () => 'registered' | 'subscriber' | null) => async (_key: string, variant: Variant) => ({
    ...html(`${variant} text`.padEnd(2000)),
    tags: ['article:1'],
    access: access(),
  });

  it('can be read at or above the required access level', () => {
    expect(mayRead('registered', null)).toBe(false);
    expect(mayRead('registered', 'registered')).toBe(true);
    expect(mayRead('registered', 'subscriber')).toBe(true);
    expect(mayRead('subscriber', null)).toBe(false);
    expect(mayRead('subscriber', 'registered')).toBe(false);
    expect(mayRead('subscriber', 'subscriber')).toBe(true);
  });

  it('is stored next to the public one, and removed when the article becomes free', async () => {
    let access: 'subscriber' | null = 'subscriber';
    const fixture = start(render(() => access));
    expect(await read(fixture, '/1')).toContain('public text');
    expect(await read(fixture, '/1', 'full')).toContain('full text');
    expect(fixture.press.stats().store?.pages).toBe(2);
    access = null;
    await fixture.press.invalidate(['article:1']);
    expect(fixture.press.peek('/1', 'full')).toBeUndefined();
    expect(fixture.press.stats().store?.pages).toBe(1);
  });
});

describe('a build', () => {
  it('serves the previous build’s pages until its own are rendered', async () => {
    const world = paper({ '/a': ['t'], '/b': ['t'] });
    const first = start(world.render);
    for (const key of ['/a', '/b']) await read(first, key);
    await first.close();
    const newer = paper({ '/a': ['t'], '/b': ['t'] });
    const held = deferred();
    newer.hold(held.promise);
    const second = press(folder.dir, { render: newer.render }, { build: 'two' });
    open = [second];
    expect(second.press.peek('/a', 'public')?.page.build).toBe('one');
    await until(() => newer.running === 1);
    held.resolve();
    await until(() => second.press.peek('/a', 'public')?.page.build === 'two');
    newer.content.t = 1;
    expect((await second.press.invalidate(['t'])).refreshed).toHaveLength(2);
    expect(await read(second, '/b')).toBe('/b public t=1');
    expect(second.press.peek('/b', 'public')?.page.build).toBe('two');
    await second.press.finishBuild();
    expect(second.store.size().pages).toBe(2);
    expect(second.store.marked()).toEqual([]);
  });

  it('resumes an interrupted warm-up where it stopped', async () => {
    const world = paper(Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`/${i}`, ['t']])));
    const fixture = start(world.render);
    const keys = Array.from({ length: 40 }, (_, i) => `/${i}`);
    const stop = new AbortController();
    const seen: number[] = [];
    const first = await fixture.press.warm(keys, {
      signal: stop.signal,
      concurrency: 1,
      onProgress: ({ done }) => {
        seen.push(done);
        if (done === 15) stop.abort();
      },
    });
    expect(first).toMatchObject({ rendered: 15, skipped: 0, failed: 0 });
    const second = await fixture.press.warm(keys);
    expect(second).toMatchObject({ rendered: 25, skipped: 15, failed: 0 });
    expect(world.renders).toHaveLength(40);
  });

  it('renders a changed page ahead of a running warm-up', async () => {
    const keys = Array.from({ length: 30 }, (_, i) => `/${i}`);
    const world = paper({ ...Object.fromEntries(keys.map((key) => [key, ['t']])), '/news': ['n'] });
    const fixture = start(world.render, { concurrency: 1 });
    await read(fixture, '/news');
    const held = deferred();
    world.hold(held.promise);
    world.renders.length = 0;
    const warming = fixture.press.warm(keys, { concurrency: 30 });
    await until(() => world.running === 1);
    world.content.n = 1;
    const change = fixture.press.invalidate(['n']);
    held.resolve();
    await change;
    expect(world.renders.indexOf('/news')).toBeLessThanOrEqual(2);
    await warming;
  });
});

describe('manual refresh and scheduled invalidation', () => {
  it('renders a given page regardless of its tags', async () => {
    let edition = 1;
    const fixture = start(async () => html(`edition ${edition}`.padEnd(2000)));
    await fixture.press.get('/a', 'public');
    edition = 2;
    expect((await fixture.press.refresh(['/a'])).refreshed).toMatchObject([{ key: '/a' }]);
    expect(await read(fixture, '/a')).toContain('edition 2');
  });

  it('invalidates tags at the scheduled time, even when the clock jumps', async () => {
    const world = paper({ '/a': ['day'] });
    let now = 1_000_000;
    const fixture = start(world.render, { now: () => now });
    await read(fixture, '/a');
    fixture.press.schedule(now + 3_600_000, ['day']);
    now -= 600_000;
    world.content.day = 1;
    now += 7_200_000;
    await until(() => fixture.press.stats().publishes.length === 1);
    await until(() => fixture.press.stats().queue === 0);
    expect(await read(fixture, '/a')).toBe('/a public day=1');
    expect(fixture.press.stats().scheduled).toBe(0);
  });
});

import { setImmediate } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Encoder, localEncoder } from './cache/compressor.server.ts';
import type { Rendering } from './scheduler/render.server.ts';
import type { FreshPage } from './scheduler/scheduler-state.ts';
import { closeAll, deferred, html, keepLog, opened, openFolder, paper, read, start, textOf, until } from './testing.ts';

beforeEach(openFolder);
afterEach(closeAll);

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
    const late = [{ key: '/a', variant: 'public' }];
    expect(await fixture.press.invalidate(['t'])).toMatchObject({ refreshed: [], failed: 1, late });
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
    opened.length = 0;
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
    opened.length = 0;
    const second = start(render);
    expect((await second.press.get('/1', 'public')).page.status).toBe(410);
  });
});

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { PressBusy } from './scheduler/scheduler.server.ts';
import { mayRead, type Variant } from './store/stored-page.ts';
import { closeAll, deferred, folder, html, opened, openFolder, paper, press, read, start, until } from './testing.ts';

beforeEach(openFolder);
afterEach(closeAll);

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
    opened.length = 0;
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
    opened.pop();
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
    // The purge for the change is already over, so a CDN that stored this page would keep it.
    const outdated = await fixture.press.get('/?page=2', 'public');
    expect(outdated.page.headers['cache-control']).toMatch(/^private/);
    expect(await fixture.press.get('/?page=2', 'public')).toBe(outdated);
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
    opened.push(fixture);
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
    opened.length = 0;
    opened.push(second);
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
    const stop = new AbortController();
    const fixture = start((...page) => {
      if (world.renders.length === 14) stop.abort();
      return world.render(...page);
    });
    const keys = Array.from({ length: 40 }, (_, i) => `/${i}`);
    const first = await fixture.press.warm(keys, { signal: stop.signal, concurrency: 1 });
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

describe('manual refresh', () => {
  it('renders a given page regardless of its tags', async () => {
    let edition = 1;
    const fixture = start(async () => html(`edition ${edition}`.padEnd(2000)));
    await fixture.press.get('/a', 'public');
    edition = 2;
    expect((await fixture.press.refresh(['/a'])).refreshed).toMatchObject([{ key: '/a' }]);
    expect(await read(fixture, '/a')).toContain('edition 2');
  });

  it('starts no render once renders are stopped, and still serves what is stored', async () => {
    const world = paper({ '/a': ['day'], '/b': ['day'] });
    const held = deferred();
    const fixture = start(world.render, { concurrency: 1 });
    for (const key of ['/a', '/b']) await read(fixture, key);
    world.hold(held.promise);
    const running = fixture.press.invalidate(['day']);
    await until(() => world.running === 1);
    const stopped = fixture.press.stopRendering();
    expect(await fixture.press.invalidate(['day'])).toMatchObject({ failed: 2 });
    held.resolve();
    await stopped;
    expect((await running).failed).toBeGreaterThan(0);
    expect(world.renders).toHaveLength(3);
    expect(await read(fixture, '/b')).toContain('/b public');
    expect(fixture.store.marked().map(({ key }) => key)).toContain('/b');
  });
});

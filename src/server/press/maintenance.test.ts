import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, it, onTestFinished, vi } from 'vitest';
import type { ContentReader } from '../../lib/content/reader.ts';
import { silent } from '../../lib/logging.ts';
import type { CachedPage } from '../../press/cache/cached-page.ts';
import {
  closeAll,
  folder,
  html,
  keepLog,
  opened,
  openFolder,
  paper,
  press,
  readText,
  type TestPress,
} from '../../press/testing.ts';
import { type MaintenanceOptions, startMaintenance } from './maintenance.ts';

const reader = () =>
  ({
    sections: () => [{ slug: 'politics' }],
    articles: () => ({ items: [{ slug: 'b' }, { slug: 'a' }], total: 2 }),
  }) as unknown as ContentReader;
const nothing = { refreshed: [], unchanged: 0, failed: 0, late: [], ms: 0 };

function maintenance(part: Partial<MaintenanceOptions> = {}) {
  const warm = vi.fn(async (_keys: Iterable<string>) => ({ rendered: 0, skipped: 0, failed: 0, ms: 0 }));
  const invalidate = vi.fn(async (_tags: Iterable<string>) => nothing);
  const finishBuild = vi.fn(async () => {});
  const pruneReplaced = async () => {};
  const purge = vi.fn(async () => {});
  const publish = vi.fn((_tags: ReadonlySet<string>) => {});
  const running = startMaintenance({
    press: { peek: () => undefined, invalidate, warm, pruneReplaced, finishBuild },
    publish,
    reader,
    editionReady: () => true,
    earlierKeys: () => ['/before'],
    isFinished: () => false,
    isPurged: () => false,
    purge,
    assets: { prune: async () => {} },
    log: silent,
    everyMs: 1,
    ...part,
  });
  onTestFinished(running.stop);
  return { running, warm, invalidate, publish, finishBuild, purge };
}

/** The options of a warm-up over a real press. */
const maintained = ({ press, store }: TestPress) => ({
  press,
  earlierKeys: store.earlierKeys,
  isFinished: store.isWarm,
  isPurged: store.isPurged,
});

it('a warm-up renders fronts, the newest stories, then the previous build’s pages, and only then drops that build', async () => {
  const { running, warm, invalidate, finishBuild } = maintenance();
  await running.warmed;
  running.stop();
  expect(warm.mock.calls.map(([keys]) => [...keys])).toEqual([
    ['/', '/latest', '/section/politics', '/fragments/latest', '/fragments/popular', '/fragments/section/politics'],
    ['/article/b', '/article/a'],
    ['/before'],
  ]);
  expect(finishBuild).toHaveBeenCalledOnce();
  expect(invalidate).not.toHaveBeenCalled();
});

it('the CDN is purged once a new build’s pages are rendered, even in an empty folder, and not at later starts', async () => {
  const first = maintenance({ earlierKeys: () => [] });
  await first.running.warmed;
  expect(first.purge).toHaveBeenCalledOnce();
  expect(first.finishBuild.mock.invocationCallOrder[0]).toBeLessThan(first.purge.mock.invocationCallOrder[0] ?? 0);
  const second = maintenance({ isFinished: () => true, isPurged: () => true });
  await second.running.warmed;
  expect(second.finishBuild).toHaveBeenCalledOnce();
  expect(second.purge).not.toHaveBeenCalled();
});

it('a page that the new build can’t render stays as the previous build rendered it, until a later attempt', async () => {
  openFolder();
  onTestFinished(closeAll);
  const old = paper({ '/article/1': [], '/article/2': [] });
  const before = press(folder.dir, { render: old.render });
  await before.press.warm(['/article/1', '/article/2']);
  await before.close();
  let isBroken = true;
  const site = press(
    folder.dir,
    {
      render: async (key) => {
        if (isBroken && key === '/article/2') throw new Error('The template is wrong');
        return html(`new ${key}`);
      },
    },
    { build: 'two' },
  );
  opened.push(site);
  const { log, lines } = keepLog();
  const purge = vi.fn(async () => site.store.markPurged());
  const { running } = maintenance({ ...maintained(site), purge, log, retryMs: [1, 2] });
  await vi.waitFor(() => expect(lines.filter(({ level }) => level === 'warn').length).toBeGreaterThan(1));
  expect(await readText(site.press, '/article/1')).toBe('new /article/1');
  expect(await readText(site.press, '/article/2')).toMatch('/article/2 public');
  expect(site.store.isWarm()).toBe(false);
  expect(purge).toHaveBeenCalledOnce();
  // Pages that this build has replaced don't wait for the last one.
  const stored = new DatabaseSync(join(folder.dir, 'pages.sqlite'), { readOnly: true });
  const keys = stored.prepare("SELECT key FROM pages WHERE key IN ('/article/1', '/article/2') ORDER BY key").all();
  stored.close();
  expect(keys.map(({ key }) => key)).toEqual(['/article/1', '/article/2']);
  isBroken = false;
  await running.warmed;
  expect(await readText(site.press, '/article/2')).toBe('new /article/2');
  expect(site.store.isWarm()).toBe(true);
  expect(purge).toHaveBeenCalledTimes(2);
});

it('the CDN is purged after a rollback to a build that was finished before, and once while a page can’t be rendered', async () => {
  openFolder();
  onTestFinished(closeAll);
  const render = async (key: string) => {
    if (key === '/before') throw new Error('The template is wrong');
    return html(key);
  };
  /** Starts a build and stops it after its first attempt. @returns the number of purges */
  async function run(build: string, earlierKeys: string[]): Promise<number> {
    const site = press(folder.dir, { render }, { build });
    const purge = vi.fn(async () => site.store.markPurged());
    const { log, lines } = keepLog();
    const { running } = maintenance({ ...maintained(site), earlierKeys: () => earlierKeys, purge, log });
    await vi.waitFor(() => expect(lines.filter(({ message }) => /ready|couldn't/.test(message))).toHaveLength(1));
    running.stop();
    await site.close();
    return purge.mock.calls.length;
  }
  expect(await run('one', [])).toBe(1);
  expect(await run('one', [])).toBe(0);
  expect(await run('two', ['/before'])).toBe(1);
  expect(await run('two', ['/before'])).toBe(0);
  expect(await run('one', [])).toBe(1);
});

it('a warm-up that stops before all pages are rendered keeps the previous build', async () => {
  const pages = Promise.withResolvers<void>();
  const warm = vi.fn(async () => {
    await pages.promise;
    return { rendered: 0, skipped: 0, failed: 0, ms: 0 };
  });
  const finishBuild = vi.fn(async () => {});
  const pruneReplaced = async () => {};
  const press = { peek: () => undefined, invalidate: async () => nothing, warm, pruneReplaced, finishBuild };
  const { running } = maintenance({ press });
  running.stop();
  pages.resolve();
  await vi.waitFor(() => expect(warm).toHaveBeenCalledTimes(3));
  await new Promise((resolve) => setImmediate(resolve));
  expect(finishBuild).not.toHaveBeenCalled();
});

it('a warm-up renders the newest 300 stories, and not the rest of the archive', async () => {
  const slugs = Array.from({ length: 1000 }, (_, index) => ({ slug: `story-${index}` }));
  const archive = {
    ...reader(),
    articles: ({ offset = 0, limit = 10 }) => ({ items: slugs.slice(offset, offset + limit), total: slugs.length }),
  } as unknown as ContentReader;
  const { running, warm } = maintenance({ reader: () => archive });
  await running.warmed;
  expect([...(warm.mock.calls[1]?.[0] ?? [])]).toEqual(slugs.slice(0, 300).map(({ slug }) => `/article/${slug}`));
});

it('the files of earlier builds are pruned every hour, even after a failure', async () => {
  let clock = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => clock);
  onTestFinished(() => void vi.restoreAllMocks());
  const prune = vi.fn().mockRejectedValueOnce(new Error('The disk is full'));
  maintenance({ assets: { prune } });
  for (const times of [1, 2]) {
    expect(prune).toHaveBeenCalledTimes(times - 1);
    clock += 3_600_001;
    await vi.waitFor(() => expect(prune).toHaveBeenCalledTimes(times));
  }
});

it('the warm-up waits for the first edition, and then invalidates every stored page', async () => {
  let ready = false;
  const { running, warm, invalidate } = maintenance({ editionReady: () => ready });
  await new Promise((resolve) => setTimeout(resolve, 10));
  expect(warm).not.toHaveBeenCalled();
  ready = true;
  await running.warmed;
  running.stop();
  expect(invalidate).toHaveBeenCalledWith(['site'], { reason: 'the first edition' });
});

it('pages of the day are invalidated at midnight in New York, even when the clock jumps', async () => {
  let now = Date.parse('2026-11-21T04:59:59Z');
  const { running, publish } = maintenance({ now: () => now });
  await running.warmed;
  expect(publish).not.toHaveBeenCalled();
  for (const moment of ['2026-11-21T05:00:00Z', '2026-11-25T12:00:00Z', '2026-11-21T12:00:00Z']) {
    publish.mockClear();
    now = Date.parse(moment);
    await vi.waitFor(() => expect(publish).toHaveBeenCalledOnce());
    expect([...(publish.mock.calls[0]?.[0] ?? [])]).toEqual(['today']);
  }
  running.stop();
});

it('pages of the day are invalidated at startup when the home page was stored yesterday', async () => {
  const entry = { page: { renderedAt: Date.parse('2026-11-20T12:00:00Z') } } as CachedPage;
  const press = maintenance().running;
  press.stop();
  const invalidate = vi.fn(async (_tags: Iterable<string>) => nothing);
  const warm = async () => ({ rendered: 0, skipped: 0, failed: 0, ms: 0 });
  const { running, publish } = maintenance({
    press: { peek: () => entry, invalidate, warm, pruneReplaced: async () => {}, finishBuild: async () => {} },
    now: () => Date.parse('2026-11-21T12:00:00Z'),
  });
  running.stop();
  expect(publish).toHaveBeenCalledWith(new Set(['today']));
});

import { expect, it, onTestFinished, vi } from 'vitest';
import { buildFolders } from '../../../tests/world/build-folders.ts';
import { prepare } from '../../../tests/world/databases.ts';
import { silent } from '../../lib/logging.ts';
import { createPostgresAssets, createSharedAssets } from './shared-assets.ts';

const engines = prepare('postgres');
const build = buildFolders();

it('nodes share their builds’ files through PostgreSQL', async () => {
  const { db } = await engines.open();
  const node = (source: string) => createSharedAssets({ store: createPostgresAssets({ db }), source, log: silent });
  const before = node(build({ 'Article.aaaa.css': 'old', 'parts/shared.cccc.js': 'same' }));
  const after = node(build({ 'Article.bbbb.css': 'new', 'parts/shared.cccc.js': 'same' }));
  await before.offer();
  await after.offer();
  expect((await before.find('Article.bbbb.css'))?.toString()).toBe('new');
  expect((await after.find('Article.aaaa.css'))?.toString()).toBe('old');
  expect((await after.find('parts/shared.cccc.js'))?.toString()).toBe('same');
  expect(await after.find('Article.dddd.css')).toBeUndefined();
});

it('a build’s files stay in PostgreSQL until no node has had the build for some time', async () => {
  const { db } = await engines.open();
  let now = 1_000_000;
  const store = createPostgresAssets({ db, now: () => now, keptMs: 1000 });
  const options = { store, log: silent, now: () => now };
  const old = createSharedAssets({ ...options, source: build({ 'old.aaaa.js': 'old' }) });
  const present = createSharedAssets({ ...options, source: build({ 'new.bbbb.js': 'new' }) });
  await old.offer();
  now += 900;
  await old.offer();
  now += 900;
  await present.offer();
  expect(await present.find('old.aaaa.js')).toBeDefined();
  now += 900;
  await present.offer();
  const later = createSharedAssets({ ...options, source: build({}) });
  expect(await later.find('old.aaaa.js')).toBeUndefined();
  expect(await later.find('new.bbbb.js')).toBeDefined();
});

it('a node works without shared files while PostgreSQL is down, and warns', async () => {
  const database = await engines.open();
  const source = build({ 'a.aaaa.js': 'a' });
  const warnings: string[] = [];
  const log = { ...silent, warn: (_: object, text: string) => void warnings.push(text) };
  const assets = createSharedAssets({ store: createPostgresAssets({ db: database.db }), source, log });
  await database.close();
  await assets.offer();
  expect(warnings).toEqual(["This build's files couldn't be given to the other nodes yet; retrying"]);
  expect(await assets.find('a.aaaa.js')).toBeUndefined();
});

it('a shared file that was missing is looked up again after five seconds', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  onTestFinished(() => void vi.useRealTimers());
  let given: Buffer | undefined;
  const get = vi.fn(async () => given);
  const assets = createSharedAssets({
    store: { mostLookUps: 4, give: async () => {}, get },
    source: '',
    log: silent,
  });
  expect(await assets.find('new.bbbb.js')).toBeUndefined();
  given = Buffer.from('new');
  expect([await assets.find('new.bbbb.js'), get.mock.calls.length]).toEqual([undefined, 1]);
  vi.setSystemTime(Date.now() + 5001);
  expect((await assets.find('new.bbbb.js'))?.toString()).toBe('new');
  vi.setSystemTime(Date.now() + 86_400_000);
  await assets.find('new.bbbb.js');
  expect(get).toHaveBeenCalledTimes(2);
});

it('a slow store gets at most two requests for shared files at once, each of which is aborted', async () => {
  const signals: AbortSignal[] = [];
  const get = (_path: string, signal: AbortSignal) => {
    signals.push(signal);
    return new Promise<undefined>(() => {});
  };
  const store = { mostLookUps: 2, give: async () => {}, get };
  const assets = createSharedAssets({ store, source: '', log: silent, answerMs: 5 });
  const names = Array.from({ length: 10 }, (_, index) => `a.${index}.js`);
  expect(await Promise.all(names.map(assets.find))).toEqual(names.map(() => undefined));
  expect(signals.map(({ aborted }) => aborted)).toEqual([true, true]);
});

/**
 * The whole site on a full disk: with all of the site's data on it, or only its pages. Readers notice neither; a webhook that
 * can't be stored is refused, and comes again.
 */
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { isOnDemand } from '../../src/server/press/page-keys.ts';
import { type Paper, startPaper, until } from '../fixtures/paper.ts';
import { restError } from '../fixtures/wordpress.ts';
import { lists, type Newsroom, openNewsroom } from './fixtures/newsroom.ts';
import { openSmallDisk, type SmallDisk } from './fixtures/small-disk.ts';
import { openReader, type WholeReader } from './fixtures/whole.ts';

const stories = [1, 2, 3, 4, 5, 6, 7, 8, 10];
const withdrawing = 10;
const pages = [...lists, ...stories.map((id) => `/article/story-${id}`)];

let folder: string;
let disk: SmallDisk;
let paper: Paper;
let newsroom: Newsroom;
let reader: WholeReader;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'full-disk-'));
});
afterEach(async () => {
  reader?.close();
  await paper?.close();
  disk?.close();
  rmSync(folder, { recursive: true, force: true });
});

/** @param small folder below the data folder that is on the small disk */
async function begin(small: string): Promise<void> {
  mkdirSync(join(folder, small), { recursive: true });
  disk = openSmallDisk(join(folder, small));
  paper = await startPaper({ DATA_DIR: folder }, { nodeArgs: disk.nodeArgs });
  newsroom = openNewsroom(paper, withdrawing);
  reader = openReader();
  await until(() => paper.output().includes('The important pages are ready'), paper.output);
  for (const id of stories) await newsroom.publish(id);
  await readAll();
  console.log(`The small disk is a ${disk.kind}.`);
}

/**
 * Reads every page in every encoding: complete, and without anything that must not be on it.
 *
 * @returns the sources of the answers, without those of on-demand pages, which a change doesn't render
 */
async function readAll(): Promise<Set<unknown>> {
  const sources = new Set<unknown>();
  for (const path of pages) {
    for (const encoding of ['br', 'gzip', 'identity'] as const) {
      const since = newsroom.mark();
      const answer = await reader.read(paper.port(), path, encoding);
      newsroom.check(path, answer, since);
      if (!isOnDemand(path)) sources.add(answer.headers['server-timing']);
    }
  }
  return sources;
}

/** Stops the site normally, starts it again, and expects everything unchanged. */
async function expectAllWritten(): Promise<void> {
  // Pages still being rendered at a stop are rendered after the next start.
  await until(async () => (await paper.metric('broadsheet_press_queue_length')) === 0, paper.output, 90_000);
  await paper.kill('SIGTERM');
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    expect(name).not.toContain('damaged');
    if (!name.endsWith('.sqlite')) continue;
    const db = new DatabaseSync(join(folder, name), { readOnly: true });
    expect(db.prepare('PRAGMA integrity_check').all(), name).toEqual([{ integrity_check: 'ok' }]);
    db.close();
  }
  await paper.start({ nodeArgs: disk.nodeArgs });
  expect(await readAll()).toEqual(new Set(['press;desc="hit"']));
}

it('the site serves every page while nothing can be written, and refuses webhooks that it can’t store', async () => {
  await begin('.');
  await disk.fill(paper);
  let refused = 0;
  // The file still has some free space; after that nothing is accepted.
  for (let turn = 0; refused < 12; turn++) {
    expect(turn, 'The disk was never felt.').toBeLessThan(400);
    const id = stories[turn % stories.length] as number;
    await newsroom.publish(id).catch((error: Error) => {
      expect(error.message).toContain('answered with 503');
      refused++;
    });
    if (turn % 6 === 0) await readAll();
  }
  await readAll();
  // These are requested for the first time: rendered for the reader, and kept in memory.
  for (const path of ['/pricing', '/founder', '/article/story-9', '/search?q=story'])
    expect((await paper.ask(path)).status, path).toBe(200);
  expect((await paper.ask('/readyz')).status).toBe(200);

  await disk.free(paper);
  for (const id of stories) if (!newsroom.settled(id)) await newsroom.publish(id);
  await readAll();
  await expectAllWritten();
});

it.each(['SIGTERM', 'SIGKILL'] as const)(
  'every publish and withdrawal survives a %s on a full disk',
  async (signal) => {
    await begin('pages');
    // A look into WordPress must not replace what the crash loses.
    paper.wordpress.intercept = (request) =>
      /^\/wp-json\/wp\/v2\/[a-z]+$/.test(new URL(request.url).pathname) ? restError(503, 'busy') : null;
    await disk.fill(paper);
    for (let turn = 0; !paper.output().includes("The page store can't be used"); turn++) {
      expect(turn, 'The disk was never felt.').toBeLessThan(400);
      for (const id of stories) await newsroom.publish(id);
    }
    while (!newsroom.isWithdrawn(withdrawing)) await newsroom.publish(withdrawing);
    for (const id of stories.slice(0, 3)) await newsroom.publish(id);
    await paper.kill(signal);
    await paper.start({ nodeArgs: disk.nodeArgs });
    expect((await paper.ask(`/article/story-${withdrawing}`)).status).toBe(410);
    await disk.fill(paper);
    // The lists are rendered again after the first readers; nothing has been delivered again.
    await until(() => readAll().then(Boolean, () => false), paper.output);
    await disk.free(paper);
    await newsroom.publish(1);
    await readAll();
    await expectAllWritten();
  },
);

it('the site publishes from memory while pages can’t be written, and writes them when there is room', async () => {
  await begin('pages');
  await disk.fill(paper);
  const complaint = "The page store can't be used";
  for (let turn = 0; turn < 6 || !paper.output().includes(complaint); turn++) {
    expect(turn, 'The disk was never felt.').toBeLessThan(400);
    // Each publish is accepted and is on every page, and withdrawn stories are gone.
    for (const id of stories) await newsroom.publish(id);
    await readAll();
  }
  await disk.free(paper);
  await until(() => paper.output().includes('The page store works again'), paper.output);
  await readAll();
  await expectAllWritten();
});

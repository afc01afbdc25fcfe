import { fork } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, it } from 'vitest';
import {
  type Edited,
  keys,
  pageOf,
  program,
  readContent,
  readPage,
  tagsOf,
} from '../../../tests/fault/fixtures/killed-press.ts';
import { runs } from '../../../tests/world/runs.ts';
import { press, readText, tempDir } from '../testing.ts';

const rounds = runs(6, 50);

/**
 * Runs the program, kills it in the middle of its work, and returns what it had acknowledged before. @param afterMs from its `edits`th
 * edit on
 */
function killOne(dir: string, edits: number, afterMs: number): Promise<Map<string, number>> {
  return new Promise((resolve, reject) => {
    const said = new Map<string, number>();
    const child = fork(program, [dir], { stdio: ['ignore', 'ignore', 'pipe', 'ipc'], execArgv: [] });
    let complaint = '';
    child.stderr?.on('data', (text: Buffer) => {
      complaint += text.toString();
    });
    let heard = 0;
    child.on('message', (message: Edited) => {
      said.set(message.tag, message.edit);
      if (++heard === edits) setTimeout(() => child.kill('SIGKILL'), afterMs);
    });
    child.on('exit', (_code, signal) => {
      if (signal === 'SIGKILL') resolve(said);
      else reject(new Error(`The program ended by itself: ${complaint}`));
    });
  });
}

/** What SQLite finds in a file. */
function checkFile(file: string): unknown {
  const database = new DatabaseSync(file);
  try {
    return database.prepare('PRAGMA quick_check(1)').get();
  } finally {
    database.close();
  }
}

it(`the press loses no change and corrupts no page in ${rounds} kills at random moments`, async () => {
  const folder = tempDir();
  writeFileSync(join(folder.dir, 'content.txt'), '');
  let changes = 0;
  try {
    for (let round = 0; round < rounds; round++) {
      const said = await killOne(folder.dir, 2 + Math.floor(Math.random() * 8), Math.random() * 20);
      changes += said.size;
      const content = readContent(folder.dir);
      const fixture = press(folder.dir, { render: async (key) => pageOf(key, content) });
      // Withdrawn content is gone from the start.
      for (const key of keys) {
        const entry = fixture.press.peek(key, 'public');
        const withdrawn = tagsOf(key).some((tag) => (said.get(tag) ?? 0) < 0 && (content.get(tag) ?? 0) < 0);
        if (entry && withdrawn) expect(entry.page.status, `${key} in round ${round}`).toBe(410);
      }
      await fixture.press.resumed;
      for (const key of keys) {
        const seen = readPage(key, await readText(fixture.press, key));
        for (const tag of tagsOf(key)) {
          expect(Math.abs(seen[tag] ?? 0), `${tag} on ${key} in round ${round}`).toBeGreaterThanOrEqual(
            Math.abs(said.get(tag) ?? 0),
          );
        }
      }
      expect(fixture.store.marked()).toEqual([]);
      expect(checkFile(join(folder.dir, 'pages.sqlite')), `file in round ${round}`).toEqual({ quick_check: 'ok' });
      // The last edit may have been written without the press being told: the source of the tags repeats it.
      await fixture.press.invalidate(['all']);
      await fixture.close();
    }
  } finally {
    folder.remove();
  }
  expect(changes).toBeGreaterThan(rounds);
}, 180_000);

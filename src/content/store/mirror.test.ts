import { existsSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { seedMirror } from '../../../tests/fixtures/content.ts';
import { silent } from '../../lib/logging.ts';
import { openMirror } from './mirror.server.ts';
import { createReader } from './reader.server.ts';

let folder: string;
let file: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'content-mirror-'));
  file = join(folder, 'deeper', 'mirror.sqlite');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const origin = 'https://cms.example';
const open = (from: string | null = origin) => openMirror({ file, origin: from, log: silent });
function seed(): void {
  const mirror = open();
  seedMirror(mirror, 4);
  mirror.close();
}
function articles(from: string | null = origin): number {
  const mirror = open(from);
  const { total } = createReader(mirror).articles({});
  mirror.close();
  return total;
}

describe('openMirror', () => {
  it('keeps what it holds between openings', () => {
    seed();
    expect(articles()).toBe(40);
    expect(articles(null)).toBe(40);
  });

  it('begins anew for another WordPress and for another version', () => {
    seed();
    expect(articles('https://other.example')).toBe(0);
    seed();
    const db = new DatabaseSync(file);
    db.exec("UPDATE meta SET value = '0' WHERE key = 'schema'");
    db.close();
    expect(articles()).toBe(0);
  });

  it('begins anew after a process died while it made the tables', () => {
    openMirror({ file, origin, log: silent }).close();
    rmSync(file);
    writeFileSync(file, '');
    expect(articles()).toBe(0);
  });

  it('sets a damaged file aside and begins anew', () => {
    seed();
    writeFileSync(file, 'this is no database, and long enough to be looked at as one '.repeat(100));
    const errors: string[] = [];
    const mirror = openMirror({ file, origin, log: { ...silent, error: (_context, message) => errors.push(message) } });
    expect(createReader(mirror).articles({}).total).toBe(0);
    mirror.close();
    expect(errors).toHaveLength(1);
    expect(readFileSync(`${file}.damaged`, 'utf8')).toContain('no database');
  });

  it('notices a file that was cut off or scribbled over', () => {
    seed();
    truncateSync(file, 40_960);
    expect(articles()).toBe(0);
    expect(existsSync(`${file}.damaged`)).toBe(true);
    seed();
    const bytes = readFileSync(file);
    bytes.fill(0x5a, 8192, 60_000);
    writeFileSync(file, bytes);
    expect(articles()).toBe(0);
  });

  it('rolls a failed transaction back as a whole', () => {
    const mirror = open();
    expect(() =>
      mirror.transaction(() => {
        seedMirror(mirror, 1);
        throw new Error('no');
      }),
    ).toThrow('no');
    expect(createReader(mirror).articles({}).total).toBe(0);
    expect(createReader(mirror).sections()[0]?.id).toBe(0);
    mirror.close();
  });

  it('can be begun anew while it is open', () => {
    const mirror = open();
    seedMirror(mirror, 1);
    mirror.rebuild('test');
    expect(createReader(mirror).articles({}).total).toBe(0);
    seedMirror(mirror, 1);
    expect(createReader(mirror).articles({}).total).toBe(10);
    mirror.close();
  });
});

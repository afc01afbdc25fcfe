/** Builds for the tests of shared files. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach } from 'vitest';

/** @returns makes the folder of a build with these files; it is removed after the test */
export function buildFolders(): (files: Readonly<Record<string, string>>) => string {
  const folders: string[] = [];
  afterEach(() => {
    for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
  });
  return (files) => {
    const folder = mkdtempSync(join(tmpdir(), 'build-'));
    folders.push(folder);
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), text);
    }
    return folder;
  };
}

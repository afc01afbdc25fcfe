/** Remembers which parts of `npm test` passed with which files, so that a run on this machine can leave them out. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './setup/places.mjs';
import type { Counts } from './tally.ts';

/** Files and folders that a part of `npm test` doesn't read; all other files of the project are its input. */
const ignored: Record<string, RegExp> = {
  lint: /^$/,
  types: /^(?:docs|\.ci)\/|\.(?:md|css|php)$/,
  imports: /^(?:docs|\.ci)\/|\.(?:md|css|php)$/,
  unused: /^(?:docs|\.ci)\/|\.(?:md|php)$/,
  // Its tests read the titles of all other tests.
  unit: /^\.ci\//,
  plugin: /^(?:docs|\.ci|bench|tests\/(?:e2e|contract|fault|security))\/|^README\.md$/,
  fault: /^(?:docs|\.ci|bench|wordpress|tests\/(?:e2e|contract|security))\/|^README\.md$/,
  contract: /^(?:\.ci|bench|tests\/(?:e2e|fault))\/|^README\.md$/,
  browser: /^(?:docs|\.ci|bench|tests\/(?:contract|fault|security))\/|\.test\.tsx?$|^README\.md$/,
};

/** Whether a part of `npm test` may read this file of the project. */
export const isInput = (part: string, path: string): boolean => !ignored[part]?.test(path);

export interface Stamps {
  /** The counts of a part that passed with the files as they are; `null`: it has to run. */
  passed(part: string): Counts | null;
  keep(part: string, counts: Counts): void;
}

/** @returns `null` outside of a git repository, where the files of the project are unknown */
export function openStamps(): Stamps | null {
  const hashes = hashFiles();
  if (!hashes) return null;
  const folder = join(root, 'var', 'test', 'passed');
  const file = (part: string): string => join(folder, `${part}.json`);
  const input = (part: string): string => {
    const hash = createHash('sha256').update(process.version);
    for (const [path, content] of hashes) if (isInput(part, path)) hash.update(`${path}\0${content}\0`);
    return hash.digest('hex');
  };
  // Taken before anything runs: an edit during the run has not been tested.
  const inputs = new Map(Object.keys(ignored).map((part) => [part, input(part)]));
  return {
    passed(part) {
      if (!existsSync(file(part))) return null;
      const kept = JSON.parse(readFileSync(file(part), 'utf8')) as { input: string; counts: Counts };
      return kept.input === inputs.get(part) ? kept.counts : null;
    },
    keep(part, counts) {
      mkdirSync(folder, { recursive: true });
      writeFileSync(file(part), JSON.stringify({ input: inputs.get(part), counts }));
    },
  };
}

/** Paths of the project's files, with a hash of each. */
function hashFiles(): Map<string, string> | null {
  try {
    const list = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
      cwd: root,
      maxBuffer: 64 * 1024 * 1024,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const paths = [...new Set(list.toString().split('\0').filter(Boolean))].sort();
    return new Map(
      paths
        .filter((path) => existsSync(join(root, path)))
        .map((path) => [
          path,
          createHash('sha256')
            .update(readFileSync(join(root, path)))
            .digest('hex'),
        ]),
    );
  } catch {
    return null;
  }
}

/**
 * The lists of the most read that stored pages print: ids, for the paper and for each section. They are kept in a file of the data
 * folder, because the pages are too: after a restart both still say the same. Deleted, it is made anew.
 */
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { z } from 'zod';
import type { Logger } from '../logging.ts';

/** Ids by section; `''` is the whole paper. */
export type Lists = ReadonlyMap<string, readonly number[]>;

const kept = z.object({ made: z.number(), lists: z.record(z.string(), z.array(z.number().int())) });

export interface KeptLists {
  /** Epoch milliseconds; `-Infinity` before the first. */
  readonly made: number;
  readonly lists: Lists;
}

/** @returns nothing where there is no file, or none that can be used */
export function readLists(file: string): KeptLists {
  try {
    const { made, lists } = kept.parse(JSON.parse(readFileSync(file, 'utf8')));
    return { made, lists: new Map(Object.entries(lists)) };
  } catch {
    return { made: Number.NEGATIVE_INFINITY, lists: new Map() };
  }
}

/** Replaces the file as a whole; a disk that is full costs no more than that pages are made anew after a restart. */
export function writeLists(file: string, { made, lists }: KeptLists, log: Logger): void {
  try {
    writeFileSync(`${file}.new`, JSON.stringify({ made, lists: Object.fromEntries(lists) }));
    renameSync(`${file}.new`, file);
  } catch (error) {
    log.warn({ err: error }, 'The lists of the most read could not be kept');
  }
}

/** Sections whose lists differ, in order too. */
export function changedLists(before: Lists, after: Lists): string[] {
  const names = new Set([...before.keys(), ...after.keys()]);
  return [...names].filter((name) => before.get(name)?.join() !== after.get(name)?.join());
}

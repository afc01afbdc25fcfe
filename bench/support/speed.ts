/**
 * How fast a machine is at the moment: bounds in milliseconds assume a machine at its usual speed, and a virtual machine may be half as
 * fast an hour later. Print it with such figures.
 */
import { gzipSync } from 'node:zlib';

/** Fifty thousand records, as much like a page's data as needed: strings, numbers and lists. */
const records = Array.from({ length: 50_000 }, (_, at) => ({
  at,
  slug: `story-${at}`,
  tags: [`article:${at}`, 'latest'],
}));

/** Milliseconds that {@link fixedWork} takes on the machine on which the bounds were set, with nothing else on it. */
export const usualFixedWorkMs = 48;

/** Milliseconds of this process's processor time that a fixed piece of work takes: it writes, compresses, reads and sorts some data. */
export function fixedWork(): number {
  const times = Array.from({ length: 7 }, () => {
    const before = process.cpuUsage();
    const text = JSON.stringify(records);
    gzipSync(text);
    const read = JSON.parse(text) as typeof records;
    read.sort((a, b) => (a.slug < b.slug ? -1 : 1));
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1000;
  });
  return times.sort((a, b) => a - b)[3] ?? 0;
}

/** A sentence for the end of a bench. @param before the result of `fixedWork` at the start */
export const speedSentence = (before: number, after = fixedWork()): string =>
  `A fixed piece of work (bench/support/speed.ts) took ${before.toFixed(1)} ms of processor time before, and ${after.toFixed(1)} ms after.`;

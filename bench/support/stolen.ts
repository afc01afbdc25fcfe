/** The processor time that the host takes from a virtual machine: while it takes much, a bench's figures say little about the product. */
import { readFileSync } from 'node:fs';

interface Ticks {
  readonly all: number;
  readonly stolen: number;
}

/** Of all processors since boot; `null` where the kernel does not count them. */
export function ticks(text = statOfKernel()): Ticks | null {
  const fields = /^cpu +(.+)$/mu.exec(text)?.[1]?.split(' ').map(Number);
  // user, nice, system, idle, iowait, irq, softirq, steal; guests are counted among the users.
  if (!fields || fields.length < 8 || fields.some(Number.isNaN)) return null;
  return { all: fields.slice(0, 8).reduce((sum, each) => sum + each, 0), stolen: fields[7] ?? 0 };
}

/** Share of the processors' time between two moments, 0 to 1. */
export function stolenBetween(before: Ticks | null, after: Ticks | null): number | null {
  if (!before || !after || after.all <= before.all) return null;
  return (after.stolen - before.stolen) / (after.all - before.all);
}

function statOfKernel(): string {
  try {
    return readFileSync('/proc/stat', 'utf8');
  } catch {
    return '';
  }
}

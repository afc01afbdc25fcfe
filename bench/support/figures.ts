/** Formats a bench's numbers for people. */

/** The value below which the given share of the values is; 0 if there are no values. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}

/** The value in the middle; of an even number of values, the mean of the two; NaN if there are none. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const [lower, upper] = [sorted[(sorted.length - 1) >> 1], sorted[sorted.length >> 1]];
  return lower === undefined || upper === undefined ? Number.NaN : (lower + upper) / 2;
}

export const ms = (value: number): string => (value >= 100 ? value.toFixed(0) : value.toFixed(1));

export const count = (value: number): string => value.toLocaleString('en-US');

/** Prints lines of cells, the first column aligned left, all others right. */
export function printTable(lines: readonly (readonly string[])[]): void {
  const widths: number[] = [];
  for (const cells of lines)
    cells.forEach((cell, column) => {
      widths[column] = Math.max(widths[column] ?? 0, cell.length);
    });
  for (const cells of lines) {
    const padded = cells.map((cell, column) =>
      column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0),
    );
    console.log(padded.join('   ').trimEnd());
  }
}

/** A whole number given as a flag, e.g. `--articles 300`. @throws Error that says what is wrong */
export function wholeFlag(name: string, text: string | undefined, fallback: number): number {
  if (text === undefined) return fallback;
  if (!/^\d+$/.test(text)) throw new Error(`--${name} ${text} is not a whole number.`);
  return Number(text);
}

/** The operators' page: the chart of the last publishes, one bar each with the time until all pages were fresh; and figures as text. */

export interface Bar {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
  /** For the bar's title. */
  readonly label: string;
  /** Took longer than the promise. */
  readonly late: boolean;
  /** Not finished yet. */
  readonly open: boolean;
}

export interface Chart {
  readonly width: number;
  readonly height: number;
  readonly bars: readonly Bar[];
  /** Position of the line for the promise. */
  readonly promiseY: number;
  /** Milliseconds at the top edge. */
  readonly topMs: number;
}

/** "Every affected page fresh" is promised within this many milliseconds. */
export const promisedMs = 100;

const width = 640;
const height = 140;

/**
 * @param publishes the latest first, as the press keeps them
 * @param most bars that the chart has room for
 */
export function publishChart(
  publishes: readonly { readonly ms: number | null; readonly pages: number; readonly reason: string }[],
  most = 40,
): Chart {
  const shown = publishes.slice(0, most).toReversed();
  const longest = Math.max(promisedMs * 1.5, ...shown.map(({ ms }) => ms ?? 0));
  const step = width / most;
  const bars = shown.map(({ ms, pages, reason }, place): Bar => {
    const tall = ms === null ? height : Math.max(2, (ms / longest) * height);
    return {
      x: round(place * step + step * 0.15),
      y: round(height - tall),
      width: round(step * 0.7),
      height: round(tall),
      label: `${reason || 'a change'}: ${ms === null ? 'in progress' : `${formatDuration(ms)}, ${pages} ${pages === 1 ? 'page' : 'pages'}`}`,
      late: (ms ?? 0) > promisedMs,
      open: ms === null,
    };
  });
  return { width, height, bars, promiseY: round(height - (promisedMs / longest) * height), topMs: Math.round(longest) };
}

const round = (value: number): number => Math.round(value * 10) / 10;

/** "31 ms", "1.4 s", "3 min". */
export function formatDuration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 120_000) return `${(ms / 1000).toFixed(1)} s`;
  return `${Math.round(ms / 60_000)} min`;
}

/** "412 bytes", "31.4 kB", "256 MB". */
export function formatBytes(bytes: number): string {
  if (bytes < 1000) return `${bytes} bytes`;
  if (bytes < 1e6) return `${(bytes / 1e3).toFixed(1)} kB`;
  return bytes < 1e9 ? `${(bytes / 1e6).toFixed(bytes < 1e7 ? 1 : 0)} MB` : `${(bytes / 1e9).toFixed(1)} GB`;
}

/** "97.3%", and "100%" only for all; a dash if there were no requests. */
export function formatShare(part: number, whole: number): string {
  if (whole === 0) return '–';
  return part === whole ? '100%' : `${Math.min(99.9, (part / whole) * 100).toFixed(1)}%`;
}

/**
 * Collects policy reports in memory: grouped, bounded in number, size and time, and nothing of a reader. Anybody can send reports, so
 * that everything about one is refused as early as possible and none of it is believed: it is a hint for operators.
 */
import type { IncomingMessage } from 'node:http';
import { type BlockedSource, readReport } from './model.ts';

export interface CspReportStats {
  /** Reports that were noted since the start. */
  readonly noted: number;
  /** Requests that were refused since the start. */
  readonly refused: number;
  /** Kinds that are remembered. */
  readonly kinds: number;
}

export interface CspReports {
  /** Reads a request's reports. @returns the status to answer with, and the seconds to wait after 429 */
  receive(
    incoming: IncomingMessage,
    address: string,
  ): Promise<{ readonly status: number; readonly retryAfter?: number }>;
  /** What is blocked, the most frequent first. */
  list(): readonly BlockedSource[];
  stats(): CspReportStats;
}

export interface CspReportOptions {
  readonly siteUrl: string;
  /** Counts a request of an address. @returns `null` when it may be read, else the seconds until the next one may */
  readonly admit: (address: string) => Promise<number | null>;
  /** Epoch milliseconds. */
  readonly now?: () => number;
}

/** Bytes of a request: `report-uri` sends one report in it, the Reporting API all that a minute brought, each with the whole policy. */
const longestBodies: ReadonlyMap<string, number> = new Map([
  ['application/csp-report', 16 * 1024],
  ['application/json', 16 * 1024],
  ['application/reports+json', 256 * 1024],
]);
/** Reports that are read of a request; Chromium keeps no more for one endpoint. */
const mostReports = 100;
/** Kinds that are remembered, and milliseconds after the last report of one. */
const mostKinds = 200;
const keptMs = 7 * 24 * 60 * 60_000;

type Kind = { -readonly [Field in keyof BlockedSource]: BlockedSource[Field] };

export function createCspReports({ siteUrl, admit, now = Date.now }: CspReportOptions): CspReports {
  const kinds = new Map<string, Kind>();
  let noted = 0;
  let refused = 0;

  function note(found: Pick<BlockedSource, 'directive' | 'blocked' | 'page'>): void {
    const at = now();
    noted++;
    const name = `${found.directive} ${found.blocked}`;
    const known = kinds.get(name);
    if (known) {
      known.count++;
      known.last = at;
      known.page = found.page;
      return;
    }
    forgetOld(at);
    if (kinds.size >= mostKinds) dropLeast();
    const { directive, blocked, page } = found;
    kinds.set(name, { directive, blocked, page, count: 1, first: at, last: at });
  }

  function forgetOld(at: number): void {
    for (const [name, { last }] of kinds) if (at - last > keptMs) kinds.delete(name);
  }

  /** The rarest goes, and of those the one that is longest ago: made-up reports push out one another and not what is frequent. */
  function dropLeast(): void {
    const [least] = [...kinds].toSorted(([, a], [, b]) => a.count - b.count || a.last - b.last);
    if (least) kinds.delete(least[0]);
  }

  return {
    async receive(incoming, address) {
      const refuse = (status: number, retryAfter?: number) => {
        refused++;
        return { status, retryAfter };
      };
      const [type = ''] = (incoming.headers['content-type'] ?? '').toLowerCase().split(';');
      const longestBody = longestBodies.get(type.trim());
      if (longestBody === undefined) return refuse(415);
      if (Number(incoming.headers['content-length'] ?? 0) > longestBody) return refuse(413);
      const wait = await admit(address);
      if (wait !== null) return refuse(429, wait);
      const text = await bodyOf(incoming, longestBody);
      if (text === null) return refuse(413);
      let parsed: unknown;
      try {
        parsed = JSON.parse(text);
      } catch {
        return refuse(400);
      }
      const reports = Array.isArray(parsed) ? parsed.slice(0, mostReports) : [parsed];
      for (const report of reports) {
        const found = readReport(report, siteUrl);
        if (found) note(found);
      }
      return { status: 204 };
    },
    list() {
      forgetOld(now());
      return [...kinds.values()].map((kind) => ({ ...kind })).toSorted((a, b) => b.count - a.count || b.last - a.last);
    },
    stats: () => ({ noted, refused, kinds: kinds.size }),
  };
}

/** The body as text; `null` when it is longer than a report. */
async function bodyOf(incoming: IncomingMessage, longest: number): Promise<string | null> {
  const parts: Buffer[] = [];
  let length = 0;
  // The connection stays open for the answer when the rest is not read.
  for await (const part of incoming.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    length += part.byteLength;
    if (length > longest) return null;
    parts.push(part);
  }
  return Buffer.concat(parts).toString();
}

/**
 * Receives browsers' measurements. Anyone can send them, so their size, number and values are limited, and they are only a hint
 * for operators.
 */
import type { IncomingMessage } from 'node:http';
import { z } from 'zod';
import { readShortBody } from '../http/short-body.server.ts';
import { parseJson } from '../json.ts';
import { type VitalName, type VitalsReport, vitalNames, vitals, vitalsDevices, vitalsPages } from './model.ts';

export interface VitalsStats {
  /** Reports counted since the start. */
  readonly noted: number;
  /** Requests refused since the start. */
  readonly refused: number;
}

export interface VitalsCollector {
  /** Reads a request's report. @returns the status to answer with, and the seconds to wait after 429 */
  receive(
    incoming: IncomingMessage,
    address: string,
  ): Promise<{ readonly status: number; readonly retryAfter?: number }>;
  stats(): VitalsStats;
}

export interface VitalsOptions {
  /** Origin of the site; reports of other sites' pages aren't counted. */
  readonly siteUrl: string;
  /** Counts a request of an address. @returns `null` if the request may be read, or else the seconds to wait */
  readonly admit: (address: string) => Promise<number | null>;
  /** Counts a report. */
  readonly note: (report: VitalsReport) => void;
}

/** Bytes; a report has about a hundred. */
const longestBody = 512;

const value = (name: VitalName) => z.number().min(0).max(vitals[name].most).optional();
const reportSchema = z.strictObject({
  page: z.enum(vitalsPages),
  device: z.enum(vitalsDevices),
  values: z.strictObject({ lcp: value('lcp'), inp: value('inp'), cls: value('cls'), ttfb: value('ttfb') }),
});

/** Creates the collector of a site. */
export function createVitals({ siteUrl, admit, note }: VitalsOptions): VitalsCollector {
  let noted = 0;
  let refused = 0;

  async function check(incoming: IncomingMessage, address: string) {
    // A beacon's `Origin` is that of its page.
    if (incoming.headers.origin !== siteUrl) return { status: 403 };
    if (!/^text\/plain(?:;|$)/i.test(incoming.headers['content-type'] ?? '')) return { status: 415 };
    if (Number(incoming.headers['content-length'] ?? 0) > longestBody) return { status: 413 };
    const retryAfter = await admit(address);
    if (retryAfter !== null) return { status: 429, retryAfter };
    const text = await readShortBody(incoming, longestBody);
    if (text === null) return { status: 413 };
    const { success, data } = reportSchema.safeParse(parseJson(text));
    if (!success || vitalNames.every((name) => data.values[name] === undefined)) return { status: 400 };
    note({ page: data.page, device: data.device, values: data.values });
    return { status: 204 };
  }

  return {
    async receive(incoming, address) {
      const answer = await check(incoming, address);
      if (answer.status === 204) noted++;
      else refused++;
      return answer;
    },
    stats: () => ({ noted, refused }),
  };
}

/**
 * Receives browsers' measurements. Anyone can send them, so their size, number and values are limited, and they are only a hint
 * for operators.
 */
import type { IncomingMessage } from 'node:http';
import { z } from 'zod';
import { type BeaconAnswer, readBeacon } from '../http/short-body.server.ts';
import { type VitalName, type VitalsReport, vitalNames, vitals, vitalsDevices, vitalsPages } from './model.ts';

export interface VitalsStats {
  /** Reports counted since the start. */
  readonly noted: number;
  /** Requests refused since the start. */
  readonly refused: number;
}

export interface VitalsCollector {
  /** Reads a request's report. */
  receive(incoming: IncomingMessage, address: string): Promise<BeaconAnswer>;
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

  async function check(incoming: IncomingMessage, address: string): Promise<BeaconAnswer> {
    // A beacon's `Origin` is that of its page.
    if (incoming.headers.origin !== siteUrl) return { status: 403 };
    if (!/^text\/plain(?:;|$)/i.test(incoming.headers['content-type'] ?? '')) return { status: 415 };
    const read = await readBeacon(incoming, longestBody, () => admit(address));
    if ('refused' in read) return read.refused;
    const { success, data } = reportSchema.safeParse(read.value);
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

/**
 * The calls of pages to third parties, recorded by reader: tests run at the same time, each from its own address
 * (`X-Forwarded-For`).
 */
import type { IncomingMessage } from 'node:http';

export const vendors = ['gtm', 'marfeel', 'onesignal', 'growsurf', 'calendly', 'gpt', 'cmp'] as const;
export type Vendor = (typeof vendors)[number];

/**
 * How a vendor answers: correctly, late, with 500, by closing the connection, with a script that throws, without an advertisement
 * (`gpt`), or outside the GDPR's scope (`cmp`).
 */
export const modes = ['ok', 'slow', 'error', 'blocked', 'throws', 'empty'] as const;
export type Mode = (typeof modes)[number];

export interface Call {
  readonly vendor: Vendor;
  /** `script` for the script itself; otherwise the name of the call. */
  readonly what: string;
  readonly details: unknown;
}

export interface Calls {
  of(reader: string): readonly Call[];
  add(reader: string, call: Call): void;
  forget(reader: string): void;
  mode(reader: string, vendor: Vendor): Mode;
  setMode(reader: string, vendor: Vendor, mode: Mode): void;
}

/** Limits of the recorded readers, and of the calls per reader. */
const maxReaders = 500;
const maxCalls = 1000;

export const readerOf = (request: IncomingMessage): string => {
  const header = request.headers['x-forwarded-for'];
  return (Array.isArray(header) ? header[0] : header) || 'anyone';
};

export function createCalls(): Calls {
  const readers = new Map<string, { calls: Call[]; modes: Map<Vendor, Mode> }>();
  const recordOf = (reader: string) => {
    let found = readers.get(reader);
    if (!found) {
      const oldest = readers.keys().next().value;
      if (readers.size >= maxReaders && oldest !== undefined) readers.delete(oldest);
      found = { calls: [], modes: new Map() };
      readers.set(reader, found);
    }
    return found;
  };
  return {
    of: (reader) => recordOf(reader).calls,
    add(reader, call) {
      const { calls } = recordOf(reader);
      if (calls.length < maxCalls) calls.push(call);
    },
    forget: (reader) => void readers.delete(reader),
    mode: (reader, vendor) => recordOf(reader).modes.get(vendor) ?? 'ok',
    setMode: (reader, vendor, mode) => void recordOf(reader).modes.set(vendor, mode),
  };
}

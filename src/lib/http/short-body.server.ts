/** Bodies of requests and responses, up to a limit. */
import type { IncomingMessage } from 'node:http';
import { parseJson } from '../json.ts';

/** The status to answer a report or a measurement with, and the seconds to wait after 429. */
export interface BeaconAnswer {
  readonly status: number;
  readonly retryAfter?: number;
}

/**
 * Reads the JSON of a report or a measurement that a browser sends by itself. Anyone can send them, so it refuses what it can before it
 * reads the body.
 *
 * @param longest bytes
 * @param admit counts the request; `null` if it may be read, or else the seconds to wait
 */
export async function readBeacon(
  incoming: IncomingMessage,
  longest: number,
  admit: () => Promise<number | null>,
): Promise<{ readonly value: unknown } | { readonly refused: BeaconAnswer }> {
  if (Number(incoming.headers['content-length'] ?? 0) > longest) return { refused: { status: 413 } };
  const retryAfter = await admit();
  if (retryAfter !== null) return { refused: { status: 429, retryAfter } };
  const text = await readShortBody(incoming, longest);
  if (text === null) return { refused: { status: 413 } };
  const value = parseJson(text);
  return value === undefined ? { refused: { status: 400 } } : { value };
}

/** @returns `null` if it is longer; the rest isn't read, and the connection stays open for the response */
async function readShortBody(incoming: IncomingMessage, longest: number): Promise<string | null> {
  const parts: Buffer[] = [];
  let length = 0;
  for await (const part of incoming.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    length += part.byteLength;
    if (length > longest) return null;
    parts.push(part);
  }
  return Buffer.concat(parts).toString();
}

/** Reads the body of a response. @param longest bytes @returns `null` when it is longer; the rest isn't read */
export async function readResponse({ body }: Response, longest: number): Promise<string | null> {
  const parts: Uint8Array[] = [];
  let length = 0;
  // Leaving the loop cancels the stream.
  for await (const part of body ?? []) {
    length += part.byteLength;
    if (length > longest) return null;
    parts.push(part);
  }
  // Unlike a buffer's `toString`, it leaves out a byte order mark.
  return new TextDecoder().decode(Buffer.concat(parts));
}

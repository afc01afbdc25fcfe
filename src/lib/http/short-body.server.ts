/** Bodies of requests and responses as text, up to a limit. */
import type { IncomingMessage } from 'node:http';

/**
 * Reads the body of a request: a report or a measurement that a browser sends by itself.
 *
 * @param longest bytes
 * @returns `null` if it is longer; the rest isn't read, and the connection stays open for the response
 */
export async function readShortBody(incoming: IncomingMessage, longest: number): Promise<string | null> {
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

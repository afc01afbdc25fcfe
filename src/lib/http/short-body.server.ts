/** Bodies that browsers send by themselves: reports and measurements. */
import type { IncomingMessage } from 'node:http';

/**
 * Reads a request's body as text.
 *
 * @param longest bytes
 * @returns `null` when it is longer; the rest isn't read, and the connection stays open for the answer
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

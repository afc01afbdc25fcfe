/** Event streams as bytes (server-sent events, HTML standard, section 9.2). */

/** Bytes that are prepared once and written to any number of connections. */
export interface Frame {
  /** For a response without chunked encoding, to an HTTP/1.0 client. */
  readonly plain: Buffer;
  /** The same as one chunk of a response. */
  readonly chunk: Buffer;
}

/** An event; browsers join its lines of data again by line feeds. */
export const eventText = (name: string, data: string): string =>
  `event: ${name}\n${data
    .split(/\r\n|\r|\n/)
    .map((line) => `data: ${line}\n`)
    .join('')}\n`;

/**
 * Events with the id that a browser sends as `Last-Event-ID` from now on. The id is in the last event, where the page's script can read
 * it; without events it is a separate block, which only the browser processes.
 */
export const withId = (events: string, id: string): string => `${events.replace(/\n$/, '')}id: ${id}\n\n`;

/** Milliseconds after which a browser connects again. */
export const retryText = (ms: number): string => `retry: ${ms}\n\n`;

export function frameOf(text: string): Frame {
  const length = Buffer.byteLength(text);
  const head = `${length.toString(16)}\r\n`;
  const chunk = Buffer.from(`${head}${text}\r\n`);
  return { chunk, plain: chunk.subarray(head.length, head.length + length) };
}

/** Keeps proxies from closing an idle connection. */
export const heartbeat: Frame = frameOf(':\n\n');

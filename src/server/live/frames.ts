/** Event streams as bytes (server-sent events, HTML standard, section 9.2). */

/** Bytes that are made once and written to any number of connections. */
export interface Frame {
  /** For a response without chunks, to a client of HTTP/1.0. */
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
 * Events with what a browser sends as `Last-Event-ID` from here on. The id is in the last event, so that the page's script reads it there;
 * without events it is a block of its own, of which only the browser takes note.
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

/** Keeps proxies from closing a connection on which nothing happens. */
export const heartbeat: Frame = frameOf(':\n\n');

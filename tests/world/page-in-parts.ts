/** A proxy that sends a page as a slow network does: part by part, each when the test asks for it. */
import { once } from 'node:events';
import { createServer, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface PageInParts {
  /** Where it listens: a URL without a path. */
  readonly url: string;
  /** Sends the next part of the page that was requested last. @returns `false` when it has ended */
  next(): boolean;
  stop(): void;
}

/** A part begins with a new element, so that no line of text is cut. */
const boundary =
  /<(?=(?:p|div|section|article|aside|figure|form|table|ul|ol|li|h[1-6]|main|nav|header|footer|button)[\s>])/u;

/** The page's body in `count` parts of about the same length; the first begins with the head, because a page without a body has no frames. */
function cut(page: string, count: number): string[] {
  const body = page.indexOf('<body');
  if (body < 0) return [page];
  const pieces = page.slice(body).split(boundary);
  const length = (page.length - body) / count;
  const parts: string[] = [];
  let part = page.slice(0, body);
  for (const [index, piece] of pieces.entries()) {
    if (part.length >= length + (parts.length === 0 ? body : 0)) {
      parts.push(part);
      part = '';
    }
    part += index === 0 ? piece : `<${piece}`;
  }
  return [...parts, part];
}

/** @param site where the pages come from; only pages are sent in parts @param count parts of a page's body */
export async function startPageInParts(site: string, count: number): Promise<PageInParts> {
  let waiting: string[] = [];
  let page: ServerResponse | null = null;

  const server = createServer((incoming, outgoing) => {
    const headers = { ...incoming.headers, 'accept-encoding': 'identity' };
    const upstream = request(
      new URL(incoming.url ?? '/', site),
      { method: incoming.method, headers },
      async (answer) => {
        const { statusCode = 502 } = answer;
        // Fragments, which a page's scripts fetch, are HTML, too.
        const isPage = incoming.headers['sec-fetch-dest'] === 'document';
        if (!isPage || !answer.headers['content-type']?.startsWith('text/html')) {
          outgoing.writeHead(statusCode, answer.headers);
          answer.pipe(outgoing);
          return;
        }
        const whole = Buffer.concat(await answer.toArray()).toString();
        const { 'content-length': _, ...sent } = answer.headers;
        outgoing.writeHead(statusCode, sent);
        waiting = cut(whole, count);
        page = outgoing;
        page.write(waiting.shift() ?? '');
      },
    );
    upstream.on('error', () => outgoing.destroy());
    incoming.pipe(upstream);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    next() {
      const part = waiting.shift();
      if (part === undefined) page?.end();
      else page?.write(part);
      return part !== undefined;
    },
    stop() {
      server.close();
      server.closeAllConnections();
    },
  };
}

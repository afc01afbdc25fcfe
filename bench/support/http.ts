/** Sends requests to the site over connections that stay open, as a browser or a proxy does. */
import { Agent, type IncomingHttpHeaders, request } from 'node:http';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** The body as received, perhaps compressed. */
  readonly bytes: Buffer;
}

export type Ask = (
  path: string,
  options?: { readonly method?: string; readonly headers?: Record<string, string>; readonly body?: string },
) => Promise<Answer>;

/** @throws when the connection breaks or the answer takes longer than twenty seconds */
export function asker(port: number, connections: number): { readonly ask: Ask; close(): void } {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  return {
    ask: (path, { method = 'GET', headers = {}, body } = {}) =>
      new Promise((resolve, reject) => {
        const outgoing = request(
          { host: '127.0.0.1', port, path, method, headers, agent, timeout: 20_000 },
          (incoming) => {
            const chunks: Buffer[] = [];
            incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
            incoming.on('error', reject);
            incoming.on('end', () =>
              resolve({
                status: incoming.statusCode ?? 0,
                headers: incoming.headers,
                bytes: Buffer.concat(chunks),
              }),
            );
          },
        );
        outgoing.on('timeout', () => outgoing.destroy(new Error('no answer within twenty seconds')));
        outgoing.on('error', reject);
        outgoing.end(body);
      }),
    close: () => agent.destroy(),
  };
}

/** What browsers accept over TLS. */
export const browsersEncodings = 'gzip, deflate, br';

export function textOf({ headers, bytes }: Pick<Answer, 'headers' | 'bytes'>): string {
  const encoding = bytes.byteLength > 0 && headers['content-encoding'];
  if (encoding === 'br') return brotliDecompressSync(bytes).toString();
  return (encoding === 'gzip' ? gunzipSync(bytes) : bytes).toString();
}

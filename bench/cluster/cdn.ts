/** A CDN that counts the purges of a cluster: Cloudflare's "Purge cached content" by tags, and its refusals of a wrong request. */
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

const [zone, token] = ['zone', 'token-of-the-bench'];

export interface CountedCdn {
  /** Settings of the nodes. */
  readonly env: Readonly<Record<string, string>>;
  /** Purge requests accepted so far. */
  purges(): number;
  close(): void;
}

const isPurge = ({ method, url, headers }: IncomingMessage): boolean =>
  method === 'POST' &&
  url === `/client/v4/zones/${zone}/purge_cache` &&
  headers.authorization === `Bearer ${token}` &&
  /^application\/json\b/.test(headers['content-type'] ?? '');

function hasTags(body: string): boolean {
  const { tags } = JSON.parse(body) as { tags?: unknown };
  return Array.isArray(tags) && tags.length > 0 && tags.every((tag) => typeof tag === 'string');
}

export async function startCdn(): Promise<CountedCdn> {
  let purges = 0;
  const server = createServer((incoming, outgoing) => {
    let body = '';
    incoming.on('data', (chunk) => {
      body += chunk;
    });
    incoming.on('end', () => {
      const taken = isPurge(incoming) && hasTags(body);
      if (taken) purges++;
      outgoing.writeHead(taken ? 200 : 400, { 'content-type': 'application/json' });
      const errors = taken
        ? []
        : [{ code: 1012, message: 'Request must contain one of "purge_everything", "files", "tags"' }];
      outgoing.end(JSON.stringify({ success: taken, errors, messages: [], result: taken ? { id: zone } : null }));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    env: {
      CDN_PROVIDER: 'cloudflare',
      CLOUDFLARE_ZONE: zone,
      CLOUDFLARE_TOKEN: token,
      CLOUDFLARE_API_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}/client/v4`,
    },
    purges: () => purges,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

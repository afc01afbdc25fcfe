/**
 * The HTTP server with nothing but the press: the path of a cache hit through key, memory and response, with a page's headers.
 * Prints its port when it listens.
 */
import type { AddressInfo } from 'node:net';
import { silent } from '../../src/lib/logging.ts';
import { createKeys } from '../../src/press/delivery/cache-key.ts';
import { openPress } from '../../src/press/press.server.ts';
import { openStore } from '../../src/press/store/page-store.server.ts';
import { createPressServer } from '../../tests/fixtures/press-server.ts';
import { headers } from './page.ts';

const [file = '', budget = '268435456'] = process.argv.slice(2);
const store = openStore({ file, build: 'bench', log: silent });
const press = openPress({
  store,
  memoryBytes: Number(budget),
  log: silent,
  headersOf: (page) => ({ ...page.headers, ...headers }),
  render: async () => ({ status: 404, headers: {}, body: Buffer.from('not found'), tags: [], storable: false }),
});
const keyOf = createKeys({
  queries: [{ path: /^\/article\//, allow: { comments: /^[1-9]\d{0,3}$/ } }],
  uncached: [/^\/api\//],
  capitals: [],
  exists: () => false,
  redirects: [],
});

const server = createPressServer(press, keyOf);
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`${JSON.stringify({ port: (server.address() as AddressInfo).port })}\n`);
});
process.on('message', () => {
  const { memory, counters } = press.stats();
  const { rss, heapUsed, arrayBuffers } = process.memoryUsage();
  process.send?.({ memory, counters, rss, heapUsed, arrayBuffers });
});
process.on('disconnect', () => process.exit(0));

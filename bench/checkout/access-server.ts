/**
 * The HTTP server with stored pages of one article, restricted and free: both have the same bytes, so that only the access check
 * differs. Prints its port and cookies when it listens.
 */
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { silent } from '../../src/lib/logging.ts';
import { createAccessCookie, createPassCookie } from '../../src/press/delivery/access-cookie.ts';
import { createKeys } from '../../src/press/delivery/cache-key.ts';

import { openPress } from '../../src/press/press.server.ts';
import { openStore } from '../../src/press/store/page-store.server.ts';
import { parseConfig } from '../../src/server/config/config.ts';
import { createCrawlers } from '../../src/server/http/crawlers.ts';
import { createHttpServer } from '../../src/server/http/http-server.ts';
import { securityHeaders } from '../../src/server/http/security-headers.ts';
import { openStatics } from '../../src/server/http/static-files.ts';
import { headers, storedArticle } from '../press/page.ts';

const [folder = '', withCrawlers = 'no'] = process.argv.slice(2);
const keys = [{ id: 'bench', secret: 'a secret of the bench that is long enough' }];
const access = createAccessCookie({ name: 'access', keys });
const passes = createPassCookie({ name: 'gift', keys });
const store = openStore({ file: join(folder, 'pages.sqlite'), build: 'bench', log: silent });
const { at, bodies } = await storedArticle();
store.put({ ...at(0), key: '/article/free-one' }, bodies, 0);
store.put({ ...at(0), key: '/article/paid-one', access: 'subscriber' }, bodies, 0);
store.put({ ...at(0), key: '/article/paid-one', access: 'subscriber', variant: 'full' }, bodies, 0);
const press = openPress({
  store,
  memoryBytes: 64 * 1024 * 1024,
  log: silent,
  headersOf: (page) => ({ ...page.headers, ...headers }),
  render: async () => ({ status: 404, headers: {}, body: Buffer.from('not found'), tags: [], storable: false }),
});
const keyOf = createKeys({ queries: [], uncached: [], capitals: [], exists: () => false, redirects: [] });
const config = parseConfig({});
const server = createHttpServer({
  siteUrl: config.siteUrl,
  statics: openStatics(join(folder, 'none')),
  security: securityHeaders(config),
  render: async () => ({ status: 404, headers: new Headers(), body: Buffer.from('nothing') }),
  pages: { press, keyOf, access, passes },
  // As on a site with accounts: no reader here has a session.
  renewAccess: () => null,
  ...(withCrawlers === 'crawlers' && {
    crawlers: createCrawlers({
      names: ['google', 'bing'],
      ranges: {},
      log: silent,
      dns: { reverse: async () => [], lookup: async () => [] },
    }),
  }),
  locals: () => ({}) as App.Locals,
  editionReady: () => true,
  readiness: () => ({}),
  log: silent,
});
const soon = Math.floor(Date.now() / 1000) + 3600;
server.listen(0, '127.0.0.1', () => {
  const answer = {
    port: (server.address() as AddressInfo).port,
    access: `access=${access.sign('subscriber', soon)}`,
    gift: `gift=${passes.sign('/article/paid-one', soon)}`,
  };
  process.stdout.write(`${JSON.stringify(answer)}\n`);
});
process.on('disconnect', () => process.exit(0));

/**
 * The baseline: node:http itself with prepared responses. `node node-http.ts <file>`, JSON of {@link ServedPage}s; prints its port.
 */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ServedPage } from './contenders.ts';

const pages = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8')) as readonly ServedPage[];
const ready = new Map(pages.map(({ path, headers, gzip }) => [path, { headers, body: Buffer.from(gzip, 'base64') }]));

const server = createServer({ keepAliveTimeout: 65_000, noDelay: true }, (incoming, outgoing) => {
  const page = ready.get(incoming.url ?? '/');
  if (!page) return outgoing.writeHead(404).end();
  const unchanged = incoming.headers['if-none-match'] !== undefined;
  outgoing.writeHead(unchanged ? 304 : 200, page.headers.flat());
  outgoing.end(unchanged ? undefined : page.body);
});
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`${JSON.stringify({ port: (server.address() as AddressInfo).port })}\n`);
});
process.on('disconnect', () => process.exit(0));

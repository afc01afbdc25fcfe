/** A process that back-fills a mirror, to be killed: `node content-child.ts <address> <file>`. Prints the report when it is done. */
import { openContent } from '../../src/content/content.server.ts';
import { silent } from '../../src/lib/logging.ts';

const [address = '', file = ''] = process.argv.slice(2);
const content = openContent({
  ...{ file, wordpress: { url: address }, siteUrl: 'http://127.0.0.1:8838', frameHosts: [], pollSeconds: 3600 },
  ...{ measure: async () => null, log: silent },
});
const report = await content.syncNow();
await content.stop();
console.log(JSON.stringify(report));

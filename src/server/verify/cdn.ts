/** The CDN: a purge of a tag that no page carries, through the purger that the site uses. */
import { type CdnSettings, openCdn } from '../../lib/cdn/cdn.server.ts';
import type { Logger } from '../../lib/logging.ts';
import { type Check, Trouble } from './checks.ts';

/** No page carries it, so nothing leaves the CDN. */
const dummyTag = 'broadsheet-verify';

export function cdnCheck(cdn: CdnSettings | null, log: Logger): Check {
  return {
    service: 'cdn',
    missing: cdn ? null : 'set CDN_PROVIDER and its keys',
    steps: [
      {
        asks: `purge of the tag ${dummyTag}`,
        run: async () => {
          const opened = openCdn(cdn, log, { collectMs: 0, timeoutMs: 15_000, misconfiguredMs: 60_000 });
          try {
            opened.purge([dummyTag], { withdrawn: true });
            return await outcome(opened);
          } finally {
            await opened.close();
          }
        },
      },
    ],
  };
}

async function outcome(opened: ReturnType<typeof openCdn>): Promise<string> {
  for (let waited = 0; waited < 20_000; waited += 50) {
    const { provider, purged, problem } = opened.stats();
    if (problem !== null)
      throw new Trouble(problem, `follow what ${provider} says above; see docs/operations.md, "Behind a CDN"`);
    if (purged > 0) return `${provider} took it`;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Trouble('no answer within 20 seconds', 'check that this machine can reach the API of the CDN');
}

/** Vendors behind single features: the ticker's prices, the CDN, the search engine. */
import { type CdnSettings, openCdn } from '../../lib/cdn/cdn.server.ts';
import type { Logger } from '../../lib/logging.ts';
import { openAlgolia } from '../../lib/search/algolia.server.ts';
import { QuotesUnavailable } from '../../lib/ticker/model.ts';
import { type QuotesAccess, twelveData } from '../../lib/ticker/twelve-data.server.ts';
import type { AlgoliaSettings } from '../config/vendors.ts';
import { type Check, fields, request, type Step, Trouble } from './checks.ts';

/** Requests one price, which costs one credit. @param symbols the ticker's symbols */
export function tickerCheck(access: QuotesAccess | null, symbols: readonly string[]): Check {
  const [symbol = ''] = symbols;
  return {
    service: 'ticker',
    missing: access ? null : 'set QUOTES_KEY',
    steps: [{ asks: `GET /quote?symbol=${symbol}`, run: () => quote(access, symbol) }],
  };
}

async function quote(access: QuotesAccess | null, symbol: string): Promise<string> {
  if (!access) throw new Error('no provider is configured');
  try {
    const price = (await twelveData(access, 15_000).quotes([symbol])).get(symbol)?.price;
    return `${symbol} at ${price}`;
  } catch (error) {
    if (!(error instanceof QuotesUnavailable)) throw error;
    const remedy = `check QUOTES_KEY, the credits of the account, and that its plan has ${symbol} (ticker in src/publication.ts)`;
    throw new Trouble(error.message, remedy, { cause: error });
  }
}

/** No page has this tag, so a purge removes nothing. */
const dummyTag = 'broadsheet-verify';

/** Purges a tag through the site's own CDN client. */
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
    if (purged > 0) return `${provider} accepted it`;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Trouble('no answer within 20 seconds', 'check that this machine can reach the API of the CDN');
}

/** The permissions that the site needs to fill the index. Source: Algolia, "API keys", list of ACLs. */
const needed = ['addObject', 'deleteObject'] as const;

/** Searches with the search key, and reads the permissions of the write key. */
export function searchCheck(algolia: AlgoliaSettings | null, log: Logger): Check {
  const steps: Step[] = [{ asks: 'a search with ALGOLIA_SEARCH_KEY', run: () => search(configured(algolia), log) }];
  if (algolia === null || algolia.writeKey !== null) {
    steps.push({ asks: 'what ALGOLIA_WRITE_KEY may do', run: () => rights(configured(algolia)) });
  }
  const missing = algolia ? null : 'set ALGOLIA_APP_ID, ALGOLIA_SEARCH_KEY and ALGOLIA_INDEX';
  return { service: 'algolia', missing, steps };
}

function configured(algolia: AlgoliaSettings | null): AlgoliaSettings {
  if (!algolia) throw new Error('Algolia is not configured');
  return algolia;
}

async function search(algolia: AlgoliaSettings, log: Logger): Promise<string> {
  const reader = () => {
    throw new Error('verify does not feed the index');
  };
  const engine = openAlgolia({ access: { ...algolia, writeKey: null }, timeoutMs: 10_000, reader, dataDir: '', log });
  const answer = await engine.query('', {});
  if (answer.ok) return `${answer.total} stories in ${algolia.index}`;
  throw new Trouble(answer.problem, 'copy the keys from "API Keys" in the Algolia dashboard, and check ALGOLIA_INDEX');
}

async function rights(algolia: AlgoliaSettings): Promise<string> {
  const base = algolia.url ?? `https://${algolia.appId}.algolia.net`;
  const key = algolia.writeKey ?? '';
  const headers = { 'X-Algolia-Application-Id': algolia.appId, 'X-Algolia-API-Key': key };
  const reply = await request(`${base}/1/keys/${encodeURIComponent(key)}`, 'ALGOLIA_URL', { headers });
  const { acl } = fields(reply.json);
  if (reply.status !== 200 || !Array.isArray(acl)) {
    throw new Trouble(`status ${reply.status}`, 'ALGOLIA_WRITE_KEY must be a key of this application; copy it again');
  }
  const lacking = needed.filter((right) => !acl.includes(right));
  if (lacking.length === 0) return acl.join(', ');
  throw new Trouble(
    `it may not ${lacking.join(' and ')}`,
    `give the key of ALGOLIA_WRITE_KEY the rights ${needed.join(', ')}`,
  );
}

/** Vendors behind single features: the ticker's prices, the CDN, the bucket, the search engine. */
import type { PushSettings } from '../../lib/alerts/onesignal.server.ts';
import { type CdnSettings, openCdn } from '../../lib/cdn/cdn.server.ts';
import type { ConsentPlatform } from '../../lib/consent/platform.ts';
import type { Logger } from '../../lib/logging.ts';
import { openAlgolia } from '../../lib/search/algolia.server.ts';
import type { AlgoliaAccess } from '../../lib/search/model.ts';
import {
  type ThirdParties,
  type ThirdPartyName,
  thirdPartyNames,
  thirdPartyPurposes,
} from '../../lib/third-party/settings.ts';
import { type Sources, thirdPartySources } from '../../lib/third-party/sources.ts';
import { QuotesUnavailable } from '../../lib/ticker/model.ts';
import { type QuotesAccess, twelveData } from '../../lib/ticker/twelve-data.server.ts';
import { BucketError, type BucketSettings, openBucket } from '../cluster/bucket.ts';
import { type Check, CheckFailure, checkOf, fields, request } from './checks.ts';

/** Requests one price, which costs one credit. @param symbols the ticker's symbols */
export function tickerCheck(access: QuotesAccess | null, [symbol = '']: readonly string[]): Check {
  return checkOf('ticker', access, 'set QUOTES_KEY', [
    [
      `GET /quote?symbol=${symbol}`,
      async (settings) => {
        try {
          return `${symbol} at ${(await twelveData(settings, 15_000).quotes([symbol])).get(symbol)?.price}`;
        } catch (error) {
          if (!(error instanceof QuotesUnavailable)) throw error;
          const remedy = `check QUOTES_KEY, the credits of the account, and that its plan has ${symbol} (ticker in src/publication.ts)`;
          throw new CheckFailure(error.message, remedy, { cause: error });
        }
      },
    ],
  ]);
}

/** Finds the segment that gets breaking news; nothing is sent. */
export const pushCheck = (push: PushSettings | null): Check =>
  checkOf('onesignal', push, 'set ONESIGNAL_APP_ID and ONESIGNAL_API_KEY', [
    [
      'GET /apps/{app id}/segments',
      async ({ url, appId, key, segment }) => {
        const address = `${url}/apps/${appId}/segments?limit=300`;
        const { status, json } = await request(address, 'ONESIGNAL_API_URL', {
          headers: { Authorization: `Key ${key}` },
        });
        const { segments } = fields(json);
        if (status !== 200 || !Array.isArray(segments)) {
          const remedy = 'copy the App API key and the app id from Keys & IDs in OneSignal';
          throw new CheckFailure(`it answers ${status}`, remedy);
        }
        if (segments.some((each) => fields(each).name === segment)) return `the segment ${segment} exists`;
        const names = segments.map((each) => String(fields(each).name)).join(', ');
        throw new CheckFailure(`there is no segment ${segment}`, `set ONESIGNAL_SEGMENT to one of: ${names}`);
      },
    ],
  ]);

/** No page has this tag, so a purge removes nothing. */
const dummyTag = 'broadsheet-verify';

/** Purges a tag through the site's own CDN client, and requests the front page as a reader does. @param siteUrl its public address */
export const cdnCheck = (cdn: CdnSettings | null, siteUrl: string, log: Logger): Check =>
  checkOf('cdn', cdn, 'set CDN_PROVIDER and its keys', [
    [
      `purge of the tag ${dummyTag}`,
      async (settings) => {
        const opened = openCdn(settings, log, { collectMs: 0, timeoutMs: 15_000, misconfiguredMs: 60_000 });
        try {
          opened.purge([dummyTag], { withdrawn: true });
          return await outcome(opened);
        } finally {
          await opened.close();
        }
      },
    ],
    ['GET / twice', () => frontPage(siteUrl)],
  ]);

const cdnGuide = 'see docs/operations.md, "Behind a CDN"';

/** Whether readers get the front page from the CDN, and with the site's own policy for browsers. */
async function frontPage(siteUrl: string): Promise<string> {
  await request(`${siteUrl}/`, 'SITE_URL');
  const { status, headers } = await request(`${siteUrl}/`, 'SITE_URL');
  if (status !== 200)
    throw new CheckFailure(`it answers ${status}`, `check that the site runs, and that ${siteUrl} leads to it`);
  const policy = headers.get('cache-control') ?? 'none';
  if (!/(?:^|[\s,])max-age=0(?![\d])/.test(policy)) {
    const remedy = `let browsers revalidate pages; in Cloudflare set Browser Cache TTL to Respect Existing Headers; ${cdnGuide}`;
    throw new CheckFailure(`browsers get Cache-Control: ${policy}`, remedy);
  }
  const cached = headers.get('cf-cache-status');
  if (cached === 'DYNAMIC' || cached === 'BYPASS') {
    const remedy = `add a cache rule in Cloudflare that makes pages eligible for cache; ${cdnGuide}`;
    throw new CheckFailure(`Cloudflare doesn't keep the page (CF-Cache-Status: ${cached})`, remedy);
  }
  return cached === null ? 'browsers revalidate it' : `browsers revalidate it, CF-Cache-Status: ${cached}`;
}

async function outcome(opened: ReturnType<typeof openCdn>): Promise<string> {
  for (let waited = 0; waited < 20_000; waited += 50) {
    const { provider, purged, problem } = opened.stats();
    if (problem !== null) throw new CheckFailure(problem, `follow what ${provider} says above; ${cdnGuide}`);
    if (purged > 0) return `${provider} accepted it`;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new CheckFailure('no answer within 20 seconds', 'check that this machine can reach the API of the CDN');
}

const bucketMs = 15_000;
const probe = 'broadsheet-verify.txt';

/** Uploads a file, finds it, reads it and deletes it: each needs a right of its own. */
export const bucketCheck = (settings: BucketSettings | null): Check => {
  const step = (run: (folder: ReturnType<typeof openBucket>) => Promise<string>) => async (given: BucketSettings) => {
    try {
      return await run(openBucket(given, bucketMs));
    } catch (error) {
      if (!(error instanceof BucketError)) throw error;
      const remedy = error.remedy ?? 'check ASSETS_BUCKET, and that this machine can reach it';
      throw new CheckFailure(error.result, remedy, { cause: error });
    }
  };
  return checkOf('bucket', settings, 'set ASSETS_BUCKET, ASSETS_BUCKET_KEY_ID and ASSETS_BUCKET_SECRET', [
    [`PUT ${probe}`, step((folder) => folder.put(probe, Buffer.from(probe)).then(() => 'stored'))],
    ['ListObjectsV2', step(async (folder) => `${(await folder.list()).size} files`)],
    [
      `GET ${probe}`,
      step(async (folder) => {
        const bytes = await folder.get(probe, AbortSignal.timeout(bucketMs));
        if (bytes?.toString() === probe) return 'the same bytes';
        throw new BucketError('other bytes', 'check that ASSETS_BUCKET is the address of the service, not of a CDN');
      }),
    ],
    [`DELETE ${probe}`, step((folder) => folder.remove(probe).then(() => 'deleted'))],
  ]);
};

/** The permissions that the site needs to fill the index. Source: Algolia, "API keys", list of ACLs. */
const needed = ['addObject', 'deleteObject'] as const;

/** Searches with the search key, and reads the permissions of the write key. */
export const searchCheck = (algolia: AlgoliaAccess | null, log: Logger): Check =>
  checkOf('algolia', algolia, 'set ALGOLIA_APP_ID, ALGOLIA_SEARCH_KEY and ALGOLIA_INDEX', [
    ['a search with ALGOLIA_SEARCH_KEY', (settings) => search(settings, log)],
    ...(algolia?.writeKey === null ? [] : [['what ALGOLIA_WRITE_KEY may do', rights] as const]),
  ]);

async function search(algolia: AlgoliaAccess, log: Logger): Promise<string> {
  const reader = () => {
    throw new Error('verify does not feed the index');
  };
  const engine = openAlgolia({ access: { ...algolia, writeKey: null }, timeoutMs: 10_000, reader, dataDir: '', log });
  const answer = await engine.query('', {});
  if (answer.ok) return `${answer.total} stories in ${algolia.index}`;
  throw new CheckFailure(
    answer.problem,
    'copy the keys from "API Keys" in the Algolia dashboard, and check ALGOLIA_INDEX',
  );
}

async function rights(algolia: AlgoliaAccess): Promise<string> {
  const base = algolia.url ?? `https://${algolia.appId}.algolia.net`;
  const key = algolia.writeKey ?? '';
  const headers = { 'X-Algolia-Application-Id': algolia.appId, 'X-Algolia-API-Key': key };
  const reply = await request(`${base}/1/keys/${encodeURIComponent(key)}`, 'ALGOLIA_URL', { headers });
  const { acl } = fields(reply.json);
  if (reply.status !== 200 || !Array.isArray(acl)) {
    throw new CheckFailure(
      `status ${reply.status}`,
      'ALGOLIA_WRITE_KEY must be a key of this application; copy it again',
    );
  }
  const lacking = needed.filter((right) => !acl.includes(right));
  if (lacking.length === 0) return acl.join(', ');
  throw new CheckFailure(
    `it may not ${lacking.join(' and ')}`,
    `give the key of ALGOLIA_WRITE_KEY the rights ${needed.join(', ')}`,
  );
}

// Third-party scripts: whether each one responds, and whether our content security policy allows the hosts that it names.

interface Script {
  /** Setting that turns it on. */
  readonly setting: string;
  /** Its address as pages load it; `null` when it is off. */
  readonly url: string | null;
  /** Setting for hosts that it names and our policy blocks; without one, its hosts are not checked. */
  readonly hosts?: 'TAG_HOSTS' | 'CONSENT_PLATFORM_HOSTS';
}

/**
 * @param settings of the third parties whose scripts pages load
 * @param platform the consent platform
 * @param retention address of the script of the retention widget, which handles cancellation
 */
export function tagsCheck(
  settings: ThirdParties,
  platform: ConsentPlatform | null = null,
  retention: string | null = null,
): Check[] {
  const sources = thirdPartySources(settings, platform);
  const scripts = scriptsOf(settings);
  const check = (name: string, script: Script, allowed: readonly string[]): Check =>
    checkOf('tags', script.url, `set ${script.setting}`, [
      [`the script of ${name}`, (url) => load(url, script, sources, allowed)],
    ]);
  const own: Script = {
    setting: 'CONSENT_PLATFORM_URL',
    url: platform?.scriptUrl ?? null,
    hosts: 'CONSENT_PLATFORM_HOSTS',
  };
  const leaving: Script = { setting: 'CHURNKEY_APP_ID', url: retention };
  return [
    ...thirdPartyNames.flatMap((name) => {
      const script = scripts[name];
      return script ? [check(thirdPartyPurposes[name].name, script, sources['script-src'])] : [];
    }),
    check('the consent platform', own, sources['script-src']),
    // The policy follows its address (server/http/security-headers.ts).
    check('Churnkey', leaving, retention === null ? [] : [new URL(retention).origin]),
  ];
}

function scriptsOf(settings: ThirdParties): Partial<Record<ThirdPartyName, Script>> {
  const { tagManager, audience, webPush, referral, scheduling, ads } = settings;
  return {
    tagManager: {
      setting: 'GTM_CONTAINER',
      url: tagManager && withId(tagManager.scriptUrl, tagManager.container),
      hosts: 'TAG_HOSTS',
    },
    audience: { setting: 'MARFEEL_ACCOUNT', url: audience && withId(audience.scriptUrl, audience.account) },
    webPush: { setting: 'ONESIGNAL_APP_ID', url: webPush && `${webPush.sdkUrl}/OneSignalSDK.page.js` },
    referral: { setting: 'GROWSURF_CAMPAIGN', url: referral?.scriptUrl ?? null },
    scheduling: { setting: 'CALENDLY_URL', url: scheduling?.scriptUrl ?? null },
    ads: { setting: 'GPT_NETWORK', url: ads?.scriptUrl ?? null },
  };
}

function withId(address: string, id: string): string {
  const url = new URL(address);
  url.searchParams.set('id', id);
  return url.href;
}

async function load(
  address: string,
  { setting, hosts }: Script,
  sources: Sources,
  allowed: readonly string[],
): Promise<string> {
  if (!isAllowed(address, allowed)) {
    throw new CheckFailure(
      `our policy blocks ${new URL(address).origin}`,
      'report this: the policy must follow the script address',
    );
  }
  const reply = await request(address, setting);
  const type = reply.headers.get('content-type') ?? 'no media type';
  if (reply.status !== 200 || !/javascript|ecmascript/.test(type)) {
    throw new CheckFailure(
      `status ${reply.status}, ${type}`,
      `check ${setting}: copy the id again from the vendor's settings`,
    );
  }
  const blocked = hosts ? hostsIn(reply.text).filter((host) => !isNamed(host, sources)) : [];
  const size = `${Math.ceil(reply.text.length / 1024)} kB of script`;
  if (blocked.length === 0) return size;
  const named = `${blocked.slice(0, 8).join(', ')}${blocked.length > 8 ? ` and ${blocked.length - 8} more` : ''}`;
  // A platform names the pages of each of its vendors; only a browser shows what it really loads.
  if (hosts === 'CONSENT_PLATFORM_HOSTS') return `${size}; it names ${named}; add those that it loads from to ${hosts}`;
  throw new CheckFailure(
    `the container names ${named}, which our policy blocks`,
    'put the hosts that your tags really use into TAG_HOSTS; the operators’ page shows what browsers report as blocked',
  );
}

/** Hosts that a script names in full URLs. Google's own code names some that it never loads from a page. */
function hostsIn(text: string): string[] {
  const named = text.matchAll(/https:\/\/((?:[a-z0-9-]+\.)+[a-z]{2,})(?=[/"'?:\\])/g);
  return [...new Set([...named].map(([, host = '']) => host))].filter((host) => !ignored.test(host)).toSorted();
}

const ignored =
  /(?:^|\.)(?:w3\.org|schema\.org|googletagmanager\.com|google\.com|googleapis\.com|gstatic\.com|doubleclick\.net)$/;

const isNamed = (host: string, sources: Sources): boolean =>
  Object.values(sources).some((allowed) => isAllowed(`https://${host}/`, allowed));

/** Whether a source list of a content security policy allows an address; hosts and `*.` hosts with a scheme (CSP3, 6.7.2.8). */
export function isAllowed(address: string, sources: readonly string[]): boolean {
  const { protocol, host } = new URL(address);
  return sources.some((source) => {
    const [, scheme, wild, name] = /^(https?:)\/\/(\*\.)?([^/]+)$/.exec(source) ?? [];
    if (scheme !== protocol || name === undefined) return false;
    return wild ? host.endsWith(`.${name}`) : host === name;
  });
}

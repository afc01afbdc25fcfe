/**
 * Search engines that may read restricted articles, so that they can index them. A client that calls itself one is checked by its
 * network address, against the ranges that the search engine publishes and then by reverse and forward DNS. Only such clients are
 * checked, and only for restricted pages.
 */
import { promises as dns } from 'node:dns';
import { readFile } from 'node:fs/promises';
import { BlockList, isIP } from 'node:net';
import { type BoundedMap, createBoundedMap } from '../../lib/bounded-map.ts';
import { blockOf, networkOf } from '../../lib/http/network.ts';
import { createOpenCounts, type OpenCounts } from '../../lib/http/open-counts.ts';
import { failAfter } from '../../lib/jobs/tasks.ts';
import type { Logger } from '../../lib/logging.ts';

/** Engines that the settings can name. */
export const crawlerNames = ['google', 'bing', 'apple', 'duckduckgo'] as const;
export type CrawlerName = (typeof crawlerNames)[number];

interface Engine {
  /** Its name in `User-Agent`. */
  readonly agent: RegExp;
  /** Domains of its hosts. */
  readonly domains: readonly string[];
}

/**
 * Names and domains from the search engines' documentation. DuckDuckGo publishes only addresses. Google's inspection tool and its fetchers
 * under google.com aren't included: they fetch and show whatever their users request.
 */
const engines: Readonly<Record<CrawlerName, Engine>> = {
  google: { agent: /Googlebot/i, domains: ['googlebot.com'] },
  bing: { agent: /bingbot/i, domains: ['search.msn.com'] },
  apple: { agent: /Applebot/i, domains: ['applebot.apple.com'] },
  duckduckgo: { agent: /DuckDuckBot/i, domains: [] },
};

export interface CrawlersConfig {
  readonly names: readonly CrawlerName[];
  /** Lists of address ranges, each a file or an address, in the form that Google publishes them. */
  readonly ranges: Readonly<Partial<Record<CrawlerName, string>>>;
}

export interface CrawlersOptions extends CrawlersConfig {
  /** The system's resolver, or a substitute in tests. */
  readonly dns?: Resolver;
  readonly log: Logger;
  /** Fetches a list; for tests. */
  readonly fetch?: typeof fetch;
  /** Milliseconds; for tests. */
  readonly now?: () => number;
}

export interface Crawlers {
  /** The engine that a `User-Agent` names; `null`: none. It runs for each request, so it compares once. */
  claims(userAgent: string | undefined): CrawlerName | null;
  /** Whether an address belongs to this engine. It never rejects; a failed look-up counts as no. */
  verify(name: CrawlerName, address: string): Promise<boolean>;
}

interface Resolver {
  reverse(address: string): Promise<readonly string[]>;
  lookup(host: string): Promise<readonly string[]>;
}

const systemDns: Resolver = {
  reverse: (address) => dns.reverse(address),
  lookup: async (host) => (await dns.lookup(host, { all: true })).map(({ address }) => address),
};

const hour = 60 * 60 * 1000;
/** How long a result is valid, and how old a list may be before it is fetched again. */
const validMs = { yes: 24 * hour, no: hour / 6, list: 24 * hour, failedList: hour / 6 };
const mostRemembered = 5000;
/** Concurrent DNS look-ups: clients that pretend to be crawlers from many addresses must not overload the resolver. */
const mostAsking = 20;
/** Of them for one network: its owner may run a name server that never answers. */
const mostOfNetwork = 2;
const timeoutMs = 3000;
const longestList = 4 * 1024 * 1024;

interface CrawlersState extends CrawlersOptions {
  readonly dns: Resolver;
  readonly now: () => number;
  readonly wanted: readonly (readonly [CrawlerName, Engine])[];
  readonly anyAgent: RegExp;
  readonly known: BoundedMap<{ readonly answer: boolean; readonly until: number }>;
  readonly asking: Map<string, Promise<boolean>>;
  /** Look-ups in progress, by network. */
  readonly askingFor: OpenCounts;
  readonly lists: Map<CrawlerName, { readonly list: Promise<BlockList | null>; until: number }>;
}

export function createCrawlers(options: CrawlersOptions): Crawlers {
  const wanted = options.names.map((name) => [name, engines[name]] as const);
  const crawlers: CrawlersState = {
    dns: systemDns,
    ...options,
    // The clock of the process runs on when the machine's is set.
    now: options.now ?? (() => performance.now()),
    wanted,
    anyAgent: new RegExp(wanted.map(([, { agent }]) => agent.source).join('|') || '(?!)', 'i'),
    known: createBoundedMap(mostRemembered / 2),
    asking: new Map(),
    askingFor: createOpenCounts(),
    lists: new Map(),
  };
  return { claims: (userAgent) => claims(crawlers, userAgent), verify: (name, given) => verify(crawlers, name, given) };
}

async function read(crawlers: CrawlersState, source: string): Promise<string> {
  if (!/^https?:/i.test(source)) return readFile(source, 'utf8');
  const answer = await (crawlers.fetch ?? fetch)(source, { signal: AbortSignal.timeout(timeoutMs) });
  if (!answer.ok) throw new Error(`The server of the list responded with ${answer.status}.`);
  const text = await answer.text();
  if (text.length > longestList) throw new Error('The list is too long.');
  return text;
}

/** The published ranges; if a new list can't be fetched, the last valid one. */
function listOf(crawlers: CrawlersState, name: CrawlerName): Promise<BlockList | null> {
  const source = crawlers.ranges[name];
  if (source === undefined) return Promise.resolve(null);
  const known = crawlers.lists.get(name);
  if (known && known.until > crawlers.now()) return known.list;
  const list = read(crawlers, source)
    .then(readRanges)
    .catch(async (error: unknown) => {
      crawlers.log.warn({ err: error, crawler: name }, "The address ranges of a crawler can't be read");
      const mine = crawlers.lists.get(name);
      if (mine) mine.until = crawlers.now() + validMs.failedList;
      return (await known?.list) ?? null;
    });
  crawlers.lists.set(name, { list, until: crawlers.now() + validMs.list });
  return list;
}

async function byName(crawlers: CrawlersState, { domains }: Engine, address: string): Promise<boolean> {
  const hosts = domains.length > 0 ? await crawlers.dns.reverse(address) : [];
  for (const host of hosts.slice(0, 4)) {
    const plain = host.toLowerCase().replace(/\.$/, '');
    if (!domains.some((domain) => plain.endsWith(`.${domain}`))) continue;
    if ((await crawlers.dns.lookup(plain)).some((one) => sameAddress(one, address))) return true;
  }
  return false;
}

async function isPublished(crawlers: CrawlersState, name: CrawlerName, address: string): Promise<boolean> {
  const list = await listOf(crawlers, name);
  return list?.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4') ?? false;
}

async function find(crawlers: CrawlersState, name: CrawlerName, address: string): Promise<boolean> {
  try {
    return await failAfter(timeoutMs, byName(crawlers, engines[name], address), 'The DNS look-up timed out.');
  } catch (error) {
    crawlers.log.debug({ err: error, crawler: name }, "A crawler couldn't be looked up");
    return false;
  }
}

function claims(crawlers: CrawlersState, userAgent: string | undefined): CrawlerName | null {
  // Hardly any client claims to be a crawler, so a single comparison handles the others.
  if (userAgent === undefined || !crawlers.anyAgent.test(userAgent)) return null;
  for (const [name, { agent }] of crawlers.wanted) if (agent.test(userAgent)) return name;
  return null;
}

async function verify(crawlers: CrawlersState, name: CrawlerName, given: string): Promise<boolean> {
  const address = given.replace(/^::ffff:(?=\d+\.)/i, '').replace(/%.*$/, '');
  if (isIP(address) === 0 || !crawlers.names.includes(name)) return false;
  const key = `${name} ${address}`;
  const before = crawlers.known.get(key);
  if (before && before.until > crawlers.now()) return before.answer;
  if (await isPublished(crawlers, name, address)) return remember(crawlers, key, true);
  const running = crawlers.asking.get(key);
  if (running) return running;
  const network = blockOf(address) ?? networkOf(address);
  if (crawlers.asking.size >= mostAsking || crawlers.askingFor.of(network) >= mostOfNetwork) return false;
  crawlers.askingFor.add(network);
  const question = find(crawlers, name, address).finally(() => {
    crawlers.asking.delete(key);
    crawlers.askingFor.remove(network);
  });
  crawlers.asking.set(key, question);
  return remember(crawlers, key, await question);
}

function remember(crawlers: CrawlersState, key: string, answer: boolean): boolean {
  crawlers.known.set(key, { answer, until: crawlers.now() + (answer ? validMs.yes : validMs.no) });
  return answer;
}

/** Whether two spellings mean the same address. */
function sameAddress(a: string, b: string): boolean {
  const family = isIP(a);
  if (family === 0 || family !== isIP(b)) return false;
  const one = new BlockList();
  one.addAddress(a, family === 6 ? 'ipv6' : 'ipv4');
  return one.check(b, family === 6 ? 'ipv6' : 'ipv4');
}

/**
 * Reads `{"prefixes": [{"ipv4Prefix": "…/…"}, {"ipv6Prefix": "…/…"}]}`.
 *
 * @throws Error when the format differs, or a prefix is too short to be a crawler's
 */
export function readRanges(text: string): BlockList {
  const { prefixes } = JSON.parse(text) as { prefixes?: unknown };
  if (!Array.isArray(prefixes) || prefixes.length === 0) throw new Error('The list holds no prefixes.');
  const list = new BlockList();
  for (const each of prefixes as Record<string, unknown>[]) {
    const prefix = String(each.ipv4Prefix ?? each.ipv6Prefix ?? '');
    const [address = '', bits = ''] = prefix.split('/');
    const family = isIP(address);
    const length = Number(bits);
    const least = family === 6 ? 16 : 8;
    if (family === 0 || !/^\d{1,3}$/.test(bits) || length < least || length > (family === 6 ? 128 : 32))
      throw new Error(`"${prefix}" is too wide for a crawler, or no range.`);
    list.addSubnet(address, length, family === 6 ? 'ipv6' : 'ipv4');
  }
  return list;
}

/** The site with paid articles, and a search for their text in its responses. */
import { Agent, request as httpRequest } from 'node:http';
import { brotliDecompressSync, gunzipSync, inflateSync, zstdDecompressSync } from 'node:zlib';
import { createAccessCookie } from '../../src/press/delivery/access-cookie.ts';
import { type AccountSite, startAccountSite } from '../fixtures/account-site.ts';
import { entriesOfPaid, type Paid, paidArticles, secretStart } from '../fixtures/paid-paper.ts';

export const key = { id: 'k1', secret: 'a-secret-for-the-access-cookie-of-tests' };
export const cookies = createAccessCookie({ name: 'access', keys: [key] });
export const soon = (): number => Math.floor(Date.now() / 1000) + 600;
export const googlebot = 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)';

export let site: AccountSite;
export let paid: readonly Paid[] = [];
/** Keeps connections, as browsers do: only requests on such connections are answered by the fast path. */
const kept = new Agent({ keepAlive: true });
let requests = 0;
/** Every fourth request has a connection of its own, so that the slow path is searched, too. */
const nextAgent = (): Agent | false => (++requests % 4 === 0 ? false : kept);

export async function startSite(): Promise<void> {
  site = await startAccountSite({
    write: (wordpress) => {
      paid = paidArticles(wordpress);
    },
    pictureSize: { width: 800, height: 600 },
    // A search engine may read everything, from addresses that no reader in this test has.
    front: {
      crawlers: {
        claims: (agent) => (/Googlebot/.test(agent ?? '') ? 'google' : null),
        verify: async (_, address) => address === '192.0.2.66',
      },
    },
  });
}

export interface Seen {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

/** Requests exactly the given path; the response is decompressed, and its headers are searched, too. */
export function ask(path: string, headers: Record<string, string> = {}, method = 'GET', body?: string): Promise<Seen> {
  return new Promise((resolve, reject) => {
    const outgoing = httpRequest(
      { port: site.port, host: '127.0.0.1', path, method, headers, agent: nextAgent() },
      (incoming) => {
        const chunks: Buffer[] = [];
        incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
        incoming.on('error', reject);
        incoming.on('end', () => {
          const raw = Buffer.concat(chunks);
          const text = raw.byteLength > 0 ? unpacked(raw, incoming.headers['content-encoding']) : '';
          resolve({ status: incoming.statusCode ?? 0, headers: incoming.headers, text });
        });
      },
    );
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}

function unpacked(raw: Buffer, encoding: string | undefined): string {
  switch (encoding) {
    case 'br':
      return brotliDecompressSync(raw).toString();
    case 'gzip':
      return gunzipSync(raw).toString();
    case 'deflate':
      return inflateSync(raw).toString();
    case 'zstd':
      return zstdDecompressSync(raw).toString();
    default:
      return raw.toString();
  }
}

/** Secrets in a response, in any case, escaped or not. */
export function secretsIn({ text, headers }: Seen): string[] {
  const all = `${text}\n${JSON.stringify(headers)}`.toLowerCase();
  // One search instead of one for each article: nearly all responses have no secret.
  if (!all.includes(secretStart.toLowerCase())) return [];
  return paid.map(({ secret }) => secret).filter((secret) => all.includes(secret.toLowerCase()));
}

/** Requests many addresses, a few at a time. @returns what was found where */
export async function search(
  paths: Iterable<string>,
  headers: Record<string, string> = {},
  method = 'GET',
  body?: string,
) {
  const waiting = [...paths];
  const found: string[] = [];
  const worker = async (): Promise<void> => {
    for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
      const leaks = secretsIn(await ask(path, headers, method, body));
      if (leaks.length > 0) found.push(`${method} ${path}: ${leaks.join(', ')}`);
    }
  };
  await Promise.all(Array.from({ length: 8 }, worker));
  return found.toSorted();
}

/** Follows every link of the site from its front page, its feeds and its sitemaps. */
export async function crawl(headers: Record<string, string> = {}): Promise<{ paths: Set<string>; found: string[] }> {
  const paths = new Set([
    '/',
    '/sitemap.xml',
    '/news-sitemap.xml',
    '/rss.xml',
    '/atom.xml',
    '/feed.json',
    '/robots.txt',
    '/ads.txt',
    '/.well-known/security.txt',
  ]);
  const found: string[] = [];
  const queue = [...paths];
  for (let path = queue.pop(); path !== undefined; path = queue.pop()) {
    const seen = await ask(path, headers);
    for (const secret of secretsIn(seen)) found.push(`${path}: ${secret}`);
    const addresses = [
      ...seen.text.matchAll(
        /(?:href|src|data-src|data-fragment|action|content)="([^"]+)"|<loc>([^<]+)|"url": ?"([^"]+)"/g,
      ),
    ];
    for (const [, ...groups] of addresses) {
      const address = (groups.find((each) => each !== undefined) ?? '').replaceAll('&amp;', '&');
      if (!URL.canParse(address, 'https://paper.example')) continue;
      const url = new URL(address, 'https://paper.example');
      const next = url.pathname + url.search;
      if (url.origin !== 'https://paper.example' || /^\/(?:_assets|image|fonts)/.test(next) || paths.has(next))
        continue;
      if (paths.size > 1500) continue;
      paths.add(next);
      queue.push(next);
    }
  }
  return { paths, found: found.toSorted() };
}

export const articles = (): string[] => paid.map(({ slug }) => `/article/${slug}`);
export const words = () => ({
  slug: [...paid.map(({ slug }) => slug), 'politics', 'ada-byline', 'account', 'about'],
  thread: paid.map(({ id }) => String(1000 + id)),
  feed: ['rss.xml', 'atom.xml', 'feed.json'],
  name: ['articles-1', 'sections', 'pages', '1'],
  token: ['A'.repeat(43)],
  provider: ['google'],
  appId: ['paper'],
  id: paid.map(({ id }) => String(id)),
  entry: paid.flatMap(entriesOfPaid).map(String),
});

/** Other addresses that leaked on sites of this kind, and some that this site may get. */
export const others = (): string[] =>
  paid.flatMap(({ id, slug, beside }) => [
    `/search?q=${beside}`,
    `/search?q=${beside.slice(0, 7)}`,
    `/search?q="${beside}"`,
    `/search?q=${beside}&section=politics`,
    `/api/v1/articles/search?q=${beside}`,
    `/api/v1/articles/${id}`,
    `/api/v1/articles/popular/list?limit=10`,
    `/wp-json/wp/v2/articles/${id}`,
    `/wp-json/wp/v2/articles?slug=${slug}`,
    `/wp-json/wp/v2/articles?search=${beside}`,
    `/wp-json/wp/v2/search?search=${beside}`,
    `/?p=${id}`,
    `/?s=${beside}`,
    `/preview?type=articles&id=${id}`,
    `/preview?type=articles&id=${id}&expires=9999999999&signature=${'0'.repeat(64)}`,
    `/article/${slug}/live?page=2`,
    `/live/${id}`,
    `/live/${id}?since=x`,
    ...entriesOfPaid({ id }).map((entry) => `/fragments/live/${entry}`),
    `/article/${slug}/comments`,
    `/article/${slug}/comments?page=2`,
    `/article/${slug}/feed`,
    `/article/${slug}/rss.xml`,
    `/article/${slug}/amp`,
    `/article/${slug}.json`,
    `/article/${slug}.md`,
    `/article/${slug}/embed`,
    `/article/${slug}/print`,
    `/image?url=${encodeURIComponent(`https://paper.example/article/${slug}`)}&w=640&q=75`,
    `/-/press?page=/article/${slug}`,
  ]);

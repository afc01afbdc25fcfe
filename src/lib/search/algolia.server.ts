/** Algolia as the search engine, by its REST interface (algolia.com/doc/rest-api/search). It gets only public text. */
import type { SearchParamsObject } from 'algoliasearch';
import { z } from 'zod';
import { postJson } from '../http/post.server.ts';
import { cutToBytes, parseId } from '../text.ts';
import { type FeedOptions, openFeed } from './algolia-feed.server.ts';
import type { AlgoliaAccess, HostedAnswer, HostedEngine } from './model.ts';

export interface AlgoliaOptions extends Omit<FeedOptions, 'access' | 'writeKey'> {
  readonly access: AlgoliaAccess;
  /** Milliseconds until the site's own index is used instead; 800 by default. */
  readonly timeoutMs?: number;
}

/** Longest query that the engine accepts, bytes (docs/services/algolia.md). */
const longestQuery = 512;

/** Most hits of a query that the engine returns by default (docs/services/algolia.md). */
const mostHits = 1000;

/** The used fields of a response. */
const answer = z.object({
  nbHits: z.number().int().nonnegative(),
  hits: z.array(
    z.object({
      objectID: z.string(),
      _snippetResult: z.record(z.string(), z.unknown()).optional(),
    }),
  ),
});

const snippetResult = z.object({ value: z.string(), matchLevel: z.string() });

/** Attributes with a snippet, the most useful first. */
const snippets = ['text', 'standfirst'];

/** Nothing is sent before the first query or `feed.start()`. */
export function openAlgolia({ access, timeoutMs = 800, ...feeding }: AlgoliaOptions): HostedEngine {
  const base = access.url ?? `https://${access.appId}-dsn.algolia.net`;
  const url = `${base}/1/indexes/${encodeURIComponent(access.index)}/query`;
  const headers = { 'X-Algolia-Application-Id': access.appId, 'X-Algolia-API-Key': access.searchKey };
  const { writeKey } = access;

  async function query(text: string, { section, since, until, offset = 0, limit = 10 }: Filter): Promise<HostedAnswer> {
    const filters = [
      ...(section === undefined ? [] : [`sections:${JSON.stringify(section)}`]),
      ...(since === undefined ? [] : [`date >= ${seconds(since)}`]),
      ...(until === undefined ? [] : [`date < ${seconds(until)}`]),
    ];
    const result = await postJson({
      url,
      headers,
      timeoutMs,
      body: {
        query: cutToBytes(text, longestQuery),
        offset,
        length: limit,
        filters: filters.join(' AND '),
        attributesToRetrieve: ['objectID'],
        attributesToHighlight: [],
        attributesToSnippet: snippets.map((name) => `${name}:32`),
        snippetEllipsisText: '…',
        highlightPreTag: '\u0001',
        highlightPostTag: '\u0002',
        analytics: true,
        clickAnalytics: false,
      } satisfies SearchParamsObject,
    });
    if (!result.answered) return { ok: false, problem: result.message };
    if (result.status !== 200) return { ok: false, problem: problemOf(result.status) };
    const read = answer.safeParse(result.json);
    if (!read.success)
      return { ok: false, problem: `answered 200 with ${result.form} that isn't an answer to a search` };
    const hits = read.data.hits.flatMap(({ objectID, _snippetResult }) => {
      const id = parseId(objectID);
      return id === null ? [] : [{ id, snippet: snippetIn(_snippetResult) }];
    });
    return { ok: true, hits, total: read.data.nbHits };
  }

  return {
    mostHits,
    query,
    feed: writeKey === null ? null : openFeed({ ...feeding, access, writeKey }),
  };
}

type Filter = Parameters<HostedEngine['query']>[1];

const seconds = (instant: string): number => Math.floor(Date.parse(instant) / 1000);

/** The text around the match; `''` where only the headline matched. */
function snippetIn(result: z.infer<typeof answer>['hits'][number]['_snippetResult']): string {
  for (const name of snippets) {
    const read = snippetResult.safeParse(result?.[name]);
    if (read.success && read.data.matchLevel !== 'none') return read.data.value;
  }
  return '';
}

function problemOf(status: number): string {
  if (status === 401 || status === 403) {
    return `answered ${status}: ALGOLIA_APP_ID and ALGOLIA_SEARCH_KEY do not belong together, or the key may not search`;
  }
  if (status === 404) return 'answered 404: there is no index ALGOLIA_INDEX';
  return `answered ${status}`;
}

/** Times the queries that pages make to the content store. */

import { randomNumbers } from '../../sandbox/random.ts';
import { mergeSome, updateStoryText } from '../../src/content/search/index.server.ts';
import { openContentStore } from '../../src/content/store/content-store.server.ts';
import { createReader } from '../../src/content/store/reader.server.ts';
import type { ContentReader } from '../../src/lib/content/reader.ts';
import { silent } from '../../src/lib/logging.ts';
import { percentile } from '../support/figures.ts';
import { authorCount, firstId, sectionSlugs, word } from './synthetic.ts';

export interface QueryTime {
  readonly name: string;
  /** Milliseconds. */
  readonly p50: number;
  readonly p99: number;
}

/** Times every list and search of a content store with `count` articles. Each run of a query has different arguments. */
export function timeQueries(file: string, count: number): QueryTime[] {
  const store = openContentStore({ file, origin: null, log: silent });
  const next = randomNumbers(7);
  const any = (limit: number): number => Math.floor(next() * limit);
  const section = (): string => sectionSlugs[any(10)] ?? 'politics';
  const ids = (n: number): number[] => Array.from({ length: n }, () => firstId + any(count));
  const queries: [name: string, runs: number, ask: (reader: ContentReader) => unknown][] = [
    ['article by slug', 2000, (reader) => reader.article(`story-${firstId + any(count)}`)],
    ['latest, first page', 1000, (reader) => reader.articles({ limit: 10 })],
    ['latest, anywhere', 300, (reader) => reader.articles({ limit: 10, offset: any(count) })],
    ['section, first page', 1000, (reader) => reader.articles({ section: section(), limit: 12 })],
    [
      'section, deep page',
      300,
      (reader) => reader.articles({ section: section(), limit: 12, offset: any(count / 10) }),
    ],
    ['section, 20 excluded', 500, (reader) => reader.articles({ section: section(), limit: 6, exclude: ids(20) })],
    ['author', 1000, (reader) => reader.articles({ authorId: 1 + any(authorCount), limit: 12 })],
    [
      'author and section',
      500,
      (reader) => reader.articles({ authorId: 1 + any(authorCount), section: section(), limit: 12 }),
    ],
    ['ids in order (20)', 500, (reader) => reader.articles({ ids: ids(20) })],
    [
      'since (48 hours)',
      300,
      (reader) =>
        reader.articles({
          since: new Date(Date.UTC(2024, 0, 1) + count * 600_000 - 172_800_000).toISOString(),
          limit: 100,
        }),
    ],
    [
      'home (10 sections)',
      200,
      (reader) => reader.sections().map(({ slug }) => reader.articles({ section: slug, limit: 6 })),
    ],
    ['search, rare word', 200, (reader) => reader.search(word(5000 + any(10_000)), { limit: 10 })],
    ['search, common word', 60, (reader) => reader.search(word(20 + any(100)), { limit: 10 })],
    [
      'search, two words',
      60,
      (reader) => reader.search(`${word(20 + any(400))} ${word(20 + any(400))}`, { limit: 10 }),
    ],
    ['search, beginning', 60, (reader) => reader.search(`${word(10_000 + any(8000)).slice(0, 5)}`, { limit: 10 })],
  ];
  const times = queries.map(([name, runs, ask]) => {
    for (let warm = 0; warm < 5; warm++) ask(createReader(store));
    return timeOf(
      name,
      Array.from({ length: runs }, () => timed(() => ask(createReader(store))).ms),
    );
  });
  store.close();
  return times;
}

/**
 * Times what an edit of a story's text writes into the search index, within the edit's transaction, and the steps by which the index is tidied
 * in the background after it.
 */
export function timeEdits(file: string, count: number): QueryTime[] {
  const store = openContentStore({ file, origin: null, log: silent });
  const next = randomNumbers(11);
  const edits: number[] = [];
  const merges: number[] = [];
  for (let edit = 0; edit < 400; edit++) {
    const body = Array.from({ length: 600 }, () => word(Math.floor(20_000 ** next()))).join(' ');
    const id = firstId + Math.floor(next() * count);
    edits.push(timed(() => store.transaction(() => updateStoryText(store, id, { body }))).ms);
    for (let isMore = true; isMore; ) {
      const step = timed(() => mergeSome(store));
      merges.push(step.ms);
      isMore = step.result;
    }
    // The site's own thread does this (lib/workers/checkpoints.server.ts).
    store.prepare('PRAGMA wal_checkpoint(PASSIVE)').get();
  }
  store.close();
  return [timeOf('search index, an edit', edits), timeOf('search index, a step of merging', merges)];
}

function timed<T>(work: () => T): { readonly result: T; readonly ms: number } {
  const began = performance.now();
  const result = work();
  return { result, ms: performance.now() - began };
}

const timeOf = (name: string, ms: readonly number[]): QueryTime => ({
  name,
  p50: percentile(ms, 0.5),
  p99: percentile(ms, 0.99),
});

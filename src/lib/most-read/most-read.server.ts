/**
 * Counts readings in memory, writes them every second, and makes the lists of the most read. `kill -9` loses the readings since the
 * last write and nothing else; while the database is unavailable, readings wait in memory.
 */
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { z } from 'zod';
import { type BoundedMap, createBoundedMap } from '../bounded-map.ts';
import type { Card } from '../content/model.ts';
import type { ArticleFilter, ContentReader } from '../content/reader.ts';
import { tag } from '../content/tags.ts';
import type { Database } from '../database.ts';
import type { Limiter } from '../http/limiter.server.ts';
import { createRounds } from '../jobs/rounds.ts';
import { createFailureLog, type FailureLog, type Logger } from '../logging.ts';
import type { SharedValue } from '../shared-value.ts';
import { createFirstReadings } from './first-readings.server.ts';
import type { MostRead, ReadingNow, TopQuery } from './model.ts';
import { readRecent } from './recent.server.ts';
import { combinedScore, openScores, type Ranked, type Scores, scoreOf } from './scores.server.ts';

export interface MostReadRules {
  /** Hours in which a reading loses half of its weight. */
  readonly halfLifeHours: number;
  /** Default and maximum number of entries in a list. */
  readonly list: number;
  readonly most: number;
  /** Minimum number of minutes between two changes of the lists on pages. */
  readonly refreshMinutes: number;
  /** Readings of one article that count within a day from one IPv6 /48. */
  readonly perBlock: number;
}

export interface MostReadOptions {
  readonly database: Pick<Database, 'db' | 'transaction'>;
  /** A fresh reader of the content store. */
  readonly reader: () => ContentReader;
  readonly rules: MostReadRules;
  readonly limiter: Pick<Limiter, 'count'>;
  /** File of the lists on pages. */
  readonly file: string;
  /** Called with the tags of the lists that changed; pages that carry them must be rendered again. */
  readonly onChange: (tags: ReadonlySet<string>) => void;
  /** The lists of a cluster: one node makes them for all. Default: this is the only process. */
  readonly shared?: SharedValue | undefined;
  readonly log: Logger;
  /** Epoch milliseconds. */
  readonly now?: () => number;
}

export interface RunningMostRead extends MostRead {
  /** Starts to write readings and to read those of other processes. */
  start(): void;
  /** Writes the counted readings and stops. */
  stop(): Promise<void>;
  /** One round now: writes the counted readings, reads the scores, and renews the lists on pages when they are due. */
  runRound(): Promise<void>;
}

const everyMs = 1000;
/** How often the readings of other processes are looked up, milliseconds. */
const readScoresMs = 15_000;
const pruneMs = 3_600_000;
/** How long current readings are cached, milliseconds: every open screen of the newsroom requests them. */
const currentReadingsMs = 5000;
/** How long a list is cached, milliseconds, and the most lists that are cached. */
const listMs = 2000;
const mostLists = 200;
/** Number of top articles in memory; the lists of sections are selected from them. */
const mostRanked = 2000;
const articlesAtOnce = 50;
/** Most articles whose readings wait for the database; more than any newspaper has in one outage. */
const mostWaiting = 20_000;

interface State {
  readonly options: MostReadOptions;
  readonly now: () => number;
  /** Milliseconds. */
  readonly halfLife: number;
  readonly scores: Scores;
  /** Readings by article that are not written yet. */
  waiting: Map<number, number>;
  highest: readonly Ranked[];
  /** Recently made lists. Cards are read each time, so that a withdrawn article is never shown. */
  readonly recent: BoundedMap<{ readonly of: readonly Ranked[]; readonly at: number; readonly ids: number[] }>;
  /** The lists on pages, as in the file. */
  onPages: StoredLists;
  /** The lists of the cluster, and their text. */
  sharedLists: { readonly text: string; readonly lists: StoredLists } | null;
  sharing: Promise<void> | null;
  readonly shares: FailureLog;
  readAt: number;
  prunedAt: number;
  readNow: { readonly at: number; readonly answer: Promise<ReadingNow> } | undefined;
  /** Whether the scores were read since the start. */
  scoresRead: boolean;
}

/** Opens the service; nothing is written or read before `start`. */
export function createMostRead(options: MostReadOptions): RunningMostRead {
  const { rules, log, limiter, reader: readerNow, now = Date.now } = options;
  const halfLife = rules.halfLifeHours * 3_600_000;
  const firstReadings = createFirstReadings(rules, now);
  const state: State = {
    options,
    now,
    halfLife,
    scores: openScores(options.database, halfLife),
    waiting: new Map(),
    highest: [],
    recent: createBoundedMap(mostLists / 2),
    onPages: readLists(options.file),
    sharedLists: null,
    sharing: null,
    shares: createFailureLog(log),
    readAt: Number.NEGATIVE_INFINITY,
    prunedAt: Number.NEGATIVE_INFINITY,
    readNow: undefined,
    scoresRead: false,
  };
  const { runRound, start, stop } = createRounds({
    everyMs,
    work: () => round(state),
    hasWork: () => state.waiting.size > 0,
    log,
    failing: 'Readings cannot be written or read; they wait in memory',
    again: 'Readings are written again',
  });

  return {
    async count(article, address) {
      if (await limiter.count('reading', { address })) return 'limited';
      if (readerNow().articles({ ids: [article], limit: 1 }).items.length === 0) return 'unknown';
      const reading = firstReadings.check(article, address);
      if (reading !== 'first') return reading;
      const { waiting } = state;
      if (waiting.size >= mostWaiting && !waiting.has(article)) return 'limited';
      waiting.set(article, (waiting.get(article) ?? 0) + 1);
      return 'counted';
    },
    top: (query = {}) => firstCards(query.reader ?? readerNow(), topIds(state, query), limitWithin(rules, query.limit)),
    list({ limit, section = '', reader }) {
      reader.note(tag.popular(section));
      const most = limitWithin(rules, limit);
      const ids = listsOnPages(state).lists.get(section);
      if (!ids) {
        // Until there is a list, the newest articles are shown, and the page changes with them.
        return reader.articles({ limit: most, ...(section && { section }) }).items;
      }
      return firstCards(reader, ids, most);
    },
    now: () => readingNow(state),
    runRound,
    start,
    async stop() {
      await stop();
      const { size } = state.waiting;
      if (size > 0) log.error({ articles: size }, 'Readings could not be written and are lost');
    },
  };
}

const limitWithin = ({ list, most }: MostReadRules, limit: number | undefined): number =>
  limit === undefined || !Number.isFinite(limit) ? list : Math.min(most, Math.max(1, Math.trunc(limit)));

const cardsOf = (reader: ContentReader, ids: readonly number[]): readonly Card[] =>
  reader.articles({ ids, limit: ids.length }).items;

/** The first cards of a list. If an article was withdrawn, the next one moves up. */
function firstCards(reader: ContentReader, ids: readonly number[], most: number): readonly Card[] {
  const cards = cardsOf(reader, ids.slice(0, most));
  return cards.length < most && ids.length > most ? cardsOf(reader, ids).slice(0, most) : cards;
}

function readingNow(state: State): Promise<ReadingNow> {
  const at = state.now();
  const last = state.readNow;
  if (last && Math.abs(at - last.at) < currentReadingsMs) return last.answer;
  const published = (ids: readonly number[]) => new Set(cardsOf(state.options.reader(), ids).map(({ id }) => id));
  const answer = readRecent(state.options.database, at, published);
  state.readNow = { at, answer };
  // A failure isn't cached.
  answer.catch(() => {
    state.readNow = undefined;
  });
  return answer;
}

/** At least as many as are wanted, if there are: a list is also used for shorter ones, so that different lengths don't cause more work. */
function topIds(state: State, { limit, section }: Pick<TopQuery, 'limit' | 'section'>): readonly number[] {
  const { highest, recent, now } = state;
  const { rules } = state.options;
  const wanted = limitWithin(rules, limit);
  const most = wanted <= rules.list ? rules.list : rules.most;
  const key = `${most} ${section ?? ''}`;
  const known = recent.get(key);
  if (known && known.of === highest && Math.abs(now() - known.at) < listMs) return known.ids;
  const ids = ranked(state, most, section);
  recent.set(key, { of: highest, at: now(), ids });
  return ids;
}

function ranked(state: State, most: number, section: string | undefined): number[] {
  const { options, highest, halfLife } = state;
  const newest = options.reader().articles({ limit: most, ...(section !== undefined && { section }) }).items;
  // More candidates than places, because newer articles may come before them.
  const candidates = new Map([...highestPublished(state, 2 * most, section), ...newest].map((card) => [card.id, card]));
  const scores = new Map(highest.map(({ article, score }) => [article, score]));
  const at = state.now();
  return [...candidates.values()]
    .map(({ id, date }) => {
      const asPublished = scoreOf(1, Math.min(at, Date.parse(date)), halfLife);
      return { id, score: combinedScore(scores.get(id) ?? Number.NEGATIVE_INFINITY, asPublished) };
    })
    .sort((a, b) => b.score - a.score || b.id - a.id)
    .slice(0, most)
    .map(({ id }) => id);
}

/** The highest published articles, of a section where one is named. */
function highestPublished({ highest, options }: State, limit: number, section: string | undefined): Card[] {
  const cards: Card[] = [];
  for (let at = 0; at < highest.length && cards.length < limit; at += articlesAtOnce) {
    const ids = highest.slice(at, at + articlesAtOnce).map(({ article }) => article);
    cards.push(
      ...options.reader().articles({ ids, limit: ids.length, ...(section !== undefined && { section }) }).items,
    );
  }
  return cards;
}

async function round(state: State): Promise<void> {
  await write(state);
  await readScores(state);
  await renewLists(state);
}

async function write(state: State): Promise<void> {
  const batch = state.waiting;
  if (batch.size === 0) return;
  state.waiting = new Map();
  try {
    await state.scores.add(batch, state.now());
  } catch (error) {
    for (const [article, readings] of batch) state.waiting.set(article, (state.waiting.get(article) ?? 0) + readings);
    throw error;
  }
  state.readAt = Number.NEGATIVE_INFINITY;
}

async function readScores(state: State): Promise<void> {
  const { scores, now } = state;
  if (now() - state.readAt < readScoresMs) return;
  if (now() - state.prunedAt > pruneMs) {
    await scores.prune(now());
    state.prunedAt = now();
  }
  state.highest = await scores.highest(mostRanked);
  state.readAt = now();
  state.scoresRead = true;
}

async function renewLists(state: State): Promise<void> {
  const { now, options } = state;
  const { rules, log, file, onChange, shared } = options;
  const onPages = listsOnPages(state);
  if (onPages !== state.onPages) {
    state.onPages = onPages;
    writeLists(file, onPages, log);
  }
  if (state.sharing || shared?.leads() === false) return;
  // Before the database has responded once, no scores are known.
  if (!state.scoresRead) return;
  const age = now() - onPages.made;
  // A clock that was set back must not stop the lists.
  if (age >= 0 && age < rules.refreshMinutes * 60_000) return;
  const content = options.reader();
  if (!content.edition().ready) return;
  const shown = new Map(onPages.lists);
  const lists = new Map<string, readonly number[]>();
  for (const name of ['', ...content.sections().map(({ slug }) => slug)]) {
    const query = { limit: rules.list, section: name || undefined };
    // If there was no list, pages show the newest articles: a first list with the same articles causes no rendering.
    if (!shown.has(name)) shown.set(name, newestIds(state, query));
    lists.set(name, topIds(state, query));
    // Yields between lists, so that requests don't wait for all of them.
    await nextTurn();
  }
  const changed = changedLists(shown, lists);
  const made = { made: now(), lists };
  if (shared) return share(state, shared, textOf(made), changed.map(tag.popular));
  state.onPages = made;
  writeLists(file, made, log);
  if (changed.length > 0) onChange(new Set(changed.map(tag.popular)));
}

const newestIds = ({ options }: State, query: ArticleFilter): number[] =>
  options
    .reader()
    .articles(query)
    .items.map(({ id }) => id);

/**
 * Shares the lists with all nodes. Not awaited: that takes until their pages are fresh, and readings must be written in the
 * meantime.
 */
function share(state: State, shared: SharedValue, text: string, tags: readonly string[]): void {
  state.sharing = shared
    .write(text, tags)
    .then(
      () => {
        state.shares.worked();
      },
      (error: unknown) => {
        state.shares.failed({ err: error }, "The most read couldn't be given to all nodes; retrying");
      },
    )
    .finally(() => {
      state.sharing = null;
    });
}

/** The lists on pages: in a cluster, those that the lease holder has written, as soon as there are any. */
function listsOnPages(state: State): StoredLists {
  const text = state.options.shared?.read() ?? null;
  if (text === null) return state.onPages;
  if (state.sharedLists?.text !== text) state.sharedLists = { text, lists: parseLists(text) };
  return state.sharedLists.lists;
}

/**
 * Ids by section; `''` is the whole newspaper. The lists on pages are stored in a file in the data folder, like the stored pages,
 * so that lists and pages still agree after a restart. A deleted file is created again.
 */
export type Lists = ReadonlyMap<string, readonly number[]>;

const storedLists = z.object({ made: z.number(), lists: z.record(z.string(), z.array(z.number().int())) });

export interface StoredLists {
  /** Epoch milliseconds; `-Infinity` before the first. */
  readonly made: number;
  readonly lists: Lists;
}

/** @returns no lists where there is no readable file */
function readLists(file: string): StoredLists {
  try {
    return parseLists(readFileSync(file, 'utf8'));
  } catch {
    return { made: Number.NEGATIVE_INFINITY, lists: new Map() };
  }
}

/** Replaces the file. If that fails, the only effect is that pages are rendered again after the next restart. */
function writeLists(file: string, stored: StoredLists, log: Logger): void {
  try {
    writeFileSync(`${file}.new`, textOf(stored));
    renameSync(`${file}.new`, file);
  } catch (error) {
    log.warn({ err: error }, 'The lists of the most read could not be stored');
  }
}

function parseLists(text: string): StoredLists {
  const { made, lists } = storedLists.parse(JSON.parse(text));
  return { made, lists: new Map(Object.entries(lists)) };
}

const textOf = ({ made, lists }: StoredLists): string => JSON.stringify({ made, lists: Object.fromEntries(lists) });

/** Sections whose lists differ, in members or order. */
function changedLists(before: Lists, after: Lists): string[] {
  const names = new Set([...before.keys(), ...after.keys()]);
  return [...names].filter((name) => before.get(name)?.join() !== after.get(name)?.join());
}

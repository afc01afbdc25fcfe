/**
 * Counts readings in memory, writes them every second, and makes the lists of the most read. `kill -9` loses what was counted since
 * the last writing and nothing else; a database that is away loses nothing, for what could not be written waits.
 */
import { setImmediate as breathe } from 'node:timers/promises';
import type { Card, ContentReader } from '../content/model.ts';
import { tag } from '../content/tags.ts';
import type { Database } from '../database.ts';
import type { Limiter } from '../http/limiter.server.ts';
import { type RepeatedTask, repeat } from '../jobs/repeat.ts';
import type { Logger } from '../logging.ts';
import { createFirstReadings } from './first-readings.server.ts';
import { changedLists, readLists, writeLists } from './lists.server.ts';
import type { MostRead, TopQuery } from './model.ts';
import { openScores, type Ranked, scoreOf, together } from './scores.server.ts';

export interface MostReadRules {
  /** Hours in which a reading loses half of its weight. */
  readonly halfLifeHours: number;
  /** Entries of a list unless a caller says otherwise, and at most. */
  readonly list: number;
  readonly most: number;
  /** Minutes that the lists on pages stay as they are, at least. */
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
  /** Where the lists on pages are kept. */
  readonly file: string;
  /** Told which tags have changed; pages that carry them are to be made anew. */
  readonly onChange: (tags: ReadonlySet<string>) => void;
  readonly log: Logger;
  /** Epoch milliseconds. */
  readonly now?: () => number;
}

export interface RunningMostRead extends MostRead {
  /** Begins to write, and to look at what others have written. */
  start(): void;
  /** Writes what is counted, and stops. */
  stop(): Promise<void>;
  /** One turn now: writes what is counted, reads what there is, and renews the lists on pages when it is time. */
  turn(): Promise<void>;
}

const everyMs = 1000;
/** What other processes have counted is looked up this often, in milliseconds. */
const lookMs = 15_000;
const tidyMs = 3_600_000;
/** A list stays as it is so long, in milliseconds, and so many are remembered. */
const recentMs = 2000;
const mostRecent = 200;
/** Highest articles that are held in memory; lists of sections are picked out of them. */
const held = 2000;
const pickedAtOnce = 50;
/** Articles with readings that wait for the database; more than any paper has in one outage. */
const mostWaiting = 20_000;

/** Opens the service; nothing is written or read before `start`. */
export function createMostRead(options: MostReadOptions): RunningMostRead {
  const { rules, log, now = Date.now } = options;
  const halfLife = rules.halfLifeHours * 3_600_000;
  const scores = openScores(options.database, halfLife);
  const firstReadings = createFirstReadings(rules, now);
  let waiting = new Map<number, number>();
  let highest: readonly Ranked[] = [];
  let { made, lists } = readLists(options.file);
  let looked = false;
  let lookedAt = Number.NEGATIVE_INFINITY;
  let tidiedAt = Number.NEGATIVE_INFINITY;
  let troubled = false;
  let turning: Promise<void> | null = null;
  let repeated: RepeatedTask | undefined;

  const bounded = (limit: number | undefined): number =>
    limit === undefined || !Number.isFinite(limit) ? rules.list : Math.min(rules.most, Math.max(1, Math.trunc(limit)));

  /** The highest that are published, and in the section where one is named. */
  function pick(limit: number, section: string | undefined): Card[] {
    const cards: Card[] = [];
    for (let at = 0; at < highest.length && cards.length < limit; at += pickedAtOnce) {
      const ids = highest.slice(at, at + pickedAtOnce).map(({ article }) => article);
      cards.push(
        ...options.reader().articles({ ids, limit: ids.length, ...(section !== undefined && { section }) }).items,
      );
    }
    return cards;
  }

  /** Lists that were just made; cards are read anew each time, so that nothing that was withdrawn is shown. */
  const recent = new Map<string, { readonly of: readonly Ranked[]; readonly at: number; readonly ids: number[] }>();

  /** One list of a section serves every shorter one: the length that a caller wants doesn't decide how often a list is made. */
  function topIds({ limit, section }: Pick<TopQuery, 'limit' | 'section'>): readonly number[] {
    const wanted = bounded(limit);
    const most = wanted <= rules.list ? rules.list : rules.most;
    const key = `${most} ${section ?? ''}`;
    const known = recent.get(key);
    if (known && known.of === highest && Math.abs(now() - known.at) < recentMs) return known.ids.slice(0, wanted);
    const ids = ranked(most, section);
    if (recent.size >= mostRecent) recent.clear();
    recent.set(key, { of: highest, at: now(), ids });
    return ids.slice(0, wanted);
  }

  function ranked(most: number, section: string | undefined): number[] {
    const newest = options.reader().articles({ limit: most, ...(section !== undefined && { section }) }).items;
    // A few more than are wanted: newer ones may come before them.
    const candidates = new Map([...pick(2 * most, section), ...newest].map((card) => [card.id, card]));
    const heat = new Map(highest.map((ranked) => [ranked.article, ranked.heat]));
    const at = now();
    return [...candidates.values()]
      .map(({ id, date }) => {
        const asPublished = scoreOf(1, Math.min(at, Date.parse(date)), halfLife);
        return { id, heat: together(heat.get(id) ?? Number.NEGATIVE_INFINITY, asPublished) };
      })
      .sort((a, b) => b.heat - a.heat || b.id - a.id)
      .slice(0, most)
      .map(({ id }) => id);
  }

  const cardsOf = (reader: ContentReader, ids: readonly number[]): readonly Card[] =>
    reader.articles({ ids, limit: ids.length }).items;

  async function write(): Promise<void> {
    if (waiting.size === 0) return;
    const batch = waiting;
    waiting = new Map();
    try {
      await scores.add(batch, now());
    } catch (error) {
      for (const [article, readings] of batch) waiting.set(article, (waiting.get(article) ?? 0) + readings);
      throw error;
    }
    lookedAt = Number.NEGATIVE_INFINITY;
  }

  async function look(): Promise<void> {
    if (now() - lookedAt < lookMs) return;
    if (now() - tidiedAt > tidyMs) {
      await scores.tidy(now());
      tidiedAt = now();
    }
    highest = await scores.highest(held);
    lookedAt = now();
    looked = true;
  }

  async function renew(): Promise<void> {
    // Nothing is known of what was read before the database has answered once.
    if (!looked) return;
    const age = now() - made;
    // A clock that was set back must not stop the lists.
    if (age >= 0 && age < rules.refreshMinutes * 60_000) return;
    const content = options.reader();
    if (!content.edition().ready) return;
    const names = ['', ...content.sections().map(({ slug }) => slug)];
    const after = new Map<string, readonly number[]>();
    for (const name of names) {
      after.set(name, topIds({ limit: rules.list, section: name || undefined }));
      // A request for a page in between doesn't wait for all of them.
      await breathe();
    }
    const changed = changedLists(lists, after);
    lists = after;
    made = now();
    writeLists(options.file, { made, lists }, log);
    if (changed.length > 0) options.onChange(new Set(changed.map(tag.popular)));
  }

  async function once(): Promise<void> {
    try {
      await write();
      await look();
      await renew();
      if (troubled) log.info({}, 'MostRead is written again');
      troubled = false;
    } catch (error) {
      if (!troubled) log.warn({ err: error }, 'MostRead cannot be written or read just now; readings wait in memory');
      troubled = true;
    }
  }

  async function turn(): Promise<void> {
    await turning;
    turning ??= once().finally(() => {
      turning = null;
    });
    await turning;
  }

  return {
    async count(article, address) {
      if (await options.limiter.count('reading', { address })) return 'limited';
      if (options.reader().articles({ ids: [article], limit: 1 }).items.length === 0) return 'unknown';
      const passage = firstReadings.pass(article, address);
      if (passage !== 'passed') return passage;
      if (waiting.size >= mostWaiting && !waiting.has(article)) return 'limited';
      waiting.set(article, (waiting.get(article) ?? 0) + 1);
      return 'counted';
    },
    top: (query = {}) => cardsOf(query.reader ?? options.reader(), topIds(query)),
    list({ limit, section = '', reader }) {
      reader.note(tag.popular(section));
      const most = bounded(limit);
      const ids = lists.get(section);
      if (!ids) {
        // Before the first list the newest stand in for it, and the page changes with them.
        return reader.articles({ limit: most, ...(section && { section }) }).items;
      }
      const cards = cardsOf(reader, ids.slice(0, most));
      // Where one has been withdrawn the next moves up.
      return cards.length < most ? cardsOf(reader, ids).slice(0, most) : cards;
    },
    turn,
    start() {
      repeated ??= repeat(everyMs, turn, () => {});
      void turn();
    },
    async stop() {
      await repeated?.stop();
      // A process beside the serving one, such as a newsletter's, has nothing to write, and the lists are not its to make anew.
      if (repeated || waiting.size > 0) await turn();
      if (waiting.size > 0) log.error({ articles: waiting.size }, 'Readings could not be written and are lost');
    },
  };
}

/**
 * Counts the readings of stories whose headlines are tested, and ends each test once. Readings are counted in memory and added to the
 * database every second, like those of the most read stories: `kill -9` loses the last second, for all headlines equally. The
 * database adds up the counts of several processes. The first process that finds a test decided stores the result, which never
 * changes.
 */
import { sql } from 'kysely';
import type { Card, HeadlineTest } from '../content/model.ts';
import type { Database } from '../database.ts';
import { instantAt } from '../instants.ts';
import type { OldRows } from '../jobs/old-rows.ts';
import { createRounds } from '../jobs/rounds.ts';
import type { Logger } from '../logging.ts';
import {
  groupCookie,
  groupIn,
  groups,
  headlineFor,
  headlinesOf,
  longestDays,
  mayTakePart,
  type Participation,
} from './model.ts';
import { certaintyOf, verdictOf } from './sequential.ts';

/** The parts of a reader's request that matter. */
export interface Reader {
  /** The header `Cookie`. */
  readonly cookies: string;
  /** Whether the browser sends Global Privacy Control. */
  readonly gpc: boolean;
}

/** State of a test. */
export interface TestReport {
  /** `off`: no reader can take part, because the site asks for no consent to measurement. */
  readonly readers: Participation | 'off';
  readonly state: 'running' | 'won' | 'undecided';
  /** Number of the winning headline, 0 for the story's own; `null` while there is none. */
  readonly winner: number | null;
  /** Of each headline, the story's own first. */
  readonly readings: readonly number[];
  /** How certain it is that each headline is better or worse than the story's own, 0 to 1; 0 for the story's own. */
  readonly certainty: readonly number[];
  /** UTC; `null` while the test runs. */
  readonly ended: string | null;
}

export interface HeadlineTests {
  /** Counts a reading that also counted for the most read stories, if the story is being tested and the reader takes part. */
  count(article: number, reader: Reader): void;
  /**
   * The `Set-Cookie` values for a response to this reader: assigns a group to a reader who may take part and has none while a test is
   * running; removes the group of a reader who may not take part.
   */
  cookiesFor(reader: Reader): readonly string[];
  /** The state of a test, including the counts of other processes. @param story its id @throws DatabaseUnavailable */
  report(story: number, test: string): Promise<TestReport | null>;
}

export interface RunningHeadlineTests extends HeadlineTests {
  start(): void;
  stop(): Promise<void>;
  /** One round now: adds the counted readings, and ends tests that are decided. */
  runRound(): Promise<void>;
  readonly oldRows: OldRows;
}

export interface HeadlineTestsOptions {
  readonly database: Pick<Database, 'db'>;
  /** The stories that are tested now. */
  readonly tested: () => readonly Card[];
  readonly participation: Participation | 'off';
  /** Whether cookies are sent only over TLS. */
  readonly secure: boolean;
  readonly log: Logger;
  /** Epoch milliseconds. */
  readonly now?: () => number;
  /** From 0 to below 1. */
  readonly random?: () => number;
}

const everyMs = 1000;
/** How long the list of tested stories is remembered, milliseconds. */
const listMs = 1000;
/** How often tests without new readings are checked, because they may have run too long. */
const checkAllMs = 60_000;
/** How long counts are stored after the last reading; by then WordPress has the result. */
const keptMs = 60 * 24 * 60 * 60 * 1000;
const dayMs = 24 * 60 * 60 * 1000;

interface State extends Required<HeadlineTestsOptions> {
  /** Readings that aren't written yet, by test and headline. */
  waiting: Map<string, number[]>;
  list: { readonly at: number; readonly tests: ReadonlyMap<number, HeadlineTest> };
  checkedAllAt: number;
}

/** Opens the service; nothing is written before `start`. */
export function createHeadlineTests(options: HeadlineTestsOptions): RunningHeadlineTests {
  const state: State = {
    now: Date.now,
    random: Math.random,
    ...options,
    waiting: new Map(),
    list: { at: Number.NEGATIVE_INFINITY, tests: new Map() },
    checkedAllAt: Number.NEGATIVE_INFINITY,
  };
  const rounds = createRounds({
    everyMs,
    work: () => round(state),
    hasWork: () => state.waiting.size > 0,
    log: state.log,
    failing: "Readings of headline tests can't be written; they wait in memory",
    again: 'Readings of headline tests are written again',
  });
  return {
    count: (article, reader) => count(state, article, reader),
    cookiesFor: (reader) => cookiesFor(state, reader),
    report: (story, test) => report(state, story, test),
    ...rounds,
    oldRows: [() => prune(state, 'headline_readings'), () => prune(state, 'headline_ends')],
  };
}

/** The running tests by story. */
function running(state: State): ReadonlyMap<number, HeadlineTest> {
  const at = performance.now();
  if (at - state.list.at >= listMs) {
    const found = state.tested().flatMap(({ id, test }) => (test?.state === 'running' ? [[id, test] as const] : []));
    state.list = { at, tests: new Map(found) };
  }
  return state.list.tests;
}

const takesPart = ({ participation }: State, { cookies, gpc }: Reader): boolean =>
  participation !== 'off' && mayTakePart(cookies, gpc, participation);

function count(state: State, article: number, reader: Reader): void {
  const group = groupIn(reader.cookies);
  if (group === null || !takesPart(state, reader)) return;
  const test = running(state).get(article);
  if (!test) return;
  const headlines = headlinesOf(test);
  const waiting = state.waiting.get(test.id) ?? new Array<number>(headlines).fill(0);
  const headline = headlineFor(test.id, headlines, group);
  waiting[headline] = (waiting[headline] ?? 0) + 1;
  state.waiting.set(test.id, waiting);
}

function cookiesFor(state: State, reader: Reader): readonly string[] {
  const { secure, random } = state;
  const hasGroup = groupIn(reader.cookies) !== null;
  if (!takesPart(state, reader)) return hasGroup ? [groupCookie(null, secure)] : [];
  if (hasGroup || running(state).size === 0) return [];
  return [groupCookie(Math.floor(random() * groups), secure)];
}

async function round(state: State): Promise<void> {
  const counted = await write(state);
  const all = performance.now() - state.checkedAllAt >= checkAllMs;
  if (all) state.checkedAllAt = performance.now();
  for (const test of running(state).values()) if (all || counted.has(test.id)) await end(state, test);
}

/** Writes the counted readings to the database. @returns the tests with new readings */
async function write(state: State): Promise<ReadonlySet<string>> {
  const batch = state.waiting;
  state.waiting = new Map();
  const at = state.now();
  // Sorted, so that two processes can't deadlock.
  const rows = [...batch]
    .flatMap(([test, readings]) => readings.map((count, headline) => ({ test, headline, readings: count, at })))
    .filter(({ readings }) => readings > 0)
    .sort((a, b) => (a.test === b.test ? a.headline - b.headline : a.test < b.test ? -1 : 1));
  if (rows.length === 0) return new Set();
  try {
    // One statement, so that either the whole batch is written or nothing.
    await state.database.db
      .insertInto('headline_readings')
      .values(rows)
      .onConflict((conflict) =>
        conflict.columns(['test', 'headline']).doUpdateSet({
          readings: sql<number>`headline_readings.readings + excluded.readings`,
          at: sql<number>`excluded.at`,
        }),
      )
      .execute();
  } catch (error) {
    for (const [test, readings] of batch) {
      const since = state.waiting.get(test) ?? [];
      state.waiting.set(
        test,
        readings.map((count, headline) => count + (since[headline] ?? 0)),
      );
    }
    throw error;
  }
  return new Set(rows.map(({ test }) => test));
}

async function readingsOf({ database }: State, test: HeadlineTest): Promise<number[]> {
  const rows = await database.db
    .selectFrom('headline_readings')
    .select(['headline', 'readings'])
    .where('test', '=', test.id)
    .execute();
  const readings = new Array<number>(headlinesOf(test)).fill(0);
  for (const row of rows) if (row.headline < readings.length) readings[row.headline] = Number(row.readings);
  return readings;
}

const isOverdue = ({ now }: State, { started }: HeadlineTest): boolean =>
  now() - Date.parse(started) > longestDays * dayMs;

/** Ends a test that is decided, or has run for too long. The first process to write the end decides. */
async function end(state: State, test: HeadlineTest): Promise<void> {
  const readings = await readingsOf(state, test);
  const verdict = verdictOf(readings);
  if (verdict.kind === 'open' && !isOverdue(state, test)) return;
  const headline = verdict.kind === 'won' ? verdict.headline : null;
  await state.database.db
    .insertInto('headline_ends')
    .values({ test: test.id, headline, readings: JSON.stringify(readings), at: state.now() })
    .onConflict((conflict) => conflict.column('test').doNothing())
    .execute();
}

/** Deletes all at once: a table has few rows for each test. */
const prune = ({ database, now }: State, table: 'headline_readings' | 'headline_ends') =>
  database.db
    .deleteFrom(table)
    .where('at', '<', now() - keptMs)
    .executeTakeFirstOrThrow();

async function report(state: State, story: number, id: string): Promise<TestReport | null> {
  const ended = await state.database.db
    .selectFrom('headline_ends')
    .select(['headline', 'readings', 'at'])
    .where('test', '=', id)
    .executeTakeFirst();
  const test = running(state).get(story);
  if (!ended && test?.id !== id) return null;
  const readings = ended ? (JSON.parse(ended.readings) as number[]) : test ? await readingsOf(state, test) : [];
  const winner = ended?.headline ?? null;
  const [own = 0] = readings;
  return {
    readers: state.participation,
    state: !ended ? 'running' : winner === null ? 'undecided' : 'won',
    winner,
    readings,
    certainty: readings.map((count, at) => (at === 0 ? 0 : certaintyOf(own, count, readings.length - 1))),
    ended: ended ? instantAt(Number(ended.at)) : null,
  };
}

/**
 * The rate limiter of the whole site: counts calls against the limits of limits.ts, atomically, each where its limit is stored
 * (docs/decisions/0025-rate-limiter.md).
 */

import { sql } from 'kysely';
import { type BoundedMap, createBoundedMap } from '../bounded-map.ts';
import type { Hmacs } from '../crypto.server.ts';
import type { AccountsTransaction, Database } from '../database.ts';
import { type OldRows, rowsUntil } from '../jobs/old-rows.ts';
import { withTimeLimit } from '../jobs/tasks.ts';
import { createFailureLog, type FailureLog, type Logger, silent } from '../logging.ts';
import type { Limit, LimitName, Limits } from './limits.ts';

/** An IPv6 /48 may do as much as this many of its networks: otherwise, one connection could exhaust the global limits. */
const networksOfBlock = 10;
/** Most full windows that are cached. */
const mostFull = 20_000;
/**
 * Milliseconds for which a full window of a limit with reservations is cached: another process may release a reservation in the
 * meantime.
 */
const reservedMs = 5000;
/**
 * Longest wait for a count that is only for fairness, and the pause for such counts after the database has failed, in
 * milliseconds.
 */
const defaultFairnessTimeoutMs = 1000;
const restMs = 5000;

export interface Limiter {
  /**
   * Counts one call; a refused call doesn't count. While the database is unavailable, calls are counted in memory and not
   * refused.
   *
   * @returns `null` when the call is within the limits, otherwise the exceeded limit and the whole seconds until it ends
   */
  count(name: LimitName, subject: LimitSubject): Promise<ExceededLimit | null>;
  /** Removes one count: the reserved call turned out not to be an attempt. */
  release(name: LimitName, subject: LimitSubject): Promise<void>;
}

export interface RunningLimiter extends Limiter {
  /** Windows in the database that have ended. */
  readonly oldRows: OldRows;
}

export interface LimitSubject {
  /** Network address; omitted when it is unknown. */
  readonly address?: string;
  /** An account: its normalized email address, its user's id, or the id of a private feed, which belongs to one reader. */
  readonly account?: string;
}

export interface ExceededLimit {
  /** Names as in the setting of the limits: `email` is the scope of {@link LimitSubject.account}. */
  readonly scope: 'address' | 'email' | 'overall';
  /** Seconds, at least 1. */
  readonly retryAfter: number;
}

/** Callers are stored as HMACs under a secret that all processes share. */
export type CallerKeys = Pick<Hmacs, 'place' | 'block' | 'subject'>;

type Step = readonly [scope: ExceededLimit['scope'], key: string, limit: Limit];

/** Thrown to roll a count back: a refused call doesn't count. */
class Refusal extends Error {
  readonly step: Step;
  /** When the full window ends, epoch milliseconds. */
  readonly until: number;

  constructor(step: Step, until: number) {
    super('A limit is reached.');
    this.step = step;
    this.until = until;
  }
}

/** A window in memory. */
interface Counted {
  count: number;
  readonly until: number;
}

interface LimiterState {
  readonly database: Database;
  readonly keys: CallerKeys;
  readonly limits: Limits;
  readonly now: () => number;
  readonly fairnessTimeoutMs: number;
  /** Windows in memory, for each limit its own, so that a flood on one doesn't displace those of others. */
  readonly inMemory: Map<string, BoundedMap<Counted>>;
  /** Windows known to be full, by key: during a flood, calls are refused without a write for each. */
  readonly full: BoundedMap<{ readonly at: number; readonly until: number; readonly known: number }>;
  readonly inDatabase: FailureLog;
  restUntil: number;
}

/**
 * @param now epoch milliseconds
 * @param fairnessTimeoutMs longest wait for a fairness count before memory counts instead
 */
export function createLimiter(
  database: Database,
  keys: CallerKeys,
  limits: Limits,
  now: () => number,
  log?: Pick<Logger, 'warn'>,
  fairnessTimeoutMs: number = defaultFairnessTimeoutMs,
): RunningLimiter {
  const state: LimiterState = {
    database,
    keys,
    limits,
    now,
    fairnessTimeoutMs,
    inMemory: new Map(),
    full: createBoundedMap(mostFull / 2),
    inDatabase: createFailureLog(log ?? silent),
    restUntil: Number.NEGATIVE_INFINITY,
  };
  return {
    count: (name, subject) => count(state, name, subject),
    async release(name, subject) {
      const steps = stepsOf(state, name, subject);
      await runSteps(state, name, steps, release);
      for (const [, key] of steps) state.full.delete(key);
    },
    oldRows: [rowsUntil(database.db, 'limits', ['key'], 'until', now)],
  };
}

async function count(state: LimiterState, name: LimitName, subject: LimitSubject): Promise<ExceededLimit | null> {
  const { full, limits, now } = state;
  const steps = stepsOf(state, name, subject);
  const exceeded = exceededByCache(state, steps);
  if (exceeded) return exceeded;
  try {
    await runSteps(state, name, steps, consume);
    return null;
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const { until } = error;
    const [scope, key] = error.step;
    const at = now();
    full.set(key, { at, until, known: limits[name].reserved ? Math.min(until, at + reservedMs) : until });
    return { scope, retryAfter: secondsTo(state, until) };
  }
}

const secondsTo = ({ now }: LimiterState, until: number): number => Math.max(1, Math.ceil((until - now()) / 1000));

/** The windows that count a call. */
function stepsOf({ limits, keys }: LimiterState, name: LimitName, subject: LimitSubject): readonly Step[] {
  const { address, email, overall } = limits[name];
  const { account } = subject;
  const list: Step[] = [];
  if (address && subject.address !== undefined) {
    list.push(['address', `${name}:address:${keys.place(subject.address)}`, address]);
    const block = keys.block(subject.address);
    const ofBlock = { most: address.most * networksOfBlock, seconds: address.seconds };
    if (block !== null) list.push(['address', `${name}:block:${block}`, ofBlock]);
  }
  if (email && account !== undefined) list.push(['email', `${name}:email:${keys.subject(account)}`, email]);
  if (overall) list.push(['overall', `${name}:overall`, overall]);
  return list;
}

function exceededByCache(state: LimiterState, steps: readonly Step[]): ExceededLimit | null {
  const { full, now } = state;
  for (const [scope, key] of steps) {
    const { at, until, known } = full.get(key) ?? { at: 0, until: 0, known: 0 };
    // After the clock was set back, the database is asked again.
    if (known > now() && at <= now()) return { scope, retryAfter: secondsTo(state, until) };
    full.delete(key);
  }
  return null;
}

/** Runs a transaction that only affects fairness, for a limited time: a slow PostgreSQL must not delay the caller. */
async function withinTimeout(state: LimiterState, work: Work): Promise<void> {
  if (performance.now() < state.restUntil) throw new Error('Limits are counted in memory for now.');
  let isLate = false;
  // The call has already been counted in memory: a late count in the database would never be removed.
  const unlessLate: Work = async (tx) => {
    await work(tx);
    if (isLate) throw new Error('The count came too late.');
  };
  try {
    await withTimeLimit(state.fairnessTimeoutMs, state.database.transaction(unlessLate), () => {
      isLate = true;
      throw new Error('PostgreSQL took too long to count.');
    });
  } catch (error) {
    if (!(error instanceof Refusal)) state.restUntil = performance.now() + restMs;
    throw error;
  }
}

/** Counts in the limit's own store; in memory while the database doesn't respond. */
async function runSteps(state: LimiterState, name: LimitName, steps: readonly Step[], act: Act): Promise<void> {
  const { database, now, inDatabase } = state;
  const { store = 'database', impatient } = state.limits[name];
  if (store === 'database' || (store === 'shared' && database.engine === 'postgres')) {
    const work: Work = async (tx) => {
      for (const step of steps) await act.inDatabase(tx, step, now());
    };
    try {
      // A limit that protects codes and cards waits: otherwise a burst would get a second allowance in memory.
      await (store === 'database' && !impatient ? database.transaction(work) : withinTimeout(state, work));
      inDatabase.worked();
      return;
    } catch (error) {
      if (error instanceof Refusal) throw error;
      inDatabase.failed({ err: error }, 'Limits are counted in memory until the database responds');
    }
  }
  act.inMemory(steps.map((step) => [step, windowInMemory(state, step)]));
}

type Work = (tx: AccountsTransaction) => Promise<void>;

/** A change of the windows of a call. */
interface Act {
  /** Changes one of them; a failure rolls the others back. */
  inDatabase(tx: AccountsTransaction, step: Step, now: number): Promise<void>;
  /** Changes all of them or none. */
  inMemory(windows: readonly (readonly [Step, Counted])[]): void;
}

/** @throws Refusal when a limit is exceeded */
const consume: Act = {
  async inDatabase(tx, step, now) {
    const [, key, { most, seconds }] = step;
    const { count, until } = await add(tx, key, now, seconds * 1000);
    if (count > most) throw new Refusal(step, until);
  },
  inMemory(windows) {
    for (const [step, { count, until }] of windows) if (count >= step[2].most) throw new Refusal(step, until);
    for (const [, window] of windows) window.count++;
  },
};

const release: Act = {
  inDatabase: (tx, [, key]) => subtract(tx, key),
  inMemory(windows) {
    // Counts of other processes aren't in this memory.
    for (const [, window] of windows) window.count = Math.max(0, window.count - 1);
  },
};

/**
 * Milliseconds by which the clocks of processes may differ. A window that ends later was written by a clock that was ahead and has been
 * corrected; it would refuse all callers until that time.
 */
const clockDifferenceMs = 3_600_000;

async function add(tx: AccountsTransaction, key: string, now: number, duration: number) {
  const isOver = sql<boolean>`limits.until <= ${now} or limits.until > ${now + duration + clockDifferenceMs}`;
  return tx
    .insertInto('limits')
    .values({ key, since: now, until: now + duration, count: 1 })
    .onConflict((conflict) =>
      conflict.column('key').doUpdateSet({
        count: sql<number>`case when ${isOver} then 1 else limits.count + 1 end`,
        since: sql<number>`case when ${isOver} then excluded.since else limits.since end`,
        until: sql<number>`case when ${isOver} then excluded.until else limits.until end`,
      }),
    )
    .returning(['count', 'until'])
    .executeTakeFirstOrThrow();
}

async function subtract(tx: AccountsTransaction, key: string): Promise<void> {
  await tx
    .updateTable('limits')
    .set({ count: sql<number>`count - 1` })
    .where('key', '=', key)
    .where('count', '>', 0)
    .execute();
}

/** Most windows of one limit in memory: a flood from many networks must not fill it. */
const mostRemembered = 20_000;

/** The present window of a key; a new one if there is none, or if the clock was set back since its start. */
function windowInMemory({ inMemory, now }: LimiterState, [, key, { most, seconds }]: Step): Counted {
  const at = now();
  const end = at + seconds * 1000;
  const limit = `${most}/${seconds}`;
  const windows = inMemory.get(limit) ?? createBoundedMap<Counted>(mostRemembered / 2);
  inMemory.set(limit, windows);
  const known = windows.get(key);
  if (known && known.until > at && known.until <= end) return known;
  const fresh = { count: 0, until: end };
  windows.set(key, fresh);
  return fresh;
}

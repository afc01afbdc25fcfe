/**
 * The rate limiter of the whole product: counts against the limits of model.ts, atomically, where each is kept
 * (docs/decisions/0025-rate-limiter.md).
 */
import { type RateLimiterLike, RateLimiterRes } from 'rate-limiter-flexible';
import type { AccountsTransaction, Database } from '../database.ts';
import type { Logger } from '../logging.ts';
import { type CountIn, DatabaseWindows, MemoryWindows } from './limit-windows.server.ts';
import type { Limit, LimitName, Limits } from './limits.ts';

/** A /48 of IPv6 may do what so many of its networks may: else one connection could fill the limits of everyone. */
const networksOfBlock = 10;
/** Full windows remembered at most. */
const mostFull = 20_000;
/** How long a full window of reserved counts is remembered, in milliseconds: another process may give one back meanwhile. */
const reservedMs = 5000;
/** Longest wait for a count of fairness, and how long such counts leave a database alone that failed, in milliseconds. */
const patienceMs = 1000;
const restMs = 5000;

export interface Limiter {
  /**
   * Counts one call; one that is refused counts for nothing. A database that does not answer refuses no one: memory counts
   * meanwhile.
   *
   * @returns `null` when it is within the limits, else which was over and the whole seconds until it ends
   */
  count(name: LimitName, who: Who): Promise<Over | null>;
  /** Takes one count back: what was reserved turned out to be no attempt. */
  giveBack(name: LimitName, who: Who): Promise<void>;
}

export interface Who {
  /** Network address; left out where none is known. */
  readonly address?: string;
  /** In its normal form; stands for an account. */
  readonly email?: string;
}

export interface Over {
  readonly scope: 'address' | 'email' | 'overall';
  /** Seconds, at least 1. */
  readonly retryAfter: number;
}

/** What is kept of a caller: HMACs under a secret that all processes share. */
export interface Keys {
  place(address: string): string;
  block(address: string): string | null;
  subject(email: string): string;
}

type Step = readonly [scope: Over['scope'], key: string, limit: Limit];

/** Thrown to roll a count back: a call that is refused counts for nothing. */
class Refusal extends Error {
  readonly at: Step;
  readonly left: number;

  constructor(at: Step, left: number) {
    super('A limit is reached.');
    this.at = at;
    this.left = left;
  }
}

/**
 * @param now epoch milliseconds
 * @param fairnessPatienceMs longest wait for a count of fairness before memory counts instead
 */
export function createLimiter(
  database: Database,
  keys: Keys,
  limits: Limits,
  now: () => number,
  log?: Pick<Logger, 'warn'>,
  fairnessPatienceMs: number = patienceMs,
): Limiter {
  const inDatabase = new Map<string, DatabaseWindows>();
  const inMemory = new Map<string, MemoryWindows>();
  /** Windows that are known to be full, by key: a flood is turned away without a write for each of its calls. */
  const full = new Map<string, { readonly until: number; readonly known: number }>();
  let away = false;
  let restUntil = Number.NEGATIVE_INFINITY;

  const secondsTo = (until: number): number => Math.max(1, Math.ceil((until - now()) / 1000));

  function steps(name: LimitName, who: Who): readonly Step[] {
    const { address, email, overall } = limits[name];
    const list: Step[] = [];
    if (address && who.address !== undefined) {
      list.push(['address', `${name}:address:${keys.place(who.address)}`, address]);
      const block = keys.block(who.address);
      const ofBlock = { most: address.most * networksOfBlock, seconds: address.seconds };
      if (block !== null) list.push(['address', `${name}:block:${block}`, ofBlock]);
    }
    if (email && who.email !== undefined) list.push(['email', `${name}:email:${keys.subject(who.email)}`, email]);
    if (overall) list.push(['overall', `${name}:overall`, overall]);
    return list;
  }

  function knownOver(list: readonly Step[]): Over | null {
    for (const [scope, key] of list) {
      const { until, known } = full.get(key) ?? { until: 0, known: 0 };
      if (known > now()) return { scope, retryAfter: secondsTo(until) };
      full.delete(key);
    }
    return null;
  }

  /** Runs a transaction that nothing but fairness depends on: it is not waited for where PostgreSQL is slow. */
  async function patiently(work: Work): Promise<void> {
    if (performance.now() < restUntil) throw new Error('Limits are counted in memory just now.');
    const late = Promise.withResolvers<never>();
    const timer = setTimeout(() => late.reject(new Error('PostgreSQL took too long to count.')), fairnessPatienceMs);
    try {
      await Promise.race([database.transaction(work), late.promise]);
    } catch (error) {
      if (!(error instanceof Refusal)) restUntil = performance.now() + restMs;
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  /** Runs what counts where the limit is kept; in memory while the database does not answer. */
  async function keep(name: LimitName, list: readonly Step[], act: Act): Promise<void> {
    const { kept = 'database' } = limits[name];
    const work: Work = async (tx) => {
      for (const step of list) {
        await act(
          windowsOf(inDatabase, step, (limit) => new DatabaseWindows(limit, now)),
          step,
          { tx },
        );
      }
    };
    if (kept === 'database' || (kept === 'shared' && database.engine === 'postgres')) {
      try {
        // What guards codes and cards waits: else a burst would be counted a second time, in memory.
        await (kept === 'database' ? database.transaction(work) : patiently(work));
        away = false;
        return;
      } catch (error) {
        if (error instanceof Refusal) throw error;
        if (!away) log?.warn({ err: error }, 'Limits are counted in memory until the database answers');
        away = true;
      }
    }
    const done: Step[] = [];
    const windows = (step: Step): MemoryWindows => windowsOf(inMemory, step, (limit) => new MemoryWindows(limit));
    try {
      for (const step of list) {
        done.push(step);
        await act(windows(step), step);
      }
    } catch (error) {
      // As a transaction is rolled back.
      for (const step of done) await windows(step).reward(step[1]);
      throw error;
    }
  }

  return {
    async count(name, who) {
      const list = steps(name, who);
      const known = knownOver(list);
      if (known) return known;
      try {
        await keep(name, list, consume);
        return null;
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        const [scope, key] = error.at;
        const until = now() + error.left;
        if (full.size >= mostFull) full.clear();
        full.set(key, { until, known: limits[name].reserved ? Math.min(until, now() + reservedMs) : until });
        return { scope, retryAfter: secondsTo(until) };
      }
    },
    async giveBack(name, who) {
      const list = steps(name, who);
      await keep(name, list, async (windows, [, key], options) => void (await windows.reward(key, 1, options)));
      for (const [, key] of list) full.delete(key);
    },
  };
}

type Windows = Pick<RateLimiterLike, 'consume' | 'reward'>;
type Work = (tx: AccountsTransaction) => Promise<void>;
type Act = (windows: Windows, step: Step, options?: CountIn) => Promise<void>;

function windowsOf<Kind>(opened: Map<string, Kind>, [, , limit]: Step, open: (limit: Limit) => Kind): Kind {
  const id = `${limit.most}/${limit.seconds}`;
  const windows = opened.get(id) ?? open(limit);
  opened.set(id, windows);
  return windows;
}

/** Counts in one window. @throws Refusal when it is over */
async function consume(windows: Windows, step: Step, options?: CountIn): Promise<void> {
  try {
    await windows.consume(step[1], 1, options);
  } catch (rejected) {
    throw rejected instanceof RateLimiterRes ? new Refusal(step, rejected.msBeforeNext) : rejected;
  }
}

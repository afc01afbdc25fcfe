/** Where the windows of rate limits are counted: in the accounts database, or in the memory of one process. */
import { sql } from 'kysely';
import { RateLimiterMemory, RateLimiterPostgres, type RateLimiterRes } from 'rate-limiter-flexible';
import type { AccountsTransaction } from '../database.ts';
import type { Limit } from './limits.ts';

/** A row as the library reads it: `expire` by the clock of the machine. */
interface Counted {
  readonly rows: readonly [{ readonly points: number; readonly expire: number }];
}

/** Passed through the library to the statement. */
export interface CountIn {
  readonly tx: AccountsTransaction;
}

/**
 * Windows in the accounts database: the library's limiter for PostgreSQL, with its statement for both engines, in our transaction
 * and by a clock that tests can set. One statement counts, so that a limit holds across processes.
 */
export class DatabaseWindows extends RateLimiterPostgres {
  readonly #now: () => number;

  /** @param now epoch milliseconds */
  constructor({ most, seconds }: Limit, now: () => number) {
    super({
      storeClient: {},
      storeType: 'client',
      tableName: 'limits',
      tableCreated: true,
      clearExpiredByTimeout: false,
      keyPrefix: '',
      points: most,
      duration: seconds,
    });
    this.#now = now;
  }

  /** Called by the library to count, or with negative points to take back. */
  async _upsert(key: string, points: number, duration: number, _force: boolean, { tx }: CountIn): Promise<Counted> {
    const now = this.#now();
    const { count, until } = points < 0 ? await takeBack(tx, key, now) : await add(tx, key, now, duration);
    return { rows: [{ points: count, expire: until - now + Date.now() }] };
  }
}

async function add(tx: AccountsTransaction, key: string, now: number, duration: number) {
  return tx
    .insertInto('limits')
    .values({ key, since: now, until: now + duration, count: 1 })
    .onConflict((conflict) =>
      conflict.column('key').doUpdateSet({
        count: sql<number>`case when limits.until <= ${now} then 1 else limits.count + 1 end`,
        since: sql<number>`case when limits.until <= ${now} then excluded.since else limits.since end`,
        until: sql<number>`case when limits.until <= ${now} then excluded.until else limits.until end`,
      }),
    )
    .returning(['count', 'until'])
    .executeTakeFirstOrThrow();
}

async function takeBack(tx: AccountsTransaction, key: string, now: number) {
  const left = await tx
    .updateTable('limits')
    .set({ count: sql<number>`count - 1` })
    .where('key', '=', key)
    .where('count', '>', 0)
    .returning(['count', 'until'])
    .executeTakeFirst();
  return left ?? { count: 0, until: now };
}

/** Windows of one limit remembered at most: a flood from many networks must not fill the memory. */
const mostRemembered = 20_000;

/** Windows in memory, bounded: the least recently used is forgotten first. */
export class MemoryWindows extends RateLimiterMemory {
  /** Keys in the order of their last use. */
  readonly #used = new Set<string>();
  readonly #most: number;

  constructor({ most, seconds }: Limit, remembered = mostRemembered) {
    super({ points: most, duration: seconds, keyPrefix: '' });
    this.#most = remembered;
  }

  override consume(key: string, points?: number): Promise<RateLimiterRes> {
    this.#used.delete(key);
    this.#used.add(key);
    if (this.#used.size > this.#most) {
      const [oldest = ''] = this.#used;
      this.#used.delete(oldest);
      void this.delete(oldest);
    }
    return super.consume(key, points);
  }

  /** Takes back what was counted; what was not counted here gives no credit. */
  override async reward(key: string, points?: number): Promise<RateLimiterRes> {
    const counted = await this.get(key);
    return counted && counted.consumedPoints > 0 ? super.reward(key, points) : super.penalty(key, 0);
  }
}

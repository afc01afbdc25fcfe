/** Counts against the limits of limits.ts, atomically on both engines: each count is one upsert. */
import { sql } from 'kysely';
import type { AccountsTransaction, Database } from '../../database.ts';
import type { Limit, LimitName, Limits } from '../limits.ts';
import type { Keyed } from './keyed.server.ts';

/** A /48 of IPv6 may do what so many of its networks may: else one connection could fill the limits of everybody. */
const networksOfBlock = 10;
/** Full windows remembered at most. */
const mostFull = 20_000;

export interface Limiter {
  /**
   * Counts one call.
   *
   * @param who the network address, and the e-mail where the limit has a bound for one
   * @returns `null` when it is within the limits, else which was over and the whole seconds until it ends
   */
  count(name: LimitName, who: Who): Promise<Over | null>;
  /** Takes one count back: what was reserved turned out to be no attempt. */
  giveBack(name: LimitName, who: Who): Promise<void>;
}

export interface Who {
  readonly address: string;
  /** In its normal form. */
  readonly email?: string;
}

export interface Over {
  readonly scope: 'address' | 'email' | 'overall';
  /** Seconds, at least 1. */
  readonly retryAfter: number;
}

/** @param now epoch milliseconds */
export function createLimiter(database: Database, keyed: Keyed, limits: Limits, now: () => number): Limiter {
  function steps(name: LimitName, who: Who): readonly (readonly [Over['scope'], string, Limit])[] {
    const set = limits[name];
    const list: (readonly [Over['scope'], string, Limit])[] = [
      ['address', `${name}:address:${keyed.place(who.address)}`, set.address],
    ];
    const block = keyed.block(who.address);
    const { most, seconds } = set.address;
    if (block !== null) list.push(['address', `${name}:block:${block}`, { most: most * networksOfBlock, seconds }]);
    if (set.email && who.email !== undefined)
      list.push(['email', `${name}:email:${keyed.subject(who.email)}`, set.email]);
    list.push(['overall', `${name}:overall`, set.overall]);
    return list;
  }

  /** Windows that are known to be full, by key: a flood is turned away without a write for each of its calls. */
  const full = new Map<string, number>();
  const secondsTo = (until: number): number => Math.max(1, Math.ceil((until - now()) / 1000));

  function knownOver(list: ReturnType<typeof steps>): Over | null {
    for (const [scope, key] of list) {
      const until = full.get(key) ?? 0;
      if (until > now()) return { scope, retryAfter: secondsTo(until) };
      full.delete(key);
    }
    return null;
  }

  return {
    // One transaction of its own: what is counted stays counted, whatever becomes of the call.
    async count(name, who) {
      const list = steps(name, who);
      const known = knownOver(list);
      if (known) return known;
      return database.transaction(async (tx) => {
        for (const [scope, key, limit] of list) {
          const until = await add(tx, key, limit, now());
          if (until === null) continue;
          if (full.size >= mostFull) full.clear();
          full.set(key, until);
          return { scope, retryAfter: secondsTo(until) };
        }
        return null;
      });
    },
    giveBack: (name, who) =>
      database.transaction(async (tx) => {
        for (const [, key] of steps(name, who)) {
          await tx
            .updateTable('limits')
            .set({ count: sql<number>`count - 1` })
            .where('key', '=', key)
            .where('count', '>', 0)
            .execute();
        }
      }),
  };
}

/** @returns when the window ends, if it is over the limit, else `null` */
async function add(tx: AccountsTransaction, key: string, limit: Limit, now: number): Promise<number | null> {
  const until = now + limit.seconds * 1000;
  const row = await tx
    .insertInto('limits')
    .values({ key, since: now, until, count: 1 })
    .onConflict((conflict) =>
      conflict.column('key').doUpdateSet({
        // Bounded, so that no flood makes the number too large for its column.
        count: sql<number>`case when limits.until <= ${now} then 1 when limits.count > 1000000 then limits.count else limits.count + 1 end`,
        since: sql<number>`case when limits.until <= ${now} then excluded.since else limits.since end`,
        until: sql<number>`case when limits.until <= ${now} then excluded.until else limits.until end`,
      }),
    )
    .returning(['count', 'until'])
    .executeTakeFirstOrThrow();
  return row.count > limit.most ? row.until : null;
}

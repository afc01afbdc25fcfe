/**
 * An operator is a caller with the token, or a browser that has signed in with it. Wrong tokens are limited by address, and a
 * session is a row in the accounts database, so that signing out ends it in every process at once.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import { createBoundedMap } from '../../lib/bounded-map.ts';
import { isToken, newToken } from '../../lib/crypto.server.ts';
import { type Database, DatabaseUnavailable } from '../../lib/database.ts';
import type { Limiter } from '../../lib/http/limiter.server.ts';
import type { Logger } from '../../lib/logging.ts';

export interface OperatorAccessOptions {
  readonly token: string;
  readonly database: Pick<Database, 'db'>;
  readonly limiter: Limiter;
  readonly log: Pick<Logger, 'warn'>;
  /** Epoch milliseconds. */
  readonly now: () => number;
}

/** Result of trying a token. */
export type TokenResult =
  | { readonly kind: 'right' | 'wrong' }
  | { readonly kind: 'limited'; readonly retryAfter: number };

/** Seconds that a browser stays signed in. */
export const sessionSeconds = 2 * 3600;

const hashOf = (text: string): Buffer => createHash('sha256').update(text).digest();
/** Compares hashes, so that the duration reveals neither length nor content. */
const isEqual = (given: string, wanted: string): boolean => timingSafeEqual(hashOf(given), hashOf(wanted));
const idOf = (value: string): string => hashOf(value).toString('base64url');
/** Most addresses that are exempt from counting. */
const mostProven = 100;

export function createOperatorAccess({ token, database: { db }, limiter, log, now }: OperatorAccessOptions) {
  /**
   * Addresses whose latest token was right. They aren't counted, because a monitoring system sends a token every few seconds, and two
   * database writes for each would slow down pages.
   */
  const proven = createBoundedMap<true>(mostProven);
  return {
    /** Tries a token; a wrong one is counted. @param address network address */
    async tryToken(given: string, address: string): Promise<TokenResult> {
      if (proven.get(address) && isEqual(given, token)) return { kind: 'right' };
      proven.delete(address);
      // Counted before the comparison, so that concurrent attempts are limited, and beyond the limit even the right token is refused.
      const over = await limiter.count('operator', { address });
      if (over) return { kind: 'limited', retryAfter: over.retryAfter };
      if (!isEqual(given, token)) {
        log.warn({}, 'A caller sent a wrong OPERATOR_TOKEN');
        return { kind: 'wrong' };
      }
      await limiter.release('operator', { address });
      proven.set(address, true);
      return { kind: 'right' };
    },
    /** Opens a session. @returns the value of its cookie @throws DatabaseUnavailable */
    async open(): Promise<string> {
      const value = newToken();
      await db.deleteFrom('operator_sessions').where('expires', '<=', now()).execute();
      const expires = now() + sessionSeconds * 1000;
      await db
        .insertInto('operator_sessions')
        .values({ id: idOf(value), expires })
        .execute();
      return value;
    },
    /** Whether a cookie belongs to an open session; `false` while the database is unavailable. */
    async isOpen(value: string): Promise<boolean> {
      if (!isToken(value)) return false;
      try {
        const row = await db
          .selectFrom('operator_sessions')
          .select('id')
          .where('id', '=', idOf(value))
          .where('expires', '>', now())
          .executeTakeFirst();
        return row !== undefined;
      } catch (error) {
        if (error instanceof DatabaseUnavailable) return false;
        throw error;
      }
    },
    async close(value: string): Promise<void> {
      await db.deleteFrom('operator_sessions').where('id', '=', idOf(value)).execute();
    },
  };
}

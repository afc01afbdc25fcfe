/** Readings and gift links that no longer count, also those of readers who don't come back. */
import type { Database } from '../database.ts';
import type { OldRows } from '../jobs/old-rows.ts';
import { giftLimitMs } from './gifts.server.ts';

const day = 24 * 60 * 60 * 1000;

/** @param days for which the meter counts a reading @param now epoch milliseconds */
export const oldRowsOf = ({ db }: Database, days: number, now: () => number): OldRows => [
  (most) =>
    db
      .deleteFrom('article_reads')
      .where(({ eb, refTuple, selectFrom }) =>
        eb(
          refTuple('user_id', 'article_id'),
          'in',
          selectFrom('article_reads')
            .select(['user_id', 'article_id'])
            .where('at', '<=', now() - days * day)
            .limit(most)
            .$asTuple('user_id', 'article_id'),
        ),
      )
      // Checked again: the article may have been read anew in the meantime.
      .where('at', '<=', now() - days * day)
      .executeTakeFirstOrThrow(),
  (most) =>
    db
      .deleteFrom('gifts')
      .where('id', 'in', (query) =>
        query
          .selectFrom('gifts')
          .select('id')
          .where('created', '<=', now() - giftLimitMs)
          .where('expires', '<=', now())
          .limit(most),
      )
      .executeTakeFirstOrThrow(),
];

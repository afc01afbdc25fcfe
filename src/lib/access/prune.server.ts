/** Deletes readings and gift links that no longer count, also of readers who don't come back. */
import type { Database } from '../database.ts';
import { deleteInSteps } from '../jobs/queue.server.ts';
import { giftLimitMs } from './gifts.server.ts';

const day = 24 * 60 * 60 * 1000;
/** Most rows of one statement. */
const step = 1000;

/** @param days for which the meter counts a reading @param now epoch milliseconds @returns how many rows were deleted */
export async function prune({ db }: Database, days: number, now: () => number, signal?: AbortSignal): Promise<number> {
  const mayContinue = () => !signal?.aborted;
  const lastRead = () => now() - days * day;
  const readings = await deleteInSteps(
    step,
    () =>
      db
        .deleteFrom('article_reads')
        .where(({ eb, refTuple, selectFrom }) =>
          eb(
            refTuple('user_id', 'article_id'),
            'in',
            selectFrom('article_reads')
              .select(['user_id', 'article_id'])
              .where('at', '<=', lastRead())
              .limit(step)
              .$asTuple('user_id', 'article_id'),
          ),
        )
        // Checked again: the article may have been read anew in the meantime.
        .where('at', '<=', lastRead())
        .executeTakeFirstOrThrow(),
    mayContinue,
  );
  const gifts = await deleteInSteps(
    step,
    () =>
      db
        .deleteFrom('gifts')
        .where('id', 'in', (query) =>
          query
            .selectFrom('gifts')
            .select('id')
            .where('created', '<=', now() - giftLimitMs)
            .where('expires', '<=', now())
            .limit(step),
        )
        .executeTakeFirstOrThrow(),
    mayContinue,
  );
  return readings + gifts;
}

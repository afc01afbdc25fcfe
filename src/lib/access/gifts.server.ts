/**
 * Articles that subscribers give away: a link that opens one article for so many browsers and days. The link's token is made
 * from the secret and the gift's number, so that the same link can be shown again and is kept nowhere.
 */
import { createHmac, hkdfSync, randomUUID } from 'node:crypto';
import type { Database } from '../database.ts';
import type { GiftsTable } from './tables.ts';

export interface GiftRules {
  /** Days that a link is good for. */
  readonly days: number;
  /** Browsers that one link opens the article for. */
  readonly readers: number;
  /** Links of one subscriber within thirty days. */
  readonly most: number;
  /** Minutes for which a browser that has opened a link reads on without asking again whether its giver still subscribes. */
  readonly passMinutes: number;
}

export interface Gift {
  readonly token: string;
  readonly articleId: number;
  /** Who gave it: it opens as long as they subscribe. */
  readonly giver: string;
  /** Epoch milliseconds. */
  readonly expires: number;
}

export type Given =
  | { readonly ok: true; readonly gift: Gift; readonly left: number }
  /** All links of these thirty days are given; `retryAfter` in whole seconds. */
  | { readonly ok: false; readonly why: 'used up'; readonly retryAfter: number }
  /** The address of whoever gives is not confirmed. */
  | { readonly ok: false; readonly why: 'unconfirmed' };

export interface Gifts {
  /** Gives an article away; the same article again is the same link while that is good. */
  give(userId: string, articleId: number): Promise<Given>;
  /** How many links are left. */
  left(userId: string): Promise<number>;
  /**
   * What a link opens, without using it: mail scanners open links too. `null`: it is unknown or too old; `good`: it is not used up.
   * Whether its giver still subscribes is the caller's to ask.
   */
  look(token: string): Promise<(Gift & { readonly good: boolean }) | null>;
  /** Uses a link for one browser more. */
  use(token: string): Promise<Gift | null>;
  list(
    userId: string,
  ): Promise<readonly { readonly article: number; readonly time: string; readonly readers: number }[]>;
}

const day = 24 * 60 * 60 * 1000;
const month = 30 * day;
const form = /^[\w-]{43}$/;

type Row = Pick<GiftsTable, 'article_id' | 'user_id' | 'expires'>;

/** @param secret at least 32 characters of chance; @param now epoch milliseconds */
export function createGifts(database: Database, secret: string, rules: GiftRules, now: () => number): Gifts {
  const key = Buffer.from(hkdfSync('sha256', secret, 'broadsheet access', 'gifts', 32));
  const hmac = (use: string, text: string): string =>
    createHmac('sha256', key).update(`${use}\n${text}`).digest('base64url');
  const tokenOf = (id: string): string => hmac('token', id);
  const kept = (token: string): string => hmac('kept', token);

  const giftOf = (token: string, row: Row | undefined): Gift | null =>
    row ? { token, articleId: Number(row.article_id), giver: row.user_id, expires: Number(row.expires) } : null;

  async function look(token: string) {
    if (!form.test(token)) return null;
    const row = await database.db
      .selectFrom('gifts')
      .select(['article_id', 'user_id', 'expires', 'readers', 'most'])
      .where('token', '=', kept(token))
      .where('expires', '>', now())
      .executeTakeFirst();
    const gift = giftOf(token, row);
    return row && gift ? { ...gift, good: row.readers < row.most } : null;
  }

  const recent = (queries: Database['db'], userId: string) =>
    queries
      .selectFrom('gifts')
      .select(['id', 'article_id', 'created', 'expires', 'readers', 'most'])
      .where('user_id', '=', userId)
      .where('created', '>', now() - month)
      .orderBy('created')
      .execute();

  return {
    give: (userId, articleId) =>
      database.transaction(async (tx) => {
        // Held, so that two clicks are one gift.
        await tx
          .updateTable('users')
          .set((each) => ({ updatedAt: each.ref('updatedAt') }))
          .where('id', '=', userId)
          .execute();
        const mine = await recent(tx, userId);
        const left = Math.max(0, rules.most - mine.length);
        const same = mine.findLast(
          (one) => Number(one.article_id) === articleId && Number(one.expires) > now() && one.readers < one.most,
        );
        if (same) {
          const gift = { token: tokenOf(same.id), articleId, giver: userId, expires: Number(same.expires) };
          return { ok: true, gift, left };
        }
        if (left === 0) {
          const freed = Number(mine[mine.length - rules.most]?.created ?? now()) + month;
          return { ok: false, why: 'used up', retryAfter: Math.max(1, Math.ceil((freed - now()) / 1000)) };
        }
        const id = randomUUID();
        const token = tokenOf(id);
        const expires = now() + rules.days * day;
        await tx
          .insertInto('gifts')
          .values({
            id,
            token: kept(token),
            user_id: userId,
            article_id: articleId,
            created: now(),
            expires,
            readers: 0,
            most: rules.readers,
          })
          .execute();
        // Links that open nothing any more and do not count either.
        await tx
          .deleteFrom('gifts')
          .where('user_id', '=', userId)
          .where('created', '<=', now() - month)
          .where('expires', '<=', now())
          .execute();
        return { ok: true, gift: { token, articleId, giver: userId, expires }, left: left - 1 };
      }),
    left: async (userId) => Math.max(0, rules.most - (await recent(database.db, userId)).length),
    look,
    async use(token) {
      if (!form.test(token)) return null;
      const row = await database.db
        .updateTable('gifts')
        .set((each) => ({ readers: each('readers', '+', 1) }))
        .where('token', '=', kept(token))
        .where('expires', '>', now())
        .whereRef('readers', '<', 'most')
        .returning(['article_id', 'user_id', 'expires'])
        .executeTakeFirst();
      return giftOf(token, row);
    },
    async list(userId) {
      const rows = await database.db
        .selectFrom('gifts')
        .select(['article_id', 'created', 'readers'])
        .where('user_id', '=', userId)
        .orderBy('created')
        .execute();
      return rows.map((row) => ({
        article: Number(row.article_id),
        time: new Date(Number(row.created)).toISOString(),
        readers: row.readers,
      }));
    },
  };
}

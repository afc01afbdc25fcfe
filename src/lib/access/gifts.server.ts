/**
 * Articles that subscribers give away: a link opens one article for a number of browsers and days. The link's token is derived from the
 * secret and the gift's id, so that the same link can be shown again without being stored.
 */
import { createHmac, hkdfSync, randomUUID } from 'node:crypto';
import { isToken } from '../crypto.server.ts';
import { type AccountsTransaction, type Database, lockUserRow, type Queries } from '../database.ts';
import type { GiftsTable } from './tables.ts';

export interface GiftRules {
  /** Days that a link is valid. */
  readonly days: number;
  /** Browsers that one link opens the article for. */
  readonly readers: number;
  /** Links of one subscriber within thirty days. */
  readonly most: number;
  /** Minutes that a browser may read after opening a link, before the site checks again that the giver still subscribes. */
  readonly passMinutes: number;
}

export interface Gift {
  readonly token: string;
  readonly articleId: number;
  /** Id of the subscriber: the link works as long as they subscribe. */
  readonly giver: string;
  /** Epoch milliseconds. */
  readonly expires: number;
}

export type GiftOutcome =
  | { readonly ok: true; readonly gift: Gift; readonly left: number }
  /** All links of thirty days are used; `retryAfter` in whole seconds. */
  | { readonly ok: false; readonly why: 'used up'; readonly retryAfter: number }
  /** The subscriber's email address is not confirmed. */
  | { readonly ok: false; readonly why: 'unconfirmed' };

const day = 24 * 60 * 60 * 1000;
/** For how long a link counts toward its giver's limit, milliseconds. */
const giftLimitMs = 30 * day;

type Row = Pick<GiftsTable, 'article_id' | 'user_id' | 'expires'>;

/** What the functions below share. */
export interface GiftsState {
  readonly database: Database;
  readonly rules: GiftRules;
  /** Epoch milliseconds. */
  readonly now: () => number;
  readonly key: Buffer;
}

/** @param secret at least 32 random characters; a change voids all gifts */
export const openGifts = (database: Database, secret: string, rules: GiftRules, now: () => number): GiftsState => ({
  database,
  rules,
  now,
  key: Buffer.from(hkdfSync('sha256', secret, 'broadsheet access', 'gifts', 32)),
});

const hmac = ({ key }: GiftsState, use: 'token' | 'kept', text: string): string =>
  createHmac('sha256', key).update(`${use}\n${text}`).digest('base64url');

const giftOf = (token: string, row: Row | undefined): Gift | null =>
  row ? { token, articleId: Number(row.article_id), giver: row.user_id, expires: Number(row.expires) } : null;

const recentGifts = ({ now }: GiftsState, queries: Queries, userId: string) =>
  queries
    .selectFrom('gifts')
    .select(['id', 'article_id', 'created', 'expires', 'readers', 'most'])
    .where('user_id', '=', userId)
    .where('created', '>', now() - giftLimitMs)
    .orderBy('created')
    .execute();

/** How many links a subscriber can still give away. */
export const giftsLeft = async (state: GiftsState, userId: string): Promise<number> =>
  Math.max(0, state.rules.most - (await recentGifts(state, state.database.db, userId)).length);

/** Gives an article away; for the same article the same link is returned while it is valid. */
export const giveArticle = (state: GiftsState, userId: string, articleId: number): Promise<GiftOutcome> =>
  state.database.transaction(async (tx): Promise<GiftOutcome> => {
    const { rules } = state;
    const now = state.now();
    // Locked, so that two clicks create only one gift.
    await lockUserRow(tx, userId);
    const mine = await recentGifts(state, tx, userId);
    const left = Math.max(0, rules.most - mine.length);
    const same = mine.findLast(
      (one) => Number(one.article_id) === articleId && Number(one.expires) > now && one.readers < one.most,
    );
    if (same) {
      const gift = { token: hmac(state, 'token', same.id), articleId, giver: userId, expires: Number(same.expires) };
      return { ok: true, gift, left };
    }
    if (left === 0) {
      const freeAgain = Number(mine[mine.length - rules.most]?.created ?? now) + giftLimitMs;
      return { ok: false, why: 'used up', retryAfter: Math.max(1, Math.ceil((freeAgain - now) / 1000)) };
    }
    return { ok: true, gift: await addGift(state, tx, userId, articleId), left: left - 1 };
  });

async function addGift(state: GiftsState, tx: AccountsTransaction, userId: string, articleId: number): Promise<Gift> {
  const { rules } = state;
  const now = state.now();
  const id = randomUUID();
  const token = hmac(state, 'token', id);
  const expires = now + rules.days * day;
  await tx
    .insertInto('gifts')
    .values({
      id,
      token: hmac(state, 'kept', token),
      user_id: userId,
      article_id: articleId,
      created: now,
      expires,
      readers: 0,
      most: rules.readers,
    })
    .execute();
  return { token, articleId, giver: userId, expires };
}

/**
 * What a link opens, without using it: mail scanners open links too. The caller checks whether the giver still subscribes.
 *
 * @returns `null`: unknown or expired; `isUsable`: the link isn't used up
 */
export async function findGift(
  state: GiftsState,
  token: string,
): Promise<(Gift & { readonly isUsable: boolean }) | null> {
  if (!isToken(token)) return null;
  const row = await state.database.db
    .selectFrom('gifts')
    .select(['article_id', 'user_id', 'expires', 'readers', 'most'])
    .where('token', '=', hmac(state, 'kept', token))
    .where('expires', '>', state.now())
    .executeTakeFirst();
  const gift = giftOf(token, row);
  return row && gift ? { ...gift, isUsable: row.readers < row.most } : null;
}

/** Uses a link for one more browser. */
export async function spendGift(state: GiftsState, token: string): Promise<Gift | null> {
  if (!isToken(token)) return null;
  const row = await state.database.db
    .updateTable('gifts')
    .set((each) => ({ readers: each('readers', '+', 1) }))
    .where('token', '=', hmac(state, 'kept', token))
    .where('expires', '>', state.now())
    .whereRef('readers', '<', 'most')
    .returning(['article_id', 'user_id', 'expires'])
    .executeTakeFirst();
  return giftOf(token, row);
}

/** For the export of a user's data. */
export async function listGifts({ database }: GiftsState, userId: string) {
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
}

/** Deletes links that no longer count toward a limit and no longer work. @param most rows of this step */
export const deleteOldGifts = ({ database: { db }, now }: GiftsState, most: number) =>
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
    .executeTakeFirstOrThrow();

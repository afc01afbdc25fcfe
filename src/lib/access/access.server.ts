/** The access service: entitlements, meter and gifts together, over the accounts' database. */

import type { APIContext } from 'astro';
import type { PassCookie } from '../../press/delivery/access-cookie.ts';
import { publication } from '../../publication.ts';
import type { DecisionEngineBody } from '../accounts/schema.ts';
import type { Session } from '../accounts/service.ts';
import type { Database } from '../database.ts';
import { setCookie } from '../http/cookies.server.ts';
import { isPrefetch } from '../http/origin.ts';
import { type OldRows, rowsUntil } from '../jobs/old-rows.ts';
import { ruleFor, type View } from './answers.ts';
import type { Subject } from './decide.ts';
import {
  anonymous,
  type Entitlements,
  entitlementsOf,
  type Grant,
  grantOf,
  type Paid,
  runningProducts,
  type Terms,
  trialEnd,
  trialStart,
} from './entitlements.ts';
import {
  deleteOldGifts,
  findGift,
  type GiftRules,
  type GiftsState,
  giftsLeft,
  giveArticle,
  listGifts,
  openGifts,
  spendGift,
} from './gifts.server.ts';
import { createMeter, type Meter, type MeterReading, type MeterRules } from './meter.server.ts';
import { type Access, type AccessQuestion, articleAt } from './model.ts';

export interface AccessOptions {
  readonly database: Database;
  /** At least 32 random characters; changing it invalidates all gifts. */
  readonly secret: string;
  readonly rules: {
    readonly meter: MeterRules & { readonly anonymous: number };
    readonly trialHours: number;
    readonly gifts: GiftRules;
  };
  /** The products that a user pays for now. */
  readonly paid: (userId: string) => Promise<readonly Paid[]>;
  /** Days of the introductory period; `null` while the catalog is not known. */
  readonly promotionDays: () => number | null;
  readonly pass: PassCookie;
  /** Whether the site is served over HTTPS. */
  readonly secure: boolean;
  /** Epoch milliseconds; for tests. */
  readonly now?: () => number;
}

export interface RunningAccess extends Access {
  /** The contents of the access cookie; see `GrantFor` of the accounts. */
  grantFor(userId: string, trialStartedAt: number | null): Promise<Grant>;
  /** Readings and gift links that no longer count. */
  readonly oldRows: OldRows;
}

/** The meter of an anonymous reader is counted in the browser, so the server always assumes that articles are left. */
const anonymousMeter = (total: number): MeterReading => ({
  state: 'left',
  total,
  remaining: total,
  counted: false,
});

/** The path of an address within the site, without query and fragment. */
const pathOf = (address: string): string => address.split(/[?#]/, 1)[0] || '/';
/** Address of an article's page, which is also its key. */
const articlePath = (slug: string): string => `/article/${slug}`;
/** Where the link of a gift leads. */
const giftPath = (token: string): string => `/gift/${token}`;

interface AccessState extends Omit<AccessOptions, 'now'> {
  readonly now: () => number;
  readonly meter: Meter;
  readonly gifts: GiftsState;
}

const day = 24 * 60 * 60 * 1000;

type SlugOf = (articleId: number) => string | null;

export function createAccess(options: AccessOptions): RunningAccess {
  const { database, rules, paid, now = Date.now } = options;
  const meter = createMeter(database, rules.meter, now);
  const gifts = openGifts(database, options.secret, rules.gifts, now);
  const state: AccessState = { ...options, now, meter, gifts };
  return {
    oldRows: [
      rowsUntil(database.db, 'article_reads', ['user_id', 'article_id'], 'at', () => now() - rules.meter.days * day),
      (most) => deleteOldGifts(gifts, most),
    ],
    grantFor: async (userId, startedAt) => grantOf(await paid(userId), now(), trialEnd(startedAt, rules)),
    paidGrant: async (userId) => grantOf(await paid(userId), now()),
    view: (question) => view(state, question),
    async give(session, articleId) {
      if ((await readEntitlements(state, session)).products.length === 0) return null;
      if (!session.emailVerified) return { ok: false, why: 'unconfirmed' };
      return giveArticle(gifts, session.userId, articleId);
    },
    async peekGift(token, slugOf, cookies) {
      const gift = await validGift(state, token);
      if (!gift || slugOf(gift.articleId) === null) return null;
      return gift.isUsable || options.pass.opens(cookies ?? undefined, giftPath(token)) ? gift : null;
    },
    useGift: (token, slugOf, cookies, elsewhere) => useGift(state, token, slugOf, cookies, elsewhere),
    personalData: {
      // When the address is proven, gifts' links stop working, and the owner gets the full allowance.
      tables: { article_reads: 'gone', gifts: 'gone' },
      export: async ({ userId }) => ({
        metered_articles: await meter.list(userId),
        gifts: await listGifts(gifts, userId),
      }),
    },
  };
}

const termsOf = ({ rules, promotionDays }: AccessState): Terms => ({
  trialHours: rules.trialHours,
  promotionDays: promotionDays(),
});

async function trialStartedAt({ database, rules }: AccessState, userId: string): Promise<number | null> {
  if (rules.trialHours === 0) return null;
  const user = await database.db
    .selectFrom('users')
    .select(['createdAt', 'emailVerified'])
    .where('id', '=', userId)
    .executeTakeFirst();
  return user ? trialStart(user.createdAt, user.emailVerified === 1) : null;
}

async function readEntitlements(state: AccessState, { userId }: Session): Promise<Entitlements> {
  return entitlementsOf(await state.paid(userId), await trialStartedAt(state, userId), termsOf(state), state.now());
}

/** The gift of a known link whose giver still subscribes. */
async function validGift({ gifts, paid, now }: AccessState, token: string) {
  const gift = await findGift(gifts, token);
  return gift && runningProducts(await paid(gift.giver), now()).length > 0 ? gift : null;
}

async function hasGift(state: AccessState, { article, cookies, giftToken }: AccessQuestion): Promise<boolean> {
  if (!article) return false;
  if (state.pass.opens(cookies ?? undefined, articlePath(article.slug))) return true;
  const gift = giftToken === undefined ? null : await validGift(state, giftToken);
  return gift?.isUsable === true && gift.articleId === article.id;
}

async function view(state: AccessState, question: AccessQuestion): Promise<View> {
  const { rules, now } = state;
  const { session, article, path, count } = question;
  const entitlements = session ? await readEntitlements(state, session) : anonymous;
  const subject: Subject = article?.level ?? 'none';
  const gift = await hasGift(state, question);
  const paying = entitlements.products.length > 0;
  const known = {
    entitlements,
    path: pathOf(path),
    subject,
    gift,
    now: now(),
    gifts: paying && session ? { most: rules.gifts.most, left: await giftsLeft(state.gifts, session.userId) } : null,
  };
  let reading = anonymousMeter(rules.meter.anonymous);
  if (session && !paying) {
    const id = article?.id ?? null;
    // Whether this reading counts, by the decision table.
    const counts = count && ruleFor({ ...known, meter: { ...reading, state: 'left' } }).outcome.count;
    reading = await state.meter.count(session.userId, id, counts);
  }
  return { ...known, meter: reading };
}

async function useGift(
  state: AccessState,
  token: string,
  slugOf: SlugOf,
  cookies: string | null,
  elsewhere: (articleId: number) => readonly string[] = () => [],
) {
  const { rules, pass, secure, now } = state;
  const found = await validGift(state, token);
  const slug = found && slugOf(found.articleId);
  if (!found || slug === null) return null;
  const path = articlePath(slug);
  // A browser that opens the link again does not use it up for others.
  const openedBefore = pass.opens(cookies ?? undefined, giftPath(token));
  const gift = openedBefore ? found : await spendGift(state.gifts, token);
  if (!gift) return null;
  const nowSeconds = Math.floor(now() / 1000);
  const cookie = (page: string, expires: number, cookiePath = page): string =>
    setCookie(pass.name, pass.sign(page, expires), {
      maxAge: expires - nowSeconds,
      httpOnly: true,
      secure,
      path: cookiePath,
    });
  const ends = Math.floor(gift.expires / 1000);
  // The article's pass is short, because the giver's subscription is not checked while it lasts. The link's pass lasts as long as the link.
  const passEnds = Math.min(ends, nowSeconds + rules.gifts.passMinutes * 60);
  const passes = [path, ...elsewhere(found.articleId)].map((cookiePath) => cookie(path, passEnds, cookiePath));
  return { path, cookies: openedBefore ? passes : [...passes, cookie(giftPath(token), ends)] };
}

/** The facts that decide a request; without local accounts every reader is anonymous and nothing is counted. */
export async function viewFor(
  { locals, request }: Pick<APIContext, 'locals' | 'request'>,
  session: Session | null,
  { path = '/', giftToken, dryRunMode = false }: Pick<DecisionEngineBody, 'path' | 'giftToken' | 'dryRunMode'>,
): Promise<View> {
  const article = articleAt(locals.content, path);
  const { access } = locals.services;
  if (access) {
    const cookies = request.headers.get('cookie');
    const count = !dryRunMode && !isPrefetch(request);
    return access.view({ session, path, article, cookies, giftToken, count });
  }
  return {
    entitlements: anonymous,
    path: pathOf(path),
    subject: article?.level ?? 'none',
    gift: false,
    meter: anonymousMeter(publication.access.meter.anonymous),
    gifts: null,
    now: Date.now(),
  };
}

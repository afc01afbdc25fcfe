/** What a reader is entitled to read: paid products, trials, and what the access cookie says of them. */
import { type Product, productOf, productSlugs, products, type VisitorKind } from '../accounts/products.ts';
import type { Entitlement } from '../billing/service.ts';
import type { RestrictedLevel } from '../content/model.ts';

export interface Trial {
  /** Epoch milliseconds; `null`: not known. */
  readonly startedAt: number | null;
  readonly endsAt: number;
}

export interface Entitlements {
  readonly authenticated: boolean;
  /** Paid products that are active, the highest first. */
  readonly products: readonly Product[];
  /** The introductory period of a product; `null` once any product is paid in full. */
  readonly promotion: Trial | null;
  /** A period after registering in which everything is open without paying. */
  readonly timed: Trial | null;
}

/** A reader who has not signed in; also the fallback (spec section 4). */
export const anonymous: Entitlements = { authenticated: false, products: [], promotion: null, timed: null };

const hour = 60 * 60 * 1000;
const day = 24 * hour;

export interface Terms {
  /** Hours after registering in which everything is open to readers with a confirmed address; 0: none. */
  readonly trialHours: number;
  /** Days of the introductory period in the catalog; `null`: not known. */
  readonly promotionDays: number | null;
}

/**
 * Start of a reader's timed trial, epoch milliseconds. An account with an unconfirmed address has none: otherwise anyone could create
 * one account after another with addresses of others.
 */
export const trialStart = (createdAt: string, isConfirmed: boolean): number | null =>
  isConfirmed ? Date.parse(createdAt) : null;

/** End of a reader's timed trial, epoch milliseconds; `null` where the reader or the publication has none. */
export const trialEnd = (startedAt: number | null, { trialHours }: Pick<Terms, 'trialHours'>): number | null =>
  trialHours > 0 && startedAt !== null ? startedAt + trialHours * hour : null;

/** A reader's entitlements at a time. @param startedAt as {@link trialStart} @param now epoch milliseconds */
export function entitlementsOf(
  paid: readonly Paid[],
  startedAt: number | null,
  terms: Terms,
  now: number,
): Entitlements {
  const products = runningProducts(paid, now);
  const running = paid.filter((one) => runningProducts([one], now).length > 0);
  const endsAt = Math.max(...running.map(({ until }) => until));
  const promotion =
    running.length > 0 && running.every(({ trialing }) => trialing)
      ? { startedAt: terms.promotionDays === null ? null : endsAt - terms.promotionDays * day, endsAt }
      : null;
  const ends = trialEnd(startedAt, terms);
  const timed = ends !== null && ends > now ? { startedAt, endsAt: ends } : null;
  return { authenticated: true, products, promotion, timed };
}

/** A paid product, with the fields that decide what may be read. */
export type Paid = Pick<Entitlement, 'product' | 'until' | 'trialing'>;

export interface Grant {
  /** The contents of the access cookie. */
  readonly level: RestrictedLevel;
  /** Epoch milliseconds at which the level ends by itself; `Infinity`: with the session. */
  readonly until: number;
  /** Value of `data-visitor`, which pages are styled by. */
  readonly visitor: VisitorKind;
}

/** A free account. */
export const registeredGrant: Grant = { level: 'registered', until: Number.POSITIVE_INFINITY, visitor: 'registered' };

/** The paid products that are active at a time, highest first, without duplicates. Unknown products give no access. */
export const runningProducts = (paid: readonly Omit<Paid, 'trialing'>[], now: number): readonly Product[] =>
  products
    .toReversed()
    .filter((product) => paid.some((one) => one.product === productSlugs[product] && one.until > now));

/**
 * The contents of the access cookie and the hint cookie for a reader.
 *
 * @param now epoch milliseconds
 * @param trialUntil end of a period in which everything may be read, epoch milliseconds; `null`: there is none
 */
export function grantOf(paid: readonly Paid[], now: number, trialUntil: number | null = null): Grant {
  const [highest] = runningProducts(paid, now);
  const ends = paid.filter(({ product }) => productOf(product)).map(({ until }) => until);
  const until = Math.max(...ends, trialUntil ?? 0);
  return until > now ? { level: 'subscriber', until, visitor: highest ?? 'registered' } : registeredGrant;
}

/** Who somebody is when it comes to reading: what they pay for, and the trials that run. */
import type { Product } from '../accounts/session.ts';
import type { Grant, Paid } from './grant.ts';
import { grantOf, runningProducts } from './grant.ts';

export interface Trial {
  /** Epoch milliseconds; `null`: not known. */
  readonly startedAt: number | null;
  readonly endsAt: number;
}

export interface Standing {
  readonly authenticated: boolean;
  /** Paid products that run, the highest first. */
  readonly products: readonly Product[];
  /** The first cheap time of a product; `null` once any product is paid in full. */
  readonly promotion: Trial | null;
  /** A time in which everything may be read without paying. */
  readonly timed: Trial | null;
}

/** Somebody who has not signed in; also what is fallen back to (spec section 4). */
export const anonymous: Standing = { authenticated: false, products: [], promotion: null, timed: null };

const hour = 60 * 60 * 1000;
const day = 24 * hour;

export interface Terms {
  /** Hours after registering in which everything may be read; 0: none. */
  readonly trialHours: number;
  /** Days of the first cheap time, as far as the catalogue says; `null`: it does not. */
  readonly promotionDays: number | null;
}

/** End of a reader's timed trial, epoch milliseconds; `null` where the paper has none. */
export const trialEnd = (registeredAt: number, { trialHours }: Pick<Terms, 'trialHours'>): number | null =>
  trialHours > 0 ? registeredAt + trialHours * hour : null;

/**
 * A reader's standing at a moment.
 *
 * @param registeredAt epoch milliseconds
 * @param now epoch milliseconds
 */
export function standingOf(paid: readonly Paid[], registeredAt: number, terms: Terms, now: number): Standing {
  const products = runningProducts(paid, now);
  const running = paid.filter(({ product, until }) => until > now && runningProducts([{ product, until }], now)[0]);
  const endsAt = Math.max(...running.map(({ until }) => until));
  const promotion =
    running.length > 0 && running.every(({ trialing }) => trialing)
      ? { startedAt: terms.promotionDays === null ? null : endsAt - terms.promotionDays * day, endsAt }
      : null;
  const ends = trialEnd(registeredAt, terms);
  const timed = ends !== null && ends > now ? { startedAt: registeredAt, endsAt: ends } : null;
  return { authenticated: true, products, promotion, timed };
}

/** What the access cookie and the hint say of a reader; see {@link standingOf}. */
export const grantFrom = (paid: readonly Paid[], registeredAt: number, terms: Terms, now: number): Grant =>
  grantOf(paid, now, trialEnd(registeredAt, terms));

/** The tabs of the account pages, the loading of a panel's data, and the warning before an account is deleted. */
import { publication } from '../../publication.ts';
import { deletionWarnings } from '../accounts/messages.ts';
import type { Subscription } from '../billing/schema.ts';
import { isLive } from '../billing/subscription-model.ts';
import { failAfter } from '../jobs/tasks.ts';
import type { Logger } from '../logging.ts';
import { priceName } from '../plans/model.ts';

/** The tabs of the account (spec section 2, "Account dashboard"). */
const allTabs = [
  { slug: 'account', name: 'Subscriptions', heading: 'Your Subscriptions' },
  { slug: 'profile', name: 'Profile', heading: 'Profile Information' },
  { slug: 'shipping', name: 'Shipping', heading: 'Shipping Information' },
  { slug: 'newsletters', name: 'Newsletters', heading: 'Newsletters' },
  { slug: 'saved', name: 'Saved', heading: 'Saved and read' },
  { slug: 'privacy', name: 'Sign-in and data', heading: 'Sign-in and data' },
  { slug: 'contact', name: 'Contact', heading: 'Contact' },
] as const;

/** Without a print edition there is no shipping tab. */
export const dashboardTabs = allTabs.filter(({ slug }) => slug !== 'shipping' || publication.plans.printWith !== null);

/** The tab of an address, `null` when there is none. */
export const dashboardTab = (slug: string | undefined): (typeof dashboardTabs)[number] | null =>
  dashboardTabs.find((tab) => tab.slug === slug) ?? null;

export type PanelData<T> = { readonly ok: true; readonly value: T } | { readonly ok: false };

export interface PanelOptions {
  /** Names it in the log, for instance "The invoices". */
  readonly what: string;
  readonly log: Pick<Logger, 'warn'>;
  /** Milliseconds after which the page is rendered without it. */
  readonly timeoutMs?: number;
}

/** Waits for a panel's data, but not forever. A failure is logged and returned, so that the rest of the page is still shown. */
export async function loadPanel<T>(
  work: () => Promise<T>,
  { what, log, timeoutMs = 4000 }: PanelOptions,
): Promise<PanelData<T>> {
  try {
    return { ok: true, value: await failAfter(timeoutMs, work()) };
  } catch (error) {
    log.warn({ err: error }, `${what} could not be read for a page`);
    return { ok: false };
  }
}

/** The warning about a running subscription before its account is deleted. */
export interface DeletionWarning {
  /** Paragraphs. */
  readonly words: readonly string[];
  /** Whether the subscription could be canceled first, and kept until its end. */
  readonly cancelFirst: boolean;
}

/**
 * @param subscriptions all of the reader; `undefined`: it is not known now whether there are any
 * @param day an instant as a day in words
 * @param now epoch milliseconds
 */
export function deletionWarning(
  subscriptions: readonly Subscription[] | undefined,
  day: (instant: string) => string,
  now: number,
): DeletionWarning {
  if (subscriptions === undefined) {
    return { words: [deletionWarnings.unknown], cancelFirst: true };
  }
  const paid = subscriptions.filter((one) => isLive(one) && Date.parse(one.paidUntil) > now);
  return {
    words: paid.flatMap(({ productId, planName, paidUntil, cancelAtPeriodEnd }) => {
      const until = day(paidUntil);
      const wait = cancelAtPeriodEnd
        ? deletionWarnings.waits(until)
        : deletionWarnings.cancelFirst(until, paid.length > 1);
      return [deletionWarnings.ends(priceName(productId, planName), until), wait];
    }),
    cancelFirst: paid.some(({ cancelAtPeriodEnd }) => !cancelAtPeriodEnd),
  };
}

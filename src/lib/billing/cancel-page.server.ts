/**
 * The page on which readers cancel, without JavaScript: reason (optional), consequences with one offer, result. What it shows depends on
 * the stored subscription and not on the address, so that going back, a second click or another tab show the same.
 */
import type { AstroGlobal } from 'astro';
import type { Session } from '../accounts/service.ts';
import { type FormRefusal, type Next, postedForm } from '../http/form.server.ts';
import { readFields } from '../http/form-fields.ts';
import { messages } from './messages.ts';
import {
  cancelFields,
  cancelPath,
  cancelReason,
  cancelSteps,
  type RetentionOffer,
  type Subscription,
  subscriptionParam,
} from './schema.ts';
import type { Billed, Billing } from './service.ts';
import { isLive } from './subscription-model.ts';

interface Shown {
  readonly subscription: Subscription;
  /** Whether the reader has several: the page then names this one, and says nothing about all charges. */
  readonly several: boolean;
  /** Whether it is the one that the account shows. */
  readonly main: boolean;
}

export type CancelView =
  /** There is nothing to cancel. */
  | { readonly kind: 'none' }
  | (Shown & { readonly kind: 'why' | 'ending' | 'ended' | 'stayed' })
  | (Shown & { readonly kind: 'confirm'; readonly offer: RetentionOffer | null });

/** What the page shows now. @throws when the database is unavailable */
export async function cancelView(billing: Billing, reader: Session, query: URLSearchParams): Promise<CancelView> {
  const all = await billing.subscriptions(reader);
  const [first] = all;
  const subscription = all.find(({ id }) => id === query.get(subscriptionParam)) ?? first;
  if (!subscription) return { kind: 'none' };
  const shown = { subscription, several: all.length > 1, main: subscription === first };
  if (!isLive(subscription)) return query.get('state') === 'cancelled' ? { kind: 'ended', ...shown } : { kind: 'none' };
  if (subscription.cancelAtPeriodEnd) return { kind: 'ending', ...shown };
  if (query.get('state') === 'stayed') return { kind: 'stayed', ...shown };
  if (query.get('step') !== 'confirm') return { kind: 'why', ...shown };
  return { kind: 'confirm', ...shown, offer: await billing.retentionOffer(reader, subscription.id) };
}

interface Refusal {
  readonly status: number;
  readonly problem: string;
}

/** Handles a posted form of the page. @returns the redirect, or why the page is shown again */
export const postCancelStep = (
  page: Pick<AstroGlobal, 'request' | 'locals' | 'url'>,
  billing: Billing,
  reader: Session,
): Promise<Response | Refusal | FormRefusal> =>
  postedForm(page, async (form): Promise<Next | Refusal> => {
    const id = form.get(subscriptionParam) ?? undefined;
    switch (form.get('step')) {
      case cancelSteps.why: {
        const values = readFields(cancelFields, (name) => form.get(name));
        const feedback = { reason: cancelReason(values.reason), words: values.words || null };
        const begun = await billing.beginCancellation(reader, feedback, id);
        // A reason that can't be stored doesn't prevent the reader from canceling.
        return { to: begun.ok || begun.status !== 404 ? cancelAddress({ step: 'confirm' }, id) : cancelPath };
      }
      case cancelSteps.stay:
        return outcome(await billing.stay(reader, id), cancelAddress({ state: 'stayed' }, id));
      case cancelSteps.cancel:
        return cancelled(billing, reader, id);
      case cancelSteps.resume:
        return outcome(await billing.resume(reader, id), await resumedAddress(billing, reader, id));
      default:
        return { problem: messages.wrong, status: 400 };
    }
  });

/** The account, once a subscription is resumed: where the reader has several, it says which one. */
export async function resumedAddress(billing: Billing, reader: Session, id: string | undefined): Promise<string> {
  const query = new URLSearchParams({ state: 'resumed' });
  if (id !== undefined && (await billing.subscriptions(reader)).length > 1) query.set(subscriptionParam, id);
  return `/dashboard/account?${query}#plan`;
}

/** A step of the page. @param id of the subscription, where the reader has several */
const cancelAddress = (step: Readonly<Record<string, string>>, id: string | undefined): string =>
  `${cancelPath}?${new URLSearchParams(id === undefined ? step : { ...step, [subscriptionParam]: id })}`;

async function cancelled(billing: Billing, reader: Session, id: string | undefined): Promise<Next | Refusal> {
  const result = await billing.cancel(reader, null, id);
  const shown = result.ok ? await billing.subscription(reader) : null;
  // With another subscription this page would ask whether to cancel that one, too.
  const isOther =
    result.ok && shown !== null && shown.id !== result.value.id && isLive(shown) && !shown.cancelAtPeriodEnd;
  if (isOther) return outcome(result, '/dashboard/account?state=cancelled#plan');
  const isShown = result.ok && shown?.id === result.value.id;
  return outcome(result, cancelAddress({ state: 'cancelled' }, isShown ? undefined : id));
}

function outcome(result: Billed<unknown>, to: string): Next | Refusal {
  if (result.ok) return { to };
  // The subscription no longer exists: the page shows the current state.
  if (result.status === 404) return { to: cancelPath };
  return { problem: result.status >= 500 ? messages.wrong : result.error.message, status: result.status };
}

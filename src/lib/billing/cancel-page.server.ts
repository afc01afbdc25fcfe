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
} from './schema.ts';
import type { Billed, Billing } from './service.ts';
import { isLive } from './subscription-model.ts';

export type CancelView =
  /** There is nothing to cancel. */
  | { readonly kind: 'none' }
  | { readonly kind: 'why' | 'ending' | 'ended' | 'stayed'; readonly subscription: Subscription }
  | { readonly kind: 'confirm'; readonly subscription: Subscription; readonly offer: RetentionOffer | null };

/** What the page shows now. @throws when the database is unavailable */
export async function cancelView(billing: Billing, reader: Session, query: URLSearchParams): Promise<CancelView> {
  const subscription = await billing.subscription(reader);
  if (!subscription) return { kind: 'none' };
  if (!isLive(subscription))
    return query.get('state') === 'cancelled' ? { kind: 'ended', subscription } : { kind: 'none' };
  if (subscription.cancelAtPeriodEnd) return { kind: 'ending', subscription };
  if (query.get('state') === 'stayed') return { kind: 'stayed', subscription };
  if (query.get('step') !== 'confirm') return { kind: 'why', subscription };
  return { kind: 'confirm', subscription, offer: await billing.retentionOffer(reader) };
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
  postedForm(page, {}, async (form): Promise<Next | Refusal> => {
    switch (form.get('step')) {
      case cancelSteps.why: {
        const values = readFields(cancelFields, (name) => form.get(name));
        const feedback = { reason: cancelReason(values.reason), words: values.words || null };
        const begun = await billing.beginCancellation(reader, feedback);
        // A reason that can't be stored doesn't prevent the reader from canceling.
        return { to: begun.ok || begun.status !== 404 ? `${cancelPath}?step=confirm` : cancelPath };
      }
      case cancelSteps.stay:
        return outcome(await billing.stay(reader), `${cancelPath}?state=stayed`);
      case cancelSteps.cancel:
        return cancelled(billing, reader, form.get('subscription') ?? undefined);
      case cancelSteps.resume:
        return outcome(await billing.resume(reader), '/dashboard/account?state=resumed#plan');
      default:
        return { problem: messages.wrong, status: 400 };
    }
  });

async function cancelled(billing: Billing, reader: Session, id: string | undefined): Promise<Next | Refusal> {
  const result = await billing.cancel(reader, null, id);
  const shown = result.ok ? await billing.subscription(reader) : null;
  // With another subscription this page would ask whether to cancel that one, too.
  const isOther =
    result.ok && shown !== null && shown.id !== result.value.id && isLive(shown) && !shown.cancelAtPeriodEnd;
  return outcome(result, isOther ? '/dashboard/account?state=cancelled#plan' : `${cancelPath}?state=cancelled`);
}

function outcome(result: Billed<unknown>, to: string): Next | Refusal {
  if (result.ok) return { to };
  // The subscription no longer exists: the page shows the current state.
  if (result.status === 404) return { to: cancelPath };
  return { problem: result.status >= 500 ? messages.wrong : result.error.message, status: result.status };
}

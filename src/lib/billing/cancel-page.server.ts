/**
 * The page on which readers leave, without a script: why (a question that may be skipped), what happens and one offer, done. No more
 * steps than subscribing has. What is shown follows from the subscription as it is, never from the address.
 */
import type { AstroGlobal } from 'astro';
import type { Session } from '../accounts/service.ts';
import { readForm } from '../http/body.server.ts';
import { isOwnForm } from '../http/form.server.ts';
import { leavingReason, type StayOffer } from './leaving.ts';
import { messages } from './messages.ts';
import type { Billed, Billing } from './service.ts';
import { isLive } from './status.ts';
import type { Subscription } from './wire.ts';

export type CancelView =
  /** There is nothing to cancel. */
  | { readonly kind: 'none' }
  | { readonly kind: 'why' | 'ending' | 'ended' | 'stayed'; readonly subscription: Subscription }
  | { readonly kind: 'confirm'; readonly subscription: Subscription; readonly offer: StayOffer | null };

/** The steps that a form may be. */
export const cancelSteps = { why: 'why', stay: 'stay', cancel: 'cancel', resume: 'resume' } as const;
export const cancelPath = '/cancel';

/** What to show now. @throws where the database is away */
export async function cancelView(billing: Billing, reader: Session, query: URLSearchParams): Promise<CancelView> {
  const subscription = await billing.subscription(reader);
  if (!subscription) return { kind: 'none' };
  if (!isLive(subscription))
    return query.get('state') === 'cancelled' ? { kind: 'ended', subscription } : { kind: 'none' };
  if (subscription.cancelAtPeriodEnd) return { kind: 'ending', subscription };
  if (query.get('state') === 'stayed') return { kind: 'stayed', subscription };
  if (query.get('step') !== 'confirm') return { kind: 'why', subscription };
  return { kind: 'confirm', subscription, offer: await billing.stayOffer(reader) };
}

export interface CancelOutcome {
  /** Where it goes on; `null`: the page is shown again with the problem. */
  readonly to: string | null;
  readonly problem: string | null;
  readonly status: number;
}

const confirm = `${cancelPath}?step=confirm`;

/** Works a form of this page. */
export async function cancelStep(
  { request, locals, url }: Pick<AstroGlobal, 'request' | 'locals' | 'url'>,
  billing: Billing,
  reader: Session,
): Promise<CancelOutcome> {
  const again = (problem: string, status: number): CancelOutcome => ({ to: null, problem, status });
  if (!isOwnForm(request, locals.config.siteUrl)) {
    return again(messages.otherSite, 403);
  }
  const form = await readForm(request);
  const step = form?.get('step');
  const on = (result: Billed<unknown>, to: string): CancelOutcome => {
    if (result.ok) return { to, problem: null, status: 303 };
    // What there is now is shown, whatever it was that was pressed.
    if (result.status === 404) return { to: cancelPath, problem: null, status: 303 };
    return again(result.status >= 500 ? messages.wrong : result.error.message, result.status);
  };
  try {
    switch (step) {
      case cancelSteps.why: {
        const reason = leavingReason(form?.get('reason'));
        const begun = await billing.beginLeaving(reader, { reason, words: form?.get('words') ?? null });
        // A reason that can't be stored keeps no reader from canceling.
        return begun.ok || begun.status === 404 ? on(begun, confirm) : { to: confirm, problem: null, status: 303 };
      }
      case cancelSteps.stay:
        return on(await billing.stay(reader), `${cancelPath}?state=stayed`);
      case cancelSteps.cancel:
        return on(await billing.cancel(reader), `${cancelPath}?state=cancelled`);
      case cancelSteps.resume:
        return on(await billing.resume(reader), '/dashboard/account?state=resumed#plan');
      default:
        return again(messages.wrong, 400);
    }
  } catch (error) {
    locals.services.log.error({ err: error, url: url.pathname }, 'A cancellation could not be worked on');
    return again(messages.wrong, 503);
  }
}

/** The actions of the dashboard's buttons; `/_sandbox` calls the same functions. */
import { changeCard, moveClock } from './controls.ts';
import { ApiError } from './core/errors.ts';
import { Params } from './core/params.ts';
import { endDispute, openDispute } from './payments/disputes.ts';
import { refund } from './resources/payments.ts';
import type { StripeState } from './state.ts';
import type { Webhooks } from './webhooks.ts';

interface ActionResult {
  readonly view: string;
  readonly message?: string;
}

export function actions(state: StripeState, webhooks: Webhooks | null) {
  const { account } = state;
  return async (name: string, form: URLSearchParams): Promise<ActionResult> => {
    const number = (field: string) => Number(form.get(field) ?? 0) || 0;
    try {
      switch (name) {
        case 'clock': {
          const to = form.get('to') === 'next-renewal' ? 'next-renewal' : { days: number('days') };
          const moved = moveClock(state, typeof to === 'string' ? { to } : to);
          return { view: 'events', message: typeof moved === 'string' ? moved : 'The clock was moved.' };
        }
        case 'webhooks':
          webhooks?.set({
            mode: form.get('mode') === 'off' ? 'off' : 'on',
            delay: number('delay'),
            copies: Math.max(1, number('copies')),
            shuffle: number('shuffle'),
            lose: Math.min(1, number('lose')),
          });
          return { view: 'events', message: 'The webhook settings were saved.' };
        case 'flush':
          await webhooks?.flush();
          return { view: 'events', message: 'All waiting events were sent.' };
        case 'resend':
          webhooks?.resend(form.get('event') ?? undefined);
          return { view: 'events', message: 'The events are being sent again.' };
        case 'refund':
          account.transaction(() => refund(account, new Params({ charge: form.get('charge') ?? '' })));
          return { view: 'payments', message: 'The payment was refunded.' };
        case 'dispute':
          account.transaction(() => openDispute(account, account.need('charge', form.get('charge') ?? '')));
          return { view: 'payments', message: 'The payment was disputed.' };
        case 'decide':
          account.transaction(() =>
            endDispute(account, account.need('dispute', form.get('dispute') ?? ''), form.get('won') === 'yes'),
          );
          return { view: 'payments', message: 'The dispute was closed.' };
        case 'card': {
          changeCard(state, { customer: form.get('customer'), number: form.get('number') });
          return { view: 'customers', message: 'The card was changed.' };
        }
        case 'reset':
          state.reset();
          return { view: 'customers', message: 'All data was deleted.' };
        default:
          return { view: 'customers' };
      }
    } catch (error) {
      if (error instanceof ApiError) return { view: 'customers', message: error.message };
      throw error;
    }
  };
}

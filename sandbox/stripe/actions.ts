/** What the page's buttons do; `/_sandbox` calls the same functions. */
import { changeCard, moveClock } from './controls.ts';
import { ApiError } from './core/errors.ts';
import { Params } from './core/params.ts';
import { endDispute, openDispute } from './payments/disputes.ts';
import { refund } from './resources/payments.ts';
import type { StripeState } from './state.ts';
import type { Webhooks } from './webhooks.ts';

interface Done {
  readonly view: string;
  readonly said?: string;
}

export function actions(state: StripeState, webhooks: Webhooks | null) {
  const { account } = state;
  return async (name: string, form: URLSearchParams): Promise<Done> => {
    const number = (field: string) => Number(form.get(field) ?? 0) || 0;
    try {
      switch (name) {
        case 'clock': {
          const to = form.get('to') === 'next-renewal' ? 'next-renewal' : { days: number('days') };
          const moved = moveClock(state, typeof to === 'string' ? { to } : to);
          return { view: 'events', said: typeof moved === 'string' ? moved : 'The clock has been moved.' };
        }
        case 'webhooks':
          webhooks?.set({
            mode: form.get('mode') === 'off' ? 'off' : 'on',
            delay: number('delay'),
            copies: Math.max(1, number('copies')),
            shuffle: number('shuffle'),
            lose: Math.min(1, number('lose')),
          });
          return { view: 'events', said: 'Webhooks are set.' };
        case 'flush':
          await webhooks?.flush();
          return { view: 'events', said: 'Everything that waited has been tried.' };
        case 'resend':
          webhooks?.resend(form.get('event') ?? undefined);
          return { view: 'events', said: 'On their way again.' };
        case 'refund':
          account.run(() => refund(account, new Params({ charge: form.get('charge') ?? '' })));
          return { view: 'payments', said: 'Paid back.' };
        case 'dispute':
          account.run(() => openDispute(account, account.need('charge', form.get('charge') ?? '')));
          return { view: 'payments', said: 'The bank has been asked to take it back.' };
        case 'decide':
          account.run(() =>
            endDispute(account, account.need('dispute', form.get('dispute') ?? ''), form.get('won') === 'yes'),
          );
          return { view: 'payments', said: 'The bank has decided.' };
        case 'card': {
          changeCard(state, { customer: form.get('customer'), number: form.get('number') });
          return { view: 'customers', said: 'The next charge meets another card.' };
        }
        case 'reset':
          state.reset();
          return { view: 'customers', said: 'Everything has been forgotten.' };
        default:
          return { view: 'customers' };
      }
    } catch (error) {
      if (error instanceof ApiError) return { view: 'customers', said: error.message };
      throw error;
    }
  };
}

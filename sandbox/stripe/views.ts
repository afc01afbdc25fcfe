/** The tables that the page can show. */
import { escapeHtml as safe } from '../web.ts';
import { money } from './billing/calendar.ts';
import type { Charge, Coupon, Thing } from './core/model.ts';
import { promotionActive } from './core/present.ts';
import type { StripeState } from './state.ts';
import type { Webhooks } from './webhooks.ts';

export interface View {
  readonly label: string;
  readonly show: (state: StripeState, webhooks: Webhooks | null) => string;
}

/** Most rows of a table. */
const maxRows = 200;

const date = (moment: unknown): string =>
  typeof moment === 'number'
    ? new Date(moment * 1000).toLocaleString('en-US', { dateStyle: 'medium', timeStyle: 'short', timeZone: 'UTC' })
    : '–';

/** Cells are HTML. */
function table(name: string, heads: readonly string[], rows: readonly (readonly string[])[], none: string): string {
  if (rows.length === 0) return `<p class="none">${none}</p>`;
  return `<div class="wide" role="region" aria-label="${name}" tabindex="0"><table>
<thead><tr>${heads.map((head) => `<th scope="col">${head}</th>`).join('')}</tr></thead>
<tbody>${rows.map((cells) => `<tr>${cells.map((cell, index) => (index === 0 ? `<th scope="row">${cell}</th>` : `<td>${cell}</td>`)).join('')}</tr>`).join('\n')}</tbody>
</table></div>`;
}

const newest = <T extends Thing>(things: Iterable<T>): T[] =>
  [...things]
    .sort((one, other) => (other.created ?? 0) - (one.created ?? 0) || (other._n ?? 0) - (one._n ?? 0))
    .slice(0, maxRows);

const status = (word: string): string =>
  `<span class="status" data-status="${word}">${word.replaceAll('_', ' ')}</span>`;
const code = (id: string): string => `<code>${safe(id)}</code>`;

const act = (action: string, label: string, fields: Record<string, string>): string =>
  `<form method="post" action="/page/${action}">${Object.entries(fields)
    .map(([name, value]) => `<input type="hidden" name="${name}" value="${safe(value)}">`)
    .join('')}<button>${label}</button></form>`;

const who = ({ account }: StripeState, id: unknown): string => {
  const customer = typeof id === 'string' ? account.store.find('customer', id) : undefined;
  return safe(customer?.email ?? customer?.name ?? customer?.id ?? '–');
};

const nameOf = ({ account }: StripeState, priceId: string): string => {
  const price = account.store.find('price', priceId);
  const product = price && account.store.find('product', price.product);
  return safe(`${product?.name ?? ''} ${price?.nickname ?? ''}`.trim() || priceId);
};

const customers: View = {
  label: 'Customers',
  show(state) {
    const rows = newest(state.account.store.all('customer')).map((customer) => {
      const own = [...state.account.store.all('subscription')].filter((one) => one.customer === customer.id);
      const card = state.account.store.find(
        'payment_method',
        own.at(-1)?.default_payment_method ?? customer.invoice_settings.default_payment_method ?? '',
      );
      const fails = act('card', 'Fail the next charge', { customer: customer.id, number: '4000000000000341' });
      const works = act('card', 'Give a good card', { customer: customer.id, number: '4242424242424242' });
      return [
        who(state, customer.id),
        code(customer.id),
        own.map((one) => `${nameOf(state, one.items.data[0]?.price ?? '')} ${status(one.status)}`).join('<br>') || '–',
        card ? `${safe(card.card.brand)} …${safe(card.card.last4)}` : '–',
        customer.balance === 0 ? '–' : money(-customer.balance, 'usd'),
        customer.deleted ? 'deleted' : `<div class="buttons">${fails}${works}</div>`,
      ];
    });
    return table('Customers', ['Customer', 'Id', 'Subscriptions', 'Card', 'Credit', 'Do'], rows, 'No payments yet.');
  },
};

const subscriptions: View = {
  label: 'Subscriptions',
  show(state) {
    const rows = newest(state.account.store.all('subscription')).map((one) => [
      who(state, one.customer),
      one.items.data.map((item) => nameOf(state, item.price)).join('<br>'),
      status(one.status),
      date(one.items.data[0]?.current_period_end),
      one.cancel_at
        ? `ends ${date(one.cancel_at)}`
        : one.schedule
          ? 'changes then'
          : one.pending_update
            ? 'a change waits'
            : '–',
      code(one.id),
    ]);
    return table(
      'Subscriptions',
      ['Customer', 'Plan', 'Status', 'Period until', 'Then', 'Id'],
      rows,
      'There is none yet.',
    );
  },
};

const disputesOf = ({ account }: StripeState, charge: Charge) =>
  charge.disputed ? [...account.store.all('dispute')].filter((dispute) => dispute.charge === charge.id) : [];

/** The possible actions for a payment: refund it, dispute it, or decide the dispute. */
function possibleActions(state: StripeState, charge: Charge): string {
  if (charge.status !== 'succeeded' || charge.refunded) return '–';
  const open = disputesOf(state, charge).filter(({ status }) => /(?:needs_response|under_review)$/.test(status));
  const decide = (label: string, won: string) =>
    open.map(({ id }) => act('decide', label, { dispute: id, won })).join('');
  if (open.length > 0) return `<div class="buttons">${decide('Lose', 'no')}${decide('Win', 'yes')}</div>`;
  if (charge.disputed) return '–';
  const [back, dispute] = [
    act('refund', 'Refund', { charge: charge.id }),
    act('dispute', 'Dispute', { charge: charge.id }),
  ];
  return `<div class="buttons">${back}${dispute}</div>`;
}

const payments: View = {
  label: 'Payments',
  show(state) {
    const rows = newest(state.account.store.all('charge')).map((charge) => [
      who(state, charge.customer),
      money(charge.amount, charge.currency),
      [
        charge.amount_refunded > 0 ? `${money(charge.amount_refunded, charge.currency)} back` : status(charge.status),
        ...disputesOf(state, charge).map((dispute) => `dispute ${status(dispute.status)}`),
      ].join('<br>'),
      safe(charge.failure_message ?? '–'),
      date(charge.created),
      code(charge.payment_intent),
      possibleActions(state, charge),
    ]);
    return table(
      'Payments',
      ['Customer', 'Amount', 'Status', 'Why', 'When', 'Id', 'Do'],
      rows,
      'Nothing has been charged yet.',
    );
  },
};

const invoices: View = {
  label: 'Invoices',
  show(state) {
    const rows = newest(state.account.store.all('invoice')).map((invoice) => [
      invoice.hosted_invoice_url
        ? `<a href="${safe(String(invoice.hosted_invoice_url))}">${safe(invoice.number ?? '')}</a>`
        : 'draft',
      who(state, invoice.customer),
      money(invoice.amount_due, invoice.currency),
      status(invoice.status),
      invoice.billing_reason.replaceAll('_', ' '),
      date(invoice.created),
      date(invoice.next_payment_attempt),
    ]);
    return table(
      'Invoices',
      ['Number', 'Customer', 'Due', 'Status', 'Why', 'Made', 'Next attempt'],
      rows,
      'There is none yet.',
    );
  },
};

const events: View = {
  label: 'Events',
  show(state, webhooks) {
    const deliveries = new Map(webhooks?.list(maxRows).map(({ id, delivery }) => [id, delivery]));
    const rows = newest(state.account.store.all('event')).map((event) => {
      const delivery = deliveries.get(event.id);
      const last = delivery?.attempts.at(-1);
      const tried =
        delivery && delivery.attempts.length > 0 ? `${delivery.attempts.length} × ${last?.status ?? 'unreached'}` : '–';
      return [
        code(event.type),
        date(event.created),
        delivery ? status(delivery.state) : '–',
        tried,
        code(event.id),
        webhooks ? act('resend', 'Send again', { event: event.id }) : '–',
      ];
    });
    return table('Events', ['Type', 'When', 'Webhook', 'Answered', 'Id', 'Do'], rows, 'Nothing has happened yet.');
  },
};

const coupons: View = {
  label: 'Coupons',
  show({ account, now }) {
    const off = (coupon: Coupon) =>
      coupon.percent_off === null ? money(coupon.amount_off ?? 0, coupon.currency ?? 'usd') : `${coupon.percent_off} %`;
    const rows = newest(account.store.all('promotion_code')).map((promotion) => {
      const coupon = account.store.find('coupon', promotion.promotion.coupon);
      const products = coupon?._products.map((id) => account.store.find('product', id)?.name ?? id) ?? [];
      return [
        code(promotion.code),
        coupon ? `${off(coupon)} off` : '–',
        coupon?.duration === 'repeating' ? `${coupon.duration_in_months} months` : (coupon?.duration ?? '–'),
        safe(products.join(', ')) || 'everything',
        `${promotion.times_redeemed}${promotion.max_redemptions === null ? '' : ` of ${promotion.max_redemptions}`}`,
        status(promotionActive(promotion, coupon, now()) ? 'active' : 'over'),
      ];
    });
    return table('Coupons', ['Code', 'Takes off', 'For', 'On', 'Redeemed', 'Status'], rows, 'There is none.');
  },
};

export const views = { customers, subscriptions, payments, invoices, events, coupons } as const;

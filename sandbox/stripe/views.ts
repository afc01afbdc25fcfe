/** The tables of the dashboard. */
import { escapeHtml as safe } from '../web.ts';
import { money } from './billing/calendar.ts';
import type { Charge, Coupon, StripeObject } from './core/model.ts';
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

const newest = <T extends StripeObject>(things: Iterable<T>): T[] =>
  [...things]
    .sort((one, other) => (other.created ?? 0) - (one.created ?? 0) || (other._n ?? 0) - (one._n ?? 0))
    .slice(0, maxRows);

const status = (word: string): string =>
  `<span class="status" data-status="${word}">${word.replaceAll('_', ' ')}</span>`;
const code = (id: string): string => `<code>${safe(id)}</code>`;

export const actionButton = (action: string, label: string, fields: Record<string, string> = {}): string =>
  `<form method="post" action="/page/${action}">${Object.entries(fields)
    .map(([name, value]) => `<input type="hidden" name="${name}" value="${safe(value)}">`)
    .join('')}<button>${label}</button></form>`;

const customerName = ({ account }: StripeState, id: unknown): string => {
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
      const fails = actionButton('card', 'Fail the next charge', { customer: customer.id, number: '4000000000000341' });
      const works = actionButton('card', 'Attach a working card', {
        customer: customer.id,
        number: '4242424242424242',
      });
      return [
        customerName(state, customer.id),
        code(customer.id),
        own.map((one) => `${nameOf(state, one.items.data[0]?.price ?? '')} ${status(one.status)}`).join('<br>') || '–',
        card ? `${safe(card.card.brand)} …${safe(card.card.last4)}` : '–',
        customer.balance === 0 ? '–' : money(-customer.balance, 'usd'),
        customer.deleted ? 'deleted' : `<div class="buttons">${fails}${works}</div>`,
      ];
    });
    return table(
      'Customers',
      ['Customer', 'Id', 'Subscriptions', 'Card', 'Credit balance', 'Actions'],
      rows,
      'No customers yet.',
    );
  },
};

const subscriptions: View = {
  label: 'Subscriptions',
  show(state) {
    const rows = newest(state.account.store.all('subscription')).map((one) => [
      customerName(state, one.customer),
      one.items.data.map((item) => nameOf(state, item.price)).join('<br>'),
      status(one.status),
      date(one.items.data[0]?.current_period_end),
      one.cancel_at
        ? `ends ${date(one.cancel_at)}`
        : one.schedule
          ? 'scheduled change'
          : one.pending_update
            ? 'pending update'
            : '–',
      code(one.id),
    ]);
    return table(
      'Subscriptions',
      ['Customer', 'Plan', 'Status', 'Period ends', 'Next', 'Id'],
      rows,
      'No subscriptions yet.',
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
    open.map(({ id }) => actionButton('decide', label, { dispute: id, won })).join('');
  if (open.length > 0) return `<div class="buttons">${decide('Lose', 'no')}${decide('Win', 'yes')}</div>`;
  if (charge.disputed) return '–';
  const [refund, dispute] = [
    actionButton('refund', 'Refund', { charge: charge.id }),
    actionButton('dispute', 'Dispute', { charge: charge.id }),
  ];
  return `<div class="buttons">${refund}${dispute}</div>`;
}

const payments: View = {
  label: 'Payments',
  show(state) {
    const rows = newest(state.account.store.all('charge')).map((charge) => [
      customerName(state, charge.customer),
      money(charge.amount, charge.currency),
      [
        charge.amount_refunded > 0
          ? `${money(charge.amount_refunded, charge.currency)} refunded`
          : status(charge.status),
        ...disputesOf(state, charge).map((dispute) => `dispute ${status(dispute.status)}`),
      ].join('<br>'),
      safe(charge.failure_message ?? '–'),
      date(charge.created),
      code(charge.payment_intent),
      possibleActions(state, charge),
    ]);
    return table(
      'Payments',
      ['Customer', 'Amount', 'Status', 'Failure', 'Created', 'Id', 'Actions'],
      rows,
      'No payments yet.',
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
      customerName(state, invoice.customer),
      money(invoice.amount_due, invoice.currency),
      status(invoice.status),
      invoice.billing_reason.replaceAll('_', ' '),
      date(invoice.created),
      date(invoice.next_payment_attempt),
    ]);
    return table(
      'Invoices',
      ['Number', 'Customer', 'Amount due', 'Status', 'Billing reason', 'Created', 'Next attempt'],
      rows,
      'No invoices yet.',
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
      const attempts =
        delivery && delivery.attempts.length > 0
          ? `${delivery.attempts.length} × ${last?.status ?? 'no response'}`
          : '–';
      return [
        code(event.type),
        date(event.created),
        delivery ? status(delivery.state) : '–',
        attempts,
        code(event.id),
        webhooks ? actionButton('resend', 'Resend', { event: event.id }) : '–',
      ];
    });
    return table('Events', ['Type', 'Created', 'Webhook', 'Attempts', 'Id', 'Actions'], rows, 'No events yet.');
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
        safe(products.join(', ')) || 'all products',
        `${promotion.times_redeemed}${promotion.max_redemptions === null ? '' : ` of ${promotion.max_redemptions}`}`,
        status(promotionActive(promotion, coupon, now()) ? 'active' : 'inactive'),
      ];
    });
    return table('Coupons', ['Code', 'Discount', 'Duration', 'Applies to', 'Redeemed', 'Status'], rows, 'No coupons.');
  },
};

export const views = { customers, subscriptions, payments, invoices, events, coupons } as const;

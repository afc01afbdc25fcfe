/**
 * Stripe, in test mode and on test clocks: the product's own billing code buys, renews, switches, refunds and disputes subscriptions,
 * so that the checks test the requests that it really sends. Each group has a customer of its own, and everything it creates is
 * deleted.
 */
import type Stripe from 'stripe';
import type { Price, Subscription } from '../../lib/billing/schema.ts';
import type { Billed } from '../../lib/billing/service.ts';
import { decimalsOf } from '../../lib/money.ts';
import { type Check, CheckFailure, checkOf } from './checks.ts';
import { openShop, type Shop, type ShopOptions } from './stripe-account.ts';

/** Test cards by Stripe's server-side names (docs.stripe.com/testing). */
const cards = {
  good: 'pm_card_visa',
  other: 'pm_card_mastercard',
  declined: 'pm_card_visa_chargeDeclined',
  failsLater: 'pm_card_chargeCustomerFail',
  asks: 'pm_card_threeDSecure2Required',
  disputed: 'pm_card_createDispute',
} as const;

type Work = (shop: Shop) => Promise<string>;

/** @param missing the settings that a purchase needs and that are missing; `null`: none */
export function stripeSalesChecks(options: ShopOptions | null, missing: string | null): Check[] {
  const group = (name: string, steps: readonly (readonly [asks: string, work: Work])[]): Check => {
    let shop: Shop | null = null;
    const run =
      (work: Work) =>
      async (opening: ShopOptions): Promise<string> => {
        shop ??= await openShop(opening, name);
        return work(shop);
      };
    return {
      ...checkOf(
        'stripe',
        options,
        missing ?? 'set the keys of Stripe',
        steps.map(([asks, work]) => [asks, run(work)] as const),
      ),
      cleanUp: async () => shop?.close(),
    };
  };
  return [
    group('renewal', [
      ['buy a monthly plan', buy],
      ['renew after a month', renew],
      ['another card, through a setup intent', changeCard],
      ['a renewal that is declined', failRenewal],
      ['the same bill, paid with a good card', rescue],
      ['refund of the last payment', refund],
    ]),
    group('refusal', [
      ['a card that is declined', decline],
      ['3-D Secure, left unanswered', leaveThreeDSecure],
    ]),
    group('switch', [
      ['buy a monthly plan', buy],
      ['upgrade at once, at the quoted price', upgrade],
      ['switch back at the renewal', planSwitch],
      ['the renewal at the planned price', renewSwitched],
    ]),
    group('interval', [
      ['buy a monthly plan of the higher tier', (shop) => buyPlan(shop, monthly(shop).at(-1), cards.good)],
      ['switch to a yearly plan at the renewal', planYearly],
      ['the yearly amount, collected at the renewal', renewSwitched],
    ]),
    group('promotion', [
      ['buy a promotion: the first days alone are charged', buyPromotion],
      ['its end: the full price is charged, and the billing cycle starts again', endPromotion],
    ]),
    group('promotion, left early', [
      ['buy a promotion: the first days alone are charged', buyPromotion],
      ['upgrade in the middle of it, at the quoted price', upgradePromotion],
      ['its original end: nothing is charged', passPromotion],
    ]),
    group('dispute', [
      ['buy with a card whose payment is disputed', (shop) => buyPlan(shop, monthly(shop)[0], cards.disputed)],
      ['the dispute', dispute],
    ]),
  ];
}

/** "12.00 USD", "1200 JPY". */
export const sumWithCode = (amount: number, currency: string): string => {
  const decimals = decimalsOf(currency);
  return `${(amount / 10 ** decimals).toFixed(decimals)} ${currency.toUpperCase()}`;
};

/** Ordinary plans that are billed monthly, lowest tier first. */
function monthly(shop: Shop): Price[] {
  return plansOf(shop, 'month');
}

function plansOf(shop: Shop, interval: 'month' | 'year'): Price[] {
  return shop
    .prices()
    .filter(({ recurring, print, promotion }) => recurring.interval === interval && !print && promotion === null)
    .toSorted((a, b) => a.unit_amount - b.unit_amount);
}

function need(price: Price | undefined, what: string): Price {
  if (price) return price;
  throw new CheckFailure(`the catalog has no ${what}`, 'add it in Stripe: docs/operations.md, "Payments"');
}

/** The value of a result of billing; a refusal becomes a failed check, and billing has logged its cause. */
function taken<T>(answer: Billed<T>): T {
  if (answer.ok) return answer.value;
  const { message, code, declineCode } = answer.error;
  throw new CheckFailure(
    [`status ${answer.status}`, code, declineCode, message].filter(Boolean).join(', '),
    'see the log above, and the request in Stripe under Developers, Logs',
  );
}

const buy: Work = (shop) => buyPlan(shop, monthly(shop)[0], cards.good);

async function buyPlan(shop: Shop, plan: Price | undefined, card: string): Promise<string> {
  const price = need(plan, 'monthly plan');
  const quote = taken(await shop.billing.quote(shop.session, { planId: price.zephrPlanId }));
  const { paymentIntentStatus, grant_id } = taken(
    await shop.billing.subscribe(shop.session, {
      payment_method: card,
      product_id: price.product.metadata.zephr_product_id,
      plan_id: price.zephrPlanId,
      expected: quote.dueToday,
    }),
  );
  if (grant_id === null) throw new CheckFailure(`payment intent ${paymentIntentStatus}`, remedies.log);
  await expectAccess(shop, true);
  return `${sumWithCode(quote.dueToday, quote.currency)} paid, access granted`;
}

const remedies = {
  log: 'see the request in Stripe under Developers, Logs',
  report: 'billing and Stripe disagree: please report this with the request from Stripe under Developers, Logs',
} as const;

async function expectAccess(shop: Shop, wanted: boolean): Promise<void> {
  const has = (await shop.billing.entitlements(shop.session.userId)).length > 0;
  if (has !== wanted)
    throw new CheckFailure(wanted ? 'paid, but no access' : 'access without payment', remedies.report);
}

async function subscription(shop: Shop): Promise<Subscription> {
  const found = await shop.billing.subscription(shop.session);
  if (!found) throw new CheckFailure('no subscription', remedies.report);
  return found;
}

async function invoices(shop: Shop): Promise<Stripe.Invoice[]> {
  const { data } = await shop.stripe.invoices.list({ customer: shop.customer, limit: 10 });
  return data.toSorted((a, b) => b.created - a.created);
}

async function renew(shop: Shop): Promise<string> {
  await shop.advance(32);
  const [last] = await invoices(shop);
  if (last?.billing_reason !== 'subscription_cycle' || last.status !== 'paid') {
    throw new CheckFailure(`the last invoice is ${last?.status} (${last?.billing_reason})`, remedies.log);
  }
  await expectAccess(shop, true);
  return `${sumWithCode(last.amount_paid, last.currency)} paid, access continues`;
}

/** The card page's requests: a setup intent, confirmed with the new card, which then becomes the default. */
async function changeCard(shop: Shop): Promise<string> {
  const { clientSecret } = taken(await shop.billing.setupIntent(shop.session));
  const id = clientSecret.split('_secret_')[0] ?? '';
  const { status, payment_method } = await shop.stripe.setupIntents.confirm(id, {
    payment_method: cards.other,
    return_url: 'https://example.com/account/card',
  });
  if (status !== 'succeeded' || typeof payment_method !== 'string')
    throw new CheckFailure(`setup intent ${status}`, remedies.log);
  taken(await shop.billing.usePaymentMethod(shop.session, payment_method));
  const card = taken(await shop.billing.card(shop.session));
  if (card === null) throw new CheckFailure('no card is saved', remedies.report);
  return 'set up and saved';
}

async function failRenewal(shop: Shop): Promise<string> {
  taken(await shop.billing.usePaymentMethod(shop.session, cards.failsLater));
  await shop.advance(31);
  const { status } = await subscription(shop);
  if (status !== 'past_due') {
    throw new CheckFailure(
      `the subscription is ${status}`,
      'in Stripe under Billing, Revenue recovery, let failed payments be retried, and cancel after the last',
    );
  }
  return 'past_due, as it should be';
}

async function rescue(shop: Shop): Promise<string> {
  taken(await shop.billing.usePaymentMethod(shop.session, cards.good));
  await shop.refresh();
  const { status } = await subscription(shop);
  if (status !== 'active') throw new CheckFailure(`the subscription is ${status}`, remedies.log);
  await expectAccess(shop, true);
  return 'paid and active again';
}

async function refund(shop: Shop): Promise<string> {
  const paid = (await invoices(shop)).find(({ status, amount_paid }) => status === 'paid' && amount_paid > 0);
  const { data } = await shop.stripe.invoicePayments.list({ invoice: paid?.id ?? '', limit: 1 });
  const intent = data[0]?.payment.payment_intent;
  if (typeof intent !== 'string') throw new CheckFailure('the last invoice has no payment', remedies.log);
  const { status, amount, currency } = await shop.stripe.refunds.create({ payment_intent: intent });
  if (status !== 'succeeded' && status !== 'pending') throw new CheckFailure(`refund ${status}`, remedies.log);
  await shop.refresh();
  await expectAccess(shop, false);
  return `${sumWithCode(amount, currency)} refunded, access ended`;
}

async function decline(shop: Shop): Promise<string> {
  const price = need(monthly(shop)[0], 'monthly plan');
  const answer = await shop.billing.subscribe(shop.session, {
    payment_method: cards.declined,
    product_id: price.product.metadata.zephr_product_id,
    plan_id: price.zephrPlanId,
  });
  if (answer.ok) throw new CheckFailure('the declined card bought a subscription', remedies.report);
  if (answer.status !== 402) taken(answer);
  await expectAccess(shop, false);
  return `402 ${answer.error.code ?? ''}, no access`;
}

async function leaveThreeDSecure(shop: Shop): Promise<string> {
  const price = need(monthly(shop)[0], 'monthly plan');
  const { paymentIntentStatus, clientSecret, grant_id } = taken(
    await shop.billing.subscribe(shop.session, {
      payment_method: cards.asks,
      product_id: price.product.metadata.zephr_product_id,
      plan_id: price.zephrPlanId,
    }),
  );
  if (paymentIntentStatus !== 'requires_action' || clientSecret === null || grant_id !== null) {
    throw new CheckFailure(`payment intent ${paymentIntentStatus}`, remedies.log);
  }
  await shop.advance(1);
  await shop.billing.recover();
  await shop.refresh();
  await expectAccess(shop, false);
  const { data } = await shop.stripe.subscriptions.list({ customer: shop.customer, status: 'active', limit: 1 });
  if (data.length > 0) throw new CheckFailure('the abandoned subscription is active', remedies.report);
  return 'requires_action; abandoned, nothing is active and no access';
}

/** A newspaper may sell only one tier. */
const oneTier = (shop: Shop): boolean =>
  new Set(monthly(shop).map(({ product }) => product.metadata.zephr_product_id)).size < 2;
const noUpgrade = 'only one tier is sold monthly: nothing to test';

async function upgrade(shop: Shop): Promise<string> {
  if (oneTier(shop)) return noUpgrade;
  const price = need(monthly(shop).at(-1), 'second monthly plan');
  const quote = taken(await shop.billing.quote(shop.session, { planId: price.zephrPlanId }));
  if (quote.kind !== 'upgrade') throw new CheckFailure(`the quote calls it ${quote.kind}`, 'sell two tiers monthly');
  taken(
    await shop.billing.switchPlan(shop.session, {
      planId: price.zephrPlanId,
      expected: quote.dueToday,
      ...(quote.prorationDate !== null && { prorationDate: quote.prorationDate }),
    }),
  );
  const [last] = await invoices(shop);
  if (last?.amount_paid !== quote.dueToday) {
    throw new CheckFailure(`${last?.amount_paid} was charged, ${quote.dueToday} was quoted`, remedies.report);
  }
  return `${sumWithCode(quote.dueToday, quote.currency)} charged, as quoted`;
}

const noPromotion = 'no promotion is sold: nothing to test';
const promotionOf = (shop: Shop): Price | undefined => shop.prices().find(({ promotion }) => promotion !== null);

async function itemOf(shop: Shop): Promise<Stripe.SubscriptionItem> {
  const { id } = await subscription(shop);
  const [item] = (await shop.stripe.subscriptions.retrieve(id)).items.data;
  if (!item) throw new CheckFailure('the subscription has no item', remedies.report);
  return item;
}

async function buyPromotion(shop: Shop): Promise<string> {
  const price = promotionOf(shop);
  if (!price?.promotion) return noPromotion;
  const { promotion } = price;
  const bought = await buyPlan(shop, price, cards.good);
  const [first] = await invoices(shop);
  if (first?.amount_paid !== promotion.amount) {
    throw new CheckFailure(`${first?.amount_paid} of ${promotion.amount} was paid`, remedies.report);
  }
  const item = await itemOf(shop);
  const { status, price: next } = await subscription(shop);
  if (item.current_trial?.trial_offer !== promotion.offer || status !== 'trialing' || next !== price.unit_amount) {
    throw new CheckFailure(`${status}, next ${next}, offer ${item.current_trial?.trial_offer}`, remedies.report);
  }
  // Stripe doesn't document which price it names during an offer, so the check reports it.
  const line = first.lines.data[0]?.pricing?.price_details?.price;
  const named = (id: string): string => (id === price.id ? 'the first price' : id === promotion.next ? 'the next' : id);
  const lines = named(typeof line === 'string' ? line : (line?.id ?? 'none'));
  return `${bought}; the item names ${named(item.price.id)}, the invoice ${lines}`;
}

async function endPromotion(shop: Shop): Promise<string> {
  const price = promotionOf(shop);
  if (!price?.promotion) return noPromotion;
  await shop.advance(price.promotion.days);
  const [last] = await invoices(shop);
  const item = await itemOf(shop);
  if (last?.status !== 'paid' || last.amount_paid < price.unit_amount || item.current_trial !== null) {
    throw new CheckFailure(`the last invoice is ${last?.status}, ${last?.amount_paid} paid`, remedies.report);
  }
  if (item.price.id !== price.promotion.next)
    throw new CheckFailure(`the item's price is ${item.price.id}`, remedies.report);
  await expectAccess(shop, true);
  return `${sumWithCode(last.amount_paid, last.currency)} paid, access continues`;
}

async function upgradePromotion(shop: Shop): Promise<string> {
  const { promotion } = promotionOf(shop) ?? {};
  if (!promotion) return noPromotion;
  await shop.advance(Math.floor(promotion.days / 2));
  if (oneTier(shop)) return noUpgrade;
  const charged = await upgrade(shop);
  if ((await itemOf(shop)).current_trial !== null) throw new CheckFailure('the offer continues', remedies.report);
  return `${charged}; the offer has ended`;
}

async function passPromotion(shop: Shop): Promise<string> {
  const { promotion } = promotionOf(shop) ?? {};
  if (!promotion) return noPromotion;
  if (oneTier(shop)) return noUpgrade;
  const before = (await charges(shop)).length;
  // Less than a month after the upgrade, whatever the length of the offer.
  await shop.advance(Math.min(27, Math.ceil(promotion.days / 2)));
  if ((await charges(shop)).length !== before) throw new CheckFailure('something was charged', remedies.report);
  await expectAccess(shop, true);
  return 'nothing charged, access continues';
}

const planSwitch: Work = async (shop) =>
  oneTier(shop) ? noUpgrade : planFor(shop, need(monthly(shop)[0], 'monthly plan'));
const noYear = 'no yearly plan is sold: nothing to test';
const planYearly: Work = async (shop) => {
  const [year] = plansOf(shop, 'year');
  return year ? planFor(shop, year) : noYear;
};

async function planFor(shop: Shop, price: Price): Promise<string> {
  const { effective } = taken(await shop.billing.switchPlan(shop.session, { planId: price.zephrPlanId }));
  if (effective !== 'renewal') throw new CheckFailure('the switch took effect at once', remedies.report);
  const { next } = await subscription(shop);
  if (next?.planId !== price.zephrPlanId) throw new CheckFailure('no switch is planned', remedies.report);
  return `planned: ${price.product.name}, ${sumWithCode(price.unit_amount, price.currency)}`;
}

async function renewSwitched(shop: Shop): Promise<string> {
  const before = await subscription(shop);
  if (!before.next && (oneTier(shop) || plansOf(shop, 'year').length === 0))
    return 'no switch is planned: nothing to test';
  const planned = shop.prices().find(({ zephrPlanId }) => zephrPlanId === before.next?.planId);
  await shop.advance(32);
  const { planId, status } = await subscription(shop);
  const [last] = await invoices(shop);
  const price = need(planned, 'planned price');
  if (planId !== price.zephrPlanId || status !== 'active')
    throw new CheckFailure(`plan ${planId}, ${status}`, remedies.report);
  if (last?.status !== 'paid' || last.amount_paid < price.unit_amount) {
    throw new CheckFailure(
      `the last invoice is ${last?.status}, ${last?.amount_paid} of ${price.unit_amount} paid`,
      remedies.report,
    );
  }
  return `${sumWithCode(last.amount_paid, last.currency)} paid for ${price.product.name}`;
}

async function dispute(shop: Shop): Promise<string> {
  const { data } = await shop.stripe.disputes.list({ limit: 20 });
  const own = new Set((await charges(shop)).map(({ id }) => id));
  const found = data.find(({ charge }) => own.has(typeof charge === 'string' ? charge : charge.id));
  if (!found) throw new CheckFailure('no dispute was opened', 'run verify again; Stripe opens it within seconds');
  await shop.refresh();
  await shop.stripe.disputes.update(found.id, { evidence: { uncategorized_text: 'losing_evidence' }, submit: true });
  await shop.refresh();
  await expectAccess(shop, false);
  return `${found.reason}; lost, access ended`;
}

async function charges(shop: Shop): Promise<Stripe.Charge[]> {
  return (await shop.stripe.charges.list({ customer: shop.customer, limit: 10 })).data;
}

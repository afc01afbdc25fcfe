/** Subscriptions, their items, and schedules. */

import {
  changeSubscription,
  checkPendingUpdateParams,
  collectChangeInvoice,
  creditUnusedTime,
  snapshot,
} from '../billing/changing.ts';
import { cancelSubscription, discardPendingUpdate } from '../billing/collecting.ts';
import {
  addInvoiceItems,
  createSubscription,
  ignoredParameters,
  readPaymentBehavior,
  readTrialEnd,
  setCancellation,
  setCollection,
} from '../billing/creating.ts';
import { activeDiscounts, readDiscounts, setDiscounts } from '../billing/discounts.ts';
import { finalize, makeInvoice } from '../billing/invoicing.ts';
import { readPause } from '../billing/pausing.ts';
import { readChanges } from '../billing/preview.ts';
import { applyPhase, phaseAt, phaseOf, readPhases, release, setCancelAt } from '../billing/scheduling.ts';
import { offerEnd } from '../billing/trial-offers.ts';
import type { StripeAccount } from '../core/account.ts';
import { invalid, noSuch } from '../core/errors.ts';
import type { Subscription } from '../core/model.ts';
import type { Params } from '../core/params.ts';
import { findMethod, requireAttached } from '../payments/methods.ts';
import { del, get, ofCustomer, page, post, type Route } from './route.ts';

const endedStatuses = ['canceled', 'incomplete_expired'];

function update(account: StripeAccount, params: Params, subscription: Subscription): Subscription {
  const supported = ['proration_behavior', 'pause_collection'];
  params.allow(...ignoredParameters.filter((name) => !supported.includes(name)), 'automatic_tax');
  if (endedStatuses.includes(subscription.status)) {
    params.allow(...params.keys());
    if (params.keys().some((key) => !['metadata', 'cancellation_details', 'expand'].includes(key))) {
      throw invalid('A canceled subscription can only update its cancellation_details and metadata.');
    }
  }
  if (params.text('payment_behavior') === 'pending_if_incomplete') checkPendingUpdateParams(subscription, params);
  account.store.touch(subscription);
  const before = snapshot(subscription);
  const customer = account.need('customer', subscription.customer);
  subscription.metadata = params.metadata(subscription.metadata);
  const description = params.text('description');
  if (description !== undefined) subscription.description = description;
  const methodId = params.text('default_payment_method');
  if (methodId === null) subscription.default_payment_method = null;
  if (methodId) {
    const method = findMethod(account, methodId, 'default_payment_method');
    requireAttached(method, customer.id, 'default_payment_method');
    subscription.default_payment_method = method.id;
  }
  const settings = params.object('payment_settings')?.allow('payment_method_options');
  const methodTypes = settings?.texts('payment_method_types');
  if (methodTypes)
    subscription.payment_settings = { ...subscription.payment_settings, payment_method_types: methodTypes };
  const saveDefault = settings?.one('save_default_payment_method', ['off', 'on_subscription']);
  if (saveDefault)
    subscription.payment_settings = { ...subscription.payment_settings, save_default_payment_method: saveDefault };
  const missing = params.object('trial_settings')?.object('end_behavior')?.text('missing_payment_method');
  if (missing) {
    subscription.trial_settings = { end_behavior: { billing_cycle_anchor: null, missing_payment_method: missing } };
  }
  setCollection(subscription, params);
  readPause(account, subscription, params);
  setCancellation(account, subscription, params);
  const discounts = readDiscounts(account, params, customer);
  if (discounts) setDiscounts(account, subscription, discounts);
  addInvoiceItems(account, subscription, params);

  const proration =
    params.one('proration_behavior', ['create_prorations', 'always_invoice', 'none']) ?? 'create_prorations';
  const behavior = readPaymentBehavior(params);
  const offSession = params.bool('off_session') ?? false;
  const trialEnd = readTrialEnd(params, account.now(subscription));
  const items = readChanges(account, params);
  const prorationDate = params.int('proration_date');
  const restart = params.object('billing_cycle_anchor')?.one('type', ['now', 'unchanged']) === 'now';
  if (!items && !restart && !trialEnd) return subscription;
  if (subscription.status === 'incomplete') {
    throw invalid(
      'Only metadata, default_source and cancellation details of an incomplete subscription can be updated.',
    );
  }
  discardPendingUpdate(account, subscription);
  const invoice = changeSubscription(account, subscription, { items, proration, prorationDate, restart, trialEnd });
  if (invoice) collectChangeInvoice(account, subscription, invoice, { behavior, offSession, snapshot: before });
  return subscription;
}

export const subscriptions: Route[] = [
  post('/v1/subscriptions', ({ account, params }) => createSubscription(account, params)),
  get('/v1/subscriptions', ({ account, params }) => {
    const status = params.text('status');
    params.allow('collection_method', 'current_period_end', 'current_period_start', 'automatic_tax');
    const [price, clock] = [params.text('price'), params.text('test_clock')];
    let found = ofCustomer({ account, params }, account.store.all('subscription'));
    if (status === 'ended') found = found.filter((one) => endedStatuses.includes(one.status));
    else if (!status) found = found.filter((one) => one.status !== 'canceled');
    else if (status !== 'all') found = found.filter((one) => one.status === status);
    if (price) found = found.filter(({ items }) => items.data.some((item) => item.price === price));
    if (clock) found = found.filter((one) => one.test_clock === clock);
    return page(params, '/v1/subscriptions', found);
  }),
  get('/v1/subscriptions/:id', ({ account, id }) => account.need('subscription', id)),
  post('/v1/subscriptions/:id', ({ account, params, id }) => update(account, params, account.need('subscription', id))),
  del('/v1/subscriptions/:id', ({ account, params, id }) => {
    const subscription = account.need('subscription', id);
    if (endedStatuses.includes(subscription.status)) throw noSuch('subscription', id);
    const prorate = params.bool('prorate') ?? false;
    const invoiceNow = params.bool('invoice_now') ?? false;
    const details = params.object('cancellation_details');
    account.store.touch(subscription);
    if (details) {
      subscription.cancellation_details = {
        ...subscription.cancellation_details,
        comment: details.text('comment') ?? null,
        feedback: details.text('feedback') ?? null,
      };
    }
    const now = account.now(subscription);
    if (prorate) {
      for (const item of subscription.items.data) creditUnusedTime(account, subscription, item, now);
    }
    if (invoiceNow) {
      const customer = account.need('customer', subscription.customer);
      const invoice = makeInvoice(account, { customer, subscription, reason: 'subscription_update' });
      finalize(account, invoice);
      if (invoice.amount_due === 0) invoice.status = 'paid';
    }
    cancelSubscription(account, subscription, 'cancellation_requested');
    return subscription;
  }),
  del('/v1/subscriptions/:id/discount', ({ account, id }) => {
    const subscription = account.need('subscription', id);
    const [newest] = activeDiscounts(account, subscription.discounts, account.now(subscription)).toReversed();
    if (!newest) throw noSuch('discount', id, 'id', 404);
    setDiscounts(account, subscription, []);
    // The declarations of a deleted discount have no `end`, and its coupon is an id.
    const { end: _, ...deleted } = account.present(newest);
    return { wire: { ...deleted, deleted: true } };
  }),
  get('/v1/subscription_items', ({ account, params }) =>
    page(
      params,
      '/v1/subscription_items',
      account.need('subscription', params.need('subscription'), 'subscription').items.data,
    ),
  ),
];

export const schedules: Route[] = [
  post('/v1/subscription_schedules', ({ account, params }) => {
    params.allow('expand');
    const from = params.text('from_subscription');
    if (!from)
      throw invalid(
        'The sandbox creates schedules only from subscriptions: pass from_subscription.',
        'from_subscription',
      );
    // Declarations: "other parameters (such as phase values) cannot be set".
    const other = params.keys().find((name) => name !== 'from_subscription' && name !== 'expand');
    if (other !== undefined) throw invalid(`You cannot set \`${other}\` if \`from_subscription\` is set.`, other);
    const subscription = account.need('subscription', from, 'from_subscription');
    if (subscription.schedule) {
      throw invalid(
        `You cannot migrate a subscription that is already attached to a schedule: ${subscription.schedule}.`,
        'from_subscription',
      );
    }
    if (endedStatuses.includes(subscription.status)) {
      throw invalid(
        `You cannot migrate a subscription that is currently in the \`${subscription.status}\` status.`,
        'from_subscription',
      );
    }
    // docs.stripe.com/billing/subscriptions/trials: schedules accept only offers that end at a timestamp, which this version doesn't have.
    if (offerEnd(subscription) !== null) {
      throw invalid(
        'You cannot migrate a subscription with a relative trial offer to a schedule.',
        'from_subscription',
      );
    }
    const phase = phaseOf(subscription);
    const schedule = account.add(
      'subscription_schedule',
      {
        object: 'subscription_schedule',
        application: null,
        billing_mode: subscription.billing_mode,
        canceled_at: null,
        completed_at: null,
        customer: subscription.customer,
        customer_account: null,
        livemode: false,
        current_phase: { start_date: phase.start_date, end_date: phase.end_date },
        default_settings: {
          application_fee_percent: null,
          billing_cycle_anchor: 'automatic',
          billing_thresholds: null,
          collection_method: 'charge_automatically',
          default_payment_method: null,
          description: null,
          invoice_settings: {
            account_tax_ids: null,
            custom_fields: null,
            days_until_due: null,
            description: null,
            footer: null,
            issuer: { type: 'self' },
          },
          on_behalf_of: null,
          transfer_data: null,
        },
        end_behavior: 'release' as const,
        metadata: {},
        pause_schedules: [],
        phases: [phase],
        released_at: null,
        released_subscription: null,
        status: 'active' as const,
        subscription: subscription.id,
        test_clock: subscription.test_clock,
      },
      account.need('customer', subscription.customer),
    );
    subscription.schedule = schedule.id;
    account.store.touch(subscription);
    return schedule;
  }),
  get('/v1/subscription_schedules', ({ account, params }) =>
    page(
      params,
      '/v1/subscription_schedules',
      ofCustomer({ account, params }, account.store.all('subscription_schedule')),
    ),
  ),
  get('/v1/subscription_schedules/:id', ({ account, id }) => account.need('subscription_schedule', id)),
  post('/v1/subscription_schedules/:id', ({ account, params, id }) => {
    const schedule = account.need('subscription_schedule', id);
    params.allow('expand', 'default_settings');
    account.store.touch(schedule);
    if (schedule.status !== 'active') {
      throw invalid(
        `You cannot update a subscription schedule that is currently in the \`${schedule.status}\` status.`,
      );
    }
    schedule.metadata = params.metadata(schedule.metadata);
    schedule.end_behavior = params.one('end_behavior', ['release', 'cancel']) ?? schedule.end_behavior;
    const proration =
      params.one('proration_behavior', ['create_prorations', 'always_invoice', 'none']) ?? 'create_prorations';
    const subscription = account.need('subscription', schedule.subscription ?? '');
    const now = account.now(schedule);
    if (params.has('phases')) schedule.phases = readPhases(account, params, schedule, now);
    const last = schedule.phases.at(-1)?.end_date ?? null;
    setCancelAt(account, subscription, schedule.end_behavior === 'cancel' ? last : null);
    if (!params.has('phases')) return schedule;
    const current = phaseAt(schedule, now);
    if (!current) throw invalid('One of the phases must include the current time.', 'phases');
    schedule.current_phase = { start_date: current.start_date, end_date: current.end_date };
    applyPhase(account, subscription, current, proration);
    return schedule;
  }),
  post('/v1/subscription_schedules/:id/release', ({ account, params, id }) => {
    params.allow('expand');
    const keepsEnd = params.bool('preserve_cancel_date') ?? false;
    const schedule = account.need('subscription_schedule', id);
    if (schedule.status !== 'active') {
      throw invalid(
        `You cannot release a subscription schedule that is currently in the \`${schedule.status}\` status.`,
      );
    }
    release(account, schedule, { keepsEnd });
    return schedule;
  }),
  post('/v1/subscription_schedules/:id/cancel', ({ account, params, id }) => {
    params.allow('invoice_now', 'prorate', 'expand');
    const schedule = account.need('subscription_schedule', id);
    if (schedule.status !== 'active') {
      throw invalid(
        `You cannot cancel a subscription schedule that is currently in the \`${schedule.status}\` status.`,
      );
    }
    cancelSubscription(account, account.need('subscription', schedule.subscription ?? ''), 'cancellation_requested');
    schedule.status = 'canceled';
    schedule.current_phase = null;
    account.emit('subscription_schedule.canceled', schedule);
    return schedule;
  }),
];

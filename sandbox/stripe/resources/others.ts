/** Events, webhook endpoints, test clocks, the account. */

import { addIntervals } from '../billing/calendar.ts';
import { cancelSubscription } from '../billing/collecting.ts';
import type { StripeAccount } from '../core/account.ts';
import { ApiError, invalid } from '../core/errors.ts';
import type { TestClock } from '../core/model.ts';
import { walletStates } from '../wallets.ts';
import { del, deleted, get, matching, page, post, type Route } from './route.ts';

/** docs.stripe.com/api/events/list: "going back up to 30 days". */
const eventsListedSeconds = 30 * 86_400;

export const events: Route[] = [
  get('/v1/events', ({ account, params }) => {
    const [type, types] = [params.text('type'), params.texts('types')];
    params.allow('delivery_success');
    if (type && types) throw invalid('You may only specify one of these parameters: type, types.', 'type');
    const fits = (name: string, pattern: string) =>
      pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern;
    const wanted = type ? [type] : types;
    const since = account.now() - eventsListedSeconds;
    const found = [...account.store.all('event')].filter(
      (event) => event.created >= since && (!wanted || wanted.some((one) => fits(event.type, one))),
    );
    return page(params, '/v1/events', found);
  }),
  get('/v1/events/:id', ({ account, id }) => account.need('event', id)),
];

export const webhookEndpoints: Route[] = [
  get('/v1/webhook_endpoints', ({ account, params }) =>
    page(params, '/v1/webhook_endpoints', account.store.all('webhook_endpoint')),
  ),
  get('/v1/webhook_endpoints/:id', ({ account, id }) => account.need('webhook_endpoint', id)),
];

/** Domains on which wallets may show their buttons (docs.stripe.com/payments/payment-methods/pmd-registration). */
export const paymentMethodDomains: Route[] = [
  get('/v1/payment_method_domains', ({ account, params }) => {
    const [name, enabled] = [params.text('domain_name'), params.text('enabled')];
    const found = [...account.store.all('payment_method_domain')].filter(
      (one) => (!name || one.domain_name === name) && (!enabled || String(one.enabled) === enabled),
    );
    return page(params, '/v1/payment_method_domains', found);
  }),
  post('/v1/payment_method_domains', ({ account, params }) => {
    const name = params.need('domain_name');
    const enabled = params.text('enabled') !== 'false';
    // Stripe takes only host names, and none that isn't on the public internet.
    if (!/^(?:[a-z0-9-]+\.)+[a-z]{2,}$/i.test(name)) {
      throw invalid(`${name} is not a valid domain name.`, 'domain_name', 'parameter_invalid');
    }
    return account.add('payment_method_domain', {
      object: 'payment_method_domain',
      created: account.now(),
      domain_name: name,
      enabled,
      livemode: false,
      ...walletStates(enabled),
    });
  }),
  post('/v1/payment_method_domains/:id', ({ account, params, id }) => {
    const domain = account.need('payment_method_domain', id);
    account.store.touch(domain);
    domain.enabled = params.text('enabled') !== 'false';
    Object.assign(domain, walletStates(domain.enabled === true));
    return domain;
  }),
  post('/v1/payment_method_domains/:id/validate', ({ account, id }) => account.need('payment_method_domain', id)),
];

export const testClocks: Route[] = [
  post('/v1/test_helpers/test_clocks', ({ account, params }) => {
    const frozen = params.int('frozen_time');
    if (!frozen) throw invalid('Missing required param: frozen_time.', 'frozen_time', 'parameter_missing');
    return account.add('test_helpers.test_clock', {
      object: 'test_helpers.test_clock',
      deletes_after: account.now() + 30 * 86_400,
      frozen_time: frozen,
      livemode: false,
      name: params.text('name') ?? null,
      status: 'ready' as const,
      status_details: {},
    });
  }),
  get('/v1/test_helpers/test_clocks', ({ account, params }) =>
    page(params, '/v1/test_helpers/test_clocks', account.store.all('test_helpers.test_clock')),
  ),
  get('/v1/test_helpers/test_clocks/:id', ({ account, id }) => account.need('test_helpers.test_clock', id)),
  del('/v1/test_helpers/test_clocks/:id', ({ account, id }) => {
    const clock = account.need('test_helpers.test_clock', id);
    for (const subscription of matching(account.store.all('subscription'), 'test_clock', id)) {
      if (!['canceled', 'incomplete_expired'].includes(subscription.status))
        cancelSubscription(account, subscription, 'cancellation_requested');
    }
    for (const customer of matching(account.store.all('customer'), 'test_clock', id)) {
      account.store.touch(customer);
      account.emit('customer.deleted', customer);
      customer.deleted = true;
    }
    account.store.remove('test_helpers.test_clock', id);
    return deleted(clock);
  }),
];

/**
 * The latest moment that a clock may be moved to at once (declarations: TestClockAdvanceParams.frozen_time): two intervals of its shortest
 * subscription, or two years without one.
 */
function latestAdvance({ store }: StripeAccount, { id, frozen_time: now }: TestClock): number {
  const ends = matching(store.all('subscription'), 'test_clock', id)
    .filter(({ status }) => !['canceled', 'incomplete_expired'].includes(status))
    .flatMap(({ items }) => items.data.flatMap(({ price }) => store.find('price', price)?.recurring ?? []))
    .map((recurring) => addIntervals(now, recurring, 2));
  return Math.min(...(ends.length > 0 ? ends : [addIntervals(now, { interval: 'year', interval_count: 2 })]));
}

export const advanceTestClock: Route = post(
  '/v1/test_helpers/test_clocks/:id/advance',
  ({ account, lifecycle, params, id }) => {
    const clock = account.need('test_helpers.test_clock', id);
    const to = params.int('frozen_time');
    if (!to || to <= clock.frozen_time) {
      throw new ApiError(400, {
        type: 'invalid_request_error',
        message: `Test clock can only be advanced to a time after its current frozen time (${clock.frozen_time}).`,
        param: 'frozen_time',
      });
    }
    if (to > latestAdvance(account, clock)) {
      // The text of this error isn't published anywhere.
      throw invalid(
        'Test clocks can be advanced by at most two intervals of their shortest subscription, or by two years without one.',
        'frozen_time',
      );
    }
    lifecycle.advanceTestClock(id, to);
    const wire = account.present(account.need('test_helpers.test_clock', id));
    // Stripe does it in the background; the sandbox does it at once.
    return { wire: { ...wire, status: 'advancing', status_details: { advancing: { target_frozen_time: to } } } };
  },
);

export const accounts: Route[] = [
  get('/v1/account', () => ({
    wire: {
      id: 'acct_1Broadsheet',
      object: 'account',
      business_type: 'company',
      charges_enabled: true,
      country: 'US',
      default_currency: 'usd',
      details_submitted: true,
      email: 'sandbox@broadsheet.test',
      payouts_enabled: true,
      type: 'standard',
      metadata: {},
      settings: { dashboard: { display_name: 'Broadsheet sandbox', timezone: 'America/New_York' } },
    },
  })),
];

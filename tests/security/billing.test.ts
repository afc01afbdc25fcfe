/**
 * What must not be possible with the calls of the checkout: impersonating Stripe, calling from another site, breaking a call with a
 * strange body, or finding personal data or a secret in a log or a response.
 */
import { randomUUID } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import Stripe from 'stripe';
import { describe, expect, it } from 'vitest';
import { createLog } from '../../src/server/logging.ts';
import {
  type Asked,
  ask,
  calls,
  charges,
  checkoutForEachTest,
  fixture,
  guarded,
  logged,
  reader,
  root,
  things,
  webhooks,
  writing,
  yearly,
} from '../fixtures/checkout-calls.ts';
import { day, home, paid, webhookSecret } from '../world/billing.ts';

checkoutForEachTest();

describe('the list of billing calls', () => {
  it('names every route file', () => {
    const folders = ['api/v1/checkout', 'api/v1/me', 'api/v1/stripe', 'blaize/payment', 'zephr/payment'];
    const found = folders
      .flatMap((folder) =>
        readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((name) => `${folder}/${name}`),
      )
      .filter((name) => name.endsWith('.ts'))
      // Calls for the account and the reader's own data, which other tests cover; they only read from Stripe.
      .filter((name) => !/me\/(?:(?:export|newsletters|repair|sessions)\.ts$|(?:history|saved)\/)/.test(name));
    expect(found.toSorted()).toEqual([...Object.keys(calls), ...webhooks].toSorted());
  });
});

describe.each(webhooks)('a Stripe webhook at %s', (path) => {
  const sign = (payload: string, secret: string, at = fixture.accounts.clock.now) =>
    fixture.dashboard.webhooks.generateTestHeaderString({ payload, secret, timestamp: Math.floor(at / 1000) });
  const send = (raw: string, signature: string | null) =>
    ask(path, {
      method: 'POST',
      raw,
      headers: { origin: null, 'sec-fetch-site': null, 'stripe-signature': signature },
    });
  const seen = async () =>
    (await fixture.database.db.selectFrom('stripe_events').select('id').execute()).length +
    (await fixture.database.db.selectFrom('jobs').select('subject').where('queue', '=', 'stripe').execute()).length;

  it('gets 400 if its signature is invalid or stale, and grants no access that Stripe does not confirm', async () => {
    const { session } = await reader();
    const { subscriptionId } = paid(
      await fixture.billing.subscribe(session, { ...yearly, payment_method: 'pm_card_threeDSecure2Required' }),
    );
    const forged = JSON.stringify({
      id: 'evt_forged',
      object: 'event',
      type: 'invoice.paid',
      created: 1,
      livemode: false,
      data: {
        object: { id: subscriptionId, object: 'subscription', status: 'active', latest_invoice: { status: 'paid' } },
      },
    });
    const now = fixture.accounts.clock.now;
    const good = sign(forged, webhookSecret);
    const tries: readonly (readonly [string, string | null])[] = [
      [forged, null],
      [forged, ''],
      [forged, 't=1,v1=0'],
      [forged, good.replace(/v1=.*/, 'v1=')],
      [forged, good.replace('v1=', 'v0=')],
      [forged, sign(forged, 'whsec_of_another_account')],
      [forged, sign(forged, '')],
      [forged, sign(forged, webhookSecret, now - 301_000)],
      [`${forged} `, good],
      [forged.replace('"status":"active"', '"status":"trialing"'), good],
      [forged, `${good.split(',')[0]},v1=${'0'.repeat(64)}`],
      ['', sign('', webhookSecret)],
      ['[]', sign('[]', webhookSecret)],
      ['null', sign('null', webhookSecret)],
      ['{"id":{},"type":[]}', sign('{"id":{},"type":[]}', webhookSecret)],
    ];
    for (const [raw, signature] of tries) {
      const answer = await send(raw, signature);
      expect([answer.status, raw.slice(0, 20), signature?.slice(0, 30)]).toEqual([
        400,
        raw.slice(0, 20),
        signature?.slice(0, 30),
      ]);
    }
    expect(await seen()).toBe(0);
    // Signed or not, its content isn't believed: billing asks Stripe.
    expect((await send(forged, good)).status).toBe(200);
    await fixture.billing.drain();
    expect(await fixture.billing.entitlements(session.userId)).toEqual([]);
  });

  it('is stored once if it is repeated, and cannot name an object with an invalid Stripe ID', async () => {
    const { session } = await reader();
    paid(await fixture.billing.subscribe(session, yearly));
    await fixture.deliver();
    const before = await seen();
    const [event] = [...fixture.stripe.account.store.all('event')].filter(({ type }) => type === 'invoice.paid');
    const replayed = JSON.stringify(event);
    for (let time = 0; time < 3; time++) {
      const answer = await send(replayed, sign(replayed, webhookSecret));
      expect([answer.status, answer.json.message]).toEqual([200, 'Received before.']);
    }
    expect(await seen()).toBe(before);
    for (const id of [
      "sub_'; drop table subscriptions; --",
      'sub_../customers',
      'cus_x',
      { id: 'sub_x y' },
      ['sub_x'],
      `sub_${'x'.repeat(300)}`,
    ]) {
      const odd = JSON.stringify({
        id: `evt_${randomUUID()}`,
        object: 'event',
        type: 'customer.subscription.updated',
        data: { object: { id, object: 'subscription', customer: id, subscription: id } },
      });
      expect((await send(odd, sign(odd, webhookSecret))).status).toBe(200);
      await fixture.billing.drain();
    }
    const kept = await fixture.database.db.selectFrom('subscriptions').select('id').execute();
    expect(kept.every((row) => /^sub_\w+$/.test(row.id))).toBe(true);
    expect(kept).toHaveLength(1);
  });
});

describe('billing calls', () => {
  it.each([
    ['another site', { origin: 'https://other.example', 'sec-fetch-site': 'cross-site' }],
    ['another site in a browser without Sec-Fetch-Site', { origin: 'https://other.example', 'sec-fetch-site': null }],
    ['a sandboxed frame', { origin: 'null', 'sec-fetch-site': 'cross-site' }],
    ['another subdomain', { origin: 'https://blog.paper.example', 'sec-fetch-site': 'same-site' }],
    ['the same host over plain HTTP', { origin: 'http://paper.example', 'sec-fetch-site': 'cross-site' }],
    ['a client that sends cookies but no Origin', { origin: null, 'sec-fetch-site': null }],
  ])('from %s get 403 and change nothing', async (_, headers) => {
    const { cookies } = await reader();
    const before = things();
    for (const { path, ...asked } of writing) {
      expect((await ask(path, { ...asked, headers, cookies, id: 'sub_x' })).status, path).toBe(403);
    }
    expect(things()).toBe(before);
    expect(await fixture.database.db.selectFrom('customers').select('user_id').execute()).toEqual([]);
  });

  it.each([
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/jsonp',
    '',
  ])('with the content type %j get 415 and change nothing', async (type) => {
    const { cookies } = await reader();
    const before = things();
    for (const { path, method, body } of writing) {
      if (!body) continue;
      const answer = await ask(path, { method, body, headers: { 'content-type': type }, cookies });
      expect(answer.status, path).toBe(415);
    }
    expect(things()).toBe(before);
  });

  it('get 401 with a session that has ended, expired or never existed', async () => {
    const [late, out] = [await reader(), await reader()];
    await fixture.accounts.accounts.logout(out.session, 'EVERYWHERE');
    const none = [
      out.cookies,
      undefined,
      '',
      'blaize_session=x',
      `blaize_session=${'a'.repeat(43)}`,
      late.cookies.replace(/(blaize_session=.)(.)/, (_, before, after) => `${before}${after === '_' ? '-' : '_'}`),
    ];
    const before = things();
    for (const cookies of none) {
      for (const { path, ...asked } of guarded) {
        const answer = await ask(path, { ...asked, id: 'sub_x', ...(cookies !== undefined && { cookies }) });
        expect(answer.status, `${path} ${cookies}`).toBe(401);
      }
    }
    await fixture.pass(400 * day);
    for (const { path, ...asked } of guarded) {
      expect((await ask(path, { ...asked, id: 'sub_x', cookies: late.cookies })).status, path).toBe(401);
    }
    expect(things()).toBe(before);
  });

  it('get 413 if the body is too long, and 400 if it is too deep or not JSON', async () => {
    const { cookies } = await reader();
    const deep = (levels: number): string => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;
    for (const { path, method, body } of writing) {
      if (!body) continue;
      const padded = JSON.stringify({ ...body, padding: 'x'.repeat(17_000) });
      const sent = async (raw: string) => (await ask(path, { method, raw, cookies })).status;
      expect([await sent(padded), await sent(deep(40)), await sent('{')], path).toEqual([413, 400, 400]);
    }
  });

  it('with fields of the wrong type are refused and change no prototype', async () => {
    const { cookies } = await reader();
    const strange: readonly unknown[] = [
      null,
      true,
      1.5,
      -1,
      [],
      ['reader-yearly'],
      {},
      { $ne: null },
      '',
      'x'.repeat(2000),
      { toString: 'x' },
    ];
    for (const { path, method, body = {} } of writing) {
      for (const field of Object.keys(body)) {
        for (const value of strange) {
          const answer = await ask(path, { method, body: { ...body, [field]: value }, cookies, id: 'sub_x' });
          expect(answer.status, `${path} ${field} ${JSON.stringify(value)} ${answer.text}`).toBeLessThan(500);
          // A telephone number and a reason are optional.
          const empty = (value === null || value === '') && (field === 'phone' || field === 'reason');
          if (!empty) expect(answer.status, `${path} ${field} ${JSON.stringify(value)}`).not.toBe(200);
        }
      }
      for (const key of ['__proto__', 'constructor', 'prototype']) {
        const raw = `{${JSON.stringify(body).slice(1, -1)}${Object.keys(body).length > 0 ? ',' : ''}"${key}":{"polluted":true,"plan_id":"reader-monthly"}}`;
        expect((await ask(path, { method, raw, cookies, id: 'sub_x' })).status, path).toBeLessThan(500);
        expect(({} as Record<string, unknown>).polluted).toBeUndefined();
      }
    }
    expect(charges().length).toBeGreaterThan(0);
    expect(charges().every(({ amount }) => amount === 11_000)).toBe(true);
  });
});

describe('secrets and personal data', () => {
  it('are in no log, and responses hold no secret key or Stripe error detail', async () => {
    const { cookies, session } = await reader();
    const answers: string[] = [];
    const post = async (path: string, body: unknown, more: Partial<Asked> = {}) => {
      const answer = await ask(path, { method: 'POST', body, cookies, ...more });
      answers.push(answer.text);
      return answer;
    };
    const trouble = async (fault: object, work: () => Promise<unknown>) => {
      fixture.stripe.faults.add(fault);
      await work();
      fixture.stripe.faults.clear();
    };
    const subscribe = 'blaize/payment/stripe/subscribe.ts';
    await trouble({ path: '/v1/customers', status: 500 }, () => post('api/v1/me/shipping.ts', home));
    await trouble({ path: '/v1/customers', method: 'POST', status: 0 }, () => post(subscribe, yearly));
    for (const card of ['chargeDeclined', 'visa_chargeDeclinedInsufficientFunds', 'threeDSecure2Required', 'nothing']) {
      await post(subscribe, { ...yearly, attempt: randomUUID(), payment_method: `pm_card_${card}` });
    }
    for (const when of ['before', 'after'] as const) {
      for (const path of ['/v1/subscriptions', '/v1/payment_intents', '/v1/invoices']) {
        await trouble({ path, status: 500, when }, () => post(subscribe, { ...yearly, plan_id: 'reader-monthly' }));
      }
    }
    await post(subscribe, { ...yearly, discount_code: 'ada@example.com' });
    await post(subscribe, yearly);
    await trouble({ path: '/v1/customers', status: 400 }, () =>
      post('api/v1/me/shipping.ts', { ...home, name: 'Ada King Lovelace' }),
    );
    await post('api/v1/me/payment-method.ts', { payment_method: 'pm_card_chargeCustomerFail' });
    await post('api/v1/me/payment-method.ts', { payment_method: 'pm_card_visa' });
    await post('zephr/payment/stripe/setupIntentSecret.ts', {});
    await post('api/v1/me/subscription/switch.ts', { plan_id: 'member-yearly', attempt: randomUUID() });
    await post('api/v1/me/subscription/cancel.ts', {
      reason: 'Ada Lovelace, ada@example.com, has moved to 280 Broadway',
    });
    await ask('api/v1/stripe/webhook.ts', {
      method: 'POST',
      raw: '{"customer_email":"ada@example.com"}',
      headers: { 'stripe-signature': 't=1,v1=ada@example.com' },
    });
    await trouble({ path: '/v1/subscriptions', status: 500, times: 9 }, () => fixture.deliver());
    await fixture.deliver();
    await fixture.billing.recover();
    await fixture.billing.compare();
    for (const path of [
      'api/v1/checkout/plans.ts',
      'blaize/payment/stripe/publicKey.ts',
      'api/v1/me/subscription/index.ts',
    ]) {
      answers.push((await ask(path, { method: 'GET', cookies })).text);
    }
    const log = logged.join('');
    expect(logged.length).toBeGreaterThan(3);
    const { secret, publishable } = fixture.stripe.keys;
    for (const hidden of [
      secret,
      webhookSecret,
      session.email,
      'ada@',
      'Lovelace',
      'Broadway',
      '10007',
      '12125550183',
      '_secret_',
      cookies,
    ]) {
      expect(
        log,
        `the log names ${hidden}: ${logged.find((line) => line.includes(hidden))?.slice(0, 600)}`,
      ).not.toContain(hidden);
    }
    const said = answers.join('\n');
    for (const hidden of [secret, webhookSecret, 'sk_', 'whsec_']) expect(said).not.toContain(hidden);
    expect(said).toContain(publishable);
    // The card's own message reaches the reader, but nothing else from Stripe's error.
    expect(said).not.toMatch(/client_secret|request_log_url|stack|node_modules|last_payment_error/);
  });

  it('are not in a logged Stripe error', () => {
    const lines: string[] = [];
    const log = createLog('debug', { write: (line: string) => void lines.push(line) });
    const error = new Stripe.errors.StripeInvalidRequestError({
      type: 'invalid_request_error',
      code: 'payment_intent_unexpected_state',
      param: 'ada@example.com',
      message: 'No such customer: "ada@example.com"',
      payment_intent: { id: 'pi_1', client_secret: 'pi_1_secret_2', receipt_email: 'ada@example.com' } as never,
      headers: { 'stripe-account': 'acct_1' },
      statusCode: 400,
    });
    log.error({ err: new Error('It failed', { cause: error }) }, 'A call failed');
    expect(lines.join('')).toMatch(/It failed: No such customer/);
    expect(lines.join('')).not.toMatch(/ada@|_secret_|acct_1/);
  });

  it('reach the browser only as the publishable key, which cannot read from Stripe', async () => {
    const { publishableKey } = (await ask('api/v1/checkout/plans.ts', { method: 'GET' })).json as {
      publishableKey: string;
    };
    expect(publishableKey).toMatch(/^pk_/);
    const told = (await ask('blaize/payment/stripe/publicKey.ts', { method: 'GET' })).json;
    expect(told).toBe(publishableKey);
    const { session } = await reader();
    paid(await fixture.billing.subscribe(session, yearly));
    for (const path of ['customers', 'subscriptions', 'charges', 'invoices', 'payment_intents', 'prices', 'events']) {
      const answer = await fixture.fetch(`http://stripe.test/v1/${path}`, {
        headers: { authorization: `Bearer ${publishableKey}` },
      });
      expect(answer.status, path).toBeGreaterThanOrEqual(401);
    }
  });
});

/** Stand-ins of the sandbox against recordings of their services, if there are any (sandbox/recorded/README.md). */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { startFacebook } from '../../../sandbox/facebook/facebook.ts';
import { startGoogle } from '../../../sandbox/google/google.ts';
import { startStripe } from '../../../sandbox/stripe/stripe.ts';
import { startVerifier } from '../../../sandbox/verifier/verifier.ts';
import { differences } from '../../../tests/fixtures/compare-recordings.ts';
import { graphVersion } from '../../lib/accounts/social-providers.server.ts';
import { openStripe } from '../../lib/billing/engine/stripe.server.ts';
import { silent } from '../../lib/logging.ts';
import { offerOf } from '../../lib/plans/model.ts';
import { facebookCheck, googleCheck, verifierCheck } from './accounts.ts';
import { type Check, runChecks } from './checks.ts';
import { createRecorder, type Exchange, type Recording, redact } from './recordings.ts';
import { stripeAccountCheck } from './stripe-account.ts';
import { stripeSalesChecks } from './stripe-sales.ts';

const folder = join(import.meta.dirname, '../../../sandbox/recorded');
const siteUrl = 'https://www.example.com';

/** The checks of each service against its stand-in. */
const standIns: Readonly<Record<string, () => Promise<{ checks: Check[]; stop: () => Promise<void> }>>> = {
  async google() {
    const { access, stop } = await startGoogle({ siteUrl });
    const { issuer: url, clientId, clientSecret } = access;
    return { checks: [googleCheck({ url, clientId, clientSecret }, `${siteUrl}/blaize/oauth/google/callback`)], stop };
  },
  async facebook() {
    const { access, stop } = await startFacebook({ siteUrl });
    const { wwwUrl: url, graphUrl, clientId, clientSecret } = access;
    return { checks: [facebookCheck({ url, graphUrl, clientId, clientSecret }, graphVersion)], stop };
  },
  async verifier() {
    const { access, stop } = await startVerifier();
    const { kickboxUrl: url, key } = access;
    return { checks: [verifierCheck({ vendor: 'kickbox', url, key }, 'news@example.com')], stop };
  },
  async stripe() {
    const { access, stop } = await startStripe({ siteUrl });
    const through: typeof fetch = (input, init) => globalThis.fetch(input, init);
    const stripe = openStripe(access, through);
    const plans = offerOf([]).plans.map(({ id }) => id);
    const account = { stripe, missing: null, siteUrl, scriptUrl: access.scriptUrl, plans };
    const sales = { stripe, settings: { ...access, tax: false }, siteUrl, log: silent };
    return { checks: [...stripeAccountCheck(account), ...stripeSalesChecks(sales, null)], stop };
  },
};

/** What a stand-in answers to the checks of its service. */
async function recordingOf(service: string): Promise<readonly Exchange[]> {
  const { checks, stop } = (await standIns[service]?.()) ?? { checks: [], stop: async () => {} };
  const before = globalThis.fetch;
  const recorder = createRecorder(before, []);
  globalThis.fetch = recorder.fetch;
  try {
    recorder.begin(service);
    const lines = await runChecks(checks);
    expect(lines.filter(({ outcome }) => outcome !== 'ok')).toEqual([]);
  } finally {
    globalThis.fetch = before;
    await stop();
  }
  return recorder.recordings()[0]?.exchanges ?? [];
}

const fileOf = (service: string): string => join(folder, `${service}.json`);
const recorded = Object.keys(standIns).filter((service) => existsSync(fileOf(service)));

it.each(recorded)('the stand-in of %s answers as in its recording', async (service) => {
  const recording = JSON.parse(readFileSync(fileOf(service), 'utf8')) as Recording;
  expect(recording.service).toBe(service);
  expect(differences(recording.exchanges, await recordingOf(service))).toEqual([]);
});

describe('comparing a stand-in with its service', () => {
  const asked = (path: string, status: number, body: unknown, type = 'application/json; charset=utf-8'): Exchange => ({
    request: { method: 'GET', url: `https://api.example.com${path}`, body: null },
    response: { status, headers: { 'content-type': type }, body },
  });
  const service = [
    asked('/v1/customers/cus_AbC123', 200, {
      id: 'cus_AbC123',
      balance: 0,
      tax: null,
      tags: [],
      metadata: {},
      card: { last4: '4242' },
    }),
    asked('/v1/charges', 402, { error: { code: 'card_declined' } }),
  ];
  const found = (...standIn: Exchange[]) => differences(service, standIn);
  const customer = (body: object) => asked('/v1/customers/cus_XyZ987', 200, body);

  it('allows a stand-in fewer fields, other ids, and content where the service’s field was empty', () => {
    expect(found(customer({ id: 'cus_XyZ987', tax: { rate: 5 }, tags: ['new'], metadata: { own: 'x' } }))).toEqual([]);
  });

  it.each([
    ['a different status', asked('/v1/charges', 400, {}), 'GET /v1/charges: the service answers 402, the stand-in 400'],
    [
      'a different media type',
      asked('/v1/charges', 402, '', 'text/html'),
      'GET /v1/charges 402: the service sends application/json, the stand-in text/html',
    ],
    [
      'a field that the service lacks',
      customer({ nickname: 'x' }),
      'GET /v1/customers/* 200: the service has no (body).nickname',
    ],
    [
      'a nested field that the service lacks',
      customer({ card: { first6: 'x' } }),
      'GET /v1/customers/* 200: the service has no (body).card.first6',
    ],
    [
      'a field of a different type',
      customer({ balance: '0' }),
      'GET /v1/customers/* 200: (body).balance is number at the service, string at the stand-in',
    ],
    ['that no request is in both', asked('/v2/x', 200, {}), 'The two have no request in common.'],
  ])('reports %s', (_, exchange, difference) => {
    expect(found(exchange)).toContain(difference);
  });

  it('finds a single extra field in the answers of Google’s stand-in', async () => {
    const [first, ...others] = await recordingOf('google');
    if (!first) throw new Error('nothing was asked');
    const { issuer: _, ...rest } = first.response.body as Record<string, unknown>;
    const changed = { ...first, response: { ...first.response, body: rest } };
    expect(differences([changed, ...others], [first, ...others])).toEqual([
      'GET /.well-known/openid-configuration 200: the service has no (body).issuer',
    ]);
  });
});

const saved = mkdtempSync(join(tmpdir(), 'recorded-'));
afterAll(() => rmSync(saved, { recursive: true, force: true }));

describe('recording', () => {
  it('saves the structure of an exchange, but no keys, secrets or personal data', async () => {
    const secrets = ['sk_test_abcdef', 'pass/word@1'];
    const body = {
      id: 'cus_1',
      email: 'reader@example.com',
      object: 'customer',
      client_secret: 'pi_1_secret_2',
      shipping: { name: 'Ada Reader', address: { line1: '1 Main St', country: 'US', postal_code: '10001' } },
      description: 'for reader@example.com with sk_test_abcdef',
      next: 'https://api.example.com/?key=abc&page=2',
    };
    const recorder = createRecorder(
      async () => Response.json(body, { headers: { 'retry-after': '3', 'set-cookie': 'session=1' } }),
      secrets,
    );
    recorder.begin('stripe');
    const response = await recorder.fetch('https://api.example.com/v1/customers?token=tok_1&limit=3', {
      method: 'POST',
      headers: { authorization: 'Bearer sk_test_abcdef' },
      body: new URLSearchParams({ password: 'pass/word@1', limit: '3' }),
    });
    // The caller gets the answer as it came.
    expect(await response.json()).toEqual(body);

    const [file = ''] = recorder.save(saved);
    const text = readFileSync(file, 'utf8');
    for (const gone of ['reader', 'abcdef', 'Ada', 'Main', '10001', 'tok_1', 'key=abc', 'session', 'pass', 'secret_2'])
      expect(text).not.toContain(gone === 'pass' ? 'pass/word' : gone === 'reader' ? 'reader@' : gone);
    expect(JSON.parse(text)).toMatchObject({
      service: 'stripe',
      recorded: expect.stringMatching(/^\d{4}-\d\d-\d\d$/),
      hosts: ['api.example.com'],
      exchanges: [
        {
          request: { method: 'POST' },
          response: { status: 200, headers: { 'retry-after': '3' }, body: { id: 'cus_1', object: 'customer' } },
        },
      ],
    });
  });

  it('does not change numbers, ids or the structure of lists', () => {
    const value = { id: 'in_1', amount: 1200, lines: [{ period: { start: 1 } }], paid: null, livemode: false };
    expect(redact(value, ['nothing'])).toEqual(value);
  });
});

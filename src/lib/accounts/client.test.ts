// @vitest-environment jsdom
import { HttpResponse, http } from 'msw';
import { setupServer } from 'msw/node';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import * as callsOfScreens from './client.ts';
import * as callsOfPages from './session-client.ts';

const client = { ...callsOfScreens, ...callsOfPages };

interface Call {
  readonly method: string;
  readonly path: string;
  readonly body: unknown;
}
const calls: Call[] = [];
const server = setupServer();

/** Answers every call with this status, and records it. */
function answer(status: number, body: unknown = {}): void {
  server.use(
    http.all('*', async ({ request }) => {
      const { pathname, search } = new URL(request.url);
      const text = await request.text();
      calls.push({ method: request.method, path: pathname + search, body: text === '' ? null : JSON.parse(text) });
      return HttpResponse.json(body as object, { status });
    }),
  );
}

beforeAll(() => server.listen({ onUnhandledFrame: 'error' }));
afterEach(() => {
  server.resetHandlers();
  calls.length = 0;
});
afterAll(() => server.close());

const email = 'reader@example.com';
const identifiers = { email_address: email };
const delivery = { email, action: 'login', redirect: '/article/a' } as const;

describe('account calls of the browser (spec section 7)', () => {
  const both = {
    identifiers,
    action: 'login',
    method: 'email',
    redirect: '/article/a',
    delivery: { method: 'email', destination: email, action: 'login', redirect: '/article/a' },
  };
  const cases: [string, () => Promise<unknown>, string, string, unknown][] = [
    ['userExists', () => client.userExists(email), 'POST', '/zephr/media/user/info', { identifiers }],
    ['verifyEmail', () => client.verifyEmail(email), 'POST', '/api/verification', { email }],
    ['sendLink, with both forms of the body', () => client.sendLink(delivery), 'POST', '/blaize/token-exchange', both],
    [
      'sendCode, with both forms of the body',
      () => client.sendCode(delivery),
      'POST',
      '/blaize/two-factor-authentication',
      both,
    ],
    [
      'checkCode',
      () => client.checkCode(email, '012345'),
      'POST',
      '/zephr/media/user/otp-check',
      { code: '012345', email },
    ],
    [
      'login by code',
      () => client.login({ email, proof: { code: '012345' } }),
      'POST',
      '/blaize/login',
      { attributes: {}, identifiers, validators: { code: '012345' } },
    ],
    [
      'register by code',
      () => client.register({ email, proof: { code: '012345' } }),
      'POST',
      '/blaize/register',
      { attributes: {}, identifiers, validators: { code: '012345' } },
    ],
    [
      'register by state key, without the address',
      () => client.register({ email, proof: { stateKey: 'key' } }),
      'POST',
      '/blaize/register',
      { attributes: {}, identifiers: {}, validators: { token_exchange: 'key' } },
    ],
    ['createUser', () => client.createUser(email), 'POST', '/api/zephr-create', { email }],
    ['account', () => client.account(), 'GET', '/blaize/account', null],
    [
      'saveProfile',
      () => client.saveProfile({ first_name: 'Ann', 'phone-number': '12125550183' }),
      'POST',
      '/blaize/profile',
      { first_name: 'Ann', 'phone-number': '12125550183' },
    ],
    ['logout on all devices', () => client.logout(), 'POST', '/blaize/logout', { where: 'EVERYWHERE' }],
    ['logout on this device', () => client.logout('THIS_DEVICE'), 'POST', '/blaize/logout', { where: 'THIS_DEVICE' }],
    ['forgetMe', () => client.forgetMe('a@example.com'), 'POST', '/blaize/forget-me', { email: 'a@example.com' }],
    [
      'featureDecisions',
      () => client.featureDecisions({ featureIds: ['one'], path: '/' }),
      'POST',
      '/zephr/feature-decisions',
      { featureIds: ['one'], path: '/' },
    ],
    ['recognizeMe', () => client.recognizeMe(email), 'POST', '/zephr/recognise-me', { identifiers }],
    ['repair', () => client.repair(), 'GET', '/api/v1/me/repair', null],
    ['geo', () => client.geo(), 'GET', '/api/geo', null],
  ];

  it.each(cases)('%s', async (_name, call, method, path, body) => {
    answer(200, { message: 'fine' });
    await call();
    expect(calls).toEqual([{ method, path, body }]);
  });

  it('treats 404, and no other refusal, as an unknown address', async () => {
    answer(404);
    expect(await client.userExists(email)).toEqual({ ok: true, status: 404, value: false });
    expect(await client.sendCode(delivery)).toEqual({ ok: true, status: 404, value: false });
    answer(500);
    expect(await client.userExists(email)).toMatchObject({ ok: false, status: 500 });
    answer(200);
    expect(await client.userExists(email)).toMatchObject({ ok: true, value: true });
  });
});

it('a sign-in code is sent under the key that the page names, by default “code”', async () => {
  answer(200);
  const keyOf = async () => {
    await client.login({ email, proof: { code: '123456' } });
    const { validators } = (calls.at(-1)?.body ?? {}) as { validators?: object };
    return Object.keys(validators ?? {});
  };
  expect([client.codeKey(), await keyOf()]).toEqual(['code', ['code']]);
  document.documentElement.dataset.codes = 'email_otp';
  expect([client.codeKey(), await keyOf()]).toEqual(['email_otp', ['email_otp']]);
  document.documentElement.dataset.codes = '';
  expect(client.codeKey()).toBeNull();
  delete document.documentElement.dataset.codes;
});

/** The routes of the account forms and calls, called directly with services of the tests. */
import type { APIContext, APIRoute } from 'astro';
import { describe, expect, it, vi } from 'vitest';
import { caller, fixture, siteUrl } from '../../../tests/world/accounts.ts';
import { onBothEngines } from '../../../tests/world/databases.ts';
import { POST as codeForm } from '../../pages/account/code.ts';
import { POST as historyForm } from '../../pages/account/history.ts';
import { POST as linkForm } from '../../pages/account/link.ts';
import { POST as newsletterForm } from '../../pages/account/newsletter.ts';
import { POST as resendForm } from '../../pages/account/resend.ts';
import { POST as savedForm } from '../../pages/account/saved.ts';
import { POST as signInForm } from '../../pages/account/sign-in.ts';
import { POST as verification } from '../../pages/api/verification.ts';
import { POST as anonymousSession } from '../../pages/blaize/anonymous-session.ts';
import { GET as readApp, PUT as writeApp } from '../../pages/blaize/profile/[appId].ts';
import { createSealer } from '../crypto.server.ts';
import { defaultLimits } from '../http/limits.ts';
import { silent } from '../logging.ts';
import { subscribedPath } from '../newsletters/model.ts';
import { signInCookie } from './routes.server.ts';

const sealer = createSealer({ secrets: ['a secret of the forms that is long enough'] });
const config = { siteUrl };

interface Sent {
  readonly services: object;
  readonly path?: string;
  readonly method?: string;
  /** A form; or JSON as text. */
  readonly body?: Readonly<Record<string, string>> | string;
  readonly cookie?: string;
  readonly params?: Readonly<Record<string, string>>;
}

async function call(route: APIRoute, { services, path = '/', method = 'POST', body, cookie, params = {} }: Sent) {
  const url = new URL(path, siteUrl);
  const headers = new Headers({ origin: siteUrl, 'sec-fetch-site': 'same-origin' });
  if (cookie) headers.set('cookie', cookie);
  if (typeof body === 'string') headers.set('content-type', 'application/json');
  const content = body === undefined || typeof body === 'string' ? body : new URLSearchParams(body);
  const request = new Request(url, { method, headers, body: content ?? null });
  const cookies = { get: (name: string) => cookieOf(cookie, name) };
  const locals = { config, services: { log: silent, sealer, ...services } };
  const context = { request, url, params, cookies, locals, clientAddress: '203.0.113.1' };
  return (await route(context as unknown as APIContext)) as Response;
}

const cookieOf = (header: string | undefined, name: string) => {
  const pair = header?.split('; ').find((each) => each.startsWith(`${name}=`));
  return pair === undefined ? undefined : { value: pair.slice(name.length + 1) };
};

onBothEngines('a sign-in by mail', (engines) => {
  const email = 'ada@example.com';
  const newsletters = { add: () => Promise.reject(new Error('The database does not answer.')) };
  /** Where the response leads, and whether it signs in. */
  const ended = (response: Response) => [
    response.headers.get('location'),
    response.headers.getSetCookie().some((cookie) => cookie.startsWith('blaize_session=')),
  ];

  it('by link keeps the session when the chosen newsletters cannot be saved', async () => {
    const { accounts, token } = await fixture(await engines.open());
    await accounts.sendLink({ email, purpose: 'register', redirect: subscribedPath([]), caller: caller() });
    const done = await call(linkForm, { services: { accounts, newsletters }, body: { token: token(email) } });
    expect(ended(done)).toEqual(['/dashboard/newsletters?problem=failed', true]);
  });

  it('by link saves the newsletters that the mail names, unless the reader continues without them', async () => {
    const { accounts, token, mail } = await fixture(await engines.open());
    const add = vi.fn(async () => {});
    const services = { accounts, newsletters: { add } };
    const redirect = subscribedPath(['morning', 'evening']);
    await accounts.sendLink({ email, purpose: 'register', redirect, caller: caller() });
    expect(mail.at(-1)).toMatchObject({ newsletters: 'Morning Sun and Evening Sun' });
    const body = { token: token(email), without_newsletters: '1' };
    expect(ended(await call(linkForm, { services, body }))).toEqual(['/', true]);
    expect(add).not.toHaveBeenCalled();

    await accounts.sendLink({ email, purpose: 'login', redirect, caller: caller() });
    expect(ended(await call(linkForm, { services, body: { token: token(email) } }))).toEqual([redirect, true]);
    expect(add).toHaveBeenCalledWith(expect.anything(), ['morning', 'evening']);
  });

  it('by code keeps the session when the chosen newsletters cannot be saved', async () => {
    const { accounts, code } = await fixture(await engines.open());
    await accounts.sendCode({ email, purpose: 'register', redirect: '/', caller: caller() });
    const started = { email, purpose: 'register', returnTo: subscribedPath([]) } as const;
    const [cookie] = signInCookie({ config, services: { sealer } }).set(started).split(';');
    const body = { code: code(email) };
    const done = await call(codeForm, { services: { accounts, newsletters }, body, cookie: cookie ?? '' });
    expect(ended(done)).toEqual(['/dashboard/newsletters?problem=failed', true]);
  });

  it('verifies no address of an account, so that its owner can sign in', async () => {
    const verify = vi.fn(async () => ({
      verified: false,
      suggestedEmail: null,
      message: 'This address is temporary.',
    }));
    const { accounts, limiter, mail, join } = await fixture(await engines.open());
    await join(email);
    mail.length = 0;
    const services = { accounts, limiter, emailVerification: { verify } };
    const done = await call(signInForm, { services, body: { email } });
    expect([done.headers.get('location'), mail.length]).toEqual(['/account/link-sent', 1]);

    const ask = async (address: string) =>
      (await call(verification, { services, body: JSON.stringify({ email: address }) })).json();
    expect(await ask(' Ada@example.com ')).toEqual({ verified: true, suggestedEmail: null, message: '' });
    expect(verify).not.toHaveBeenCalled();
    expect(await ask('grace@example.com')).toMatchObject({ verified: false });
  });

  it('checks an address although too many were looked up', async () => {
    const exists = { ...defaultLimits.exists, address: { most: 1, seconds: 600 } };
    const { accounts, limiter, join } = await fixture(await engines.open(), { limits: { ...defaultLimits, exists } });
    await join(email);
    const verify = async () => ({ verified: false, suggestedEmail: null, message: 'No.' });
    const services = { accounts, limiter, emailVerification: { verify } };
    const ask = () => call(verification, { services, body: JSON.stringify({ email }) });
    expect(await (await ask()).json()).toMatchObject({ verified: true });
    expect(await (await ask()).json()).toMatchObject({ verified: false });
  });

  it('verifies a new address once', async () => {
    const verify = vi.fn(async () => ({ verified: true, suggestedEmail: null, message: '' }));
    const { accounts, mail } = await fixture(await engines.open(), { verification: { verify } });
    const done = await call(signInForm, { services: { accounts, emailVerification: { verify } }, body: { email } });
    expect([done.headers.get('location'), mail.length]).toEqual(['/account/link-sent', 1]);
    expect(verify).toHaveBeenCalledOnce();
  });
});

const signedIn = { session: async () => ({ session: { userId: 'u' }, cookies: [] }) };

describe('a form that asks who is reading', () => {
  const renewed = 'access=renewed';
  const cleared = 'blaize_session=';
  const asked = async (route: APIRoute, body: Record<string, string>, email: string | null) => {
    const session = email === null ? null : { userId: 'ada', email, emailVerified: true };
    const accounts = {
      session: async () => ({ session, cookies: [session ? renewed : cleared] }),
      exists: async () => ({ ok: true, value: true }),
      sendLink: async () => ({ ok: true, value: null }),
    };
    const savedStories = { clearHistory: async () => {}, unsave: async () => {} };
    const services = { accounts, savedStories, newsletters: { add: async () => {} } };
    return (await call(route, { services, body })).headers.getSetCookie();
  };

  it.each([
    ['the reading history', historyForm, { do: 'clear' }],
    ['saved stories', savedForm, { do: 'remove', article: '7' }],
    ['newsletters', newsletterForm, { email: 'ada@example.com' }],
    ['a mail to confirm the address', resendForm, { method: 'confirm' }],
  ])('renews the cookies of a signed-in reader, and clears those of an ended session: %s', async (_, route, body) => {
    expect(await asked(route, body, 'ada@example.com')).toContain(renewed);
    expect(await asked(route, body, null)).toContain(cleared);
  });

  it('renews them, too, where the newsletters are for another address', async () => {
    expect(await asked(newsletterForm, { email: 'eve@example.com' }, 'ada@example.com')).toContain(renewed);
  });
});

describe('the form of the reading history', () => {
  const nothing = async () => {};
  it.each([
    [{ do: 'on' }, '?state=history-on'],
    [{ do: 'off' }, '?state=history-off'],
    [{ do: 'clear' }, '?state=history-cleared'],
    [{ do: 'remove', article: '7' }, '?state=history-removed'],
    [{ do: 'remove', article: 'x' }, ''],
    [{ do: 'other' }, ''],
    [{ do: 'constructor' }, ''],
    [{}, ''],
  ])('%j leads to the dashboard with "%s"', async (body, query) => {
    const savedStories = { forgetRead: nothing, clearHistory: nothing, keepHistory: nothing };
    const done = await call(historyForm, { services: { accounts: signedIn, savedStories }, body });
    expect(done.headers.get('location')).toBe(`/dashboard/saved${query}#history`);
  });

  it('reports nothing when saved stories are off', async () => {
    const done = await call(historyForm, { services: { accounts: signedIn, savedStories: null }, body: { do: 'on' } });
    expect(done.headers.get('location')).toBe('/dashboard/saved#history');
  });
});

it('an anonymous session keeps a browser’s number, for a year', async () => {
  const known = '0b6d4f0e-5f0c-4f1e-9d53-2f2f5d7a1c11';
  const sent = { services: {}, body: '{}', cookie: `blaize_tracking_id=${known}` };
  const [cookie] = (await call(anonymousSession, sent)).headers.getSetCookie();
  expect(cookie).toMatch(new RegExp(`^blaize_tracking_id=${known}; Path=/; Max-Age=31536000; .*HttpOnly; Secure$`));
});

describe('the extended profile of an app', () => {
  it.each([
    ['my.app', 200],
    ['games', 200],
    ['_restricted_x', 400],
    ['a b', 400],
  ])('is read under the name %s with %i', async (appId, status) => {
    const accounts = { ...signedIn, extendedProfile: async () => ({ streak: 1 }) };
    const read = await call(readApp, { services: { accounts }, method: 'GET', params: { appId } });
    expect(read.status).toBe(status);
  });

  it('is stored under a name with a period', async () => {
    const saveExtendedProfile = vi.fn(async () => ({ ok: true, value: null }));
    const services = { accounts: { ...signedIn, saveExtendedProfile } };
    const written = await call(writeApp, { services, method: 'PUT', body: '{"a":1}', params: { appId: 'my.app' } });
    expect(written.status).toBe(200);
    expect(saveExtendedProfile).toHaveBeenCalledWith(expect.anything(), 'my.app', { a: 1 });
  });
});

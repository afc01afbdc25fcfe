/** Sign-in with the sandbox's Google and Facebook, on both engines; and what an unconfirmed address allows. */
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type Facebook, startFacebook } from '../../../sandbox/facebook/facebook.ts';
import { type Google, startGoogle } from '../../../sandbox/google/google.ts';
import { browser, caller, type Fixture, fixture, got, secret, siteUrl } from '../../../tests/world/accounts.ts';
import { onBothEngines } from '../../../tests/world/databases.ts';
import { createHmacs } from '../crypto.server.ts';
import type { Database } from '../database.ts';
import { addSocialKey } from './proofs.server.ts';
import type { AccountsOptions } from './service.server.ts';
import type { Caller, Provider, SocialEnd } from './service.ts';
import { lockUser } from './users.server.ts';

const email = 'ada.whitlock@example.com';
/** A person with a Google account for the address of another mail service. */
const elsewhere = 'dora.fenn@example.net';
const yes = { account: email, decision: 'allow', share_email: 'on', email_verified: 'on' };
const failure = (kind: string, more: object = {}) => ({ ok: false, failure: { kind, ...more } });

let google: Google;
let facebook: Facebook;
let now = Date.now();
beforeAll(async () => {
  google = await startGoogle({ siteUrl, now: () => now });
  facebook = await startFacebook({ siteUrl, now: () => now });
});
afterAll(() => Promise.all([google.stop(), facebook.stop()]));

/** Fills in the consent page. @returns the address that the browser is sent back to */
async function consent(location: string, form: Record<string, string>): Promise<URL> {
  const ticket = /name="ticket" value="([^"]+)"/.exec(await (await fetch(location)).text())?.[1] ?? '';
  const answer = await fetch(new URL('/consent', location), {
    method: 'POST',
    redirect: 'manual',
    body: new URLSearchParams({ ticket, ...form }),
  });
  return new URL(answer.headers.get('location') ?? 'about:blank');
}

/** Resolves when a query waits for a row that another transaction has locked. */
const waitsForLock = ({ db }: Database): Promise<void> =>
  vi.waitFor(async () => {
    const { rows } =
      await sql`select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`.execute(
        db,
      );
    expect(rows.length).toBeGreaterThan(0);
  });

onBothEngines('social sign-in', (engines) => {
  async function open(options: Partial<AccountsOptions> = {}): Promise<Fixture> {
    const made = await fixture(await engines.open(), {
      google: { url: google.access.issuer, clientId: google.access.clientId, clientSecret: google.access.clientSecret },
      facebook: {
        url: facebook.access.wwwUrl,
        graphUrl: facebook.access.graphUrl,
        clientId: facebook.access.clientId,
        clientSecret: facebook.access.clientSecret,
      },
      ...options,
    });
    now = made.clock.now;
    return made;
  }

  async function through(
    { accounts }: Fixture,
    provider: Provider,
    form: Record<string, string> = yes,
    by: Caller = caller(),
  ): Promise<SocialEnd> {
    const { location, cookies } = await accounts.beginSocial(provider, '/article/a', by.cookies ?? null);
    const back = await consent(location, form);
    return accounts.finishSocial(provider, back, browser(cookies, by.cookies?.split('; ') ?? []), by);
  }
  const registered = async (world: Fixture, end: SocialEnd, attributes = {}) =>
    world.accounts.register({
      stateKey: end.action === 'register' ? end.stateKey : '',
      attributes,
      caller: caller(),
    });

  it('offers only the providers that have credentials', async () => {
    expect((await open()).accounts.providers).toEqual(['google', 'facebook']);
    const { accounts } = await open({ google: null });
    expect(accounts.providers).toEqual(['facebook']);
    await expect(accounts.beginSocial('google', '/', null)).rejects.toThrow('no sign-in with google');
  });

  it('creates an account for a new reader whose address Google has verified, and signs in the next time', async () => {
    const world = await open();
    const end = await through(world, 'google');
    expect(end).toMatchObject({ action: 'register', identifier: email, returnTo: '/article/a' });
    const made = got(await registered(world, end, { first_name: 'A.' }));
    expect(made).toMatchObject({ created: true, session: { email, emailVerified: true } });
    expect(await world.accounts.profile(made.session)).toEqual({ first_name: 'A.', last_name: 'Whitlock' });
    expect(world.mail).toEqual([{ kind: 'welcome', to: email, firstName: 'A.' }]);
    expect(await registered(world, end)).toMatchObject(failure('invalid'));

    const again = await through(world, 'google');
    expect(again).toMatchObject({
      action: 'login',
      signedIn: { created: false, session: { email } },
      returnTo: '/article/a',
    });
    const cookies = again.action === 'login' ? again.signedIn.cookies : [];
    expect((await world.accounts.session(browser(cookies))).session?.userId).toBe(made.session.userId);
    expect(cookies).toContainEqual(expect.stringMatching(/^blaize_oauth_.*Max-Age=0/));
    expect(await world.accounts.exportData(made.session)).toMatchObject({ social_accounts: [{ provider: 'google' }] });
    const rows = await world.database.db.selectFrom('identities').selectAll().execute();
    expect(rows).toMatchObject([{ accessToken: null, refreshToken: null, idToken: null }]);
  });

  it('accepts a state key for one registration within ten minutes', async () => {
    const world = await open();
    const late = await through(world, 'google');
    world.clock.pass(600);
    now = world.clock.now;
    expect(await registered(world, late)).toMatchObject(failure('invalid'));
    const end = await through(world, 'google');
    const outcomes = await Promise.all(Array.from({ length: 5 }, () => registered(world, end)));
    expect(outcomes.filter((outcome) => outcome.ok)).toHaveLength(1);
  });

  it('signs in to the existing account with the address that Google has verified', async () => {
    const world = await open();
    const { session } = await world.join(email);
    const end = await through(world, 'google');
    expect(end).toMatchObject({ action: 'login', signedIn: { created: false, session: { userId: session.userId } } });
    // The account is connected now, whatever address Google reports.
    const { email_verified: _, ...unverified } = yes;
    expect(await through(world, 'google', unverified)).toMatchObject({ action: 'login' });
  });

  it.each([
    ['google', { account: email, decision: 'allow', share_email: 'on' }],
    ['facebook', yes],
    // Google verified this address once, but doesn't host its mailbox: it may have another owner now.
    ['google', { ...yes, account: elsewhere }],
  ] as const)('never opens an existing account by an address that %s has not verified', async (provider, form) => {
    const world = await open();
    const { account } = form;
    await world.join(account);
    const end = await through(world, provider, form);
    expect(end).toMatchObject({ action: 'register', identifier: account });
    expect(await registered(world, end)).toEqual(failure('exists'));
    expect(await world.database.db.selectFrom('identities').selectAll().execute()).toEqual([]);
    const key = end.action === 'register' ? end.stateKey : '';
    expect(await world.accounts.login({ stateKey: key, caller: caller() })).toMatchObject({
      ok: false,
    });
  });

  it('with Facebook creates an account whose address stays unverified', async () => {
    const world = await open();
    const made = got(await registered(world, await through(world, 'facebook')));
    expect(made).toMatchObject({ created: true, session: { email, emailVerified: false } });
    expect(world.mail).toMatchObject([{ kind: 'link', to: email, purpose: 'completeRegistration' }]);
    expect(await through(world, 'facebook')).toMatchObject({
      action: 'login',
      signedIn: { session: { emailVerified: false } },
    });
  });

  it('accepts Google’s word for Gmail, and for others only once the link was opened', async () => {
    const world = await open();
    const gmail = got(await registered(world, await through(world, 'google', { ...yes, account: 'ada@gmail.com' })));
    expect(gmail.session.emailVerified).toBe(true);
    world.mail.length = 0;

    const form = { ...yes, account: elsewhere };
    const dora = got(await registered(world, await through(world, 'google', form)));
    expect(dora.session.emailVerified).toBe(false);
    expect(world.mail).toMatchObject([{ kind: 'link', to: elsewhere, purpose: 'completeRegistration' }]);
    await world.accounts.useLink(world.token(elsewhere), caller('203.0.113.1', browser(dora.cookies)));
    // The account is connected, so Google's id of the person opens it.
    expect(await through(world, 'google', form)).toMatchObject({
      action: 'login',
      signedIn: { session: { userId: dora.session.userId, emailVerified: true } },
    });
  });

  describe('an account with an unverified address', () => {
    it.each(['link', 'code', 'google'] as const)(
      'belongs to the owner of the address alone after the owner’s first sign-in by %s',
      async (way) => {
        const world = await open();
        const { accounts } = world;
        const eve = got(await registered(world, await through(world, 'facebook')));
        await accounts.saveProfile(eve.session, { first_name: 'Eve' }, 'merge');
        await accounts.saveExtendedProfile(eve.session, 'games', [1]);

        const owner = { ...caller('198.51.100.7') };
        const send = { email, purpose: 'login', redirect: '/', caller: owner } as const;
        let ada = null;
        if (way === 'link') {
          await accounts.sendLink(send);
          ada = got(await accounts.useLink(world.token(email), owner));
        } else if (way === 'code') {
          await accounts.sendCode(send);
          ada = got(await accounts.login({ email, code: world.code(email), caller: owner }));
        } else {
          const end = await through(world, 'google', yes, owner);
          if (end.action === 'login') ada = end.signedIn;
        }
        expect(ada?.session).toMatchObject({ userId: eve.session.userId, emailVerified: true });
        if (!ada) return;
        expect((await accounts.session(browser(eve.cookies))).session).toBeNull();
        expect(await accounts.profile(ada.session)).toEqual({});
        expect(await accounts.extendedProfile(ada.session, 'games')).toBeNull();
        expect(await accounts.sessions(ada.session)).toHaveLength(1);
        // Eve's Facebook account no longer opens anything.
        const back = await through(world, 'facebook');
        expect(back).toMatchObject({ action: 'register' });
        expect(await registered(world, back)).toEqual(failure('exists'));
      },
    );

    it('keeps its profile and Facebook sign-in when the browser that created it verifies the address', async () => {
      const world = await open();
      const { accounts } = world;
      const ada = got(await registered(world, await through(world, 'facebook')));
      const same = caller('203.0.113.1', browser(ada.cookies));
      const confirmed = got(await accounts.useLink(world.token(email), same));
      expect(confirmed.session).toMatchObject({ userId: ada.session.userId, emailVerified: true });
      expect(await accounts.profile(confirmed.session)).toEqual({ first_name: 'Ada', last_name: 'Whitlock' });
      expect(await through(world, 'facebook')).toMatchObject({
        action: 'login',
        signedIn: { session: { emailVerified: true } },
      });
    });

    it('leaves no session to Facebook sign-ins at the same moment as the owner’s first sign-in', async () => {
      const world = await open();
      const { accounts } = world;
      got(await registered(world, await through(world, 'facebook')));
      await accounts.sendLink({ email, purpose: 'login', redirect: '/', caller: caller() });
      const [ada, ...eves] = await Promise.all([
        accounts.useLink(world.token(email), caller('198.51.100.7')),
        ...Array.from({ length: 6 }, () => through(world, 'facebook')),
      ]);
      const { session } = got(ada);
      for (const eve of eves) {
        if (eve.action !== 'login') continue;
        expect((await accounts.session(browser(eve.signedIn.cookies))).session).toBeNull();
      }
      expect(await accounts.sessions(session)).toHaveLength(1);
    });

    it('rejects a stranger’s Google sign-in while the owner is disconnecting it', async () => {
      const { accounts, database, clock } = await open();
      const { signedIn } = got(await accounts.create(email, caller(), { enter: true }));
      const userId = signedIn?.session.userId ?? '';
      const at = new Date(clock.now).toISOString();
      const google = { id: 'i', userId, providerId: 'google', accountId: 'eve', createdAt: at, updatedAt: at };
      await database.db.insertInto('identities').values(google).execute();
      const state = { hmacs: createHmacs(secret), now: () => clock.now };
      const eve = { provider: 'google', subject: 'eve', email: 'eve@example.com', verified: true } as const;
      const tokenExchange = await database.transaction((tx) =>
        addSocialKey(state, tx, { ...eve, firstName: null, lastName: null }),
      );
      const enters = await database.transaction(async (tx) => {
        await lockUser(state, tx, userId);
        const entering = accounts.login({ stateKey: tokenExchange, caller: caller('198.51.100.66') });
        if (database.engine === 'postgres') await waitsForLock(database);
        await tx.deleteFrom('identities').where('userId', '=', userId).execute();
        return { entering };
      });
      expect(await enters.entering).toEqual(failure('unknown-user'));
      expect(await database.db.selectFrom('identities').selectAll().execute()).toEqual([]);
    });
  });

  it('reports and logs each failure: canceled, no address shared, exchange failed or timed out', async () => {
    const world = await open();
    const fails = (message: RegExp, returnTo = '/article/a') => ({
      action: 'failure',
      message: expect.stringMatching(message),
      returnTo,
      cookies: [],
    });
    const { share_email: _, ...named } = yes;
    const silent = { ...named, account: 'silent@example.com' };
    for (const provider of ['google', 'facebook'] as const) {
      expect(await through(world, provider, { ...yes, decision: 'deny' })).toEqual(fails(/canceled/));
      expect(await through(world, provider, silent)).toMatchObject({
        action: 'failure',
        message: expect.stringMatching(/didn’t share your email address/),
      });
      expect(await through(world, provider, { ...yes, exchange: 'fails' })).toEqual(fails(/Something went wrong/));
    }
    expect(world.mail).toEqual([]);
    const trail = await world.database.db.selectFrom('audit').select(['event', 'detail']).execute();
    const failures = trail.filter(({ event }) => event === 'sign-in failed').map(({ detail }) => detail);
    for (const provider of ['google', 'facebook']) {
      for (const why of ['denied', 'failed', 'without an address']) expect(failures).toContain(`${provider} ${why}`);
    }

    const hurried = await open({ socialTimeoutMs: 1000 });
    for (const provider of ['google', 'facebook'] as const)
      expect(await through(hurried, provider, { ...yes, exchange: 'hangs' })).toEqual(fails(/Something went wrong/));
    expect(hurried.mail).toEqual([]);
  });

  it('asks Facebook again for the email permission only after the reader withheld it', async () => {
    const world = await open();
    const account = `${world.database.engine}.shy@example.com`;
    const shy = { account, decision: 'allow' };
    const first = await through(world, 'facebook', shy);
    expect(first).toMatchObject({ action: 'failure', cookies: [expect.stringContaining('Path=/blaize/oauth')] });
    const cookies = first.action === 'failure' ? first.cookies : [];
    // The dialog doesn't offer a declined permission again, so the reader can't share it.
    expect(await through(world, 'facebook', { ...shy, share_email: 'on' })).toMatchObject({ action: 'failure' });
    const again = caller('203.0.113.1', browser(cookies));
    const end = await through(world, 'facebook', { ...shy, share_email: 'on' }, again);
    expect(end).toMatchObject({ action: 'register', identifier: account });
    // Google has no such parameter.
    const google = await world.accounts.beginSocial('google', '/', browser(cookies));
    expect(google.location).not.toContain('auth_type');
  });

  it('works only in the browser that began it, once and within ten minutes', async () => {
    const world = await open();
    const { accounts } = world;
    const stale = { action: 'failure', message: expect.stringMatching(/expired/), returnTo: '/', cookies: [] };
    const { location, cookies } = await accounts.beginSocial('google', '//evil.example', null);
    expect(location).toMatch(/code_challenge_method=S256/);
    expect(cookies[0]).toMatch(/^blaize_oauth_.*Path=\/blaize\/oauth; Max-Age=600;.*SameSite=Lax; HttpOnly; Secure$/);
    const back = await consent(location, yes);
    expect(await accounts.finishSocial('google', back, null, caller())).toEqual(stale);
    const other = await accounts.beginSocial('google', '/', null);
    expect(await accounts.finishSocial('google', back, browser(other.cookies), caller())).toEqual(stale);
    expect(await accounts.finishSocial('facebook', back, browser(cookies), caller())).toEqual(stale);
    const forged = browser(cookies).replace(/=(.)/, (_, first) => `=${first === 'A' ? 'B' : 'A'}`);
    expect(await accounts.finishSocial('google', back, forged, caller())).toEqual(stale);
    world.clock.pass(601);
    expect(await accounts.finishSocial('google', back, browser(cookies), caller())).toEqual(stale);
    world.clock.pass(-601);
    // Both tabs of one browser succeed.
    const jar = browser(cookies, other.cookies);
    expect(await accounts.finishSocial('google', back, jar, caller())).toMatchObject({
      action: 'register',
      returnTo: '/',
    });
    expect(await accounts.finishSocial('google', await consent(other.location, yes), jar, caller())).toMatchObject({
      action: 'register',
    });
    // The code was used up at Google.
    expect(await accounts.finishSocial('google', back, jar, caller())).toMatchObject({ action: 'failure' });
  });

  it('ends the session that the browser had before', async () => {
    const world = await open();
    const eve = await world.join('eve@example.com');
    await world.join(email);
    await through(world, 'google', yes, caller('203.0.113.1', browser(eve.cookies)));
    expect((await world.accounts.session(browser(eve.cookies))).session).toBeNull();
  });
});

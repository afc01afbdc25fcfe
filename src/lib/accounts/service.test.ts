/** The account service on both engines: links, codes, accounts, profiles; sessions are in `sessions.test.ts`. */
import { describe, expect, it } from 'vitest';
import { browser, caller, elsewhere, fixture, got, secret, siteUrl } from '../../../tests/world/accounts.ts';
import { onBothEngines } from '../../../tests/world/databases.ts';
import { createHmacs } from '../crypto.server.ts';
import { addCode, tryCode } from './proofs.server.ts';
import type { Purpose } from './service.ts';

const email = 'ada@example.com';
const failure = (kind: string, more: object = {}) => ({ ok: false, failure: { kind, ...more } });
const wrong = failure('invalid-code');

onBothEngines('accounts', (engines) => {
  const open = async (options: Parameters<typeof fixture>[1] = {}) => fixture(await engines.open(), options);
  const send = (redirect = '/', purpose: Purpose = 'login', by = caller()) => ({
    email,
    purpose,
    redirect,
    caller: by,
  });

  describe('sign-in links', () => {
    it('create an account, and work once', async () => {
      const { accounts, mail, token, database } = await open();
      expect(await accounts.exists(email, caller())).toEqual({ ok: true, value: false });
      expect(await accounts.sendLink(send())).toEqual(failure('unknown-user'));
      expect(await accounts.sendLink(send('/article/a', 'register'))).toEqual({ ok: true, value: null });
      expect(mail).toEqual([
        { kind: 'link', to: email, purpose: 'register', minutes: 10, url: expect.stringMatching(/token=[\w-]{43}$/) },
      ]);
      expect(await accounts.exists(email, caller())).toEqual({ ok: true, value: false });

      const made = got(await accounts.useLink(token(email), caller()));
      expect(made).toMatchObject({ created: true, redirect: '/article/a', session: { email, emailVerified: true } });
      expect(await accounts.useLink(token(email), caller())).toEqual(failure('link-used'));
      expect(await accounts.exists(' ADA@Example.com ', caller())).toEqual({ ok: true, value: true });
      expect(await accounts.sendLink(send('/', 'register'))).toEqual(failure('exists'));
      expect(mail.map((message) => message.kind)).toEqual(['link', 'welcome']);
      const kept = JSON.stringify([
        await database.db.selectFrom('proofs').selectAll().execute(),
        await database.db.selectFrom('audit').selectAll().execute(),
        await database.db.selectFrom('sessions').selectAll().execute(),
      ]);
      expect(kept).not.toContain(token(email));
      expect(kept).not.toContain('203.0.113.1');
      expect(kept).not.toContain(/blaize_session=([^;]+)/.exec(made.cookies.join())?.[1]);
    });

    it('can be previewed any number of times, and used on another device', async () => {
      const { accounts, token, join } = await open();
      await join(email);
      await accounts.sendLink(send('/dashboard/account'));
      for (let look = 0; look < 5; look++) {
        const seen = await accounts.peekLink(token(email));
        expect(seen).toEqual({ ok: true, value: { email, purpose: 'login', redirect: '/dashboard/account' } });
      }
      const used = got(await accounts.useLink(token(email), elsewhere(1)));
      expect(used).toMatchObject({ created: false, session: { email } });
      expect(await accounts.peekLink(token(email))).toEqual(failure('link-used'));
    });

    it('expire after ten minutes', async () => {
      const { accounts, token, join, clock } = await open();
      await join(email);
      await accounts.sendLink(send());
      clock.pass(599);
      expect(await accounts.peekLink(token(email))).toMatchObject({ ok: true });
      clock.pass(1);
      expect(await accounts.peekLink(token(email))).toEqual(failure('link-expired'));
      expect(await accounts.useLink(token(email), caller())).toEqual(failure('link-expired'));
      expect(await accounts.useLink('x'.repeat(43), caller())).toEqual(failure('link-unknown'));
      expect(await accounts.useLink('', caller())).toEqual(failure('link-unknown'));
    });

    it('work for only one of 20 simultaneous requests', async () => {
      const { accounts, token, join } = await open();
      await join(email);
      await accounts.sendLink(send());
      const outcomes = await Promise.all(
        Array.from({ length: 20 }, (_, i) => accounts.useLink(token(email), elsewhere(i))),
      );
      expect(outcomes.filter((outcome) => outcome.ok)).toHaveLength(1);
    });

    it('leave one row in the audit trail however often a used one is tried again', async () => {
      const { accounts, join, token, database } = await open();
      await join(email);
      for (let i = 0; i < 5; i++)
        expect(await accounts.useLink(token(email), caller())).toMatchObject(failure('link-used'));
      const rows = await database.db
        .selectFrom('audit')
        .select('detail')
        .where('event', '=', 'sign-in failed')
        .execute();
      expect(rows).toEqual([{ detail: 'link used' }]);
    });

    it('create one account when several are used at the same time', async () => {
      const { accounts, mail, database } = await open();
      for (let i = 0; i < 4; i++) await accounts.sendLink(send('/', 'register'));
      const tokens = mail.map(
        (message) => ('url' in message ? new URL(message.url).searchParams.get('token') : '') ?? '',
      );
      const outcomes = await Promise.all(tokens.map((token) => accounts.useLink(token, caller())));
      expect(outcomes.map((outcome) => outcome.ok)).toEqual([true, true, true, true]);
      expect(outcomes.filter((outcome) => outcome.ok && outcome.value.created)).toHaveLength(1);
      expect(await database.db.selectFrom('users').select('email').execute()).toEqual([{ email }]);
      expect(mail.filter((message) => message.kind === 'welcome')).toHaveLength(1);
    });

    it.each([
      '//evil.example',
      '/\\evil.example',
      'https://evil.example/',
      'javascript:alert(1)',
      '/\t/evil.example',
      `${siteUrl}@evil.example/`,
    ])('redirect only within the site: %j', async (redirect) => {
      const { accounts, token } = await open();
      await accounts.sendLink(send(redirect, 'register'));
      expect(got(await accounts.peekLink(token(email))).redirect).toBe('/');
    });

    it('are refused for invalid addresses and for more than one address', async () => {
      const { accounts, mail } = await open();
      for (const text of [
        'ada',
        'ada@example',
        'a@b.com\r\nBcc: eve@b.com',
        'a@b.com, eve@b.com',
        'a b@c.com',
        '<a@b.com>',
      ]) {
        const by = { email: text, purpose: 'register' as const, redirect: '/', caller: caller() };
        expect(await accounts.sendLink(by)).toMatchObject(failure('invalid-email'));
        expect(await accounts.create(text, caller())).toMatchObject(failure('invalid-email'));
      }
      expect(mail).toEqual([]);
    });
  });

  describe('sign-in codes', () => {
    it('register and sign in, each once and only for the purpose they were requested for', async () => {
      const { accounts, code } = await open();
      await accounts.sendCode(send('/', 'register'));
      const registration = { email, code: code(email), caller: caller() };
      expect(code(email)).toMatch(/^\d{6}$/);
      expect(await accounts.login(registration)).toEqual(wrong);
      expect(await accounts.checkCode(email, code(email), caller())).toEqual({ ok: true, value: null });
      const attributes = { first_name: 'Ada', 'phone-number': '12125550123' };
      const registered = got(await accounts.register({ ...registration, attributes }));
      expect(registered).toMatchObject({ created: true, session: { email, emailVerified: true } });
      expect(await accounts.profile(registered.session)).toEqual(attributes);
      expect(await accounts.register(registration)).toEqual(wrong);

      await accounts.sendCode(send());
      expect(await accounts.register({ ...registration, code: code(email) })).toEqual(wrong);
      const login = { email: 'Ada@example.com', code: ` ${code(email)} `, caller: caller() };
      expect(got(await accounts.login(login))).toMatchObject({ created: false });
      expect(await accounts.login(login)).toEqual(wrong);
    });

    it('expire after ten minutes, and only the newest is valid', async () => {
      const { accounts, code, join, clock } = await open();
      await join(email);
      await accounts.sendCode(send());
      const first = code(email);
      do await accounts.sendCode(send());
      while (code(email) === first);
      expect(await accounts.checkCode(email, first, caller())).toEqual(wrong);
      expect(await accounts.checkCode(email, code(email), caller())).toMatchObject({ ok: true });
      clock.pass(600);
      expect(await accounts.checkCode(email, code(email), caller())).toEqual(wrong);
    });

    it('replace each other, so that only one is valid when ten are requested at the same time', async () => {
      const database = await engines.open();
      const state = { hmacs: createHmacs(secret), now: Date.now };
      const codes = await Promise.all(
        Array.from({ length: 10 }, () =>
          database.transaction(async (tx) => {
            const code = await addCode(state, tx, email, 'login');
            // Another statement, as for the mail: until it ends, the other transactions don't see what this one wrote.
            await tx.selectFrom('users').select('id').execute();
            return code;
          }),
        ),
      );
      expect(await database.db.selectFrom('proofs').select('id').where('kind', '=', 'code').execute()).toHaveLength(1);
      let right = 0;
      for (const code of new Set(codes)) {
        // Otherwise five wrong guesses before the right one would make that invalid, too.
        await database.db.updateTable('proofs').set({ tries: 0 }).execute();
        if (await database.transaction((tx) => tryCode(state, tx, email, ['login'], code, false))) right++;
      }
      expect(right).toBe(1);
    });

    it('are valid for one address only', async () => {
      const { accounts, code, join } = await open();
      const eve = 'eve@example.com';
      await join(email);
      await join(eve);
      await accounts.sendCode(send());
      do await accounts.sendCode({ ...send(), email: eve });
      while (code(eve) === code(email));
      expect(await accounts.checkCode(email, code(eve), caller())).toEqual(wrong);
      expect(await accounts.checkCode(eve, code(eve), caller())).toMatchObject({ ok: true });
      expect(await accounts.checkCode(email, code(email), caller())).toMatchObject({ ok: true });
    });

    const others = (right: string, count: number): string[] =>
      Array.from({ length: count }, (_, i) => String((Number(right) + 1 + i) % 1_000_000).padStart(6, '0'));

    it('are invalid after the fifth wrong guess', async () => {
      const { accounts, code, join } = await open();
      await join(email);
      await accounts.sendCode(send());
      const right = code(email);
      for (const guess of others(right, 4)) expect(await accounts.checkCode(email, guess, caller())).toEqual(wrong);
      expect(await accounts.checkCode(email, right, caller())).toMatchObject({ ok: true });
      for (const guess of others(right, 1)) expect(await accounts.checkCode(email, guess, caller())).toEqual(wrong);
      expect(await accounts.checkCode(email, right, caller())).toEqual(wrong);
      expect(await accounts.login({ email, code: right, caller: caller() })).toEqual(wrong);
    });

    it('allow at most five tries by 99 simultaneous guesses, and are then used up', async () => {
      const { accounts, code, join, database } = await open();
      await join(email);
      await accounts.sendCode(send());
      const right = code(email);
      const outcomes = await Promise.all(
        others(right, 99).map((guess, i) => accounts.login({ email, code: guess, caller: elsewhere(i) })),
      );
      expect(outcomes.filter((outcome) => outcome.ok)).toEqual([]);
      const row = await database.db.selectFrom('proofs').select('tries').where('kind', '=', 'code').executeTakeFirst();
      expect(row).toEqual({ tries: 5 });
      // Even the right code comes too late.
      expect(await accounts.login({ email, code: right, caller: elsewhere(500) })).toMatchObject({
        ok: false,
      });
    });

    it('sign in only one of five simultaneous requests', async () => {
      const { accounts, code, join } = await open();
      await join(email);
      await accounts.sendCode(send());
      const right = code(email);
      const outcomes = await Promise.all(
        Array.from({ length: 5 }, (_, i) => accounts.login({ email, code: right, caller: elsewhere(i) })),
      );
      expect(outcomes.filter((outcome) => outcome.ok)).toHaveLength(1);
    });

    it('lose no try when the right one is checked, however often', async () => {
      const { accounts, code, join } = await open();
      await join(email);
      await accounts.sendCode(send());
      for (let i = 0; i < 40; i++)
        expect(await accounts.checkCode(email, code(email), caller())).toMatchObject({ ok: true });
    });
  });

  describe('unconfirmed accounts', () => {
    it('are created for an address, and open no session', async () => {
      const { accounts, mail, token } = await open();
      const made = got(await accounts.create(email, caller()));
      expect(made).toEqual({});
      expect(mail).toMatchObject([{ kind: 'link', purpose: 'completeRegistration' }]);
      expect(await accounts.create(email, caller())).toEqual(failure('exists'));
      const used = got(await accounts.useLink(token(email), caller()));
      expect(used).toMatchObject({ created: false, session: { emailVerified: true } });
      expect(mail.map((message) => message.kind)).toEqual(['link', 'welcome']);
    });

    it('are created once by three simultaneous requests', async () => {
      const { accounts, mail } = await open();
      const outcomes = await Promise.all(Array.from({ length: 3 }, (_, i) => accounts.create(email, elsewhere(i))));
      expect(outcomes.filter((outcome) => outcome.ok)).toHaveLength(1);
      expect(mail).toHaveLength(1);
    });

    it('are refused by the address check, with its suggestion', async () => {
      const verification = {
        verify: async () => ({ verified: false, suggestedEmail: 'ada@gmail.com', message: 'No such domain' }),
      };
      const { accounts, mail } = await open({ verification });
      const refusal = failure('invalid-email', { message: 'No such domain', suggestion: 'ada@gmail.com' });
      expect(await accounts.create('ada@gmial.com', caller())).toEqual(refusal);
      expect(await accounts.sendLink({ ...send('/', 'register'), email: 'ada@gmial.com' })).toEqual(refusal);
      expect(mail).toEqual([]);
    });
  });

  describe('profiles', () => {
    it('are merged or replaced', async () => {
      const { accounts, join } = await open();
      const { session } = await join(email);
      expect(await accounts.profile(session)).toEqual({});
      await accounts.saveProfile(session, { first_name: 'A.', age: 3, on: true }, 'merge');
      await accounts.saveProfile(
        session,
        { first_name: 'Ada', last_name: 'Whitlock', 'phone-number': '12125550123' },
        'merge',
      );
      const all = { first_name: 'Ada', age: 3, on: true, last_name: 'Whitlock', 'phone-number': '12125550123' };
      expect(await accounts.profile(session)).toEqual(all);
      await accounts.saveProfile(session, { date_of_birth: '1990-02-28' }, 'replace');
      expect(await accounts.profile(session)).toEqual({ date_of_birth: '1990-02-28' });
    });

    it('lose no field in 20 simultaneous merges', async () => {
      const { accounts, join } = await open();
      const { session } = await join(email);
      await Promise.all(
        Array.from({ length: 20 }, (_, i) => accounts.saveProfile(session, { [`key${i}`]: i }, 'merge')),
      );
      expect(Object.keys(await accounts.profile(session))).toHaveLength(20);
    });

    it('leave one audit row a minute for each kind of profile, however often they are changed', async () => {
      const { accounts, join, database, clock } = await open();
      const { session } = await join(email);
      const change = async () => {
        for (let age = 0; age < 5; age++) {
          await accounts.saveProfile(session, { age }, 'merge');
          await accounts.saveExtendedProfile(session, 'games', { age });
        }
      };
      await change();
      clock.pass(60);
      await change();
      const rows = await database.db
        .selectFrom('audit')
        .select('detail')
        .where('event', '=', 'profile changed')
        .execute();
      expect(rows.map(({ detail }) => detail).sort()).toEqual(['extended', 'extended', null, null]);
    });

    it.each([
      [{ 'phone-number': '123' }, 'Invalid phone number'],
      [{ 'phone-number': '1212555012a' }, 'Invalid phone number'],
      [{ date_of_birth: '1990-02-30' }, 'Invalid date of birth'],
      [{ first_name: 'x'.repeat(101) }, 'The value for first_name is too long'],
      // Named like a member of every object.
      [{ toString: 'x'.repeat(501) } as never, 'The value for toString is too long'],
      [{ note: 'a\u0000b' }, 'Invalid value for note'],
      [{ address: { line1: 'a' } as never }, 'Invalid value for address'],
      [{ teams: ['a'] as never }, 'Invalid value for teams'],
      [{ note: null as never }, 'Invalid value for note'],
      [{ age: Number.NaN }, 'Invalid value for age'],
      [{ __proto__x: 'a' }, 'Invalid profile field'],
      [Object.fromEntries(Array.from({ length: 51 }, (_, i) => [`k${i}`, i])), 'Too many profile fields'],
    ])('refuse the invalid value %j', async (profile, message) => {
      const { accounts, join } = await open();
      const { session } = await join(email);
      expect(await accounts.saveProfile(session, profile, 'merge')).toEqual(failure('invalid', { message }));
      expect(await accounts.profile(session)).toEqual({});
    });

    it('have an extended part for each app, whose name, size and number are limited', async () => {
      const { accounts, join } = await open();
      const { session } = await join(email);
      expect(await accounts.extendedProfile(session, 'games')).toBeNull();
      const value = { solved: [1, 2], last: { day: null } };
      expect(await accounts.saveExtendedProfile(session, 'games', value)).toEqual({ ok: true, value: null });
      expect(await accounts.extendedProfile(session, 'games')).toEqual(value);
      expect(await accounts.saveExtendedProfile(session, '_restricted_games', {})).toMatchObject(failure('invalid'));
      expect(await accounts.saveExtendedProfile(session, 'big', 'x'.repeat(20_000))).toMatchObject(failure('invalid'));
      for (let i = 0; i < 19; i++) got(await accounts.saveExtendedProfile(session, `app${i}`, i));
      expect(await accounts.saveExtendedProfile(session, 'another', 1)).toMatchObject(failure('invalid'));
    });
  });

  describe('a reader who deletes the account', () => {
    it('can export everything first, and leaves no personal data behind', async () => {
      const { accounts, join, mail, token, database } = await open();
      const { session, cookies } = await join(email);
      await join('eve@example.com');
      // A space is in none of the random ids and hashes that stay.
      const name = 'Ada Whitlock';
      await accounts.saveProfile(session, { first_name: name }, 'merge');
      await accounts.saveExtendedProfile(session, 'games', [1]);
      await accounts.sendLink(send());
      expect(await accounts.exportData(session)).toMatchObject({
        account: { email_address: email, email_verified: true, tracking_id: session.trackingId },
        profile: { first_name: name },
        extended_profiles: { games: [1] },
        social_accounts: [],
        sessions: [{ device: 'Chrome on Linux' }],
        events: expect.arrayContaining([expect.objectContaining({ event: 'sign-in', detail: 'link' })]),
      });
      const link = token(email);
      expect(await accounts.forget(session, caller())).toEqual(accounts.signedOutCookies);
      expect(mail.filter((message) => message.to === email)).toEqual([]);
      expect((await accounts.session(browser(cookies))).session).toBeNull();
      expect(await accounts.peekLink(link)).toEqual(failure('link-unknown'));
      expect(await accounts.exists(email, caller())).toEqual({ ok: true, value: false });
      const left = JSON.stringify([
        ...(await Promise.all(
          (['users', 'sessions', 'profiles', 'extended_profiles', 'proofs', 'audit'] as const).map((table) =>
            database.db.selectFrom(table).selectAll().execute(),
          ),
        )),
      ]);
      for (const trace of [email, name, session.userId, session.trackingId]) expect(left).not.toContain(trace);
      expect(left).toContain('eve@example.com');
    });

    it('with an unconfirmed address voids no link, code or mail that the owner of the address requested', async () => {
      const { accounts, mail, code, token } = await open();
      await accounts.sendLink({ email, purpose: 'register', redirect: '/', caller: elsewhere(1) });
      await accounts.sendCode({ email, purpose: 'register', redirect: '/', caller: elsewhere(1) });
      const [link, digits] = [token(email), code(email)];
      const { signedIn } = got(await accounts.create(email, caller(), { enter: true }));
      const confirmation = token(email);
      const waiting = mail.length;
      if (!signedIn) throw new Error('The stranger has no session.');
      await accounts.forget(signedIn.session, caller());
      expect(mail).toHaveLength(waiting);
      expect(await accounts.peekLink(confirmation)).toEqual(failure('link-unknown'));
      expect(await accounts.peekLink(link)).toMatchObject({ ok: true });
      const joined = await accounts.register({ email, code: digits, caller: elsewhere(1) });
      expect(joined).toMatchObject({ ok: true, value: { session: { email, emailVerified: true } } });
    });
  });
});

/** One reader's actions leave the links, codes, sessions and accounts of all others unchanged, on both engines. */
import { describe, expect, it } from 'vitest';
import { browser, caller, elsewhere, fixture, got } from '../../../tests/world/accounts.ts';
import { onBothEngines } from '../../../tests/world/databases.ts';
import { defaultLimits } from '../http/limits.ts';
import { deleteOldRows } from '../jobs/old-rows.ts';
import { oldRowsOf } from './personal-data.server.ts';

const [ada, grace] = ['ada@example.com', 'grace@example.com'] as const;
const mailed = (email: string) => ({ email, purpose: 'login', redirect: '/', caller: caller() }) as const;
const nextCode = (code: string): string => String((Number(code) + 1) % 1_000_000).padStart(6, '0');

onBothEngines('with several readers', (engines) => {
  describe('links and codes', () => {
    it('of one reader are not used up by the guesses and sign-ins of another', async () => {
      const { accounts, join, code, token } = await fixture(await engines.open());
      await join(ada);
      await join(grace, elsewhere(1));
      await accounts.sendLink(mailed(grace));
      await accounts.sendCode(mailed(grace));
      for (let guess = 0; guess < 5; guess++) {
        await accounts.sendCode(mailed(ada));
        const wrong = { email: ada, code: nextCode(code(ada)), caller: caller() };
        expect(await accounts.login(wrong)).toMatchObject({ failure: { kind: 'invalid-code' } });
      }
      got(await accounts.login({ email: ada, code: code(ada), caller: caller() }));
      await accounts.sendLink(mailed(ada));
      got(await accounts.useLink(token(ada), caller()));
      got(await accounts.login({ email: grace, code: code(grace), caller: elsewhere(1) }));
      got(await accounts.useLink(token(grace), elsewhere(1)));
    });

    it('over the mail limit count as sent only while an earlier link to the same address is valid', async () => {
      const limits = { ...defaultLimits, link: { email: { most: 1, seconds: 3600 } } };
      const { accounts, clock } = await fixture(await engines.open(), { limits });
      for (const email of [ada, grace]) got(await accounts.create(email, caller(), { enter: true }));
      got(await accounts.sendLink(mailed(ada)));
      // The mail is over the limit; the link that was mailed before is still valid.
      expect(await accounts.sendLink(mailed(ada))).toEqual({ ok: true, value: null });
      clock.pass(3000);
      got(await accounts.sendCode(mailed(ada)));
      got(await accounts.sendLink(mailed(grace)));
      // Neither the expired link, nor the code, nor the other reader's link helps.
      expect(await accounts.sendLink(mailed(ada))).toMatchObject({ failure: { kind: 'limited' } });
    });
  });

  describe('sessions', () => {
    /** A reader on two devices, and another reader. */
    async function open() {
      const made = await fixture(await engines.open());
      const { accounts, join, token } = made;
      const phone = await join(ada);
      await accounts.sendLink(mailed(ada));
      const laptop = got(await accounts.useLink(token(ada), elsewhere(2)));
      const other = await join(grace, elsewhere(1));
      const isOpen = async ({ cookies }: typeof phone) => (await accounts.session(browser(cookies))).session !== null;
      return { ...made, phone, laptop, other, isOpen };
    }

    it('end only on the device that signs out', async () => {
      const { accounts, phone, laptop, other, isOpen } = await open();
      await accounts.logout(phone.session, 'THIS_DEVICE');
      expect([await isOpen(phone), await isOpen(laptop), await isOpen(other)]).toEqual([false, true, true]);
    });

    it('are replaced only in the browser that signs in again', async () => {
      const { accounts, token, phone, laptop, other, isOpen } = await open();
      await accounts.sendLink(mailed(ada));
      got(await accounts.useLink(token(ada), caller('203.0.113.1', browser(phone.cookies))));
      expect([await isOpen(phone), await isOpen(laptop), await isOpen(other)]).toEqual([false, true, true]);
    });

    it('are extended only by their own use', async () => {
      const { accounts, clock, phone, laptop, other, isOpen } = await open();
      clock.pass(20 * 86_400);
      expect((await accounts.session(browser(phone.cookies))).session).not.toBeNull();
      clock.pass(10 * 86_400);
      expect([await isOpen(phone), await isOpen(laptop), await isOpen(other)]).toEqual([true, false, false]);
    });
  });

  it('confirming an address in another account’s browser ends the session that created the account', async () => {
    const { accounts, join, token } = await fixture(await engines.open());
    const { signedIn } = got(await accounts.create(ada, caller(), { enter: true }));
    const stranger = browser(signedIn?.cookies ?? []);
    const { cookies } = await join(grace, elsewhere(1));
    got(await accounts.useLink(token(ada), caller('203.0.113.9', browser(cookies))));
    expect((await accounts.session(stranger)).session).toBeNull();
  });

  it('confirming one address confirms no other', async () => {
    const { accounts, database, token } = await fixture(await engines.open());
    for (const email of [ada, grace]) got(await accounts.create(email, caller(), { enter: true }));
    got(await accounts.useLink(token(ada), caller()));
    const users = await database.db.selectFrom('users').select(['email', 'emailVerified']).orderBy('email').execute();
    expect(users).toEqual([
      { email: ada, emailVerified: 1 },
      { email: grace, emailVerified: 0 },
    ]);
  });

  it('profiles are separate for each reader and each app', async () => {
    const { accounts, join } = await fixture(await engines.open());
    const sessions = [(await join(ada)).session, (await join(grace, elsewhere(1))).session];
    for (const session of sessions) {
      got(await accounts.saveProfile(session, { first_name: session.email }, 'merge'));
      for (const app of ['games', 'print']) got(await accounts.saveExtendedProfile(session, app, [session.email, app]));
    }
    for (const session of sessions) {
      expect(await accounts.profile(session)).toEqual({ first_name: session.email });
      for (const app of ['games', 'print'])
        expect(await accounts.extendedProfile(session, app)).toEqual([session.email, app]);
    }
  });

  it('links stay valid when another account is deleted', async () => {
    const { accounts, join, token } = await fixture(await engines.open());
    const { session } = await join(ada);
    await join(grace, elsewhere(1));
    await accounts.sendLink(mailed(grace));
    await accounts.forget(session, caller());
    got(await accounts.useLink(token(grace), elsewhere(1)));
  });

  it('only accounts without a session, a provider and a payment are deleted as abandoned', async () => {
    const { accounts, database, clock } = await fixture(await engines.open());
    const { personalData } = accounts;
    const ids = new Map<string, string>();
    for (const name of ['connected', 'paying', 'signed-in', 'abandoned']) {
      const { signedIn } = got(await accounts.create(`${name}@example.com`, elsewhere(ids.size), { enter: true }));
      const userId = signedIn?.session.userId ?? '';
      ids.set(name, userId);
      if (name !== 'signed-in') await database.db.deleteFrom('sessions').where('userId', '=', userId).execute();
    }
    const idOf = (name: string): string => ids.get(name) ?? '';
    const at = new Date(clock.now).toISOString();
    await database.db
      .insertInto('identities')
      .values({
        id: 'i',
        userId: idOf('connected'),
        providerId: 'google',
        accountId: 'c',
        createdAt: at,
        updatedAt: at,
      })
      .execute();
    await database.db
      .insertInto('customers')
      .values({ user_id: idOf('paying'), customer: 'cus_1', shipping: null, shipping_sent: 0, updated: clock.now })
      .execute();
    // An account that was confirmed or signed in to after the cleanup found it isn't deleted.
    for (const name of ['connected', 'paying', 'signed-in']) {
      const user = { userId: idOf(name), email: `${name}@example.com`, emailVerified: false };
      await personalData.erase(user, null);
    }
    clock.pass(2 * 86_400);
    const keeping = { auditDays: 90, unconfirmedDays: 1 };
    await deleteOldRows(oldRowsOf({ database, personalData, now: () => clock.now }, keeping));
    const left = await database.db.selectFrom('users').select('email').orderBy('email').execute();
    expect(left.map(({ email }) => email.split('@')[0])).toEqual(['connected', 'paying', 'signed-in']);
  });
});

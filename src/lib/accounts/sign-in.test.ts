/**
 * What a proof of identity opens and what it doesn't: a provider's key, a code, and the names that come with them, on both
 * engines.
 */
import { describe, expect, it } from 'vitest';
import { browser, caller, elsewhere, fixture, got, secret } from '../../../tests/world/accounts.ts';
import { onBothEngines } from '../../../tests/world/databases.ts';
import { createHmacs } from '../crypto.server.ts';
import { addSocialKey, type SocialProof } from './proofs.server.ts';

const email = 'ada@example.com';
const tooLong = 'x'.repeat(200);
const google: SocialProof = {
  provider: 'google',
  subject: 'g1',
  email,
  verified: true,
  firstName: null,
  lastName: null,
};

onBothEngines('signing in', (engines) => {
  async function open() {
    const made = await fixture(await engines.open());
    const { accounts, database, clock } = made;
    const state = { hmacs: createHmacs(secret), now: () => clock.now };
    /** The credentials of a reader whom a provider has described. */
    const by = async (proof: SocialProof, attributes = {}) => {
      const tokenExchange = await database.transaction((tx) => addSocialKey(state, tx, proof));
      return { stateKey: tokenExchange, attributes, caller: elsewhere(1) };
    };
    /** An account with an unconfirmed address that is connected to a provider. */
    async function connected() {
      const { signedIn } = got(await accounts.create(email, caller(), { enter: true }));
      if (!signedIn) throw new Error('Not signed in');
      const at = new Date(clock.now).toISOString();
      const { userId } = signedIn.session;
      const identity = { id: 'i', userId, providerId: 'google', accountId: 'g1', createdAt: at, updatedAt: at };
      await database.db.insertInto('identities').values(identity).execute();
      return signedIn;
    }
    return { ...made, by, connected };
  }

  describe('with a connected provider', () => {
    it('does not confirm the account’s address when the provider verified another one', async () => {
      const { accounts, by, connected } = await open();
      const before = await connected();
      const entered = got(await accounts.login(await by({ ...google, email: 'eve@example.com' })));
      expect(entered.session).toMatchObject({ userId: before.session.userId, email, emailVerified: false });
      expect((await accounts.session(browser(before.cookies))).session).not.toBeNull();
    });

    it('confirms the account’s address when the provider verified it, and ends the earlier session', async () => {
      const { accounts, by, connected } = await open();
      const before = await connected();
      const entered = got(await accounts.login(await by(google)));
      expect(entered.session).toMatchObject({ userId: before.session.userId, email, emailVerified: true });
      expect((await accounts.session(browser(before.cookies))).session).toBeNull();
    });

    it('opens the account that was created after the reader came back from the provider', async () => {
      const { accounts, by, join } = await open();
      const [first, second] = [await by(google), await by(google)];
      const { session } = await join(email);
      for (const outcome of [await accounts.login(first), await accounts.register(second)])
        expect(got(outcome)).toMatchObject({ created: false, session: { userId: session.userId } });
    });
  });

  it('opens the account that the provider’s user id belongs to, whatever the other providers’ ids', async () => {
    const { accounts, by } = await open();
    const proofs: readonly SocialProof[] = [
      { ...google, subject: 'one', email: 'ada@example.com' },
      { ...google, subject: 'two', email: 'grace@example.com' },
      { ...google, subject: 'one', email: 'alan@example.com', provider: 'facebook' },
    ];
    for (const proof of proofs) got(await accounts.register(await by(proof)));
    for (const { email: own, ...proof } of proofs) {
      const entered = got(await accounts.login(await by({ ...proof, email: '', verified: false })));
      expect(entered.session.email).toBe(own);
    }
  });

  it('stores the names that the provider gives, unless a profile can’t hold them', async () => {
    const { accounts, by, mail } = await open();
    const named = { ...google, lastName: 'Whitlock' };
    const made = got(await accounts.register(await by(named)));
    expect(await accounts.profile(made.session)).toEqual({ last_name: 'Whitlock' });
    const unproven = { ...google, subject: 'g2', email: 'grace@example.com', verified: false, firstName: tooLong };
    const other = got(await accounts.register(await by(unproven, { last_name: 'Hopper' })));
    expect(await accounts.profile(other.session)).toEqual({ last_name: 'Hopper' });
    expect(mail.at(-1)).toMatchObject({ kind: 'link', to: 'grace@example.com', minutes: 10 });
  });

  it('by code stores the names sent with it, and refuses invalid ones without using up the code', async () => {
    const { accounts, join, code } = await open();
    const { session } = await join(email);
    await accounts.saveProfile(session, { first_name: 'A.', last_name: 'Whitlock' }, 'replace');
    got(await accounts.sendCode({ email, purpose: 'login', redirect: '/', caller: caller() }));
    const credentials = { email, code: code(email), caller: caller() };
    const wrong = await accounts.login({ ...credentials, attributes: { first_name: tooLong } });
    expect(wrong).toMatchObject({ failure: { kind: 'invalid' } });
    got(await accounts.login({ ...credentials, attributes: { first_name: 'Ada' } }));
    expect(await accounts.profile(session)).toEqual({ first_name: 'Ada', last_name: 'Whitlock' });
  });

  it('by code accepts it as people type and paste it, with spaces and dashes', async () => {
    const { accounts, join, code } = await open();
    await join(email);
    got(await accounts.sendCode({ email, purpose: 'login', redirect: '/', caller: caller() }));
    const typed = ` ${code(email).slice(0, 3)} - ${code(email).slice(3)}`;
    got(await accounts.checkCode(email, typed, caller()));
    got(await accounts.login({ email, code: typed, caller: caller() }));
  });

  it('by code creates no second account after a link has created one', async () => {
    const { accounts, code, token } = await open();
    const register = { email, purpose: 'register', redirect: '/', caller: caller() } as const;
    got(await accounts.sendCode(register));
    got(await accounts.sendLink(register));
    got(await accounts.useLink(token(email), caller()));
    const outcome = await accounts.register({ email, code: code(email), caller: caller() });
    expect(outcome).toEqual({ ok: false, failure: { kind: 'exists' } });
  });

  it('records in the audit trail how an account was created, confirmed, entered and left', async () => {
    const { accounts, by, connected, database } = await open();
    await connected();
    const { session } = got(await accounts.login(await by(google)));
    await accounts.logout(session, 'THIS_DEVICE');
    got(await accounts.register(await by({ ...google, subject: 'g2', email: 'grace@example.com' })));
    const trail = await database.db.selectFrom('audit').select(['event', 'detail']).execute();
    expect(trail).toEqual(
      expect.arrayContaining([
        { event: 'address confirmed', detail: null },
        { event: 'sign-in', detail: 'google' },
        { event: 'signed out', detail: 'THIS_DEVICE' },
        { event: 'account made', detail: 'google' },
      ]),
    );
  });
});

/** An account that is created at the paywall and used before its address is confirmed. */
import { expect, it } from 'vitest';
import { browser, caller, elsewhere, fixture, got } from '../../../tests/world/accounts.ts';
import { onBothEngines } from '../../../tests/world/databases.ts';
import { defaultLimits } from '../http/limits.ts';

const email = 'ada@example.com';
const exists = { ok: false, failure: { kind: 'exists' } };

onBothEngines('an account that is signed in when it is created', (engines) => {
  it('has a session with an unconfirmed address, and is sent a link to confirm it', async () => {
    const { accounts, mail } = await fixture(await engines.open());
    const { signedIn } = got(await accounts.create(email, caller(), { enter: true }));
    expect(signedIn).toMatchObject({ created: true, session: { email, emailVerified: false } });
    const { session } = await accounts.session(browser(signedIn?.cookies ?? []));
    expect(session).toMatchObject({ email, emailVerified: false });
    expect(mail).toMatchObject([{ kind: 'link', purpose: 'completeRegistration' }]);
  });

  it('is refused when the address already has an account, confirmed or not', async () => {
    const { accounts, join } = await fixture(await engines.open());
    got(await accounts.create(email, caller(), { enter: true }));
    expect(await accounts.create(email, elsewhere(1), { enter: true })).toEqual(exists);
    await join('grace@example.com');
    expect(await accounts.create('grace@example.com', elsewhere(2), { enter: true })).toEqual(exists);
  });

  it('loses its first session when the address is confirmed in another browser', async () => {
    const { accounts, token } = await fixture(await engines.open());
    const { signedIn } = got(await accounts.create(email, caller(), { enter: true }));
    const stranger = browser(signedIn?.cookies ?? []);
    got(await accounts.useLink(token(email), elsewhere(1)));
    expect((await accounts.session(stranger)).session).toBeNull();
  });

  it('stays signed in when the address is confirmed in the same browser', async () => {
    const { accounts, token } = await fixture(await engines.open());
    const { signedIn } = got(await accounts.create(email, caller(), { enter: true }));
    const cookies = browser(signedIn?.cookies ?? []);
    const proved = got(await accounts.useLink(token(email), caller('203.0.113.1', cookies)));
    expect(proved.session).toMatchObject({ userId: signedIn?.session.userId, emailVerified: true });
  });

  it('can be created by 70 readers with the same IP address, who are sent at most 60 emails', async () => {
    const { accounts, mail } = await fixture(await engines.open());
    for (let reader = 0; reader < 70; reader++) {
      const { signedIn } = got(await accounts.create(`student${reader}@example.com`, caller(), { enter: true }));
      expect(signedIn?.session.email).toBe(`student${reader}@example.com`);
    }
    // The other readers get their link again after they have paid.
    expect(mail).toHaveLength(60);
    expect(await accounts.create('stranger@example.com', caller())).toMatchObject({ failure: { kind: 'limited' } });
    expect(await accounts.create('elsewhere@example.com', elsewhere(1))).toMatchObject({ ok: true });
  });

  it('is refused to an IP address that has created too many', async () => {
    const limits = { ...defaultLimits, create: { address: { most: 5, seconds: 3600 } } };
    const { accounts } = await fixture(await engines.open(), { limits });
    const made = [];
    for (let one = 0; one < 8; one++)
      made.push((await accounts.create(`${one}@example.com`, caller(), { enter: true })).ok);
    expect(made).toEqual([true, true, true, true, true, false, false, false]);
  });
});

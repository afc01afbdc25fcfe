/** Sessions and their cookies on both engines. */
import { describe, expect, it } from 'vitest';
import { browser, caller, elsewhere, fixture, got } from '../../../tests/world/accounts.ts';
import { onBothEngines } from '../../../tests/world/databases.ts';
import { type Grant, registeredGrant } from '../access/entitlements.ts';

const email = 'ada@example.com';

onBothEngines('sessions', (engines) => {
  const open = async (options: Parameters<typeof fixture>[1] = {}) => fixture(await engines.open(), options);
  const send = () => ({ email, purpose: 'login', redirect: '/', caller: caller() }) as const;

  it('are kept in Secure and HttpOnly cookies, while scripts can read only the visitor cookie', async () => {
    const { accounts, join } = await open();
    const first = await join(email);
    const [session = '', tracking = '', visitor = '', access = ''] = first.cookies;
    expect(first.cookies).toHaveLength(4);
    expect(session).toMatch(/^blaize_session=[\w-]{43}; Path=\/; Max-Age=2592000; .*SameSite=Lax; HttpOnly; Secure$/);
    expect(tracking).toMatch(/^blaize_tracking_id=[\da-f-]{36}; .*HttpOnly; Secure$/);
    expect(visitor).toMatch(/^visitor=registered; Path=\/; Max-Age=2592000; .*SameSite=Lax; Secure$/);
    expect(access).toMatch(/^access=v1\.test\.\d+\.registered\.[\w-]{43}; .*Max-Age=900; .*HttpOnly; Secure$/);
    expect(await accounts.session(browser(first.cookies))).toEqual({ session: first.session, cookies: [] });
    expect(await accounts.session(null)).toEqual({ session: null, cookies: [] });
  });

  /** @returns accounts whose next request, once held, waits after it has found its session */
  const openHeld = async () => {
    const reading = Promise.withResolvers<void>();
    const begun = Promise.withResolvers<void>();
    let holds = false;
    const grantFor = async () => {
      if (holds) {
        holds = false;
        begun.resolve();
        await reading.promise;
      }
      return registeredGrant;
    };
    const world = await open({ grantFor });
    /** Runs events during a request. @returns the request's answer */
    const during = async (jar: string, events: () => Promise<unknown>) => {
      holds = true;
      const answer = world.accounts.session(jar);
      await begun.promise;
      await events();
      reading.resolve();
      return answer;
    };
    return { ...world, during };
  };
  const signIn = async ({ accounts, token }: Awaited<ReturnType<typeof open>>, cookies?: string) => {
    await accounts.sendLink(send());
    return got(await accounts.useLink(token(email), caller('203.0.113.9', cookies)));
  };

  it('stay ended when a request that began before the browser’s next sign-in ends after it', async () => {
    const world = await openHeld();
    const { accounts, join, clock, during } = world;
    const eve = browser((await join('eve@example.com')).cookies);
    await join(email);
    clock.pass(2 * 86_400);
    const before = await during(eve, async () => {
      await signIn(world, eve);
      // On a node whose clock is behind.
      clock.pass(-2);
    });
    expect(before).toEqual({ session: null, cookies: [] });
    expect((await accounts.session(eve)).session).toBeNull();
    clock.pass(2);
    expect((await accounts.session(eve)).session).toBeNull();
  });

  it.each(['THIS_DEVICE', 'EVERYWHERE'] as const)(
    'give no cookies to a request that was under way when they ended: %s',
    async (where) => {
      const { accounts, join, clock, during } = await openHeld();
      const { session, cookies } = await join(email);
      // Its access cookie is due, but its session isn't old enough to be extended.
      clock.pass(14 * 60);
      const answer = await during(browser(cookies), () => accounts.logout(session, where));
      expect(answer).toEqual({ session: null, cookies: [] });
      expect(await accounts.accessCookies(session)).toEqual([]);
    },
  );

  it('get a new token at each sign-in, and share the account’s tracking id', async () => {
    const { accounts, join, token } = await open();
    const jars = [(await join(email)).cookies];
    for (let device = 0; device < 2; device++) {
      await accounts.sendLink(send());
      jars.push(got(await accounts.useLink(token(email), elsewhere(device))).cookies);
    }
    const values = (name: string) => jars.map((cookies) => new RegExp(`${name}=([^;]+)`).exec(cookies.join())?.[1]);
    expect(new Set(values('blaize_session')).size).toBe(3);
    expect(new Set(values('blaize_tracking_id')).size).toBe(1);
  });

  it('have no Secure cookies when the site has no HTTPS', async () => {
    const { join } = await open({ siteUrl: 'http://127.0.0.1:4321' });
    for (const cookie of (await join(email)).cookies) expect(cookie).not.toContain('Secure');
  });

  it('are safe from fixation: signing in replaces and ends the session that the browser had', async () => {
    const { accounts, join, token, code } = await open();
    const eve = await join('eve@example.com');
    await join(email);
    const planted = browser(eve.cookies);
    await accounts.sendLink(send());
    const ada = got(await accounts.useLink(token(email), caller('203.0.113.9', planted)));
    expect(ada.cookies[0]).not.toBe(eve.cookies[0]);
    expect((await accounts.session(planted)).session).toBeNull();

    await accounts.sendCode(send());
    const again = { email, code: code(email), caller: caller('203.0.113.9', browser(ada.cookies)) };
    const rotated = got(await accounts.login(again));
    expect((await accounts.session(browser(ada.cookies))).session).toBeNull();
    expect((await accounts.session(browser(rotated.cookies))).session?.email).toBe(email);
    expect((await accounts.session('blaize_session=chosen-by-an-attacker')).session).toBeNull();
  });

  it('are not ended by an older request that is answered after the browser signed in again', async () => {
    const { accounts, database, join, token, clock } = await open();
    const another = await fixture(database);
    const before = browser((await join(email)).cookies);
    await accounts.sendLink(send());
    got(await accounts.useLink(token(email), caller('203.0.113.9', before)));
    // Its answer comes after the new cookies, so it must not change them.
    expect(await accounts.session(before)).toEqual({ session: null, cookies: [] });
    // On another node, or after a restart, too.
    expect(await another.accounts.session(before)).toEqual({ session: null, cookies: [] });
    clock.pass(61);
    expect((await accounts.session(before)).cookies).toEqual(accounts.signedOutCookies);
  });

  it('that were ended elsewhere before the browser signed in again don’t clear its new cookies', async () => {
    const world = await open();
    const { accounts, join, clock } = world;
    const unchanged = { session: null, cookies: [] };
    const first = await join(email);
    const second = await signIn(world);
    await accounts.logout(second.session, 'EVERYWHERE');
    const third = await signIn(world, browser(first.cookies));
    // The request was sent before the sign-in, and is answered after it.
    expect(await accounts.session(browser(first.cookies))).toEqual(unchanged);
    expect(await accounts.sessions(third.session)).toHaveLength(1);
    await accounts.logout(third.session, 'OTHER_DEVICES');
    expect(await accounts.session(browser(first.cookies))).toEqual(unchanged);

    const eve = await join('eve@example.com');
    await signIn(world, browser(eve.cookies));
    await accounts.forget(eve.session, caller());
    expect(await accounts.session(browser(eve.cookies))).toEqual(unchanged);

    clock.pass(31 * 86_400);
    await signIn(world, browser(third.cookies));
    expect(await accounts.session(browser(third.cookies))).toEqual(unchanged);
    clock.pass(61);
    expect((await accounts.session(browser(third.cookies))).cookies).toEqual(accounts.signedOutCookies);
  });

  it('last thirty days from their last use', async () => {
    const { accounts, join, clock } = await open();
    let jar = browser((await join(email)).cookies);
    for (let days = 0; days < 100; days += 20) {
      clock.pass(20 * 86_400);
      const { session, cookies } = await accounts.session(jar);
      expect(session?.email).toBe(email);
      expect(cookies.filter((cookie) => /^(?:blaize_session|visitor)=.*Max-Age=2592000/.test(cookie))).toHaveLength(2);
      jar = browser([...jar.split('; ')], cookies);
    }
    clock.pass(30 * 86_400);
    const over = await accounts.session(jar);
    expect(over).toEqual({ session: null, cookies: accounts.signedOutCookies });
    expect(browser([...jar.split('; ')], over.cookies)).toBe('');
  });

  it('renew the access cookie when it is missing, forged or ends soon', async () => {
    const { accounts, join, clock } = await open();
    const { cookies } = await join(email);
    const jar = browser(cookies);
    const renewed = expect.stringMatching(/^access=v1\.test\.\d+\.registered\..*Max-Age=900/);
    clock.pass(9 * 60);
    expect((await accounts.session(jar)).cookies).toEqual([]);
    clock.pass(2 * 60);
    expect((await accounts.session(jar)).cookies).toEqual([renewed]);
    const without = jar.replace(/; access=.*$/, '');
    expect((await accounts.session(without)).cookies).toEqual([renewed]);
    const forged = `${without}; access=v1.test.9999999999.registered.${'A'.repeat(43)}`;
    expect((await accounts.session(forged)).cookies).toEqual([renewed]);
  });

  describe('set access cookies', () => {
    const level = (cookies: readonly string[]) =>
      cookies
        .filter((cookie) => /^(?:access|visitor)=/.test(cookie))
        .map(
          (cookie) =>
            /^access=v1\.test\.\d+\.(\w+)\..*Max-Age=(\d+)/.exec(cookie)?.slice(1).join(' ') ?? cookie.split(';')[0],
        );
    const paying = (until: number): Grant => ({ level: 'subscriber', until, visitor: 'member' });

    it('with the reader’s level at sign-in, for fifteen minutes or until the paid time ends', async () => {
      let grant: Grant = registeredGrant;
      const { accounts, join, clock, token } = await open({ grantFor: async () => grant });
      expect(level((await join(email)).cookies)).toEqual(['visitor=registered', 'registered 900']);
      grant = paying(clock.now + 3_600_000);
      await accounts.sendLink(send());
      expect(level(got(await accounts.useLink(token(email), caller())).cookies)).toEqual([
        'visitor=member',
        'subscriber 900',
      ]);
      const { session } = await join('eve@example.com');
      grant = paying(clock.now + 90_000);
      expect(level(await accounts.accessCookies(session))).toEqual(['visitor=member', 'subscriber 90']);
    });

    it('again when the reader’s level has changed elsewhere', async () => {
      let grant: Grant = registeredGrant;
      const { accounts, join, clock } = await open({ grantFor: async () => grant });
      const phone = browser((await join(email)).cookies);
      grant = paying(clock.now + 120_000);
      const { cookies } = await accounts.session(phone);
      expect(level(cookies)).toEqual(['visitor=member', 'subscriber 120']);
      const paid = browser(phone.split('; '), cookies);
      // The cookie ends soon, but so does the paid time: there is nothing to renew.
      clock.pass(60);
      expect((await accounts.session(paid)).cookies).toEqual([]);
      grant = registeredGrant;
      expect(level((await accounts.session(paid)).cookies)).toEqual(['visitor=registered', 'registered 900']);
    });

    it('for no account that has been deleted', async () => {
      const { accounts, join } = await open();
      const { session } = await join(email);
      await accounts.forget(session, caller());
      expect(await accounts.accessCookies(session)).toEqual([]);
    });

    it('based on the time of registration', async () => {
      const { since, accounts, join, clock } = await openWithTrial();
      const registeredAt = clock.now;
      const jar = browser((await join(email)).cookies);
      clock.pass(3600);
      await accounts.session(jar);
      expect(since).toEqual([registeredAt, registeredAt]);
    });

    it('without a time of registration while the address is unconfirmed', async () => {
      const { since, accounts } = await openWithTrial();
      const { signedIn } = got(await accounts.create(email, caller(), { enter: true }));
      await accounts.session(browser(signedIn?.cookies ?? []));
      expect(since).toEqual([null, null]);
    });

    /** @returns with the starts of trials that the accounts told */
    async function openWithTrial() {
      const since: (number | null)[] = [];
      const grantFor = async (_: string, trialStartedAt: number | null) => {
        since.push(trialStartedAt);
        return registeredGrant;
      };
      return { since, ...(await open({ grantFor })) };
    }
  });

  it('are limited to fifty per account, and the oldest ends first', async () => {
    const { accounts, join, token, clock } = await open();
    const other = browser((await join('eve@example.com')).cookies);
    const jars = [browser((await join(email)).cookies)];
    for (let i = 0; i < 50; i++) {
      clock.pass(180);
      got(await accounts.sendLink(send()));
      jars.push(browser(got(await accounts.useLink(token(email), caller())).cookies));
    }
    const areOpen = await Promise.all(jars.map(async (jar) => (await accounts.session(jar)).session !== null));
    expect(areOpen).toEqual([false, ...Array.from({ length: 50 }, () => true)]);
    expect((await accounts.session(other)).session).not.toBeNull();
  });

  it('can be ended everywhere, on other devices or on this device', async () => {
    const { accounts, join, token } = await open();
    const jars = [browser((await join(email)).cookies)];
    for (let i = 0; i < 2; i++) {
      await accounts.sendLink(send());
      jars.push(browser(got(await accounts.useLink(token(email), caller())).cookies));
    }
    const other = await join('eve@example.com');
    const who = async (jar: string) => (await accounts.session(jar)).session;
    const here = await who(jars[0] ?? '');
    if (!here) throw new Error('signed out');
    const list = await accounts.sessions(here);
    expect(list).toHaveLength(3);
    expect(list.filter((one) => one.current)).toMatchObject([{ id: here.id, device: 'Chrome on Linux' }]);

    expect(await accounts.logout(here, 'OTHER_DEVICES')).toEqual([]);
    expect(await Promise.all(jars.map(async (jar) => (await who(jar)) !== null))).toEqual([true, false, false]);
    await accounts.sendLink(send());
    const second = browser(got(await accounts.useLink(token(email), caller())).cookies);
    expect(await accounts.logout(here, 'EVERYWHERE')).toEqual(accounts.signedOutCookies);
    expect([await who(jars[0] ?? ''), await who(second)]).toEqual([null, null]);
    expect(await who(browser(other.cookies))).not.toBeNull();
    await accounts.logout(other.session, 'THIS_DEVICE');
    expect(await who(browser(other.cookies))).toBeNull();
  });
});

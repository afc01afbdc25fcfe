/** The limits of the accounts on both engines: they can't be used to lock others out. */
import { describe, expect, it } from 'vitest';
import { browser, caller, elsewhere, type Fixture, fixture } from '../../../tests/world/accounts.ts';
import { onBothEngines } from '../../../tests/world/databases.ts';
import { limiterOf } from '../../../tests/world/limiter.ts';
import { defaultLimits, type LimitName, type LimitSet, type Limits } from '../http/limits.ts';
import { deleteOldRows } from '../jobs/old-rows.ts';
import type { PersonalData } from '../personal-data.ts';
import { oldRowsOf } from './personal-data.server.ts';
import type { Caller } from './service.ts';

const email = 'ada@example.com';
const send = (by = caller()) => ({ email, purpose: 'login', redirect: '/', caller: by }) as const;
const many = { most: 1_000_000, seconds: 600 };
const limits = (name: LimitName, set: Partial<LimitSet>): Limits => ({
  ...defaultLimits,
  [name]: { address: many, overall: many, ...set },
});

onBothEngines('limits', (engines) => {
  it('store IP and email addresses only as HMACs', async () => {
    const { accounts, database, join } = await fixture(await engines.open());
    await join(email, caller('203.0.113.77'));
    await accounts.exists(email, caller('203.0.113.77'));
    const kept = JSON.stringify(await database.db.selectFrom('limits').selectAll().execute());
    expect(kept).toContain('exists:address:');
    expect(kept).not.toMatch(/203\.0\.113|example\.com/);
  });

  it('say how many seconds to wait, and apply to each IP address separately', async () => {
    const { accounts } = await fixture(await engines.open(), {
      limits: limits('exists', { address: { most: 2, seconds: 60 } }),
    });
    await accounts.exists(email, caller());
    await accounts.exists(email, caller());
    expect(await accounts.exists(email, caller())).toEqual({ ok: false, failure: { kind: 'limited', retryAfter: 60 } });
    expect(await accounts.exists(email, elsewhere(1))).toMatchObject({ ok: true });
  });

  it('let the owner sign in by link while an attacker requests links from 30 IP addresses', async () => {
    const { accounts, mail, join, token, clock } = await fixture(await engines.open());
    await join(email);
    clock.pass(600);
    mail.length = 0;
    for (let i = 0; i < 30; i++) await accounts.sendLink(send(elsewhere(i)));
    // The mailbox is not flooded.
    expect(mail).toHaveLength(5);
    expect(await accounts.sendLink(send())).toEqual({ ok: true, value: null });
    expect(mail).toHaveLength(5);
    expect(await accounts.useLink(token(email), caller())).toMatchObject({ ok: true });
    // Only the owner can use the links that the attacker caused.
    const left = mail.flatMap((message) =>
      message.kind === 'link' ? [new URL(message.url).searchParams.get('token') ?? ''] : [],
    );
    for (const one of left.slice(0, 4)) expect(await accounts.useLink(one, caller())).toMatchObject({ ok: true });
    expect(await accounts.sendLink(send())).toMatchObject({ ok: false, failure: { kind: 'limited' } });
  });

  it('leave the owner a working link in every minute of a 45-minute attack', async () => {
    const { accounts, clock, join, mail } = await fixture(await engines.open());
    await join(email);
    for (let minute = 0; minute < 45; minute++) {
      for (let i = 0; i < 3; i++) await accounts.sendLink(send(elsewhere(minute * 3 + i)));
      expect(await accounts.sendLink(send())).toEqual({ ok: true, value: null });
      const newest = mail.findLast((message) => message.kind === 'link');
      const token = newest?.kind === 'link' ? new URL(newest.url).searchParams.get('token') : null;
      expect(await accounts.peekLink(token ?? ''), `minute ${minute}`).toMatchObject({ ok: true });
      clock.pass(60);
    }
  });

  it('keep a mailbox from being flooded all day, and leave its owner a working link', async () => {
    const daily = (most: number) => ({ email: { most, seconds: 86_400 } });
    const { accounts, clock, join, mail } = await fixture(await engines.open(), {
      limits: { ...defaultLimits, codeDaily: daily(2), linkDaily: daily(6), registerLinkDaily: daily(3) },
    });
    const newcomer = 'grace@example.com';
    await join(email);
    mail.length = 0;
    const windows = 12;
    for (let window = 0; window < windows; window++) {
      for (let i = 0; i < 6; i++) await accounts.sendLink(send(elsewhere(i)));
      await accounts.sendCode(send(elsewhere(1)));
      await accounts.sendLink({ ...send(elsewhere(2)), email: newcomer, purpose: 'register' });
      // Between two attacks, when a link may just have expired.
      clock.pass(300);
      expect(await accounts.sendLink(send()), `window ${window}`).toEqual({ ok: true, value: null });
      const newest = mail.findLast((message) => message.kind === 'link' && message.to === email);
      const token = newest?.kind === 'link' ? new URL(newest.url).searchParams.get('token') : null;
      expect(await accounts.peekLink(token ?? ''), `window ${window}`).toMatchObject({ ok: true });
      clock.pass(301);
    }
    const mailed = (kind: string, to: string) => mail.filter((one) => one.kind === kind && one.to === to).length;
    expect(mailed('code', email)).toBe(2);
    expect(mailed('link', email)).toBeLessThanOrEqual(6 + windows);
    expect(mailed('link', newcomer)).toBeLessThanOrEqual(3 + windows);
    expect(await accounts.sendLink({ ...send(), email: newcomer, purpose: 'register' })).toEqual({
      ok: true,
      value: null,
    });
    const links = mailed('link', newcomer);
    // The account of a reader who is about to pay is made, without a mail.
    expect(await accounts.create(newcomer, caller(), { enter: true })).toMatchObject({ ok: true });
    expect(mailed('link', newcomer)).toBe(links);
    clock.pass(86_400);
    expect(await accounts.sendCode(send())).toMatchObject({ ok: true });
    expect(mailed('code', email)).toBe(3);
  });

  it('are not used up by requests that send no mail', async () => {
    const { accounts, clock, join, mail } = await fixture(await engines.open());
    await join(email);
    clock.pass(600);
    mail.length = 0;
    for (let i = 0; i < 20; i++) {
      const asked = await accounts.sendLink({ ...send(elsewhere(i)), purpose: 'register' });
      expect(asked).toEqual({ ok: false, failure: { kind: 'exists' } });
    }
    expect(await accounts.sendLink(send())).toEqual({ ok: true, value: null });
    expect(mail).toHaveLength(1);

    const newcomer = 'grace@example.com';
    for (let i = 0; i < 20; i++)
      expect(await accounts.sendLink({ ...send(elsewhere(i)), email: newcomer })).toMatchObject({ ok: false });
    expect(await accounts.sendLink({ ...send(), email: newcomer, purpose: 'register' })).toMatchObject({ ok: true });
    expect(mail).toHaveLength(2);
  });

  it('on the mail of all readers together count no requests for unknown accounts', async () => {
    const { accounts, join } = await fixture(await engines.open(), {
      limits: limits('link', { overall: { most: 3, seconds: 600 } }),
    });
    await join(email);
    for (let i = 0; i < 20; i++) await accounts.sendLink({ ...send(elsewhere(i)), email: `unknown-${i}@example.com` });
    expect(await accounts.sendLink(send())).toEqual({ ok: true, value: null });
  });

  it('on the wrong codes of all accounts together leave links to sign in with', async () => {
    const { accounts, join, code, token } = await fixture(await engines.open(), {
      limits: limits('comparedGuess', { overall: { most: 3, seconds: 600 } }),
    });
    await join(email);
    const login = (of: string, digits: string, i: number) =>
      accounts.login({ email: of, code: digits, caller: elsewhere(i) });
    await accounts.sendCode(send());
    // Codes for addresses that were sent none don't count.
    for (let i = 0; i < 10; i++) await login(`reader-${i}@example.com`, '000000', i);
    const right = code(email);
    const wrong = right === '000000' ? '000001' : '000000';
    for (let i = 0; i < 3; i++)
      expect(await login(email, wrong, i)).toMatchObject({ failure: { kind: 'invalid-code' } });
    expect(await login(email, right, 4)).toMatchObject({ failure: { kind: 'limited' } });
    await accounts.sendLink(send());
    expect(await accounts.useLink(token(email), caller())).toMatchObject({ ok: true });
  });

  describe('on compared codes', () => {
    const guess = async ({ accounts, code }: Fixture, of: string, by: Caller) => {
      const wrong = code(of) === '000000' ? '000001' : '000000';
      return accounts.login({ email: of, code: wrong, caller: by });
    };
    const counted = async ({ database }: Fixture) => {
      const rows = database.db.selectFrom('limits').select('count').where('key', '=', 'comparedGuess:overall');
      return (await rows.executeTakeFirst())?.count;
    };

    it('count no guess for a code that was tried too often', async () => {
      const world = await fixture(await engines.open(), {
        limits: limits('comparedGuess', { overall: { most: 6, seconds: 600 } }),
      });
      const { accounts, join, code } = world;
      const other = 'grace@example.com';
      for (const one of [email, other]) {
        await join(one);
        await accounts.sendCode({ ...send(), email: one });
      }
      for (let i = 0; i < 20; i++) await guess(world, email, elsewhere(i));
      expect(await counted(world)).toBe(5);
      const signedIn = await accounts.login({ email: other, code: code(other), caller: caller() });
      expect(signedIn).toMatchObject({ ok: true });
    });

    it('stop one IP address after ten wrong codes, whatever accounts they are for', async () => {
      const world = await fixture(await engines.open());
      const outcomes = [];
      for (let i = 0; i < 12; i++) {
        const one = `reader-${i}@example.com`;
        await world.join(one, elsewhere(i));
        await world.accounts.sendCode({ ...send(elsewhere(i)), email: one });
        outcomes.push(await guess(world, one, caller()));
      }
      const kinds = outcomes.map((outcome) => (outcome.ok ? 'ok' : outcome.failure.kind));
      expect(kinds).toEqual([...Array(10).fill('invalid-code'), 'limited', 'limited']);
      expect(await counted(world)).toBe(10);
    });
  });

  it('stop 10,000 guesses from as many IP addresses, and the owner can still sign in by link', async () => {
    const { accounts, code, join, token, clock, database } = await fixture(await engines.open());
    await join(email);
    let guesses = 0;
    let right = 0;
    // A new code whenever the last one is used up, as an attacker would request.
    for (let round = 0; round < 50; round++) {
      await accounts.sendCode(send(elsewhere(round)));
      const mine = code(email);
      const outcomes = await Promise.all(
        Array.from({ length: 200 }, () => {
          // The one right code of a million is left out, because a lucky guess proves nothing.
          const guess = String((Number(mine) + 1 + (guesses % 999_999)) % 1_000_000).padStart(6, '0');
          return accounts.login({ email, code: guess, caller: elsewhere(100 + guesses++) });
        }),
      );
      right += outcomes.filter((outcome) => outcome.ok).length;
      clock.pass(13);
    }
    expect({ guesses, right }).toEqual({ guesses: 10_000, right: 0 });
    // How many guesses were compared with a code at all.
    const made = await database.db.selectFrom('audit').select('id').where('event', '=', 'sign-in failed').execute();
    expect(made.length).toBeLessThanOrEqual(defaultLimits.guess.email?.most ?? 0);
    const over = await accounts.login({ email, code: code(email), caller: elsewhere(1) });
    expect(over).toMatchObject({ ok: false });
    expect(await accounts.sendLink(send())).toEqual({ ok: true, value: null });
    expect(await accounts.useLink(token(email), caller())).toMatchObject({ ok: true });
  });
});

onBothEngines('expired data', (engines) => {
  it('is deleted in turn: proofs and limits, then sessions and unconfirmed accounts, then the audit trail', async () => {
    const { accounts, database, clock, join } = await fixture(await engines.open());
    const ada = await join(email);
    await accounts.create('never@example.com', caller());
    const keeping = { auditDays: 90, unconfirmedDays: 30 };
    const left: unknown[] = [];
    const personalData: Pick<PersonalData, 'erase'> = {
      async erase(user, by) {
        left.push([user.email, by]);
        await accounts.personalData.erase(user, by);
      },
    };
    const rows = async () =>
      Object.fromEntries(
        await Promise.all(
          (['users', 'sessions', 'proofs', 'limits', 'audit'] as const).map(async (table) => [
            table,
            (await database.db.selectFrom(table).selectAll().execute()).length,
          ]),
        ),
      );
    const now = (): number => clock.now;
    const limiter = limiterOf(database, defaultLimits, now);
    const oldRows = [...limiter.oldRows, ...oldRowsOf({ database, personalData, now }, keeping)];
    expect(await deleteOldRows(oldRows)).toBe(0);
    expect(await rows()).toMatchObject({ users: 2, sessions: 1, proofs: 2 });
    clock.pass(86_400 + 601);
    await deleteOldRows(oldRows);
    expect(await rows()).toMatchObject({ users: 2, sessions: 1, proofs: 0, limits: 0 });
    expect((await accounts.session(browser(ada.cookies))).session).not.toBeNull();
    expect(left).toEqual([]);
    clock.pass(30 * 86_400 + 60);
    await deleteOldRows(oldRows);
    expect(await rows()).toMatchObject({ users: 1, sessions: 0 });
    expect(left).toEqual([['never@example.com', null]]);
    clock.pass(61 * 86_400);
    await deleteOldRows(oldRows);
    expect(await rows()).toMatchObject({ users: 1, audit: 0 });
  });
});

/** The rate limiter on both engines: exact under concurrency, across processes, and without its database. */
import { describe, expect, it, vi } from 'vitest';
import { secret } from '../../../tests/world/accounts.ts';
import { onBothEngines } from '../../../tests/world/databases.ts';
import { createHmacs } from '../crypto.server.ts';
import { type Database, DatabaseUnavailable } from '../database.ts';
import { createLimiter, type Limiter } from './limiter.server.ts';
import { defaultLimits, type LimitName, type LimitSet, type Limits } from './limits.ts';
import { blockOf, networkOf } from './network.ts';

const email = 'ada@example.com';
const many = { most: 1_000_000, seconds: 600 };
const limits = (name: LimitName, set: Partial<LimitSet>): Limits => ({
  ...defaultLimits,
  [name]: { address: many, overall: many, ...set },
});
/** Longer than a machine that is busy with other tests may take: memory must not count instead. */
const patient = [undefined, 60_000] as const;
const passed = async (limiter: Limiter, name: LimitName, times: number, address = '203.0.113.1'): Promise<number> => {
  const outcomes = await Promise.all(Array.from({ length: times }, () => limiter.count(name, { address })));
  return outcomes.filter((outcome) => outcome === null).length;
};

onBothEngines('limits', (engines) => {
  it.each(['address', 'email', 'overall'] as const)(
    'let exactly 7 of 60 concurrent tries through when the limit is 7: %s',
    async (scope) => {
      const database = await engines.open();
      const limiter = createLimiter(
        database,
        createHmacs(secret),
        limits('guess', { [scope]: { most: 7, seconds: 60 } }),
        () => 5_000_000,
      );
      const outcomes = await Promise.all(
        Array.from({ length: 60 }, (_, i) =>
          limiter.count('guess', {
            address: scope === 'address' ? '203.0.113.1' : `198.18.0.${i}`,
            account: scope === 'overall' ? `${i}@example.com` : email,
          }),
        ),
      );
      expect(outcomes.filter((outcome) => outcome === null)).toHaveLength(7);
      expect(outcomes.filter((outcome) => outcome !== null)[0]).toEqual({ scope, retryAfter: 60 });
    },
  );

  it('count within their window, and give back a try that is released', async () => {
    const database = await engines.open();
    let now = 5_000_000;
    const set = limits('guess', { address: { most: 1, seconds: 60 } });
    const limiter = createLimiter(database, createHmacs(secret), set, () => now);
    const subject = { address: '203.0.113.1', account: email };
    expect(await limiter.count('guess', subject)).toBeNull();
    now += 30_500;
    expect(await limiter.count('guess', subject)).toEqual({ scope: 'address', retryAfter: 30 });
    now += 29_500;
    expect(await limiter.count('guess', subject)).toBeNull();
    await limiter.release('guess', subject);
    expect(await limiter.count('guess', subject)).toBeNull();
    expect(await limiter.count('guess', subject)).toMatchObject({ scope: 'address' });
  });

  it('refuse no one for longer when a fast clock is set back', async () => {
    const database = await engines.open();
    const right = 5_000_000;
    let now = right + 30 * 24 * 3_600_000;
    const set = limits('guess', { overall: { most: 2, seconds: 60 } });
    const limiter = createLimiter(database, createHmacs(secret), set, () => now);
    expect(await passed(limiter, 'guess', 5)).toBe(2);
    now = right;
    expect(await passed(limiter, 'guess', 5)).toBe(2);
    now += 60_000;
    expect(await passed(limiter, 'guess', 5)).toBe(2);
  });

  it('are shared by processes whose clocks differ by 15 minutes', async () => {
    const database = await engines.open();
    const set = limits('guess', { overall: { most: 7, seconds: 60 } });
    const processes = [0, 900_000].map((ahead) =>
      createLimiter(database, createHmacs(secret), set, () => 5_000_000 + ahead),
    );
    const counts = [];
    for (const limiter of processes.toReversed()) counts.push(await passed(limiter, 'guess', 5));
    expect(counts).toEqual([5, 2]);
  });

  it('per address: refused tries do not use up the limits of the account or of the whole site', async () => {
    const database = await engines.open();
    const limiter = createLimiter(
      database,
      createHmacs(secret),
      limits('guess', {
        address: { most: 2, seconds: 60 },
        email: { most: 5, seconds: 60 },
        overall: { most: 5, seconds: 60 },
      }),
      () => 5_000_000,
    );
    for (let i = 0; i < 20; i++) await limiter.count('guess', { address: '203.0.113.1', account: email });
    for (let i = 0; i < 3; i++)
      expect(await limiter.count('guess', { address: `198.18.0.${i}`, account: email })).toBeNull();
    expect(await limiter.count('guess', { address: '198.18.0.9', account: email })).toMatchObject({ scope: 'email' });
  });

  it('for the whole site are not used up by 200 IPv6 networks of one connection', async () => {
    const database = await engines.open();
    const set = limits('link', { address: { most: 3, seconds: 600 }, overall: { most: 100, seconds: 600 } });
    const limiter = createLimiter(database, createHmacs(secret), set, () => 5_000_000);
    // A tunnel provider or a hosting company gives a /48 to any customer.
    for (let net = 0; net < 200; net++)
      await limiter.count('link', { address: `2001:db8:7:${net.toString(16)}::1`, account: `${net}@example.com` });
    expect(await limiter.count('link', { address: '203.0.113.1', account: email })).toBeNull();
    expect(await limiter.count('link', { address: '2001:db8:8::1', account: email })).toBeNull();
    expect(await limiter.count('link', { address: '2001:db8:7:ffff::1', account: email })).toMatchObject({
      scope: 'address',
    });
  });

  it('let ten tries through in total when two processes count at once', async () => {
    const place = await engines.place();
    const set = limits('operator', { address: { most: 10, seconds: 60 } });
    const processes = await Promise.all(
      [1, 2].map(async () => {
        const database = await engines.open(place);
        return createLimiter(database, createHmacs(secret), set, () => 5_000_000, ...patient);
      }),
    );
    const counts = await Promise.all(processes.map((limiter) => passed(limiter, 'operator', 12)));
    expect(counts.reduce((sum, one) => sum + one, 0)).toBe(10);
  });

  it('for fairness, such as on searches, are shared by processes on PostgreSQL and kept in memory on SQLite', async () => {
    const place = await engines.place();
    const databases = [await engines.open(place), await engines.open(place)];
    const processes = databases.map((one) =>
      createLimiter(one, createHmacs(secret), defaultLimits, Date.now, ...patient),
    );
    const counts = [];
    for (const limiter of processes) counts.push(await passed(limiter, 'search', 120));
    expect(counts).toEqual(engines.engine === 'postgres' ? [120, 0] : [120, 120]);
    const rows = await databases[0]?.db.selectFrom('limits').select('key').execute();
    expect(rows).toHaveLength(engines.engine === 'postgres' ? 1 : 0);
  });

  it('give back released tries, so that many readers at one address are not refused', async () => {
    const database = await engines.open();
    const set = limits('card', { address: { most: 5, seconds: 3600 }, email: { most: 2, seconds: 3600 } });
    const limiter = createLimiter(database, createHmacs(secret), set, () => 5_000_000);
    const at = (name: string) => ({ address: '203.0.113.1', account: `${name}@example.com` });
    // All at once, more than the address may have open. No card is refused.
    const readers = Array.from({ length: 8 }, (_, one) => at(`reader${one}`));
    const first = await Promise.all(readers.map((one) => limiter.count('card', one)));
    expect(first.filter((one) => one === null)).toHaveLength(5);
    for (const [index, one] of readers.entries()) if (first[index] === null) await limiter.release('card', one);
    // One account that keeps trying uses up only its own limit.
    for (let tries = 0; tries < 20; tries++) await limiter.count('card', at('thief'));
    expect(await limiter.count('card', at('thief'))).toMatchObject({ scope: 'email' });
    for (const one of readers.slice(0, 3)) expect(await limiter.count('card', one)).toBeNull();
    expect(await limiter.count('card', at('late'))).toMatchObject({ scope: 'address' });
  });

  it('are counted in memory while the database is unavailable', async () => {
    const opened = await engines.open();
    let away = true;
    const warn = vi.fn();
    const database: Database = {
      ...opened,
      transaction: (work) => (away ? Promise.reject(new DatabaseUnavailable('away')) : opened.transaction(work)),
    };
    const set = limits('guess', { address: { most: 3, seconds: 60 } });
    const limiter = createLimiter(database, createHmacs(secret), set, Date.now, { warn });
    expect(await passed(limiter, 'guess', 6)).toBe(3);
    await limiter.release('guess', { address: '203.0.113.1' });
    expect(await passed(limiter, 'guess', 6)).toBe(1);
    // The database isn't queried again for each of them.
    expect(warn).toHaveBeenCalledOnce();
    away = false;
    const back = createLimiter(database, createHmacs(secret), set, Date.now, { warn });
    expect(await passed(back, 'guess', 6)).toBe(3);
    expect(warn).toHaveBeenCalledOnce();
  });

  if (engines.engine === 'postgres')
    it('for fairness wait for a locked row in PostgreSQL no longer than their own time limit', async () => {
      const database = await engines.open();
      const subject = { address: '203.0.113.1' };
      await createLimiter(database, createHmacs(secret), defaultLimits, Date.now, ...patient).count('search', subject);
      const warn = vi.fn();
      const limiter = createLimiter(database, createHmacs(secret), defaultLimits, Date.now, { warn }, 50);
      await database.transaction(async (tx) => {
        // Locks the row while the limiter waits for it.
        await tx.updateTable('limits').set({ count: 1000 }).execute();
        expect(await limiter.count('search', subject)).toBeNull();
      });
      // Not PostgreSQL's time limit, which is longer.
      const err = expect.objectContaining({ message: 'PostgreSQL took too long to count.' });
      expect(warn).toHaveBeenCalledExactlyOnceWith({ err }, expect.any(String));
    });

  it('are not used up by a count that the database finishes after its time limit', async () => {
    const database = await engines.open();
    const limiter = createLimiter(database, createHmacs(secret), defaultLimits, Date.now, undefined, 50);
    const subject = { address: '203.0.113.1' };
    await createLimiter(database, createHmacs(secret), defaultLimits, Date.now, undefined, 60_000).count(
      'operator',
      subject,
    );
    const held = Promise.withResolvers<void>();
    const gate = Promise.withResolvers<void>();
    const holding = database.transaction(async (tx) => {
      await tx.updateTable('limits').set({ count: 1 }).execute();
      held.resolve();
      await gate.promise;
    });
    await held.promise;
    expect(await limiter.count('operator', subject)).toBeNull();
    await limiter.release('operator', subject);
    gate.resolve();
    await holding;
    // This query runs after the late count, whose transaction started earlier.
    const counts = () => database.transaction((tx) => tx.selectFrom('limits').select('count').forUpdate().execute());
    const plain = () => database.transaction((tx) => tx.selectFrom('limits').select('count').execute());
    expect(await (engines.engine === 'postgres' ? counts : plain)()).toEqual([{ count: 1 }]);
  });
});

it('rate limits in memory hold at most 20,000 windows, and count within their window', async () => {
  let now = 5_000_000;
  const set = limits('vitals', { store: 'process', address: { most: 1, seconds: 60 } });
  const limiter = createLimiter({} as Database, createHmacs(secret), set, () => now);
  const at = (one: number) => limiter.count('vitals', { address: `10.0.${one >> 8}.${one & 255}` });
  const all = 20_001;
  for (let one = 0; one < all; one++) await at(one);
  expect(await at(all - 1)).toEqual({ scope: 'address', retryAfter: 60 });
  // The least recently used is gone.
  expect(await at(0)).toBeNull();
  now += 59_500;
  expect(await at(all - 1)).toEqual({ scope: 'address', retryAfter: 1 });
  now += 500;
  expect(await at(all - 1)).toBeNull();
});

describe('rate limits count by network', () => {
  it.each([
    ['203.0.113.1', '203.0.113.1'],
    ['::ffff:203.0.113.1', '203.0.113.1'],
    ['::FFFF:cb00:7101', '203.0.113.1'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:DB8:1:2::1', '2001:db8:1:2::/64'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['', 'unknown'],
    ['no address', 'unknown'],
  ])('the network of %j is %j', (address, network) => {
    expect(networkOf(address)).toBe(network);
  });

  it.each([
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1::/48'],
    ['2001:db8::1', '2001:db8:0::/48'],
    ['203.0.113.1', null],
    ['::ffff:203.0.113.1', null],
    ['', null],
  ])('the IPv6 block of %j is %j', (address, block) => {
    expect(blockOf(address)).toBe(block);
  });
});

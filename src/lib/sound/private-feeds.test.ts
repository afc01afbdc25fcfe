/**
 * Private feeds on both engines: created, replaced, ended, accessible only to their owner, and only while the owner subscribes.
 */
import { expect, it } from 'vitest';
import { fixture } from '../../../tests/world/accounts.ts';
import { onBothEngines } from '../../../tests/world/databases.ts';
import { createPrivateFeeds } from './private-feeds.server.ts';

const secret = 'a secret of the tests that is long enough';
const days = (count: number): number => count * 24 * 60 * 60;

onBothEngines('private feeds', (engines) => {
  async function opened() {
    const database = await engines.open();
    const own = await fixture(database);
    const paying = new Set<string>();
    const feeds = createPrivateFeeds({
      database,
      secret,
      isSubscriber: async (userId) => paying.has(userId),
      now: () => own.clock.now,
    });
    const ada = (await own.join('ada@example.com')).session.userId;
    const bob = (await own.join('bob@example.com')).session.userId;
    paying.add(ada).add(bob);
    return { ...own, database, feeds, paying, ada, bob };
  }

  it('open for one series with a token that is not stored', async () => {
    const { database, feeds, ada } = await opened();
    const token = await feeds.create(ada, 9);
    expect(await feeds.open(token, 9)).toMatchObject({ paid: true });
    expect(await feeds.open(token, 8)).toBeNull();
    const rows = await database.db.selectFrom('podcast_feeds').selectAll().execute();
    expect(rows).toHaveLength(1);
    expect(JSON.stringify(rows)).not.toContain(token);
  });

  it.each(['', 'x', 'A'.repeat(43), `${'A'.repeat(42)}!`, 'A'.repeat(5000)])(
    'do not open with a wrong token: %s',
    async (guess) => {
      const { feeds, ada } = await opened();
      await feeds.create(ada, 9);
      expect(await feeds.open(guess, 9)).toBeNull();
    },
  );

  it('stop working, and so do their files’ URLs, when they are replaced or revoked', async () => {
    const { feeds, ada, bob } = await opened();
    const bobs = await feeds.create(bob, 9);
    const otherSeries = await feeds.create(ada, 8);
    const first = await feeds.create(ada, 9);
    const id = (await feeds.open(first, 9))?.id ?? '';
    const signed = new URLSearchParams(feeds.sign(id, 7));
    expect(await feeds.grantsAccess(signed, 7)).toBe(true);
    const second = await feeds.create(ada, 9);
    expect([await feeds.open(first, 9), await feeds.grantsAccess(signed, 7)]).toEqual([null, false]);
    expect(await feeds.open(second, 9)).not.toBeNull();
    await feeds.revoke(ada, 9);
    expect([await feeds.open(second, 9), await feeds.createdAt(ada, 9)]).toEqual([null, null]);
    // Another person's feed and the feed of another series are separate rows.
    expect(await feeds.open(bobs, 9)).not.toBeNull();
    expect(await feeds.open(otherSeries, 8)).not.toBeNull();
  });

  it('leave one valid token when four are created at once', async () => {
    const { database, feeds, ada } = await opened();
    const tokens = await Promise.all([1, 2, 3, 4].map(() => feeds.create(ada, 9)));
    const open = await Promise.all(tokens.map((token) => feeds.open(token, 9)));
    expect(open.filter((feed) => feed !== null)).toHaveLength(1);
    expect(await database.db.selectFrom('podcast_feeds').selectAll().execute()).toHaveLength(1);
  });

  it('check at each request whether their owner subscribes', async () => {
    const { feeds, paying, ada } = await opened();
    const token = await feeds.create(ada, 9);
    const id = (await feeds.open(token, 9))?.id ?? '';
    const signed = new URLSearchParams(feeds.sign(id, 7));
    paying.delete(ada);
    expect([(await feeds.open(token, 9))?.paid, await feeds.grantsAccess(signed, 7)]).toEqual([false, false]);
    paying.add(ada);
    expect([(await feeds.open(token, 9))?.paid, await feeds.grantsAccess(signed, 7)]).toEqual([true, true]);
  });

  it('sign URLs of one episode’s files, which expire after two weeks and cannot be altered', async () => {
    const { feeds, ada, bob, clock } = await opened();
    const idOf = async (userId: string) => (await feeds.open(await feeds.create(userId, 9), 9))?.id ?? '';
    const [adas, bobs] = [await idOf(ada), await idOf(bob)];
    const query = feeds.sign(adas, 7);
    // Twice on one day gives the same address.
    expect(feeds.sign(adas, 7)).toBe(query);
    const opens = (change: Record<string, string>, articleId = 7) =>
      feeds.grantsAccess(
        new URLSearchParams({ ...Object.fromEntries(new URLSearchParams(query)), ...change }),
        articleId,
      );
    expect(await opens({})).toBe(true);
    expect(await opens({}, 8)).toBe(false);
    const changes = [
      ['feed', bobs],
      ['feed', 'x'],
      ['until', '99999999999'],
      ['until', 'x'],
      ['key', ''],
      ['key', 'x'.repeat(43)],
    ] as const;
    for (const [name, value] of changes) expect(await opens({ [name]: value }), `${name} ${value}`).toBe(false);
    clock.pass(days(13));
    expect(await opens({})).toBe(true);
    clock.pass(days(2));
    expect(await opens({})).toBe(false);
  });
});

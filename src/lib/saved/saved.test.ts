/** Saved stories on both engines: saving, the reading history, and deleting both with the account. */
import type { KyselyPlugin } from 'kysely';
import { expect, it } from 'vitest';
import { caller, fixture } from '../../../tests/world/accounts.ts';
import { onBothEngines } from '../../../tests/world/databases.ts';
import type { CorrectionMark } from '../content/model.ts';
import { deleteOldRows } from '../jobs/old-rows.ts';
import { createSavedStories } from './saved.server.ts';

const day = 86_400;

onBothEngines('saved stories and the reading history', (engines) => {
  async function open() {
    const database = await engines.open();
    const own = await fixture(database);
    const rules = { saved: 3, historyDays: 90, history: 4 };
    const savedStories = createSavedStories({ database, rules, now: () => own.clock.now });
    const ada = (await own.join('ada@example.com')).session;
    const bob = (await own.join('bob@example.com')).session;
    const ids = async (userId: string) => (await savedStories.saved(userId)).map(({ articleId }) => articleId);
    const read = async (userId: string) => (await savedStories.history(userId)).items.map(({ articleId }) => articleId);
    return { ...own, savedStories, ada, bob, ids, read };
  }

  it('list saved stories newest first, and only to their reader', async () => {
    const { savedStories, clock, ada, bob, ids } = await open();
    for (const id of [7, 9]) {
      expect(await savedStories.save(ada.userId, id)).toBe('saved');
      clock.pass(1);
    }
    expect(await savedStories.save(ada.userId, 7)).toBe('saved');
    expect(await ids(ada.userId)).toEqual([9, 7]);
    expect(await ids(bob.userId)).toEqual([]);
    expect(await savedStories.isSaved(bob.userId, 7)).toBe(false);
    // A reader can't remove another reader's saved story by its number.
    await savedStories.unsave(bob.userId, 7);
    expect(await savedStories.isSaved(ada.userId, 7)).toBe(true);
    await savedStories.unsave(ada.userId, 7);
    expect(await ids(ada.userId)).toEqual([9]);
  });

  it('hold no more saved stories than the limit, even for concurrent requests', async () => {
    const { savedStories, ada, ids } = await open();
    const said = await Promise.all([1, 2, 3, 4, 5, 5].map((id) => savedStories.save(ada.userId, id)));
    expect(said.filter((each) => each === 'saved').length).toBeGreaterThanOrEqual(3);
    expect(await ids(ada.userId)).toHaveLength(3);
    expect(await savedStories.save(ada.userId, 99)).toBe('full');
    await savedStories.unsave(ada.userId, (await ids(ada.userId))[0] as number);
    expect(await savedStories.save(ada.userId, 99)).toBe('saved');
  });

  it('list each read story once, last read first, and only the latest four', async () => {
    const { savedStories, clock, ada, bob, read } = await open();
    for (const id of [1, 2, 3, 1, 4, 5]) {
      expect(await savedStories.read(ada.userId, id)).toBe(true);
      clock.pass(60);
    }
    expect(await read(ada.userId)).toEqual([5, 4, 1, 3]);
    await savedStories.forgetRead(bob.userId, 5);
    await savedStories.forgetRead(ada.userId, 4);
    expect(await read(ada.userId)).toEqual([5, 1, 3]);
    await savedStories.clearHistory(ada.userId);
    expect(await savedStories.history(ada.userId)).toEqual({ on: true, items: [] });
  });

  it('report a story as saved if it already is, even when the list is full', async () => {
    const { savedStories, ada, ids } = await open();
    for (const id of [1, 2, 3]) await savedStories.save(ada.userId, id);
    expect(await savedStories.save(ada.userId, 2)).toBe('saved');
    expect(await ids(ada.userId)).toHaveLength(3);
  });

  it('of one reader are not changed by anything another reader does', async () => {
    const { savedStories, clock, ada, bob, read } = await open();
    const readAll = async (userId: string, from: number) => {
      for (let id = from; id < from + 5; id++) {
        await savedStories.read(userId, id);
        clock.pass(1);
      }
    };
    // Each reader has room for four, however many the other has read since.
    await readAll(bob.userId, 1);
    await readAll(ada.userId, 11);
    await savedStories.read(bob.userId, 5);
    expect(await read(bob.userId)).toEqual([5, 4, 3, 2]);
    await savedStories.clearHistory(ada.userId);
    expect([await read(ada.userId), await read(bob.userId)]).toEqual([[], [5, 4, 3, 2]]);
    await savedStories.keepHistory(ada.userId, false);
    expect(await read(bob.userId)).toHaveLength(4);
    await savedStories.keepHistory(bob.userId, true);
    expect(await savedStories.history(ada.userId)).toEqual({ on: false, items: [] });
  });

  it('hide readings after 90 days, and delete them', async () => {
    const { savedStories, clock, ada, read, database } = await open();
    await savedStories.read(ada.userId, 1);
    clock.pass(89 * day);
    await savedStories.read(ada.userId, 2);
    expect(await read(ada.userId)).toEqual([2, 1]);
    clock.pass(day);
    expect(await read(ada.userId)).toEqual([2]);
    expect(await deleteOldRows(savedStories.oldRows)).toBe(1);
    expect(await deleteOldRows(savedStories.oldRows)).toBe(0);
    expect(await database.db.selectFrom('reading_history').select('article_id').execute()).toHaveLength(1);
  });

  it('delete 1,800 old readings in fewer than five queries', async () => {
    const { clock, ada, bob, database } = await open();
    for (const { userId } of [ada, bob]) {
      const old = Array.from({ length: 900 }, (_, article) => ({ user_id: userId, article_id: article + 1, at: 1 }));
      await database.db.insertInto('reading_history').values(old).execute();
    }
    await database.db
      .insertInto('reading_history')
      .values({ user_id: ada.userId, article_id: 5000, at: clock.now })
      .execute();
    let asked = 0;
    const counting: KyselyPlugin = {
      transformQuery: ({ node }) => {
        asked++;
        return node;
      },
      transformResult: async ({ result }) => result,
    };
    const rules = { saved: 3, historyDays: 90, history: 4 };
    const watched = { ...database, db: database.db.withPlugin(counting) };
    const savedStories = createSavedStories({ database: watched, rules, now: () => clock.now });
    expect(await deleteOldRows(savedStories.oldRows)).toBe(1800);
    expect(asked).toBeLessThan(5);
    expect(await database.db.selectFrom('reading_history').select('article_id').execute()).toHaveLength(1);
  });

  it('record no readings for users who turned the history off', async () => {
    const { savedStories, ada, bob } = await open();
    await savedStories.read(ada.userId, 1);
    await savedStories.keepHistory(ada.userId, false);
    await savedStories.keepHistory(ada.userId, false);
    expect(await savedStories.read(ada.userId, 2)).toBe(false);
    expect(await savedStories.history(ada.userId)).toEqual({ on: false, items: [] });
    expect(await savedStories.read(bob.userId, 2)).toBe(true);
    await savedStories.keepHistory(ada.userId, true);
    expect(await savedStories.read(ada.userId, 3)).toBe(true);
  });

  it('report a correction made after the reading, until it is seen or the story is read again', async () => {
    const { savedStories, clock, ada, bob } = await open();
    const at = (seconds: number) => new Date(start + seconds * 1000).toISOString();
    const marks = (seconds: number) => [{ kind: 'correction' as const, date: at(seconds) }];
    const start = clock.now;
    for (const id of [7, 8, 9]) await savedStories.read(ada.userId, id);
    const corrected = new Map<number, readonly CorrectionMark[]>([
      [7, marks(60)],
      [8, marks(-60)],
      // A correction that is dated ahead hides none that is due.
      [9, [...marks(86_400), ...marks(120)]],
      [10, marks(180)],
    ]);
    const unseen = async () => (await savedStories.unseen(ada.userId, corrected)).map(({ articleId }) => articleId);
    clock.pass(200);
    expect(await unseen()).toEqual([9, 7]);
    expect(await savedStories.unseen(bob.userId, corrected)).toEqual([]);
    await savedStories.markCorrectionsSeen(ada.userId, Date.parse(at(60)));
    expect(await unseen()).toEqual([9]);
    // A late second tab doesn't undo this.
    await savedStories.markCorrectionsSeen(ada.userId, Date.parse(at(120)));
    await savedStories.markCorrectionsSeen(ada.userId, Date.parse(at(60)));
    expect(await unseen()).toEqual([]);
    corrected.set(9, marks(190)).set(7, marks(195));
    expect(await unseen()).toEqual([7, 9]);
    await savedStories.read(ada.userId, 9);
    expect(await unseen()).toEqual([7]);
    await savedStories.keepHistory(ada.userId, false);
    expect(await unseen()).toEqual([]);
  });

  it('report a correction or a clarification depending on the notes made after the reading', async () => {
    const { savedStories, clock, ada } = await open();
    const mark = (seconds: number, kind: CorrectionMark['kind']): CorrectionMark => ({
      kind,
      date: new Date(clock.now + seconds * 1000).toISOString(),
    });
    for (const id of [7, 8]) await savedStories.read(ada.userId, id);
    const corrected = new Map([
      [7, [mark(60, 'clarification'), mark(30, 'correction')]],
      [8, [mark(40, 'clarification'), mark(-30, 'correction')]],
    ]);
    const newest = clock.now + 60_000;
    clock.pass(100);
    expect(await savedStories.unseen(ada.userId, corrected)).toEqual([
      { articleId: 7, at: newest, kind: 'correction' },
      { articleId: 8, at: newest - 20_000, kind: 'clarification' },
    ]);
  });

  it('are exported in full, and deleted with the account', async () => {
    const { savedStories, accounts, database, clock, ada } = await open();
    await savedStories.save(ada.userId, 7);
    await savedStories.read(ada.userId, 8);
    const time = new Date(clock.now).toISOString();
    expect(await savedStories.personalData.export(ada)).toEqual({
      saved_articles: [{ article: 7, time }],
      reading_history: [{ article: 8, time }],
      reading_history_kept: true,
      corrections_told: null,
    });
    await savedStories.keepHistory(ada.userId, false);
    await accounts.forget(ada, caller());
    for (const table of ['saved_articles', 'reading_history', 'history_refusals', 'corrections_told'] as const)
      expect(await database.db.selectFrom(table).selectAll().execute(), table).toEqual([]);
  });
});

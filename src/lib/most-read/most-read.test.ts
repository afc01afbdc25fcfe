/** The most-read service on both engines: counting, lists, the pages' markup, restarts, several processes. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { fixtureStore } from '../../../tests/fixtures/content.ts';
import { secret } from '../../../tests/world/accounts.ts';
import { onBothEngines } from '../../../tests/world/databases.ts';
import { createReader } from '../../content/store/reader.server.ts';
import { withdrawDocument } from '../../content/store/write.server.ts';
import { publication } from '../../publication.ts';
import { createHmacs } from '../crypto.server.ts';
import { type Database, DatabaseUnavailable } from '../database.ts';
import { createLimiter } from '../http/limiter.server.ts';
import { defaultLimits } from '../http/limits.ts';
import { silent } from '../logging.ts';
import { createMostRead, type MostReadOptions } from './most-read.server.ts';

/** An hour after the newest story of the fixture. */
const start = Date.UTC(2026, 10, 21, 11);
const later = Date.UTC(2030, 0, 1);
const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});
let next = 0;
const nextAddress = () => `198.18.${(next >> 8) & 255}.${next++ & 255}`;

onBothEngines('mostRead', (engines) => {
  async function open(given: Partial<MostReadOptions> & { readonly at?: { now: number } } = {}) {
    const database = given.database ?? (await engines.open());
    const clock = given.at ?? { now: start };
    const store = fixtureStore();
    const file = given.file ?? join(mkdtempSync(join(tmpdir(), 'popular-')), 'most-read.json');
    folders.push(join(file, '..'));
    const changes: string[][] = [];
    const mostRead = createMostRead({
      database,
      file,
      rules: publication.mostRead,
      log: silent,
      now: () => clock.now,
      // A busy machine must not make the limiter count in memory as well.
      limiter: createLimiter(database as Database, createHmacs(secret), defaultLimits, Date.now, undefined, 60_000),
      reader: () => createReader(store),
      onChange: (tags) => changes.push([...tags].sort()),
      ...given,
    });
    const read = async (article: number, readers = 1) => {
      for (let reader = 0; reader < readers; reader++)
        expect(await mostRead.count(article, nextAddress())).toBe('counted');
      await mostRead.runRound();
    };
    const ids = (...query: Parameters<typeof mostRead.top>) => mostRead.top(...query).map(({ id }) => id);
    return { mostRead, clock, changes, read, ids, store, file, database };
  }

  describe('nodes of a cluster', () => {
    it('all show the lists of the leading node', async () => {
      const database = await engines.open();
      let stored: string | null = null;
      let leader = 'first';
      const written: string[][] = [];
      const shared = (node: string) => ({
        leads: () => leader === node,
        read: () => stored,
        async write(value: string, tags: readonly string[]) {
          stored = value;
          written.push([...tags]);
        },
      });
      const at = { now: start };
      const first = await open({ database, at, shared: shared('first') });
      const second = await open({ database, at, shared: shared('second') });
      const lists = () =>
        [first, second].map(({ mostRead, store }) =>
          mostRead.list({ limit: 2, reader: createReader(store) }).map(({ id }) => id),
        );
      await first.read(1010);
      await second.mostRead.runRound();
      await expect.poll(() => lists()).toEqual(Array(2).fill([1010, 1080]));
      // The other node has read the readings before the leading node renews the lists.
      at.now += 9 * 60_000;
      await second.read(1020, 2);
      at.now += 2 * 60_000;
      await second.mostRead.runRound();
      expect(written).toHaveLength(1);
      await first.mostRead.runRound();
      await expect.poll(() => lists()).toEqual(Array(2).fill([1020, 1010]));
      expect(written).toHaveLength(2);
      expect([...first.changes, ...second.changes]).toEqual([]);
      // Nothing has changed; and the next leader continues with what the previous one has written.
      leader = 'second';
      await second.mostRead.runRound();
      expect(written).toHaveLength(2);
      at.now += 11 * 60_000;
      await second.mostRead.runRound();
      await expect.poll(() => written.length).toBe(3);
      expect(written[2]).toEqual([]);
      // A command of a node without a cluster, such as sending a newsletter, gets the lists from the file.
      await first.mostRead.runRound();
      const alone = await open({ database, at, file: first.file });
      expect(alone.mostRead.list({ limit: 2, reader: createReader(alone.store) }).map(({ id }) => id)).toEqual([
        1020, 1010,
      ]);
    });
  });

  describe('the most-read lists', () => {
    it('put read stories first, then the newest', async () => {
      const { read, ids } = await open();
      expect(ids({ limit: 3 })).toEqual([1080, 1079, 1078]);
      await read(1010, 3);
      await read(1020, 2);
      expect(ids({ limit: 4 })).toEqual([1010, 1020, 1080, 1079]);
      expect(ids()).toHaveLength(10);
      expect(ids({ limit: 1000 })).toHaveLength(50);
      expect(ids({ limit: -3 })).toHaveLength(1);
    });

    it('contain only one section’s stories if a section is given', async () => {
      const { read, ids } = await open();
      await read(1010);
      // The fixture's stories alternate among the ten sections.
      expect(ids({ section: 'opinion', limit: 3 })).toEqual([1071, 1061, 1051]);
      await read(1011);
      expect(ids({ section: 'opinion', limit: 3 })).toEqual([1011, 1071, 1061]);
      expect(ids({ section: 'no-such-section' })).toEqual([]);
    });

    it('rank one reading of today above forty of last week', async () => {
      const { read, ids, clock } = await open();
      await read(1010, 40);
      clock.now += 7 * 86_400_000;
      await read(1020);
      expect(ids({ limit: 2 })).toEqual([1020, 1010]);
    });

    it('are computed once for all lengths', async () => {
      let made = 0;
      const store = fixtureStore();
      const { ids } = await open({
        reader: () => {
          const reader = createReader(store);
          const articles: typeof reader.articles = (filter) => {
            if (filter.ids === undefined) made++;
            return reader.articles(filter);
          };
          return { ...reader, articles };
        },
      });
      const lists = Array.from({ length: 60 }, (_, index) => ids({ limit: index + 1 }));
      expect(lists.map((list) => list.length)).toEqual(lists.map((_, index) => Math.min(50, index + 1)));
      expect(lists[9]).toEqual(lists[49]?.slice(0, 10));
      expect(made).toBe(2);
    });

    it('omit withdrawn stories, whose readings are no longer counted', async () => {
      const { mostRead, read, ids, store } = await open();
      await read(1010, 5);
      store.transaction(() => withdrawDocument(store, 1010, { at: later, clock: later }));
      expect(ids()).not.toContain(1010);
      expect(ids({ limit: 2 })).toEqual([1080, 1079]);
      store.transaction(() => withdrawDocument(store, 1080, { at: later, clock: later }));
      expect(ids({ limit: 2 }), 'the next ones move up').toEqual([1079, 1078]);
      expect(await mostRead.count(1010, nextAddress())).toBe('unknown');
      expect(await mostRead.count(999_999, nextAddress())).toBe('unknown');
    });
  });

  it('counts one reading per address, however often it calls', async () => {
    const { mostRead, read, ids } = await open();
    const answers = await Promise.all(Array.from({ length: 1000 }, () => mostRead.count(1010, '203.0.113.9')));
    expect(answers.filter((answer) => answer === 'counted')).toHaveLength(1);
    expect(answers.at(-1)).toBe('limited');
    await read(1020, 2);
    expect(ids({ limit: 2 })).toEqual([1020, 1010]);
  });

  it('adds up the readings of several processes, and keeps them across a restart', async () => {
    const place = await engines.place();
    const [one, two] = [
      await open({ database: await engines.open(place) }),
      await open({ database: await engines.open(place) }),
    ];
    await one.read(1010, 2);
    await two.read(1010, 2);
    await two.read(1020, 3);
    one.clock.now += 20_000;
    await one.mostRead.runRound();
    expect(one.ids({ limit: 2 })).toEqual([1010, 1020]);
    // Stopping writes the readings that the last round has not.
    await one.mostRead.count(1020, nextAddress());
    await one.mostRead.count(1020, nextAddress());
    await one.mostRead.stop();
    const again = await open({ database: await engines.open(place) });
    await again.mostRead.runRound();
    expect(again.ids({ limit: 2 })).toEqual([1020, 1010]);
  });

  it('shows the newsroom the current readings of all processes, querying the database once in five seconds', async () => {
    const place = await engines.place();
    const [one, two] = [
      await open({ database: await engines.open(place) }),
      await open({ database: await engines.open(place) }),
    ];
    await one.read(1010, 2);
    await two.read(1010, 1);
    await two.read(1020, 1);
    const stories = async () => (await one.mostRead.now()).periods[0]?.stories;
    const counted = [
      { id: 1010, readings: 3, before: 0 },
      { id: 1020, readings: 1, before: 0 },
    ];
    expect(await stories()).toEqual(counted);
    await two.read(1020, 4);
    expect(await stories()).toEqual(counted);
    one.clock.now += 5000;
    expect(await stories()).toEqual([{ id: 1020, readings: 5, before: 0 }, counted[0]]);
  });

  it('does not overwrite the stored lists from a process that never started', async () => {
    const { read, file, database } = await open();
    await read(1010, 2);
    const before = readFileSync(file, 'utf8');
    const beside = await open({ database, file, at: { now: start + 86_400_000 } });
    await beside.mostRead.stop();
    expect(beside.changes).toEqual([]);
    expect(readFileSync(file, 'utf8')).toBe(before);
  });

  it('keeps readings while the database is unavailable', async () => {
    const database = await engines.open();
    let away = true;
    const flaky: Pick<Database, 'db' | 'transaction'> = {
      db: database.db,
      transaction: (work) => (away ? Promise.reject(new DatabaseUnavailable('gone')) : database.transaction(work)),
    };
    const { read, ids, mostRead } = await open({ database: flaky });
    await read(1010, 3);
    expect(ids({ limit: 1 })).toEqual([1080]);
    away = false;
    await mostRead.runRound();
    expect(ids({ limit: 1 })).toEqual([1010]);
  });

  describe('the list shown on pages', () => {
    const list = (opened: Awaited<ReturnType<typeof open>>, section?: string) => {
      const reader = createReader(opened.store);
      const cards = opened.mostRead.list({ section, limit: 3, reader });
      return { ids: cards.map(({ id }) => id), tags: reader.tags };
    };

    it('changes every ten minutes, not with each reading, and reports only the changed lists', async () => {
      const opened = await open();
      const { read, clock, changes, mostRead } = opened;
      expect(list(opened).ids).toEqual([1080, 1079, 1078]);
      await read(1010, 3);
      // The first lists are made in the first round, and the other sections' are the newest articles that their pages show already.
      expect(changes).toEqual([['popular', 'popular:editorials']]);
      expect(list(opened).ids).toEqual([1010, 1080, 1079]);
      await read(1021, 9);
      expect(changes).toHaveLength(1);
      expect(list(opened).ids).toEqual([1010, 1080, 1079]);
      clock.now += 10 * 60_000;
      await mostRead.runRound();
      expect(changes.slice(1)).toEqual([['popular', 'popular:opinion']]);
      expect(list(opened).ids).toEqual([1021, 1010, 1080]);
      // Nothing has changed since: no page is rendered again.
      clock.now += 10 * 60_000;
      await mostRead.runRound();
      expect(changes).toHaveLength(2);
    });

    it('causes no new rendering at the start if the first lists match the pages', async () => {
      const { mostRead, changes } = await open();
      await mostRead.runRound();
      expect(changes).toEqual([]);
    });

    it('carries its own tag and those of its cards', async () => {
      const opened = await open();
      await opened.read(1021, 2);
      const { ids, tags } = list(opened, 'opinion');
      expect(ids[0]).toBe(1021);
      expect([...tags]).toEqual(expect.arrayContaining(['popular:opinion', 'card:1021']));
      expect([...tags]).not.toContain('latest');
    });

    it('is the same after a restart', async () => {
      const place = await engines.place();
      const first = await open({ database: await engines.open(place) });
      await first.read(1021, 2);
      const before = list(first).ids;
      const again = await open({ database: await engines.open(place), file: first.file });
      expect(list(again).ids).toEqual(before);
      await again.read(1010, 7);
      expect(again.changes).toEqual([]);
    });

    it('is kept if the database is unavailable at the start, and updated if the clock was set back', async () => {
      const database = await engines.open();
      const first = await open({ database });
      await first.read(1021, 2);
      const away: Pick<Database, 'db' | 'transaction'> = {
        db: new Proxy(database.db, {
          get() {
            throw new DatabaseUnavailable('gone');
          },
        }),
        transaction: () => Promise.reject(new DatabaseUnavailable('gone')),
      };
      const again = await open({ database: away, file: first.file, at: { now: start + 3_600_000 } });
      await again.mostRead.runRound();
      expect(list(again).ids).toEqual([1021, 1080, 1079]);
      expect(again.changes).toEqual([]);
      await first.read(1010, 5);
      const early = await open({ database, file: first.file, at: { now: start - 3_600_000 } });
      await early.mostRead.runRound();
      expect(list(early).ids.slice(0, 2)).toEqual([1010, 1021]);
    });

    it('fills the place of a withdrawn story with the next one', async () => {
      const opened = await open();
      await opened.read(1010, 3);
      opened.store.transaction(() => withdrawDocument(opened.store, 1010, { at: later, clock: later }));
      expect(list(opened).ids).toEqual([1080, 1079, 1078]);
    });
  });
});

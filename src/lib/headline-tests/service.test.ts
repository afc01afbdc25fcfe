/** Headline tests on both engines: who is counted, ends, restarts, several processes. */
import { describe, expect, it } from 'vitest';
import { onBothEngines } from '../../../tests/world/databases.ts';
import type { Card, HeadlineTest } from '../content/model.ts';
import { type Database, DatabaseUnavailable } from '../database.ts';
import { deleteOldRows } from '../jobs/old-rows.ts';
import { silent } from '../logging.ts';
import { groupIn, groups, headlineFor, longestDays } from './model.ts';
import { createHeadlineTests, type HeadlineTestsOptions } from './service.server.ts';

const start = Date.UTC(2026, 10, 25, 12);
const id = '00000000000000a1';
const testOf = (part: Partial<HeadlineTest> = {}): HeadlineTest => ({
  id,
  state: 'running',
  started: new Date(start).toISOString(),
  others: [{ title: 'Second', image: null }],
  ...part,
});
const cardOf = (story: number, test: HeadlineTest): Card => ({ id: story, test }) as unknown as Card;

/** The groups that see a headline. */
const seeing = (headline: number, test = id, headlines = 2): number[] =>
  Array.from({ length: groups }, (_, group) => group).filter(
    (group) => headlineFor(test, headlines, group) === headline,
  );
const reader = (group: number | null, choices = '1.measurement') => ({
  cookies: [`privacy-choices=${choices}`, ...(group === null ? [] : [`headline-group=${group}`])].join('; '),
  gpc: false,
});

onBothEngines('headline tests', (engines) => {
  async function open(given: Partial<HeadlineTestsOptions> & { readonly tests?: [number, HeadlineTest][] } = {}) {
    const database = given.database ?? (await engines.open());
    const clock = { now: start };
    const tests = given.tests ?? [[1, testOf()]];
    const service = createHeadlineTests({
      database,
      participation: 'consent',
      secure: false,
      log: silent,
      now: () => clock.now,
      tested: () => tests.map(([story, test]) => cardOf(story, test)),
      ...given,
    });
    const read = async (headline: number, times = 1) => {
      for (let at = 0; at < times; at++) service.count(1, reader(seeing(headline)[at % 6] ?? 0));
      await service.runRound();
    };
    return { service, clock, read, database, tests };
  }

  describe('counting readings', () => {
    it('counts readings under the headline of the reader’s group', async () => {
      const { service, read } = await open();
      await read(0, 3);
      await read(1, 5);
      expect(await service.report(1, id)).toEqual({
        readers: 'consent',
        state: 'running',
        winner: null,
        readings: [3, 5],
        certainty: [0, expect.any(Number)],
        ended: null,
      });
    });

    it('ignores readers who have no group or may not take part, and stories without a test', async () => {
      const { service } = await open();
      service.count(1, reader(null));
      service.count(1, reader(3, '1'));
      service.count(1, reader(3, '1.advertising'));
      service.count(1, { cookies: 'headline-group=3', gpc: false });
      service.count(1, { cookies: 'privacy-choices=1.measurement; headline-group=12', gpc: false });
      service.count(2, reader(3));
      await service.runRound();
      expect((await service.report(1, id))?.readings).toEqual([0, 0]);
    });

    it('counts nothing and sets no cookie when headline tests are off', async () => {
      const { service } = await open({ participation: 'off' });
      service.count(1, reader(3));
      await service.runRound();
      expect(await service.report(1, id)).toMatchObject({ readers: 'off', readings: [0, 0] });
      expect(service.cookiesFor(reader(null))).toEqual([]);
    });

    it('keeps the counts of rounds in which the database is unavailable', async () => {
      const database = await engines.open();
      let away = true;
      const { service, read } = await open({
        database: {
          get db() {
            if (away) throw new DatabaseUnavailable('away');
            return database.db;
          },
        },
      });
      await read(1, 2);
      await read(1, 3);
      away = false;
      await read(0, 1);
      expect((await service.report(1, id))?.readings).toEqual([1, 5]);
    });

    it('adds up the counts of several processes, and those from before a restart', async () => {
      const database = await engines.open();
      const [one, other] = [await open({ database }), await open({ database })];
      await Promise.all([one.read(0, 40), other.read(0, 30), one.read(1, 20), other.read(1, 10)]);
      await one.service.stop();
      const again = await open({ database });
      await again.read(1);
      expect((await again.service.report(1, id))?.readings).toEqual([70, 31]);
    });
  });

  describe('the results', () => {
    it('of two tests at once are counted and decided separately', async () => {
      const other = '00000000000000b2';
      const { service, read } = await open({
        tests: [
          [1, testOf()],
          [2, testOf({ id: other })],
        ],
      });
      await read(0, 100);
      for (let at = 0; at < 120; at++) service.count(2, reader(seeing(1, other)[0] ?? 0));
      await service.runRound();
      expect((await service.report(1, id))?.readings).toEqual([100, 0]);
      expect((await service.report(2, other))?.readings).toEqual([0, 120]);
      await read(1, 200);
      expect(await service.report(1, id)).toMatchObject({ state: 'won', winner: 1 });
      expect(await service.report(2, other)).toMatchObject({ state: 'running', ended: null });
    });

    it('include the last readings before the process stops', async () => {
      const { service } = await open();
      service.count(1, reader(seeing(1)[0] ?? 0));
      await service.stop();
      expect((await service.report(1, id))?.readings).toEqual([0, 1]);
    });
  });

  describe('a reader’s group', () => {
    it('is assigned while a test runs, if the reader may take part and has none', async () => {
      const { service } = await open({ random: () => 0.999 });
      expect(service.cookiesFor(reader(null))).toEqual([expect.stringMatching(/^headline-group=11; /)]);
      expect(service.cookiesFor(reader(4))).toEqual([]);
      expect(service.cookiesFor({ cookies: '', gpc: false })).toEqual([]);
      expect(
        service.cookiesFor({ cookies: 'privacy-choices=1.measurement; headline-group=99', gpc: false }),
      ).toHaveLength(1);
    });

    it('is deleted when the reader may no longer take part', async () => {
      const { service } = await open();
      expect(service.cookiesFor(reader(4, '1'))).toEqual([expect.stringContaining('Max-Age=0')]);
    });

    it('is not assigned while no test runs', async () => {
      const { service } = await open({ tests: [] });
      expect(service.cookiesFor(reader(null))).toEqual([]);
    });

    it('is drawn at random, each of the twelve for as many random numbers as any other', async () => {
      const countsOf = ({ service }: Awaited<ReturnType<typeof open>>) => {
        const counts = new Map<number | null, number>();
        for (let readers = 0; readers < 1200; readers++) {
          const group = groupIn(service.cookiesFor(reader(null))[0]?.split(';')[0]);
          counts.set(group, (counts.get(group) ?? 0) + 1);
        }
        return counts;
      };
      let at = 0;
      const evenly = countsOf(await open({ random: () => (at++ + 0.5) / 1200 }));
      expect([...evenly]).toEqual(Array.from({ length: groups }, (_, group) => [group, 100]));
      // Without given numbers: that all readers get the same group is as good as impossible.
      expect(countsOf(await open()).size).toBeGreaterThan(1);
    });
  });

  describe('the end of a headline test', () => {
    it('comes when a headline is proven better, and the result never changes', async () => {
      const { service, read } = await open();
      await read(0, 100);
      await read(1, 200);
      const report = await service.report(1, id);
      expect(report).toMatchObject({ state: 'won', winner: 1, readings: [100, 200], ended: '2026-11-25T12:00:00Z' });
      await read(0, 500);
      expect(await service.report(1, id)).toEqual(report);
    });

    it('comes also when the story’s own headline is proven better', async () => {
      const { service, read } = await open();
      await read(1, 100);
      await read(0, 200);
      expect(await service.report(1, id)).toMatchObject({ state: 'won', winner: 0 });
    });

    it('comes without a winner when the longest duration has passed', async () => {
      const { service, read, clock } = await open();
      for (let at = 0; at < 310; at++) service.count(1, reader(seeing(1)[0] ?? 0));
      await read(0, 300);
      clock.now += longestDays * 86_400_000 + 1;
      await read(1);
      expect(await service.report(1, id)).toMatchObject({ state: 'undecided', winner: null, readings: [300, 311] });
    });

    it('comes after two weeks and not a day earlier, even without readings', async () => {
      const database = await engines.open();
      for (const [days, state] of [
        [longestDays - 1, 'running'],
        [longestDays + 1, 'undecided'],
      ] as const) {
        const { service, clock } = await open({ database });
        clock.now += days * 86_400_000;
        await service.runRound();
        expect(await service.report(1, id)).toMatchObject({ state, readings: [0, 0] });
      }
    });

    it('is recorded once when two processes decide at the same time', async () => {
      const database = await engines.open();
      const [one, other] = [await open({ database }), await open({ database })];
      for (let at = 0; at < 300; at++) {
        one.service.count(1, reader(seeing(at % 3 === 0 ? 0 : 1)[0] ?? 0));
        other.service.count(1, reader(seeing(at % 3 === 0 ? 0 : 1)[1] ?? 0));
      }
      await Promise.all([one.service.runRound(), other.service.runRound()]);
      await Promise.all([one.service.runRound(), other.service.runRound()]);
      const ends = await (database as Database).db.selectFrom('headline_ends').selectAll().execute();
      expect(ends).toHaveLength(1);
      expect(await one.service.report(1, id)).toEqual(await other.service.report(1, id));
    });

    it('is still reported after the story stops being tested; a test that never existed has no report', async () => {
      const { service, read, tests } = await open();
      await read(0, 100);
      await read(1, 200);
      tests.length = 0;
      expect(await service.report(1, id)).toMatchObject({ state: 'won', winner: 1 });
      expect(await service.report(1, '00000000000000ff')).toBeNull();
      expect(await service.report(2, '00000000000000ff')).toBeNull();
    });

    it('is followed by deletion of its counts after two months without readings', async () => {
      const { service, read, clock, database } = await open();
      await read(0, 100);
      await read(1, 200);
      clock.now += 61 * 86_400_000;
      await deleteOldRows(service.oldRows);
      const left = await (database as Database).db.selectFrom('headline_readings').selectAll().execute();
      expect(left).toEqual([]);
    });
  });
});

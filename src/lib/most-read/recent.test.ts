/** What is read now, on both engines: sliding periods, sums over several processes, and what is deleted. */
import { expect, it } from 'vitest';
import { onBothEngines } from '../../../tests/world/databases.ts';
import { readRecent } from './recent.server.ts';
import { openScores } from './scores.server.ts';

const minute = 60_000;
const halfLife = 86_400_000;
/** The first second of a minute. */
const start = Math.floor(Date.UTC(2026, 10, 25, 9) / minute) * minute;
const all = (ids: readonly number[]): ReadonlySet<number> => new Set(ids);

onBothEngines('the record of recent readings', (engines) => {
  async function open() {
    const database = await engines.open();
    const scores = openScores(database, halfLife);
    return {
      database,
      scores,
      read: (article: number, readings: number, at: number) => scores.add(new Map([[article, readings]]), at),
      at: async (now: number, published = all) => {
        const { periods } = await readRecent(database, now, published);
        return Object.fromEntries(periods.map(({ minutes, ...rest }) => [minutes, rest]));
      },
    };
  }

  it('counts readings in each period and the period before it, most read stories first', async () => {
    const { read, at } = await open();
    const now = start + 200 * minute + 1000;
    await read(1, 3, now - 1000);
    await read(2, 5, now - 2 * minute);
    await read(1, 4, now - 7 * minute);
    await read(3, 9, now - 20 * minute);
    await read(2, 2, now - 40 * minute);
    const seen = await at(now);
    expect(seen['5']).toEqual({
      readings: 8,
      before: 4,
      stories: [
        { id: 2, readings: 5, before: 0 },
        { id: 1, readings: 3, before: 4 },
      ],
    });
    expect(seen['30']).toMatchObject({ readings: 21, before: 2 });
    expect(seen['60']?.stories.map(({ id }) => id)).toEqual([3, 2, 1]);
    expect(seen['60']).toMatchObject({ readings: 23, before: 0 });
  });

  it('includes a reading at once, and fades it out as its minute leaves the period', async () => {
    const { read, at } = await open();
    await read(1, 100, start);
    const counts = async (seconds: number) => {
      const { readings, before } = (await at(start + seconds * 1000))['5'] ?? { readings: -1, before: -1 };
      return [readings, before];
    };
    expect(await counts(0)).toEqual([100, 0]);
    expect(await counts(299)).toEqual([100, 0]);
    expect(await counts(315)).toEqual([75, 25]);
    expect(await counts(345)).toEqual([25, 75]);
    expect(await counts(360)).toEqual([0, 100]);
    expect(await counts(599)).toEqual([0, 100]);
    expect(await counts(630)).toEqual([0, 50]);
    expect(await counts(660)).toEqual([0, 0]);
  });

  it('shows the top twenty published stories of each period, without withdrawn ones', async () => {
    const { scores, at } = await open();
    await scores.add(new Map(Array.from({ length: 60 }, (_, index) => [index + 1, index + 1])), start);
    const published = (ids: readonly number[]) => new Set(ids.filter((id) => id !== 60));
    const stories = (await at(start + 1000, published))['5']?.stories.map(({ id }) => id);
    expect(stories).toEqual(Array.from({ length: 20 }, (_, index) => 59 - index));
  });

  it('adds up the readings that several processes count at the same time', async () => {
    const place = await engines.place();
    const nodes = await Promise.all(Array.from({ length: 3 }, () => engines.open(place)));
    await Promise.all(
      nodes.flatMap((database, node) =>
        Array.from({ length: 5 }, () => {
          const ids = node % 2 ? [2, 1] : [1, 2];
          return openScores(database, halfLife).add(new Map(ids.map((id) => [id, 10])), start);
        }),
      ),
    );
    const [database] = nodes;
    if (!database) throw new Error('no database');
    const { periods } = await readRecent(database, start, all);
    expect(periods[0]).toMatchObject({
      readings: 300,
      stories: [
        { id: 2, readings: 150 },
        { id: 1, readings: 150 },
      ],
    });
  });

  it('is deleted after two hours', async () => {
    const { read, scores, database } = await open();
    await read(1, 1, start);
    await read(2, 1, start + 60 * minute);
    await scores.prune(start + 122 * minute);
    const rows = await database.db.selectFrom('recent_readings').selectAll().execute();
    // Each row has only a minute, an article and a number.
    const values = rows.map((row) =>
      Object.fromEntries(Object.entries(row).map(([key, value]) => [key, Number(value)])),
    );
    expect(values).toEqual([{ minute: start / minute + 60, article_id: 2, readings: 1 }]);
  });
});

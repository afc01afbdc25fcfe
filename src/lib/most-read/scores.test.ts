import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { onBothEngines } from '../../../tests/world/databases.ts';
import { combinedScore, openScores, scoreOf } from './scores.server.ts';

const day = 86_400_000;
const now = Date.UTC(2026, 10, 21);

/** How many readings made now have the same score. */
const readingsNow = (heat: number, at: number, halfLife: number): number => 2 ** (heat - at / halfLife);

describe('the heat of an article', () => {
  it('halves the weight of a reading with each half-life', () => {
    const heat = scoreOf(8, now, day);
    expect(readingsNow(heat, now, day)).toBeCloseTo(8, 6);
    expect(readingsNow(heat, now + day, day)).toBeCloseTo(4, 6);
    expect(readingsNow(heat, now + 3 * day, day)).toBeCloseTo(1, 6);
  });

  it('is the same in whatever order readings are added', () => {
    const reading = fc.record({ count: fc.integer({ min: 1, max: 1000 }), ago: fc.integer({ min: 0, max: 20 * day }) });
    fc.assert(
      fc.property(fc.array(reading, { minLength: 1, maxLength: 30 }), (readings) => {
        const heats = readings.map(({ count, ago }) => scoreOf(count, now - ago, day));
        const forwards = heats.reduce(combinedScore);
        const expected = readings.reduce((sum, { count, ago }) => sum + count / 2 ** (ago / day), 0);
        expect(readingsNow(forwards, now, day) / expected).toBeCloseTo(1, 5);
        expect(heats.toReversed().reduce(combinedScore)).toBeCloseTo(forwards, 6);
      }),
    );
  });

  it('ignores a score of no readings, and does not overflow for very old ones', () => {
    expect(combinedScore(Number.NEGATIVE_INFINITY, 5)).toBe(5);
    expect(combinedScore(scoreOf(1, now - 10_000 * day, day), scoreOf(1, now, day))).toBe(scoreOf(1, now, day));
  });
});

/** The scores of articles in both databases. */

onBothEngines('the table of popularity scores', (engines) => {
  it('adds new readings to decayed ones as if all had been counted at once', async () => {
    const scores = openScores(await engines.open(), day);
    await scores.add(new Map([[1, 8], [2, 5]]), now); // biome-ignore format: one line says it
    await scores.add(new Map([[1, 1], [3, 1]]), now + day); // biome-ignore format: one line says it
    // Far apart in both directions: nothing overflows or underflows.
    await scores.add(new Map([[2, 1]]), now + 2000 * day);
    await scores.add(new Map([[2, 1]]), now - 2000 * day);
    const highest = await scores.highest(10);
    expect(highest.map(({ article }) => article)).toEqual([2, 1, 3]);
    expect(highest[1]?.score).toBeCloseTo(combinedScore(scoreOf(8, now, day), scoreOf(1, now + day, day)), 9);
    expect(readingsNow(highest[1]?.score ?? 0, now + day, day)).toBeCloseTo(5, 6);
    expect(highest[0]?.score).toBeCloseTo(scoreOf(1, now + 2000 * day, day), 9);
  });

  it('counts every reading when several processes add at the same time', async () => {
    const place = await engines.place();
    const nodes = await Promise.all(Array.from({ length: 3 }, () => engines.open(place)));
    const ledgers = nodes.map((database) => openScores(database, day));
    const articles = Array.from({ length: 40 }, (_, index) => index + 1);
    await Promise.all(
      ledgers.flatMap((scores, node) =>
        Array.from({ length: 5 }, () => {
          const order = node % 2 ? articles.toReversed() : articles;
          return scores.add(new Map(order.map((article) => [article, article])), now);
        }),
      ),
    );
    const rows = await nodes[0]?.db.selectFrom('popularity').selectAll().orderBy('article_id').execute();
    expect(rows?.map(({ total }) => Number(total))).toEqual(articles.map((article) => 15 * article));
    for (const row of rows ?? []) {
      expect(readingsNow(row.heat, now, day)).toBeCloseTo(15 * Number(row.article_id), 4);
    }
  });

  it('keeps the weight of readings when the half-life changes, and drops scores without weight', async () => {
    const database = await engines.open();
    await openScores(database, day).add(new Map([[1, 6]]), now);
    await openScores(database, day).add(new Map([[2, 6]]), now - 100 * day);
    const slower = openScores(database, 7 * day);
    await slower.prune(now);
    const [only, ...more] = await slower.highest(10);
    // A reading of a hundred days ago had no weight left.
    expect(more).toEqual([]);
    expect(readingsNow(only?.score ?? 0, now, 7 * day)).toBeCloseTo(6, 6);
    await slower.prune(now + 7 * day);
    expect(readingsNow((await slower.highest(1))[0]?.score ?? 0, now + 7 * day, 7 * day)).toBeCloseTo(3, 6);
  });
});

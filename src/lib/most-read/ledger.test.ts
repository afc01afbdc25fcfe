/** The popularity of articles in both databases. */
import { expect, it } from 'vitest';
import { onBothEngines } from '../../../tests/world/databases.ts';
import { createLedger, heatOf, readingsNow, together } from './scores.server.ts';

const day = 86_400_000;
const now = Date.UTC(2026, 10, 21);

onBothEngines('the ledger of popularity', (engines) => {
  it('adds what is decayed to what is new, as if all had been counted at once', async () => {
    const ledger = createLedger(await engines.open(), day);
    await ledger.add(new Map([[1, 8], [2, 5]]), now); // biome-ignore format: one line says it
    await ledger.add(new Map([[1, 1], [3, 1]]), now + day); // biome-ignore format: one line says it
    // Far apart in both directions: nothing under- or overflows.
    await ledger.add(new Map([[2, 1]]), now + 2000 * day);
    await ledger.add(new Map([[2, 1]]), now - 2000 * day);
    const hottest = await ledger.hottest(10);
    expect(hottest.map(({ article }) => article)).toEqual([2, 1, 3]);
    expect(hottest[1]?.heat).toBeCloseTo(together(heatOf(8, now, day), heatOf(1, now + day, day)), 9);
    expect(readingsNow(hottest[1]?.heat ?? 0, now + day, day)).toBeCloseTo(5, 6);
    expect(hottest[0]?.heat).toBeCloseTo(heatOf(1, now + 2000 * day, day), 9);
  });

  it('loses nothing when many processes add at the same time', async () => {
    const place = await engines.place();
    const nodes = await Promise.all(Array.from({ length: 3 }, () => engines.open(place)));
    const ledgers = nodes.map((database) => createLedger(database, day));
    const articles = Array.from({ length: 40 }, (_, index) => index + 1);
    await Promise.all(
      ledgers.flatMap((ledger, node) =>
        Array.from({ length: 5 }, () => {
          const order = node % 2 ? articles.toReversed() : articles;
          return ledger.add(new Map(order.map((article) => [article, article])), now);
        }),
      ),
    );
    const rows = await nodes[0]?.db.selectFrom('popularity').selectAll().orderBy('article_id').execute();
    expect(rows?.map(({ total }) => Number(total))).toEqual(articles.map((article) => 15 * article));
    for (const row of rows ?? []) {
      expect(readingsNow(row.heat, now, day)).toBeCloseTo(15 * Number(row.article_id), 4);
    }
  });

  it('keeps what readings are worth when the half-life is changed, and drops what is cold', async () => {
    const database = await engines.open();
    await createLedger(database, day).add(new Map([[1, 6]]), now);
    await createLedger(database, day).add(new Map([[2, 6]]), now - 100 * day);
    const slower = createLedger(database, 7 * day);
    await slower.tidy(now);
    const [only, ...more] = await slower.hottest(10);
    // What lies a hundred days back was worth nothing already.
    expect(more).toEqual([]);
    expect(readingsNow(only?.heat ?? 0, now, 7 * day)).toBeCloseTo(6, 6);
    await slower.tidy(now + 7 * day);
    expect(readingsNow((await slower.hottest(1))[0]?.heat ?? 0, now + 7 * day, 7 * day)).toBeCloseTo(3, 6);
  });
});

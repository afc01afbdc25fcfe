import { expect, it } from 'vitest';
import { onBothEngines } from '../../../tests/world/databases.ts';
import { migrations } from './all.ts';

onBothEngines('the migration of newsletter choices out of the profiles', (engines) => {
  it('keeps every choice of newsletters and the rest of each profile', async () => {
    const place = await engines.place();
    const before = migrations.slice(
      0,
      migrations.findIndex(({ name }) => name === '0006-letters'),
    );
    const old = await engines.open({ ...place, migrations: before });
    const chosen: Record<string, unknown> = {
      ada: { first_name: 'Ada', newsletters: 'morning,evening,morning' },
      ben: { first_name: '"newsletters"' },
      cleo: { newsletters: '' },
      dora: { newsletters: "evening,'; drop" },
    };
    // More than are moved at once.
    const many = Array.from({ length: 510 }, (_, number) => `reader-${String(number).padStart(3, '0')}`);
    for (const id of many) chosen[id] = { newsletters: 'morning', last_name: id };
    const at = new Date(0).toISOString();
    await old.transaction(async (tx) => {
      for (const [id, profile] of Object.entries(chosen)) {
        await tx
          .insertInto('users')
          .values({
            id,
            name: '',
            email: `${id}@example.com`,
            emailVerified: 1,
            image: null,
            trackingId: id,
            createdAt: at,
            updatedAt: at,
          })
          .execute();
        await tx
          .insertInto('profiles')
          .values({ user_id: id, data: JSON.stringify(profile), updated: 7 })
          .execute();
      }
    });
    await old.close();
    const { db } = await engines.open(place);
    const choices = await db
      .selectFrom('mail_choices')
      .select(['user_id', 'choice'])
      .orderBy('user_id')
      .orderBy('choice')
      .execute();
    expect(choices.map(({ user_id, choice }) => `${user_id} ${choice}`)).toEqual([
      ...['ada evening', 'ada morning', 'dora evening'],
      ...many.map((id) => `${id} morning`),
    ]);
    const profiles = await db
      .selectFrom('profiles')
      .select(['user_id', 'data', 'updated'])
      .orderBy('user_id')
      .execute();
    expect(Object.fromEntries(profiles.map(({ user_id, data }) => [user_id, JSON.parse(data)]))).toEqual({
      ada: { first_name: 'Ada' },
      ben: { first_name: '"newsletters"' },
      cleo: {},
      dora: {},
      ...Object.fromEntries(many.map((id) => [id, { last_name: id }])),
    });
    expect(new Set(profiles.map(({ updated }) => Number(updated)))).toEqual(new Set([7]));
  });
});

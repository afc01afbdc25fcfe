import { expect, it } from 'vitest';
import { onBothEngines } from '../../../tests/world/databases.ts';
import { migrations } from './all.ts';

onBothEngines('the move of the newsletters out of the profiles', (engines) => {
  it('takes every choice along and leaves the rest of a profile as it is', async () => {
    const place = await engines.place();
    const before = migrations.slice(
      0,
      migrations.findIndex(({ name }) => name === '0006-letters'),
    );
    const old = await engines.open({ ...place, migrations: before });
    const chosen: Readonly<Record<string, unknown>> = {
      ada: { first_name: 'Ada', newsletters: 'morning,evening,morning' },
      ben: { first_name: '"newsletters"' },
      cleo: { newsletters: '' },
      dora: { newsletters: "evening,'; drop" },
    };
    for (const [id, profile] of Object.entries(chosen)) {
      const at = new Date(0).toISOString();
      await old.db
        .insertInto('users')
        .values({
          ...{ id, name: '', email: `${id}@example.com`, emailVerified: 1, image: null, trackingId: id },
          ...{ createdAt: at, updatedAt: at },
        })
        .execute();
      await old.db
        .insertInto('profiles')
        .values({ user_id: id, data: JSON.stringify(profile), updated: 0 })
        .execute();
    }
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
    ]);
    const profiles = await db.selectFrom('profiles').select(['user_id', 'data']).orderBy('user_id').execute();
    expect(Object.fromEntries(profiles.map(({ user_id, data }) => [user_id, JSON.parse(data)]))).toEqual({
      ...{ ada: { first_name: 'Ada' }, ben: { first_name: '"newsletters"' }, cleo: {}, dora: {} },
    });
  });
});

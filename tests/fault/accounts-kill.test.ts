/** `kill -9` during sign-ups: no acknowledged account, session or message is lost, on either engine. */
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, it } from 'vitest';
import { randomNumbers } from '../../sandbox/random.ts';
import { createAccounts } from '../../src/lib/accounts/service.server.ts';
import type { AccountsTransaction } from '../../src/lib/database.ts';
import { silent } from '../../src/lib/logging.ts';
import type { Outbox } from '../../src/lib/mail/model.ts';
import { openDatabase } from '../../src/server/database/open.ts';
import { access, type Said, secret, siteUrl } from '../fixtures/signing-up.ts';
import { onBothEngines } from '../world/databases.ts';
import { limiterOf } from '../world/limiter.ts';
import { runs, seedFrom } from '../world/runs.ts';
import { killOne } from './fixtures/killing.ts';

const fixture = join(import.meta.dirname, '../fixtures/signing-up.ts');

onBothEngines('kills during sign-ups', (engines) => {
  const rounds = runs(5, 25);
  const seed = seedFrom('FAULT_SEED');

  it(`lose no acknowledged account, session or email in ${rounds} rounds (FAULT_SEED=${seed})`, async () => {
    const place = await engines.place();
    const said: Said[] = [];
    const random = randomNumbers(seed);
    for (let round = 0; round < rounds; round++) {
      // Of twenty acknowledgments at least eight are of accounts, more than are expected below of the usual number of rounds.
      const after = (round === 0 ? 20 : 3) + Math.floor(random() * 20);
      const args = [place.dataDir, String(round), ...(place.databaseUrl === null ? [] : [place.databaseUrl])];
      said.push(...(await killOne<Said>(fixture, args, { after, delay: random() * 10 })));
    }

    if (engines.engine === 'sqlite') {
      const file = new DatabaseSync(join(place.dataDir, 'accounts.sqlite'));
      expect(file.prepare('PRAGMA integrity_check').get()).toEqual({ integrity_check: 'ok' });
      expect(file.prepare('PRAGMA foreign_key_check').all()).toEqual([]);
      file.close();
    }
    const database = await openDatabase({ ...place, log: silent });
    const accounts = await createAccounts({
      database,
      limiter: limiterOf(database),
      secret,
      siteUrl,
      access,
      google: null,
      facebook: null,
      verification: null,
      log: silent,
      outbox: {} as Outbox<AccountsTransaction>,
    });
    try {
      const mail = await database.db.selectFrom('jobs').select(['kind', 'subject']).execute();
      const mailed = new Set(mail.map(({ kind, subject }) => `${kind} ${subject}`));
      for (const one of said) {
        expect(mailed, one.email).toContain(`link ${one.email}`);
        if (one.kind === 'mailed') continue;
        expect(mailed, one.email).toContain(`welcome ${one.email}`);
        const { session } = await accounts.session(one.cookie);
        expect(session, one.email).toMatchObject({ email: one.email, emailVerified: true });
      }
      // Nothing half-done: every reader with a session or a welcome mail has an account, and vice versa.
      const users = await database.db.selectFrom('users').select(['id', 'email']).execute();
      const sessions = await database.db.selectFrom('sessions').select('userId').execute();
      expect(new Set(sessions.map((row) => row.userId))).toEqual(new Set(users.map((user) => user.id)));
      const welcomed = mail.filter(({ kind }) => kind === 'welcome').map(({ subject }) => subject);
      expect(welcomed.toSorted()).toEqual(users.map((user) => user.email).toSorted());
      expect(users.length).toBeGreaterThan(rounds);
    } finally {
      await database.close();
    }
  });
});

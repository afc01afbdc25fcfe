/** Migrations of mail, newsletters and the support inbox. */
import { type Kysely, sql } from 'kysely';
import type { Engine } from '../../lib/database.ts';
import type { Migration } from '../database/migrate.ts';

/** Where newsletter choices were stored before: slugs in a profile attribute. */
const attribute = 'newsletters';

interface Before {
  profiles: { user_id: string; data: string; updated: number };
  mail_choices: { user_id: string; choice: string; since: number };
}

/** Readers' choices for mail, the sent newsletters, and messages to the support inbox. */
export const letters: Migration = {
  name: '0006-letters',
  async up(db: Kysely<unknown>, engine: Engine): Promise<void> {
    await db.schema
      .createTable('mail_choices')
      .addColumn('user_id', 'text', (column) => column.notNull().references('users.id').onDelete('cascade'))
      .addColumn('choice', 'text', (column) => column.notNull())
      .addColumn('since', 'bigint', (column) => column.notNull())
      .addPrimaryKeyConstraint('mail_choices_key', ['user_id', 'choice'])
      .execute();
    await db.schema.createIndex('mail_choices_by_letter').on('mail_choices').columns(['choice', 'user_id']).execute();
    await db.schema
      .createTable('newsletter_issues')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('letter', 'text', (column) => column.notNull())
      .addColumn('day', 'text', (column) => column.notNull())
      .addColumn('content', 'text', (column) => column.notNull())
      .addColumn('cursor', 'text', (column) => column.notNull())
      .addColumn('addressed', 'integer', (column) => column.notNull())
      .addColumn('created', 'bigint', (column) => column.notNull())
      .addColumn('finished', 'bigint')
      .execute();
    // Not a foreign key: the sender may have no account.
    await db.schema
      .createTable('support_messages')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('created', 'bigint', (column) => column.notNull())
      .addColumn('user_id', 'text')
      .addColumn('name', 'text', (column) => column.notNull())
      .addColumn('email', 'text', (column) => column.notNull())
      .addColumn('phone', 'text', (column) => column.notNull())
      .addColumn('message', 'text', (column) => column.notNull())
      .addColumn('held', 'text')
      .execute();
    await db.schema.createIndex('support_by_time').on('support_messages').column('created').execute();
    await db.schema.createIndex('support_by_email').on('support_messages').column('email').execute();
    await sql`create index support_by_user on support_messages (user_id) where user_id is not null`.execute(db);
    await moveChoices(db as Kysely<Before>, engine);
  },
};

/**
 * Removes the choices from the profiles, a few hundred at a time: a running process of the previous version waits for the end of the
 * transaction whenever an account is created.
 */
async function moveChoices(db: Kysely<Before>, engine: Engine): Promise<void> {
  for (let after = ''; ; ) {
    const rows = await db
      .selectFrom('profiles')
      .select(['user_id', 'data', 'updated'])
      .where('data', 'like', `%"${attribute}"%`)
      .where('user_id', '>', after)
      .orderBy('user_id')
      .limit(500)
      // Waits for a reader who is changing a row, and then gets the new values.
      .$if(engine === 'postgres', (rows) => rows.forUpdate())
      .execute();
    const last = rows.at(-1);
    if (!last) return;
    after = last.user_id;
    const choices: Before['mail_choices'][] = [];
    const profiles = rows.map(({ user_id, data, updated }) => {
      const { [attribute]: chosen, ...rest } = JSON.parse(data) as Record<string, unknown>;
      const slugs = [...new Set(String(chosen ?? '').split(','))].filter((slug) => /^[a-z][a-z-]{0,40}$/.test(slug));
      choices.push(...slugs.map((choice) => ({ user_id, choice, since: Date.now() })));
      return { user_id, updated, data: JSON.stringify(rest) };
    });
    for (let from = 0; from < choices.length; from += 500) {
      await db
        .insertInto('mail_choices')
        .values(choices.slice(from, from + 500))
        .execute();
    }
    await db
      .insertInto('profiles')
      .values(profiles)
      .onConflict((conflict) => conflict.column('user_id').doUpdateSet((is) => ({ data: is.ref('excluded.data') })))
      .execute();
  }
}

/** The outbox of the mail. */
export const mail: Migration = {
  name: '0002-mail',
  async up(db: Kysely<unknown>): Promise<void> {
    await db.schema
      .createTable('mail_outbox')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('kind', 'text', (column) => column.notNull())
      .addColumn('recipient', 'text')
      .addColumn('payload', 'text')
      .addColumn('created', 'bigint', (column) => column.notNull())
      .addColumn('expires', 'bigint', (column) => column.notNull())
      .addColumn('due', 'bigint', (column) => column.notNull())
      .addColumn('claim', 'text')
      .addColumn('tries', 'integer', (column) => column.notNull())
      .addColumn('ended', 'bigint')
      .addColumn('outcome', 'text')
      .addColumn('detail', 'text')
      .execute();
    // Partial, because few rows wait and many are done.
    await sql`create index mail_waiting on mail_outbox (due) where ended is null`.execute(db);
    await sql`create index mail_ended on mail_outbox (ended) where ended is not null`.execute(db);
    await sql`create index mail_to on mail_outbox (recipient) where recipient is not null`.execute(db);
  },
};

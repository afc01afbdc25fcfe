/** Migrations of the accounts, of access, and of operators' sessions. */
import { type Kysely, sql } from 'kysely';
import type { Migration } from '../database/migrate.ts';

async function createUserTables(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('users')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('email', 'text', (column) => column.notNull().unique())
    .addColumn('emailVerified', 'integer', (column) => column.notNull())
    .addColumn('image', 'text')
    .addColumn('createdAt', 'text', (column) => column.notNull())
    .addColumn('updatedAt', 'text', (column) => column.notNull())
    .addColumn('trackingId', 'text', (column) => column.notNull().unique())
    .execute();

  await db.schema
    .createTable('sessions')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('userId', 'text', (column) => column.notNull().references('users.id').onDelete('cascade'))
    .addColumn('token', 'text', (column) => column.notNull().unique())
    .addColumn('expiresAt', 'text', (column) => column.notNull())
    .addColumn('createdAt', 'text', (column) => column.notNull())
    .addColumn('updatedAt', 'text', (column) => column.notNull())
    .addColumn('ipAddress', 'text')
    .addColumn('userAgent', 'text')
    .execute();
  await db.schema.createIndex('sessions_of_user').on('sessions').column('userId').execute();
  await db.schema.createIndex('sessions_by_expiry').on('sessions').column('expiresAt').execute();

  await db.schema
    .createTable('identities')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('userId', 'text', (column) => column.notNull().references('users.id').onDelete('cascade'))
    .addColumn('accountId', 'text', (column) => column.notNull())
    .addColumn('providerId', 'text', (column) => column.notNull())
    .addColumn('accessToken', 'text')
    .addColumn('refreshToken', 'text')
    .addColumn('idToken', 'text')
    .addColumn('accessTokenExpiresAt', 'text')
    .addColumn('refreshTokenExpiresAt', 'text')
    .addColumn('scope', 'text')
    .addColumn('password', 'text')
    .addColumn('createdAt', 'text', (column) => column.notNull())
    .addColumn('updatedAt', 'text', (column) => column.notNull())
    .addUniqueConstraint('identities_once', ['providerId', 'accountId'])
    .execute();
  await db.schema.createIndex('identities_of_user').on('identities').column('userId').execute();
}

async function createProofTables(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('proofs')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('kind', 'text', (column) => column.notNull())
    .addColumn('subject', 'text', (column) => column.notNull())
    .addColumn('purpose', 'text', (column) => column.notNull())
    .addColumn('secret', 'text')
    .addColumn('payload', 'text', (column) => column.notNull())
    .addColumn('tries', 'integer', (column) => column.notNull())
    .addColumn('created', 'bigint', (column) => column.notNull())
    .addColumn('expires', 'bigint', (column) => column.notNull())
    .addColumn('used', 'bigint')
    .execute();
  await db.schema.createIndex('proofs_of_subject').on('proofs').columns(['subject', 'kind']).execute();
  await db.schema.createIndex('proofs_by_expiry').on('proofs').column('expires').execute();

  await db.schema
    .createTable('limits')
    .addColumn('key', 'text', (column) => column.primaryKey())
    .addColumn('since', 'bigint', (column) => column.notNull())
    .addColumn('until', 'bigint', (column) => column.notNull())
    .addColumn('count', 'integer', (column) => column.notNull())
    .execute();
  await db.schema.createIndex('limits_by_end').on('limits').column('until').execute();
}

async function createProfileTables(db: Kysely<unknown>): Promise<void> {
  for (const table of ['profiles', 'extended_profiles'] as const) {
    const keys = table === 'profiles' ? ['user_id'] : ['user_id', 'app'];
    let made = db.schema
      .createTable(table)
      .addColumn('user_id', 'text', (column) => column.notNull().references('users.id').onDelete('cascade'));
    if (keys.includes('app')) made = made.addColumn('app', 'text', (column) => column.notNull());
    await made
      .addColumn('data', 'text', (column) => column.notNull())
      .addColumn('updated', 'bigint', (column) => column.notNull())
      .addPrimaryKeyConstraint(`${table}_key`, keys as never)
      .execute();
  }
}

async function createAudit(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('audit')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('at', 'bigint', (column) => column.notNull())
    .addColumn('event', 'text', (column) => column.notNull())
    // Not a foreign key, because the audit trail outlives the user.
    .addColumn('user_id', 'text')
    .addColumn('subject', 'text')
    .addColumn('place', 'text')
    .addColumn('detail', 'text')
    .execute();
  await db.schema.createIndex('audit_by_time').on('audit').column('at').execute();
  await sql`create index audit_of_user on audit (user_id)`.execute(db);
}

/** Users, sessions and identities (with columns that better-auth required); proofs, limits, profiles and the audit trail. */
export const accounts: Migration = {
  name: '0001-accounts',
  async up(db: Kysely<unknown>): Promise<void> {
    await createUserTables(db);
    await createProofTables(db);
    await createProfileTables(db);
    await createAudit(db);
  },
};

/** The meter of registered readers, and subscribers' gift links. */
export const access: Migration = {
  name: '0004-access',
  async up(db: Kysely<unknown>): Promise<void> {
    await db.schema
      .createTable('article_reads')
      .addColumn('user_id', 'text', (column) => column.notNull().references('users.id').onDelete('cascade'))
      .addColumn('article_id', 'bigint', (column) => column.notNull())
      .addColumn('at', 'bigint', (column) => column.notNull())
      .addPrimaryKeyConstraint('article_reads_key', ['user_id', 'article_id'])
      .execute();
    await db.schema
      .createTable('gifts')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('token', 'text', (column) => column.notNull().unique())
      .addColumn('user_id', 'text', (column) => column.notNull().references('users.id').onDelete('cascade'))
      .addColumn('article_id', 'bigint', (column) => column.notNull())
      .addColumn('created', 'bigint', (column) => column.notNull())
      .addColumn('expires', 'bigint', (column) => column.notNull())
      .addColumn('readers', 'integer', (column) => column.notNull())
      .addColumn('most', 'integer', (column) => column.notNull())
      .execute();
    await db.schema.createIndex('gifts_of_user').on('gifts').columns(['user_id', 'created']).execute();
  },
};

/** The deletion of old readings finds them by time. */
export const readingTimes: Migration = {
  name: '0021-reading-times',
  async up(db: Kysely<unknown>): Promise<void> {
    await db.schema.createIndex('article_reads_by_time').on('article_reads').column('at').execute();
  },
};

/** Operators' sessions, so that signing out ends a session in every process. */
export const operatorSessions: Migration = {
  name: '0011-operator-sessions',
  async up(db: Kysely<unknown>): Promise<void> {
    await db.schema
      .createTable('operator_sessions')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('expires', 'bigint', (column) => column.notNull())
      .execute();
  },
};

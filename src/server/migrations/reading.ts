/** Migrations of what readers read: saved stories, history, most read stories, comments and private feeds. */
import type { Kysely } from 'kysely';
import type { Migration } from '../database/migrate.ts';

/** Readers' saved stories and reading history. */
export const library: Migration = {
  name: '0009-library',
  async up(db: Kysely<unknown>): Promise<void> {
    for (const table of ['saved_articles', 'reading_history']) {
      await db.schema
        .createTable(table)
        .addColumn('user_id', 'text', (column) => column.notNull().references('users.id').onDelete('cascade'))
        .addColumn('article_id', 'bigint', (column) => column.notNull())
        .addColumn('at', 'bigint', (column) => column.notNull())
        .addPrimaryKeyConstraint(`${table}_key`, ['user_id', 'article_id'])
        .execute();
    }
    await db.schema.createIndex('reading_history_by_time').on('reading_history').column('at').execute();
    await db.schema
      .createTable('history_refusals')
      .addColumn('user_id', 'text', (column) => column.primaryKey().references('users.id').onDelete('cascade'))
      .addColumn('at', 'bigint', (column) => column.notNull())
      .execute();
  },
};

/** The time up to which a reader was notified about corrections of stories in the history. */
export const corrections: Migration = {
  name: '0015-corrections',
  async up(db: Kysely<unknown>): Promise<void> {
    await db.schema
      .createTable('corrections_told')
      .addColumn('user_id', 'text', (column) => column.primaryKey().references('users.id').onDelete('cascade'))
      .addColumn('at', 'bigint', (column) => column.notNull())
      .execute();
  },
};

/** How often articles are read. Nothing here identifies a reader. */
export const popularity: Migration = {
  name: '0007-popularity',
  async up(db: Kysely<unknown>): Promise<void> {
    await db.schema
      .createTable('popularity')
      .addColumn('article_id', 'bigint', (column) => column.primaryKey())
      .addColumn('heat', 'double precision', (column) => column.notNull())
      .addColumn('half_life', 'bigint', (column) => column.notNull())
      .addColumn('total', 'bigint', (column) => column.notNull())
      .execute();
    await db.schema.createIndex('popularity_by_heat').on('popularity').column('heat').execute();
  },
};

/** Readings of the last hours, by minute. Nothing here identifies a reader. */
export const recentReadings: Migration = {
  name: '0018-recent-readings',
  async up(db: Kysely<unknown>): Promise<void> {
    await db.schema
      .createTable('recent_readings')
      .addColumn('minute', 'bigint', (column) => column.notNull())
      .addColumn('article_id', 'bigint', (column) => column.notNull())
      .addColumn('readings', 'bigint', (column) => column.notNull())
      .addPrimaryKeyConstraint('recent_readings_key', ['minute', 'article_id'])
      .execute();
  },
};

/** Readers' comments and reports, and the tasks that send them to WordPress. */
export const comments: Migration = {
  name: '0008-comments',
  async up(db: Kysely<unknown>): Promise<void> {
    await db.schema
      .createTable('comment_posts')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('user_id', 'text', (column) => column.notNull().references('users.id').onDelete('cascade'))
      .addColumn('draft', 'text', (column) => column.notNull())
      .addColumn('article_id', 'bigint', (column) => column.notNull())
      .addColumn('parent_id', 'bigint', (column) => column.notNull())
      .addColumn('name', 'text', (column) => column.notNull())
      .addColumn('content', 'text', (column) => column.notNull())
      .addColumn('state', 'text', (column) => column.notNull())
      .addColumn('wordpress_id', 'bigint')
      .addColumn('claimed', 'bigint', (column) => column.notNull())
      .addColumn('created', 'bigint', (column) => column.notNull())
      .addColumn('edited', 'bigint')
      .addColumn('checked', 'bigint', (column) => column.notNull())
      .addUniqueConstraint('comment_posts_draft', ['user_id', 'draft'])
      .execute();
    await db.schema
      .createIndex('comment_posts_article')
      .on('comment_posts')
      .columns(['user_id', 'article_id', 'created'])
      .execute();
    await db.schema.createIndex('comment_posts_state').on('comment_posts').columns(['state', 'created']).execute();
    await db.schema
      .createTable('comment_reports')
      .addColumn('user_id', 'text', (column) => column.notNull().references('users.id').onDelete('cascade'))
      .addColumn('comment_id', 'bigint', (column) => column.notNull())
      .addColumn('at', 'bigint', (column) => column.notNull())
      .addPrimaryKeyConstraint('comment_reports_key', ['user_id', 'comment_id'])
      .execute();
    await db.schema.createIndex('comment_reports_comment').on('comment_reports').column('comment_id').execute();
    await db.schema
      .createTable('comment_tasks')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('kind', 'text', (column) => column.notNull())
      .addColumn('subject', 'text', (column) => column.notNull())
      .addColumn('stamp', 'text', (column) => column.notNull())
      .addColumn('due', 'bigint', (column) => column.notNull())
      .addColumn('tries', 'integer', (column) => column.notNull())
      .execute();
    await db.schema.createIndex('comment_tasks_due').on('comment_tasks').column('due').execute();
  },
};

/** Subscribers' private feeds of series. */
export const podcastFeeds: Migration = {
  name: '0017-podcast-feeds',
  async up(db: Kysely<unknown>): Promise<void> {
    await db.schema
      .createTable('podcast_feeds')
      .addColumn('id', 'text', (column) => column.notNull())
      .addColumn('user_id', 'text', (column) => column.notNull().references('users.id').onDelete('cascade'))
      .addColumn('podcast_id', 'bigint', (column) => column.notNull())
      .addColumn('token', 'text', (column) => column.notNull())
      .addColumn('created', 'bigint', (column) => column.notNull())
      .addPrimaryKeyConstraint('podcast_feeds_key', ['user_id', 'podcast_id'])
      .execute();
    // Both columns are random, so neither index needs to be unique. With a second unique index, an insert could not replace the row of
    // the same user and series (conflicts.test.ts).
    await db.schema.createIndex('podcast_feeds_id').on('podcast_feeds').column('id').execute();
    await db.schema.createIndex('podcast_feeds_token').on('podcast_feeds').column('token').execute();
  },
};

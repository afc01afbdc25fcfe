/** An ordinary WordPress for the tests of the adoption: its posts, the adoption command, and a comparison of its tables. */
import fs from 'node:fs';
import path from 'node:path';
import { type Newsroom, startNewsroom } from './harness.ts';

export type Tables = Record<string, Record<string, unknown>[]>;

export interface OrdinaryWordPress {
  readonly newsroom: Newsroom;
  /** Ids of posts, users and categories by the names in support/wordpress-to-adopt.php. */
  readonly ids: Record<string, number>;
  /** Every row of content, and every setting that is neither a cache nor a time. */
  tables(): Promise<Tables>;
  /** Runs the command with small batches, so that sixty posts take several. `first` is PHP that runs before it. */
  run(options: Record<string, boolean>, first?: string): Promise<{ lines: string[]; failed: string | null }>;
  /** Rows that the tables had before and no longer have, and vice versa. */
  difference(before: Tables): Promise<string[]>;
}

export async function startOrdinaryWordPress(siteUrl: string): Promise<OrdinaryWordPress> {
  const newsroom = await startNewsroom(siteUrl);
  const fixture = fs.readFileSync(path.join(import.meta.dirname, 'support/wordpress-to-adopt.php'), 'utf8');
  const ids = await newsroom.php(
    `add_filter( 'newsroom_webhooks_enabled', '__return_false' ); ${fixture.replace('<?php', '')}`,
  );
  // WordPress's own first writes: the theme's navigation, keys for nonces, the day of the site's last sign-in.
  await newsroom.get('/nothing-here/');
  await newsroom.rest('/newsroom/v1/status', { as: 'site' });
  const tables = (): Promise<Tables> =>
    newsroom.php(`
    global $wpdb;
    $dump = array();
    foreach ( array( 'posts', 'postmeta', 'terms', 'term_taxonomy', 'term_relationships', 'termmeta', 'users', 'usermeta', 'comments', 'commentmeta' ) as $table ) {
      $dump[ $table ] = $wpdb->get_results( "SELECT * FROM {$wpdb->$table} ORDER BY 1, 2", ARRAY_A );
    }
    $dump['options'] = $wpdb->get_results( "SELECT option_name, option_value FROM {$wpdb->options} WHERE option_name NOT LIKE '%transient%' AND option_name NOT IN ('cron', 'newsroom_adopt_check') ORDER BY option_name", ARRAY_A );
    return $dump;`);
  return {
    newsroom,
    ids,
    tables,
    run: (options, first = '') =>
      newsroom.php(
        `add_filter( 'newsroom_adopt_batch_size', function () { return 20; } );
    $lines = array();
    ${first}
    $failed = newsroom_adopt_command( $input, function ( $line ) use ( &$lines ) { $lines[] = $line; } );
    return array( 'lines' => $lines, 'failed' => is_wp_error( $failed ) ? $failed->get_error_message() : null );`,
        options,
      ),
    async difference(before) {
      const rows = (all: Tables) =>
        Object.entries(all).flatMap(([table, list]) => list.map((row) => `${table} ${JSON.stringify(row)}`));
      const [then, now] = [rows(before), rows(await tables())];
      const [known, present] = [new Set(then), new Set(now)];
      return [
        ...then.filter((row) => !present.has(row)).map((row) => `- ${row}`),
        ...now.filter((row) => !known.has(row)).map((row) => `+ ${row}`),
      ];
    },
  };
}

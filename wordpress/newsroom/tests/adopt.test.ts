import fs from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Newsroom, startNewsroom } from './harness.ts';
import { Receiver } from './receiver.ts';

const receiver = new Receiver();
let newsroom: Newsroom;
let ids: Record<string, number>;
let before: Tables;

type Tables = Record<string, Record<string, unknown>[]>;

/** Every row that content consists of, and every setting that is neither a cache nor a clock. */
const tables = (): Promise<Tables> =>
  newsroom.php(`
    global $wpdb;
    $dump = array();
    foreach ( array( 'posts', 'postmeta', 'terms', 'term_taxonomy', 'term_relationships', 'termmeta', 'users', 'usermeta', 'comments', 'commentmeta' ) as $table ) {
      $dump[ $table ] = $wpdb->get_results( "SELECT * FROM {$wpdb->$table} ORDER BY 1, 2", ARRAY_A );
    }
    $dump['options'] = $wpdb->get_results( "SELECT option_name, option_value FROM {$wpdb->options} WHERE option_name NOT LIKE '%transient%' AND option_name NOT IN ('cron', 'newsroom_adopt_check') ORDER BY option_name", ARRAY_A );
    return $dump;`);

/** Runs the command; small batches, so that sixty posts take several. */
const run = (options: Record<string, boolean>, first = ''): Promise<{ lines: string[]; failed: string | null }> =>
  newsroom.php(
    `add_filter( 'newsroom_adopt_batch_size', function () { return 20; } );
    $lines = array();
    ${first}
    $failed = newsroom_adopt_command( $input, function ( $line ) use ( &$lines ) { $lines[] = $line; } );
    return array( 'lines' => $lines, 'failed' => is_wp_error( $failed ) ? $failed->get_error_message() : null );`,
    options,
  );

const of = (rows: Tables, id: number | undefined) => rows.posts?.find((row) => Number(row.ID) === id);
const left = async () =>
  newsroom.php(
    `global $wpdb; return $wpdb->get_col( "SELECT ID FROM {$wpdb->posts} WHERE post_type = 'post' ORDER BY ID" );`,
  );

beforeAll(async () => {
  await receiver.open();
  newsroom = await startNewsroom(receiver.url);
  const fixture = fs.readFileSync(path.join(import.meta.dirname, 'support/wordpress-to-adopt.php'), 'utf8');
  ids = await newsroom.php(`add_filter( 'newsroom_webhooks_enabled', '__return_false' ); ${fixture.replace('<?php', '')}`);
  before = await tables();
});
afterAll(async () => {
  await newsroom?.stop();
  await receiver.close();
});
beforeEach(() => receiver.clear());

describe('wp newsroom adopt', () => {
  it('says what would happen, names the problems, and changes nothing', async () => {
    const { lines, failed } = await run({});
    expect(failed).toBeNull();
    console.log(lines.join('\n'));
    expect(await tables()).toEqual(before);
  });

  it('makes articles of the posts and touches nothing else of them', async () => {
    const { lines, failed } = await run({ yes: true });
    expect(failed).toBeNull();
    console.log(lines.join('\n'));
    const after = await tables();
    const kept = (rows: Tables) => rows.posts?.map(({ post_type, post_name, ...rest }) => rest).filter(({ ID }) => before.posts?.some((row) => row.ID === ID));
    expect(kept(after)).toEqual(kept(before));
    expect((await left()).map(Number)).toEqual([ids.protected, ids.blank]);
  });

  it('puts everything back', async () => {
    const { lines, failed } = await run({ undo: true });
    expect(failed).toBeNull();
    console.log(lines.join('\n'));
    expect(await tables()).toEqual(before);
  });
});

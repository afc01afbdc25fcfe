/**
 * The plural forms of the adoption's report, and database behavior during the adoption that the sandbox's database doesn't have;
 * `npm run bench:adopt` tests that on MariaDB.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Newsroom } from './harness.ts';
import { type OrdinaryWordPress, startOrdinaryWordPress, type Tables } from './ordinary-wordpress.ts';

let ordinary: OrdinaryWordPress;
let newsroom: Newsroom;
let ids: Record<string, number>;
let before: Tables;

beforeAll(async () => {
  // The port of nothing: deliveries don't matter here.
  ordinary = await startOrdinaryWordPress('http://127.0.0.1:9');
  ({ newsroom, ids } = ordinary);
  before = await ordinary.tables();
});
afterAll(() => newsroom?.stop());

describe('the report on an adoption', () => {
  it('has a plural form for each count, in languages with more than two, too', async () => {
    // A language in which a number that ends in 3 has a form of its own.
    const forms = `add_filter( 'ngettext_newsroom', function ( $text, $one, $many, $number ) { return ( 3 === $number % 10 ? '<few>' : '<other>' ) . $text; }, 10, 4 );`;
    const { lines, failed } = await ordinary.run({}, forms);
    expect(failed).toBeNull();
    const problems = lines.filter((line) => /^- [\w-]+: /.test(line));
    expect(problems.length).toBeGreaterThan(10);
    for (const line of [...lines.slice(0, 4), ...problems]) {
      expect(line).toMatch(/^(- [\w-]+: )?(<few>(\d*3) |<other>(\d*[^3]) )/);
    }
    expect(problems).toContain('- drafts: <few>3 drafts become draft articles.');
    expect(await ordinary.difference(before)).toEqual([]);
  });
});

describe('adopting an existing WordPress', () => {
  it('stops a batch if WordPress loses the database connection, and releases the lock', async () => {
    const lost = await newsroom.php(
      `global $wpdb; $token = newsroom_adopt_lock(); $retries = array( $wpdb->reconnect_retries );
      try {
        newsroom_in_batch( $token, function () use ( &$retries ) { global $wpdb; $retries[] = $wpdb->reconnect_retries; update_option( 'blogname', 'Lost' ); wp_die( '<h1>No database</h1>' ); } );
      } catch ( RuntimeException $error ) { $message = $error->getMessage(); }
      newsroom_adopt_unlock( $token );
      return array( 'message' => $message, 'retries' => array_merge( $retries, array( $wpdb->reconnect_retries ) ) );`,
    );
    expect(lost.message).toMatch(/Nothing was lost; start again.*No database/);
    // Reconnecting in the middle would keep half of a batch without its journal.
    expect(lost.retries).toEqual([5, 0, 5]);
    expect(await ordinary.difference(before)).toEqual([]);
  });

  it('keeps its journal in MyISAM tables if the posts are in MyISAM tables', async () => {
    const engines = await newsroom.php(
      `$own = newsroom_journal_engine();
      add_filter( 'query', function ( $sql ) { return 0 === strpos( $sql, 'SHOW TABLE STATUS LIKE' ) ? "SELECT 'MyISAM' AS Engine" : $sql; } );
      return array( $own, newsroom_journal_engine() );`,
    );
    expect(engines).toEqual(['', 'ENGINE=MyISAM']);
  });

  it('reuses the author document that an interrupted run created', async () => {
    await newsroom.php(
      `add_filter( 'newsroom_webhooks_enabled', '__return_false' ); global $wpdb; newsroom_create_journal();
      newsroom_journal( array( array( 'author', $input['ada'], '', array( 'after' => (int) $wpdb->get_var( "SELECT MAX(ID) FROM {$wpdb->posts}" ) ), array() ) ) );
      return wp_insert_post( array( 'post_type' => 'authors', 'post_title' => 'Ada O’Vale', 'post_name' => 'ada', 'post_status' => 'publish' ) );`,
      ids,
    );
    expect((await ordinary.run({ yes: true })).failed).toBeNull();
    const { json } = await newsroom.rest(`/wp/v2/articles/${ids.plain}?context=view`, { as: 'site' });
    expect(json.acf.author.slug).toBe('ada');
    expect((await ordinary.run({ undo: true })).failed).toBeNull();
    expect(await ordinary.difference(before)).toEqual([]);
  });

  it('numbers the duplicates of a slug with one query per slug, not per post', async () => {
    const numbered = await newsroom.php(
      `$posts = array(); $statements = 0;
      for ( $id = 1; $id <= 60; $id++ ) { $posts[] = (object) array( 'ID' => $id, 'post_name' => $id % 2 ? 'annual' : str_repeat( 'long-', 40 ), 'post_status' => 'publish' ); }
      add_filter( 'query', function ( $sql ) use ( &$statements ) { ++$statements; return $sql; } );
      return array( array_values( newsroom_adopt_slugs( $posts ) ), $statements );`,
    );
    // One statement for the taken slugs, and one for the numbered variants of each of the two.
    expect(numbered[1]).toBe(3);
    // All new slugs differ. One post keeps the long slug, which is free; "annual" is an article's already.
    expect(new Set(numbered[0]).size).toBe(59);
    expect(numbered[0].slice(0, 3)).toEqual(['annual-2', 'annual-3', `${'long-'.repeat(39)}lon-2`]);
  });

  it('reads no more post text at once than fits into PHP’s memory', async () => {
    const few = await newsroom.php(
      `add_filter( 'query', function ( $sql ) { return str_replace( 'LENGTH(post_content)', '20 * LENGTH(post_content)', $sql ); } );
      return array( newsroom_ids_within_memory( array( $input['plain'], $input['long'], $input['deep'] ) ), newsroom_ids_within_memory( array( $input['long'], $input['plain'] ) ), newsroom_ids_within_memory( array( $input['plain'], $input['deep'] ) ), newsroom_ids_within_memory( array() ) );`,
      ids,
    );
    expect(few).toEqual([[ids.plain], [ids.long], [ids.plain, ids.deep], []]);
  });
});

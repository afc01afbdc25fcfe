/** The table of deliveries: merging, storing, claiming, and writing deliveries again. */
import { describe, expect, it } from 'vitest';
import { newsroom, receiver, withNewsroom } from './opened.ts';
import { untilSent } from './until-sent.ts';

withNewsroom();

describe('the webhook queue', () => {
  const merge = (older: string, newer: string, previous: string | null = null) =>
    newsroom.php(
      `$of = function ( $event, $slug ) { return array( 'event' => $event, 'previous_slug' => $slug ); }; return newsroom_merge( $of( $input[0], $input[2] ), $of( $input[1], null ) );`,
      [older, newer, previous],
    );

  it('merges two events of a document into the more important one', async () => {
    const cases: [string, string, string][] = [
      ['publish', 'update', 'publish'],
      ['update', 'publish', 'publish'],
      ['slug', 'update', 'slug'],
      ['update', 'unpublish', 'unpublish'],
      ['unpublish', 'update', 'unpublish'],
      ['unpublish', 'publish', 'publish'],
      ['trash', 'publish', 'publish'],
      ['unpublish', 'author', 'author'],
      ['trash', 'delete', 'delete'],
      ['delete', 'publish', 'delete'],
    ];
    for (const [older, newer, expected] of cases)
      expect((await merge(older, newer)).event, `${older} + ${newer}`).toBe(expected);
    expect((await merge('slug', 'publish', 'first')).previous_slug).toBe('first');
  });

  it('keeps the last 100 deliveries', async () => {
    await newsroom.php(
      `for ( $i = 0; $i < 130; $i++ ) { $id = newsroom_enqueue( newsroom_payload( 'update', 'articles', 900000 + $i, 's', 'publish' ) ); newsroom_update_row( $id, array( 'state' => 'done' ) ); } $GLOBALS['wpdb']->query( 'UPDATE ' . newsroom_table() . ' SET tried_at = 1' ); newsroom_prune_log(); return 1;`,
    );
    const counted = await newsroom.php(
      `global $wpdb; return array( (int) $wpdb->get_var( 'SELECT COUNT(*) FROM ' . newsroom_table() ), count( newsroom_recent_deliveries() ) );`,
    );
    expect(counted).toEqual([100, 100]);
  });

  it('keeps more than 100 deliveries if they are less than ten minutes old', async () => {
    const counted = await newsroom.php(
      `global $wpdb; $table = newsroom_table(); $wpdb->query( "UPDATE $table SET tried_at = 1" ); for ( $i = 0; $i < 130; $i++ ) { $id = newsroom_enqueue( newsroom_payload( 'comment', 'comments', 910000 + $i, '', 'trash' ) ); newsroom_update_row( $id, array( 'state' => 'done', 'tried_at' => time() - 500 ) ); } newsroom_prune_log(); $counts = array( (int) $wpdb->get_var( "SELECT COUNT(*) FROM $table" ) ); $wpdb->query( "UPDATE $table SET tried_at = 1" ); newsroom_prune_log(); $counts[] = (int) $wpdb->get_var( "SELECT COUNT(*) FROM $table" ); return $counts;`,
    );
    expect(counted).toEqual([130, 100]);
  });

  it('lets only one process claim a delivery', async () => {
    const taken = await newsroom.php(
      `add_filter( 'newsroom_webhooks_enabled', '__return_false' ); $id = newsroom_enqueue( newsroom_payload( 'update', 'articles', 999, 's', 'publish' ) ); $a = newsroom_claim( $id ); $b = newsroom_claim( $id ); newsroom_update_row( $id, array( 'state' => 'done' ) ); return array( null !== $a, null === $b );`,
    );
    expect(taken).toEqual([true, true]);
  });

  it('delivers a webhook even if the database refuses each write twice', async () => {
    const [row, refused] = await newsroom.php(
      `$refused = array();
      // WordPress's database reports an empty query as a failure.
      add_filter( 'query', function ( $query ) use ( &$refused ) {
        $kind = strtok( $query, ' ' );
        $fails = false !== strpos( $query, 'newsroom_deliveries' ) && ( 'INSERT' === $kind || false !== strpos( $query, "'done'" ) && 'UPDATE' === $kind );
        if ( ! $fails || isset( $refused[ $kind ] ) && $refused[ $kind ] > 1 ) { return $query; }
        $refused[ $kind ] = isset( $refused[ $kind ] ) ? $refused[ $kind ] + 1 : 1;
        return '';
      } );
      $id = wp_insert_post( array( 'post_type' => 'articles', 'post_title' => 'Refused twice', 'post_status' => 'publish' ) );
      newsroom_flush_changes();
      return array( newsroom_last_delivery( 'articles', $id ), $refused );`,
    );
    expect(refused).toEqual({ INSERT: 2, UPDATE: 2 });
    expect(row).toMatchObject({ state: 'done', tries: '1', status_code: '200' });
  });

  it('retries a delivery two minutes after its process was killed', async () => {
    await untilSent(newsroom);
    const [next, left] = await newsroom.php(
      `add_filter( 'newsroom_webhooks_enabled', '__return_false' );
      $id = newsroom_enqueue( newsroom_payload( 'update', 'articles', 998, 's', 'publish' ) );
      newsroom_claim( $id );
      wp_unschedule_hook( 'newsroom_deliver' );
      newsroom_schedule_next();
      $next = newsroom_next_cron( 'newsroom_deliver' ) - time();
      newsroom_update_row( $id, array( 'tried_at' => time() - 121 ) );
      $left = newsroom_due( 1 );
      newsroom_update_row( $id, array( 'state' => 'done' ) );
      return array( $next, array( $id ) === $left );`,
    );
    expect(next).toBeGreaterThan(100);
    expect(next).toBeLessThan(130);
    expect(left).toBe(true);
  });

  it('sends a newly saved story before the backlog of an import', async () => {
    await untilSent(newsroom);
    receiver.clear();
    await newsroom.php(
      `add_filter( 'newsroom_site_url', '__return_empty_string' ); for ( $i = 0; $i < 12; $i++ ) { newsroom_enqueue( newsroom_payload( 'update', 'articles', 700000 + $i, 's', 'publish' ) ); } return 1;`,
    );
    const story = await newsroom.php(
      `$id = wp_insert_post( array( 'post_type' => 'articles', 'post_title' => 'Breaking', 'post_status' => 'publish' ) ); newsroom_flush_changes(); return $id;`,
    );
    await untilSent(newsroom);
    expect(receiver.deliveries[0]?.body.id).toBe(story);
    expect(receiver.deliveries).toHaveLength(13);
  });

  it('sends deliveries that failed with a network error or 502 at once when the site responds again', async () => {
    await untilSent(newsroom);
    receiver.clear();
    const states = await newsroom.php(
      `$rows = array( 0 => 0, 502 => 0, 401 => 0 );
      foreach ( $rows as $code => $none ) { $rows[ $code ] = newsroom_enqueue( newsroom_payload( 'update', 'articles', 600000 + $code, 's', 'publish' ) ); newsroom_update_row( $rows[ $code ], array( 'tries' => 11, 'status_code' => $code, 'next_at' => time() + 4 * HOUR_IN_SECONDS ) ); }
      wp_insert_post( array( 'post_type' => 'articles', 'post_title' => 'Back', 'post_status' => 'publish' ) );
      newsroom_flush_changes();
      newsroom_deliver_from_cron();
      global $wpdb;
      $states = $wpdb->get_results( 'SELECT object_id, state FROM ' . newsroom_table() . ' WHERE object_id BETWEEN 600000 AND 600999 ORDER BY object_id', OBJECT_K );
      $wpdb->query( 'DELETE FROM ' . newsroom_table() . ' WHERE object_id BETWEEN 600000 AND 600999' );
      return array_map( function ( $row ) { return $row->state; }, $states );`,
    );
    expect(states).toEqual({ 600000: 'done', 600401: 'pending', 600502: 'done' });
  });

  it('replaces over 200 changes of one request with one for the whole site, except for withdrawals', async () => {
    await untilSent(newsroom);
    receiver.clear();
    const gone = await newsroom.php(
      `$ids = array(); for ( $i = 0; $i < 202; $i++ ) { $ids[] = wp_insert_post( array( 'post_type' => 'articles', 'post_title' => "Imported $i", 'post_status' => 'publish' ) ); }
      wp_trash_post( $ids[0] );
      newsroom_flush_changes();
      return $ids[0];`,
    );
    await untilSent(newsroom);
    expect(receiver.deliveries.map(({ body: { event, type, id } }) => [event, type, id])).toEqual([
      ['trash', 'articles', gone],
      ['update', 'site', 0],
    ]);
  });

  it('sends nothing for the comments of a deleted story', async () => {
    const story = await newsroom.php(
      `$id = wp_insert_post( array( 'post_type' => 'articles', 'post_title' => 'Discussed', 'post_status' => 'publish' ) );
      foreach ( array( 'One', 'Two', 'Three' ) as $text ) { wp_insert_comment( array( 'comment_post_ID' => $id, 'comment_content' => $text, 'comment_approved' => 1 ) ); }
      return $id;`,
    );
    await untilSent(newsroom);
    receiver.clear();
    await newsroom.php(`return (bool) wp_delete_post( $input, true );`, story);
    await untilSent(newsroom);
    expect(receiver.deliveries.map(({ body: { event, id } }) => [event, id])).toEqual([['delete', story]]);
  });

  it('reports no recent changes for a story whose deliveries were deleted', async () => {
    const story = await newsroom.php(
      `return wp_insert_post( array( 'post_type' => 'articles', 'post_title' => 'Long ago', 'post_status' => 'publish' ) );`,
    );
    await untilSent(newsroom);
    await newsroom.php(`return $GLOBALS['wpdb']->delete( newsroom_table(), array( 'object_id' => $input ) );`, story);
    const message = async () =>
      (await newsroom.rest(`/newsroom/v1/delivery/${story}`, { as: 'admin' })).json.message as string;
    expect(await message()).toBe('No recent changes.');
    await newsroom.php(`return delete_post_meta( $input, '_newsroom_live_slug' );`, story);
    expect(await message()).toBe('This hasn’t been sent to the site yet.');
  });
});

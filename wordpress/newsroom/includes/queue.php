<?php
/**
 * The table of deliveries: what is due, and the log of what was delivered.
 *
 * One row is one delivery. Within a request changes are collected in memory; at its end each document has at most one waiting
 * row, so that ten saves while the site is down become one delivery.
 *
 * @package Newsroom
 */

if ( ! defined( 'ABSPATH' ) ) {
	exit;
}

/**
 * Seconds after which a delivery counts as cut off by a crash.
 */
define( 'NEWSROOM_SENDING_SECONDS', 120 );

/**
 * Name of the table.
 *
 * @return string
 */
function newsroom_table() {
	global $wpdb;
	return $wpdb->prefix . 'newsroom_deliveries';
}

/**
 * Creates or updates the table.
 */
function newsroom_create_table() {
	global $wpdb;
	require_once ABSPATH . 'wp-admin/includes/upgrade.php';
	$table = newsroom_table();
	// Times are milliseconds since 1970 for `created_ms`, seconds for the others.
	dbDelta(
		"CREATE TABLE $table (
			id bigint(20) unsigned NOT NULL AUTO_INCREMENT,
			delivery varchar(36) NOT NULL DEFAULT '',
			object_type varchar(20) NOT NULL DEFAULT '',
			object_id bigint(20) unsigned NOT NULL DEFAULT 0,
			event varchar(20) NOT NULL DEFAULT '',
			payload longtext NOT NULL,
			state varchar(10) NOT NULL DEFAULT 'pending',
			tries int(11) NOT NULL DEFAULT 0,
			created_ms bigint(20) NOT NULL DEFAULT 0,
			next_at bigint(20) NOT NULL DEFAULT 0,
			tried_at bigint(20) NOT NULL DEFAULT 0,
			status_code int(11) NOT NULL DEFAULT 0,
			took_ms int(11) NOT NULL DEFAULT 0,
			site_ms int(11) NOT NULL DEFAULT 0,
			refreshed longtext NOT NULL,
			error text NOT NULL,
			PRIMARY KEY  (id),
			KEY state_next (state,next_at),
			KEY object_state (object_type,object_id,state)
		) {$wpdb->get_charset_collate()};"
	);
}

/**
 * Whether there is a site to deliver to.
 *
 * @return bool
 */
function newsroom_can_deliver() {
	/**
	 * Filters whether changes are delivered to the site. Imports turn it off, and the site fetches everything afterward.
	 *
	 * @param bool $enabled Whether they are.
	 */
	return '' !== newsroom_site_url() && '' !== newsroom_secret() && apply_filters( 'newsroom_webhooks_enabled', true );
}

/**
 * Merges two events of the same document if the older one is still undelivered.
 *
 * The newer one counts, but an update never hides a withdrawal or a publication, and the slug that the site knows is kept.
 *
 * @param array $older Payload.
 * @param array $newer Payload.
 * @return array
 */
function newsroom_merge( $older, $newer ) {
	$rank = array(
		'update'    => 1,
		'author'    => 1,
		'slug'      => 2,
		'publish'   => 3,
		'unpublish' => 4,
		'trash'     => 5,
		'delete'    => 6,
	);
	$from = $rank[ $older['event'] ] ?? 0;
	$to   = $rank[ $newer['event'] ] ?? 0;
	// A withdrawn document that was published again is live; authors announce that with the event `author`.
	$back = in_array( $older['event'], array( 'unpublish', 'trash' ), true ) && in_array( $newer['event'], array( 'publish', 'author' ), true );
	if ( $from > $to && ! $back ) {
		$newer['event'] = $older['event'];
	}
	if ( null !== $older['previous_slug'] ) {
		$newer['previous_slug'] = $older['previous_slug'];
	}
	if ( isset( $older['addresses'], $newer['addresses'] ) ) {
		$newer['addresses'] = array_slice( array_values( array_unique( array_merge( $newer['addresses'], $older['addresses'] ) ) ), 0, 200 );
	}
	return $newer;
}

/**
 * Stores a change in the table, or in the row that is waiting for the same document.
 *
 * @param array $payload Body of the webhook.
 * @return int Row.
 */
function newsroom_enqueue( $payload ) {
	global $wpdb;
	$table   = newsroom_table();
	$waiting = $wpdb->get_row( $wpdb->prepare( "SELECT id, payload FROM $table WHERE object_type = %s AND object_id = %d AND state = 'pending' ORDER BY id DESC LIMIT 1", $payload['type'], $payload['id'] ) ); // phpcs:ignore WordPress.DB
	$older   = $waiting ? json_decode( $waiting->payload, true ) : null;
	if ( is_array( $older ) ) {
		$payload = newsroom_merge( $older, $payload );
	}
	$row = array(
		// A new change is a new delivery, even if it replaces an old one: the site may have processed that one although its
		// response was lost.
		'delivery'    => wp_generate_uuid4(),
		'object_type' => $payload['type'],
		'object_id'   => $payload['id'],
		'event'       => $payload['event'],
		'payload'     => wp_json_encode( $payload ),
		'state'       => 'pending',
		'tries'       => 0,
		'created_ms'  => (int) round( microtime( true ) * 1000 ),
		'next_at'     => time(),
		'refreshed'   => '',
		'error'       => '',
	);
	if ( $waiting ) {
		$changed = $wpdb->update( $table, $row, array( 'id' => $waiting->id, 'state' => 'pending' ) ); // phpcs:ignore WordPress.DB,WordPress.Arrays
		if ( $changed ) {
			return (int) $waiting->id;
		}
	}
	newsroom_write_delivery(
		function () use ( $wpdb, $table, $row ) {
			return $wpdb->insert( $table, $row ); // phpcs:ignore WordPress.DB
		}
	);
	return (int) $wpdb->insert_id;
}

/**
 * Writes to the table, and retries if the database ends the statement because of a deadlock or a lock timeout.
 *
 * @param callable $write Returns false when it failed.
 * @return int|false What it returned last.
 */
function newsroom_write_delivery( $write ) {
	for ( $pause = 20; $pause <= 320; $pause *= 2 ) {
		$written = $write();
		if ( false !== $written ) {
			return $written;
		}
		usleep( 1000 * $pause );
	}
	return $write();
}

/**
 * Takes a waiting row, so that no other process delivers it at the same time.
 *
 * @param int $id Row.
 * @return object|null The row, or null if it doesn't exist or isn't waiting.
 */
function newsroom_claim( $id ) {
	global $wpdb;
	$table = newsroom_table();
	$taken = $wpdb->query( $wpdb->prepare( "UPDATE $table SET state = 'sending', tries = tries + 1, tried_at = %d WHERE id = %d AND state = 'pending'", time(), $id ) ); // phpcs:ignore WordPress.DB
	return $taken ? $wpdb->get_row( $wpdb->prepare( "SELECT * FROM $table WHERE id = %d", $id ) ) : null; // phpcs:ignore WordPress.DB
}

/**
 * Rows that are due, oldest first.
 *
 * @param int $limit How many.
 * @return int[]
 */
function newsroom_due( $limit ) {
	global $wpdb;
	$table = newsroom_table();
	// A delivery that has been in the state "sending" for minutes was interrupted by a crash.
	$wpdb->query( $wpdb->prepare( "UPDATE $table SET state = 'pending' WHERE state = 'sending' AND tried_at < %d", time() - NEWSROOM_SENDING_SECONDS ) ); // phpcs:ignore WordPress.DB
	return array_map( 'intval', $wpdb->get_col( $wpdb->prepare( "SELECT id FROM $table WHERE state = 'pending' AND next_at <= %d ORDER BY id LIMIT %d", time(), $limit ) ) ); // phpcs:ignore WordPress.DB
}

/**
 * When the next row is due, including rows that a process is sending.
 *
 * @return int|null Unix seconds, or null when nothing waits.
 */
function newsroom_next_due() {
	global $wpdb;
	$table = newsroom_table();
	// A delivery that another process is sending may be interrupted.
	$next = $wpdb->get_var( $wpdb->prepare( "SELECT MIN( CASE state WHEN 'pending' THEN next_at ELSE tried_at + %d END ) FROM $table WHERE state IN ( 'pending', 'sending' )", NEWSROOM_SENDING_SECONDS + 1 ) ); // phpcs:ignore WordPress.DB
	return null === $next ? null : (int) $next;
}

/**
 * Makes rows due that wait because the site was unavailable: after some hours of failures each would wait for hours more
 * although the site is back.
 */
function newsroom_retry_after_outage() {
	global $wpdb;
	$table = newsroom_table();
	// Failures without a response, and responses of a proxy in front of the site.
	$wpdb->query( $wpdb->prepare( "UPDATE $table SET next_at = %d WHERE state = 'pending' AND next_at > %d AND tries > 0 AND ( status_code IN ( 0, 502, 504 ) OR status_code BETWEEN 520 AND 530 )", time(), time() ) ); // phpcs:ignore WordPress.DB
}

/**
 * Changes a row.
 *
 * @param int   $id     Row.
 * @param array $values Columns.
 */
function newsroom_update_row( $id, $values ) {
	global $wpdb;
	newsroom_write_delivery(
		function () use ( $wpdb, $id, $values ) {
			return $wpdb->update( newsroom_table(), $values, array( 'id' => $id ) ); // phpcs:ignore WordPress.DB
		}
	);
}

/**
 * Drops a failed row if a newer one for the same document is waiting; its event is merged into the newer one.
 *
 * @param object $row Row.
 * @return bool Whether there was a newer one.
 */
function newsroom_merge_into_newer( $row ) {
	global $wpdb;
	$table = newsroom_table();
	$newer = $wpdb->get_row( $wpdb->prepare( "SELECT id, payload FROM $table WHERE object_type = %s AND object_id = %d AND state = 'pending' AND id <> %d LIMIT 1", $row->object_type, $row->object_id, $row->id ) ); // phpcs:ignore WordPress.DB
	if ( ! $newer ) {
		return false;
	}
	$payload = newsroom_merge( json_decode( $row->payload, true ), json_decode( $newer->payload, true ) );
	$merged  = array(
		'event'   => $payload['event'],
		'payload' => wp_json_encode( $payload ),
	);
	if ( $merged['payload'] !== $newer->payload && ! $wpdb->update( $table, $merged, array( 'id' => $newer->id, 'state' => 'pending' ) ) ) { // phpcs:ignore WordPress.DB,WordPress.Arrays
		// Another process is already sending the newer one, so this row must be sent itself.
		return false;
	}
	$wpdb->delete( $table, array( 'id' => $row->id ) ); // phpcs:ignore WordPress.DB
	return true;
}

/**
 * The newest deliveries.
 *
 * @param int $limit How many.
 * @return object[]
 */
function newsroom_recent_deliveries( $limit = 100 ) {
	global $wpdb;
	$table = newsroom_table();
	return $wpdb->get_results( $wpdb->prepare( "SELECT * FROM $table ORDER BY created_ms DESC, id DESC LIMIT %d", $limit ) ); // phpcs:ignore WordPress.DB
}

/**
 * The newest delivery of one document.
 *
 * @param string $type Name on the wire.
 * @param int    $id   Document.
 * @return object|null
 */
function newsroom_last_delivery( $type, $id ) {
	global $wpdb;
	$table = newsroom_table();
	return $wpdb->get_row( $wpdb->prepare( "SELECT * FROM $table WHERE object_type = %s AND object_id = %d ORDER BY created_ms DESC, id DESC LIMIT 1", $type, $id ) ); // phpcs:ignore WordPress.DB
}

/**
 * Keeps the last 100 finished deliveries, and those of the last ten minutes: a process of the site may still ask for them.
 */
function newsroom_prune_log() {
	global $wpdb;
	$table = newsroom_table();
	$last  = $wpdb->get_var( "SELECT id FROM $table WHERE state IN ( 'done', 'failed' ) ORDER BY id DESC LIMIT 1 OFFSET 100" ); // phpcs:ignore WordPress.DB
	if ( $last ) {
		$wpdb->query( $wpdb->prepare( "DELETE FROM $table WHERE state IN ( 'done', 'failed' ) AND id <= %d AND tried_at < %d", $last, time() - 10 * MINUTE_IN_SECONDS ) ); // phpcs:ignore WordPress.DB
	}
}

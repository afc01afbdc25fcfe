<?php
/**
 * What adopting a WordPress needs before it changes anything: a journal of every value that it changes, a lock, and transactions.
 *
 * A batch writes its journal first, so a run that was interrupted at any moment can be continued or undone, even in tables whose
 * engine has no transactions.
 *
 * @package Newsroom
 */

if ( ! defined( 'ABSPATH' ) ) {
	exit;
}

/**
 * Name of the journal's table.
 *
 * @return string
 */
function newsroom_journal_table() {
	global $wpdb;
	return $wpdb->prefix . 'newsroom_adoption';
}

/**
 * Engine of the journal's table if the database's default is unsuitable. The tables of an old WordPress may lack transactions while new
 * tables have them: an interrupted run would then roll back the journal but keep the changes that it describes.
 *
 * @return string SQL; empty where all tables have transactions.
 */
function newsroom_journal_engine() {
	global $wpdb;
	foreach ( array( $wpdb->posts, $wpdb->postmeta, $wpdb->term_relationships, $wpdb->termmeta ) as $table ) {
		$status = $wpdb->get_row( $wpdb->prepare( 'SHOW TABLE STATUS LIKE %s', $wpdb->esc_like( $table ) ) ); // phpcs:ignore WordPress.DB
		if ( $status && in_array( strtolower( (string) $status->Engine ), array( 'myisam', 'aria' ), true ) ) { // phpcs:ignore WordPress.NamingConventions
			return 'ENGINE=' . $status->Engine; // phpcs:ignore WordPress.NamingConventions
		}
	}
	return '';
}

/**
 * Creates the journal. Each row is one change; `was` and `became` are JSON.
 */
function newsroom_create_journal() {
	global $wpdb;
	require_once ABSPATH . 'wp-admin/includes/upgrade.php';
	$table  = newsroom_journal_table();
	$engine = newsroom_journal_engine();
	dbDelta(
		"CREATE TABLE $table (
			id bigint(20) unsigned NOT NULL AUTO_INCREMENT,
			kind varchar(20) NOT NULL DEFAULT '',
			object_id bigint(20) unsigned NOT NULL DEFAULT 0,
			name varchar(100) NOT NULL DEFAULT '',
			was longtext NOT NULL,
			became longtext NOT NULL,
			PRIMARY KEY  (id),
			UNIQUE KEY subject (kind,object_id,name)
		) {$wpdb->get_charset_collate()} $engine;"
	);
}

/**
 * Whether there is a journal.
 *
 * @return bool
 */
function newsroom_has_journal() {
	global $wpdb;
	$table = newsroom_journal_table();
	// MySQL on Windows and macOS stores table names in lower case.
	return 0 === strcasecmp( (string) $wpdb->get_var( $wpdb->prepare( 'SHOW TABLES LIKE %s', $wpdb->esc_like( $table ) ) ), $table ); // phpcs:ignore WordPress.DB
}

/**
 * Runs a statement that writes.
 *
 * @param string $sql Prepared statement.
 * @return int Rows.
 * @throws RuntimeException When the database refuses it.
 */
function newsroom_write( $sql ) {
	global $wpdb;
	$rows = $wpdb->query( $sql ); // phpcs:ignore WordPress.DB
	if ( false === $rows ) {
		/* translators: %s: the database's message. */
		throw new RuntimeException( sprintf( __( 'The database refused a change: %s', 'newsroom' ), $wpdb->last_error ) ); // phpcs:ignore WordPress.Security.EscapeOutput.ExceptionNotEscaped -- printed as text.
	}
	return (int) $rows;
}

/**
 * Inserts many rows with one statement; rows whose key already exists stay unchanged.
 *
 * @param string  $table   Table.
 * @param array   $columns Column => `%s` or `%d`.
 * @param array[] $rows    Values in the order of the columns.
 */
function newsroom_insert_rows( $table, $columns, $rows ) {
	global $wpdb;
	foreach ( array_chunk( $rows, 500 ) as $some ) {
		$one    = '(' . implode( ',', $columns ) . ')';
		$values = implode( ',', array_fill( 0, count( $some ), $one ) );
		$names  = implode( ',', array_keys( $columns ) );
		newsroom_write( $wpdb->prepare( "INSERT IGNORE INTO $table ($names) VALUES $values", array_merge( ...$some ) ) ); // phpcs:ignore WordPress.DB
	}
}

/**
 * Records values before they change; an earlier record of the same value stays, because it is the original.
 *
 * @param array[] $rows Each: kind, object id, name, value before, value after.
 */
function newsroom_journal( $rows ) {
	$columns = array(
		'kind'      => '%s',
		'object_id' => '%d',
		'name'      => '%s',
		'was'       => '%s',
		'became'    => '%s',
	);
	$encoded = array();
	foreach ( $rows as $row ) {
		$encoded[] = array( $row[0], $row[1], $row[2], wp_json_encode( $row[3] ), wp_json_encode( $row[4] ) );
	}
	newsroom_insert_rows( newsroom_journal_table(), $columns, $encoded );
}

/**
 * Rows of the journal, oldest first.
 *
 * @param string $kind  Kind.
 * @param int    $limit How many at most; 0 for all.
 * @return object[] `id`, `object_id`, `name`, `was`, `became`.
 */
function newsroom_journal_rows( $kind, $limit = 0 ) {
	global $wpdb;
	$table = newsroom_journal_table();
	$rows  = $wpdb->get_results( $wpdb->prepare( "SELECT * FROM $table WHERE kind = %s ORDER BY id LIMIT %d", $kind, $limit ? $limit : PHP_INT_MAX ) ); // phpcs:ignore WordPress.DB
	foreach ( $rows as $row ) {
		$row->id        = (int) $row->id;
		$row->object_id = (int) $row->object_id;
		$row->was       = json_decode( $row->was, true );
		$row->became    = json_decode( $row->became, true );
	}
	return $rows;
}

/**
 * How many rows of a kind there are.
 *
 * @param string $kind Kind.
 * @return int
 */
function newsroom_journal_count( $kind ) {
	global $wpdb;
	$table = newsroom_journal_table();
	return newsroom_has_journal() ? (int) $wpdb->get_var( $wpdb->prepare( "SELECT COUNT(*) FROM $table WHERE kind = %s", $kind ) ) : 0; // phpcs:ignore WordPress.DB
}

/**
 * Drops rows whose change has been put back.
 *
 * @param int[] $ids Rows.
 */
function newsroom_journal_forget( $ids ) {
	$table = newsroom_journal_table();
	if ( $ids ) {
		newsroom_write( "DELETE FROM $table WHERE id IN (" . newsroom_id_list( $ids ) . ')' );
	}
}

/**
 * Ids for an SQL list.
 *
 * @param int[] $ids Ids, at least one.
 * @return string
 */
function newsroom_id_list( $ids ) {
	return implode( ',', array_map( 'intval', $ids ) );
}

/**
 * Seconds without a sign of life after which a run counts as dead. A batch takes far less.
 *
 * @return int
 */
function newsroom_adopt_lock_seconds() {
	/**
	 * Filters after how many seconds an interrupted run no longer prevents another one from starting.
	 *
	 * @param int $seconds Seconds.
	 */
	return (int) apply_filters( 'newsroom_adopt_lock_seconds', 60 );
}

/**
 * Takes the lock.
 *
 * @return string|WP_Error The run's own token, or why it may not start.
 */
function newsroom_adopt_lock() {
	global $wpdb;
	$token = bin2hex( random_bytes( 8 ) );
	$value = $token . ':' . sprintf( '%.6F', microtime( true ) );
	$taken = newsroom_write( $wpdb->prepare( "INSERT IGNORE INTO {$wpdb->options} (option_name, option_value, autoload) VALUES ('newsroom_adopt_lock', %s, 'off')", $value ) ); // phpcs:ignore WordPress.DB
	if ( $taken ) {
		return $token;
	}
	$held = (string) $wpdb->get_var( "SELECT option_value FROM {$wpdb->options} WHERE option_name = 'newsroom_adopt_lock'" ); // phpcs:ignore WordPress.DB
	$age  = microtime( true ) - (float) substr( $held, strpos( $held, ':' ) + 1 );
	$left = (int) ceil( newsroom_adopt_lock_seconds() - abs( $age ) );
	if ( $left <= 0 && newsroom_write( $wpdb->prepare( "UPDATE {$wpdb->options} SET option_value = %s WHERE option_name = 'newsroom_adopt_lock' AND option_value = %s", $value, $held ) ) ) { // phpcs:ignore WordPress.DB
		// A persistent cache may contain values that the killed run wrote but never committed.
		wp_cache_flush();
		return $token;
	}
	return new WP_Error(
		'newsroom_adopt_locked',
		/* translators: %d: number of seconds. */
		sprintf( _n( 'Another run is in progress. If it was stopped, start again in %d second.', 'Another run is in progress. If it was stopped, start again in %d seconds.', max( 1, $left ), 'newsroom' ), max( 1, $left ) )
	);
}

/**
 * Shows that the run is active. Part of each batch's transaction, so that a run that has lost its lock can't commit.
 *
 * @param string $token The run's token.
 * @throws RuntimeException When another run has taken over.
 */
function newsroom_adopt_renew( $token ) {
	global $wpdb;
	$value = $token . ':' . sprintf( '%.6F', microtime( true ) );
	if ( ! newsroom_write( $wpdb->prepare( "UPDATE {$wpdb->options} SET option_value = %s WHERE option_name = 'newsroom_adopt_lock' AND option_value LIKE %s", $value, $token . ':%' ) ) ) { // phpcs:ignore WordPress.DB
		throw new RuntimeException( __( 'Another run has taken over. Nothing was lost.', 'newsroom' ) ); // phpcs:ignore WordPress.Security.EscapeOutput.ExceptionNotEscaped -- printed as text.
	}
}

/**
 * Releases the lock.
 *
 * @param string $token The run's token.
 */
function newsroom_adopt_unlock( $token ) {
	global $wpdb;
	$wpdb->query( $wpdb->prepare( "DELETE FROM {$wpdb->options} WHERE option_name = 'newsroom_adopt_lock' AND option_value LIKE %s", $token . ':%' ) ); // phpcs:ignore WordPress.DB
	wp_cache_delete( 'newsroom_adopt_lock', 'options' );
}

/**
 * Runs one batch in a transaction, on one connection to the database.
 *
 * @param string   $token The run's token.
 * @param callable $work  What to do.
 * @return mixed What `$work` returns.
 * @throws Throwable Whatever `$work` throws, after a rollback.
 */
function newsroom_in_batch( $token, $work ) {
	global $wpdb;
	newsroom_write( 'START TRANSACTION' );
	// After a lost connection WordPress reconnects and repeats the statement. The transaction would be gone, with its journal, and the
	// rest of the batch would be kept; so reconnecting is turned off.
	$retries                  = $wpdb->reconnect_retries;
	$wpdb->reconnect_retries = 0;
	add_filter( 'query', 'newsroom_refuse_lost_transaction', PHP_INT_MAX );
	add_filter( 'wp_die_handler', 'newsroom_batch_die_handler', PHP_INT_MAX );
	try {
		newsroom_adopt_renew( $token );
		$result = $work();
		newsroom_write( 'COMMIT' );
	} catch ( Throwable $error ) {
		$failed = $error;
	} finally {
		remove_filter( 'query', 'newsroom_refuse_lost_transaction', PHP_INT_MAX );
		remove_filter( 'wp_die_handler', 'newsroom_batch_die_handler', PHP_INT_MAX );
		$wpdb->reconnect_retries = $retries;
	}
	if ( isset( $failed ) ) {
		$wpdb->query( 'ROLLBACK' ); // phpcs:ignore WordPress.DB
		wp_cache_flush();
		throw $failed;
	}
	return $result;
}

/**
 * Refuses all statements of a batch after one that ended its transaction: a deadlock, a lock timeout, a lost connection. WordPress's own
 * functions would continue after such an error.
 *
 * @param string $sql Statement.
 * @return string The same.
 * @throws RuntimeException When the statement before it ended the transaction.
 */
function newsroom_refuse_lost_transaction( $sql ) {
	global $wpdb;
	$ending = array( 1205, 1213, 2006, 2013 );
	if ( $wpdb->dbh instanceof mysqli && in_array( mysqli_errno( $wpdb->dbh ), $ending, true ) ) {
		/* translators: %s: the database's message. */
		throw new RuntimeException( sprintf( __( 'The database ended a transaction: %s. Nothing was lost; start again.', 'newsroom' ), mysqli_error( $wpdb->dbh ) ) ); // phpcs:ignore WordPress.Security.EscapeOutput.ExceptionNotEscaped, WordPress.DB -- printed as text.
	}
	return $sql;
}

/**
 * Replaces wp_die() in a batch: it throws, so that the run ends cleanly and releases the lock. WordPress calls it when the database
 * connection is lost.
 *
 * @return callable
 * @throws RuntimeException With the message.
 */
function newsroom_batch_die_handler() {
	return static function ( $message ) {
		$text = html_entity_decode( wp_strip_all_tags( is_wp_error( $message ) ? $message->get_error_message() : (string) $message, true ), ENT_QUOTES, 'UTF-8' );
		/* translators: %s: a message of WordPress. */
		throw new RuntimeException( sprintf( __( 'The run was stopped. Nothing was lost; start again. WordPress says: %s', 'newsroom' ), wp_html_excerpt( $text, 150, '…' ) ) ); // phpcs:ignore WordPress.Security.EscapeOutput.ExceptionNotEscaped -- printed as text.
	};
}

<?php
/**
 * What bench/adopt.ts does in its WordPress: `php site.php FOLDER ACTION [ARGUMENT]`.
 *
 * @package Newsroom
 */

// Constants, because WordPress has global variables of the same names.
define( 'BENCH_FOLDER', $argv[1] );
define( 'BENCH_ACTION', $argv[2] );
define( 'BENCH_ARGUMENT', isset( $argv[3] ) ? $argv[3] : '' );

/**
 * Connects to the database server, without WordPress.
 *
 * @return mysqli
 */
function bench_connect() {
	return new mysqli( null, getenv( 'ADOPT_USER' ), getenv( 'ADOPT_PASSWORD' ), '', 0, getenv( 'ADOPT_SOCKET' ) );
}

/**
 * Prints a hash of each table. Left out are caches and clocks.
 */
function bench_print_hashes() {
	global $wpdb;
	foreach ( $wpdb->get_col( 'SHOW TABLES' ) as $table ) {
		$where = $table === $wpdb->options ? "WHERE option_name NOT LIKE '%transient%' AND option_name NOT IN ('cron','newsroom_adopt_check','newsroom_adopt_lock')" : '';
		$rows  = mysqli_query( $wpdb->dbh, "SELECT * FROM $table $where ORDER BY 1, 2", MYSQLI_USE_RESULT );
		$hash  = hash_init( 'sha256' );
		while ( $row = $rows->fetch_row() ) { // phpcs:ignore
			hash_update( $hash, serialize( $row ) );
		}
		echo $table, ' ', hash_final( $hash ), "\n";
	}
}

$database = getenv( 'ADOPT_DATABASE' );
switch ( BENCH_ACTION ) {
	case 'create':
		$server = bench_connect();
		$server->query( "CREATE DATABASE $database CHARACTER SET utf8mb4" );
		echo $server->server_info;
		exit;
	case 'drop':
		bench_connect()->query( "DROP DATABASE IF EXISTS $database" );
		exit;
	case 'disconnect':
		// Ends every connection of the site to its database.
		$server = bench_connect();
		$count  = 0;
		foreach ( $server->query( "SELECT id FROM information_schema.processlist WHERE db = '$database'" )->fetch_all() as $row ) {
			try {
				$server->query( "KILL $row[0]" );
				++$count;
			} catch ( mysqli_sql_exception $ended ) {
				continue;
			}
		}
		echo $count;
		exit;
}

$_SERVER += array( 'HTTP_HOST' => '127.0.0.1', 'REQUEST_METHOD' => 'GET', 'SERVER_PROTOCOL' => 'HTTP/1.1' ); // phpcs:ignore
if ( 'install' === BENCH_ACTION ) {
	define( 'WP_INSTALLING', true );
}
require BENCH_FOLDER . '/wp-load.php';
switch ( BENCH_ACTION ) {
	case 'install':
		require_once ABSPATH . 'wp-admin/includes/upgrade.php';
		add_filter( 'pre_wp_mail', '__return_true' );
		wp_install( 'Old Paper', 'admin', 'admin@example.invalid', true, '', wp_generate_password() );
		break;
	case 'fill':
		$count = (int) BENCH_ARGUMENT;
		require __DIR__ . '/fill.php';
		break;
	case 'activate':
		require_once ABSPATH . 'wp-admin/includes/plugin.php';
		activate_plugin( 'newsroom/newsroom.php' );
		break;
	case 'hashes':
		bench_print_hashes();
		break;
	case 'command':
		// What `wp newsroom adopt` calls, where there is no WP-CLI.
		$failed = newsroom_adopt_command(
			array_filter( array( ltrim( BENCH_ARGUMENT, '-' ) => true ), 'strlen', ARRAY_FILTER_USE_KEY ),
			static function ( $line ) {
				echo $line, "\n";
			}
		);
		if ( is_wp_error( $failed ) ) {
			echo 'Error: ', $failed->get_error_message(), "\n";
			exit( 1 );
		}
}

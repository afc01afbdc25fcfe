<?php
/**
 * Plugin Name: Newsroom tests
 * Description: Stands in for other plugins and shortens waiting. Switched by the option `newsroom_tests`.
 *
 * @package Newsroom
 */

if ( ! defined( 'ABSPATH' ) ) {
	exit;
}

$newsroom_tests = get_option( 'newsroom_tests', array() );

if ( ! empty( $newsroom_tests['membership'] ) ) {
	require __DIR__ . '/membership.php';
}

if ( isset( $newsroom_tests['acf'] ) ) {
	require __DIR__ . '/acf.php';
}

if ( ! empty( $newsroom_tests['coauthors'] ) ) {
	require __DIR__ . '/coauthors.php';
}
if ( ! empty( $newsroom_tests['akismet'] ) ) {
	require __DIR__ . '/akismet.php';
}
// The tests' site and this WordPress share a thread, so on a busy machine its answer takes longer than a real site's.
add_filter(
	'http_request_args',
	static function ( $args ) {
		$args['timeout'] = 60;
		return $args;
	}
);
// Simulates Wordfence.
if ( ! empty( $newsroom_tests['passwords_off'] ) ) {
	add_filter( 'wp_is_application_passwords_available', '__return_false' );
}
// Simulates an offload plugin.
if ( isset( $newsroom_tests['uploads'] ) ) {
	add_filter(
		'upload_dir',
		static function ( $dir ) use ( $newsroom_tests ) {
			$dir['baseurl'] = $newsroom_tests['uploads'];
			return $dir;
		}
	);
}

if ( isset( $newsroom_tests['retry'] ) ) {
	add_filter(
		'newsroom_retry_delay',
		static function () use ( $newsroom_tests ) {
			return $newsroom_tests['retry'];
		}
	);
}
if ( isset( $newsroom_tests['give_up'] ) ) {
	add_filter(
		'newsroom_give_up_after',
		static function () use ( $newsroom_tests ) {
			return $newsroom_tests['give_up'];
		}
	);
}
if ( isset( $newsroom_tests['effective'] ) ) {
	add_filter(
		'newsroom_effective_access',
		static function ( $level ) use ( $newsroom_tests ) {
			return 'default' === $level ? $newsroom_tests['effective'] : $level;
		}
	);
}
if ( isset( $newsroom_tests['adopt_step'] ) ) {
	add_filter(
		'newsroom_adopt_step_seconds',
		static function () use ( $newsroom_tests ) {
			return $newsroom_tests['adopt_step'];
		}
	);
	add_filter(
		'newsroom_adopt_batch_size',
		static function () {
			return 20;
		}
	);
}

<?php
/**
 * Plugin Name: Sandbox
 * Description: Settings that only the sandbox's WordPress has: no traffic to the outside, no mail, no nags.
 */

defined( 'ABSPATH' ) || exit;

// Requests may reach only this machine; all others fail at once instead of timing out.
add_filter(
	'pre_http_request',
	function ( $answer, $arguments, $url ) {
		$host = wp_parse_url( $url, PHP_URL_HOST );
		if ( in_array( $host, array( '127.0.0.1', 'localhost', '[::1]' ), true ) ) {
			return $answer;
		}
		return new WP_Error( 'sandbox_offline', 'The sandbox reaches this machine only.' );
	},
	1,
	3
);
add_filter( 'http_request_host_is_external', '__return_true' );
add_filter( 'http_allowed_safe_ports', function ( $ports, $host, $url ) {
	$port = (int) wp_parse_url( $url, PHP_URL_PORT );
	return '127.0.0.1' === $host && $port ? array_merge( $ports, array( $port ) ) : $ports;
}, 10, 3 );

add_filter( 'pre_wp_mail', '__return_true' );

// Updates are neither looked for nor offered.
foreach ( array( 'core', 'plugins', 'themes' ) as $sandbox_kind ) {
	add_filter(
		'pre_site_transient_update_' . $sandbox_kind,
		function () {
			return (object) array(
				'last_checked'    => time(),
				'version_checked' => get_bloginfo( 'version' ),
				'updates'         => array(),
				'response'        => array(),
				'translations'    => array(),
				'checked'         => array(),
			);
		}
	);
}
foreach ( array( 'wp_version_check', 'wp_update_plugins', 'wp_update_themes', 'wp_site_health_scheduled_check', 'wp_https_detection' ) as $sandbox_task ) {
	add_filter(
		'pre_schedule_event',
		function ( $before, $event ) use ( $sandbox_task ) {
			return $sandbox_task === $event->hook ? false : $before;
		},
		10,
		2
	);
}
add_action(
	'init',
	function () {
		remove_action( 'init', 'wp_schedule_update_checks' );
		remove_action( 'admin_init', '_maybe_update_core' );
		remove_action( 'admin_init', '_maybe_update_plugins' );
		remove_action( 'admin_init', '_maybe_update_themes' );
		remove_action( 'welcome_panel', 'wp_welcome_panel' );
	},
	1
);
add_action(
	'wp_dashboard_setup',
	function () {
		remove_meta_box( 'dashboard_primary', 'dashboard', 'side' );
		remove_meta_box( 'dashboard_site_health', 'dashboard', 'normal' );
	}
);
add_filter( 'admin_email_check_interval', '__return_zero' );
add_filter( 'site_status_should_suggest_persistent_object_cache', '__return_false' );
// The patterns and blocks of wordpress.org's directories are out of reach.
add_filter( 'should_load_remote_block_patterns', '__return_false' );
remove_action( 'enqueue_block_editor_assets', 'wp_enqueue_editor_block_directory_assets' );

<?php
/**
 * Runs when the plugin is deleted: removes its settings, tables, role and tasks. Editors' content stays:
 * articles, videos, crosswords, authors, series, the fields of documents and sections, and the versions of stories.
 *
 * @package Newsroom
 */

if ( ! defined( 'WP_UNINSTALL_PLUGIN' ) ) {
	exit;
}

require_once __DIR__ . '/includes/roles.php';

/**
 * Cleans one site.
 */
function newsroom_uninstall_site() {
	global $wpdb;
	foreach ( array( 'newsroom_site_url', 'newsroom_secret', 'newsroom_version', 'newsroom_alert', 'newsroom_alert_ids' ) as $newsroom_option ) {
		delete_option( $newsroom_option );
	}
	delete_transient( 'newsroom_site_down' );
	wp_unschedule_hook( 'newsroom_deliver' );
	wp_unschedule_hook( 'newsroom_forget_commenters' );
	wp_unschedule_hook( 'newsroom_headline_tests' );
	wp_unschedule_hook( 'newsroom_front_due' );
	newsroom_remove_role();
	foreach ( array( 'newsroom_deliveries', 'newsroom_fronts' ) as $newsroom_table ) {
		$wpdb->query( "DROP TABLE IF EXISTS {$wpdb->prefix}{$newsroom_table}" ); // phpcs:ignore WordPress.DB
	}
	delete_option( 'newsroom_adopt_check' );
	delete_option( 'newsroom_adopt_lock' );
	// Locks of comments whose request died.
	$wpdb->query( $wpdb->prepare( "DELETE FROM {$wpdb->options} WHERE option_name LIKE %s", $wpdb->esc_like( 'newsroom_comment_' ) . '%' ) ); // phpcs:ignore WordPress.DB
	// The journal of an adoption stays with the adopted articles, because only the journal could turn them back into posts.
}

if ( is_multisite() ) {
	foreach ( get_sites( array( 'fields' => 'ids', 'number' => 0 ) ) as $newsroom_site ) { // phpcs:ignore WordPress.Arrays
		switch_to_blog( $newsroom_site );
		newsroom_uninstall_site();
		restore_current_blog();
	}
} else {
	newsroom_uninstall_site();
}

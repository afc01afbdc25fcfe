<?php
/**
 * Activation, upgrades, deactivation.
 *
 * @package Newsroom
 */

if ( ! defined( 'ABSPATH' ) ) {
	exit;
}

add_action( 'init', 'newsroom_load_translations', 1 );
add_action( 'init', 'newsroom_upgrade', 20 );
add_filter( 'wpmu_drop_tables', 'newsroom_drop_tables' );

/**
 * Loads the translations in the plugin's own folder.
 */
function newsroom_load_translations() {
	load_plugin_textdomain( 'newsroom', false, dirname( plugin_basename( NEWSROOM_FILE ) ) . '/languages' );
}

/**
 * Runs when the plugin is activated.
 */
function newsroom_activate() {
	newsroom_register_types();
	newsroom_install();
	flush_rewrite_rules();
}

/**
 * Runs when the plugin is switched off: content, settings and the log stay.
 */
function newsroom_deactivate() {
	wp_unschedule_hook( 'newsroom_deliver' );
	wp_unschedule_hook( 'newsroom_forget_commenters' );
	wp_unschedule_hook( 'newsroom_headline_tests' );
	wp_unschedule_hook( 'newsroom_front_due' );
	flush_rewrite_rules();
}

/**
 * Adds the plugin's tables to those that WordPress drops with a site of a network.
 *
 * @param string[] $tables Tables.
 * @return string[]
 */
function newsroom_drop_tables( $tables ) {
	return array_merge( $tables, array( newsroom_table(), newsroom_version_table(), newsroom_version_text_table(), newsroom_front_table(), newsroom_journal_table() ) );
}

/**
 * Sets up what a new version needs. Also covers cases without activation hooks: mu-plugins, updates, and the sites of a
 * network.
 */
function newsroom_upgrade() {
	if ( get_option( 'newsroom_version' ) !== NEWSROOM_VERSION ) {
		newsroom_install();
	}
}

/**
 * Creates the tables, the role, the secret and, on a WordPress without categories, the sections. Safe to repeat.
 */
function newsroom_install() {
	newsroom_create_table();
	newsroom_create_version_tables();
	newsroom_create_front_table();
	newsroom_add_role();
	if ( '' === (string) get_option( 'newsroom_secret', '' ) ) {
		update_option( 'newsroom_secret', newsroom_new_secret(), false );
	}
	add_option( 'newsroom_site_url', '' );
	if ( false === get_option( 'newsroom_version' ) ) {
		newsroom_create_sections();
	}
	if ( ! wp_next_scheduled( 'newsroom_deliver' ) ) {
		wp_schedule_event( time() + HOUR_IN_SECONDS, 'hourly', 'newsroom_deliver' );
	}
	if ( ! wp_next_scheduled( 'newsroom_forget_commenters' ) ) {
		wp_schedule_event( time() + HOUR_IN_SECONDS, 'daily', 'newsroom_forget_commenters' );
	}
	update_option( 'newsroom_version', NEWSROOM_VERSION );
}

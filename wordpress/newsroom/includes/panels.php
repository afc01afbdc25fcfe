<?php
/**
 * Shared code of the plugin's block editor panels.
 *
 * @package Newsroom
 */

if ( ! defined( 'ABSPATH' ) ) {
	exit;
}

// Before the panels, whose scripts depend on this one.
add_action( 'enqueue_block_editor_assets', 'newsroom_register_panels_script', 1 );

/**
 * Registers the script that the panels need.
 */
function newsroom_register_panels_script() {
	wp_register_script( 'newsroom-panels', plugins_url( 'assets/panels.js', NEWSROOM_FILE ), array( 'wp-data', 'wp-editor', 'wp-element', 'wp-notices', 'wp-plugins' ), NEWSROOM_VERSION, true );
}

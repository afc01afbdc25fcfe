<?php
/**
 * Loads the plugin's scripts, and what its block editor panels share.
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

/**
 * Loads a script of the plugin with its translations.
 *
 * @param string   $part   Name of the file, without its ending.
 * @param string[] $needs  Scripts that it depends on.
 * @param string   $global Name of a global variable of the page with data for the script; '' for none.
 * @param mixed    $data   Its value.
 */
function newsroom_enqueue_part( $part, $needs, $global = '', $data = null ) {
	$handle = 'newsroom-' . $part;
	wp_enqueue_script( $handle, plugins_url( "assets/$part.js", NEWSROOM_FILE ), $needs, NEWSROOM_VERSION, true );
	wp_set_script_translations( $handle, 'newsroom', plugin_dir_path( NEWSROOM_FILE ) . 'languages' );
	if ( '' !== $global ) {
		wp_add_inline_script( $handle, "window.$global = " . wp_json_encode( $data, JSON_HEX_TAG ) . ';', 'before' );
	}
}

<?php
/**
 * Plugin Name: Sandbox, next task
 * Description: Notes when WordPress's task list is next due, so that the sandbox need not ask PHP every few seconds.
 */

defined( 'ABSPATH' ) || exit;

/**
 * Writes the Unix second at which the next task is due into a file next to the database; none means never.
 */
function sandbox_note_next_task() {
	$times = array_filter( array_keys( (array) _get_cron_array() ), 'is_int' );
	file_put_contents( WP_CONTENT_DIR . '/database/next-task', $times ? (string) min( $times ) : 'none' );
}
add_action( 'add_option_cron', 'sandbox_note_next_task' );
add_action( 'update_option_cron', 'sandbox_note_next_task' );
if ( wp_doing_cron() ) {
	// Records what no change of the list would: the first run in an existing data folder.
	add_action( 'shutdown', 'sandbox_note_next_task' );
}

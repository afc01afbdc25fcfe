<?php
/**
 * Synced patterns: WordPress prints them in the text of the documents that refer to them, so a change of a pattern changes these documents.
 *
 * @package Newsroom
 */

if ( ! defined( 'ABSPATH' ) ) {
	exit;
}

add_action( 'transition_post_status', 'newsroom_pattern_status_changed', 10, 3 );
add_action( 'post_updated', 'newsroom_pattern_updated', 10, 3 );
add_action( 'before_delete_post', 'newsroom_pattern_deleted' );

/**
 * A pattern was published or unpublished.
 *
 * @param string  $new  Status now.
 * @param string  $old  Status before.
 * @param WP_Post $post Post.
 */
function newsroom_pattern_status_changed( $new, $old, $post ) {
	if ( 'wp_block' === $post->post_type && $new !== $old && in_array( 'publish', array( $new, $old ), true ) ) {
		newsroom_touch_pattern( $post->ID );
	}
}

/**
 * A pattern was saved.
 *
 * @param int     $id     Post.
 * @param WP_Post $after  Now.
 * @param WP_Post $before Before.
 */
function newsroom_pattern_updated( $id, $after, $before ) {
	$changed = $after->post_content !== $before->post_content || $after->post_password !== $before->post_password;
	if ( 'wp_block' === $after->post_type && 'publish' === $after->post_status && $changed ) {
		newsroom_touch_pattern( $id );
	}
}

/**
 * A pattern is about to be deleted for good.
 *
 * @param int $id Post.
 */
function newsroom_pattern_deleted( $id ) {
	if ( 'wp_block' === get_post_type( $id ) && 'publish' === get_post_status( $id ) ) {
		newsroom_touch_pattern( $id );
	}
}

/**
 * Records a change of the documents that show a pattern, directly or inside another pattern.
 *
 * @param int $id Pattern.
 */
function newsroom_touch_pattern( $id ) {
	global $wpdb;
	$known = array();
	$next  = array( (int) $id );
	while ( $next ) {
		$pattern           = array_pop( $next );
		$known[ $pattern ] = true;
		$found             = $wpdb->get_col( $wpdb->prepare( "SELECT ID FROM {$wpdb->posts} WHERE post_status = 'publish' AND post_type IN (" . newsroom_types_with_text() . ') AND post_content LIKE %s AND post_content REGEXP %s', '%"ref":' . $pattern . '%', '"ref":' . $pattern . '[^0-9]' ) ); // phpcs:ignore WordPress.DB
		foreach ( array_map( 'intval', $found ) as $each ) {
			if ( 'wp_block' !== get_post_type( $each ) ) {
				newsroom_touch( $each );
			} elseif ( ! isset( $known[ $each ] ) ) {
				$next[] = $each;
			}
		}
	}
}

/**
 * The post types whose text readers may see, as a list for SQL: documents and patterns.
 *
 * @return string
 */
function newsroom_types_with_text() {
	return "'" . implode( "','", array_map( 'esc_sql', array_merge( array_keys( newsroom_document_types() ), array( 'wp_block' ) ) ) ) . "'";
}

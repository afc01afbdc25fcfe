<?php
/**
 * Network addresses and browsers of commenters are emptied after a month. WordPress keeps them without end; moderation needs them for
 * days only.
 *
 * @package Newsroom
 */

if ( ! defined( 'ABSPATH' ) ) {
	exit;
}

add_action( 'newsroom_forget_commenters', 'newsroom_forget_commenters' );

/** Days for which the address and the browser of a moderated comment are kept. */
const NEWSROOM_COMMENTER_DAYS = 30;

/** Comments that are changed by one statement, and statements of one run. */
const NEWSROOM_COMMENTER_BATCH   = 500;
const NEWSROOM_COMMENTER_BATCHES = 20;

/**
 * Empties addresses and browsers of old comments on what the site shows. Comments that wait for approval keep theirs.
 */
function newsroom_forget_commenters() {
	global $wpdb;
	$before = gmdate( 'Y-m-d H:i:s', time() - NEWSROOM_COMMENTER_DAYS * DAY_IN_SECONDS );
	$types  = array_keys( newsroom_document_types() );
	$select = "SELECT c.comment_ID FROM {$wpdb->comments} c INNER JOIN {$wpdb->posts} p ON p.ID = c.comment_post_ID
		WHERE c.comment_date_gmt < %s AND c.comment_approved <> '0' AND ( c.comment_author_IP <> '' OR c.comment_agent <> '' )
		AND p.post_type IN ( " . implode( ', ', array_fill( 0, count( $types ), '%s' ) ) . ' ) LIMIT %d';
	for ( $batch = 0; $batch < NEWSROOM_COMMENTER_BATCHES; $batch++ ) {
		$ids = array_map( 'intval', $wpdb->get_col( $wpdb->prepare( $select, array_merge( array( $before ), $types, array( NEWSROOM_COMMENTER_BATCH ) ) ) ) ); // phpcs:ignore WordPress.DB
		if ( ! $ids ) {
			return;
		}
		$wpdb->query( "UPDATE {$wpdb->comments} SET comment_author_IP = '', comment_agent = '' WHERE comment_ID IN ( " . implode( ', ', $ids ) . ' )' ); // phpcs:ignore WordPress.DB
		clean_comment_cache( $ids );
	}
	// The rest of a large archive follows before the next day.
	wp_schedule_single_event( time() + 5 * MINUTE_IN_SECONDS, 'newsroom_forget_commenters' );
}

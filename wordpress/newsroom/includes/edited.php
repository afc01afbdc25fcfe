<?php
/**
 * When the words of an article last changed: the field `edited`, which readers and search engines see. post_modified changes more often, with
 * everything that the site must fetch again, such as a section or the end of a headline test.
 *
 * @package Newsroom
 */

if ( ! defined( 'ABSPATH' ) ) {
	exit;
}

/** Set while post_modified is later than the last edit; UTC in MySQL's format. */
const NEWSROOM_EDITED = '_newsroom_edited';

add_action( 'post_updated', 'newsroom_article_saved', 10, 3 );
newsroom_rest_field(
	'articles',
	'edited',
	'newsroom_edited',
	array(
		'type'   => array( 'string', 'null' ),
		'format' => 'date-time',
	)
);

/**
 * The field `edited`, in the format of modified_gmt.
 *
 * @param int $id Article.
 * @return string|null Null for a draft.
 */
function newsroom_edited( $id ) {
	if ( 'publish' !== get_post_status( $id ) ) {
		return null;
	}
	$edited = get_post_meta( $id, NEWSROOM_EDITED, true );
	return mysql2date( 'Y-m-d\TH:i:s', '' === $edited ? get_post_field( 'post_modified_gmt', $id ) : $edited, false );
}

/**
 * An article was saved, perhaps without a change of its words.
 *
 * @param int     $id     Post.
 * @param WP_Post $after  Now.
 * @param WP_Post $before Before.
 */
function newsroom_article_saved( $id, $after, $before ) {
	if ( ! newsroom_is_document( $after ) ) {
		return;
	}
	$words = static fn( $post ) => array( $post->post_title, $post->post_content, $post->post_excerpt );
	if ( 'publish' !== $before->post_status || $words( $after ) !== $words( $before ) ) {
		delete_post_meta( $id, NEWSROOM_EDITED );
	} else {
		add_post_meta( $id, NEWSROOM_EDITED, $before->post_modified_gmt, true );
	}
}

/**
 * Keeps the time of the last edit of published documents whose post_modified is about to change.
 *
 * @param int[] $ids Documents.
 */
function newsroom_keep_edited( $ids ) {
	global $wpdb;
	$in = implode( ',', array_map( 'intval', $ids ) );
	$wpdb->query( $wpdb->prepare( "INSERT INTO {$wpdb->postmeta} ( post_id, meta_key, meta_value ) SELECT p.ID, %s, p.post_modified_gmt FROM {$wpdb->posts} p LEFT JOIN {$wpdb->postmeta} m ON m.post_id = p.ID AND m.meta_key = %s WHERE m.meta_id IS NULL AND p.post_status = 'publish' AND p.ID IN ( $in )", NEWSROOM_EDITED, NEWSROOM_EDITED ) ); // phpcs:ignore WordPress.DB
	foreach ( $ids as $id ) {
		wp_cache_delete( $id, 'post_meta' );
	}
}

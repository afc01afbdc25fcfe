<?php
/**
 * Updates post_modified, so that `modified_after` finds every change.
 *
 * WordPress doesn't change post_modified if only meta, terms or the image change, if a scheduled post is published, or if a
 * post is published with an earlier date. These documents are collected, and their post_modified is set at the end of the
 * request; each of them is also a change for the site.
 *
 * @package Newsroom
 */

if ( ! defined( 'ABSPATH' ) ) {
	exit;
}

foreach ( array( 'added', 'updated', 'deleted' ) as $newsroom_verb ) {
	add_action( "{$newsroom_verb}_post_meta", 'newsroom_meta_changed', 10, 3 );
}
unset( $newsroom_verb );
add_action( 'set_object_terms', 'newsroom_terms_set', 10, 6 );
add_action( 'deleted_term_relationships', 'newsroom_terms_removed', 10, 3 );
add_action( 'edit_attachment', 'newsroom_picture_changed' );
// WordPress removes a deleted picture from its documents in one query, without hooks for each document.
add_action( 'delete_attachment', 'newsroom_picture_changed' );

/**
 * Documents of the current site that changed in this request without being saved.
 *
 * @param int|null $add  Document to add, or null to only read the list.
 * @param bool     $drop Whether to empty the list.
 * @return int[]
 */
function newsroom_touched( $add = null, $drop = false ) {
	static $ids = array();
	$site       = get_current_blog_id();
	$now        = $ids[ $site ] ?? array();
	if ( $drop ) {
		unset( $ids[ $site ] );
	} elseif ( null !== $add ) {
		$ids[ $site ][ $add ] = $add;
		newsroom_noted_sites( $site );
	}
	return array_values( $now );
}

/**
 * Records that a document changed other than by being saved.
 *
 * @param int $id Post.
 */
function newsroom_touch( $id ) {
	$post = get_post( $id );
	if ( newsroom_is_document( $post ) ) {
		newsroom_touched( $post->ID );
		if ( newsroom_is_visible( $post ) ) {
			newsroom_note_change( $post, 'update' );
		}
	}
}

/**
 * Meta of a document or of a picture changed.
 *
 * @param int|int[] $meta_id Meta rows.
 * @param int       $post_id Post.
 * @param string    $key     Meta key.
 */
function newsroom_meta_changed( $meta_id, $post_id, $key ) {
	if ( in_array( $key, array( 'newsroom_credit', '_wp_attachment_image_alt', '_wp_attached_file', '_wp_attachment_metadata' ), true ) ) {
		newsroom_picture_changed( $post_id );
		return;
	}
	$watched = '_thumbnail_id' === $key || 0 === strpos( $key, 'newsroom_' );
	if ( ! $watched && function_exists( 'get_field' ) ) {
		$post    = get_post( $post_id );
		$names   = $post ? array_keys( newsroom_field_names( $post ) ) : array();
		$watched = in_array( $key, $post && 'articles' === $post->post_type ? array_merge( $names, array( 'authors', 'contributors' ) ) : $names, true );
	}
	if ( in_array( $key, array( '_yoast_wpseo_primary_category', 'rank_math_primary_category', 'footnotes' ), true ) ) {
		$watched = true;
	}
	if ( 'newsroom_corrections' === $key && newsroom_is_correction( $post_id ) ) {
		update_post_meta( $post_id, NEWSROOM_EDITED, current_time( 'mysql', true ) );
	}
	if ( $watched ) {
		newsroom_touch( $post_id );
	}
}

/**
 * Whether a change of an article's corrections changes what readers read: not if an empty list is stored for the first time, as each save in
 * the block editor does, nor if the article is being deleted.
 *
 * @param int $post_id Post.
 * @return bool
 */
function newsroom_is_correction( $post_id ) {
	$has_notes = 'updated_post_meta' === current_action() || get_post_meta( $post_id, 'newsroom_corrections', true );
	return $has_notes && 'deleted_post_meta' !== current_action() && newsroom_is_document( get_post( $post_id ) ) && apply_filters( 'newsroom_touch_modified', true );
}

/**
 * Categories of a document changed, or its authors in Co-Authors Plus.
 *
 * @param int    $post_id  Post.
 * @param array  $terms    Terms as given.
 * @param int[]  $tt_ids   Now.
 * @param string $taxonomy Taxonomy.
 * @param bool   $append   Whether they were added to what was there.
 * @param int[]  $old      Before.
 */
function newsroom_terms_set( $post_id, $terms, $tt_ids, $taxonomy, $append, $old ) {
	if ( 'category' !== $taxonomy && 'author' !== $taxonomy ) {
		return;
	}
	$tt_ids = array_map( 'intval', $tt_ids );
	$old    = array_map( 'intval', $old );
	// For co-authors the order matters, too.
	if ( ( 'author' === $taxonomy && $tt_ids !== $old ) || array_diff( $tt_ids, $old ) || ( ! $append && array_diff( $old, $tt_ids ) ) ) {
		newsroom_touch( $post_id );
	}
}

/**
 * Categories or co-authors were removed from a document, for example by WP-CLI or bulk tools.
 *
 * @param int    $post_id  Post.
 * @param int[]  $tt_ids   What was taken.
 * @param string $taxonomy Taxonomy.
 */
function newsroom_terms_removed( $post_id, $tt_ids, $taxonomy ) {
	if ( 'category' === $taxonomy || 'author' === $taxonomy ) {
		newsroom_touch( $post_id );
	}
}

/**
 * The text or file of a picture or audio file changed: every document that uses it as its lead picture, in a headline test or as its sound
 * has changed.
 *
 * @param int $picture_id Attachment.
 */
function newsroom_picture_changed( $picture_id ) {
	global $wpdb;
	$ids = $wpdb->get_col( $wpdb->prepare( "SELECT post_id FROM {$wpdb->postmeta} WHERE ( meta_key IN ( '_thumbnail_id', 'newsroom_audio' ) AND meta_value = %s ) OR ( meta_key = 'newsroom_headline_test' AND meta_value LIKE %s )", (string) $picture_id, '%"image";i:' . (int) $picture_id . ';%' ) ); // phpcs:ignore WordPress.DB
	_prime_post_caches( array_map( 'intval', $ids ), false, true );
	foreach ( $ids as $id ) {
		newsroom_touch( (int) $id );
	}
	newsroom_touch_fronts( $picture_id );
	if ( newsroom_is_picture( $picture_id ) ) {
		newsroom_changed_pictures( $picture_id, 'words' );
	}
}

/**
 * Sets post_modified of the collected documents. Runs at the end of the request, before anything is delivered.
 */
function newsroom_stamp_touched() {
	global $wpdb;
	$ids = newsroom_touched( null, true );
	/**
	 * Filters whether post_modified is set. Imports with their own dates turn it off.
	 *
	 * @param bool $stamp Whether they are.
	 */
	if ( ! $ids || ! apply_filters( 'newsroom_touch_modified', true ) ) {
		return;
	}
	$now = current_time( 'mysql' );
	$gmt = current_time( 'mysql', true );
	foreach ( array_chunk( $ids, 200 ) as $some ) {
		newsroom_keep_edited( $some );
		$in = implode( ',', array_map( 'intval', $some ) );
		$wpdb->query( $wpdb->prepare( "UPDATE {$wpdb->posts} SET post_modified = %s, post_modified_gmt = %s WHERE post_modified_gmt < %s AND post_status <> 'auto-draft' AND ID IN ( $in )", $now, $gmt, $gmt ) ); // phpcs:ignore WordPress.DB
		array_map( 'newsroom_clear_post_cache', $some );
	}
}

/**
 * Removes a post from the cache, so that the next read has the new date.
 *
 * @param int $id Post.
 */
function newsroom_clear_post_cache( $id ) {
	wp_cache_delete( $id, 'posts' );
	wp_cache_set( 'last_changed', microtime(), 'posts' );
}

<?php
/**
 * Keeps an ended headline test from being started again by an update that was made before its end was known: by an editor that has been
 * open since, or by a revision that is restored.
 *
 * @package Newsroom
 */

if ( ! defined( 'ABSPATH' ) ) {
	exit;
}

add_filter( 'rest_pre_insert_articles', 'newsroom_headline_test_in_rest_update', 10, 2 );
add_action( 'wp_restore_post_revision', 'newsroom_before_headline_test_is_restored', 9 );

/**
 * The test after an update. The start time says which run the update is about: if that run is over, it isn't started again, and only
 * headlines that the update changes are taken from it. A test that is being started has no start time yet.
 *
 * @param array $test  Test as it is now.
 * @param array $given Test in the update.
 * @return array
 */
function newsroom_headline_test_after( $test, $given ) {
	$state   = $given['state'] ?? 'off';
	$started = newsroom_sanitize_instant( $given['started'] ?? '' );
	// An update with the time of the end comes from an editor that has seen the end, and starts the test again.
	if ( 'running' !== $state || '' === $started || ! empty( $given['ended'] ) ) {
		return $given;
	}
	if ( $test['started'] !== $started ) {
		return $test;
	}
	return 'ended' === $test['state'] ? newsroom_ended_test_with( $test, $given ) : $given;
}

/**
 * The test to store for an update of a story.
 *
 * @param int   $id    Article.
 * @param array $given Test in the update.
 * @return array
 */
function newsroom_headline_test_to_save( $id, $given ) {
	// The test may have ended in another process since this one read the meta.
	wp_cache_delete( $id, 'post_meta' );
	return metadata_exists( 'post', $id, 'newsroom_headline_test' ) ? newsroom_headline_test_after( newsroom_headline_test_of( $id ), $given ) : $given;
}

/**
 * An ended test with the headlines of an update for which it is still running.
 *
 * @param array $test  Ended test.
 * @param array $given Test in the update.
 * @return array
 */
function newsroom_ended_test_with( $test, $given ) {
	$variants = newsroom_clean_headlines( $given['variants'] ?? array() );
	if ( ! $variants || $variants === $test['variants'] ) {
		return $test;
	}
	if ( $test['winner'] > 0 && count( $variants ) !== count( $test['variants'] ) ) {
		// The winner is a number, which changes when a headline before it is removed.
		$at             = array_search( $test['variants'][ $test['winner'] - 1 ], $variants, true );
		$test['winner'] = false === $at ? -1 : $at + 1;
	}
	$test['variants'] = $variants;
	return $test;
}

/**
 * Applies newsroom_headline_test_to_save() to an update over REST, with which the block editor sends all of the meta even when only
 * another field was changed.
 *
 * @param stdClass        $prepared Post.
 * @param WP_REST_Request $request  Request.
 * @return stdClass
 */
function newsroom_headline_test_in_rest_update( $prepared, $request ) {
	$meta = $request['meta'];
	if ( ! empty( $prepared->ID ) && is_array( $meta ) && isset( $meta['newsroom_headline_test'] ) && is_array( $meta['newsroom_headline_test'] ) ) {
		$test = newsroom_headline_test_to_save( (int) $prepared->ID, $meta['newsroom_headline_test'] );
		// WordPress writes the meta after newsroom_headline_test_published(), and would bring the draft's start time back.
		if ( isset( $prepared->post_status, $test['state'] ) && 'publish' === $prepared->post_status && 'running' === $test['state'] && 'publish' !== get_post_status( (int) $prepared->ID ) ) {
			$test['started'] = '';
		}
		$meta['newsroom_headline_test'] = $test;
		$request->set_param( 'meta', $meta );
	}
	return $prepared;
}

/**
 * Keeps the current test of a story of which a revision is about to be restored. WordPress deletes the meta first and then copies the
 * revision's, which may be a test that was still running.
 *
 * @param int $id Article.
 */
function newsroom_before_headline_test_is_restored( $id ) {
	if ( 'articles' !== get_post_type( $id ) || ! metadata_exists( 'post', $id, 'newsroom_headline_test' ) ) {
		return;
	}
	$now     = newsroom_headline_test_of( $id );
	$restore = static function ( $restored ) use ( $id, $now, &$restore ) {
		if ( (int) $restored === (int) $id ) {
			remove_action( 'wp_restore_post_revision', $restore, 11 );
			$then = newsroom_headline_test_of( $id );
			$kept = newsroom_headline_test_after( $now, $then );
			if ( $kept !== $then ) {
				update_post_meta( $id, 'newsroom_headline_test', wp_slash( $kept ) );
			}
		}
	};
	add_action( 'wp_restore_post_revision', $restore, 11 );
}

<?php
/**
 * Live coverage: a live story's entries are separate posts, published one by one. The state is stored in the story's meta; an entry
 * refers to its story.
 *
 * @package Newsroom
 */

if ( ! defined( 'ABSPATH' ) ) {
	exit;
}

foreach ( array( 'added', 'updated' ) as $newsroom_verb ) {
	add_action( "{$newsroom_verb}_post_meta", 'newsroom_live_changed', 5, 4 );
}
unset( $newsroom_verb );
add_filter( 'rest_pre_insert_live-entry', 'newsroom_refuse_entry', 10, 2 );
add_filter( 'rest_prepare_articles', 'newsroom_live_not_in_meta' );
add_filter( 'rest_live-entry_collection_params', 'newsroom_rest_entry_params' );
add_filter( 'rest_live-entry_query', 'newsroom_rest_entry_query', 10, 2 );
newsroom_rest_field( 'articles', 'live', 'newsroom_live_of', array( 'type' => array( 'object', 'null' ) ) );
newsroom_rest_field( 'live-entry', 'entry', 'newsroom_rest_entry', array( 'type' => 'object' ) );

/**
 * States of a story with their labels for editors.
 *
 * @return array<string,string>
 */
function newsroom_live_states() {
	return array(
		''      => __( 'Not live', 'newsroom' ),
		'live'  => __( 'Live', 'newsroom' ),
		'ended' => __( 'Ended', 'newsroom' ),
	);
}

/**
 * Cleans a state.
 *
 * @param mixed $value Value.
 * @return string '', `live` or `ended`.
 */
function newsroom_sanitize_live( $value ) {
	return is_string( $value ) && array_key_exists( $value, newsroom_live_states() ) ? $value : '';
}

/**
 * Records when coverage started and ended. A story that becomes live again keeps its start.
 *
 * @param int    $meta_id Meta row.
 * @param int    $id      Post.
 * @param string $key     Meta key.
 * @param mixed  $value   Value.
 */
function newsroom_live_changed( $meta_id, $id, $key, $value ) {
	if ( 'newsroom_live' !== $key || 'articles' !== get_post_type( $id ) ) {
		return;
	}
	$now = newsroom_instant();
	if ( 'live' === $value ) {
		add_post_meta( $id, 'newsroom_live_started', $now, true );
		delete_post_meta( $id, 'newsroom_live_ended' );
	} elseif ( 'ended' === $value ) {
		add_post_meta( $id, 'newsroom_live_started', $now, true );
		update_post_meta( $id, 'newsroom_live_ended', $now );
	}
}

/**
 * Leaves the state out of the meta of a story. The block editor saves all meta that it has read, so a story that was open in an editor
 * while its coverage ended on the screen "Live coverage" would be live again.
 *
 * @param WP_REST_Response $response Answer.
 * @return WP_REST_Response
 */
function newsroom_live_not_in_meta( $response ) {
	$data = $response->get_data();
	if ( isset( $data['meta']['newsroom_live'] ) ) {
		unset( $data['meta']['newsroom_live'] );
		$response->set_data( $data );
	}
	return $response;
}

/**
 * The live coverage of a story, as the site receives it.
 *
 * @param int $id Article.
 * @return array|null State, start and end (UTC, or null); null for a story that was never live.
 */
function newsroom_live_of( $id ) {
	$state = newsroom_sanitize_live( get_post_meta( $id, 'newsroom_live', true ) );
	if ( '' === $state ) {
		return null;
	}
	$started = newsroom_sanitize_instant( get_post_meta( $id, 'newsroom_live_started', true ) );
	$ended   = newsroom_sanitize_instant( get_post_meta( $id, 'newsroom_live_ended', true ) );
	return array(
		'state'   => $state,
		'started' => '' === $started ? null : $started,
		'ended'   => 'ended' !== $state || '' === $ended ? null : $ended,
	);
}

/**
 * The story of an entry.
 *
 * @param int|WP_Post $entry Entry.
 * @return WP_Post|null
 */
function newsroom_story_of( $entry ) {
	$id    = (int) get_post_meta( $entry instanceof WP_Post ? $entry->ID : $entry, 'newsroom_story', true );
	$story = $id ? get_post( $id ) : null;
	return $story && 'articles' === $story->post_type ? $story : null;
}

/**
 * `entry`.
 *
 * @param int $id Entry.
 * @return array
 */
function newsroom_rest_entry( $id ) {
	return array(
		'story'     => (int) get_post_meta( $id, 'newsroom_story', true ),
		'pinned'    => '1' === newsroom_sanitize_flag( get_post_meta( $id, 'newsroom_pinned', true ) ),
		'key_event' => '1' === newsroom_sanitize_flag( get_post_meta( $id, 'newsroom_key_event', true ) ),
	);
}

/**
 * Describes `story`.
 *
 * @param array $params Parameters.
 * @return array
 */
function newsroom_rest_entry_params( $params ) {
	$params['story'] = array(
		'description' => __( 'Limit results to the entries of a live story: the ID of an article.', 'newsroom' ),
		'type'        => 'integer',
		'minimum'     => 1,
	);
	return $params;
}

/**
 * Applies `story`.
 *
 * @param array           $args    Arguments of the query.
 * @param WP_REST_Request $request Request.
 * @return array
 */
function newsroom_rest_entry_query( $args, $request ) {
	if ( $request['story'] ) {
		$args['meta_query']   = $args['meta_query'] ?? array(); // phpcs:ignore WordPress.DB.SlowDBQuery
		$args['meta_query'][] = array(
			'key'   => 'newsroom_story',
			'value' => (int) $request['story'],
		);
	}
	return $args;
}

/**
 * Refuses an entry without a story, or for a story that the user may not edit; and a change of a withdrawn entry, which would publish it
 * again from a screen where it was still open.
 *
 * @param stdClass|WP_Error $prepared Post to be written.
 * @param WP_REST_Request   $request  Request.
 * @return stdClass|WP_Error
 */
function newsroom_refuse_entry( $prepared, $request ) {
	if ( ! is_wp_error( $prepared ) && ! empty( $prepared->ID ) && 'trash' === get_post_status( $prepared->ID ) ) {
		return new WP_Error( 'newsroom_entry_withdrawn', __( 'A colleague has withdrawn this entry. To bring it back, restore it from the Trash.', 'newsroom' ), array( 'status' => 409 ) );
	}
	$meta  = $request['meta'];
	$given = is_array( $meta ) && array_key_exists( 'newsroom_story', $meta );
	if ( is_wp_error( $prepared ) || ( ! $given && ! empty( $prepared->ID ) ) ) {
		return $prepared;
	}
	$story = $given && is_numeric( $meta['newsroom_story'] ) ? get_post( (int) $meta['newsroom_story'] ) : null;
	if ( ! $story || 'articles' !== $story->post_type || ! current_user_can( 'edit_post', $story->ID ) ) {
		return new WP_Error( 'rest_invalid_param', __( 'newsroom_story must be the ID of a story that you can edit.', 'newsroom' ), array( 'status' => 400 ) );
	}
	return $prepared;
}

<?php
/**
 * REST routes of the screen "Front", and the draft of a front for the site's preview.
 *
 * @package Newsroom
 */

if ( ! defined( 'ABSPATH' ) ) {
	exit;
}

/** Number of fronts on one page of the history. */
define( 'NEWSROOM_FRONT_HISTORY', 20 );

newsroom_register_front_routes();

/**
 * Registers the routes.
 */
function newsroom_register_front_routes() {
	$page    = '/front/(?P<page>home|section-[1-9]\d{0,14})';
	$row     = $page . '/history/(?P<row>\d{1,15})';
	$version = array(
		'version' => array(
			'type'     => 'integer',
			'minimum'  => 0,
			'required' => true,
		),
	);
	$skip    = array(
		'skip' => array(
			'type'    => 'integer',
			'minimum' => 0,
			'default' => 0,
		),
	);
	newsroom_route( 'GET', $page, 'newsroom_rest_front_state', 'newsroom_may_change_front' );
	newsroom_route( 'POST', $page . '/draft', 'newsroom_rest_save_front', 'newsroom_may_change_front', $version + array( 'over' => array( 'type' => 'boolean' ) ) );
	newsroom_route( 'POST', $page . '/publish', 'newsroom_rest_publish_front', 'newsroom_may_change_front', $version );
	newsroom_route( 'POST', $page . '/schedule', 'newsroom_rest_schedule_front', 'newsroom_may_change_front', $version );
	newsroom_route( 'DELETE', $page . '/schedule', 'newsroom_rest_unschedule_front', 'newsroom_may_change_front' );
	newsroom_route( 'GET', $page . '/history', 'newsroom_rest_front_history', 'newsroom_may_change_front', $skip );
	newsroom_route( 'GET', $row, 'newsroom_rest_front_row', 'newsroom_may_change_front' );
	newsroom_route( 'POST', $row, 'newsroom_rest_restore_front', 'newsroom_may_change_front', $version + array( 'publish' => array( 'type' => 'boolean' ) ) );
	newsroom_route( 'POST', $page . '/preview', 'newsroom_rest_front_preview', 'newsroom_may_change_front' );
	newsroom_route( 'GET', '/fronts/(?P<id>\d{1,15})/draft', 'newsroom_rest_front_draft', 'newsroom_may_see_front_draft' );
}

/**
 * Whether the user may change the front of a page.
 *
 * @param WP_REST_Request $request Request.
 * @return bool|WP_Error
 */
function newsroom_may_change_front( $request ) {
	if ( ! newsroom_may_front() ) {
		return false;
	}
	$exists = isset( newsroom_front_pages()[ $request['page'] ] );
	return $exists ? true : new WP_Error( 'newsroom_front_unknown', __( 'This page has no front.', 'newsroom' ), array( 'status' => 404 ) );
}

/**
 * Whether the user may see drafts of fronts: editors, and the site for its previews.
 *
 * @return bool
 */
function newsroom_may_see_front_draft() {
	return newsroom_may_front() || current_user_can( 'newsroom_read_restricted' );
}

/**
 * The draft of a front in the form of the field `front`.
 *
 * @param WP_REST_Request $request Request.
 * @return WP_REST_Response|WP_Error
 */
function newsroom_rest_front_draft( $request ) {
	$post = get_post( (int) $request['id'] );
	if ( ! $post || 'front' !== $post->post_type ) {
		return new WP_Error( 'rest_post_invalid_id', __( 'This front doesn’t exist.', 'newsroom' ), array( 'status' => 404 ) );
	}
	$draft = newsroom_front_draft( $post->post_name );
	return rest_ensure_response(
		array(
			'front' => array(
				'slots' => newsroom_front_wire( $draft['slots'] ),
				'next'  => null,
			),
		)
	);
}

/**
 * Name of a user.
 *
 * @param int $id User.
 * @return string
 */
function newsroom_front_editor( $id ) {
	$user = $id ? get_userdata( $id ) : false;
	return $user ? $user->display_name : __( 'a former user', 'newsroom' );
}

/**
 * A row for the screen: who and when.
 *
 * @param array|null $row Row.
 * @return array|null
 */
function newsroom_front_note( $row ) {
	return $row && $row['at'] ? array(
		'row'   => $row['id'],
		'state' => $row['state'],
		'by'    => newsroom_front_editor( $row['user'] ),
		'when'  => newsroom_time_words( $row['at'] ),
		'slots' => count( $row['slots'] ),
	) : null;
}

/**
 * Details of the slots' stories and pictures for the screen.
 *
 * @param array[] $slots Slots.
 * @return array `stories`: title and state by id; `pictures`: addresses by id.
 */
function newsroom_front_details( $slots ) {
	$ids = array_column( $slots, 'story' );
	foreach ( $slots as $slot ) {
		$ids = array_merge( $ids, array_column( $slot['related'], 'story' ) );
	}
	$ids = array_values( array_unique( array_filter( array_map( 'intval', $ids ) ) ) );
	_prime_post_caches( $ids, false, false );
	$stories  = array();
	$pictures = array();
	foreach ( $ids as $id ) {
		$post           = get_post( $id );
		$is_story       = $post && 'articles' === $post->post_type && 'trash' !== $post->post_status;
		$stories[ $id ] = array(
			'title' => $is_story ? newsroom_plain( $post->post_title ) : newsroom_front_title( $id ),
			'state' => ! $is_story ? 'gone' : ( newsroom_is_visible( $post ) ? '' : ( 'future' === $post->post_status ? 'scheduled' : 'unpublished' ) ),
		);
	}
	foreach ( array_filter( array_column( $slots, 'picture' ) ) as $id ) {
		$pictures[ $id ] = (string) wp_get_attachment_image_url( $id, 'thumbnail' );
	}
	return array(
		'stories'  => (object) $stories,
		'pictures' => (object) $pictures,
	);
}

/**
 * Everything that the screen shows of a page.
 *
 * @param string $page Key.
 * @return array
 */
function newsroom_front_state( $page ) {
	newsroom_publish_due_fronts();
	$draft     = newsroom_front_draft( $page );
	$published = newsroom_front_row( $page, 'published' );
	$post      = newsroom_front_post( $page );
	return array(
		'page'      => $page,
		'version'   => $draft['version'],
		'slots'     => $draft['slots'],
		'draft'     => newsroom_front_note( $draft ),
		'changed'   => wp_json_encode( $draft['slots'] ) !== wp_json_encode( $published ? $published['slots'] : array() ),
		'published' => newsroom_front_note( $published ),
		'scheduled' => newsroom_front_note( newsroom_front_row( $page, 'scheduled' ) ),
		'post'      => $post ? $post->ID : 0,
	) + newsroom_front_details( $draft['slots'] );
}

/**
 * The answer to a change: the state, with the status and words of an error.
 *
 * @param string       $page   Key.
 * @param int|true|WP_Error $result What came of the change.
 * @return WP_REST_Response|WP_Error
 */
function newsroom_front_answer( $page, $result = true ) {
	if ( is_wp_error( $result ) && 'newsroom_front_conflict' === $result->get_error_code() ) {
		$result->add_data( array( 'status' => 409 ) + array( 'current' => newsroom_front_state( $page ) ) );
	}
	return rest_ensure_response( is_wp_error( $result ) ? $result : newsroom_front_state( $page ) );
}

/**
 * A page with its draft.
 *
 * @param WP_REST_Request $request Request.
 * @return WP_REST_Response|WP_Error
 */
function newsroom_rest_front_state( $request ) {
	return newsroom_front_answer( $request['page'] );
}

/**
 * Saves a draft.
 *
 * @param WP_REST_Request $request Request.
 * @return WP_REST_Response|WP_Error
 */
function newsroom_rest_save_front( $request ) {
	$page  = $request['page'];
	$slots = newsroom_clean_slots( $request['slots'] );
	$saved = is_wp_error( $slots ) ? $slots : newsroom_save_front( $page, $slots, (int) $request['version'], ! empty( $request['over'] ) );
	return newsroom_front_answer( $page, $saved );
}

/**
 * Publishes the draft.
 *
 * @param WP_REST_Request $request Request.
 * @return WP_REST_Response|WP_Error
 */
function newsroom_rest_publish_front( $request ) {
	return newsroom_front_answer( $request['page'], newsroom_publish_front( $request['page'], (int) $request['version'] ) );
}

/**
 * Schedules the draft.
 *
 * @param WP_REST_Request $request Request.
 * @return WP_REST_Response|WP_Error
 */
function newsroom_rest_schedule_front( $request ) {
	$page  = $request['page'];
	$local = newsroom_clean_local_time( $request['at'] );
	if ( is_wp_error( $local ) || '' === $local ) {
		return is_wp_error( $local ) ? $local : newsroom_front_refusal( __( 'Choose a date and time.', 'newsroom' ) );
	}
	$at = date_create_immutable( $local, wp_timezone() )->getTimestamp();
	return newsroom_front_answer( $page, newsroom_schedule_front( $page, (int) $request['version'], $at ) );
}

/**
 * Cancels the scheduled front.
 *
 * @param WP_REST_Request $request Request.
 * @return WP_REST_Response|WP_Error
 */
function newsroom_rest_unschedule_front( $request ) {
	if ( newsroom_drop_scheduled_front( $request['page'] ) ) {
		newsroom_announce_front( $request['page'] );
	}
	return newsroom_front_answer( $request['page'] );
}

/**
 * Fronts that were published, and drafts that others have replaced, newest first.
 *
 * @param WP_REST_Request $request Request.
 * @return WP_REST_Response
 */
function newsroom_rest_front_history( $request ) {
	global $wpdb;
	$table = newsroom_front_table();
	$rows  = $wpdb->get_results( $wpdb->prepare( "SELECT * FROM $table WHERE page = %s AND state IN ( 'published', 'kept' ) ORDER BY at DESC, id DESC LIMIT %d OFFSET %d", $request['page'], NEWSROOM_FRONT_HISTORY, $request['skip'] ) ); // phpcs:ignore WordPress.DB
	$total = (int) $wpdb->get_var( $wpdb->prepare( "SELECT COUNT(*) FROM $table WHERE page = %s AND state IN ( 'published', 'kept' )", $request['page'] ) ); // phpcs:ignore WordPress.DB
	$notes = array();
	foreach ( $rows as $row ) {
		$notes[] = newsroom_front_note( newsroom_front_of_row( $row ) );
	}
	return rest_ensure_response(
		array(
			'fronts' => $notes,
			'total'  => $total,
		)
	);
}

/**
 * A front of the history.
 *
 * @param WP_REST_Request $request Request.
 * @return array|WP_Error Row.
 */
function newsroom_front_of_history( $request ) {
	global $wpdb;
	$table = newsroom_front_table();
	$row   = newsroom_front_of_row( $wpdb->get_row( $wpdb->prepare( "SELECT * FROM $table WHERE id = %d AND page = %s AND state IN ( 'published', 'kept' )", $request['row'], $request['page'] ) ) ); // phpcs:ignore WordPress.DB
	return $row ? $row : new WP_Error( 'newsroom_front_unknown', __( 'This front isn’t in the history.', 'newsroom' ), array( 'status' => 404 ) );
}

/**
 * A front of the history: its stories, and how it differs from what is published now.
 *
 * @param WP_REST_Request $request Request.
 * @return WP_REST_Response|WP_Error
 */
function newsroom_rest_front_row( $request ) {
	$row = newsroom_front_of_history( $request );
	if ( is_wp_error( $row ) ) {
		return $row;
	}
	$kinds = newsroom_front_kinds();
	$lines = array();
	foreach ( $row['slots'] as $slot ) {
		$lines[] = $kinds[ $slot['kind'] ] . ': ' . newsroom_front_title( $slot['story'], $slot['headline'] );
	}
	return rest_ensure_response(
		newsroom_front_note( $row ) + array(
			'lines'       => $lines,
			'differences' => newsroom_front_differences( newsroom_front_published( $request['page'] ), $row['slots'] ),
		)
	);
}

/**
 * Makes a front of the history the draft, and publishes it if requested. The previous draft is kept.
 *
 * @param WP_REST_Request $request Request.
 * @return WP_REST_Response|WP_Error
 */
function newsroom_rest_restore_front( $request ) {
	$page = $request['page'];
	$row  = newsroom_front_of_history( $request );
	if ( is_wp_error( $row ) ) {
		return $row;
	}
	$draft = newsroom_front_draft( $page );
	$saved = newsroom_save_front( $page, $row['slots'], (int) $request['version'] );
	if ( ! is_wp_error( $saved ) ) {
		newsroom_keep_front( $draft, $row['slots'] );
	}
	if ( ! is_wp_error( $saved ) && ! empty( $request['publish'] ) ) {
		$saved = newsroom_publish_front( $page, $saved );
	}
	return newsroom_front_answer( $page, $saved );
}

/**
 * A signed address at which the site shows the draft at the width of a phone and of a desktop.
 *
 * @param WP_REST_Request $request Request.
 * @return WP_REST_Response|WP_Error
 */
function newsroom_rest_front_preview( $request ) {
	$page = $request['page'];
	$post = newsroom_front_post( $page );
	$url  = newsroom_signed_preview( $post ? $post : get_post( newsroom_announce_front( $page, 'draft' ) ) );
	if ( '' === $url ) {
		return new WP_Error( 'newsroom_front_preview', newsroom_no_site_message(), array( 'status' => 400 ) );
	}
	return rest_ensure_response( array( 'url' => $url . '&widths=both' ) );
}

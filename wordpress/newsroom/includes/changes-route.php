<?php
/**
 * /newsroom/v1/changes: recent changes, for a process of the site that has missed webhooks.
 *
 * @package Newsroom
 */

if ( ! defined( 'ABSPATH' ) ) {
	exit;
}

newsroom_route(
	'GET',
	'/changes',
	'newsroom_rest_changes',
	'newsroom_may_see_changes',
	array(
		// By WordPress's clock; the site's may differ.
		'seconds' => array(
			'type'     => 'integer',
			'minimum'  => 1,
			'maximum'  => WEEK_IN_SECONDS,
			'required' => true,
		),
		'after'   => array(
			'type'    => 'integer',
			'minimum' => 0,
			'default' => 0,
		),
	)
);

/**
 * Whether the user may see recent changes: the list names documents that are no longer public.
 *
 * @return bool
 */
function newsroom_may_see_changes() {
	return current_user_can( 'newsroom_read_restricted' );
}

/**
 * Deliveries that were created or tried in the last seconds, and older ones that the site hasn't confirmed, at most 100 in the order of
 * their rows.
 *
 * @param WP_REST_Request $request Request.
 * @return WP_REST_Response
 */
function newsroom_rest_changes( $request ) {
	global $wpdb;
	$table = newsroom_table();
	$since = (int) round( microtime( true ) * 1000 ) - 1000 * (int) $request['seconds'];
	// A delivery that waited for a long time may have reached another process of the site just now.
	$rows = $wpdb->get_results( $wpdb->prepare( "SELECT id, delivery, event, object_type, object_id, payload FROM $table WHERE id > %d AND ( created_ms >= %d OR tried_at >= %d OR state IN ( 'pending', 'sending' ) ) ORDER BY id LIMIT 100", $request['after'], $since, (int) floor( $since / 1000 ) ) ); // phpcs:ignore WordPress.DB
	return rest_ensure_response( array_map( 'newsroom_change_of_row', $rows ) );
}

/**
 * A row as the route gives it.
 *
 * @param object $row Row.
 * @return array
 */
function newsroom_change_of_row( $row ) {
	$payload = json_decode( $row->payload, true );
	return array(
		'row'      => (int) $row->id,
		'delivery' => $row->delivery,
		'event'    => $row->event,
		'type'     => $row->object_type,
		'id'       => (int) $row->object_id,
		'slug'     => isset( $payload['slug'] ) && is_string( $payload['slug'] ) ? $payload['slug'] : '',
	);
}

<?php
/**
 * Akismet judges a comment by the address and the browser of the request. For comments that the site posts, the request is the site's, so
 * all readers would look like one busy server. Akismet is therefore given the reader's address and browser.
 *
 * @package Newsroom
 */

if ( ! defined( 'ABSPATH' ) ) {
	exit;
}

add_filter( 'rest_preprocess_comment', 'newsroom_note_reader', 20, 2 );
add_filter( 'akismet_request_args', 'newsroom_akismet_reader', 10, 2 );
add_filter( 'rest_request_after_callbacks', 'newsroom_answer_discarded', 20, 3 );

/**
 * The comment that the site is posting.
 *
 * @param array|null $enter Address, browser and page of the reader; null to only look.
 * @return array
 */
function newsroom_commenting_reader( $enter = null ) {
	static $reader = array();
	if ( null !== $enter ) {
		$reader = $enter;
	}
	return $reader;
}

/**
 * Remembers the reader whose comment is about to be checked.
 *
 * @param array|WP_Error  $prepared Comment for the database.
 * @param WP_REST_Request $request  Request.
 * @return array|WP_Error
 */
function newsroom_note_reader( $prepared, $request ) {
	if ( is_array( $prepared ) && '' !== newsroom_comment_key( $request ) ) {
		newsroom_commenting_reader(
			array(
				'user_ip'    => isset( $prepared['comment_author_IP'] ) ? (string) $prepared['comment_author_IP'] : '',
				'user_agent' => isset( $prepared['comment_agent'] ) ? (string) $prepared['comment_agent'] : '',
				'referrer'   => isset( $prepared['comment_post_ID'] ) ? (string) get_permalink( (int) $prepared['comment_post_ID'] ) : '',
			)
		);
	}
	return $prepared;
}

/**
 * Replaces the data of the server that posts the comment with the reader's.
 *
 * @param array  $args Arguments of Akismet's request.
 * @param string $path What it asks.
 * @return array
 */
function newsroom_akismet_reader( $args, $path = '' ) {
	$reader = newsroom_commenting_reader();
	if ( ! $reader || 'comment-check' !== $path || ! is_array( $args ) ) {
		return $args;
	}
	// The request's headers are also the server's, so they are removed.
	foreach ( array_keys( $args ) as $name ) {
		if ( preg_match( '/^(HTTP_|REMOTE_|SERVER_|PHP_|REDIRECT_)/', (string) $name ) ) {
			unset( $args[ $name ] );
		}
	}
	return array_merge( $args, $reader );
}

/**
 * When a spam filter discards a comment, WordPress returns an error without a status, and REST responds with 500, as for a temporary fault.
 * It is turned into a refusal, which isn't retried.
 *
 * @param mixed           $response Answer.
 * @param array           $handler  Route handler.
 * @param WP_REST_Request $request  Request.
 * @return mixed
 */
function newsroom_answer_discarded( $response, $handler, $request ) {
	if ( '' === newsroom_comment_key( $request ) ) {
		return $response;
	}
	newsroom_commenting_reader( array() );
	$data = is_wp_error( $response ) ? $response->get_error_data() : null;
	if ( is_wp_error( $response ) && ! isset( $data['status'] ) ) {
		return new WP_Error( 'newsroom_comment_discarded', __( 'The comment was discarded.', 'newsroom' ), array( 'status' => 403 ) );
	}
	return $response;
}

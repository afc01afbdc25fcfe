<?php
/**
 * Akismet judges a comment by the address and the browser of the request. For comments that the site posts these are the site's own: every
 * reader would look like one busy server. It is given the reader's.
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
function newsroom_posted_comment( $enter = null ) {
	static $reader = array();
	if ( null !== $enter ) {
		$reader = $enter;
	}
	return $reader;
}

/**
 * Notes whose comment is about to be checked.
 *
 * @param array|WP_Error  $prepared Comment for the database.
 * @param WP_REST_Request $request  Request.
 * @return array|WP_Error
 */
function newsroom_note_reader( $prepared, $request ) {
	if ( is_array( $prepared ) && '' !== newsroom_comment_key( $request ) ) {
		newsroom_posted_comment(
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
 * Puts the reader in the place of the server that brings the comment.
 *
 * @param array  $args Arguments of Akismet's request.
 * @param string $path What it asks.
 * @return array
 */
function newsroom_akismet_reader( $args, $path = '' ) {
	$reader = newsroom_posted_comment();
	if ( ! $reader || 'comment-check' !== $path || ! is_array( $args ) ) {
		return $args;
	}
	// The headers of the request are the server's, too.
	foreach ( array_keys( $args ) as $name ) {
		if ( preg_match( '/^(HTTP_|REMOTE_|SERVER_|PHP_|REDIRECT_)/', (string) $name ) ) {
			unset( $args[ $name ] );
		}
	}
	return array_merge( $args, $reader );
}

/**
 * A comment that a spam filter drops without a trace is an error of WordPress without a status, which REST answers with 500 like a fault that may
 * pass. It is a refusal, and isn't retried.
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
	newsroom_posted_comment( array() );
	$data = is_wp_error( $response ) ? $response->get_error_data() : null;
	if ( is_wp_error( $response ) && ! isset( $data['status'] ) ) {
		return new WP_Error( 'newsroom_comment_discarded', __( 'The comment was discarded.', 'newsroom' ), array( 'status' => 403 ) );
	}
	return $response;
}

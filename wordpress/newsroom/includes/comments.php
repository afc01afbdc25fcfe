<?php
/**
 * Readers' comments, which the site posts: a repeated request creates no second comment, an author's edits are moderated again,
 * reports are counted and shown to editors, and names can be removed.
 *
 * @package Newsroom
 */

if ( ! defined( 'ABSPATH' ) ) {
	exit;
}

add_filter( 'rest_dispatch_request', 'newsroom_comment_once', 10, 4 );
add_filter( 'rest_request_after_callbacks', 'newsroom_comment_release', 10, 3 );
add_filter( 'rest_preprocess_comment', 'newsroom_comment_prepared', 10, 2 );
add_filter( 'rest_pre_insert_comment', 'newsroom_comment_unconfirmed', 10, 2 );
add_action( 'transition_comment_status', 'newsroom_comment_reports_seen', 10, 3 );
add_action( 'pre_comment_on_post', 'newsroom_refuse_comment_form' );
add_filter( 'pre_comment_approved', 'newsroom_refuse_comment_call', PHP_INT_MAX, 2 );
add_filter( 'rest_prepare_comment', 'newsroom_hide_comment_avatars', PHP_INT_MAX );
add_filter( 'pre_get_avatar_data', 'newsroom_comment_without_avatar', PHP_INT_MAX, 2 );

newsroom_route(
	'GET',
	'/comments',
	'newsroom_rest_find_comment',
	'newsroom_may_moderate',
	array(
		'key' => array(
			'type'     => 'string',
			'required' => true,
		),
	)
);
newsroom_route(
	'POST',
	'/comments/(?P<id>\d+)/reports',
	'newsroom_rest_report_comment',
	'newsroom_may_moderate',
	array(
		'count'   => array(
			'type'     => 'integer',
			'minimum'  => 0,
			'required' => true,
		),
		'hold_at' => array(
			'type'     => 'integer',
			'minimum'  => 1,
			'required' => true,
		),
	)
);
newsroom_route( 'DELETE', '/comments/(?P<id>\d+)/author', 'newsroom_rest_forget_author', 'newsroom_may_moderate' );

/** Seconds after which a comment that is still being written counts as given up. */
const NEWSROOM_COMMENT_LOCK = 120;

/**
 * Whether the user may call the routes for comments.
 *
 * @return bool
 */
function newsroom_may_moderate() {
	return current_user_can( 'moderate_comments' );
}

/**
 * The key that the site sent with a comment, or ''.
 *
 * @param WP_REST_Request $request Request.
 * @return string
 */
function newsroom_comment_key( $request ) {
	if ( 'POST' !== $request->get_method() || '/wp/v2/comments' !== $request->get_route() || ! current_user_can( 'moderate_comments' ) ) {
		return '';
	}
	$key = $request->get_param( 'newsroom_key' );
	return is_string( $key ) && preg_match( '/^[\w-]{8,64}$/', $key ) ? $key : '';
}

/**
 * The comment that was posted with a key.
 *
 * @param string $key Key.
 * @return WP_Comment|null
 */
function newsroom_comment_by_key( $key ) {
	$ids = get_comments(
		array(
			'fields'     => 'ids',
			'status'     => 'any',
			'number'     => 1,
			'meta_key'   => '_newsroom_key', // phpcs:ignore WordPress.DB.SlowDBQuery
			'meta_value' => $key, // phpcs:ignore WordPress.DB.SlowDBQuery
			'orderby'    => 'none',
		)
	);
	return $ids ? get_comment( (int) $ids[0] ) : null;
}

/**
 * Id and state of a comment; these routes return nothing else.
 *
 * @param WP_Comment $comment Comment.
 * @return array
 */
function newsroom_comment_state( $comment ) {
	$status = wp_get_comment_status( $comment );
	return array(
		'id'     => (int) $comment->comment_ID,
		'status' => 'unapproved' === $status ? 'hold' : (string) $status,
	);
}

/**
 * If the comment already exists, responds with it; lets only one request at a time write it.
 *
 * @param mixed           $result  Answer so far.
 * @param WP_REST_Request $request Request.
 * @return mixed
 */
function newsroom_comment_once( $result, $request ) {
	$key = null === $result ? newsroom_comment_key( $request ) : '';
	if ( '' === $key ) {
		return $result;
	}
	$known = newsroom_comment_by_key( $key );
	if ( ! $known && ! newsroom_comment_lock( $key ) ) {
		return new WP_Error( 'newsroom_busy', __( 'This comment is still being saved. Try again in a moment.', 'newsroom' ), array( 'status' => 409 ) );
	}
	// Checked again: the previous holder of the lock may have written it.
	$known = $known ? $known : newsroom_comment_by_key( $key );
	return $known ? rest_ensure_response( newsroom_comment_state( $known ) ) : $result;
}

/**
 * Takes the lock of a key. A single statement, so that only one of two simultaneous requests succeeds.
 *
 * @param string $key Key.
 * @return bool
 */
function newsroom_comment_lock( $key ) {
	global $wpdb;
	$name  = 'newsroom_comment_' . md5( $key );
	$taken = function () use ( $wpdb, $name ) {
		return (int) $wpdb->query( $wpdb->prepare( "INSERT IGNORE INTO {$wpdb->options} (option_name, option_value, autoload) VALUES (%s, %s, 'no')", $name, time() ) ); // phpcs:ignore WordPress.DB
	};
	if ( 1 === $taken() ) {
		return true;
	}
	$since = (int) $wpdb->get_var( $wpdb->prepare( "SELECT option_value FROM {$wpdb->options} WHERE option_name = %s", $name ) ); // phpcs:ignore WordPress.DB
	if ( time() - $since < NEWSROOM_COMMENT_LOCK ) {
		return false;
	}
	// The lock's holder has died.
	$wpdb->query( $wpdb->prepare( "DELETE FROM {$wpdb->options} WHERE option_name = %s AND option_value = %s", $name, $since ) ); // phpcs:ignore WordPress.DB
	return 1 === $taken();
}

/**
 * Releases the lock.
 *
 * @param mixed           $response Answer.
 * @param array           $handler  Route handler.
 * @param WP_REST_Request $request  Request.
 * @return mixed
 */
function newsroom_comment_release( $response, $handler, $request ) {
	$key = newsroom_comment_key( $request );
	if ( '' !== $key && ! ( is_wp_error( $response ) && 'newsroom_busy' === $response->get_error_code() ) ) {
		global $wpdb;
		$wpdb->delete( $wpdb->options, array( 'option_name' => 'newsroom_comment_' . md5( $key ) ) ); // phpcs:ignore WordPress.DB
	}
	return $response;
}

/**
 * Links a new comment to its key, and moderates an author's edit as WordPress would moderate a new comment.
 *
 * @param array|WP_Error  $prepared Comment for the database.
 * @param WP_REST_Request $request  Request.
 * @return array|WP_Error
 */
function newsroom_comment_prepared( $prepared, $request ) {
	if ( ! is_array( $prepared ) ) {
		return $prepared;
	}
	$key = newsroom_comment_key( $request );
	if ( '' !== $key ) {
		$prepared['comment_meta'] = array( '_newsroom_key' => $key );
	}
	$before = $request->get_param( 'newsroom_author' ) && $request['id'] ? get_comment( (int) $request['id'] ) : null;
	if ( $before && current_user_can( 'moderate_comments' ) && isset( $prepared['comment_content'] ) && '1' === (string) $before->comment_approved ) {
		$passes = check_comment( $before->comment_author, $before->comment_author_email, $before->comment_author_url, $prepared['comment_content'], $before->comment_author_IP, $before->comment_agent, $before->comment_type );
		if ( ! $passes ) {
			$request->set_param( 'status', 'hold' );
		}
		if ( wp_check_comment_disallowed_list( $before->comment_author, $before->comment_author_email, $before->comment_author_url, $prepared['comment_content'], $before->comment_author_IP, $before->comment_agent ) ) {
			$request->set_param( 'status', EMPTY_TRASH_DAYS ? 'trash' : 'spam' );
		}
	}
	return $prepared;
}

/**
 * A comment with an unconfirmed address always waits for the editors, even if WordPress trusts that address.
 *
 * @param array|WP_Error  $prepared Comment for the database, with what WordPress has decided about it.
 * @param WP_REST_Request $request  Request.
 * @return array|WP_Error
 */
function newsroom_comment_unconfirmed( $prepared, $request ) {
	if ( is_array( $prepared ) && '' !== newsroom_comment_key( $request ) && $request->get_param( 'newsroom_unconfirmed' ) && '1' === (string) $prepared['comment_approved'] ) {
		$prepared['comment_approved'] = '0';
	}
	return $prepared;
}

/**
 * Whether comments of the current user on a post are accepted only through the site.
 *
 * @param WP_Post|null $post Post that the comment is on.
 * @return bool
 */
function newsroom_takes_comments_from_site( $post ) {
	return newsroom_is_document( $post ) && newsroom_links_to_site() && ! current_user_can( 'moderate_comments' );
}

/**
 * Refuses WordPress's own comment form on documents that readers see on the site. The form requires no account: a stranger could write
 * under any name, and without moderation under one that WordPress trusts.
 *
 * @param int $post_id Post that the comment is on.
 */
function newsroom_refuse_comment_form( $post_id ) {
	$post = get_post( $post_id );
	if ( ! newsroom_takes_comments_from_site( $post ) ) {
		return;
	}
	wp_die(
		esc_html__( 'You can’t comment here. Comment on the newspaper’s site.', 'newsroom' ),
		'',
		array(
			'response'  => 403,
			'link_url'  => esc_url( (string) get_permalink( $post ) ),
			'link_text' => esc_html__( 'Go to the story', 'newsroom' ),
		)
	);
}

/**
 * Refuses comments through REST and XML-RPC in the same way: REST accepts any name and address from every WordPress user. Replies on the
 * comments screen are allowed, because they have the user's own name.
 *
 * @param int|string|WP_Error $approved Decision so far.
 * @param array               $comment  Comment.
 * @return int|string|WP_Error
 */
function newsroom_refuse_comment_call( $approved, $comment ) {
	$is_call = ( defined( 'REST_REQUEST' ) && REST_REQUEST ) || ( defined( 'XMLRPC_REQUEST' ) && XMLRPC_REQUEST );
	$type    = $comment['comment_type'] ?? '';
	if ( ! $is_call || ! in_array( $type, array( '', 'comment' ), true ) || ! newsroom_takes_comments_from_site( get_post( $comment['comment_post_ID'] ) ) ) {
		return $approved;
	}
	return new WP_Error( 'newsroom_comment_elsewhere', __( 'You can’t comment here. Comment on the newspaper’s site.', 'newsroom' ), array( 'status' => 403 ) );
}

/**
 * Shows the addresses of avatars only to users who moderate: they contain a hash of the commenter's email address, from which it can be
 * guessed.
 *
 * @param WP_REST_Response $response Answer.
 * @return WP_REST_Response
 */
function newsroom_hide_comment_avatars( $response ) {
	if ( $response instanceof WP_REST_Response && ! user_can( newsroom_requesting_user(), 'moderate_comments' ) ) {
		$data = $response->get_data();
		unset( $data['author_avatar_urls'] );
		$response->set_data( $data );
	}
	return $response;
}

/**
 * The same for pages of themes: comments that the site posted have avatars only in wp-admin.
 *
 * @param array $args    Avatar.
 * @param mixed $subject What it is for.
 * @return array
 */
function newsroom_comment_without_avatar( $args, $subject ) {
	$id = is_object( $subject ) && isset( $subject->comment_ID ) ? (int) $subject->comment_ID : 0;
	if ( $id && ! ( is_admin() && current_user_can( 'moderate_comments' ) ) && metadata_exists( 'comment', $id, '_newsroom_key' ) ) {
		$args['url']          = '';
		$args['found_avatar'] = false;
	}
	return $args;
}

/**
 * Finds a comment by its key.
 *
 * @param WP_REST_Request $request Request.
 * @return WP_REST_Response|WP_Error
 */
function newsroom_rest_find_comment( $request ) {
	$comment = newsroom_comment_by_key( (string) $request['key'] );
	return $comment ? rest_ensure_response( newsroom_comment_state( $comment ) ) : newsroom_no_comment();
}

/**
 * Stores how many readers have reported a comment. After `hold_at` reports since an editor last reviewed it, the comment is
 * hidden.
 *
 * @param WP_REST_Request $request Request.
 * @return WP_REST_Response|WP_Error
 */
function newsroom_rest_report_comment( $request ) {
	$comment = get_comment( (int) $request['id'] );
	if ( ! $comment ) {
		return newsroom_no_comment();
	}
	$id = (int) $comment->comment_ID;
	if ( (int) $request['count'] > 0 ) {
		update_comment_meta( $id, '_newsroom_reports', (int) $request['count'] );
	} else {
		delete_comment_meta( $id, '_newsroom_reports' );
	}
	$seen = (int) get_comment_meta( $id, '_newsroom_reports_seen', true );
	if ( '1' === (string) $comment->comment_approved && (int) $request['count'] - $seen >= (int) $request['hold_at'] ) {
		wp_set_comment_status( $id, 'hold' );
	}
	return rest_ensure_response( newsroom_comment_state( get_comment( $id ) ) );
}

/**
 * Removes name and addresses from a comment whose author deleted the account.
 *
 * @param WP_REST_Request $request Request.
 * @return WP_REST_Response|WP_Error
 */
function newsroom_rest_forget_author( $request ) {
	$comment = get_comment( (int) $request['id'] );
	if ( ! $comment ) {
		return newsroom_no_comment();
	}
	$id = (int) $comment->comment_ID;
	wp_update_comment(
		array(
			'comment_ID'           => $id,
			'comment_author'       => __( 'A former reader', 'newsroom' ),
			'comment_author_email' => '',
			'comment_author_url'   => '',
			'comment_author_IP'    => '',
			'comment_agent'        => '',
		)
	);
	delete_comment_meta( $id, '_newsroom_key' );
	return rest_ensure_response( newsroom_comment_state( get_comment( $id ) ) );
}

/**
 * There is no such comment.
 *
 * @return WP_Error
 */
function newsroom_no_comment() {
	return new WP_Error( 'rest_comment_invalid_id', __( 'Invalid comment ID.', 'newsroom' ), array( 'status' => 404 ) );
}

/**
 * An editor who approves a comment has seen its reports: only new reports can hide it again.
 *
 * @param string     $new     Status now.
 * @param string     $old     Status before.
 * @param WP_Comment $comment Comment.
 */
function newsroom_comment_reports_seen( $new, $old, $comment ) {
	if ( 'approved' === $new && 'approved' !== $old ) {
		$reports = (int) get_comment_meta( (int) $comment->comment_ID, '_newsroom_reports', true );
		if ( $reports > 0 ) {
			update_comment_meta( (int) $comment->comment_ID, '_newsroom_reports_seen', $reports );
		}
	}
}

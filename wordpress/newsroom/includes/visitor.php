<?php
/**
 * The site's credentials read documents as an anonymous visitor sees them.
 *
 * What the site copies is shown to everyone, so what another plugin shows to users who are signed in (members-only shortcodes and
 * blocks, "Logged in as", nonces, menu items) must not be rendered for it. Permissions are checked with the credentials; the response
 * is then made as user 0. Only this plugin's own access rules are lifted, and only for the requested document.
 *
 * @package Newsroom
 */

if ( ! defined( 'ABSPATH' ) ) {
	exit;
}

// After the permission check and every other filter of it, directly before the callback; and directly after the callback.
add_filter( 'rest_dispatch_request', 'newsroom_become_visitor', PHP_INT_MAX, 3 );
add_filter( 'rest_request_after_callbacks', 'newsroom_become_requesting_user', PHP_INT_MIN, 3 );
add_action( 'rest_api_init', 'newsroom_register_whole_bodies' );

/**
 * Requests in progress that are handled as user 0, innermost last.
 *
 * @param array|null $enter Request and user to add; null to only look; an empty array to drop the innermost.
 * @return array[] Each: `request` and `user`.
 */
function newsroom_visitor_requests( $enter = null ) {
	static $requests = array();
	if ( array() === $enter ) {
		array_pop( $requests );
	} elseif ( null !== $enter ) {
		$requests[] = $enter;
	}
	return $requests;
}

/**
 * Whether a response to the current user is rendered for an anonymous visitor.
 *
 * Administrators may also read restricted bodies, and the site may use an administrator's credentials; only requests for editing
 * stay unchanged.
 *
 * @param WP_REST_Request $request Request.
 * @return bool
 */
function newsroom_reads_as_visitor( $request ) {
	if ( ! in_array( $request->get_method(), array( 'GET', 'HEAD' ), true ) || ! current_user_can( 'newsroom_read_restricted' ) ) {
		return false;
	}
	if ( 'edit' === $request['context'] && current_user_can( 'edit_posts' ) ) {
		return false;
	}
	// A list of drafts or of waiting comments would be empty for user 0.
	if ( array_diff( (array) $request['status'], array( 'publish', 'approve' ) ) ) {
		return false;
	}
	return (bool) preg_match( '#^/(?:wp/v2/(?:articles|live-entries|video|crosswords|authors|podcasts|fronts|pages|comments|categories)|newsroom/v1/menus)(?:/|$)#', $request->get_route() );
}

/**
 * Makes user 0 the current user for the callback of a route.
 *
 * @param mixed           $result  Answer so far.
 * @param WP_REST_Request $request Request.
 * @return mixed
 */
function newsroom_become_visitor( $result, $request ) {
	if ( null === $result && newsroom_reads_as_visitor( $request ) ) {
		newsroom_visitor_requests(
			array(
				'request' => $request,
				'user'    => get_current_user_id(),
			)
		);
		wp_set_current_user( 0 );
	}
	return $result;
}

/**
 * Makes the original user the current one again.
 *
 * @param mixed           $response Answer.
 * @param array           $handler  Route handler.
 * @param WP_REST_Request $request  Request.
 * @return mixed
 */
function newsroom_become_requesting_user( $response, $handler, $request ) {
	$requests  = newsroom_visitor_requests();
	$innermost = end( $requests );
	if ( $innermost && $innermost['request'] === $request ) {
		newsroom_visitor_requests( array() );
		wp_set_current_user( $innermost['user'] );
	}
	return $response;
}

/**
 * The user who made the request, even if the response is made as user 0.
 *
 * @return int
 */
function newsroom_requesting_user() {
	$requests  = newsroom_visitor_requests();
	$innermost = end( $requests );
	return $innermost ? $innermost['user'] : get_current_user_id();
}

/**
 * The document whose access level is ignored while its body is rendered.
 *
 * @param int|null $id Document, 0 for none; null to only look.
 * @return int
 */
function newsroom_unrestricted_id( $id = null ) {
	static $unrestricted = 0;
	$now                 = $unrestricted;
	if ( null !== $id ) {
		$unrestricted = $id;
	}
	return $now;
}

/**
 * Adds the full bodies to the responses.
 */
function newsroom_register_whole_bodies() {
	foreach ( array( 'articles', 'live-entry', 'revision' ) as $type ) {
		// Before newsroom_cut_rest(), which takes out what belongs to a body that stays cut.
		add_filter( "rest_prepare_{$type}", 'newsroom_give_whole_body', PHP_INT_MAX - 1, 3 );
	}
}

/**
 * Gives the site the full body of a restricted article, rendered for an anonymous visitor as if it were free.
 *
 * @param WP_REST_Response $response Answer.
 * @param WP_Post          $post     Article or revision.
 * @param WP_REST_Request  $request  Request.
 * @return WP_REST_Response
 */
function newsroom_give_whole_body( $response, $post, $request ) {
	if ( ! $response instanceof WP_REST_Response || ! newsroom_visitor_requests() || ! newsroom_is_cut( $post ) || ! user_can( newsroom_requesting_user(), 'newsroom_read_restricted' ) ) {
		return $response;
	}
	$data = $response->get_data();
	if ( isset( $data['content']['rendered'] ) && ( empty( $data['content']['protected'] ) || ! empty( $request['password'] ) ) ) {
		$data['content']['rendered'] = newsroom_render_whole( $post );
	}
	if ( array_key_exists( 'sound', $data ) ) {
		$data['sound'] = newsroom_sound_of( $post, true );
	}
	if ( isset( $data['restricted'] ) ) {
		$data['restricted'] = false;
	}
	$response->set_data( $data );
	return $response;
}

/**
 * The body of a post as WordPress renders it in REST, without the cut for its access level. Other restricted articles in it (a list
 * of posts, an embedded article) stay cut.
 *
 * @param WP_Post $post Article or revision.
 * @return string
 */
function newsroom_render_whole( $post ) {
	$before          = newsroom_unrestricted_id( 'revision' === $post->post_type ? $post->post_parent : $post->ID );
	$GLOBALS['post'] = $post; // phpcs:ignore WordPress.WP.GlobalVariablesOverride -- as WordPress's own controller does.
	setup_postdata( $post );
	/** This filter is documented in wp-includes/post-template.php */
	$html = apply_filters( 'the_content', $post->post_content );
	newsroom_unrestricted_id( $before );
	return $html;
}

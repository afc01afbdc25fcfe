<?php
/**
 * The site's own role, and what its credentials may read.
 *
 * @package Newsroom
 */

if ( ! defined( 'ABSPATH' ) ) {
	exit;
}

add_filter( 'rest_request_before_callbacks', 'newsroom_enter_request', 1, 3 );
add_filter( 'rest_request_after_callbacks', 'newsroom_leave_request', 999 );
add_filter( 'map_meta_cap', 'newsroom_map_reading', 10, 4 );

/**
 * Creates the role of the site's user, and gives administrators its reading capability, too.
 */
function newsroom_add_role() {
	$capabilities = array(
		'read'                     => true,
		'newsroom_read_restricted' => true,
		'moderate_comments'        => true,
	);
	add_role( 'newsroom_site', __( 'Newsroom site', 'newsroom' ), $capabilities );
	$role = get_role( 'newsroom_site' );
	if ( $role ) {
		foreach ( array_keys( $capabilities ) as $capability ) {
			$role->add_cap( $capability );
		}
	}
	$administrator = get_role( 'administrator' );
	if ( $administrator ) {
		$administrator->add_cap( 'newsroom_read_restricted' );
	}
}

/**
 * Removes the role and the capability.
 */
function newsroom_remove_role() {
	remove_role( 'newsroom_site' );
	$administrator = get_role( 'administrator' );
	if ( $administrator ) {
		$administrator->remove_cap( 'newsroom_read_restricted' );
	}
}

/**
 * Methods of the REST requests in progress, outermost first (embedding and batches nest).
 *
 * @param string|null $enter Method to add; null to only look; '' to drop the innermost.
 * @return string[]
 */
function newsroom_request_methods( $enter = null ) {
	static $methods = array();
	if ( '' === $enter ) {
		array_pop( $methods );
	} elseif ( null !== $enter ) {
		$methods[] = $enter;
	}
	return $methods;
}

/**
 * Records that a REST request has started.
 *
 * @param mixed           $response Answer so far.
 * @param array           $handler  Route handler.
 * @param WP_REST_Request $request  Request.
 * @return mixed
 */
function newsroom_enter_request( $response, $handler, $request ) {
	newsroom_request_methods( strtoupper( $request->get_method() ) );
	return $response;
}

/**
 * Records that a REST request has been answered.
 *
 * @param mixed $response Answer.
 * @return mixed
 */
function newsroom_leave_request( $response ) {
	newsroom_request_methods( '' );
	return $response;
}

/**
 * Whether a reading REST request is in progress that isn't part of a writing one.
 *
 * @return bool
 */
function newsroom_is_reading() {
	$methods = newsroom_request_methods();
	return $methods && ! array_diff( $methods, array( 'GET', 'HEAD' ) );
}

/**
 * Lets the site's credentials read drafts, autosaves and revisions for previews.
 *
 * WordPress requires `edit_post` to show any of them. With that capability the credentials could also write; so `edit_post` is
 * mapped to `newsroom_read_restricted`, but only during a reading REST request.
 *
 * @param string[] $caps    Primitive capabilities needed.
 * @param string   $cap     Capability asked for.
 * @param int      $user_id User.
 * @param array    $args    Post id first.
 * @return string[]
 */
function newsroom_map_reading( $caps, $cap, $user_id, $args ) {
	if ( ! in_array( $cap, array( 'read_post', 'edit_post', 'read_page', 'edit_page' ), true ) || empty( $args[0] ) ) {
		return $caps;
	}
	if ( ! newsroom_is_reading() || ! user_can( $user_id, 'newsroom_read_restricted' ) ) {
		return $caps;
	}
	$post = get_post( $args[0] );
	if ( $post && 'revision' === $post->post_type ) {
		$post = get_post( $post->post_parent );
	}
	return newsroom_is_document( $post ) ? array( 'newsroom_read_restricted' ) : $caps;
}

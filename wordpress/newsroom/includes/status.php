<?php
/**
 * /newsroom/v1/status: what the site needs to know before it starts.
 *
 * @package Newsroom
 */

if ( ! defined( 'ABSPATH' ) ) {
	exit;
}

newsroom_route( 'GET', '/status', 'newsroom_rest_status', '__return_true' );

/**
 * Versions, address and time zone. Callers without an account get only major versions.
 *
 * @return WP_REST_Response
 */
function newsroom_rest_status() {
	$credentials = current_user_can( 'newsroom_read_restricted' );
	$wordpress   = get_bloginfo( 'version' );
	$php         = PHP_VERSION;
	if ( ! $credentials ) {
		$wordpress = implode( '.', array_slice( explode( '.', $wordpress ), 0, 2 ) );
		$php       = PHP_MAJOR_VERSION . '.' . PHP_MINOR_VERSION;
	}
	return rest_ensure_response(
		array(
			'plugin'      => NEWSROOM_VERSION,
			'wordpress'   => $wordpress,
			'php'         => $php,
			'site_url'    => newsroom_site_url(),
			'time_zone'   => wp_timezone_string(),
			'credentials' => $credentials,
			'public'      => newsroom_wordpress_is_public(),
			'uploads'     => newsroom_uploads_url(),
			'signed_in'   => is_user_logged_in(),
			'signs_in'    => newsroom_came_with_password(),
			'problems'    => newsroom_problems(),
		)
	);
}

<?php
/**
 * Site address and secret: constants take precedence over options.
 *
 * @package Newsroom
 */

if ( ! defined( 'ABSPATH' ) ) {
	exit;
}

/**
 * Address of the site that readers see, without a trailing slash; empty if it isn't known.
 *
 * @return string
 */
function newsroom_site_url() {
	$url = defined( 'NEWSROOM_SITE_URL' ) ? (string) NEWSROOM_SITE_URL : (string) get_option( 'newsroom_site_url', '' );
	/**
	 * Filters the address of the site that readers see.
	 *
	 * @param string $url Address.
	 */
	return untrailingslashit( trim( (string) apply_filters( 'newsroom_site_url', $url ) ) );
}

/**
 * Tells editors that the site's address isn't known.
 *
 * @return string
 */
function newsroom_no_site_message() {
	return __( 'No site address is set. Ask an administrator to enter it under Settings → Newsroom.', 'newsroom' );
}

/**
 * Secret shared with the site, for signing webhooks and preview links.
 *
 * @return string
 */
function newsroom_secret() {
	return defined( 'NEWSROOM_SECRET' ) ? (string) NEWSROOM_SECRET : (string) get_option( 'newsroom_secret', '' );
}

/**
 * A new secret: 256 random bits as hexadecimal digits.
 *
 * @return string
 */
function newsroom_new_secret() {
	return bin2hex( random_bytes( 32 ) );
}

/**
 * Cleans a site address entered by a user.
 *
 * @param mixed $value What was entered.
 * @return string An http or https address without a slash at its end, or ''.
 */
function newsroom_sanitize_site_url( $value ) {
	$url = esc_url_raw( trim( (string) $value ), array( 'http', 'https' ) );
	return untrailingslashit( (string) strtok( $url, '?#' ) );
}

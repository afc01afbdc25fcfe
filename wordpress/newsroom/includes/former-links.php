<?php
/**
 * Permalinks of posts that became articles: if a reader still requests one from WordPress, it redirects to the article on the site.
 * The site itself redirects them by `old_slugs`.
 *
 * @package Newsroom
 */

if ( ! defined( 'ABSPATH' ) ) {
	exit;
}

add_action( 'template_redirect', 'newsroom_redirect_former', 0 );

/**
 * Redirects a request for which WordPress finds nothing.
 */
function newsroom_redirect_former() {
	if ( ! is_404() || ! isset( $_SERVER['REQUEST_URI'] ) ) {
		return;
	}
	$id   = absint( get_query_var( 'p' ) );
	$id   = $id ? $id : newsroom_post_at( (string) wp_parse_url( wp_unslash( $_SERVER['REQUEST_URI'] ), PHP_URL_PATH ) ); // phpcs:ignore WordPress.Security.ValidatedSanitizedInput -- compared with stored paths.
	$post = $id ? get_post( $id ) : null;
	if ( $post && 'articles' === $post->post_type && newsroom_is_visible( $post ) ) {
		wp_redirect( get_permalink( $post ), 301, 'Newsroom' ); // phpcs:ignore WordPress.Security.SafeRedirect -- the site's own address, from the settings.
		exit;
	}
}

/**
 * The article that was a post at a path.
 *
 * @param string $path Path as the browser sent it.
 * @return int 0 for none.
 */
function newsroom_post_at( $path ) {
	global $wpdb;
	$path = implode( '/', array_map( 'rawurlencode', array_map( 'rawurldecode', explode( '/', untrailingslashit( $path ) ) ) ) );
	// WordPress stores percent escapes in lower case.
	$path = (string) preg_replace_callback( '/%[0-9A-F]{2}/', static fn( $escape ) => strtolower( $escape[0] ), $path );
	$short = (string) preg_replace( '#/(?:amp|embed|feed|trackback|comment-page-\d+|page/\d+|\d+)$#', '', $path );
	if ( '' === $path ) {
		return 0;
	}
	return (int) $wpdb->get_var( $wpdb->prepare( "SELECT post_id FROM {$wpdb->postmeta} WHERE meta_key = '_newsroom_former_path' AND meta_value IN (%s, %s) ORDER BY LENGTH(meta_value) DESC LIMIT 1", $path, $short ) ); // phpcs:ignore WordPress.DB
}

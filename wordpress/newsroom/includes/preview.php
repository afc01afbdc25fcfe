<?php
/**
 * "Preview" opens the draft on the site through a signed link that is valid for ten minutes.
 *
 * @package Newsroom
 */

if ( ! defined( 'ABSPATH' ) ) {
	exit;
}

add_filter( 'preview_post_link', 'newsroom_preview_link', 20, 2 );
add_action( 'template_redirect', 'newsroom_redirect_preview' );

/**
 * Signed address at which the site shows a document in its current state.
 *
 * @param WP_Post $post Post.
 * @return string '' if the site shows no previews of this type, or its address isn't known.
 */
function newsroom_signed_preview( $post ) {
	$types = newsroom_document_types();
	if ( ! isset( $types[ $post->post_type ] ) || in_array( $post->post_type, array( 'authors', 'live-entry', 'podcasts' ), true ) || '' === newsroom_site_url() || '' === newsroom_secret() ) {
		return '';
	}
	$type    = $types[ $post->post_type ];
	$expires = time() + 10 * MINUTE_IN_SECONDS;
	return newsroom_site_url() . '/preview?' . http_build_query(
		array(
			'type'      => $type,
			'id'        => $post->ID,
			'expires'   => $expires,
			'signature' => hash_hmac( 'sha256', 'preview.' . $type . '.' . $post->ID . '.' . $expires, newsroom_secret() ),
		),
		'',
		'&'
	);
}

/**
 * The address that the Preview button opens.
 *
 * @param string  $link Address.
 * @param WP_Post $post Post.
 * @return string
 */
function newsroom_preview_link( $link, $post ) {
	// The link shows unpublished content, so only users who may edit the post get it.
	if ( ! $post instanceof WP_Post || ! current_user_can( 'edit_post', $post->ID ) ) {
		return $link;
	}
	$signed = newsroom_signed_preview( $post );
	return '' === $signed ? $link : $signed;
}

/**
 * Redirects editors from WordPress's own preview, for old links and editors that create such a link.
 */
function newsroom_redirect_preview() {
	$post = is_preview() ? get_queried_object() : null;
	if ( ! $post instanceof WP_Post || ! current_user_can( 'edit_post', $post->ID ) ) {
		return;
	}
	$signed = newsroom_signed_preview( $post );
	if ( '' !== $signed ) {
		nocache_headers();
		wp_redirect( $signed ); // phpcs:ignore WordPress.Security.SafeRedirect -- the site's own address, from the settings.
		exit;
	}
}

<?php
/**
 * Which post types are sent to the site, and their names there.
 *
 * @package Newsroom
 */

if ( ! defined( 'ABSPATH' ) ) {
	exit;
}

/**
 * Post types that the site copies, each with its name in addresses and webhooks.
 *
 * @return array<string,string> WordPress post type => name on the wire.
 */
function newsroom_document_types() {
	return array(
		'articles'   => 'articles',
		'live-entry' => 'live-entries',
		'video'      => 'video',
		'crosswords' => 'crosswords',
		'authors'    => 'authors',
		'podcasts'   => 'podcasts',
		'front'      => 'fronts',
		'page'       => 'pages',
	);
}

/**
 * Whether the site copies a post.
 *
 * @param WP_Post|null $post Post.
 * @return bool
 */
function newsroom_is_document( $post ) {
	return $post instanceof WP_Post && array_key_exists( $post->post_type, newsroom_document_types() );
}

/**
 * Whether the site may show a post to readers: published, and without a password.
 *
 * @param WP_Post $post Post.
 * @return bool
 */
function newsroom_is_visible( $post ) {
	return 'publish' === $post->post_status && '' === (string) $post->post_password;
}

/**
 * Text without markup and entities, for fields that the site prints as text.
 *
 * @param mixed $html Markup or text.
 * @return string
 */
function newsroom_plain( $html ) {
	// PHP takes every "<" before a character other than a space for a tag, and would delete the rest of "Turnout <20%".
	$html = preg_replace( '#<(?![a-z/!?])#i', '&lt;', (string) $html );
	return trim( html_entity_decode( wp_strip_all_tags( $html ), ENT_QUOTES | ENT_HTML5, 'UTF-8' ) );
}

<?php
/**
 * Which post types are sent to the site, and their names there; and the form of texts and times.
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

/**
 * One line of plain text.
 *
 * @param mixed $text What was entered.
 * @return string
 */
function newsroom_one_line( $text ) {
	return trim( (string) preg_replace( '/[\p{Z}\s\p{Cc}]+/u', ' ', newsroom_plain( wp_check_invalid_utf8( (string) $text ) ) ) );
}

/**
 * A time as REST and the stored fields have it.
 *
 * @param int|null $time Unix seconds; null for now.
 * @return string UTC, `2026-11-25T13:00:00Z`.
 */
function newsroom_instant( $time = null ) {
	return gmdate( 'Y-m-d\TH:i:s\Z', $time ?? time() );
}

/**
 * Cleans an instant.
 *
 * @param mixed $date Date with time and zone; without a zone it is UTC.
 * @return string UTC, `2026-11-25T13:00:00Z`; empty if it isn't a date.
 */
function newsroom_sanitize_instant( $date ) {
	$time = is_string( $date ) && preg_match( '/^\d{4}-\d\d-\d\d[T ]\d\d:\d\d/', $date ) ? strtotime( preg_match( '/(?:Z|[+-]\d\d:?\d\d)$/', $date ) ? $date : $date . 'Z' ) : false;
	return false === $time || $time < 0 ? '' : newsroom_instant( $time );
}

/**
 * A time of day, with the day where it isn't today.
 *
 * @param int $time Unix seconds.
 * @return string
 */
function newsroom_time_words( $time ) {
	$clock = wp_date( get_option( 'time_format' ), $time );
	return wp_date( 'Ymd', $time ) === wp_date( 'Ymd' ) ? $clock : wp_date( get_option( 'date_format' ), $time ) . ', ' . $clock;
}

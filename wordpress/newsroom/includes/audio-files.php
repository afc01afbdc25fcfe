<?php
/**
 * Audio files in the media library: their data for the site. Feeds and playlists don't show those of a story that is cut; for other ways
 * to their addresses see file-privacy.php.
 *
 * @package Newsroom
 */

if ( ! defined( 'ABSPATH' ) ) {
	exit;
}

add_filter( 'pre_do_shortcode_tag', 'newsroom_cut_playlist', 10, 3 );
add_filter( 'rss_enclosure', 'newsroom_hide_enclosure' );
add_filter( 'atom_enclosure', 'newsroom_hide_enclosure' );

/**
 * Whether a post is an audio file of the media library.
 *
 * @param WP_Post|null $post Post.
 * @return bool
 */
function newsroom_is_audio( $post ) {
	return $post instanceof WP_Post && 'attachment' === $post->post_type && 0 === strpos( (string) $post->post_mime_type, 'audio/' );
}

/**
 * An audio file as the site receives it.
 *
 * @param int $id Attachment.
 * @return array|null Null when there is none: `url`, `type`, `bytes`, and `seconds`, 0 where WordPress couldn't read it.
 */
function newsroom_audio_file( $id ) {
	$post = $id ? get_post( $id ) : null;
	$url  = newsroom_is_audio( $post ) ? wp_get_attachment_url( $id ) : false;
	if ( ! $url ) {
		return null;
	}
	$meta  = wp_get_attachment_metadata( $id );
	$meta  = is_array( $meta ) ? $meta : array();
	$file  = get_attached_file( $id );
	$bytes = isset( $meta['filesize'] ) ? (int) $meta['filesize'] : 0;
	if ( $bytes < 1 && $file && is_readable( $file ) ) {
		$bytes = (int) filesize( $file );
	}
	return array(
		'url'     => $url,
		'type'    => $post->post_mime_type,
		'bytes'   => max( 0, $bytes ),
		'seconds' => isset( $meta['length'] ) ? max( 0, (int) round( (float) $meta['length'] ) ) : 0,
	);
}

/**
 * WordPress adds the audio files of a body to its feeds; for a cut body they are hidden.
 *
 * @param string $enclosure Element.
 * @return string
 */
function newsroom_hide_enclosure( $enclosure ) {
	return newsroom_is_cut( get_post() ) ? '' : $enclosure;
}

/**
 * Prevents another story from playing a cut story's recording: a playlist refers to files by ids, which any author can guess.
 *
 * @param string|false $output     Output that replaces the shortcode's, false to run it.
 * @param string       $tag        Shortcode.
 * @param array|string $attributes Its attributes, '' without any.
 * @return string|false
 */
function newsroom_cut_playlist( $output, $tag, $attributes ) {
	if ( false !== $output || 'playlist' !== $tag || ! is_array( $attributes ) ) {
		return $output;
	}
	$files   = wp_parse_id_list( implode( ',', array_intersect_key( $attributes, array_flip( array( 'ids', 'include' ) ) ) ) );
	$stories = array_map( 'wp_get_post_parent_id', $files );
	if ( isset( $attributes['id'] ) ) {
		$stories[] = (int) $attributes['id'];
	}
	if ( $files ) {
		$with    = array(
			'post_type'   => 'articles',
			'post_status' => 'any',
			'fields'      => 'ids',
			'numberposts' => -1,
			'meta_query'  => array( // phpcs:ignore WordPress.DB.SlowDBQuery -- playlists are rare.
				array(
					'key'     => 'newsroom_audio',
					'value'   => $files,
					'compare' => 'IN',
				),
			),
		);
		$stories = array_merge( $stories, get_posts( $with ) );
	}
	return array_filter( array_map( 'get_post', array_filter( $stories ) ), 'newsroom_is_cut' ) ? '' : $output;
}

<?php
/**
 * Audio files in the media library: their data for the site, and how their addresses are kept from readers who haven't paid.
 * WordPress serves every upload to anyone who knows its address, so new audio files get names that can't be guessed, and WordPress
 * doesn't show the names to visitors.
 *
 * @package Newsroom
 */

if ( ! defined( 'ABSPATH' ) ) {
	exit;
}

add_filter( 'wp_handle_upload_prefilter', 'newsroom_unguessable_audio' );
add_filter( 'wp_handle_sideload_prefilter', 'newsroom_unguessable_audio' );
add_filter( 'wp_insert_attachment_data', 'newsroom_plain_audio_title', 10, 2 );
add_filter( 'rest_prepare_attachment', 'newsroom_hide_audio_address', PHP_INT_MAX, 2 );
add_action( 'template_redirect', 'newsroom_hide_audio_page', 1 );
add_filter( 'pre_do_shortcode_tag', 'newsroom_cut_playlist', 10, 3 );
add_filter( 'rss_enclosure', 'newsroom_hide_enclosure' );
add_filter( 'atom_enclosure', 'newsroom_hide_enclosure' );

/**
 * Adds random letters to the name of an audio file that is uploaded.
 *
 * @param array $file Upload with its `name`.
 * @return array
 */
function newsroom_unguessable_audio( $file ) {
	$name = isset( $file['name'] ) && is_string( $file['name'] ) ? $file['name'] : '';
	$type = wp_check_filetype( $name );
	if ( $type['type'] && 0 === strpos( $type['type'], 'audio/' ) ) {
		$file['name'] = pathinfo( $name, PATHINFO_FILENAME ) . '-' . strtolower( wp_generate_password( 20, false ) ) . '.' . $type['ext'];
	}
	return $file;
}

/**
 * Removes the random letters from the title and slug that WordPress derives from the name, because these are public.
 *
 * @param array $data  Fields of the attachment.
 * @param array $given Fields as given, with `ID` if the attachment exists.
 * @return array
 */
function newsroom_plain_audio_title( $data, $given ) {
	if ( 0 !== strpos( (string) $data['post_mime_type'], 'audio/' ) ) {
		return $data;
	}
	$random             = '/-[a-z\d]{20}$/';
	$data['post_title'] = preg_replace( $random, '', $data['post_title'] );
	$slug               = preg_replace( $random, '', $data['post_name'] );
	if ( $slug !== $data['post_name'] ) {
		// WordPress has made the slug unique together with the letters.
		$id                = isset( $given['ID'] ) ? (int) $given['ID'] : 0;
		$data['post_name'] = wp_unique_post_slug( $slug, $id, $data['post_status'], 'attachment', (int) $data['post_parent'] );
	}
	return $data;
}

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
 * Shows the address of an audio file only to users who may upload files.
 *
 * @param WP_REST_Response $response Answer.
 * @param WP_Post          $post     Attachment.
 * @return WP_REST_Response
 */
function newsroom_hide_audio_address( $response, $post ) {
	if ( $response instanceof WP_REST_Response && newsroom_is_audio( $post ) && ! user_can( newsroom_requesting_user(), 'upload_files' ) ) {
		$response->set_data(
			array(
				'id'         => $post->ID,
				'type'       => 'attachment',
				'media_type' => 'file',
				'mime_type'  => $post->post_mime_type,
			)
		);
	}
	return $response;
}

/**
 * WordPress would redirect from the number of a file to its address, or show a player.
 */
function newsroom_hide_audio_page() {
	if ( is_attachment() && newsroom_is_audio( get_queried_object() ) && ! current_user_can( 'upload_files' ) ) {
		nocache_headers();
		wp_die( esc_html__( 'There is nothing at this address.', 'newsroom' ), '', array( 'response' => 404 ) );
	}
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

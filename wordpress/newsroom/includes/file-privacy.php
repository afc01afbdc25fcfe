<?php
/**
 * How the addresses of recordings, films and documents are kept from readers who haven't paid. WordPress serves every upload to anyone
 * who knows its address, so new files get names that can't be guessed, and WordPress doesn't show the names to visitors. Pictures are
 * exempt: cards and other pages show them to everyone.
 *
 * @package Newsroom
 */

if ( ! defined( 'ABSPATH' ) ) {
	exit;
}

add_filter( 'wp_handle_upload_prefilter', 'newsroom_unguessable_file' );
add_filter( 'wp_handle_sideload_prefilter', 'newsroom_unguessable_file' );
add_filter( 'wp_upload_bits', 'newsroom_refuse_xmlrpc_file' );
add_filter( 'wp_read_audio_metadata', 'newsroom_without_cover' );
add_filter( 'wp_read_video_metadata', 'newsroom_without_cover' );
add_filter( 'wp_insert_attachment_data', 'newsroom_plain_file_title', 10, 2 );
add_filter( 'rest_prepare_attachment', 'newsroom_hide_file_address', PHP_INT_MAX, 2 );
add_action( 'template_redirect', 'newsroom_hide_file_page', 1 );

/**
 * Whether files of a media type are hidden.
 *
 * @param mixed $type Media type.
 * @return bool
 */
function newsroom_is_hidden_type( $type ) {
	return 0 !== strpos( (string) $type, 'image/' );
}

/**
 * Whether a post is a hidden file of the media library.
 *
 * @param WP_Post|null $post Post.
 * @return bool
 */
function newsroom_is_hidden_file( $post ) {
	return $post instanceof WP_Post && 'attachment' === $post->post_type && newsroom_is_hidden_type( $post->post_mime_type );
}

/**
 * Adds random letters to the name of a file that is uploaded.
 *
 * @param array $file Upload with its `name`.
 * @return array
 */
function newsroom_unguessable_file( $file ) {
	$name = isset( $file['name'] ) && is_string( $file['name'] ) ? $file['name'] : '';
	$type = wp_check_filetype( $name );
	// WordPress names the folder of an uploaded plugin after its archive.
	if ( $type['type'] && newsroom_is_hidden_type( $type['type'] ) && ! did_action( 'load-update.php' ) ) {
		// File systems allow 255 bytes.
		$file['name'] = mb_strcut( pathinfo( $name, PATHINFO_FILENAME ), 0, 200 ) . '-' . strtolower( wp_generate_password( 20, false ) ) . '.' . $type['ext'];
	}
	return $file;
}

/**
 * Refuses such a file from XML-RPC, where its name can't be changed.
 *
 * @param array $upload Upload with its `name`.
 * @return array|string The upload, or why it is refused.
 */
function newsroom_refuse_xmlrpc_file( $upload ) {
	$type = wp_check_filetype( (string) $upload['name'] );
	if ( defined( 'XMLRPC_REQUEST' ) && XMLRPC_REQUEST && newsroom_is_hidden_type( $type['type'] ) ) {
		return __( 'Upload recordings, films and documents in the media library.', 'newsroom' );
	}
	return $upload;
}

/**
 * WordPress would save the cover of a recording or film as a picture with the file's name, and pictures are public.
 *
 * @param array $metadata What the file says of itself.
 * @return array
 */
function newsroom_without_cover( $metadata ) {
	unset( $metadata['image'] );
	return $metadata;
}

/**
 * Removes the random letters from the title and slug that WordPress derives from the name, because these are public.
 *
 * @param array $data  Fields of the attachment.
 * @param array $given Fields as given, with `ID` if the attachment exists.
 * @return array
 */
function newsroom_plain_file_title( $data, $given ) {
	if ( ! newsroom_is_hidden_type( $data['post_mime_type'] ) ) {
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
 * Shows the address of such a file only to users who may upload files.
 *
 * @param WP_REST_Response $response Answer.
 * @param WP_Post          $post     Attachment.
 * @return WP_REST_Response
 */
function newsroom_hide_file_address( $response, $post ) {
	if ( $response instanceof WP_REST_Response && newsroom_is_hidden_file( $post ) && ! user_can( newsroom_requesting_user(), 'upload_files' ) ) {
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
function newsroom_hide_file_page() {
	if ( is_attachment() && newsroom_is_hidden_file( get_queried_object() ) && ! current_user_can( 'upload_files' ) ) {
		nocache_headers();
		wp_die( esc_html__( 'There is nothing at this address.', 'newsroom' ), '', array( 'response' => 404 ) );
	}
}

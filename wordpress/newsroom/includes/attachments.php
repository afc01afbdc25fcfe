<?php
/**
 * The credit of a picture, next to its caption in the media library.
 *
 * @package Newsroom
 */

if ( ! defined( 'ABSPATH' ) ) {
	exit;
}

add_action( 'init', 'newsroom_register_credit', 11 );
add_filter( 'attachment_fields_to_edit', 'newsroom_credit_field', 10, 2 );
add_filter( 'attachment_fields_to_save', 'newsroom_save_credit', 10, 2 );

/**
 * Registers the meta.
 */
function newsroom_register_credit() {
	register_post_meta(
		'attachment',
		'newsroom_credit',
		array(
			'type'              => 'string',
			'single'            => true,
			'default'           => '',
			'show_in_rest'      => true,
			'sanitize_callback' => 'sanitize_text_field',
			'auth_callback'     => 'newsroom_may_edit_meta',
		)
	);
}

/**
 * Adds the field.
 *
 * @param array   $fields Fields.
 * @param WP_Post $post   Attachment.
 * @return array
 */
function newsroom_credit_field( $fields, $post ) {
	if ( wp_attachment_is_image( $post->ID ) ) {
		$fields['newsroom_credit'] = array(
			'label' => __( 'Credit', 'newsroom' ),
			'input' => 'text',
			'value' => get_post_meta( $post->ID, 'newsroom_credit', true ),
			'helps' => __( 'The photographer or agency.', 'newsroom' ),
		);
	}
	return $fields;
}

/**
 * Saves the field. WordPress has checked the nonce and the capability.
 *
 * @param array $post       Attachment.
 * @param array $attachment Fields as sent.
 * @return array
 */
function newsroom_save_credit( $post, $attachment ) {
	if ( isset( $attachment['newsroom_credit'] ) && current_user_can( 'edit_post', $post['ID'] ) ) {
		update_post_meta( $post['ID'], 'newsroom_credit', wp_slash( sanitize_text_field( wp_unslash( $attachment['newsroom_credit'] ) ) ) );
	}
	return $post;
}

<?php
/**
 * Tells the editor that the site shows the change: "Live on the site in 31 ms".
 *
 * @package Newsroom
 */

if ( ! defined( 'ABSPATH' ) ) {
	exit;
}

add_action( 'add_meta_boxes', 'newsroom_add_delivery_box' );
add_action( 'admin_enqueue_scripts', 'newsroom_delivery_script' );
newsroom_route( 'GET', '/delivery/(?P<id>\d+)', 'newsroom_rest_delivery', 'newsroom_may_see_delivery', array( 'id' => array( 'type' => 'integer' ) ) );

/**
 * Whether the user may see the state of a delivery: users who may edit the document may. The post of a front isn't edited itself.
 *
 * @param WP_REST_Request $request Request.
 * @return bool
 */
function newsroom_may_see_delivery( $request ) {
	$id = (int) $request['id'];
	return current_user_can( 'edit_post', $id ) || ( 'front' === get_post_type( $id ) && newsroom_may_front() );
}

/**
 * The newest delivery of a document.
 *
 * @param WP_REST_Request $request Request.
 * @return WP_REST_Response
 */
function newsroom_rest_delivery( $request ) {
	$post = get_post( (int) $request['id'] );
	$row  = newsroom_delivery_of( $post );
	return rest_ensure_response(
		array(
			'delivery' => $row ? $row->delivery : null,
			'state'    => $row ? $row->state : null,
			'message'  => newsroom_delivery_message( $row, $post ),
		)
	);
}

/**
 * The newest delivery of a post.
 *
 * @param WP_Post|null $post Post.
 * @return object|null
 */
function newsroom_delivery_of( $post ) {
	$types = newsroom_document_types();
	return newsroom_is_document( $post ) ? newsroom_last_delivery( $types[ $post->post_type ], $post->ID ) : null;
}

/**
 * Whether the site has accepted a change that readers don't see: it has no page for it, or can't read it. The delivery then has an error.
 *
 * @param object|null $row Delivery.
 * @return bool
 */
function newsroom_is_not_shown( $row ) {
	return $row && 'done' === $row->state && 200 === (int) $row->status_code && '' !== $row->error;
}

/**
 * A delivery in words for the editor.
 *
 * @param object|null  $row  Delivery.
 * @param WP_Post|null $post Its document; null if it isn't a document.
 * @return string
 */
function newsroom_delivery_message( $row, $post = null ) {
	if ( ! $row && $post && newsroom_is_visible( $post ) && '' !== (string) get_post_meta( $post->ID, '_newsroom_live_slug', true ) ) {
		// The log keeps only the latest deliveries.
		return __( 'No recent changes.', 'newsroom' );
	}
	if ( ! $row ) {
		return __( 'This hasn’t been sent to the site yet.', 'newsroom' );
	}
	$gone = newsroom_is_withdrawal( $row->event );
	if ( ! $gone && newsroom_is_not_shown( $row ) ) {
		return $row->error;
	}
	if ( 'done' === $row->state ) {
		return $gone
			/* translators: %s: number of milliseconds. */
			? sprintf( __( 'Removed from the site in %s ms.', 'newsroom' ), number_format_i18n( (int) $row->took_ms ) )
			/* translators: %s: number of milliseconds. */
			: sprintf( __( 'Live on the site in %s ms.', 'newsroom' ), number_format_i18n( (int) $row->took_ms ) );
	}
	if ( 'failed' === $row->state ) {
		return 422 === (int) $row->status_code
			/* translators: %s: reason. */
			? sprintf( __( 'The site refused the change: %s', 'newsroom' ), $row->error )
			/* translators: %s: reason. */
			: sprintf( __( 'The site didn’t get the change within a day, so WordPress stopped trying: %s', 'newsroom' ), $row->error );
	}
	if ( 'pending' === $row->state && (int) $row->tries > 0 ) {
		/* translators: %s: reason. */
		return sprintf( __( 'Saved in WordPress. The site doesn’t have the change yet; WordPress will try again. %s', 'newsroom' ), $row->error );
	}
	if ( 'pending' === $row->state && get_transient( 'newsroom_site_down' ) ) {
		return __( 'Saved in WordPress. The site isn’t responding; WordPress will try again soon.', 'newsroom' );
	}
	return __( 'Sending to the site…', 'newsroom' );
}

/**
 * Adds the box.
 *
 * @param string $type Post type.
 */
function newsroom_add_delivery_box( $type ) {
	if ( array_key_exists( $type, newsroom_document_types() ) ) {
		add_meta_box( 'newsroom-delivery', __( 'On the site', 'newsroom' ), 'newsroom_delivery_box', $type, 'side' );
	}
}

/**
 * Prints the box.
 *
 * @param WP_Post $post Post.
 */
function newsroom_delivery_box( $post ) {
	if ( '' === newsroom_site_url() ) {
		echo '<p>' . esc_html( newsroom_no_site_message() ) . '</p>';
		return;
	}
	$row = newsroom_delivery_of( $post );
	printf(
		'<p data-newsroom-delivery="%1$d" data-last="%2$s">%3$s</p>',
		(int) $post->ID,
		esc_attr( $row ? $row->delivery : '' ),
		esc_html( newsroom_delivery_message( $row, $post ) )
	);
	if ( newsroom_is_visible( $post ) && ! newsroom_is_not_shown( $row ) ) {
		printf( '<p><a href="%1$s" target="_blank">%2$s<span class="screen-reader-text"> %3$s</span></a></p>', esc_url( get_permalink( $post ) ), esc_html__( 'Open it', 'newsroom' ), esc_html__( '(opens in a new tab)', 'newsroom' ) );
		newsroom_alert_link( $post );
	}
}

/**
 * Loads the script that follows a delivery after saving.
 *
 * @param string $screen Screen.
 */
function newsroom_delivery_script( $screen ) {
	if ( in_array( $screen, array( 'post.php', 'post-new.php' ), true ) && newsroom_is_document( get_post() ) ) {
		newsroom_enqueue_part( 'delivery', array( 'wp-api-fetch' ) );
	}
}

<?php
/**
 * The screen "Front": which stories lead the home page and the sections.
 *
 * @package Newsroom
 */

if ( ! defined( 'ABSPATH' ) ) {
	exit;
}

add_action( 'admin_menu', 'newsroom_add_front_screen' );
add_action( 'admin_enqueue_scripts', 'newsroom_front_assets' );

/**
 * Adds the screen.
 */
function newsroom_add_front_screen() {
	if ( newsroom_may_front() ) {
		add_menu_page( __( 'Front', 'newsroom' ), __( 'Front', 'newsroom' ), 'edit_posts', 'newsroom-front', 'newsroom_front_screen', 'dashicons-layout', 3 );
	}
}

/**
 * Scripts and styles of the screen.
 *
 * @param string $screen Screen.
 */
function newsroom_front_assets( $screen ) {
	if ( 'toplevel_page_newsroom-front' !== $screen || ! newsroom_may_front() ) {
		return;
	}
	wp_enqueue_media();
	wp_enqueue_style( 'wp-components' );
	newsroom_enqueue_style( 'front' );
	$given = isset( $_GET['front'] ) ? sanitize_key( wp_unslash( $_GET['front'] ) ) : ''; // phpcs:ignore WordPress.Security.NonceVerification -- only chooses what is shown.
	newsroom_enqueue_part(
		'front-parts',
		array( 'newsroom-lists' ),
		'newsroomFront',
		array(
			'pages'    => newsroom_choices( newsroom_front_pages() ),
			'kinds'    => newsroom_choices( newsroom_front_kinds() ),
			'page'     => isset( newsroom_front_pages()[ $given ] ) ? $given : 'home',
			'zone'     => wp_timezone_string(),
			'headline' => NEWSROOM_FRONT_HEADLINE,
			'rows'     => NEWSROOM_FRONT_ROWS,
		)
	);
	$parts = array(
		'front-order'   => array( 'newsroom-front-parts' ),
		'front-related' => array( 'newsroom-front-order' ),
		'front-slot'    => array( 'newsroom-front-related', 'media-editor' ),
		'front-history' => array( 'newsroom-front-parts' ),
		'front-state'   => array( 'newsroom-front-order' ),
		'front'         => array( 'newsroom-front-slot', 'newsroom-front-history', 'newsroom-front-state', 'wp-dom-ready' ),
	);
	foreach ( $parts as $part => $needs ) {
		newsroom_enqueue_part( $part, $needs );
	}
}

/**
 * Prints the element for the script.
 */
function newsroom_front_screen() {
	if ( ! newsroom_may_front() ) {
		return;
	}
	echo '<div class="wrap newsroom-front"><h1>' . esc_html__( 'Front', 'newsroom' ) . '</h1>';
	if ( '' === newsroom_site_url() ) {
		echo '<div class="notice notice-warning"><p>' . esc_html( newsroom_no_site_message() ) . '</p></div>';
	}
	echo '<div id="newsroom-front"></div><noscript><p>' . esc_html__( 'This screen needs JavaScript.', 'newsroom' ) . '</p></noscript></div>';
}

<?php
/**
 * Documented behavior of membership plugins: each shows something to every user who is signed in.
 *
 * @package Newsroom
 */

if ( ! defined( 'ABSPATH' ) ) {
	exit;
}

/**
 * Text that only members may read, marked with the place where it leaked.
 *
 * @param string $where Place.
 * @return string
 */
function newsroom_tests_members( $where ) {
	return is_user_logged_in() ? "MEMBERS-ONLY in $where for " . wp_get_current_user()->user_login . ' ' . wp_create_nonce( 'members' ) : 'Please join us.';
}

// A shortcode around part of a text, as in Restrict Content, Members and MemberPress.
add_shortcode(
	'members',
	static function ( $attributes, $content = '' ) {
		return is_user_logged_in() ? do_shortcode( $content ) . newsroom_tests_members( 'a shortcode' ) : 'Please join us.';
	}
);
add_shortcode( 'loginout', static function () {
	return wp_loginout( '', false );
} );
// A block whose content depends on the user, as in Restrict User Access and Paid Memberships Pro.
add_action(
	'init',
	static function () {
		register_block_type(
			'membership/members',
			array(
				'render_callback' => static function ( $attributes, $content ) {
					return is_user_logged_in() ? $content . newsroom_tests_members( 'a block' ) : '<p>Please join us.</p>';
				},
			)
		);
	}
);
// Whole documents that a mark of their own restricts, in every text that is made from them.
foreach ( array( 'the_content', 'the_excerpt', 'get_the_excerpt', 'the_title' ) as $newsroom_tests_filter ) {
	add_filter(
		$newsroom_tests_filter,
		static function ( $text ) use ( $newsroom_tests_filter ) {
			$post = get_post();
			return $post && get_post_meta( $post->ID, '_members_only', true ) ? newsroom_tests_members( $newsroom_tests_filter ) : $text;
		},
		20
	);
}
// Comments and menu items.
add_filter(
	'comment_text',
	static function ( $text ) {
		return is_user_logged_in() ? $text . newsroom_tests_members( 'a comment' ) : $text;
	}
);
add_filter(
	'wp_get_nav_menu_items',
	static function ( $items ) {
		foreach ( $items as $item ) {
			$item->title = is_user_logged_in() ? newsroom_tests_members( 'a menu' ) : $item->title;
		}
		return $items;
	}
);
// A field of Advanced Custom Fields runs the shortcodes in its value.
add_action(
	'rest_api_init',
	static function () {
		register_rest_field(
			array( 'articles', 'page' ),
			'members_field',
			array(
				'get_callback' => static function () {
					return do_shortcode( '[members]field[/members]' );
				},
			)
		);
	}
);

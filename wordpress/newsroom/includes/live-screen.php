<?php
/**
 * The screen "Live": the entries of a story and a block editor for the next one. Also the links to it: the cell in the list
 * of articles, and the field next to the editor.
 *
 * @package Newsroom
 */

if ( ! defined( 'ABSPATH' ) ) {
	exit;
}

add_action( 'admin_menu', 'newsroom_live_menu' );

/**
 * Adds the screen below the articles.
 */
function newsroom_live_menu() {
	$screen = add_submenu_page( 'edit.php?post_type=articles', __( 'Live coverage', 'newsroom' ), __( 'Live coverage', 'newsroom' ), 'edit_posts', 'newsroom-live', 'newsroom_live_screen' );
	if ( $screen ) {
		add_action( 'load-' . $screen, 'newsroom_live_load' );
	}
}

/**
 * Address of the screen of a story.
 *
 * @param int $id Article.
 * @return string
 */
function newsroom_live_address( $id ) {
	return admin_url( 'edit.php?post_type=articles&page=newsroom-live&story=' . (int) $id );
}

/**
 * The story in the screen's address.
 *
 * @return WP_Post|null Null without one that the user may edit.
 */
function newsroom_live_story() {
	$id    = isset( $_GET['story'] ) ? absint( $_GET['story'] ) : 0; // phpcs:ignore WordPress.Security.NonceVerification -- only reads.
	$story = $id ? get_post( $id ) : null;
	return $story && 'articles' === $story->post_type && 'trash' !== $story->post_status && current_user_can( 'edit_post', $id ) ? $story : null;
}

/**
 * Loads the block editor if there is a story.
 */
function newsroom_live_load() {
	$story = newsroom_live_story();
	if ( ! $story ) {
		return;
	}
	get_current_screen()->is_block_editor( true );
	add_action(
		'admin_enqueue_scripts',
		static function () use ( $story ) {
			newsroom_live_assets( $story );
		}
	);
}

/**
 * Scripts and styles of the screen.
 *
 * @param WP_Post $story Article.
 */
function newsroom_live_assets( $story ) {
	wp_enqueue_media();
	$scripts = array( 'newsroom-shared', 'wp-a11y', 'wp-api-fetch', 'wp-block-editor', 'wp-block-library', 'wp-blocks', 'wp-components', 'wp-data', 'wp-date', 'wp-dom-ready', 'wp-element', 'wp-format-library', 'wp-i18n', 'wp-media-utils', 'wp-url' );
	foreach ( array( 'wp-components', 'wp-block-editor', 'wp-block-editor-content', 'wp-edit-blocks', 'wp-block-library', 'wp-format-library' ) as $style ) {
		wp_enqueue_style( $style );
	}
	newsroom_enqueue_style( 'live' );
	$settings = get_block_editor_settings( array(), new WP_Block_Editor_Context( array( 'name' => 'newsroom/live' ) ) );
	newsroom_enqueue_part(
		'live-entries',
		$scripts,
		'newsroomLive',
		array(
			'story'    => $story->ID,
			'state'    => newsroom_sanitize_live( get_post_meta( $story->ID, 'newsroom_live', true ) ),
			'author'   => (int) get_post_meta( $story->ID, 'newsroom_author', true ),
			'authors'  => newsroom_live_authors(),
			'settings' => $settings,
			'publish'  => current_user_can( 'publish_posts' ),
			'user'     => get_current_user_id(),
		)
	);
	newsroom_enqueue_part( 'live', array( 'newsroom-live-entries' ) );
}

/**
 * Bylines to choose from.
 *
 * @return array[] Each: `value` and `label`.
 */
function newsroom_live_authors() {
	$names = array( 0 => __( '— No byline —', 'newsroom' ) );
	foreach ( newsroom_all_authors( 'publish' ) as $author ) {
		$names[ $author->ID ] = newsroom_plain( $author->post_title );
	}
	return newsroom_choices( $names );
}

/**
 * Prints the screen: the element for the script, or the list of live stories.
 */
function newsroom_live_screen() {
	$story = newsroom_live_story();
	echo '<div class="wrap newsroom-live">';
	if ( $story ) {
		printf( '<h1>%s</h1>', esc_html( newsroom_plain( $story->post_title ) ) );
		printf( '<p><a href="%1$s">%2$s</a>', esc_url( get_edit_post_link( $story->ID ) ), esc_html__( 'Edit the story', 'newsroom' ) );
		if ( newsroom_is_visible( $story ) ) {
			printf( ' · <a href="%1$s">%2$s</a>', esc_url( get_permalink( $story ) . '#live' ), esc_html__( 'Read it on the site', 'newsroom' ) );
		}
		echo '</p><div id="newsroom-live"></div></div>';
		return;
	}
	printf( '<h1>%s</h1>', esc_html__( 'Live coverage', 'newsroom' ) );
	$stories = get_posts(
		array(
			'post_type'   => 'articles',
			'post_status' => array( 'publish', 'draft', 'pending', 'future', 'private' ),
			'numberposts' => 100,
			'meta_key'    => 'newsroom_live', // phpcs:ignore WordPress.DB.SlowDBQuery
			'meta_value'  => 'live', // phpcs:ignore WordPress.DB.SlowDBQuery
		)
	);
	if ( ! $stories ) {
		printf( '<p>%s</p>', esc_html__( 'No story is live. To start, edit an article and choose “Live” under “Live coverage”.', 'newsroom' ) );
	}
	echo '<ul class="ul-disc">';
	foreach ( $stories as $each ) {
		if ( current_user_can( 'edit_post', $each->ID ) ) {
			printf( '<li><a href="%1$s">%2$s</a></li>', esc_url( newsroom_live_address( $each->ID ) ), esc_html( newsroom_plain( $each->post_title ) ) );
		}
	}
	echo '</ul></div>';
}

/**
 * Prints the cell of an article: its state, linked to the screen.
 *
 * @param int $id Article.
 */
function newsroom_live_cell( $id ) {
	$state = newsroom_sanitize_live( get_post_meta( $id, 'newsroom_live', true ) );
	if ( '' === $state ) {
		return;
	}
	$label = newsroom_live_states()[ $state ];
	if ( ! current_user_can( 'edit_post', $id ) ) {
		echo esc_html( $label );
		return;
	}
	printf( '<a href="%1$s">%2$s<span class="screen-reader-text"> %3$s</span></a>', esc_url( newsroom_live_address( $id ) ), esc_html( $label ), esc_html__( '(opens the live screen)', 'newsroom' ) );
}

/**
 * Prints the choice of the state next to the editor, and the state that it begins with: only a changed state is saved.
 *
 * @param WP_Post $post Article.
 */
function newsroom_live_control( $post ) {
	$chosen = newsroom_sanitize_live( get_post_meta( $post->ID, 'newsroom_live', true ) );
	printf( '<input type="hidden" name="newsroom_live_before" value="%s">', esc_attr( $chosen ) );
	newsroom_print_select( 'newsroom_live', __( 'Live coverage', 'newsroom' ), $chosen, newsroom_live_states(), __( 'A live story has entries, newest first, below its text.', 'newsroom' ) );
	if ( 'auto-draft' !== $post->post_status ) {
		printf( '<p><a href="%1$s">%2$s</a></p>', esc_url( newsroom_live_address( $post->ID ) ), esc_html__( 'Write entries', 'newsroom' ) );
	}
}

<?php
/**
 * Loads the plugin's scripts and styles, and the panels of articles.
 *
 * @package Newsroom
 */

if ( ! defined( 'ABSPATH' ) ) {
	exit;
}

add_action( 'admin_enqueue_scripts', 'newsroom_register_shared_scripts' );
add_action( 'enqueue_block_editor_assets', 'newsroom_load_article_panels' );
add_action( 'add_meta_boxes_articles', 'newsroom_add_article_boxes' );

/**
 * Parts of an article that have a panel in the block editor and a box in the classic one. Panels change the article's meta, so undo,
 * autosaves and revisions include it.
 *
 * @return array[] By name: `title`; `scripts`, in their order; `global`: variable with the scripts' data; `data`: returns it; `box`: prints
 *                 the box; `priority` of the box.
 */
function newsroom_article_panels() {
	return array(
		'corrections'   => array(
			'title'    => __( 'Corrections', 'newsroom' ),
			'scripts'  => array( 'corrections-link', 'corrections' ),
			'global'   => 'newsroomCorrections',
			'data'     => 'newsroom_corrections_panel_data',
			'box'      => 'newsroom_corrections_box',
			'priority' => 'default',
		),
		'headline-test' => array(
			'title'    => __( 'Headline test', 'newsroom' ),
			'scripts'  => array( 'headline-test' ),
			'global'   => 'newsroomHeadlineTest',
			'data'     => 'newsroom_headline_test_panel_data',
			'box'      => 'newsroom_headline_test_box',
			'priority' => 'default',
		),
		'byline'        => array(
			'title'    => __( 'Byline', 'newsroom' ),
			'scripts'  => array( 'byline' ),
			'global'   => 'newsroomByline',
			'data'     => 'newsroom_byline_panel_data',
			'box'      => 'newsroom_byline_box',
			'priority' => 'high',
		),
		'episode'       => array(
			'title'    => __( 'Sound', 'newsroom' ),
			'scripts'  => array( 'episode' ),
			'global'   => 'newsroomEpisode',
			'data'     => 'newsroom_episode_panel_data',
			'box'      => 'newsroom_episode_box',
			'priority' => 'default',
		),
	);
}

/**
 * Registers the scripts on which others depend: what all of them share, the ordered lists, and what the panels share, with all of
 * WordPress that they use.
 */
function newsroom_register_shared_scripts() {
	$scripts = array(
		'shared' => array( 'wp-i18n' ),
		'lists'  => array( 'newsroom-shared', 'wp-a11y', 'wp-api-fetch', 'wp-components', 'wp-element', 'wp-url' ),
		'panels' => array( 'newsroom-lists', 'wp-a11y', 'wp-api-fetch', 'wp-block-editor', 'wp-blocks', 'wp-components', 'wp-core-data', 'wp-data', 'wp-date', 'wp-editor', 'wp-element', 'wp-html-entities', 'wp-notices', 'wp-plugins', 'wp-url' ),
	);
	foreach ( $scripts as $part => $needs ) {
		wp_register_script( 'newsroom-' . $part, plugins_url( "assets/$part.js", NEWSROOM_FILE ), $needs, NEWSROOM_VERSION, true );
		wp_set_script_translations( 'newsroom-' . $part, 'newsroom', plugin_dir_path( NEWSROOM_FILE ) . 'languages' );
	}
}

/**
 * Loads the panels of an article, and the scripts of the choices in its box.
 */
function newsroom_load_article_panels() {
	$screen = get_current_screen();
	$post   = get_post();
	if ( ! $screen || 'post' !== $screen->base || 'articles' !== $screen->post_type || ! $post ) {
		return;
	}
	newsroom_enqueue_part( 'access', array( 'wp-data', 'wp-editor' ) );
	newsroom_enqueue_part( 'live-state', array( 'wp-data', 'wp-edit-post' ) );
	foreach ( newsroom_article_panels() as $panel ) {
		$needs  = array( 'newsroom-panels' );
		$global = $panel['global'];
		foreach ( $panel['scripts'] as $script ) {
			newsroom_enqueue_part( $script, $needs, $global, '' === $global ? null : call_user_func( $panel['data'], $post ) );
			$needs[] = 'newsroom-' . $script;
			$global  = '';
		}
	}
}

/**
 * Adds the boxes of the classic editor; the block editor has the panels instead.
 */
function newsroom_add_article_boxes() {
	foreach ( newsroom_article_panels() as $name => $panel ) {
		add_meta_box( 'newsroom-' . $name, $panel['title'], $panel['box'], 'articles', 'normal', $panel['priority'], array( '__back_compat_meta_box' => true ) );
	}
}

/**
 * Loads a script of the plugin with its translations.
 *
 * @param string   $part   Name of the file, without its ending.
 * @param string[] $needs  Scripts that it depends on.
 * @param string   $global Name of a global variable of the page with data for the script; '' for none.
 * @param mixed    $data   Its value.
 */
function newsroom_enqueue_part( $part, $needs, $global = '', $data = null ) {
	$handle = 'newsroom-' . $part;
	wp_enqueue_script( $handle, plugins_url( "assets/$part.js", NEWSROOM_FILE ), $needs, NEWSROOM_VERSION, true );
	wp_set_script_translations( $handle, 'newsroom', plugin_dir_path( NEWSROOM_FILE ) . 'languages' );
	if ( '' !== $global ) {
		wp_add_inline_script( $handle, "window.$global = " . wp_json_encode( $data, JSON_HEX_TAG ) . ';', 'before' );
	}
}

/**
 * Loads a style of the plugin.
 *
 * @param string   $part  Name of the file, without its ending.
 * @param string[] $needs Styles that it depends on.
 */
function newsroom_enqueue_style( $part, $needs = array() ) {
	wp_enqueue_style( 'newsroom-' . $part, plugins_url( "assets/$part.css", NEWSROOM_FILE ), $needs, NEWSROOM_VERSION );
}

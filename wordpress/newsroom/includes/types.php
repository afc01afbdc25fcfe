<?php
/**
 * Post types: articles, video, crosswords, authors, podcasts, entries of live stories.
 *
 * @package Newsroom
 */

if ( ! defined( 'ABSPATH' ) ) {
	exit;
}

add_action( 'init', 'newsroom_register_types', 5 );

/**
 * Registers the types, unless another plugin already has, and what the site needs of WordPress's own types.
 */
function newsroom_register_types() {
	$texts = array( 'title', 'editor', 'excerpt', 'thumbnail', 'revisions', 'custom-fields' );
	newsroom_register_content_types( $texts );
	newsroom_register_supporting_types( $texts );
	register_nav_menus( array( 'footer' => __( 'Footer of the site', 'newsroom' ) ) );
	// Pages take an excerpt too: the site uses it as their description.
	add_post_type_support( 'page', 'excerpt' );
	add_post_type_support( 'page', 'custom-fields' );
	add_theme_support( 'post-thumbnails' );
}

/**
 * Registers articles, videos and crosswords.
 *
 * @param string[] $texts Features of every type with a text.
 */
function newsroom_register_content_types( $texts ) {
	newsroom_register_type(
		'articles',
		array(
			'labels'     => newsroom_type_labels( __( 'Articles', 'newsroom' ), __( 'Article', 'newsroom' ) ),
			'menu_icon'  => 'dashicons-media-document',
			'supports'   => array_merge( $texts, array( 'author', 'comments' ) ),
			'taxonomies' => array( 'category', 'post_tag' ),
			'slug'       => 'article',
		)
	);
	newsroom_register_type(
		'video',
		array(
			'labels'     => newsroom_type_labels( __( 'Videos', 'newsroom' ), __( 'Video', 'newsroom' ) ),
			'menu_icon'  => 'dashicons-video-alt3',
			'supports'   => array_merge( $texts, array( 'author', 'comments' ) ),
			'taxonomies' => array( 'category', 'post_tag' ),
			'slug'       => 'media',
		)
	);
	newsroom_register_type(
		'crosswords',
		array(
			'labels'     => newsroom_type_labels( __( 'Crosswords', 'newsroom' ), __( 'Crossword', 'newsroom' ) ),
			'menu_icon'  => 'dashicons-grid-view',
			'supports'   => array_merge( $texts, array( 'author' ) ),
			'taxonomies' => array( 'category' ),
			'slug'       => 'games',
		)
	);
}

/**
 * Registers authors, podcasts and the entries of live stories.
 *
 * @param string[] $texts Features of every type with a text.
 */
function newsroom_register_supporting_types( $texts ) {
	newsroom_register_type(
		'authors',
		array(
			'labels'          => newsroom_type_labels( __( 'Authors', 'newsroom' ), __( 'Author', 'newsroom' ) ),
			'menu_icon'       => 'dashicons-businessperson',
			'supports'        => $texts,
			// Users who may edit pages may edit bylines: reporters must not rename one another.
			'capability_type' => 'page',
			// WordPress keeps /author/ for its own users.
			'slug'            => 'byline',
		)
	);
	newsroom_register_type(
		'podcasts',
		array(
			'labels'          => newsroom_type_labels( __( 'Series', 'newsroom' ), __( 'Series', 'newsroom' ) ),
			'menu_icon'       => 'dashicons-microphone',
			'supports'        => $texts,
			'capability_type' => 'page',
			'slug'            => 'podcast',
		)
	);
	newsroom_register_type(
		'live-entry',
		array(
			'labels'              => newsroom_type_labels( __( 'Live entries', 'newsroom' ), __( 'Live entry', 'newsroom' ) ),
			'supports'            => array( 'title', 'editor', 'revisions', 'custom-fields', 'author' ),
			// Entries are parts of their stories: they have no page and aren't in WordPress's feeds and search.
			'public'              => false,
			'publicly_queryable'  => false,
			'exclude_from_search' => true,
			'show_ui'             => true,
			'show_in_menu'        => false,
			'rest_base'           => 'live-entries',
			'rewrite'             => false,
		)
	);
}

/**
 * Registers one type.
 *
 * @param string $type Post type.
 * @param array  $args Arguments that differ from type to type, and `slug`, with which addresses begin.
 */
function newsroom_register_type( $type, $args ) {
	if ( post_type_exists( $type ) ) {
		return;
	}
	if ( isset( $args['slug'] ) ) {
		$args['rewrite'] = array(
			'slug'       => $args['slug'],
			'with_front' => false,
		);
		unset( $args['slug'] );
	}
	register_post_type(
		$type,
		array_merge(
			array(
				'public'          => true,
				'has_archive'     => false,
				'show_in_rest'    => true,
				'rest_base'       => $type,
				'menu_position'   => 5,
				'capability_type' => 'post',
				'map_meta_cap'    => true,
			),
			$args
		)
	);
}

/**
 * Labels of a type.
 *
 * @param string $plural   Plural, translated.
 * @param string $singular Singular, translated.
 * @return array<string,string>
 */
function newsroom_type_labels( $plural, $singular ) {
	return array(
		'name'               => $plural,
		'singular_name'      => $singular,
		'menu_name'          => $plural,
		'name_admin_bar'     => $singular,
		'all_items'          => $plural,
		'add_new'            => __( 'Add New', 'newsroom' ),
		/* translators: %s: what is added, such as "Article". */
		'add_new_item'       => sprintf( __( 'Add New %s', 'newsroom' ), $singular ),
		/* translators: %s: what is edited, such as "Article". */
		'edit_item'          => sprintf( __( 'Edit %s', 'newsroom' ), $singular ),
		/* translators: %s: what is new, such as "Article". */
		'new_item'           => sprintf( __( 'New %s', 'newsroom' ), $singular ),
		/* translators: %s: what is looked at, such as "Article". */
		'view_item'          => sprintf( __( 'View %s', 'newsroom' ), $singular ),
		/* translators: %s: what is searched, such as "Articles". */
		'search_items'       => sprintf( __( 'Search %s', 'newsroom' ), $plural ),
		/* translators: %s: what was looked for, such as "Articles". */
		'not_found'          => sprintf( __( 'No %s found.', 'newsroom' ), $plural ),
		/* translators: %s: what was looked for, such as "Articles". */
		'not_found_in_trash' => sprintf( __( 'No %s found in Trash.', 'newsroom' ), $plural ),
	);
}

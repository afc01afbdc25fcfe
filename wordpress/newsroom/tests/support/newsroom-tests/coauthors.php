<?php
/**
 * Co-Authors Plus as far as other plugins meet it: the taxonomy `author`, whose terms `cap-<user_nicename>` an article has in their order,
 * and guest authors, posts `cap-<slug>` with their meta (github.com/Automattic/Co-Authors-Plus, class-coauthors-plus.php and
 * class-coauthors-guest-authors.php; read in version 3.6). A reimplementation.
 *
 * @package Newsroom
 */

if ( ! defined( 'ABSPATH' ) ) {
	exit;
}

add_action(
	'init',
	static function () {
		register_post_type(
			'guest-author',
			array(
				'public'              => true,
				'publicly_queryable'  => false,
				'exclude_from_search' => true,
				'supports'            => array( 'thumbnail' ),
				'taxonomies'          => array( 'author' ),
				'rewrite'             => false,
				'query_var'           => false,
			)
		);
		$types = array_filter(
			get_post_types(),
			static function ( $type ) {
				return post_type_supports( $type, 'author' );
			}
		);
		register_taxonomy(
			'author',
			array_values( $types ),
			array(
				'hierarchical' => false,
				'query_var'    => false,
				'rewrite'      => false,
				'public'       => false,
				'sort'         => true,
				'args'         => array( 'orderby' => 'term_order' ),
				'show_in_rest' => true,
				'rest_base'    => 'coauthors',
			)
		);
	},
	100
);

/**
 * Creates a guest author as the plugin does.
 *
 * @param string               $slug Slug.
 * @param array<string,string> $meta `display_name`, `user_email`, `linked_account`.
 * @return int
 */
function newsroom_tests_guest_author( $slug, $meta ) {
	$id = wp_insert_post(
		array(
			'post_type'   => 'guest-author',
			'post_title'  => isset( $meta['display_name'] ) ? $meta['display_name'] : $slug,
			'post_name'   => 'cap-' . $slug,
			'post_status' => 'publish',
		)
	);
	foreach ( $meta + array( 'user_login' => $slug ) as $key => $value ) {
		update_post_meta( $id, 'cap-' . $key, $value );
	}
	return $id;
}

/**
 * Sets the co-authors of a post as the plugin does: a term for each, the terms in their order.
 *
 * @param int      $post     Post.
 * @param string[] $nicenames Nicenames of users, or slugs of guest authors.
 */
function newsroom_tests_coauthors( $post, $nicenames ) {
	$slugs = array();
	foreach ( $nicenames as $nicename ) {
		$slugs[] = 'cap-' . $nicename;
		if ( ! term_exists( 'cap-' . $nicename, 'author' ) ) {
			wp_insert_term( $nicename, 'author', array( 'slug' => 'cap-' . $nicename ) );
		}
	}
	wp_set_post_terms( $post, $slugs, 'author' );
}

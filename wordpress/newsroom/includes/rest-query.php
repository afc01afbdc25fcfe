<?php
/**
 * REST filters: `category` (id or slug) and `author_id`.
 *
 * @package Newsroom
 */

if ( ! defined( 'ABSPATH' ) ) {
	exit;
}

add_action( 'rest_api_init', 'newsroom_register_rest_filters' );

/**
 * Hooks the filters into the collections.
 */
function newsroom_register_rest_filters() {
	foreach ( array( 'articles', 'video', 'crosswords' ) as $type ) {
		add_filter( "rest_{$type}_collection_params", 'newsroom_rest_params' );
		add_filter( "rest_{$type}_query", 'newsroom_rest_query', 10, 2 );
	}
	foreach ( array_keys( newsroom_document_types() ) as $type ) {
		add_filter( "rest_{$type}_query", 'newsroom_without_protected', 20 );
	}
}

/**
 * Describes the parameters.
 *
 * @param array $params Parameters.
 * @return array
 */
function newsroom_rest_params( $params ) {
	$params['category']  = array(
		'description' => __( 'Limit to a section: the id or the slug of a category.', 'newsroom' ),
		'type'        => array( 'integer', 'string' ),
	);
	$params['author_id'] = array(
		'description' => __( 'Limit to an author or contributor: the id of a document of the type authors.', 'newsroom' ),
		'type'        => 'integer',
		'minimum'     => 1,
	);
	return $params;
}

/**
 * Applies the parameters.
 *
 * @param array           $args    Arguments of the query.
 * @param WP_REST_Request $request Request.
 * @return array
 */
function newsroom_rest_query( $args, $request ) {
	$category = $request['category'];
	if ( null !== $category && '' !== $category ) {
		$by_id               = is_numeric( $category );
		$args['tax_query']   = isset( $args['tax_query'] ) ? $args['tax_query'] : array(); // phpcs:ignore WordPress.DB.SlowDBQuery
		$args['tax_query'][] = array(
			'taxonomy' => 'category',
			'field'    => $by_id ? 'term_id' : 'slug',
			'terms'    => $by_id ? (int) $category : sanitize_title( $category ),
		);
	}
	if ( $request['author_id'] ) {
		$args['meta_query']   = isset( $args['meta_query'] ) ? $args['meta_query'] : array(); // phpcs:ignore WordPress.DB.SlowDBQuery
		$args['meta_query'][] = newsroom_people_query( (int) $request['author_id'] );
	}
	return $args;
}

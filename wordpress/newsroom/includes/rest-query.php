<?php
/**
 * REST filters: `category` (id or slug) and `author_id`; `modified_after` and `modified_before` as instants.
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
		add_filter( "rest_{$type}_query", 'newsroom_rest_instants' );
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
		'description' => __( 'Limit results to a section: the ID or the slug of a category.', 'newsroom' ),
		'type'        => array( 'integer', 'string' ),
	);
	$params['author_id'] = array(
		'description' => __( 'Limit results to an author or contributor: the ID of an author document.', 'newsroom' ),
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
		$args['tax_query']   = $args['tax_query'] ?? array(); // phpcs:ignore WordPress.DB.SlowDBQuery
		$args['tax_query'][] = array(
			'taxonomy' => 'category',
			'field'    => $by_id ? 'term_id' : 'slug',
			'terms'    => $by_id ? (int) $category : sanitize_title( $category ),
		);
	}
	if ( $request['author_id'] ) {
		$args['meta_query']   = $args['meta_query'] ?? array(); // phpcs:ignore WordPress.DB.SlowDBQuery
		$args['meta_query'][] = newsroom_people_query( (int) $request['author_id'] );
	}
	return $args;
}

/**
 * Compares modification times in UTC if they name a time zone. WordPress compares local times, which are ambiguous in the hour that
 * repeats when clocks are set back: changes of that hour would be missed.
 *
 * @param array $args Arguments of the query.
 * @return array
 */
function newsroom_rest_instants( $args ) {
	foreach ( isset( $args['date_query'] ) ? (array) $args['date_query'] : array() as $at => $clause ) {
		foreach ( array( 'after', 'before' ) as $side ) {
			$given = is_array( $clause ) && isset( $clause[ $side ], $clause['column'] ) && 'post_modified' === $clause['column'] ? $clause[ $side ] : null;
			$time  = is_string( $given ) && preg_match( '/(?:Z|[+-]\d\d:?\d\d)$/Di', $given ) ? strtotime( $given ) : false;
			if ( false !== $time ) {
				// Passed in parts, which WordPress uses unchanged; it would interpret a text as local time.
				$parts = array_map( 'intval', explode( ' ', gmdate( 'Y n j G i s', $time ) ) );

				$args['date_query'][ $at ] = array(
					'column' => 'post_modified_gmt',
					$side    => array_combine( array( 'year', 'month', 'day', 'hour', 'minute', 'second' ), $parts ),
				);
			}
		}
	}
	return $args;
}

<?php
/**
 * Pages by key: `after_key` starts a page of a list after a given document, by the field that orders the list and by the id. Such a page
 * is as fast at the end of a long list as at its beginning, and skips or repeats nothing when documents are added or removed.
 *
 * @package Newsroom
 */

if ( ! defined( 'ABSPATH' ) ) {
	exit;
}

add_action( 'rest_api_init', 'newsroom_register_rest_keys' );

/**
 * Hooks the parameter into the collections that the site copies.
 */
function newsroom_register_rest_keys() {
	$types = array_keys( newsroom_document_types() );
	foreach ( array_merge( $types, array( 'category', 'comment' ) ) as $kind ) {
		add_filter( "rest_{$kind}_collection_params", 'newsroom_rest_key_params' );
		add_filter( "rest_{$kind}_query", 'newsroom_rest_key_query', 10, 2 );
	}
	foreach ( $types as $type ) {
		add_filter( "rest_{$type}_query", 'newsroom_rest_order_ties', 10, 2 );
	}
	add_filter( 'posts_where', 'newsroom_posts_after_key', 10, 2 );
	add_filter( 'terms_clauses', 'newsroom_terms_after_key', 10, 3 );
	add_filter( 'comments_clauses', 'newsroom_comments_after_key', 10, 2 );
}

/**
 * Describes `after_key`.
 *
 * @param array $params Parameters.
 * @return array
 */
function newsroom_rest_key_params( $params ) {
	$params['after_key'] = array(
		'description'       => __( 'Limit results to what follows a document in the order of the list: its date and ID, or only its ID with orderby=id.', 'newsroom' ),
		'type'              => 'string',
		'validate_callback' => 'newsroom_validate_key',
	);
	return $params;
}

/**
 * Refuses a key that doesn't fit the order of the list.
 *
 * @param mixed           $value   Value.
 * @param WP_REST_Request $request Request.
 * @return true|WP_Error
 */
function newsroom_validate_key( $value, $request ) {
	if ( null !== newsroom_parse_key( $value, $request['orderby'] ) ) {
		return true;
	}
	return new WP_Error( 'rest_invalid_param', __( 'after_key must be an ID with orderby=id, and a date and an ID (2026-11-20T12:00:00,123) when the list is ordered by date.', 'newsroom' ) );
}

/**
 * Reads a key.
 *
 * @param mixed $key     `2026-11-20T12:00:00,123`, or `123` when ids order the list.
 * @param mixed $orderby The field that orders the list.
 * @return array|null The date as the database has it ('' without one) and the id; null if it isn't a key for this order.
 */
function newsroom_parse_key( $key, $orderby ) {
	if ( ! is_string( $key ) && ! is_int( $key ) ) {
		return null;
	}
	if ( 'id' === $orderby ) {
		return preg_match( '/^\d{1,18}$/D', $key ) ? array( '', $key ) : null;
	}
	if (
		! in_array( $orderby, array( 'date', 'date_gmt', 'modified' ), true ) ||
		! preg_match( '/^(\d{4})-(\d\d)-(\d\d)T((?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d),(\d{1,18})$/D', $key, $part ) ||
		! checkdate( (int) $part[2], (int) $part[3], (int) $part[1] )
	) {
		return null;
	}
	return array( "$part[1]-$part[2]-$part[3] $part[4]", $part[5] );
}

/**
 * Passes the key on to the query.
 *
 * @param array           $args    Arguments of the query.
 * @param WP_REST_Request $request Request.
 * @return array
 */
function newsroom_rest_key_query( $args, $request ) {
	$key = newsroom_parse_key( $request['after_key'], $request['orderby'] );
	if ( $key ) {
		$args['newsroom_key'] = array( $request['orderby'], $request['order'], $key[0], $key[1] );
		// WordPress's cache of comment queries ignores unknown arguments, so the key is added to an argument that it uses.
		$args['cache_domain'] = 'newsroom:' . $request['after_key'];
	}
	return $args;
}

/**
 * Orders by id if dates are equal, so that the order of a list is the same in every request.
 *
 * @param array           $args    Arguments of the query.
 * @param WP_REST_Request $request Request.
 * @return array
 */
function newsroom_rest_order_ties( $args, $request ) {
	if ( in_array( $request['orderby'], array( 'date', 'modified' ), true ) ) {
		$args['orderby'] = array(
			$request['orderby'] => $request['order'],
			'ID'                => $request['order'],
		);
	}
	return $args;
}

/**
 * The condition of a key.
 *
 * @param mixed  $key     Key as `newsroom_rest_key_query` passes it, or anything else if there is none.
 * @param string $table   Table.
 * @param array  $columns Its columns by the fields that order the list.
 * @return string
 */
function newsroom_key_condition( $key, $table, $columns ) {
	global $wpdb;
	if ( ! is_array( $key ) ) {
		return '';
	}
	list( $orderby, $order, $date, $id ) = $key;

	$sign      = 'asc' === $order ? '>' : '<';
	$id_column = "$table.{$columns['id']}";
	// phpcs:disable WordPress.DB.PreparedSQL.InterpolatedNotPrepared -- the names are those of this file.
	if ( 'id' === $orderby ) {
		return $wpdb->prepare( " AND $id_column $sign %d", $id );
	}
	$column = "$table.{$columns[ $orderby ]}";
	// The first half lets the database enter its index at the key.
	return $wpdb->prepare( " AND $column {$sign}= %s AND ( $column $sign %s OR $id_column $sign %d )", $date, $date, $id );
	// phpcs:enable
}

/**
 * Documents after a key.
 *
 * @param string   $where Conditions of the query.
 * @param WP_Query $query Query.
 * @return string
 */
function newsroom_posts_after_key( $where, $query ) {
	global $wpdb;
	$columns = array(
		'id'       => 'ID',
		'date'     => 'post_date',
		'modified' => 'post_modified',
	);
	return $where . newsroom_key_condition( $query->get( 'newsroom_key' ), $wpdb->posts, $columns );
}

/**
 * Categories after a key.
 *
 * @param string[] $clauses    Parts of the query.
 * @param string[] $taxonomies Taxonomies.
 * @param array    $args       Arguments of the query.
 * @return string[]
 */
function newsroom_terms_after_key( $clauses, $taxonomies, $args ) {
	$key = $args['newsroom_key'] ?? null;

	$clauses['where'] .= newsroom_key_condition( $key, 't', array( 'id' => 'term_id' ) );
	return $clauses;
}

/**
 * Comments after a key.
 *
 * @param string[]         $clauses Parts of the query.
 * @param WP_Comment_Query $query   Query.
 * @return string[]
 */
function newsroom_comments_after_key( $clauses, $query ) {
	global $wpdb;
	$key     = $query->query_vars['newsroom_key'] ?? null;
	$columns = array(
		'id'       => 'comment_ID',
		'date'     => 'comment_date',
		'date_gmt' => 'comment_date_gmt',
	);

	$clauses['where'] = ( $key && '' === $clauses['where'] ? '1 = 1' : $clauses['where'] ) . newsroom_key_condition( $key, $wpdb->comments, $columns );
	return $clauses;
}

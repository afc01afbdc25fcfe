<?php
/**
 * REST fields of documents: acf, image, category, access, restricted, old_slugs, role.
 *
 * @package Newsroom
 */

if ( ! defined( 'ABSPATH' ) ) {
	exit;
}

add_filter( 'the_posts', 'newsroom_prime_list', 10, 2 );
foreach ( array_keys( newsroom_document_types() ) as $newsroom_type ) {
	add_filter( "rest_prepare_{$newsroom_type}", 'newsroom_complete_acf', 20, 2 );
}
unset( $newsroom_type );
newsroom_register_rest_fields();

/**
 * Registers the fields.
 */
function newsroom_register_rest_fields() {
	$all   = array_keys( newsroom_document_types() );
	$texts = array(
		'type'  => 'array',
		'items' => array( 'type' => 'string' ),
	);
	$terms = array(
		'type'  => 'array',
		'items' => array( 'type' => 'object' ),
	);
	$level = static fn() => array(
		'type' => 'string',
		'enum' => array_keys( newsroom_access_levels() ),
	);
	newsroom_rest_field( $all, 'acf', 'newsroom_rest_acf', array( 'type' => 'object' ) );
	newsroom_rest_field( $all, 'image', 'newsroom_rest_image', newsroom_picture_schema() );
	newsroom_rest_field( $all, 'old_slugs', 'newsroom_rest_old_slugs', $texts );
	newsroom_rest_field( array( 'articles', 'video', 'crosswords' ), 'category', 'newsroom_rest_category', $terms );
	newsroom_rest_field( 'articles', 'access', 'newsroom_rest_access', $level );
	newsroom_rest_field( 'articles', 'restricted', 'newsroom_rest_restricted', array( 'type' => 'boolean' ) );
	newsroom_rest_field( 'authors', 'role', 'newsroom_rest_role', array( 'type' => 'string' ) );
}

/**
 * Schema of a picture, see newsroom_picture().
 *
 * @return array
 */
function newsroom_picture_schema() {
	return array(
		'type'       => array( 'object', 'null' ),
		'properties' => array(
			'id'      => array( 'type' => 'integer' ),
			'url'     => array(
				'type'   => 'string',
				'format' => 'uri',
			),
			'alt'     => array( 'type' => 'string' ),
			'width'   => array( 'type' => array( 'integer', 'null' ) ),
			'height'  => array( 'type' => array( 'integer', 'null' ) ),
			'caption' => array( 'type' => 'string' ),
			'credit'  => array( 'type' => 'string' ),
		),
	);
}

/**
 * The field `acf`: an object, even if it is empty.
 *
 * @param int $id Document.
 * @return object
 */
function newsroom_rest_acf( $id ) {
	$post = get_post( $id );
	return (object) ( $post ? newsroom_fields_of( $post ) : array() );
}

/**
 * If Advanced Custom Fields has added its own `acf` to a response: fields that the site reads are replaced by the plugin's format, which
 * has no names of unpublished authors; other fields stay unchanged. ACF's own format depends on its settings, and a field that was never
 * saved with ACF is empty there.
 *
 * @param WP_REST_Response $response Answer.
 * @param WP_Post          $post     Document.
 * @return WP_REST_Response
 */
function newsroom_complete_acf( $response, $post ) {
	$data = $response instanceof WP_REST_Response ? $response->get_data() : null;
	if ( is_array( $data ) && isset( $data['acf'] ) && is_array( $data['acf'] ) ) {
		$data['acf'] = (object) ( newsroom_fields_of( $post ) + $data['acf'] );
		$response->set_data( $data );
	}
	return $response;
}

/**
 * `image`.
 *
 * @param int $id Document.
 * @return array|null
 */
function newsroom_rest_image( $id ) {
	return newsroom_picture( (int) get_post_thumbnail_id( $id ) );
}

/**
 * `category`.
 *
 * @param int $id Document.
 * @return array[]
 */
function newsroom_rest_category( $id ) {
	$post = get_post( $id );
	return $post ? newsroom_sections_of( $post ) : array();
}

/**
 * `access`.
 *
 * @param int $id Document.
 * @return string
 */
function newsroom_rest_access( $id ) {
	$post = get_post( $id );
	return $post ? newsroom_level_of( $post ) : 'default';
}

/**
 * `restricted`.
 *
 * @param int $id Document.
 * @return bool
 */
function newsroom_rest_restricted( $id ) {
	return newsroom_is_cut( get_post( $id ) );
}

/**
 * `role` of an author.
 *
 * @param int $id Document.
 * @return string
 */
function newsroom_rest_role( $id ) {
	return newsroom_plain( get_post_meta( $id, 'newsroom_role', true ) );
}

/**
 * `old_slugs`: former addresses of the document, from which the site redirects: slugs, and whole paths if it was a post before the
 * WordPress was adopted.
 *
 * @param int $id Document.
 * @return string[]
 */
function newsroom_rest_old_slugs( $id ) {
	$slugs   = array_merge( (array) get_post_meta( $id, '_wp_old_slug' ), (array) get_post_meta( $id, '_newsroom_former_path' ) );
	$slugs[] = (string) get_post_meta( $id, '_newsroom_live_slug', true );
	return array_values( array_unique( array_diff( array_filter( array_map( 'strval', $slugs ) ), array( get_post_field( 'post_name', $id, 'raw' ) ) ) ) );
}

/**
 * Reads the authors and pictures of a whole list in one query each.
 *
 * @param WP_Post[] $posts Posts.
 * @param WP_Query  $query Query.
 * @return WP_Post[]
 */
function newsroom_prime_list( $posts, $query ) {
	$types = (array) $query->get( 'post_type' );
	if ( ! defined( 'REST_REQUEST' ) || ! REST_REQUEST || count( $posts ) < 2 || ! array_intersect( $types, array_keys( newsroom_document_types() ) ) ) {
		return $posts;
	}
	$ids      = wp_list_pluck( $posts, 'ID' );
	$authors  = newsroom_prime_authors( $ids );
	$pictures = array();
	foreach ( array_merge( $ids, $authors ) as $id ) {
		$pictures[] = (int) get_post_meta( $id, '_thumbnail_id', true );
	}
	_prime_post_caches( array_values( array_unique( array_filter( $pictures ) ) ), false, true );
	return $posts;
}

/**
 * Reads the authors and contributors of some documents in one query.
 *
 * @param int[] $ids Documents.
 * @return int[] The authors.
 */
function newsroom_prime_authors( $ids ) {
	$authors = array();
	update_meta_cache( 'post', $ids );
	newsroom_prime_coauthors( $ids );
	foreach ( $ids as $id ) {
		$authors = array_merge( $authors, newsroom_author_ids( $id ), newsroom_contributor_ids( $id ) );
	}
	$authors = array_values( array_unique( $authors ) );
	_prime_post_caches( $authors, false, true );
	return $authors;
}

<?php
/**
 * Bylines of articles: an ordered list of authors, one of contributors ("With reporting by"), and an agency. The lists hold documents of
 * the type `authors`. They are the article's meta, so that the block editor's panel has undo, autosaves and revisions.
 *
 * @package Newsroom
 */

if ( ! defined( 'ABSPATH' ) ) {
	exit;
}

define( 'NEWSROOM_MOST_AUTHORS', 30 );
define( 'NEWSROOM_LONGEST_LINE', 100 );

foreach ( array( 'newsroom_authors', 'newsroom_contributors' ) as $newsroom_people ) {
	add_filter( "sanitize_post_meta_{$newsroom_people}_for_revision", 'newsroom_sanitize_people' );
}
unset( $newsroom_people );
newsroom_rest_field(
	'articles',
	'byline',
	'newsroom_byline_of',
	array(
		'type'       => 'object',
		'properties' => array(
			'authors'      => array(
				'type'  => 'array',
				'items' => array( 'type' => array( 'object', 'integer' ) ),
			),
			'contributors' => array(
				'type'  => 'array',
				'items' => array( 'type' => array( 'object', 'integer' ) ),
			),
			'agency'       => array( 'type' => array( 'object', 'null' ) ),
		),
	)
);

/**
 * Meta keys of a byline. `newsroom_author` is the first author; articles from before lists existed have only that.
 *
 * @return string[]
 */
function newsroom_byline_keys() {
	return array( 'newsroom_author', 'newsroom_authors', 'newsroom_contributors', 'newsroom_agency', 'newsroom_agency_url' );
}

/**
 * Schema of a list of people in REST. A list that is too long is refused instead of cut.
 *
 * @return array
 */
function newsroom_people_schema() {
	return array(
		'type'     => 'array',
		'maxItems' => NEWSROOM_MOST_AUTHORS,
		'items'    => array(
			'type'    => 'integer',
			'minimum' => 1,
		),
	);
}

/**
 * Cleans an ordered list of authors, without duplicates. The ids are stored as text, as Advanced Custom Fields does, so that a search
 * of the meta finds an exact id: `"12"`.
 *
 * @param mixed $value Array of ids, or ids separated by commas.
 * @return string[]
 */
function newsroom_sanitize_people( $value ) {
	return array_map( 'strval', array_slice( newsroom_sanitize_ids( $value ), 0, NEWSROOM_MOST_AUTHORS ) );
}

/**
 * Cleans a short line of text: the name of an agency, the role of an author.
 *
 * @param mixed $value Value.
 * @return string
 */
function newsroom_sanitize_line( $value ) {
	// WordPress provides mb_substr() if PHP lacks it.
	return mb_substr( newsroom_sanitize_words( $value ), 0, NEWSROOM_LONGEST_LINE, 'UTF-8' );
}

/**
 * Cleans the address of an agency, which is another site's.
 *
 * @param mixed $value Value.
 * @return string An absolute http or https address, or ''.
 */
function newsroom_sanitize_agency_url( $value ) {
	$url = newsroom_sanitize_web_address( $value );
	return preg_match( '#^https?://[^/]#i', $url ) ? $url : '';
}

/**
 * Ids of a list in an article's meta.
 *
 * @param int    $id  Article.
 * @param string $key Meta key.
 * @return int[]
 */
function newsroom_own_people( $id, $key ) {
	return array_map( 'intval', newsroom_sanitize_people( get_post_meta( $id, $key, true ) ) );
}

/**
 * Ids of an article's authors in order: its own list; if that is empty, the fields of Advanced Custom Fields, then the field for a single
 * author, then Co-Authors Plus.
 *
 * @param int $id Article.
 * @return int[]
 */
function newsroom_author_ids( $id ) {
	$own = newsroom_own_people( $id, 'newsroom_authors' );
	if ( $own ) {
		return $own;
	}
	$acf = newsroom_acf_people( array( 'authors', 'author' ), $id );
	if ( $acf ) {
		return $acf;
	}
	$one = null === $acf ? absint( get_post_meta( $id, 'newsroom_author', true ) ) : 0;
	return $one ? array( $one ) : array_values( array_unique( array_filter( newsroom_coauthors( $id ) ) ) );
}

/**
 * Ids of an article's contributors in order, without its authors.
 *
 * @param int $id Article.
 * @return int[]
 */
function newsroom_contributor_ids( $id ) {
	$own = newsroom_own_people( $id, 'newsroom_contributors' );
	if ( ! $own ) {
		$own = (array) newsroom_acf_people( array( 'contributors' ), $id );
	}
	return array_values( array_diff( $own, newsroom_author_ids( $id ) ) );
}

/**
 * Authors in the form in which articles contain them.
 *
 * @param int[] $ids Documents.
 * @return array See newsroom_author_value().
 */
function newsroom_people( $ids ) {
	return array_values( array_filter( array_map( 'newsroom_author_value', array_slice( array_unique( $ids ), 0, NEWSROOM_MOST_AUTHORS ) ) ) );
}

/**
 * The byline of an article as the site receives it.
 *
 * @param int $id Article.
 * @return array `authors` and `contributors`: lists of authors; `agency`: null or an array with `name` and `url` ('' for none).
 */
function newsroom_byline_of( $id ) {
	$agency = newsroom_sanitize_line( get_post_meta( $id, 'newsroom_agency', true ) );
	return array(
		'authors'      => newsroom_people( newsroom_author_ids( $id ) ),
		'contributors' => newsroom_people( newsroom_contributor_ids( $id ) ),
		'agency'       => '' === $agency ? null : array(
			'name' => newsroom_plain( $agency ),
			'url'  => newsroom_sanitize_agency_url( get_post_meta( $id, 'newsroom_agency_url', true ) ),
		),
	);
}

/**
 * Condition for the articles of an author or contributor, for WP_Query. It doesn't find articles whose authors are only in
 * Co-Authors Plus.
 *
 * @param int $id Document of the type `authors`.
 * @return array
 */
function newsroom_people_query( $id ) {
	$clauses = array(
		array(
			'key'   => 'newsroom_author',
			'value' => $id,
		),
	);
	$lists = array( 'newsroom_authors', 'newsroom_contributors' );
	if ( function_exists( 'get_field' ) ) {
		// ACF stores a single post as its id, and several as a serialized list.
		$lists     = array_merge( $lists, array( 'author', 'authors', 'contributors' ) );
		$clauses[] = array(
			'key'   => 'author',
			'value' => $id,
		);
	}
	foreach ( $lists as $key ) {
		$clauses[] = array(
			'key'     => $key,
			'value'   => '"' . $id . '"',
			'compare' => 'LIKE',
		);
	}
	return array( 'relation' => 'OR' ) + $clauses;
}

<?php
/**
 * Bylines that other plugins store: fields of Advanced Custom Fields, and the terms and guest authors of Co-Authors Plus. Both are
 * only read, and mapped to documents of the type `authors`.
 *
 * @package Newsroom
 */

if ( ! defined( 'ABSPATH' ) ) {
	exit;
}

// Data about terms is cached only for this request.
wp_cache_add_non_persistent_groups( array( 'newsroom_coauthors' ) );
add_action( 'set_object_terms', 'newsroom_forget_coauthors', 9, 4 );

/**
 * Authors in the first nonempty one of some fields of Advanced Custom Fields: posts of the type `authors`, or users.
 *
 * @param string[] $names Names of fields.
 * @param int      $id    Article.
 * @return int[]|null Null where the plugin holds none of these fields.
 */
function newsroom_acf_people( $names, $id ) {
	$held = null;
	foreach ( $names as $name ) {
		if ( ! newsroom_acf_has( $name, $id ) ) {
			continue;
		}
		$held  = array();
		$field = function_exists( 'get_field_object' ) ? get_field_object( $name, $id, false, false ) : array();
		$raw   = get_field( $name, $id, false );
		$list  = is_array( $raw ) && ! isset( $raw['ID'] ) ? $raw : array( $raw );
		$ids   = array_filter( array_map( 'newsroom_id_of', array_slice( $list, 0, NEWSROOM_MOST_AUTHORS ) ) );
		if ( isset( $field['type'] ) && 'user' === $field['type'] ) {
			$ids = array_filter( array_map( 'newsroom_author_id_of_user', $ids ) );
		}
		if ( $ids ) {
			return array_values( array_unique( $ids ) );
		}
	}
	return $held;
}

/**
 * The author document of a user.
 *
 * @param int $user_id User.
 * @return int 0 for none.
 */
function newsroom_author_id_of_user( $user_id ) {
	$user   = get_userdata( $user_id );
	$author = $user ? newsroom_author_of_user( $user ) : null;
	return $author ? $author->ID : 0;
}

/**
 * Whether Co-Authors Plus is active.
 *
 * @return bool
 */
function newsroom_has_coauthors() {
	return taxonomy_exists( 'author' );
}

/**
 * Reads the terms of some articles in one query.
 *
 * @param int[] $ids Articles.
 */
function newsroom_prime_coauthors( $ids ) {
	global $wpdb;
	if ( ! $ids || ! newsroom_has_coauthors() ) {
		return;
	}
	$slugs = array_fill_keys( array_map( 'intval', $ids ), array() );
	$in    = implode( ',', array_keys( $slugs ) );
	// Co-Authors Plus stores the order in `term_order`.
	$rows = $wpdb->get_results( "SELECT r.object_id AS id, t.slug FROM {$wpdb->term_relationships} r JOIN {$wpdb->term_taxonomy} x ON x.term_taxonomy_id = r.term_taxonomy_id AND x.taxonomy = 'author' JOIN {$wpdb->terms} t ON t.term_id = x.term_id WHERE r.object_id IN ($in) ORDER BY r.object_id, r.term_order, r.term_taxonomy_id" ); // phpcs:ignore WordPress.DB
	foreach ( $rows as $row ) {
		$slugs[ (int) $row->id ][] = (string) preg_replace( '/^cap-/', '', $row->slug );
	}
	foreach ( $slugs as $id => $list ) {
		wp_cache_set( $id, array_slice( $list, 0, NEWSROOM_MOST_AUTHORS ), 'newsroom_coauthors' );
	}
}

/**
 * Clears the cache for an article when its terms change.
 *
 * @param int    $id       Article.
 * @param array  $terms    Terms as given.
 * @param int[]  $tt_ids   Now.
 * @param string $taxonomy Taxonomy.
 */
function newsroom_forget_coauthors( $id, $terms, $tt_ids, $taxonomy ) {
	if ( 'author' === $taxonomy ) {
		wp_cache_delete( $id, 'newsroom_coauthors' );
	}
}

/**
 * The co-authors of an article in Co-Authors Plus, in their order.
 *
 * @param int $id Article.
 * @return array<string,int> Slug => document of the type `authors`, 0 where there is none.
 */
function newsroom_coauthors( $id ) {
	if ( ! newsroom_has_coauthors() ) {
		return array();
	}
	$slugs = wp_cache_get( $id, 'newsroom_coauthors' );
	if ( ! is_array( $slugs ) ) {
		newsroom_prime_coauthors( array( $id ) );
		$slugs = (array) wp_cache_get( $id, 'newsroom_coauthors' );
	}
	$authors = array();
	foreach ( $slugs as $slug ) {
		$author = wp_cache_get( 'slug:' . $slug, 'newsroom_coauthors' );
		if ( false === $author ) {
			$author = newsroom_author_of_coauthor( $slug );
			wp_cache_set( 'slug:' . $slug, $author, 'newsroom_coauthors' );
		}
		$authors[ $slug ] = (int) $author;
	}
	return $authors;
}

/**
 * The guest author with a slug: a post of Co-Authors Plus, whose meta identifies the person.
 *
 * @param string $slug Slug without `cap-`.
 * @return WP_Post|null
 */
function newsroom_guest_author( $slug ) {
	$found = get_posts(
		array(
			'post_type'        => 'guest-author',
			'name'             => 'cap-' . $slug,
			'post_status'      => 'any',
			'numberposts'      => 1,
			'suppress_filters' => true,
		)
	);
	return $found ? $found[0] : null;
}

/**
 * The author document of a co-author. A guest author is found by its slug, by the user it is linked to, by its email address or by its
 * name; a user as when a WordPress is adopted.
 *
 * @param string $slug Slug without `cap-`.
 * @return int 0 for none.
 */
function newsroom_author_of_coauthor( $slug ) {
	$guest = newsroom_guest_author( $slug );
	if ( ! $guest ) {
		$user   = get_user_by( 'slug', $slug );
		$author = $user ? newsroom_author_of_user( $user ) : null;
		return $author ? $author->ID : 0;
	}
	$found = newsroom_find_authors( array( 'name' => $slug ) );
	if ( $found ) {
		return $found[0]->ID;
	}
	foreach ( array( 'login' => 'cap-linked_account', 'email' => 'cap-user_email' ) as $by => $key ) {
		$value  = (string) get_post_meta( $guest->ID, $key, true );
		$user   = '' === $value ? false : get_user_by( $by, $value );
		$author = $user ? newsroom_author_of_user( $user ) : null;
		if ( $author ) {
			return $author->ID;
		}
	}
	$name  = (string) get_post_meta( $guest->ID, 'cap-display_name', true );
	$found = '' === $name ? array() : newsroom_find_authors( array( 'title' => $name ) );
	return 1 === count( $found ) ? $found[0]->ID : 0;
}

/**
 * The source of an article's authors while its own list is empty, for the editors.
 *
 * @param int $id Article.
 * @return array|null `from`: name of the plugin; `names`; `missing`: names for which there is no author. Null when no other plugin has any.
 */
function newsroom_inherited_authors( $id ) {
	$name = static fn( $author ) => newsroom_plain( get_post_field( 'post_title', $author, 'raw' ) );
	$acf  = newsroom_acf_people( array( 'authors', 'author' ), $id );
	if ( null !== $acf && ( $acf || ! newsroom_coauthors( $id ) ) ) {
		return array(
			'from'    => 'Advanced Custom Fields',
			'names'   => array_map( $name, $acf ),
			'missing' => array(),
		);
	}
	$coauthors = null === $acf && get_post_meta( $id, 'newsroom_author', true ) ? array() : newsroom_coauthors( $id );
	if ( ! $coauthors ) {
		return null;
	}
	$missing = array();
	foreach ( array_keys( $coauthors, 0, true ) as $slug ) {
		$guest     = newsroom_guest_author( $slug );
		$user      = get_user_by( 'slug', $slug );
		$title     = $guest ? (string) get_post_meta( $guest->ID, 'cap-display_name', true ) : ( $user ? $user->display_name : '' );
		$missing[] = '' === $title ? (string) $slug : newsroom_plain( $title );
	}
	return array(
		'from'    => 'Co-Authors Plus',
		'names'   => array_map( $name, array_values( array_filter( $coauthors ) ) ),
		'missing' => $missing,
	);
}

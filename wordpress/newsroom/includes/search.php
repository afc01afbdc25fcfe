<?php
/**
 * Searching: a restricted body must not be found by its words either, or it could be read one guess at a time.
 *
 * @package Newsroom
 */

if ( ! defined( 'ABSPATH' ) ) {
	exit;
}

add_filter( 'posts_search', 'newsroom_search_readable', PHP_INT_MAX );
add_filter( 'posts_search_orderby', 'newsroom_search_readable', PHP_INT_MAX );

/**
 * Makes a search look into the bodies of open articles only, for everyone who may not read the rest.
 *
 * @param string $sql Part of a query.
 * @return string
 */
function newsroom_search_readable( $sql ) {
	global $wpdb;
	if ( '' === (string) $sql || newsroom_asks_with_credentials() ) {
		return $sql;
	}
	$column = $wpdb->posts . '.post_content';
	// Where a filter decides, SQL cannot know: then only what is marked as free is searched.
	$restricted = has_filter( 'newsroom_effective_access' )
		? "{$wpdb->posts}.post_type = 'articles' AND {$wpdb->posts}.ID NOT IN ( SELECT post_id FROM {$wpdb->postmeta} WHERE meta_key = 'newsroom_access' AND meta_value = 'free' )"
		: "{$wpdb->posts}.ID IN ( SELECT post_id FROM {$wpdb->postmeta} WHERE meta_key = 'newsroom_access' AND meta_value IN ( 'registered', 'subscriber' ) )";
	$readable   = "( CASE WHEN $restricted THEN '' ELSE $column END )";
	// Strings are skipped: a search text may look like the name of the column.
	return (string) preg_replace_callback(
		"/'(?:[^'\\\\]|\\\\.|'')*'|" . preg_quote( $column, '/' ) . '/s',
		static function ( $found ) use ( $column, $readable ) {
			return $found[0] === $column ? $readable : $found[0];
		},
		$sql
	);
}

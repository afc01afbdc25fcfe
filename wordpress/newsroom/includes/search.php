<?php
/**
 * Searching: a restricted body must not be found by its words, because it could then be read by guessing. For the same reason a list must
 * not be filtered or ordered by values that its documents don't show.
 *
 * @package Newsroom
 */

if ( ! defined( 'ABSPATH' ) ) {
	exit;
}

add_action( 'pre_get_posts', 'newsroom_search_filtered', PHP_INT_MAX );
add_filter( 'posts_search', 'newsroom_search_readable', PHP_INT_MAX );
add_filter( 'posts_search', 'newsroom_search_open_entries', PHP_INT_MAX );
add_filter( 'posts_search_orderby', 'newsroom_search_readable', PHP_INT_MAX );
add_filter( 'rest_live-entry_query', 'newsroom_without_restricted_entries', PHP_INT_MAX );
add_filter( 'rest_post_search_query', 'newsroom_without_restricted_entries', PHP_INT_MAX );
add_filter( 'posts_where', 'newsroom_where_entries_are_open', PHP_INT_MAX, 2 );

/**
 * SQL condition for an article with a restricted body, equivalent to newsroom_is_restricted() for one article.
 *
 * @param string $table Name of the posts in the query.
 * @return string
 */
function newsroom_restricted_articles_sql( $table ) {
	global $wpdb;
	$marked   = "SELECT post_id FROM {$wpdb->postmeta} WHERE meta_key = 'newsroom_access' AND meta_value";
	$not_free = "$table.post_type = 'articles' AND $table.ID NOT IN ( $marked = 'free' )";
	// If a filter decides, SQL can't know the result, so only articles marked as free count as open.
	if ( has_filter( 'newsroom_effective_access' ) ) {
		return "( $not_free )";
	}
	$episodes = "SELECT episode.post_id FROM {$wpdb->postmeta} AS episode INNER JOIN {$wpdb->postmeta} AS series ON series.post_id = CAST( episode.meta_value AS UNSIGNED ) WHERE episode.meta_key = 'newsroom_series' AND series.meta_key = 'newsroom_series_access' AND series.meta_value = 'subscriber'";
	return "( $table.ID IN ( $marked IN ( 'registered', 'subscriber' ) ) OR ( $table.ID IN ( $episodes ) AND $not_free ) )";
}

/**
 * SQL condition for an entry whose story readers may not see, or not in full.
 *
 * @return string
 */
function newsroom_restricted_entries_sql() {
	global $wpdb;
	$open = "SELECT entry.post_id FROM {$wpdb->postmeta} AS entry INNER JOIN {$wpdb->posts} AS story ON story.ID = CAST( entry.meta_value AS UNSIGNED ) WHERE entry.meta_key = 'newsroom_story' AND story.post_type = 'articles' AND story.post_status = 'publish' AND story.post_password = '' AND NOT " . newsroom_restricted_articles_sql( 'story' );
	return "( {$wpdb->posts}.post_type = 'live-entry' AND {$wpdb->posts}.ID NOT IN ( $open ) )";
}

/**
 * Applies filters to searches that would skip them (as get_posts() does), for users who may not read restricted text.
 *
 * @param WP_Query $query Query.
 */
function newsroom_search_filtered( $query ) {
	$words = $query->get( 's' );
	if ( ! is_scalar( $words ) || '' === (string) $words || ! $query->get( 'suppress_filters' ) || wp_doing_cron() || ( defined( 'WP_CLI' ) && WP_CLI ) ) {
		return;
	}
	if ( ! newsroom_asks_with_credentials() ) {
		$query->set( 'suppress_filters', false );
	}
}

/**
 * Makes a search look only into the bodies of open articles, and not at the names of files, which would reveal addresses, for users
 * who may not read restricted text.
 *
 * @param string $sql Part of a query.
 * @return string
 */
function newsroom_search_readable( $sql ) {
	global $wpdb;
	if ( '' === (string) $sql || newsroom_asks_with_credentials() ) {
		return $sql;
	}
	$hidden = array( "{$wpdb->posts}.post_content" => newsroom_restricted_articles_sql( $wpdb->posts ) );
	if ( ! user_can( newsroom_requesting_user(), 'upload_files' ) ) {
		// The column for attachments' file names in WordPress's search queries; see newsroom_is_hidden_file().
		$hidden['sq1.meta_value'] = "{$wpdb->posts}.post_type = 'attachment' AND {$wpdb->posts}.post_mime_type NOT LIKE 'image/%'";
	}
	$columns = implode( '|', array_map( 'preg_quote', array_keys( $hidden ) ) );
	// Strings are skipped, because a search text may look like a column name.
	return (string) preg_replace_callback(
		"/'(?:[^'\\\\]|\\\\.|'')*'|\\b(?:$columns)\\b/s",
		static fn( $found ) => isset( $hidden[ $found[0] ] ) ? "( CASE WHEN {$hidden[ $found[0] ]} THEN '' ELSE {$found[0]} END )" : $found[0],
		$sql
	);
}

/**
 * Makes a search find no entry of a restricted story, whose titles aren't shown either, for users who may not read it.
 *
 * @param string $sql Conditions of the search.
 * @return string
 */
function newsroom_search_open_entries( $sql ) {
	return '' === (string) $sql || newsroom_asks_with_credentials() ? $sql : "$sql AND NOT " . newsroom_restricted_entries_sql();
}

/**
 * Marks a REST list to exclude entries that the user would get without content: their order, and whether a parameter finds them, would
 * reveal their content.
 *
 * @param array $args Arguments of the query.
 * @return array
 */
function newsroom_without_restricted_entries( $args ) {
	if ( ! newsroom_asks_with_credentials() ) {
		$args['newsroom_open_entries'] = true;
	}
	return $args;
}

/**
 * The condition for such a list. Authors still see their own entries.
 *
 * @param string   $where Conditions of the query.
 * @param WP_Query $query Query.
 * @return string
 */
function newsroom_where_entries_are_open( $where, $query ) {
	global $wpdb;
	if ( true !== $query->get( 'newsroom_open_entries' ) ) {
		return $where;
	}
	$user = get_current_user_id();
	$own  = $user ? $wpdb->prepare( " AND {$wpdb->posts}.post_author <> %d", $user ) : '';
	return "$where AND NOT ( " . newsroom_restricted_entries_sql() . "$own )";
}

<?php
/**
 * Adopting: posts become articles, some hundreds in one transaction.
 *
 * The type, the byline and the former addresses change; a post may get the section above its category, and a new slug if another
 * article has its slug. Everything else stays: id, text, dates, comments, pictures, fields.
 *
 * @package Newsroom
 */

if ( ! defined( 'ABSPATH' ) ) {
	exit;
}

/**
 * Posts of one transaction.
 *
 * @return int
 */
function newsroom_adopt_batch_size() {
	/**
	 * Filters how many posts one transaction changes.
	 *
	 * @param int $posts Posts.
	 */
	return max( 1, (int) apply_filters( 'newsroom_adopt_batch_size', 250 ) );
}

/**
 * Condition for the posts that are adopted: all except password-protected ones, which the site couldn't show, and the editor's
 * auto-drafts.
 *
 * @param string $alias Alias of the table in the statement.
 * @return string SQL.
 */
function newsroom_adoptable( $alias = '' ) {
	$at = '' === $alias ? '' : $alias . '.';
	return "{$at}post_type = 'post' AND {$at}post_password = '' AND {$at}post_status <> 'auto-draft'";
}

/**
 * The first of some posts, limited by memory: together their texts have at most 8 MB, or it is a single post. WordPress loads whole
 * posts, and PHP often has 128 MB.
 *
 * @param int[] $ids Posts.
 * @return int[]
 */
function newsroom_ids_within_memory( $ids ) {
	global $wpdb;
	$bytes = array();
	foreach ( $ids ? $wpdb->get_results( "SELECT ID, LENGTH(post_content) AS bytes FROM {$wpdb->posts} WHERE ID IN (" . newsroom_id_list( $ids ) . ')' ) : array() as $row ) { // phpcs:ignore WordPress.DB
		$bytes[ (int) $row->ID ] = (int) $row->bytes;
	}
	$sum = 0;
	foreach ( $ids as $count => $id ) {
		$sum += $bytes[ $id ] ?? 0;
		if ( $count && $sum > 8 * MB_IN_BYTES ) {
			return array_slice( $ids, 0, $count );
		}
	}
	return $ids;
}

/**
 * Adopts one batch.
 *
 * @param array  $plan  See newsroom_adopt_plan().
 * @param string $token The run's token.
 * @return int How many posts it has adopted; 0 when there are no more.
 */
function newsroom_adopt_posts( $plan, $token ) {
	global $wpdb;
	// Public posts come first: of two posts with the same slug, the public one keeps it.
	$posts = array();
	foreach ( array( "post_status = 'publish'", "post_status <> 'publish'" ) as $which ) {
		if ( ! $posts ) {
			$posts = $wpdb->get_results( $wpdb->prepare( "SELECT ID, post_name, post_status, post_author FROM {$wpdb->posts} WHERE $which AND " . newsroom_adoptable() . ' ORDER BY ID LIMIT %d', newsroom_adopt_batch_size() ) ); // phpcs:ignore WordPress.DB
		}
	}
	if ( ! $posts ) {
		return 0;
	}
	$ids   = newsroom_ids_within_memory( array_map( 'intval', wp_list_pluck( $posts, 'ID' ) ) );
	$posts = array_slice( $posts, 0, count( $ids ) );
	_prime_post_caches( $ids, true, true );
	$changes = newsroom_adopt_changes( $posts, $plan );
	newsroom_in_batch(
		$token,
		static function () use ( $changes ) {
			newsroom_write_adoption( $changes );
		}
	);
	newsroom_clear_adopted_post_caches( $ids );
	return count( $posts );
}

/**
 * The changes for some posts.
 *
 * @param object[] $posts Rows.
 * @param array    $plan  See newsroom_adopt_plan().
 * @return array[] By id: `slug` and `new_slug`, `author` (document, 0 for none), `paths`, `terms` (rows of the taxonomy to add).
 */
function newsroom_adopt_changes( $posts, $plan ) {
	newsroom_prime_coauthors( array_map( 'intval', wp_list_pluck( $posts, 'ID' ) ) );
	$authors = newsroom_adopted_authors();
	$slugs   = newsroom_adopt_slugs( $posts );
	$changes = array();
	foreach ( $posts as $row ) {
		$id             = (int) $row->ID;
		$author         = $authors[ (int) $row->post_author ] ?? 0;
		$changes[ $id ] = array(
			'slug'     => $row->post_name,
			'new_slug' => $slugs[ $id ] ?? $row->post_name,
			// A byline in Co-Authors Plus takes precedence over the user who wrote the post in WordPress.
			'author'   => metadata_exists( 'post', $id, 'newsroom_author' ) || array_filter( newsroom_coauthors( $id ) ) ? 0 : $author,
			'paths'    => 'publish' === $row->post_status ? array_diff( newsroom_paths_of( $id ), get_post_meta( $id, '_newsroom_former_path' ) ) : array(),
			'terms'    => newsroom_adopt_terms( $id, $plan ),
		);
	}
	return $changes;
}

/**
 * Paths at which readers found a published post: its permalink, and the same with earlier slugs.
 *
 * @param int $id Post.
 * @return string[] Without a trailing slash; empty if the permalink is `?p=12`, which the site resolves by the id.
 */
function newsroom_paths_of( $id ) {
	$post = get_post( $id );
	$link = get_permalink( $post );
	$path = untrailingslashit( (string) wp_parse_url( (string) $link, PHP_URL_PATH ) );
	if ( '' === $path || null !== wp_parse_url( (string) $link, PHP_URL_QUERY ) ) {
		return array();
	}
	$paths = array( $path );
	$parts = explode( '/', $path );
	$place = array_search( $post->post_name, array_reverse( $parts, true ), true );
	foreach ( false === $place ? array() : get_post_meta( $id, '_wp_old_slug' ) as $slug ) {
		$parts[ $place ] = (string) $slug;
		$paths[]         = implode( '/', $parts );
	}
	return array_values( array_unique( $paths ) );
}

/**
 * Sections that a post gets because its category is assigned to them.
 *
 * @param int   $id   Post.
 * @param array $plan See newsroom_adopt_plan().
 * @return int[] Rows of the taxonomy.
 */
function newsroom_adopt_terms( $id, $plan ) {
	$terms = get_the_terms( $id, 'category' );
	$has   = is_array( $terms ) ? wp_list_pluck( $terms, 'term_id' ) : array();
	$add   = array();
	foreach ( $has as $term_id ) {
		$section = $plan['leads'][ $term_id ] ?? $term_id;
		if ( ! in_array( $section, $has, true ) ) {
			$add[ $section ] = get_term( $section, 'category' )->term_taxonomy_id;
		}
	}
	return array_values( $add );
}

/**
 * New slugs for posts whose slug is used by another article, or by an earlier post of the batch. A draft gets its final slug when it is
 * published.
 *
 * @param object[] $posts Rows.
 * @return array<int,string> By id.
 */
function newsroom_adopt_slugs( $posts ) {
	global $wpdb;
	$names = array_values( array_unique( array_filter( wp_list_pluck( $posts, 'post_name' ), 'strlen' ) ) );
	if ( ! $names ) {
		return array();
	}
	$in    = implode( ',', array_fill( 0, count( $names ), '%s' ) );
	$taken = $wpdb->get_col( $wpdb->prepare( "SELECT post_name FROM {$wpdb->posts} WHERE post_type = 'articles' AND post_name IN ($in)", $names ) ); // phpcs:ignore WordPress.DB
	$taken = array_fill_keys( array_map( 'strtolower', $taken ), true );
	$new   = array();
	$next  = array();
	foreach ( $posts as $post ) {
		$name = strtolower( $post->post_name );
		if ( '' === $name || in_array( $post->post_status, array( 'draft', 'pending', 'trash' ), true ) ) {
			continue;
		}
		if ( isset( $taken[ $name ] ) ) {
			if ( ! isset( $next[ $name ] ) ) {
				$next[ $name ] = 2;
				$taken        += array_fill_keys( array_map( 'strtolower', newsroom_numbered_slugs( $post->post_name ) ), true );
			}
			$new[ (int) $post->ID ] = newsroom_free_slug( $post->post_name, $taken, $next[ $name ] );
			$name                   = strtolower( $new[ (int) $post->ID ] );
		}
		$taken[ $name ] = true;
	}
	return $new;
}

/**
 * Slugs of articles and posts that start with a slug followed by a number. One statement for all of them: a daily column may have
 * thousands of posts with the same slug.
 *
 * @param string $slug Slug.
 * @return string[]
 */
function newsroom_numbered_slugs( $slug ) {
	global $wpdb;
	// A longer one is shortened to make room for the number.
	$start = strlen( $slug ) > 190 ? _truncate_post_slug( $slug, 190 ) : "$slug-";
	return $wpdb->get_col( $wpdb->prepare( "SELECT post_name FROM {$wpdb->posts} WHERE post_type IN ('articles','post') AND post_name LIKE %s", $wpdb->esc_like( $start ) . '%' ) ); // phpcs:ignore WordPress.DB
}

/**
 * The first of `slug-2`, `slug-3`, … that isn't taken.
 *
 * @param string $slug   Slug.
 * @param array  $taken  Slugs of others in lower case, as keys.
 * @param int    $number Number to begin with; the next one afterward.
 * @return string
 */
function newsroom_free_slug( $slug, $taken, &$number ) {
	do {
		$next = _truncate_post_slug( $slug, 200 - strlen( "-$number" ) ) . "-$number";
		++$number;
	} while ( isset( $taken[ strtolower( $next ) ] ) );
	return $next;
}

/**
 * Writes the changes of some posts, the journal first and the type last, because a post of the type `post` counts as not adopted yet.
 *
 * @param array[] $changes See newsroom_adopt_changes().
 */
function newsroom_write_adoption( $changes ) {
	global $wpdb;
	$journal = array();
	$meta    = array();
	$terms   = array();
	foreach ( $changes as $id => $change ) {
		$became    = array(
			'slug'   => $change['new_slug'],
			'author' => $change['author'],
			'terms'  => $change['terms'],
		);
		$journal[] = array( 'post', $id, '', array( 'slug' => $change['slug'] ), $became );
		if ( $change['author'] ) {
			$meta[] = array( $id, 'newsroom_author', (string) $change['author'] );
		}
		foreach ( $change['paths'] as $path ) {
			$meta[] = array( $id, '_newsroom_former_path', $path );
		}
		foreach ( $change['terms'] as $row ) {
			$terms[] = array( $id, $row );
		}
	}
	newsroom_journal( $journal );
	newsroom_insert_rows(
		$wpdb->postmeta,
		array(
			'post_id'    => '%d',
			'meta_key'   => '%s', // phpcs:ignore WordPress.DB.SlowDBQuery
			'meta_value' => '%s', // phpcs:ignore WordPress.DB.SlowDBQuery
		),
		$meta
	);
	newsroom_insert_rows(
		$wpdb->term_relationships,
		array(
			'object_id'        => '%d',
			'term_taxonomy_id' => '%d',
		),
		$terms
	);
	foreach ( $changes as $id => $change ) {
		if ( $change['new_slug'] !== $change['slug'] ) {
			newsroom_write( $wpdb->prepare( "UPDATE {$wpdb->posts} SET post_name = %s WHERE ID = %d", $change['new_slug'], $id ) ); // phpcs:ignore WordPress.DB
		}
	}
	newsroom_write( "UPDATE {$wpdb->posts} SET post_type = 'articles' WHERE post_type = 'post' AND ID IN (" . newsroom_id_list( array_keys( $changes ) ) . ')' );
}

/**
 * Turns one batch of articles back into posts.
 *
 * @param string $token The run's token.
 * @return int How many rows of the journal it has reverted; 0 when there are no more.
 */
function newsroom_restore_posts( $token ) {
	$rows = newsroom_journal_rows( 'post', newsroom_adopt_batch_size() );
	if ( ! $rows ) {
		return 0;
	}
	newsroom_in_batch(
		$token,
		static function () use ( $rows ) {
			newsroom_write_restoration( $rows );
		}
	);
	newsroom_clear_adopted_post_caches( wp_list_pluck( $rows, 'object_id' ) );
	return count( $rows );
}

/**
 * Reverts the adoption, but only values that are still as the adoption left them, so that nothing an editor has done since is
 * lost.
 *
 * @param object[] $rows Rows of the journal.
 */
function newsroom_write_restoration( $rows ) {
	global $wpdb;
	$ids     = wp_list_pluck( $rows, 'object_id' );
	$in      = newsroom_id_list( $ids );
	$authors = array();
	$terms   = array();
	foreach ( $rows as $row ) {
		$authors[ (int) $row->became['author'] ][] = $row->object_id;
		foreach ( $row->became['terms'] as $term ) {
			$terms[ (int) $term ][] = $row->object_id;
		}
		if ( $row->became['slug'] !== $row->was['slug'] ) {
			newsroom_write( $wpdb->prepare( "UPDATE {$wpdb->posts} SET post_name = %s WHERE ID = %d AND post_name = %s", $row->was['slug'], $row->object_id, $row->became['slug'] ) ); // phpcs:ignore WordPress.DB
		}
	}
	newsroom_write( "DELETE FROM {$wpdb->postmeta} WHERE meta_key IN ('_newsroom_former_path','_newsroom_live_slug') AND post_id IN ($in)" );
	unset( $authors[0] );
	foreach ( $authors as $author => $some ) {
		newsroom_write( $wpdb->prepare( "DELETE FROM {$wpdb->postmeta} WHERE meta_key = 'newsroom_author' AND meta_value = %s AND post_id IN (" . newsroom_id_list( $some ) . ')', (string) $author ) ); // phpcs:ignore WordPress.DB
	}
	foreach ( $terms as $term => $some ) {
		newsroom_write( "DELETE FROM {$wpdb->term_relationships} WHERE term_taxonomy_id = " . (int) $term . ' AND object_id IN (' . newsroom_id_list( $some ) . ')' );
	}
	newsroom_write( "UPDATE {$wpdb->posts} SET post_type = 'post' WHERE post_type = 'articles' AND ID IN ($in)" );
	newsroom_journal_forget( wp_list_pluck( $rows, 'id' ) );
}

/**
 * Drops posts from the object cache after SQL has changed them.
 *
 * @param int[] $ids Posts.
 */
function newsroom_clear_adopted_post_caches( $ids ) {
	foreach ( array( 'posts', 'post_meta', 'category_relationships', 'post_tag_relationships', 'post_format_relationships' ) as $group ) {
		wp_cache_delete_multiple( $ids, $group );
	}
	wp_cache_set( 'last_changed', microtime(), 'posts' );
	wp_cache_set( 'last_changed', microtime(), 'terms' );
	foreach ( array( 'post', 'articles' ) as $type ) {
		wp_cache_delete( _count_posts_cache_key( $type ), 'counts' );
		wp_cache_delete( _count_posts_cache_key( $type, 'readable' ), 'counts' );
	}
}

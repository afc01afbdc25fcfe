<?php
/**
 * Adopting: what would happen, as counts and named problems. Changes nothing.
 *
 * @package Newsroom
 */

if ( ! defined( 'ABSPATH' ) ) {
	exit;
}

/** Size in bytes from which a post is reported as long: it may take the site more than a second. */
define( 'NEWSROOM_LONG_POST', 500000 );

/**
 * Reads the posts' texts for some seconds, and continues where the last call ended. The result is stored as an option.
 *
 * @param float $seconds How long.
 * @param bool  $again   Whether to start over.
 * @return array `complete`, `read` (posts so far), `after` (last id), `shortcodes` (name => ids), `long` (ids); of ids at most five, with
 *               their number at the key `count`.
 */
function newsroom_adopt_read( $seconds, $again = false ) {
	global $wpdb;
	$until = microtime( true ) + $seconds;
	$check = $again ? array() : (array) get_option( 'newsroom_adopt_check', array() );
	$check = $check + array(
		'complete'   => false,
		'read'       => 0,
		'after'      => 0,
		'shortcodes' => array(),
		'long'       => array( 'count' => 0 ),
	);
	do {
		$ids   = $wpdb->get_col( "SELECT ID FROM {$wpdb->posts} WHERE ID > " . (int) $check['after'] . ' AND ' . newsroom_adoptable() . ' ORDER BY ID LIMIT 200' ); // phpcs:ignore WordPress.DB
		$ids   = newsroom_ids_within_memory( array_map( 'intval', $ids ) );
		$posts = $ids ? $wpdb->get_results( "SELECT ID, LENGTH(post_content) AS bytes, CASE WHEN post_content LIKE '%[%' THEN post_content ELSE '' END AS content FROM {$wpdb->posts} WHERE ID IN (" . newsroom_id_list( $ids ) . ') ORDER BY ID' ) : array(); // phpcs:ignore WordPress.DB
		foreach ( $posts as $post ) {
			if ( (int) $post->bytes > NEWSROOM_LONG_POST ) {
				newsroom_note_example( $check['long'], (int) $post->ID );
			}
			foreach ( newsroom_unknown_shortcodes( $post->content ) as $name ) {
				$check['shortcodes'] += array( $name => array( 'count' => 0 ) );
				newsroom_note_example( $check['shortcodes'][ $name ], (int) $post->ID );
			}
			$check['after'] = (int) $post->ID;
		}
		$check['read']    += count( $posts );
		$check['complete'] = ! $posts;
	} while ( ! $check['complete'] && microtime( true ) < $until );
	update_option( 'newsroom_adopt_check', $check, false );
	return $check;
}

/**
 * Counts a post, and remembers the first five as examples.
 *
 * @param array $list List with its `count`.
 * @param int   $id   Post.
 */
function newsroom_note_example( &$list, $id ) {
	if ( $list['count']++ < 5 ) {
		$list[] = $id;
	}
}

/**
 * Shortcodes in a text that no active plugin handles. Brackets as editors use them ("[sic]", "[the mayor]") are not shortcodes: a
 * shortcode has an attribute, a closing tag, or a name that isn't a word.
 *
 * @param string $text Text.
 * @return string[] Names, each once.
 */
function newsroom_unknown_shortcodes( $text ) {
	if ( '' === $text || ! preg_match_all( '~(?<!\[)\[(/?)([a-z][\w-]{1,49})(?=[\s\]/])([^\[\]]*)\]~i', $text, $found, PREG_SET_ORDER ) ) {
		return array();
	}
	$names = array();
	foreach ( $found as list( , $end, $name, $rest ) ) {
		if ( ! shortcode_exists( $name ) && ( '' !== $end || false !== strpos( $rest, '=' ) || preg_match( '~/\s*$~', $rest ) || preg_match( '/[_-]/', $name ) ) ) {
			$names[ strtolower( $name ) ] = strtolower( $name );
		}
	}
	return array_values( $names );
}

/**
 * Posts that are adopted, by status, and those that are not.
 *
 * @return array<string,int> Status => posts; `protected`: posts with a password.
 */
function newsroom_adopt_statuses() {
	global $wpdb;
	$counts = array();
	foreach ( $wpdb->get_results( "SELECT post_status AS status, COUNT(*) AS posts FROM {$wpdb->posts} WHERE " . newsroom_adoptable() . ' GROUP BY post_status' ) as $row ) { // phpcs:ignore WordPress.DB
		$counts[ $row->status ] = (int) $row->posts;
	}
	$counts['protected'] = (int) $wpdb->get_var( "SELECT COUNT(*) FROM {$wpdb->posts} WHERE post_type = 'post' AND post_password <> '' AND post_status <> 'auto-draft'" ); // phpcs:ignore WordPress.DB
	return $counts;
}

/**
 * Reports what a run would do.
 *
 * @param array $check See newsroom_adopt_read().
 * @return array `lines`: what happens, in sentences; `problems`: each with `code`, `message`, `ids`; `redirects`: lines for the site's own
 *               list of redirects; `posts`: how many are adopted.
 */
function newsroom_adopt_report( $check ) {
	$statuses   = newsroom_adopt_statuses();
	$posts      = array_sum( $statuses ) - $statuses['protected'];
	$plan       = newsroom_adopt_plan();
	$categories = newsroom_adopt_categories();
	$names      = array();
	foreach ( array_keys( $plan['sections'] ) as $id ) {
		$names[] = newsroom_plain( $categories[ $id ]->name );
	}
	$writers = array_filter( wp_list_pluck( newsroom_adopt_writers(), 'user' ) );
	$shown   = $statuses['publish'] ?? 0;
	$lines   = array(
		/* translators: %s: number. */
		sprintf( _n( '%s post becomes an article.', '%s posts become articles.', $posts, 'newsroom' ), number_format_i18n( $posts ) ),
		/* translators: %s: number. */
		sprintf( _n( '%s user becomes an author.', '%s users become authors.', count( $writers ), 'newsroom' ), number_format_i18n( count( $writers ) ) ),
		/* translators: %s: number. */
		sprintf( _n( '%s category becomes a section', '%s categories become sections', count( $names ), 'newsroom' ), number_format_i18n( count( $names ) ) ) . ( $names ? ': ' . implode( ', ', $names ) : '' ) . '.',
		/* translators: %s: number. */
		sprintf( _n( '%s published permalink is redirected to its article.', '%s published permalinks are redirected to their articles.', $shown, 'newsroom' ), number_format_i18n( $shown ) ),
	);
	return array(
		'posts'     => $posts,
		'lines'     => $lines,
		'problems'  => array_merge( newsroom_adopt_post_problems( $statuses ), newsroom_adopt_other_problems( $plan, $categories ), newsroom_adopt_text_problems( $check ) ),
		'redirects' => newsroom_adopt_redirect_lines( $plan, $categories ),
	);
}

/**
 * A problem.
 *
 * @param string $code    Name.
 * @param int    $count   How many there are.
 * @param string $message Sentence with the count.
 * @param array  $ids     Examples.
 * @return array[] None when there are none.
 */
function newsroom_adopt_problem( $code, $count, $message, $ids = array() ) {
	if ( ! $count ) {
		return array();
	}
	return array(
		array(
			'code'    => $code,
			'count'   => (int) $count,
			'message' => $message,
			'ids'     => array_map( 'intval', $ids ),
		),
	);
}

/**
 * Problems of posts that a database query finds.
 *
 * @param array<string,int> $statuses See newsroom_adopt_statuses().
 * @return array[]
 */
function newsroom_adopt_post_problems( $statuses ) {
	global $wpdb;
	$ids   = static function ( $where ) use ( $wpdb ) {
		return $wpdb->get_col( "SELECT ID FROM {$wpdb->posts} p WHERE $where ORDER BY ID LIMIT 5" ); // phpcs:ignore WordPress.DB
	};
	$count = static function ( $where ) use ( $wpdb ) {
		return (int) $wpdb->get_var( "SELECT COUNT(*) FROM {$wpdb->posts} p WHERE $where" ); // phpcs:ignore WordPress.DB
	};
	$ours  = newsroom_adoptable( 'p' );
	$bare  = "$ours AND NOT EXISTS (SELECT 1 FROM {$wpdb->term_relationships} tr JOIN {$wpdb->term_taxonomy} tt ON tt.term_taxonomy_id = tr.term_taxonomy_id WHERE tr.object_id = p.ID AND tt.taxonomy = 'category')";
	$alone = "$ours AND NOT EXISTS (SELECT 1 FROM {$wpdb->users} u WHERE u.ID = p.post_author)";
	$named = "post_name <> '' AND post_status NOT IN ('draft','pending','trash') AND (post_type = 'articles' OR (" . newsroom_adoptable() . '))';
	$same  = $wpdb->get_results( "SELECT MAX(CASE WHEN post_type = 'post' THEN ID ELSE 0 END) AS id, COUNT(*) AS posts FROM {$wpdb->posts} WHERE $named GROUP BY post_name HAVING COUNT(*) > 1" ); // phpcs:ignore WordPress.DB

	$twice         = array_sum( wp_list_pluck( $same, 'posts' ) ) - count( $same );
	$uncategorized = $count( $bare );
	$authorless    = $count( $alone );
	return array_merge(
		/* translators: %s: number of posts. */
		newsroom_adopt_problem( 'duplicate-slugs', $twice, sprintf( _n( '%s post has the same slug as another post. A number is added to its slug; its old permalink still redirects.', '%s posts have the same slug as another post. A number is added to each slug; their old permalinks still redirect.', $twice, 'newsroom' ), number_format_i18n( $twice ) ), array_slice( wp_list_pluck( $same, 'id' ), 0, 5 ) ),
		/* translators: %s: number of posts. */
		newsroom_adopt_problem( 'no-category', $uncategorized, sprintf( _n( '%s post has no category, so its article won’t be in any section.', '%s posts have no category, so their articles won’t be in any section.', $uncategorized, 'newsroom' ), number_format_i18n( $uncategorized ) ), $ids( $bare ) ),
		newsroom_adopt_status_problems( $statuses, $ids, $ours ),
		/* translators: %s: number of posts. */
		newsroom_adopt_problem( 'author-deleted', $authorless, sprintf( _n( '%s post is by a deleted user. Its article won’t have a byline.', '%s posts are by deleted users. Their articles won’t have a byline.', $authorless, 'newsroom' ), number_format_i18n( $authorless ) ), $ids( $alone ) )
	);
}

/**
 * Problems of posts that aren't simply published.
 *
 * @param array<string,int> $statuses See newsroom_adopt_statuses().
 * @param callable          $ids      Ids of examples of a condition.
 * @param string            $ours     Condition of the posts that are adopted.
 * @return array[]
 */
function newsroom_adopt_status_problems( $statuses, $ids, $ours ) {
	$of        = static fn( ...$names ) => array_sum( array_intersect_key( $statuses, array_flip( $names ) ) );
	$protected = $of( 'protected' );
	$private   = $of( 'private' );
	$drafts    = $of( 'draft', 'pending' );
	$scheduled = $of( 'future' );
	$trashed   = $of( 'trash' );
	$other     = array_sum( array_diff_key( $statuses, array_flip( array( 'publish', 'protected', 'private', 'draft', 'pending', 'future', 'trash' ) ) ) );
	return array_merge(
		/* translators: %s: number of posts. */
		newsroom_adopt_problem( 'protected', $protected, sprintf( _n( '%s post is password-protected. It stays a post, because the site can’t show it.', '%s posts are password-protected. They stay posts, because the site can’t show them.', $protected, 'newsroom' ), number_format_i18n( $protected ) ), $ids( "p.post_type = 'post' AND p.post_password <> '' AND p.post_status <> 'auto-draft'" ) ),
		/* translators: %s: number of posts. */
		newsroom_adopt_problem( 'private', $private, sprintf( _n( '%s private post becomes a private article. The site never shows it.', '%s private posts become private articles. The site never shows them.', $private, 'newsroom' ), number_format_i18n( $private ) ), $ids( "$ours AND p.post_status = 'private'" ) ),
		/* translators: %s: number of drafts. */
		newsroom_adopt_problem( 'drafts', $drafts, sprintf( _n( '%s draft becomes a draft article.', '%s drafts become draft articles.', $drafts, 'newsroom' ), number_format_i18n( $drafts ) ) ),
		/* translators: %s: number of posts. */
		newsroom_adopt_problem( 'scheduled', $scheduled, sprintf( _n( '%s scheduled post becomes an article and is still published on schedule.', '%s scheduled posts become articles and are still published on schedule.', $scheduled, 'newsroom' ), number_format_i18n( $scheduled ) ) ),
		/* translators: %s: number of posts. */
		newsroom_adopt_problem( 'trash', $trashed, sprintf( _n( '%s post in the trash becomes an article in the trash.', '%s posts in the trash become articles in the trash.', $trashed, 'newsroom' ), number_format_i18n( $trashed ) ) ),
		/* translators: %s: number of posts. */
		newsroom_adopt_problem( 'other-statuses', $other, sprintf( _n( '%s post has a status from another plugin and keeps it.', '%s posts have a status from another plugin and keep it.', $other, 'newsroom' ), number_format_i18n( $other ) ) )
	);
}

/**
 * Problems of categories, users and settings.
 *
 * @param array     $plan       See newsroom_adopt_plan().
 * @param WP_Term[] $categories By id.
 * @return array[]
 */
function newsroom_adopt_other_problems( $plan, $categories ) {
	$outside = array();
	foreach ( array_diff( array_keys( newsroom_adopt_category_counts( $categories ) ), array_keys( $plan['leads'] ) ) as $id ) {
		$outside[] = newsroom_plain( $categories[ $id ]->name );
	}
	$joined = array();
	foreach ( $plan['joined'] as $id => $section ) {
		$joined[] = newsroom_plain( $categories[ $id ]->name );
	}
	$mailed = 0;
	$hidden = 0;
	foreach ( newsroom_adopt_writers() as $writer ) {
		$mailed += $writer->user && is_email( $writer->user->display_name ) ? 1 : 0;
		$hidden += $writer->user && ! $writer->shown ? 1 : 0;
	}
	$sections = count( $plan['sections'] ) > 12 ? count( $plan['sections'] ) : 0;
	return array_merge(
		/* translators: 1: number of categories, 2: their names. */
		newsroom_adopt_problem( 'same-name', count( $joined ), sprintf( _n( '%1$s category has the same name as a section. Its posts are also added to that section: %2$s.', '%1$s categories have the same names as sections. Their posts are also added to those sections: %2$s.', count( $joined ), 'newsroom' ), number_format_i18n( count( $joined ) ), implode( ', ', $joined ) ) ),
		/* translators: 1: number of categories, 2: their names. */
		newsroom_adopt_problem( 'no-section', count( $outside ), sprintf( _n( '%1$s category with posts doesn’t become a section: %2$s. Articles that are only in this category won’t be in any section.', '%1$s categories with posts don’t become sections: %2$s. Articles that are only in these categories won’t be in any section.', count( $outside ), 'newsroom' ), number_format_i18n( count( $outside ) ), implode( ', ', $outside ) ) ),
		/* translators: %s: number of sections, always more than twelve. */
		newsroom_adopt_problem( 'many-sections', $sections, sprintf( _n( '%s section is too many for the navigation. After adopting, clear “Navigation position” for some of them under Articles → Categories.', '%s sections are too many for the navigation. After adopting, clear “Navigation position” for some of them under Articles → Categories.', $sections, 'newsroom' ), number_format_i18n( $sections ) ) ),
		/* translators: %s: number of users. */
		newsroom_adopt_problem( 'email-names', $mailed, sprintf( _n( '%s user has an email address as a display name. Change it first, because it becomes a byline.', '%s users have email addresses as display names. Change them first, because they become bylines.', $mailed, 'newsroom' ), number_format_i18n( $mailed ) ) ),
		/* translators: %s: number of users. */
		newsroom_adopt_problem( 'hidden-authors', $hidden, sprintf( _n( '%s user has no published posts. The author is a draft until you publish it.', '%s users have no published posts. Their authors are drafts until you publish them.', $hidden, 'newsroom' ), number_format_i18n( $hidden ) ) ),
		newsroom_adopt_problem( 'plain-permalinks', '' === (string) get_option( 'permalink_structure' ) ? 1 : 0, __( 'Permalinks are plain, so the site can’t read WordPress. Choose "Post name" under Settings → Permalinks; addresses such as ?p=12 still redirect.', 'newsroom' ) )
	);
}

/**
 * Problems of texts.
 *
 * @param array $check See newsroom_adopt_read().
 * @return array[]
 */
function newsroom_adopt_text_problems( $check ) {
	$long = $check['long']['count'];
	/* translators: %s: number of posts. */
	$problems = newsroom_adopt_problem( 'long-texts', $long, sprintf( _n( '%s post is larger than 500 kB. It’s adopted, but the site needs more time for it.', '%s posts are larger than 500 kB. They’re adopted, but the site needs more time for them.', $long, 'newsroom' ), number_format_i18n( $long ) ), newsroom_example_ids( $check['long'] ) );
	foreach ( $check['shortcodes'] as $name => $found ) {
		/* translators: 1: number of posts, 2: a shortcode in brackets. */
		$message  = sprintf( _n( '%1$s post has the shortcode %2$s, which no active plugin handles. Readers would see it as text.', '%1$s posts have the shortcode %2$s, which no active plugin handles. Readers would see it as text.', $found['count'], 'newsroom' ), number_format_i18n( $found['count'] ), '[' . $name . ']' );
		$problems = array_merge( $problems, newsroom_adopt_problem( 'unknown-shortcodes', $found['count'], $message, newsroom_example_ids( $found ) ) );
	}
	return $problems;
}

/**
 * Ids of a list with its `count`.
 *
 * @param array $list See newsroom_note_example().
 * @return int[]
 */
function newsroom_example_ids( $list ) {
	unset( $list['count'] );
	return array_values( $list );
}

/**
 * Lines for the site's list of redirects (REDIRECTS_FILE), for addresses that the site can't know: permalink bases other than
 * WordPress's own, and categories that were merged with a section.
 *
 * @param array     $plan       See newsroom_adopt_plan().
 * @param WP_Term[] $categories By id.
 * @return string[]
 */
function newsroom_adopt_redirect_lines( $plan, $categories ) {
	global $wp_rewrite;
	$home  = untrailingslashit( (string) wp_parse_url( home_url(), PHP_URL_PATH ) );
	$lines = array();
	foreach ( array( 'category' => $wp_rewrite->get_category_permastruct(), 'author' => $wp_rewrite->get_author_permastruct() ) as $name => $structure ) { // phpcs:ignore WordPress.Arrays
		$base = $structure ? $home . '/' . ltrim( (string) strtok( $structure, '%' ), '/' ) : "/$name/";
		if ( "/$name/" !== $base ) {
			$lines[] = $base . "* /$name/*";
		}
	}
	foreach ( $plan['joined'] as $id => $section ) {
		$lines[] = '/category/' . $categories[ $id ]->slug . ' /section/' . $categories[ $section ]->slug;
		$lines[] = '/category/' . $categories[ $id ]->slug . '/* /section/' . $categories[ $section ]->slug;
	}
	$lines[] = $home . '/feed /rss.xml';
	return $lines;
}

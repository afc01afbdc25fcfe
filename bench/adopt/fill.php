<?php
/**
 * Fills a fresh WordPress with posts like those that years of use and imports leave behind. Run inside WordPress, with the
 * number of posts as $count.
 *
 * @package Newsroom
 */

/**
 * Inserts rows, several hundred per statement.
 *
 * @param string  $table Table.
 * @param array[] $rows  Column => value.
 */
function fill_rows( $table, $rows ) {
	global $wpdb;
	foreach ( array_chunk( $rows, 100 ) as $some ) {
		$values = array();
		foreach ( $some as $row ) {
			$values[] = "('" . implode( "','", array_map( array( $wpdb, '_real_escape' ), $row ) ) . "')";
		}
		$sql = "INSERT INTO $table (" . implode( ',', array_keys( $some[0] ) ) . ') VALUES ' . implode( ',', $values );
		if ( false === $wpdb->query( $wpdb->remove_placeholder_escape( $sql ) ) ) {
			throw new RuntimeException( $wpdb->last_error );
		}
	}
}

/**
 * Users who write, one who doesn't, and one whose account is deleted at the end.
 *
 * @return int[]
 */
function fill_users() {
	$ids = array();
	for ( $n = 1; $n <= 40; $n++ ) {
		$name  = array( 'Ada O’Vale', 'Zoë Ångström', 'Bo 🗞️ Lin', 'שירה כהן' )[ $n % 4 ] . " $n";
		$ids[] = wp_insert_user(
			array(
				'user_login'   => "writer$n",
				'user_pass'    => "x$n",
				'user_email'   => "writer$n@example.invalid",
				'display_name' => $name,
				'description'  => "Writes about rivers. 🌊 $n",
				'role'         => 'author',
			)
		);
	}
	return $ids;
}

/**
 * Four top-level categories, each with two children, each of which has three.
 *
 * @return array<int,int> Taxonomy rows; the default category's is the first.
 */
function fill_categories() {
	$rows = array( (int) get_term( get_option( 'default_category' ) )->term_taxonomy_id );
	$add  = static function ( $name, $parent ) use ( &$rows ) {
		$term   = wp_insert_term( $name, 'category', array( 'parent' => $parent ) );
		$rows[] = (int) $term['term_taxonomy_id'];
		return $term['term_id'];
	};
	foreach ( array( 'News 📰', 'Sport & more', 'Culture', 'Wirtschaft für alle' ) as $first ) {
		$one = $add( $first, 0 );
		for ( $a = 1; $a <= 2; $a++ ) {
			$two = $add( "$first $a", $one );
			for ( $b = 1; $b <= 3; $b++ ) {
				$add( "$first $a.$b", $two );
			}
		}
	}
	return $rows;
}

/**
 * A post's slug. Posts of different years share slugs, which WordPress allows if permalinks contain dates.
 *
 * @param int $n Number of the post.
 * @return string
 */
function fill_slug( $n ) {
	if ( 0 === $n % 20 ) {
		return 'weekly-report';
	}
	if ( 0 === $n % 33 ) {
		return sanitize_title( "Storm 🌪️ warning $n" );
	}
	if ( 0 === $n % 47 ) {
		return sanitize_title( "שלום עולם $n" );
	}
	if ( 0 === $n % 53 ) {
		return ( $n % 2 ? 'café-no' : 'cafe-no' );
	}
	if ( 0 === $n % 101 ) {
		// Some importers leave slugs unencoded.
		return ( $n % 2 ? '😀' : '😂' ) . '-raw';
	}
	if ( 0 === $n % 97 ) {
		return str_repeat( 'very-long-slug-', 13 ) . 'endin';
	}
	return ( 0 === $n % 59 ? 'STORY-' : 'story-' ) . intdiv( $n, 3 ) * 3 . ( 0 === $n % 7 ? '' : "-$n" );
}

/**
 * A post's status and password.
 *
 * @param int $n Number of the post.
 * @return string[]
 */
function fill_status( $n ) {
	$of = array( 'draft', 'draft', 'draft', 'draft', 'pending', 'future', 'private', 'private', 'trash', 'protected' );
	$at = $n % 100;
	if ( ! isset( $of[ $at ] ) ) {
		return array( 'publish', '' );
	}
	return 'protected' === $of[ $at ] ? array( 'publish', 'sesame' ) : array( $of[ $at ], '' );
}

/**
 * A row of the table of posts.
 *
 * @param int    $id   Id.
 * @param string $type Type.
 * @param array  $more Column => value.
 * @return array
 */
function fill_post( $id, $type, $more ) {
	$time = gmmktime( 6, 0, 0, 1, 1, 2004 ) + ( $id % 100000 ) * 7 * HOUR_IN_SECONDS;
	$row  = array(
		'ID'                    => $id,
		'post_author'           => 1,
		'post_date'             => gmdate( 'Y-m-d H:i:s', $time ),
		'post_date_gmt'         => gmdate( 'Y-m-d H:i:s', $time + 5 * HOUR_IN_SECONDS ),
		'post_modified'         => gmdate( 'Y-m-d H:i:s', $time + DAY_IN_SECONDS ),
		'post_modified_gmt'     => gmdate( 'Y-m-d H:i:s', $time + DAY_IN_SECONDS + 5 * HOUR_IN_SECONDS ),
		'post_content'          => '',
		'post_title'            => '',
		'post_excerpt'          => '',
		'post_status'           => 'publish',
		'post_password'         => '',
		'post_name'             => '',
		'to_ping'               => '',
		'pinged'                => '',
		'post_content_filtered' => '',
		'post_parent'           => 0,
		'guid'                  => "http://127.0.0.1/?p=$id",
		'post_type'             => $type,
		'post_mime_type'        => '',
	);
	return array_merge( $row, $more );
}

/**
 * Posts with their revisions, pictures, comments, fields and categories.
 *
 * @param int   $count      Posts.
 * @param int[] $users      Users.
 * @param int[] $categories Rows of the taxonomy.
 */
function fill_posts( $count, $users, $categories ) {
	global $wpdb;
	$text   = str_repeat( "<!-- wp:paragraph -->\n<p>The river rose 🌊 overnight, “quoted” \\ back, and the mayor [sic] waited for the bridge to open again.</p>\n<!-- /wp:paragraph -->\n\n", 45 );
	$tables = array(
		'posts'              => array(),
		'postmeta'           => array(),
		'comments'           => array(),
		'term_relationships' => array(),
	);
	$meta   = static function ( $id, $key, $value ) use ( &$tables ) {
		$tables['postmeta'][] = array( 'post_id' => $id, 'meta_key' => $key, 'meta_value' => $value ); // phpcs:ignore
	};
	for ( $n = 1; $n <= $count; $n++ ) {
		$id                       = 1000 + $n;
		list( $status, $password ) = fill_status( $n );
		$draft                    = in_array( $status, array( 'draft', 'pending' ), true );
		$zero                     = array( 'post_date_gmt' => '0000-00-00 00:00:00' );
		$when                     = 'future' === $status ? gmdate( 'Y-m-d H:i:s', time() + $n * HOUR_IN_SECONDS ) : '';
		$tables['posts'][]        = fill_post(
			$id,
			'post',
			( $draft ? $zero : array() ) + ( $when ? array( 'post_date' => $when, 'post_date_gmt' => $when ) : array() ) + array(
				'post_author'   => 0 === $n % 89 ? 99999 : $users[ ( $n * 7 ) % 39 ],
				'post_content'  => $text . ( 0 === $n % 11 ? '[old_form id="3"]' : '' ),
				'post_title'    => "Story 🗞️ $n: “the bridge”",
				'post_excerpt'  => 0 === $n % 2 ? "In short $n" : '',
				'post_status'   => $status,
				'post_password' => $password,
				'post_name'     => $draft && $n % 2 ? '' : fill_slug( $n ) . ( 'trash' === $status ? '__trashed' : '' ),
			)
		);
		if ( 0 === $n % 2 ) {
			$tables['posts'][] = fill_post( 1000000 + $n, 'revision', array( 'post_parent' => $id, 'post_content' => $text, 'post_name' => "$id-revision-v1", 'post_status' => 'inherit' ) );
		}
		if ( 0 === $n % 5 ) {
			$tables['posts'][] = fill_post( 2000000 + $n, 'attachment', array( 'post_parent' => $id, 'post_name' => "picture-$n", 'post_status' => 'inherit', 'post_mime_type' => 'image/jpeg' ) );
			$meta( $id, '_thumbnail_id', (string) ( 2000000 + $n ) );
			$meta( 2000000 + $n, '_wp_attached_file', "2024/05/picture-$n.jpg" );
		}
		if ( 0 === $n % 3 ) {
			$tables['comments'][] = array( 'comment_post_ID' => $id, 'comment_author' => 'A Reader', 'comment_content' => "Well said. 👍 $n" );
		}
		if ( 0 === $n % 13 ) {
			$meta( $id, '_wp_old_slug', "earlier-$n" );
		}
		$meta( $id, '_edit_last', '1' );
		$meta( $id, 'mood', 'a:1:{i:0;s:4:"🙂";}' );
		if ( 0 !== $n % 71 ) {
			$tables['term_relationships'][] = array( 'object_id' => $id, 'term_taxonomy_id' => $categories[ ( $n * 5 ) % count( $categories ) ] );
		}
		if ( 0 === $n % 500 || $n === $count ) {
			foreach ( $tables as $name => $rows ) {
				if ( $rows ) {
					fill_rows( $wpdb->$name, $rows );
				}
				$tables[ $name ] = array();
			}
		}
	}
}

$users      = fill_users();
$categories = fill_categories();
$structure  = getenv( 'ADOPT_PERMALINKS' ) ? getenv( 'ADOPT_PERMALINKS' ) : '/%year%/%monthnum%/%postname%/';
$GLOBALS['wp_rewrite']->set_permalink_structure( $structure );
fill_posts( $count, $users, $categories );
update_option( 'sticky_posts', array( 1020, 1040, 1060 ) );
wp_cache_flush();
wp_update_term_count_now( $categories, 'category' );
flush_rewrite_rules();

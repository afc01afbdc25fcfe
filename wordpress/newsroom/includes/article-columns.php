<?php
/**
 * The list of articles: columns for the byline and for who may read an article, each with a filter, for tests of headlines, and for live
 * coverage.
 *
 * @package Newsroom
 */

if ( ! defined( 'ABSPATH' ) ) {
	exit;
}

add_filter( 'manage_articles_posts_columns', 'newsroom_article_columns' );
add_filter( 'default_hidden_columns', 'newsroom_hidden_article_columns', 10, 2 );
add_action( 'manage_articles_posts_custom_column', 'newsroom_article_column', 10, 2 );
add_action( 'restrict_manage_posts', 'newsroom_article_filters' );
add_action( 'pre_get_posts', 'newsroom_filter_articles' );
add_filter( 'the_posts', 'newsroom_prime_articles', 10, 2 );

/**
 * Adds the columns: after the title, and the live state before the date.
 *
 * @param array $columns Columns.
 * @return array
 */
function newsroom_article_columns( $columns ) {
	$all  = array();
	$live = array( 'newsroom_live' => __( 'Live', 'newsroom' ) );
	foreach ( $columns as $key => $label ) {
		$all += 'date' === $key ? $live : array();

		$all[ $key ] = $label;
		if ( 'title' === $key ) {
			$all['newsroom_byline'] = __( 'Byline', 'newsroom' );
			$all['newsroom_access'] = __( 'Who may read it', 'newsroom' );
			$all['newsroom_test']   = __( 'Test', 'newsroom' );
		}
	}
	return $all + $live;
}

/**
 * Hides columns that editors rarely need, until they choose otherwise under Screen Options: the user who created the article, who is easily
 * mistaken for its author, and its tags.
 *
 * @param string[]  $hidden Columns.
 * @param WP_Screen $screen Screen.
 * @return string[]
 */
function newsroom_hidden_article_columns( $hidden, $screen ) {
	return 'edit-articles' === $screen->id ? array_merge( $hidden, array( 'author', 'tags' ) ) : $hidden;
}

/**
 * Address of the list with one filter.
 *
 * @param string     $name  Name of the filter.
 * @param int|string $value Value.
 * @return string
 */
function newsroom_filtered_list( $name, $value ) {
	return add_query_arg(
		array(
			'post_type' => 'articles',
			$name       => $value,
		),
		admin_url( 'edit.php' )
	);
}

/**
 * Prints one cell.
 *
 * @param string $column Column.
 * @param int    $id     Article.
 */
function newsroom_article_column( $column, $id ) {
	if ( 'newsroom_access' === $column ) {
		$level  = newsroom_access_of( get_post( $id ) );
		$levels = newsroom_access_levels();
		printf( '<a href="%1$s">%2$s</a>', esc_url( newsroom_filtered_list( 'newsroom_access', $level ) ), esc_html( $levels[ $level ] ) );
	} elseif ( 'newsroom_byline' === $column ) {
		newsroom_byline_cell( $id );
	} elseif ( 'newsroom_test' === $column ) {
		newsroom_headline_test_cell( $id );
	} elseif ( 'newsroom_live' === $column ) {
		newsroom_live_cell( $id );
	}
}

/**
 * Prints the byline of an article: the names link to the articles of each.
 *
 * @param int $id Article.
 */
function newsroom_byline_cell( $id ) {
	$link   = static fn( $author ) => sprintf( '<a href="%1$s">%2$s</a>', esc_url( newsroom_filtered_list( 'newsroom_byline', $author ) ), esc_html( newsroom_author_label( $author ) ) );
	$names  = array_map( $link, newsroom_author_ids( $id ) );
	$agency = newsroom_sanitize_line( get_post_meta( $id, 'newsroom_agency', true ) );
	if ( '' !== $agency ) {
		$names[] = esc_html( $agency );
	}
	$helped = array_map( $link, newsroom_contributor_ids( $id ) );
	if ( ! $names && ! $helped ) {
		echo '<span aria-hidden="true">—</span><span class="screen-reader-text">' . esc_html__( 'No byline', 'newsroom' ) . '</span>';
		return;
	}
	echo implode( ', ', $names ); // phpcs:ignore WordPress.Security.EscapeOutput -- escaped where they are made.
	if ( $helped ) {
		/* translators: %s: names of contributors. */
		printf( '<br><span class="description">' . esc_html__( 'With reporting by %s', 'newsroom' ) . '</span>', implode( ', ', $helped ) ); // phpcs:ignore WordPress.Security.EscapeOutput -- escaped where they are made.
	}
}

/**
 * A filter of the list as asked for.
 *
 * @param string $name Name of the filter.
 * @return string '' for none.
 */
function newsroom_asked_filter( $name ) {
	return isset( $_GET[ $name ] ) && is_string( $_GET[ $name ] ) ? sanitize_key( wp_unslash( $_GET[ $name ] ) ) : ''; // phpcs:ignore WordPress.Security.NonceVerification
}

/**
 * Prints the filters above the list. There may be a thousand authors, so the menu offers only the author who was clicked on,
 * and all.
 *
 * @param string $type Post type.
 */
function newsroom_article_filters( $type ) {
	if ( 'articles' !== $type ) {
		return;
	}
	$author = (int) newsroom_asked_filter( 'newsroom_byline' );
	if ( $author ) {
		$options = array(
			''      => __( 'All bylines', 'newsroom' ),
			$author => newsroom_author_label( $author ),
		);
		newsroom_article_filter( 'byline', __( 'Filter by byline', 'newsroom' ), $author, $options );
	}
	$options = array( '' => __( 'All access levels', 'newsroom' ) ) + newsroom_access_levels();
	newsroom_article_filter( 'access', __( 'Filter by who may read it', 'newsroom' ), newsroom_asked_filter( 'newsroom_access' ), $options );
}

/**
 * Prints a filter.
 *
 * @param string                   $name    Name, without the prefix.
 * @param string                   $label   Label.
 * @param int|string               $chosen  Value.
 * @param array<int|string,string> $options Labels by value.
 */
function newsroom_article_filter( $name, $label, $chosen, $options ) {
	printf( '<label class="screen-reader-text" for="newsroom-filter-%1$s">%2$s</label><select name="newsroom_%1$s" id="newsroom-filter-%1$s">%3$s</select>', esc_attr( $name ), esc_html( $label ), newsroom_options( $options, $chosen ) ); // phpcs:ignore WordPress.Security.EscapeOutput -- escaped where it is made.
}

/**
 * Whether a query is that of the list of articles.
 *
 * @param WP_Query $query Query.
 * @return bool
 */
function newsroom_is_article_list( $query ) {
	global $pagenow;
	return is_admin() && 'edit.php' === $pagenow && $query->is_main_query() && 'articles' === $query->get( 'post_type' );
}

/**
 * Applies the filters.
 *
 * @param WP_Query $query Query.
 */
function newsroom_filter_articles( $query ) {
	if ( ! newsroom_is_article_list( $query ) ) {
		return;
	}
	$conditions = array_filter( (array) $query->get( 'meta_query' ) );
	$author     = (int) newsroom_asked_filter( 'newsroom_byline' );
	$level      = newsroom_asked_filter( 'newsroom_access' );
	if ( $author ) {
		$conditions[] = newsroom_people_query( $author );
	}
	if ( array_key_exists( $level, newsroom_access_levels() ) ) {
		$is           = array(
			'key'   => 'newsroom_access',
			'value' => $level,
		);
		$conditions[] = 'default' !== $level ? $is : array(
			'relation' => 'OR',
			$is,
			array(
				'key'     => 'newsroom_access',
				'compare' => 'NOT EXISTS',
			),
		);
	}
	if ( $conditions ) {
		$query->set( 'meta_query', $conditions );
	}
}

/**
 * Reads the authors of the whole list in one query.
 *
 * @param WP_Post[] $posts Posts.
 * @param WP_Query  $query Query.
 * @return WP_Post[]
 */
function newsroom_prime_articles( $posts, $query ) {
	if ( $posts && newsroom_is_article_list( $query ) ) {
		newsroom_prime_authors( wp_list_pluck( $posts, 'ID' ) );
	}
	return $posts;
}

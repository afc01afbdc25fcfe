<?php
/**
 * The box of the front page: which stories lead, in which order, and how the first one is shown.
 *
 * @package Newsroom
 */

if ( ! defined( 'ABSPATH' ) ) {
	exit;
}

add_action( 'admin_enqueue_scripts', 'newsroom_top_stories_script' );
add_filter( 'use_block_editor_for_post', 'newsroom_top_stories_editor', 10, 2 );

/**
 * Whether a post holds the stories that lead the front page.
 *
 * @param WP_Post|null $post Post.
 * @return bool
 */
function newsroom_is_top_stories( $post ) {
	return $post instanceof WP_Post && 'page' === $post->post_type && 'top-stories-2' === $post->post_name;
}

/**
 * Opens the front page's document without the block editor: it has no text, and the block editor would offer a pattern and
 * collapse the box.
 *
 * @param bool    $use  Whether the block editor is used.
 * @param WP_Post $post Post.
 * @return bool
 */
function newsroom_top_stories_editor( $use, $post ) {
	return $use && ! newsroom_is_top_stories( $post );
}

/**
 * Loads the script of the box where it is shown.
 *
 * @param string $screen Screen.
 */
function newsroom_top_stories_script( $screen ) {
	if ( 'post.php' === $screen && newsroom_is_top_stories( get_post() ) ) {
		newsroom_picker_script();
	}
}

/**
 * Prints the box.
 *
 * @param WP_Post $post The page `top-stories-2`.
 */
function newsroom_top_stories_box( $post ) {
	wp_nonce_field( 'newsroom_fields_' . $post->ID, 'newsroom_fields_nonce' );
	$acf = array();
	foreach ( array_keys( newsroom_field_names( $post ) ) as $name ) {
		if ( newsroom_acf_has( $name, $post->ID ) ) {
			$acf[] = $name;
			newsroom_acf_note( $name );
		}
	}
	if ( ! in_array( 'top_articles', $acf, true ) ) {
		echo '<input type="hidden" name="newsroom_top_stories_shown" value="1">';
		newsroom_top_articles_control( newsroom_sanitize_ids( get_post_meta( $post->ID, 'newsroom_top_articles', true ) ) );
	}
	if ( ! in_array( 'breaking', $acf, true ) ) {
		newsroom_flag_control( 'newsroom_breaking', __( 'The first story is breaking news', 'newsroom' ), $post->ID );
	}
	if ( ! in_array( 'featured_excerpt', $acf, true ) ) {
		newsroom_print_textarea( 'newsroom_featured_excerpt', __( 'Text under the lead headline', 'newsroom' ), get_post_meta( $post->ID, 'newsroom_featured_excerpt', true ), __( 'Leave empty to show the article’s excerpt. For bullets, write one per line.', 'newsroom' ), array( 'rows' => 4 ) );
	}
	if ( ! in_array( 'bulleted_featured_excerpt', $acf, true ) ) {
		newsroom_flag_control( 'newsroom_bulleted', __( 'Show this text as bullets', 'newsroom' ), $post->ID );
	}
}

/**
 * Prints a checkbox. A hidden field sends the value of an empty one.
 *
 * @param string $key   Meta key.
 * @param string $label Label.
 * @param int    $id    Post.
 */
function newsroom_flag_control( $key, $label, $id ) {
	printf(
		'<p><input type="hidden" name="%1$s" value="0"><label><input type="checkbox" name="%1$s" value="1"%2$s> %3$s</label></p>',
		esc_attr( $key ),
		checked( '1', newsroom_sanitize_flag( get_post_meta( $id, $key, true ) ), false ),
		esc_html( $label )
	);
}

/**
 * Prints the ordered list of the front page's stories.
 *
 * @param int[] $ids Articles.
 */
function newsroom_top_articles_control( $ids ) {
	$titles = array();
	foreach ( $ids as $id ) {
		$article = get_post( $id );
		if ( ! $article || 'articles' !== $article->post_type ) {
			continue;
		}
		$titles[ $id ] = newsroom_plain( $article->post_title );
		if ( ! newsroom_is_visible( $article ) ) {
			/* translators: %s: title of an article. */
			$titles[ $id ] = sprintf( __( '%s (not published)', 'newsroom' ), $titles[ $id ] );
		}
	}
	newsroom_picker(
		array(
			'field'   => 'newsroom_top_articles',
			'route'   => 'articles',
			'heading' => __( 'Top stories; the first one leads', 'newsroom' ),
			'search'  => __( 'Find an article by its title', 'newsroom' ),
			'none'    => __( 'No published article found.', 'newsroom' ),
		),
		$titles
	);
}

<?php
/**
 * Values of fields. If Advanced Custom Fields is active and has a field of the same name, its value takes precedence; otherwise
 * the plugin's own meta counts.
 *
 * @package Newsroom
 */

if ( ! defined( 'ABSPATH' ) ) {
	exit;
}

/**
 * Names of a type's fields in `acf`, each with the plugin's own meta key.
 *
 * @param WP_Post $post Post.
 * @return array<string,string> Field name => meta key.
 */
function newsroom_field_names( $post ) {
	switch ( $post->post_type ) {
		case 'articles':
		case 'live-entry':
			return array( 'author' => 'newsroom_author' );
		case 'video':
			return array(
				'author'    => 'newsroom_author',
				'video_url' => 'newsroom_video_url',
			);
		case 'crosswords':
			return array(
				'author' => 'newsroom_author',
				'iframe' => 'newsroom_iframe',
			);
		case 'page':
			return newsroom_is_top_stories( $post )
				? array(
					'top_articles'              => 'newsroom_top_articles',
					'breaking'                  => 'newsroom_breaking',
					'featured_excerpt'          => 'newsroom_featured_excerpt',
					'bulleted_featured_excerpt' => 'newsroom_bulleted',
				)
				: array();
		default:
			return array();
	}
}

/**
 * Whether Advanced Custom Fields has a field for a post.
 *
 * @param string $name Field name.
 * @param int    $id   Post.
 * @return bool
 */
function newsroom_acf_has( $name, $id ) {
	if ( ! function_exists( 'get_field' ) ) {
		return false;
	}
	if ( function_exists( 'get_field_object' ) ) {
		return (bool) get_field_object( $name, $id, false, false );
	}
	return null !== get_field( $name, $id, false );
}

/**
 * Raw value of a field.
 *
 * @param string $name Field name.
 * @param string $key  The plugin's own meta key.
 * @param int    $id   Post.
 * @return mixed
 */
function newsroom_field_value( $name, $key, $id ) {
	return newsroom_acf_has( $name, $id ) ? get_field( $name, $id, false ) : get_post_meta( $id, $key, true );
}

/**
 * The post id in a field's value: an id, a post, an array with an id, or a list of one of these.
 *
 * @param mixed $value Value.
 * @return int 0 for none.
 */
function newsroom_id_of( $value ) {
	if ( $value instanceof WP_Post ) {
		return $value->ID;
	}
	if ( is_array( $value ) ) {
		if ( isset( $value['ID'] ) ) {
			return absint( $value['ID'] );
		}
		return $value ? newsroom_id_of( reset( $value ) ) : 0;
	}
	return is_numeric( $value ) ? absint( $value ) : 0;
}

/**
 * Value of one field as the site receives it.
 *
 * @param string $name Field name.
 * @param mixed  $raw  Raw value.
 * @return mixed
 */
function newsroom_present_field( $name, $raw ) {
	switch ( $name ) {
		case 'author':
			return newsroom_author_value( newsroom_id_of( $raw ) );
		case 'top_articles':
			return newsroom_sanitize_ids( array_map( 'newsroom_id_of', is_array( $raw ) ? $raw : newsroom_sanitize_ids( $raw ) ) );
		case 'breaking':
		case 'bulleted_featured_excerpt':
			return '1' === newsroom_sanitize_flag( $raw );
		case 'video_url':
			return newsroom_sanitize_web_address( $raw );
		case 'iframe':
			return newsroom_sanitize_embed( $raw );
		default:
			return newsroom_sanitize_lines( $raw );
	}
}

/**
 * All fields of a post, for `acf` in REST.
 *
 * @param WP_Post $post Post.
 * @return array<string,mixed>
 */
function newsroom_fields_of( $post ) {
	$fields = array();
	foreach ( newsroom_field_names( $post ) as $name => $key ) {
		if ( 'articles' === $post->post_type && 'author' === $name ) {
			// The first author of the byline, for consumers of this field that don't support lists.
			$authors         = newsroom_people( newsroom_author_ids( $post->ID ) );
			$fields[ $name ] = $authors ? $authors[0] : null;
			continue;
		}
		$fields[ $name ] = newsroom_present_field( $name, newsroom_field_value( $name, $key, $post->ID ) );
	}
	return $fields;
}

/**
 * An author in the form in which articles contain it.
 *
 * @param int $id Post of the type `authors`.
 * @return array|int|null The bare id of an author who is not published: the site adds the name when that author's document arrives. Null
 *                        when there is none.
 */
function newsroom_author_value( $id ) {
	$author = $id ? get_post( $id ) : null;
	if ( ! $author || 'authors' !== $author->post_type ) {
		return null;
	}
	if ( ! newsroom_is_visible( $author ) ) {
		return $author->ID;
	}
	return array(
		'id'      => $author->ID,
		'name'    => newsroom_plain( $author->post_title ),
		'slug'    => $author->post_name,
		'excerpt' => newsroom_plain( $author->post_excerpt ),
		'image'   => newsroom_picture( (int) get_post_thumbnail_id( $author ) ),
	);
}

/**
 * A picture as the site receives it.
 *
 * @param int $id Attachment.
 * @return array|null Null when there is none.
 */
function newsroom_picture( $id ) {
	$url = $id && wp_attachment_is_image( $id ) ? wp_get_attachment_url( $id ) : false;
	if ( ! $url ) {
		return null;
	}
	$meta = wp_get_attachment_metadata( $id );
	$size = is_array( $meta ) && ! empty( $meta['width'] ) && ! empty( $meta['height'] ) ? array( (int) $meta['width'], (int) $meta['height'] ) : array( null, null );
	if ( null === $size[0] ) {
		$file     = get_attached_file( $id );
		$measured = $file && is_readable( $file ) ? wp_getimagesize( $file ) : false;
		if ( $measured && $measured[0] && $measured[1] ) {
			$size = array( (int) $measured[0], (int) $measured[1] );
		}
	}
	if ( newsroom_is_turned( $id ) ) {
		$size = array_reverse( $size );
	}
	$credit = newsroom_plain( get_post_meta( $id, 'newsroom_credit', true ) );
	if ( '' === $credit && ! empty( $meta['image_meta']['credit'] ) ) {
		$credit = newsroom_plain( $meta['image_meta']['credit'] );
	}
	return array(
		'id'      => $id,
		'url'     => $url,
		'alt'     => newsroom_plain( get_post_meta( $id, '_wp_attachment_image_alt', true ) ),
		'width'   => $size[0],
		'height'  => $size[1],
		'caption' => newsroom_plain( get_post_field( 'post_excerpt', $id, 'raw' ) ),
		'credit'  => $credit,
	);
}

/**
 * Whether browsers and the site rotate a picture's file by a quarter because WordPress hasn't.
 *
 * @param int $id Attachment.
 * @return bool
 */
function newsroom_is_turned( $id ) {
	$meta = wp_get_attachment_metadata( $id );
	// Editing in WordPress rotates the file, but not this value.
	return (int) ( $meta['image_meta']['orientation'] ?? 0 ) >= 5 && ! get_post_meta( $id, '_wp_attachment_backup_sizes', true );
}

/**
 * The sections of a post, its first one first.
 *
 * The first is the one marked as primary (by Yoast SEO or Rank Math, if one of them is used); the others follow in navigation
 * order, and categories that aren't in the navigation come last.
 *
 * @param WP_Post $post Post.
 * @return array[]
 */
function newsroom_sections_of( $post ) {
	$terms = get_the_terms( $post, 'category' );
	if ( ! is_array( $terms ) ) {
		return array();
	}
	$primary = (int) get_post_meta( $post->ID, '_yoast_wpseo_primary_category', true );
	if ( ! $primary ) {
		$primary = (int) get_post_meta( $post->ID, 'rank_math_primary_category', true );
	}
	/**
	 * Filters which category is a post's first.
	 *
	 * @param int     $primary Category, or 0 to go by the navigation.
	 * @param WP_Post $post    Post.
	 */
	$primary = (int) apply_filters( 'newsroom_primary_category', $primary, $post );
	$ranked  = array();
	foreach ( $terms as $term ) {
		$settings = newsroom_section_settings( $term->term_id );
		$rank     = null === $settings['navigation_position'] ? PHP_INT_MAX : $settings['navigation_position'];
		$ranked[] = array(
			array( $term->term_id === $primary ? 0 : 1, $rank, $term->term_id ),
			array(
				'id'    => $term->term_id,
				'name'  => newsroom_plain( $term->name ),
				'slug'  => $term->slug,
				'label' => $settings['label'],
				'color' => $settings['color'],
			),
		);
	}
	usort( $ranked, static fn( $a, $b ) => $a[0] <=> $b[0] );
	return array_column( $ranked, 1 );
}

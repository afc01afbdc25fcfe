<?php
/**
 * Sections: categories with a label, a position in the navigation, a home count, a color and whether they
 * show among the videos.
 *
 * @package Newsroom
 */

if ( ! defined( 'ABSPATH' ) ) {
	exit;
}

add_action( 'init', 'newsroom_register_term_meta', 11 );
newsroom_rest_field(
	'category',
	'newsroom',
	'newsroom_rest_section',
	static fn() => array(
		'description' => __( 'How the section appears on the site.', 'newsroom' ),
		'type'        => 'object',
		'properties'  => array(
			'label'               => array( 'type' => 'string' ),
			'navigation_position' => array( 'type' => array( 'integer', 'null' ) ),
			'home_count'          => array( 'type' => 'integer' ),
			'color'               => array(
				'type' => 'string',
				'enum' => array( 'default', 'red' ),
			),
			'show_in_media'       => array( 'type' => 'boolean' ),
			'former_slugs'        => array(
				'type'  => 'array',
				'items' => array( 'type' => 'string' ),
			),
		),
	)
);

/**
 * The ten sections of a new paper.
 *
 * @return array[] Each: slug, name, label, home count, shown among the videos, color; in navigation order.
 */
function newsroom_default_sections() {
	return array(
		array( 'editorials', __( 'Editorials', 'newsroom' ), '', 5, false, 'red' ),
		array( 'national', __( 'National', 'newsroom' ), '', 6, true, 'default' ),
		array( 'foreign', __( 'Foreign', 'newsroom' ), '', 6, true, 'default' ),
		array( 'politics', __( 'Politics', 'newsroom' ), '', 5, true, 'default' ),
		array( 'culture', __( 'Culture', 'newsroom' ), __( 'Arts+', 'newsroom' ), 12, true, 'default' ),
		array( 'economy', __( 'Economy', 'newsroom' ), '', 4, true, 'default' ),
		array( 'education', __( 'Education', 'newsroom' ), '', 3, false, 'default' ),
		array( 'justice', __( 'Justice', 'newsroom' ), '', 4, false, 'default' ),
		array( 'columnists', __( 'Columnists', 'newsroom' ), '', 3, false, 'default' ),
		array( 'opinion', __( 'Opinion', 'newsroom' ), '', 4, false, 'red' ),
	);
}

/**
 * Creates the ten sections in a WordPress that has only its default category.
 */
function newsroom_create_sections() {
	$existing = get_terms(
		array(
			'taxonomy'   => 'category',
			'hide_empty' => false,
			'exclude'    => array( (int) get_option( 'default_category' ) ),
			'number'     => 1,
		)
	);
	if ( is_wp_error( $existing ) || $existing ) {
		return;
	}
	foreach ( newsroom_default_sections() as $index => $section ) {
		list( $slug, $name, $label, $count, $media, $color ) = $section;
		$term = wp_insert_term( $name, 'category', array( 'slug' => $slug ) );
		if ( is_wp_error( $term ) ) {
			continue;
		}
		update_term_meta( $term['term_id'], 'newsroom_label', $label );
		update_term_meta( $term['term_id'], 'newsroom_navigation_position', $index + 1 );
		update_term_meta( $term['term_id'], 'newsroom_home_count', $count );
		update_term_meta( $term['term_id'], 'newsroom_color', $color );
		update_term_meta( $term['term_id'], 'newsroom_show_in_media', $media ? '1' : '0' );
	}
}

/**
 * Term meta keys with their type and how a value is cleaned.
 *
 * @return array<string,array>
 */
function newsroom_term_meta_keys() {
	return array(
		'newsroom_label'               => array( 'string', 'sanitize_text_field' ),
		'newsroom_navigation_position' => array( 'string', 'newsroom_sanitize_position' ),
		'newsroom_home_count'          => array( 'integer', 'newsroom_sanitize_home_count' ),
		'newsroom_color'               => array( 'string', 'newsroom_sanitize_color' ),
		'newsroom_show_in_media'       => array( 'boolean', 'newsroom_sanitize_flag' ),
	);
}

/**
 * Registers the term meta; the REST category's `meta` also accepts it.
 */
function newsroom_register_term_meta() {
	foreach ( newsroom_term_meta_keys() as $key => $how ) {
		register_term_meta(
			'category',
			$key,
			array(
				'type'              => $how[0],
				'single'            => true,
				'show_in_rest'      => true,
				'sanitize_callback' => $how[1],
				'auth_callback'     => 'newsroom_may_edit_terms',
			)
		);
	}
}

/**
 * Whether the user may change a section's settings.
 *
 * @return bool
 */
function newsroom_may_edit_terms() {
	return current_user_can( 'manage_categories' );
}

/**
 * Cleans a position in the navigation: a whole number from 1, or '' for a category that isn't a section.
 *
 * @param mixed $value Value.
 * @return string
 */
function newsroom_sanitize_position( $value ) {
	return is_numeric( $value ) && (int) $value > 0 ? (string) (int) $value : '';
}

/**
 * Cleans a number of stories for the home page, 0 to 50.
 *
 * @param mixed $value Value.
 * @return int
 */
function newsroom_sanitize_home_count( $value ) {
	return min( 50, absint( $value ) );
}

/**
 * Cleans a color.
 *
 * @param mixed $value Value.
 * @return string `default` or `red`.
 */
function newsroom_sanitize_color( $value ) {
	return 'red' === $value ? 'red' : 'default';
}

/**
 * Cleans a yes or no.
 *
 * @param mixed $value Value.
 * @return string '1' or '0'.
 */
function newsroom_sanitize_flag( $value ) {
	return in_array( $value, array( true, 1, '1', 'on', 'true', 'yes' ), true ) ? '1' : '0';
}

/**
 * A section's settings for the site.
 *
 * @param int $term_id Category.
 * @return array
 */
function newsroom_section_settings( $term_id ) {
	$term     = get_term( $term_id, 'category' );
	$label    = newsroom_plain( get_term_meta( $term_id, 'newsroom_label', true ) );
	$position = get_term_meta( $term_id, 'newsroom_navigation_position', true );
	return array(
		'label'               => '' === $label && $term instanceof WP_Term ? newsroom_plain( $term->name ) : $label,
		'navigation_position' => is_numeric( $position ) && (int) $position > 0 ? (int) $position : null,
		'home_count'          => newsroom_sanitize_home_count( get_term_meta( $term_id, 'newsroom_home_count', true ) ),
		'color'               => newsroom_sanitize_color( get_term_meta( $term_id, 'newsroom_color', true ) ),
		'show_in_media'       => '1' === newsroom_sanitize_flag( get_term_meta( $term_id, 'newsroom_show_in_media', true ) ),
	);
}

/**
 * `newsroom` of a category in REST.
 *
 * @param int $id Category.
 * @return array
 */
function newsroom_rest_section( $id ) {
	return newsroom_section_settings( $id ) + array( 'former_slugs' => newsroom_former_section_slugs( $id ) );
}

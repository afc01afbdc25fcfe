<?php
/**
 * Advanced Custom Fields as far as other plugins and readers of REST meet it: how values are stored in post meta, what
 * `get_field` and `get_field_object` return, and what REST has under `acf` in both of its formats
 * (advancedcustomfields.com/resources, "WP REST API Integration"; read in version 6.8). A reimplementation, because no package
 * contains the plugin itself.
 *
 * Setting `acf`: `format` is `light` (default) or `standard`; `last` says that ACF registers its `acf` after the newsroom plugin.
 *
 * @package Newsroom
 */

if ( ! defined( 'ABSPATH' ) ) {
	exit;
}

/**
 * Fields by name: type and post types. The reference of a value in post meta, `_name`, contains `field_name`.
 *
 * @return array<string,array>
 */
function newsroom_tests_acf_fields() {
	$all = array( 'articles', 'video', 'crosswords' );
	return array(
		'author'                    => array( 'post_object', $all ),
		'authors'                   => array( 'relationship', array( 'articles' ) ),
		'contributors'              => array( 'user', array( 'articles' ) ),
		'video_url'                 => array( 'oembed', array( 'video' ) ),
		'iframe'                    => array( 'textarea', array( 'crosswords' ) ),
		'top_articles'              => array( 'relationship', array( 'page' ) ),
		'breaking'                  => array( 'true_false', array( 'page' ) ),
		'featured_excerpt'          => array( 'textarea', array( 'page' ) ),
		'bulleted_featured_excerpt' => array( 'true_false', array( 'page' ) ),
		// The newspaper's own field, which the newsroom plugin doesn't know.
		'hero'                      => array( 'image', array( 'articles' ) ),
		'sources'                   => array( 'repeater', array( 'articles' ) ),
	);
}

/**
 * A value as stored in post meta; null if there is none.
 *
 * @param string $name Field name.
 * @param int    $id   Post.
 * @return mixed
 */
function newsroom_tests_acf_value( $name, $id ) {
	if ( ! metadata_exists( 'post', $id, $name ) ) {
		return null;
	}
	$value = get_post_meta( $id, $name, true );
	if ( 'sources' !== $name ) {
		return $value;
	}
	// A repeater's own value is the number of its rows; each cell is a meta value.
	$rows = array();
	for ( $row = 0; $row < (int) $value; $row++ ) {
		$rows[] = array(
			'title' => get_post_meta( $id, "sources_{$row}_title", true ),
			'link'  => get_post_meta( $id, "sources_{$row}_link", true ),
		);
	}
	return $rows ? $rows : false;
}

/**
 * A value in the field's return format; false for every form of "none".
 *
 * @param string $type  Field type.
 * @param mixed  $value Value.
 * @return mixed
 */
function newsroom_tests_acf_format( $type, $value ) {
	switch ( $type ) {
		case 'true_false':
			return (bool) $value;
		case 'post_object':
			return $value ? get_post( (int) $value ) : false;
		case 'relationship':
			return $value ? array_map( 'get_post', array_map( 'intval', (array) $value ) ) : false;
		case 'user':
			return $value ? array_map( 'get_userdata', array_map( 'intval', (array) $value ) ) : false;
		case 'oembed':
			return $value ? '<iframe width="640" height="360" src="https://www.youtube.com/embed/' . substr( $value, -11 ) . '?feature=oembed" allowfullscreen></iframe>' : $value;
		case 'textarea':
			return null === $value ? null : nl2br( $value );
		case 'image':
			if ( ! $value ) {
				return false;
			}
			return array(
				'ID'     => (int) $value,
				'id'     => (int) $value,
				'url'    => wp_get_attachment_url( (int) $value ),
				'alt'    => '',
				'width'  => 1600,
				'height' => 900,
				'sizes'  => array( 'thumbnail' => wp_get_attachment_url( (int) $value ), 'thumbnail-width' => 150 ),
			);
		default:
			return $value;
	}
}

/**
 * A value as REST has it in the format `light`: ids and numbers as numbers, everything else as stored.
 *
 * @param string $type  Field type.
 * @param mixed  $value Value.
 * @return mixed
 */
function newsroom_tests_acf_light( $type, $value ) {
	if ( 'true_false' === $type ) {
		return (bool) $value;
	}
	$numeric = static function ( $one ) {
		return is_numeric( $one ) ? (int) $one : $one;
	};
	if ( in_array( $type, array( 'post_object', 'relationship', 'user', 'image' ), true ) ) {
		return is_array( $value ) ? array_map( $numeric, $value ) : $numeric( $value );
	}
	return $value;
}

if ( ! function_exists( 'get_field_object' ) ) {
	/**
	 * A field of a post; false if no reference to it is stored.
	 *
	 * @param string $name         Field name.
	 * @param int    $id           Post.
	 * @param bool   $format_value Whether the value is formatted.
	 * @param bool   $load_value   Whether the value is read at all.
	 * @return array|false
	 */
	function get_field_object( $name, $id = false, $format_value = true, $load_value = true ) {
		$fields = newsroom_tests_acf_fields();
		if ( ! isset( $fields[ $name ] ) || 'field_' . $name !== get_post_meta( $id, '_' . $name, true ) ) {
			return false;
		}
		$value = $load_value ? newsroom_tests_acf_value( $name, $id ) : null;
		return array(
			'key'   => 'field_' . $name,
			'name'  => $name,
			'type'  => $fields[ $name ][0],
			'value' => $load_value && $format_value ? newsroom_tests_acf_format( $fields[ $name ][0], $value ) : $value,
		);
	}

	/**
	 * The value of a field; for a name that isn't a field's, the post meta of that name.
	 *
	 * @param string $name         Field name.
	 * @param int    $id           Post.
	 * @param bool   $format_value Whether the value is formatted.
	 * @return mixed
	 */
	function get_field( $name, $id = false, $format_value = true ) {
		$field = get_field_object( $name, $id, $format_value );
		return $field ? $field['value'] : newsroom_tests_acf_value( $name, $id );
	}
}

/**
 * `acf` in REST: every field of the groups of a type, with a value or without. A type without groups has an empty list.
 *
 * @param array           $item    Prepared document.
 * @param string          $name    `acf`.
 * @param WP_REST_Request $request Request.
 * @param string          $type    Post type.
 * @return array
 */
function newsroom_tests_acf_rest( $item, $name, $request, $type ) {
	$settings = (array) get_option( 'newsroom_tests' )['acf'];
	$format   = $request->get_param( 'acf_format' );
	$format   = $format ? $format : ( isset( $settings['format'] ) ? $settings['format'] : 'light' );
	$values   = array();
	foreach ( newsroom_tests_acf_fields() as $field => $about ) {
		if ( in_array( $type, $about[1], true ) ) {
			$value            = newsroom_tests_acf_value( $field, $item['id'] );
			$values[ $field ] = 'standard' === $format ? newsroom_tests_acf_format( $about[0], $value ) : newsroom_tests_acf_light( $about[0], $value );
		}
	}
	return $values;
}

/**
 * Registers `acf` for all types, in place of what other plugins have registered.
 */
function newsroom_tests_acf_register() {
	foreach ( array( 'articles', 'video', 'crosswords', 'authors', 'page' ) as $type ) {
		register_rest_field( $type, 'acf', array( 'get_callback' => 'newsroom_tests_acf_rest', 'schema' => array( 'type' => 'object' ) ) );
	}
}

// Plugins load in order of their names, so ACF usually registers before the newsroom plugin; if it can't assign a request, it
// registers later.
if ( empty( $newsroom_tests['acf']['last'] ) ) {
	add_action( 'rest_api_init', 'newsroom_tests_acf_register', 9 );
} else {
	add_filter(
		'rest_pre_dispatch',
		static function ( $answer ) {
			newsroom_tests_acf_register();
			return $answer;
		}
	);
}

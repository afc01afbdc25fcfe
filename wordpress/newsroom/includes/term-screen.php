<?php
/**
 * Sections on the screens where categories are added, edited and listed.
 *
 * @package Newsroom
 */

if ( ! defined( 'ABSPATH' ) ) {
	exit;
}

add_action( 'category_add_form_fields', 'newsroom_term_add_fields' );
add_action( 'category_edit_form_fields', 'newsroom_term_edit_fields' );
add_action( 'created_category', 'newsroom_term_save', 5 );
add_action( 'edited_category', 'newsroom_term_save', 5 );
add_filter( 'manage_edit-category_columns', 'newsroom_term_columns' );
add_filter( 'manage_category_custom_column', 'newsroom_term_column', 10, 3 );

/**
 * Prints the fields of a section.
 *
 * @param int    $term_id Category, 0 for a new one.
 * @param string $format  Markup of a field: its name, label, control and description.
 */
function newsroom_print_term_controls( $term_id, $format ) {
	$number = array(
		'type'  => 'number',
		'step'  => 1,
		'class' => 'small-text',
	);
	$fields = array(
		'newsroom_label'               => array( __( 'Label', 'newsroom' ), __( 'The name in the navigation. Leave empty to use the category’s name.', 'newsroom' ), array( 'class' => null ) ),
		'newsroom_navigation_position' => array( __( 'Navigation position', 'newsroom' ), __( 'The order of the sections, lowest first. A category without a position isn’t a section.', 'newsroom' ), $number + array( 'min' => 1 ) ),
		'newsroom_home_count'          => array( __( 'Stories on the home page', 'newsroom' ), __( '0 leaves the section off the home page.', 'newsroom' ), $number + array( 'min' => 0, 'max' => 50 ) ), // phpcs:ignore WordPress.Arrays
		'newsroom_color'               => array( __( 'Color', 'newsroom' ), __( 'The color of the section’s name above its stories.', 'newsroom' ), array( 'class' => null ) ),
		'newsroom_show_in_media'       => array( __( 'Show on the video page', 'newsroom' ), __( 'Gives the section its own row on the video page.', 'newsroom' ), array( 'class' => null, 'type' => 'checkbox' ) ), // phpcs:ignore WordPress.Arrays
	);
	foreach ( $fields as $key => list( $label, $help, $attributes ) ) {
		$value = $term_id ? (string) get_term_meta( $term_id, $key, true ) : '';
		if ( 'newsroom_color' === $key ) {
			$control = newsroom_select( $key, newsroom_sanitize_color( $value ), newsroom_section_colors(), $help, $attributes );
		} elseif ( 'newsroom_show_in_media' === $key ) {
			$control = newsroom_input( $key, '1', $help, $attributes + array( 'checked' => '1' === $value ? true : null ) );
		} else {
			$control = newsroom_input( $key, $value, $help, $attributes );
		}
		printf( $format, esc_attr( $key ), esc_html( $label ), $control, esc_html( $help ) ); // phpcs:ignore WordPress.Security.EscapeOutput -- escaped where it is made.
	}
}

/**
 * Labels of the colors of sections.
 *
 * @return array<string,string>
 */
function newsroom_section_colors() {
	return array(
		'default' => __( 'Default', 'newsroom' ),
		'red'     => __( 'Red', 'newsroom' ),
	);
}

/**
 * Fields of the form that adds a category.
 */
function newsroom_term_add_fields() {
	wp_nonce_field( 'newsroom_term', 'newsroom_term_nonce' );
	newsroom_print_term_controls( 0, '<div class="form-field"><label for="%1$s">%2$s</label>%3$s<p id="%1$s-description">%4$s</p></div>' );
}

/**
 * Fields of the form that edits a category.
 *
 * @param WP_Term $term Category.
 */
function newsroom_term_edit_fields( $term ) {
	echo '<tr hidden><td>';
	wp_nonce_field( 'newsroom_term', 'newsroom_term_nonce' );
	echo '</td></tr>';
	newsroom_print_term_controls( $term->term_id, '<tr class="form-field"><th scope="row"><label for="%1$s">%2$s</label></th><td>%3$s<p class="description" id="%1$s-description">%4$s</p></td></tr>' );
}

/**
 * Saves the fields.
 *
 * @param int $term_id Category.
 */
function newsroom_term_save( $term_id ) {
	$nonce = isset( $_POST['newsroom_term_nonce'] ) ? sanitize_key( wp_unslash( $_POST['newsroom_term_nonce'] ) ) : '';
	if ( ! wp_verify_nonce( $nonce, 'newsroom_term' ) || ! current_user_can( 'edit_term', $term_id ) ) {
		return;
	}
	foreach ( newsroom_term_meta_keys() as $key => $how ) {
		// Cleaned by the callback of its registration; an unchecked box sends nothing.
		$value = isset( $_POST[ $key ] ) ? sanitize_text_field( wp_unslash( $_POST[ $key ] ) ) : '';
		update_term_meta( $term_id, $key, wp_slash( call_user_func( $how[1], $value ) ) );
	}
}

/**
 * Columns of the list of categories.
 *
 * @param array $columns Columns.
 * @return array
 */
function newsroom_term_columns( $columns ) {
	// The site shows no descriptions of sections, and the columns need the space.
	unset( $columns['description'] );
	return array_merge(
		$columns,
		array(
			'newsroom_navigation_position' => __( 'Position', 'newsroom' ),
			'newsroom_label'               => __( 'Label', 'newsroom' ),
			'newsroom_home_count'          => __( 'Home', 'newsroom' ),
			'newsroom_color'               => __( 'Color', 'newsroom' ),
			'newsroom_show_in_media'       => __( 'Videos', 'newsroom' ),
		)
	);
}

/**
 * One cell.
 *
 * @param string $content Content so far.
 * @param string $column  Column.
 * @param int    $term_id Category.
 * @return string
 */
function newsroom_term_column( $content, $column, $term_id ) {
	if ( ! array_key_exists( $column, newsroom_term_meta_keys() ) ) {
		return $content;
	}
	$section = newsroom_section_settings( $term_id );
	switch ( $column ) {
		case 'newsroom_navigation_position':
			return null === $section['navigation_position'] ? '—' : (string) $section['navigation_position'];
		case 'newsroom_label':
			return esc_html( $section['label'] );
		case 'newsroom_home_count':
			return (string) $section['home_count'];
		case 'newsroom_color':
			return esc_html( newsroom_section_colors()[ $section['color'] ] );
		default:
			return $section['show_in_media'] ? esc_html__( 'Yes', 'newsroom' ) : '—';
	}
}

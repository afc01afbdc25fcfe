<?php
/**
 * An ordered list of documents in a box: a search, and buttons that add, move and remove. They need the script; without it the list
 * stays unchanged.
 *
 * @package Newsroom
 */

if ( ! defined( 'ABSPATH' ) ) {
	exit;
}

/**
 * Loads the script.
 */
function newsroom_picker_script() {
	wp_enqueue_style( 'wp-components' );
	newsroom_enqueue_part( 'picker', array( 'newsroom-lists' ) );
}

/**
 * Prints a list, which the script replaces by one that can be changed.
 *
 * @param array             $about  `field`: name in the form; `route`: type in REST; `heading`; `search`: label of the search; `none`: what is
 *                                  said when nothing is found.
 * @param array<int,string> $chosen Titles by document, in their order.
 */
function newsroom_picker( $about, $chosen ) {
	$about['chosen'] = array();
	foreach ( $chosen as $id => $title ) {
		$about['chosen'][] = compact( 'id', 'title' );
	}
	printf( '<div data-newsroom-picker="%1$s"><h3>%2$s</h3><ol>', esc_attr( (string) wp_json_encode( $about, JSON_HEX_AMP ) ), esc_html( $about['heading'] ) );
	foreach ( $chosen as $id => $title ) {
		printf( '<li>%1$s<input type="hidden" name="%2$s[]" value="%3$d"></li>', esc_html( $title ), esc_attr( $about['field'] ), (int) $id );
	}
	echo '</ol></div>';
}

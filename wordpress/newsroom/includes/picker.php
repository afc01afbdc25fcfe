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
	newsroom_enqueue_part( 'picker', array( 'newsroom-shared', 'wp-api-fetch', 'wp-a11y', 'wp-i18n' ) );
}

/**
 * Prints a list and the search for more.
 *
 * @param array             $about  `field`: name in the form; `route`: type in REST; `heading`; `search`: label of the search; `found`: name
 *                                  of the results; `none`: what is said when nothing is found.
 * @param array<int,string> $chosen Titles by document, in their order.
 */
function newsroom_picker( $about, $chosen ) {
	$id = str_replace( '_', '-', $about['field'] );
	printf(
		'<div class="newsroom-picker" data-newsroom-picker="%1$s" data-route="%2$s" data-none="%3$s"><h3 id="%4$s-heading">%5$s</h3><ol class="newsroom-picker-list" aria-labelledby="%4$s-heading">',
		esc_attr( $about['field'] ),
		esc_attr( $about['route'] ),
		esc_attr( $about['none'] ),
		esc_attr( $id ),
		esc_html( $about['heading'] )
	);
	foreach ( $chosen as $document => $title ) {
		printf(
			'<li data-id="%1$d"><span class="newsroom-picker-title">%2$s</span><input type="hidden" name="%3$s[]" value="%1$d"></li>',
			(int) $document,
			esc_html( $title ),
			esc_attr( $about['field'] )
		);
	}
	printf(
		'</ol><p><label for="%1$s-search">%2$s</label> <input type="search" id="%1$s-search" class="regular-text" autocomplete="off" aria-controls="%1$s-results"></p><ul id="%1$s-results" class="newsroom-picker-results" aria-label="%3$s"></ul><p class="newsroom-picker-state" role="status"></p></div>',
		esc_attr( $id ),
		esc_html( $about['search'] ),
		esc_attr( $about['found'] )
	);
}

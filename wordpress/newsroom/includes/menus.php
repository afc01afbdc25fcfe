<?php
/**
 * /newsroom/v1/menus: the menus that editors maintain under Appearance → Menus.
 *
 * @package Newsroom
 */

if ( ! defined( 'ABSPATH' ) ) {
	exit;
}

newsroom_route( 'GET', '/menus', 'newsroom_rest_menus', '__return_true' );

/**
 * Every menu that is assigned to a location, with its items in order.
 *
 * @return WP_REST_Response
 */
function newsroom_rest_menus() {
	$menus = array();
	foreach ( get_nav_menu_locations() as $location => $menu_id ) {
		$entries = $menu_id ? wp_get_nav_menu_items( $menu_id ) : false;
		if ( ! is_array( $entries ) ) {
			continue;
		}
		$items = array();
		foreach ( $entries as $entry ) {
			$title = newsroom_plain( $entry->title );
			if ( '' !== $title && '' !== (string) $entry->url ) {
				$items[] = array(
					'title' => $title,
					'url'   => (string) $entry->url,
				);
			}
		}
		$menus[] = compact( 'location', 'items' );
	}
	return rest_ensure_response( $menus );
}

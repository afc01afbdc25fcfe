<?php
/**
 * Copies that the plugin Duplicate Post makes: what belongs to one document only isn't copied.
 *
 * @package Newsroom
 */

if ( ! defined( 'ABSPATH' ) ) {
	exit;
}

add_filter( 'duplicate_post_excludelist_filter', 'newsroom_meta_of_the_original' );

/**
 * Adds the meta of one document only: a copy must not take over its former addresses, notes, coverage, test or feed.
 *
 * @param string[] $keys Meta keys that aren't copied.
 * @return string[]
 */
function newsroom_meta_of_the_original( $keys ) {
	$own = array( '_wp_old_slug', '_newsroom_former_path', '_newsroom_live_slug', 'newsroom_corrections', 'newsroom_headline_test', 'newsroom_live', 'newsroom_live_started', 'newsroom_live_ended', 'newsroom_series_guid' );
	return array_merge( is_array( $keys ) ? $keys : array(), $own );
}

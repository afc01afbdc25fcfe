<?php
/**
 * Blocks that need WordPress's own scripts. The site doesn't load those, so it receives markup that works without them.
 *
 * @package Newsroom
 */

if ( ! defined( 'ABSPATH' ) ) {
	exit;
}

add_filter( 'render_block_core/playlist-track', 'newsroom_playable_track', 10, 2 );

/**
 * Gives each track of a playlist a player: WordPress leaves the files' addresses to its script, and the site would show only names.
 *
 * @param string $html  Track as WordPress renders it.
 * @param array  $block Block.
 * @return string
 */
function newsroom_playable_track( $html, $block ) {
	$track = isset( $block['attrs'] ) && is_array( $block['attrs'] ) ? $block['attrs'] : array();
	$text  = static fn( $name ) => isset( $track[ $name ] ) ? newsroom_plain( $track[ $name ] ) : '';
	$url = isset( $track['src'] ) && is_string( $track['src'] ) ? esc_url( $track['src'], array( 'http', 'https' ) ) : '';
	if ( '' === $html || '' === $url || ! defined( 'REST_REQUEST' ) || ! REST_REQUEST ) {
		return $html;
	}
	$title  = '' === $text( 'title' ) ? __( 'Untitled', 'newsroom' ) : $text( 'title' );
	$artist = '' === $text( 'artist' ) ? '' : ', ' . $text( 'artist' );
	$length = '' === $text( 'length' ) ? '' : ' (' . $text( 'length' ) . ')';
	return sprintf(
		'<li class="wp-block-playlist-track"><p>%1$s</p><audio controls preload="none" aria-label="%2$s" src="%3$s"></audio></li>',
		esc_html( $title . $artist . $length ),
		esc_attr( $title ),
		$url
	);
}

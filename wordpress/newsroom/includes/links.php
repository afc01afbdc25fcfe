<?php
/**
 * Public addresses point to the site: in wp-admin, in REST's `link`, in feeds and menus.
 *
 * @package Newsroom
 */

if ( ! defined( 'ABSPATH' ) ) {
	exit;
}

add_filter( 'post_type_link', 'newsroom_post_link', 20, 4 );
add_filter( 'page_link', 'newsroom_page_link', 20, 3 );
add_filter( 'term_link', 'newsroom_term_link', 20, 3 );
add_filter( 'redirect_canonical', 'newsroom_prevent_redirect_to_site' );

/**
 * Address of a document on the site, as a path with `%s` for the slug.
 *
 * @param string $post_type Post type.
 * @return string '' for types that the site does not show.
 */
function newsroom_site_path( $post_type ) {
	$paths = array(
		'articles'   => '/article/%s',
		'video'      => '/media/%s',
		'crosswords' => '/games/%s',
		'authors'    => '/author/%s',
		'podcasts'   => '/podcast/%s',
		'page'       => '/%s',
	);
	/**
	 * Filters where the site shows documents of a type.
	 *
	 * @param string $path      Path with %s for the slug, or ''.
	 * @param string $post_type Post type.
	 */
	return (string) apply_filters( 'newsroom_site_path', $paths[ $post_type ] ?? '', $post_type );
}

/**
 * Whether addresses can lead to the site.
 *
 * @return bool
 */
function newsroom_links_to_site() {
	/**
	 * Filters whether public addresses point to the site.
	 *
	 * @param bool $enabled Whether they do.
	 */
	return '' !== newsroom_site_url() && apply_filters( 'newsroom_link_to_site', true );
}

/**
 * Address of an article, video, crossword, author or series.
 *
 * @param string  $link      Address.
 * @param WP_Post $post      Post.
 * @param bool    $leavename Whether the slug stays a placeholder, for the editor's slug field.
 * @param bool    $sample    Whether it is a sample for a post that is not published.
 * @return string
 */
function newsroom_post_link( $link, $post, $leavename = false, $sample = false ) {
	if ( $post instanceof WP_Post && 'live-entry' === $post->post_type ) {
		$story = 'publish' === $post->post_status && newsroom_links_to_site() ? newsroom_story_of( $post ) : null;
		return $story ? get_permalink( $story ) . '/live/' . $post->ID : $link;
	}
	$path = newsroom_is_document( $post ) ? newsroom_site_path( $post->post_type ) : '';
	// Documents that aren't published keep WordPress's address, where editors can see them.
	if ( '' === $path || ! newsroom_links_to_site() || ( ! $sample && ! $leavename && 'publish' !== $post->post_status ) ) {
		return $link;
	}
	return newsroom_site_url() . sprintf( $path, $leavename ? "%{$post->post_type}%" : rawurlencode( urldecode( $post->post_name ) ) );
}

/**
 * Address of a page.
 *
 * @param string $link   Address.
 * @param int    $id     Page.
 * @param bool   $sample Whether it is a sample.
 * @return string
 */
function newsroom_page_link( $link, $id, $sample = false ) {
	$post = get_post( $id );
	$path = newsroom_site_path( 'page' );
	$name = false !== strpos( $link, '%pagename%' );
	if ( ! $post || '' === $path || ! newsroom_links_to_site() || ( ! $sample && ! $name && 'publish' !== $post->post_status ) ) {
		return $link;
	}
	if ( 'page' === get_option( 'show_on_front' ) && (int) get_option( 'page_on_front' ) === $post->ID ) {
		return newsroom_site_url() . '/';
	}
	return newsroom_site_url() . sprintf( $path, $name ? '%pagename%' : rawurlencode( urldecode( $post->post_name ) ) );
}

/**
 * Address of a section.
 *
 * @param string  $link     Address.
 * @param WP_Term $term     Term.
 * @param string  $taxonomy Taxonomy.
 * @return string
 */
function newsroom_term_link( $link, $term, $taxonomy ) {
	if ( 'category' !== $taxonomy || ! newsroom_links_to_site() ) {
		return $link;
	}
	$settings = newsroom_section_settings( $term->term_id );
	return null === $settings['navigation_position'] ? $link : newsroom_site_url() . '/section/' . rawurlencode( urldecode( $term->slug ) );
}

/**
 * Keeps WordPress from redirecting its own pages to their canonical address, which is on another host.
 *
 * @param string|false $url Where WordPress wants to redirect.
 * @return string|false
 */
function newsroom_prevent_redirect_to_site( $url ) {
	return $url && wp_parse_url( $url, PHP_URL_HOST ) . ':' . wp_parse_url( $url, PHP_URL_PORT ) !== wp_parse_url( home_url(), PHP_URL_HOST ) . ':' . wp_parse_url( home_url(), PHP_URL_PORT ) ? false : $url;
}

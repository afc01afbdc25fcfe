<?php
/**
 * Describes the changes between two versions.
 *
 * @package Newsroom
 */

if ( ! defined( 'ABSPATH' ) ) {
	exit;
}

/**
 * Parts of a story in the order in which editors see them.
 *
 * @return array<string,string> Name => label.
 */
function newsroom_version_parts() {
	return array(
		'title'       => __( 'Headline', 'newsroom' ),
		'headlines'   => __( 'Headline test', 'newsroom' ),
		'excerpt'     => __( 'Summary', 'newsroom' ),
		'byline'      => __( 'Byline', 'newsroom' ),
		'content'     => __( 'Text', 'newsroom' ),
		'picture'     => __( 'Picture', 'newsroom' ),
		'access'      => __( 'Who may read it', 'newsroom' ),
		'corrections' => __( 'Corrections', 'newsroom' ),
		'sections'    => __( 'Sections', 'newsroom' ),
		'tags'        => __( 'Tags', 'newsroom' ),
		'slug'        => __( 'Address', 'newsroom' ),
		'date'        => __( 'Date', 'newsroom' ),
		'live'        => __( 'Live coverage', 'newsroom' ),
		'sound'       => __( 'Sound', 'newsroom' ),
		'footnotes'   => __( 'Footnotes', 'newsroom' ),
		'other'       => __( 'Other fields', 'newsroom' ),
	);
}

/**
 * Values of each part of a version, to detect whether it changed.
 *
 * @param array $story See newsroom_version_now().
 * @return array<string,mixed>
 */
function newsroom_version_values( $story ) {
	$meta   = $story['meta'];
	$take   = static function ( $keys ) use ( &$meta ) {
		$taken = array_intersect_key( $meta, array_flip( $keys ) );
		$meta  = array_diff_key( $meta, $taken );
		return $taken;
	};
	$byline = $take( newsroom_byline_keys() );
	return array(
		'title'       => $story['title'],
		'headlines'   => $take( array( 'newsroom_headline_test' ) ),
		'excerpt'     => $story['excerpt'],
		'byline'      => array( $story['authors'], $story['contributors'], array_intersect_key( $byline, array_flip( array( 'newsroom_agency', 'newsroom_agency_url' ) ) ) ),
		'content'     => $story['content'],
		'picture'     => $story['picture'],
		'access'      => $take( array( 'newsroom_access' ) ),
		'corrections' => $take( array( 'newsroom_corrections' ) ),
		'sections'    => $story['category'],
		'tags'        => $story['post_tag'],
		'slug'        => $story['slug'],
		'date'        => $story['date'],
		'live'        => $take( array( 'newsroom_live' ) ),
		'sound'       => $take( newsroom_episode_keys() ),
		'footnotes'   => $take( array( 'footnotes' ) ),
		'other'       => $meta,
	);
}

/**
 * The differences between two versions.
 *
 * @param array $before See newsroom_version_now().
 * @param array $after  See newsroom_version_now().
 * @return array<string,int> Names of the parts that differ; for the text with the number of paragraphs, for others with 1.
 */
function newsroom_version_changes( $before, $after ) {
	$old     = newsroom_version_values( $before );
	$changes = array();
	foreach ( newsroom_version_values( $after ) as $part => $value ) {
		if ( wp_json_encode( $value ) !== wp_json_encode( $old[ $part ] ) ) {
			$changes[ $part ] = 'content' === $part ? newsroom_changed_paragraphs( $old[ $part ], $value ) : 1;
		}
	}
	return $changes;
}

/**
 * Number of paragraphs that were changed, added or removed.
 *
 * @param string $before Text.
 * @param string $after  Text.
 * @return int 0 where only markup differs that has no words.
 */
function newsroom_changed_paragraphs( $before, $after ) {
	$count = 0;
	foreach ( newsroom_diff( newsroom_text_lines( $before ), newsroom_text_lines( $after ) )->getDiff() as $part ) {
		if ( ! $part instanceof Text_Diff_Op_copy ) {
			$count += max( $part->orig ? count( $part->orig ) : 0, $part->final ? count( $part->final ) : 0 );
		}
	}
	return $count;
}

/**
 * Loads WordPress's comparison of texts.
 */
function newsroom_load_diff() {
	if ( ! class_exists( 'WP_Text_Diff_Renderer_Table', false ) ) {
		require_once ABSPATH . WPINC . '/wp-diff.php';
	}
}

/**
 * The differences between two lists of lines or words.
 *
 * @param string[] $old Before.
 * @param string[] $new After.
 * @return Text_Diff
 */
function newsroom_diff( $old, $new ) {
	newsroom_load_diff();
	// WordPress compares some of the texts with `==`, for which "7" and "007" are equal; a text that starts with "=" is never a number.
	$mark   = static fn( $text ) => '=' . $text;
	$unmark = static fn( $text ) => substr( $text, 1 );
	// The engine that every server has. The other one, xdiff, never reports a line as changed, only as deleted and inserted.
	$diff = new Text_Diff( 'native', array( array_map( $mark, $old ), array_map( $mark, $new ) ) );
	foreach ( $diff->getDiff() as $edit ) {
		$edit->orig  = $edit->orig ? array_map( $unmark, $edit->orig ) : $edit->orig;
		$edit->final = $edit->final ? array_map( $unmark, $edit->final ) : $edit->final;
	}
	return $diff;
}

/**
 * A version in words: "Headline, 3 paragraphs".
 *
 * @param object $row Version.
 * @return string
 */
function newsroom_version_words( $row ) {
	$parts = newsroom_version_parts();
	$words = array();
	foreach ( (array) json_decode( $row->changed, true ) as $part => $count ) {
		if ( 'content' === $part && (int) $count > 0 ) {
			/* translators: %s: number of paragraphs. */
			$words[] = sprintf( _n( '%s paragraph', '%s paragraphs', (int) $count, 'newsroom' ), number_format_i18n( (int) $count ) );
		} elseif ( 'content' === $part ) {
			$words[] = __( 'Layout of the text', 'newsroom' );
		} elseif ( isset( $parts[ $part ] ) ) {
			$words[] = $parts[ $part ];
		}
	}
	$what = implode( ', ', $words );
	switch ( $row->event ) {
		case 'unpublish':
			return __( 'Removed from the site', 'newsroom' );
		case 'publish':
			/* translators: %s: what changed, such as "Headline, 3 paragraphs". */
			return 1 === $row->number ? __( 'First published', 'newsroom' ) : ( '' === $what ? __( 'Published again', 'newsroom' ) : sprintf( __( 'Published again: %s', 'newsroom' ), $what ) );
		case 'found':
			/* translators: %s: what changed, such as "Headline, 3 paragraphs". */
			return '' === $what ? __( 'Saved when versions began', 'newsroom' ) : sprintf( __( 'Changed outside the editors: %s', 'newsroom' ), $what );
		default:
			return $what;
	}
}

/**
 * Who made a version.
 *
 * @param object $row Version.
 * @return string Name, or what saved it; '' where that isn't known.
 */
function newsroom_version_editor( $row ) {
	$user  = (int) $row->user_id ? get_userdata( (int) $row->user_id ) : false;
	$names = array(
		'schedule' => __( 'WordPress, on schedule', 'newsroom' ),
		'command'  => 'WP-CLI',
	);
	$way   = $names[ $row->way ] ?? '';
	if ( ! $user ) {
		return $way;
	}
	return '' === $way ? $user->display_name : $user->display_name . " ($way)";
}

<?php
/**
 * Describes the changes between two versions, and turns each part of a version into lines of text that can be compared.
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
	newsroom_load_diff();
	$diff  = new Text_Diff( newsroom_text_lines( $before ), newsroom_text_lines( $after ) );
	$count = 0;
	foreach ( $diff->getDiff() as $part ) {
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
	$way   = isset( $names[ $row->way ] ) ? $names[ $row->way ] : '';
	if ( ! $user ) {
		return $way;
	}
	return '' === $way ? $user->display_name : $user->display_name . " ($way)";
}

/**
 * The text of a story as lines, one for each paragraph, heading, list item or other block. Markup within a line stays, so that
 * editors can see a changed link.
 *
 * @param string $content Text of a post.
 * @return string[]
 */
function newsroom_text_lines( $content ) {
	$text = str_replace( array( "\r\n", "\r" ), "\n", $content );
	// Block delimiters aren't text. A block without markup consists of a single delimiter, `<!-- wp:name {…} /-->`, which stays.
	$text  = preg_replace( '/<!--\s+\/?wp:[^\s>]+\s+(?:\{[^>]*\}\s+)?-->/', "\n\n", $text );
	$text  = preg_replace( '#</?p(?:\s[^>]*)?>|</(?:h[1-6]|li|blockquote|figure|pre|tr)>|<(?:ul|ol)(?:\s[^>]*)?>|</(?:ul|ol)>#i', "\n\n$0\n\n", (string) $text );
	$lines = array();
	foreach ( preg_split( '/\n\s*\n/', (string) $text ) as $line ) {
		$line = preg_replace( '#^</?(?:p|ul|ol)(?:\s[^>]*)?>$|^<li(?:\s[^>]*)?>|</(?:h[1-6]|li|blockquote|figure|pre|tr)>$#i', '', trim( $line ) );
		$line = trim( (string) preg_replace( '/\s+/u', ' ', (string) $line ) );
		if ( '' !== $line ) {
			$lines[] = $line;
		}
	}
	return $lines;
}

/**
 * One part of a version as lines.
 *
 * @param array  $held What the version holds, see newsroom_version_now().
 * @param string $part Name of the part.
 * @return string[]
 */
function newsroom_part_lines( $held, $part ) {
	$story = $held['story'];
	$names = $held['names'];
	$meta  = $story['meta'];
	switch ( $part ) {
		case 'content':
			return newsroom_text_lines( $story['content'] );
		case 'headlines':
			return isset( $meta['newsroom_headline_test'] ) ? array_column( $meta['newsroom_headline_test']['variants'], 'headline' ) : array();
		case 'byline':
			return newsroom_byline_lines( $story, $names );
		case 'picture':
			return newsroom_picture_lines( $story['picture'] );
		case 'access':
			$levels = newsroom_access_levels();
			$level  = isset( $meta['newsroom_access'] ) ? $meta['newsroom_access'] : 'default';
			return array( isset( $levels[ $level ] ) ? $levels[ $level ] : $level );
		case 'corrections':
			return array_map( 'newsroom_correction_line', isset( $meta['newsroom_corrections'] ) ? $meta['newsroom_corrections'] : array() );
		case 'sections':
		case 'tags':
			return newsroom_names_of( $story[ 'tags' === $part ? 'post_tag' : 'category' ], $names['terms'] );
		case 'slug':
			return array( $story['slug'] );
		case 'date':
			return array( newsroom_version_time( (int) strtotime( $story['date'] . ' UTC' ) ) );
		case 'live':
			return isset( $meta['newsroom_live'] ) ? array( newsroom_live_states()[ $meta['newsroom_live'] ] ) : array();
		case 'sound':
		case 'footnotes':
		case 'other':
			return newsroom_meta_lines( newsroom_version_values( $story )[ $part ], $names['posts'] );
		default:
			return newsroom_text_lines( $story[ $part ] );
	}
}

/**
 * Names for some ids, as they were then.
 *
 * @param int[]             $ids   Ids.
 * @param array<int,string> $names Names by id.
 * @return string[]
 */
function newsroom_names_of( $ids, $names ) {
	return array_map(
		static function ( $id ) use ( $names ) {
			return isset( $names[ $id ] ) && '' !== $names[ $id ] ? $names[ $id ] : "#$id";
		},
		$ids
	);
}

/**
 * The byline of a version.
 *
 * @param array $story See newsroom_version_now().
 * @param array $names See newsroom_version_now().
 * @return string[]
 */
function newsroom_byline_lines( $story, $names ) {
	$words = newsroom_byline_words();
	$lines = newsroom_names_of( $story['authors'], $names['people'] );
	foreach ( newsroom_names_of( $story['contributors'], $names['people'] ) as $name ) {
		$lines[] = $words['contributors'] . ': ' . $name;
	}
	foreach ( array( 'newsroom_agency', 'newsroom_agency_url' ) as $key ) {
		if ( isset( $story['meta'][ $key ] ) ) {
			$lines[] = $words['agency'] . ': ' . $story['meta'][ $key ];
		}
	}
	return $lines;
}

/**
 * The picture of a version.
 *
 * @param array|null $picture See newsroom_version_picture().
 * @return string[]
 */
function newsroom_picture_lines( $picture ) {
	if ( ! $picture ) {
		return array();
	}
	return array_values( array_filter( array( $picture['file'], $picture['caption'], $picture['alt'], $picture['credit'] ), 'strlen' ) );
}

/**
 * A correction as one line.
 *
 * @param array $note Note.
 * @return string
 */
function newsroom_correction_line( $note ) {
	$kinds = newsroom_correction_kinds();
	$kind  = isset( $kinds[ $note['kind'] ] ) ? $kinds[ $note['kind'] ] : $note['kind'];
	return $kind . ', ' . newsroom_version_time( (int) strtotime( $note['date'] ) ) . ': ' . $note['text'];
}

/**
 * Fields of a version.
 *
 * @param array             $meta  Values by key.
 * @param array<int,string> $posts Names of posts by id.
 * @return string[] One line for each field, and one for each line of a long text.
 */
function newsroom_meta_lines( $meta, $posts ) {
	$lines = array();
	foreach ( $meta as $key => $value ) {
		$name = ucfirst( str_replace( array( 'newsroom_', '_' ), array( '', ' ' ), $key ) );
		if ( in_array( $key, array( 'newsroom_audio', 'newsroom_series' ), true ) ) {
			$value = implode( newsroom_names_of( array( (int) $value ), $posts ) );
		}
		$text  = is_scalar( $value ) ? ( true === $value ? __( 'Yes', 'newsroom' ) : (string) $value ) : (string) wp_json_encode( $value );
		$text  = array_values( array_filter( array_map( 'trim', explode( "\n", $text ) ), 'strlen' ) );
		$lines = array_merge( $lines, 1 === count( $text ) ? array( "$name: $text[0]" ) : array_merge( array( "$name:" ), $text ) );
	}
	return $lines;
}

/**
 * A time in words, in WordPress's zone.
 *
 * @param int $time Unix seconds.
 * @return string
 */
function newsroom_version_time( $time ) {
	return wp_date( get_option( 'date_format' ) . ', ' . get_option( 'time_format' ), $time );
}

<?php
/**
 * Turns each part of a version into lines of text that can be compared.
 *
 * @package Newsroom
 */

if ( ! defined( 'ABSPATH' ) ) {
	exit;
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
			return isset( $meta['newsroom_headline_test'] ) ? newsroom_headline_test_lines( $meta['newsroom_headline_test'] ) : array();
		case 'byline':
			return newsroom_byline_lines( $story, $names );
		case 'picture':
			return newsroom_picture_lines( $story['picture'] );
		case 'access':
			$levels = newsroom_access_levels();
			$level  = $meta['newsroom_access'] ?? 'default';
			return array( $levels[ $level ] ?? $level );
		case 'corrections':
			return array_map( 'newsroom_correction_line', $meta['newsroom_corrections'] ?? array() );
		case 'sections':
		case 'tags':
			return newsroom_names_of( $story[ 'tags' === $part ? 'post_tag' : 'category' ], $names['terms'] );
		case 'slug':
			return array( $story['slug'] );
		case 'date':
			return array( newsroom_version_time( (int) strtotime( $story['date'] . ' UTC' ) ) );
		case 'live':
			return isset( $meta['newsroom_live'] ) ? array( newsroom_live_states()[ newsroom_sanitize_live( $meta['newsroom_live'] ) ] ) : array();
		case 'footnotes':
			return newsroom_footnote_lines( $meta['footnotes'] ?? '' );
		case 'sound':
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
	return array_map( static fn( $id ) => isset( $names[ $id ] ) && '' !== $names[ $id ] ? $names[ $id ] : "#$id", $ids );
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
	$kind  = $kinds[ $note['kind'] ] ?? $note['kind'];
	return $kind . ', ' . newsroom_version_time( (int) strtotime( $note['date'] ) ) . ': ' . $note['text'];
}

/**
 * The headlines of a test, and whether it runs or how it ended.
 *
 * @param array $test Test.
 * @return string[]
 */
function newsroom_headline_test_lines( $test ) {
	// A version has the field as it was stored, perhaps by other code.
	$test  = newsroom_sanitize_headline_test( $test );
	$lines = array_column( $test['variants'], 'headline' );
	if ( 'off' !== $test['state'] ) {
		$lines[] = 'running' === $test['state'] ? __( 'Running', 'newsroom' ) : newsroom_headline_test_message( $test, null );
	}
	return $lines;
}

/**
 * The footnotes of a version.
 *
 * @param string $footnotes Footnotes as WordPress's block stores them: a list in JSON.
 * @return string[]
 */
function newsroom_footnote_lines( $footnotes ) {
	$list = json_decode( $footnotes, true );
	return is_array( $list ) ? array_values( array_filter( array_column( $list, 'content' ), 'is_string' ) ) : array_filter( array( $footnotes ), 'strlen' );
}

/**
 * The name of a field, as the editors' boxes have it.
 *
 * @param string $key Meta key.
 * @return string
 */
function newsroom_meta_name( $key ) {
	$names = array(
		'newsroom_audio'         => __( 'Audio file', 'newsroom' ),
		'newsroom_series'        => __( 'Series', 'newsroom' ),
		'newsroom_episode_title' => __( 'Episode title', 'newsroom' ),
		'newsroom_chapters'      => __( 'Chapters', 'newsroom' ),
		'newsroom_transcript'    => __( 'Transcript', 'newsroom' ),
		'newsroom_story'         => __( 'Story', 'newsroom' ),
		'newsroom_pinned'        => __( 'Pinned', 'newsroom' ),
		'newsroom_key_event'     => __( 'Key event', 'newsroom' ),
		'newsroom_video_url'     => __( 'Video address', 'newsroom' ),
	);
	return $names[ $key ] ?? $key;
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
		$name = newsroom_meta_name( $key );
		if ( in_array( $key, newsroom_post_id_keys(), true ) ) {
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

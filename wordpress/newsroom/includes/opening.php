<?php
/**
 * The opening of a body: the part that everyone may read if the rest is restricted.
 *
 * @package Newsroom
 */

if ( ! defined( 'ABSPATH' ) ) {
	exit;
}

/**
 * The opening of a post's body, as markup of plain paragraphs.
 *
 * Two paragraphs or about 80 words, whichever comes first, and never more than half of the text, so that a short article isn't
 * given away completely. Only paragraphs are included; pictures, embeds, notes and other blocks are left out.
 *
 * @param WP_Post $post Post or revision.
 * @return string
 */
function newsroom_opening( $post ) {
	static $made = array();
	// An entry of a live story has no opening; its story has one.
	if ( 'live-entry' === $post->post_type ) {
		return '';
	}
	if ( ! empty( $post->newsroom_is_opening ) ) {
		return $post->post_content;
	}
	$key = $post->ID . ':' . md5( $post->post_content );
	if ( ! isset( $made[ $key ] ) ) {
		$made[ $key ] = newsroom_make_opening( $post );
	}
	return $made[ $key ];
}

/**
 * Makes the opening.
 *
 * @param WP_Post $post Post.
 * @return string
 */
function newsroom_make_opening( $post ) {
	/**
	 * Filters how many words of a restricted body everyone may read.
	 *
	 * @param int     $words Words.
	 * @param WP_Post $post  Post.
	 */
	$most_words = max( 0, (int) apply_filters( 'newsroom_opening_words', 80, $post ) );
	/**
	 * Filters how many paragraphs of a restricted body everyone may read.
	 *
	 * @param int     $paragraphs Paragraphs.
	 * @param WP_Post $post       Post.
	 */
	$most_paragraphs = max( 0, (int) apply_filters( 'newsroom_opening_paragraphs', 2, $post ) );

	// A space before every tag, so that the last word of one paragraph and the first of the next stay two.
	$all        = newsroom_plain( str_replace( '<', ' <', newsroom_without_notes( strip_shortcodes( $post->post_content ) ) ) );
	$words      = min( $most_words, (int) floor( count( newsroom_words( $all ) ) / 2 ) );
	$characters = min( $most_words * 8, (int) floor( mb_strlen( $all ) / 2 ) );
	$opening    = array();
	foreach ( newsroom_paragraphs( $post->post_content ) as $paragraph ) {
		if ( count( $opening ) >= $most_paragraphs || $words < 1 || $characters < 1 ) {
			break;
		}
		$text  = newsroom_plain( $paragraph['html'] );
		$count = count( newsroom_words( $text ) );
		$whole = $count <= $words && mb_strlen( $text ) <= $characters;
		if ( ! $whole && $opening && $words < 10 ) {
			break;
		}
		$opening[] = sprintf( '<p%s>%s</p>', $paragraph['direction'], $whole ? $paragraph['html'] : esc_html( newsroom_cut_text( $text, $words, $characters ) ) );
		if ( ! $whole ) {
			break;
		}
		$words      -= $count;
		$characters -= mb_strlen( $text );
	}
	/**
	 * Filters the opening of a restricted body.
	 *
	 * @param string  $opening Markup.
	 * @param WP_Post $post    Post.
	 */
	return (string) apply_filters( 'newsroom_opening', implode( "\n\n", $opening ), $post );
}

/**
 * The words of a text.
 *
 * @param string $text Text.
 * @return string[]
 */
function newsroom_words( $text ) {
	$words = preg_split( '/\s+/u', $text, -1, PREG_SPLIT_NO_EMPTY );
	return is_array( $words ) ? $words : array();
}

/**
 * Cuts a text at a word.
 *
 * @param string $text       Text.
 * @param int    $words      Most words.
 * @param int    $characters Most characters: the limit for languages without spaces between words.
 * @return string
 */
function newsroom_cut_text( $text, $words, $characters ) {
	$kept = implode( ' ', array_slice( newsroom_words( $text ), 0, $words ) );
	if ( mb_strlen( $kept ) > $characters ) {
		$kept  = mb_substr( $kept, 0, $characters );
		$space = mb_strrpos( $kept, ' ' );
		if ( false !== $space && $space > $characters / 2 ) {
			$kept = mb_substr( $kept, 0, $space );
		}
	}
	return rtrim( $kept, " \t\n.,;:–—-" ) . '…';
}

/**
 * Removes references to footnotes, because the notes aren't part of an opening.
 *
 * @param string $html Markup.
 * @return string
 */
function newsroom_without_notes( $html ) {
	return (string) preg_replace( '#<sup\b[^>]*\bdata-fn=[^>]*>.*?</sup>#is', '', $html );
}

/**
 * The paragraphs of a body in order.
 *
 * @param string $content Body as stored.
 * @return array[] Each: `html` (inline markup only) and `direction` (attributes, ready to print).
 */
function newsroom_paragraphs( $content ) {
	$markup = has_blocks( $content ) ? newsroom_paragraph_markup( parse_blocks( $content ) ) : wpautop( strip_shortcodes( $content ) );
	// A body without paragraphs (a list, a table, plain lines) counts as one paragraph.
	if ( ! preg_match_all( '#<p\b([^>]*)>(.*?)</p>#is', $markup, $found, PREG_SET_ORDER ) ) {
		$found = array( array( '', '', esc_html( newsroom_plain( strip_shortcodes( $content ) ) ) ) );
	}
	$inline     = array_fill_keys( array( 'em', 'strong', 'b', 'i', 'code', 'br', 'cite', 'q', 'small', 'sub', 'sup', 'mark' ), array() ) + array(
		'a'    => array( 'href' => true ),
		'abbr' => array( 'title' => true ),
		'bdo'  => array( 'dir' => true ),
		'span' => array(
			'lang' => true,
			'dir'  => true,
		),
	);
	$paragraphs = array();
	foreach ( $found as $match ) {
		$html = trim( wp_kses( newsroom_without_notes( strip_shortcodes( $match[2] ) ), $inline ) );
		if ( '' === newsroom_plain( $html ) ) {
			continue;
		}
		$direction    = preg_match( '#\bdir=["\']?(rtl|ltr)\b#i', $match[1], $way ) ? sprintf( ' dir="%s"', strtolower( $way[1] ) ) : '';
		$paragraphs[] = compact( 'html', 'direction' );
	}
	return $paragraphs;
}

/**
 * Markup of all paragraph blocks, including those inside layout blocks.
 *
 * @param array[] $blocks Parsed blocks.
 * @return string
 */
function newsroom_paragraph_markup( $blocks ) {
	$layout = array( 'core/group', 'core/columns', 'core/column' );
	$markup = '';
	foreach ( $blocks as $block ) {
		if ( 'core/paragraph' === $block['blockName'] ) {
			$direction = isset( $block['attrs']['direction'] ) && 'rtl' === $block['attrs']['direction'] ? '<p dir="rtl" ' : '<p ';
			$markup   .= preg_replace( '#<p\b#i', $direction, $block['innerHTML'], 1 );
		} elseif ( null === $block['blockName'] || 'core/freeform' === $block['blockName'] ) {
			$markup .= wpautop( strip_shortcodes( $block['innerHTML'] ) );
		} elseif ( in_array( $block['blockName'], $layout, true ) ) {
			$markup .= newsroom_paragraph_markup( $block['innerBlocks'] );
		}
	}
	return $markup;
}

<?php
/**
 * Corrections and clarifications: dated notes on an article. They are edited in a panel of the block editor, which changes the
 * post's meta and so supports undo, autosaves and revisions, or in a box of the classic editor.
 *
 * @package Newsroom
 */

if ( ! defined( 'ABSPATH' ) ) {
	exit;
}

define( 'NEWSROOM_MOST_CORRECTIONS', 20 );
define( 'NEWSROOM_LONGEST_CORRECTION', 1500 );
/** Seconds by which a date may be ahead, because clocks differ. */
define( 'NEWSROOM_CORRECTION_AHEAD', MINUTE_IN_SECONDS );

add_filter( 'rest_pre_insert_articles', 'newsroom_refuse_corrections_ahead', 10, 2 );
add_filter( 'rest_prepare_articles', 'newsroom_corrections_for_editor', 10, 2 );
add_filter( 'sanitize_post_meta_newsroom_corrections_for_revision', 'newsroom_sanitize_revised_corrections' );
newsroom_rest_field( 'articles', 'corrections', 'newsroom_corrections_of', 'newsroom_corrections_schema' );

/**
 * Kinds of notes with their labels for editors and readers.
 *
 * @return array<string,string>
 */
function newsroom_correction_kinds() {
	return array(
		'correction'    => __( 'Correction', 'newsroom' ),
		'clarification' => __( 'Clarification', 'newsroom' ),
	);
}

/**
 * Schema of the notes in REST. A text that is too long is refused instead of cut.
 *
 * @return array
 */
function newsroom_corrections_schema() {
	return array(
		'type'     => 'array',
		'maxItems' => NEWSROOM_MOST_CORRECTIONS,
		'items'    => array(
			'type'                 => 'object',
			'properties'           => array(
				'kind' => array(
					'type' => 'string',
					'enum' => array_keys( newsroom_correction_kinds() ),
				),
				'date' => array(
					'type'   => 'string',
					'format' => 'date-time',
				),
				'text' => array(
					'type'      => 'string',
					'maxLength' => NEWSROOM_LONGEST_CORRECTION,
				),
			),
			'additionalProperties' => false,
		),
	);
}

/**
 * Cleans the notes of an article: known kinds, a date, one paragraph with only links and emphasis, newest first. A note without text is
 * left out; a note without a date, or with one in the future, gets the time of saving. It is registered with the meta, so it applies to
 * every way of saving.
 *
 * @param mixed $value List of arrays with kind, date and text.
 * @return array[]
 */
function newsroom_sanitize_corrections( $value ) {
	return newsroom_dated_notes( $value, newsroom_instant() );
}

/**
 * Clean notes, each with a date.
 *
 * @param mixed  $value List of arrays with kind, date and text.
 * @param string $else  Date for a note that has none, or one in the future: UTC, `2026-11-25T13:00:00Z`.
 * @return array[]
 */
function newsroom_dated_notes( $value, $else ) {
	$notes = array();
	foreach ( newsroom_clean_notes( $value ) as $note ) {
		$notes[] = array(
			'kind' => $note['kind'],
			'date' => isset( $note['date'] ) && ! newsroom_is_in_future( $note['date'] ) ? $note['date'] : $else,
			'text' => $note['text'],
		);
	}
	return newsroom_newest_notes( $notes );
}

/**
 * Whether a date is in the future.
 *
 * @param string $date UTC, `2026-11-25T13:00:00Z`, or ''.
 * @return bool
 */
function newsroom_is_in_future( $date ) {
	return $date > newsroom_instant( time() + NEWSROOM_CORRECTION_AHEAD );
}

/**
 * Refuses an article with a note that is dated in the future, because readers would see that date.
 *
 * @param stdClass|WP_Error $prepared What is to be saved.
 * @param WP_REST_Request   $request  Request.
 * @return stdClass|WP_Error
 */
function newsroom_refuse_corrections_ahead( $prepared, $request ) {
	$notes = is_array( $request['meta'] ) && isset( $request['meta']['newsroom_corrections'] ) ? $request['meta']['newsroom_corrections'] : array();
	foreach ( newsroom_clean_notes( $notes ) as $note ) {
		if ( isset( $note['date'] ) && newsroom_is_in_future( $note['date'] ) ) {
			return new WP_Error( 'newsroom_correction_ahead', newsroom_correction_words()['refused'], array( 'status' => 400 ) );
		}
	}
	return $prepared;
}

/**
 * Gives the editor the notes as readers see them: a note that was stored with a future date gets the date of its publication, so that it
 * can be saved.
 *
 * @param WP_REST_Response $response Answer.
 * @param WP_Post          $post     Article.
 * @return WP_REST_Response
 */
function newsroom_corrections_for_editor( $response, $post ) {
	$data = $response->get_data();
	if ( ! empty( $data['meta']['newsroom_corrections'] ) ) {
		$data['meta']['newsroom_corrections'] = newsroom_corrections_of( $post->ID );
		$response->set_data( $data );
	}
	return $response;
}

/**
 * Cleans the notes of a revision. An autosave contains what the box or the panel sent: a note without a date stays without one,
 * and gets the time at which it is restored or saved and becomes visible to readers.
 *
 * @param mixed $value List of arrays with kind, text, and `date` or, from the box, `local`.
 * @return array[]
 */
function newsroom_sanitize_revised_corrections( $value ) {
	return newsroom_newest_notes( newsroom_clean_notes( newsroom_dated_by_box( $value ) ) );
}

/**
 * Cleans each note: known kinds, one paragraph. Notes without text and unreadable dates are left out.
 *
 * @param mixed $value List of arrays with kind, date and text.
 * @return array[] In the same order.
 */
function newsroom_clean_notes( $value ) {
	$notes = array();
	foreach ( array_slice( is_array( $value ) ? array_values( $value ) : array(), 0, 10 * NEWSROOM_MOST_CORRECTIONS ) as $note ) {
		$note = is_object( $note ) ? (array) $note : $note;
		$text = is_array( $note ) && isset( $note['text'] ) ? newsroom_sanitize_note( $note['text'] ) : '';
		if ( '' === newsroom_plain( $text ) ) {
			continue;
		}
		$kind  = isset( $note['kind'] ) && is_string( $note['kind'] ) ? $note['kind'] : '';
		$clean = array(
			'kind' => array_key_exists( $kind, newsroom_correction_kinds() ) ? $kind : 'correction',
			'text' => $text,
		);
		$date  = newsroom_sanitize_instant( $note['date'] ?? '' );
		if ( '' !== $date ) {
			$clean['date'] = $date;
		}
		$notes[] = $clean;
	}
	return $notes;
}

/**
 * The newest notes, the newest first; those without a date come before the others.
 *
 * @param array[] $notes Cleaned notes.
 * @return array[]
 */
function newsroom_newest_notes( $notes ) {
	usort( $notes, static fn( $a, $b ) => strcmp( $b['date'] ?? '~', $a['date'] ?? '~' ) );
	return array_slice( $notes, 0, NEWSROOM_MOST_CORRECTIONS );
}

/**
 * Cleans the text of a note.
 *
 * @param mixed $text Markup.
 * @return string
 */
function newsroom_sanitize_note( $text ) {
	if ( ! is_scalar( $text ) ) {
		return '';
	}
	// The content of these elements isn't text; wp_kses would keep the code of a script and whole comments.
	$text = preg_replace( array( '@<(script|style)[^>]*?>.*?</\1>@si', '@<!--.*?(?:-->|$)@s' ), '', wp_check_invalid_utf8( (string) $text ) );
	$text = wp_kses(
		(string) $text,
		array(
			'a'      => array( 'href' => true ),
			'em'     => array(),
			'strong' => array(),
		),
		array( 'http', 'https', 'mailto' )
	);
	return trim( (string) preg_replace( array( '@<!--.*?(?:-->|$)@s', '/\s+/u' ), array( '', ' ' ), force_balance_tags( $text ) ) );
}

/**
 * The notes of an article, newest first. A note that was stored without a date, or with one in the future, gets the time at which the
 * article was saved.
 *
 * @param int $id Article.
 * @return array[]
 */
function newsroom_corrections_of( $id ) {
	$saved = get_post_datetime( $id, 'modified', 'gmt' );
	return newsroom_dated_notes( get_post_meta( $id, 'newsroom_corrections', true ), newsroom_instant( $saved ? $saved->getTimestamp() : time() ) );
}

/**
 * Words that the panel and the box share.
 *
 * @return array<string,string>
 */
function newsroom_correction_words() {
	return array(
		/* translators: %s: elements. */
		'help'    => sprintf( __( 'Every reader sees these notes, even on a story for subscribers. You can use %s. A note without text isn’t saved.', 'newsroom' ), '<a href="…">, <em>, <strong>' ),
		/* translators: %d: number of characters. */
		'long'    => sprintf( __( 'This note is too long. Shorten it to %d characters, then save the story.', 'newsroom' ), NEWSROOM_LONGEST_CORRECTION ),
		/* translators: %d: number of characters. */
		'lock'    => sprintf( __( 'The story can’t be saved: a note under “Corrections” is too long. Shorten it to %d characters.', 'newsroom' ), NEWSROOM_LONGEST_CORRECTION ),
		/* translators: %s: elements. */
		'panel'   => sprintf( __( 'Every reader sees these notes, even on a story for subscribers. To add a link, select text and press Link or Ctrl+K. You can also type %s. A note without text isn’t saved.', 'newsroom' ), '<em>, <strong>' ),
		'date'    => __( 'A note without a date gets the time you save the story.', 'newsroom' ),
		'ahead'   => __( 'This date is in the future. Choose the time when the story was corrected.', 'newsroom' ),
		'refused' => __( 'The story can’t be saved: a note under “Corrections” is dated in the future. Choose the time when the story was corrected.', 'newsroom' ),
		'box'     => __( 'So does a note dated in the future.', 'newsroom' ),
	);
}

/**
 * Data for the panel of the block editor.
 *
 * @return array
 */
function newsroom_corrections_panel_data() {
	return array(
		'kinds'   => newsroom_correction_kinds(),
		'words'   => newsroom_correction_words(),
		'most'    => NEWSROOM_MOST_CORRECTIONS,
		'longest' => NEWSROOM_LONGEST_CORRECTION,
		'ahead'   => NEWSROOM_CORRECTION_AHEAD,
	);
}

/**
 * Prints the box: each note, and an empty one for the next. Clearing a text removes its note.
 *
 * @param WP_Post $post Article.
 */
function newsroom_corrections_box( $post ) {
	$words   = newsroom_correction_words();
	$notes   = newsroom_corrections_of( $post->ID );
	$notes[] = array(
		'kind' => 'correction',
		'date' => '',
		'text' => '',
	);
	printf( '<p class="description">%1$s %2$s %3$s %4$s</p>', esc_html( $words['help'] ), esc_html( $words['date'] ), esc_html( $words['box'] ), esc_html__( 'To remove a note, delete its text.', 'newsroom' ) );
	foreach ( array_slice( $notes, 0, NEWSROOM_MOST_CORRECTIONS ) as $at => $note ) {
		$name = "newsroom_corrections[$at]";
		echo '<fieldset class="newsroom-correction"><legend>' . esc_html( '' === $note['date'] ? __( 'New note', 'newsroom' ) : newsroom_correction_kinds()[ $note['kind'] ] ) . '</legend><p>';
		printf( '<label>%1$s <select name="%2$s[kind]">%3$s</select></label> ', esc_html__( 'Kind', 'newsroom' ), esc_attr( $name ), newsroom_options( newsroom_correction_kinds(), $note['kind'] ) ); // phpcs:ignore WordPress.Security.EscapeOutput -- escaped where it is made.
		$shown = '' === $note['date'] ? '' : get_date_from_gmt( str_replace( array( 'T', 'Z' ), array( ' ', '' ), $note['date'] ), 'Y-m-d\TH:i:s' );
		printf( '<label>%1$s <input type="datetime-local" step="1" name="%2$s[local]" value="%3$s"></label></p>', esc_html__( 'Date and time', 'newsroom' ), esc_attr( $name ), esc_attr( $shown ) );
		printf( '<p><label>%1$s<textarea class="widefat" rows="3" maxlength="%2$d" name="%3$s[text]">%4$s</textarea></label></p></fieldset>', esc_html__( 'Text', 'newsroom' ), (int) NEWSROOM_LONGEST_CORRECTION, esc_attr( $name ), esc_textarea( $note['text'] ) );
	}
}

/**
 * The notes as posted by the box, with dates in WordPress's time zone.
 *
 * @param mixed $posted Posted list.
 * @return array[]
 */
function newsroom_posted_corrections( $posted ) {
	return newsroom_sanitize_corrections( newsroom_dated_by_box( $posted ) );
}

/**
 * Notes with their `date` set from the box's field `local`, if they have that.
 *
 * @param mixed $posted List of notes.
 * @return array
 */
function newsroom_dated_by_box( $posted ) {
	$notes = array();
	foreach ( is_array( $posted ) ? $posted : array() as $note ) {
		if ( is_array( $note ) && isset( $note['local'] ) ) {
			$local        = is_string( $note['local'] ) ? str_replace( 'T', ' ', $note['local'] ) : '';
			$note['date'] = preg_match( '/^\d{4}-\d\d-\d\d \d\d:\d\d/', $local ) ? get_gmt_from_date( $local, 'Y-m-d\TH:i:s\Z' ) : '';
		}
		$notes[] = $note;
	}
	return $notes;
}

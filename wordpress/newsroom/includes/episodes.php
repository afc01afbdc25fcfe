<?php
/**
 * The sound of a story: one audio file with a title, chapters and a transcript, and the series that it belongs to. It is edited in a panel
 * of the block editor, which changes the post's meta and so supports undo, autosaves and revisions, or in a box of the classic editor.
 *
 * @package Newsroom
 */

if ( ! defined( 'ABSPATH' ) ) {
	exit;
}

define( 'NEWSROOM_MOST_CHAPTERS', 200 );
define( 'NEWSROOM_LONGEST_TRANSCRIPT', 300000 );

foreach ( array( 'add', 'update' ) as $newsroom_verb ) {
	add_filter( "{$newsroom_verb}_post_metadata", 'newsroom_keep_autosaved_audio', 10, 4 );
}
unset( $newsroom_verb );
newsroom_rest_field(
	// A preview reads the newest autosave.
	array( 'articles', 'articles-revision' ),
	'sound',
	static fn( $id ) => newsroom_sound_of( get_post( $id ) ),
	array(
		'type'       => array( 'object', 'null' ),
		'properties' => array(
			'audio'      => array( 'type' => 'object' ),
			'title'      => array( 'type' => 'string' ),
			'chapters'   => array(
				'type'  => 'array',
				'items' => array( 'type' => 'object' ),
			),
			'transcript' => array( 'type' => 'string' ),
			'series'     => array( 'type' => array( 'integer', 'null' ) ),
		),
	)
);

/**
 * Meta keys of an episode. Undo includes all of them, and autosaves and revisions all but the series.
 *
 * @return string[]
 */
function newsroom_episode_keys() {
	return array( 'newsroom_audio', 'newsroom_series', 'newsroom_episode_title', 'newsroom_chapters', 'newsroom_transcript' );
}

/**
 * Cleans a transcript: plain text, or WebVTT, without markup.
 *
 * @param mixed $value Value.
 * @return string
 */
function newsroom_sanitize_transcript( $value ) {
	$text = is_scalar( $value ) ? wp_check_invalid_utf8( str_replace( array( "\r\n", "\r" ), "\n", (string) $value ) ) : '';
	// Repeated, because removing one element may reveal another.
	do {
		$before = $text;
		$text   = (string) preg_replace( array( '@<(script|style)[^>]*?>.*?</\1>@si', '@<[/!]?[a-z][^>]*>@i', '/[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]/' ), '', $before );
	} while ( $text !== $before );
	return trim( mb_substr( $text, 0, NEWSROOM_LONGEST_TRANSCRIPT ) );
}

/**
 * The chapters of a text: one a line, a time and a title (`1:05 The bridge`). Lines without a time or a title are left out.
 *
 * @param mixed $text Text.
 * @return array[] Each: `start` in seconds and `title`, sorted by time, one for each time.
 */
function newsroom_chapters_in( $text ) {
	$chapters = array();
	foreach ( explode( "\n", newsroom_sanitize_lines( $text ) ) as $line ) {
		if ( ! preg_match( '/^\s*(?:(\d{1,2}):)?(\d{1,3}):([0-5]\d)\s+(\S.*)$/u', $line, $found ) ) {
			continue;
		}
		$start = 3600 * (int) $found[1] + 60 * (int) $found[2] + (int) $found[3];
		if ( ! isset( $chapters[ $start ] ) ) {
			$chapters[ $start ] = array(
				'start' => $start,
				'title' => newsroom_plain( $found[4] ),
			);
		}
	}
	ksort( $chapters );
	return array_slice( array_values( $chapters ), 0, NEWSROOM_MOST_CHAPTERS );
}

/**
 * The sound of a story as the site receives it. For a cut story, the caller gets only the title and the length.
 *
 * @param WP_Post|null $post  Article or its revision.
 * @param bool         $whole Whether the caller gets all of it, whatever the story's access level.
 * @return array|null Null when the story has none.
 */
function newsroom_sound_of( $post, $whole = false ) {
	$audio = $post instanceof WP_Post ? newsroom_audio_file( (int) get_post_meta( $post->ID, 'newsroom_audio', true ) ) : null;
	if ( ! $audio ) {
		return null;
	}
	$cut    = ! $whole && newsroom_is_cut( $post );
	// Revisions have no series of their own.
	$story  = wp_is_post_revision( $post );
	$series = (int) get_post_meta( $story ? $story : $post->ID, 'newsroom_series', true );
	if ( $cut ) {
		$audio['url'] = null;
	}
	return array(
		'audio'      => $audio,
		'title'      => newsroom_plain( get_post_meta( $post->ID, 'newsroom_episode_title', true ) ),
		'chapters'   => $cut ? array() : newsroom_chapters_in( get_post_meta( $post->ID, 'newsroom_chapters', true ) ),
		'transcript' => $cut ? '' : newsroom_sanitize_transcript( get_post_meta( $post->ID, 'newsroom_transcript', true ) ),
		'series'     => $series && 'podcasts' === get_post_type( $series ) ? $series : null,
	);
}

/**
 * The effective access level of a story: its own; if it has none, an episode of a subscriber series is for subscribers, too.
 *
 * @param WP_Post $post Article.
 * @return string
 */
function newsroom_level_of( $post ) {
	$own = newsroom_access_of( $post );
	if ( 'default' !== $own ) {
		return $own;
	}
	$series = (int) get_post_meta( $post->ID, 'newsroom_series', true );
	// A series in the trash or a draft counts, too: withdrawing it must not make paid content free.
	return $series && 'subscriber' === get_post_meta( $series, 'newsroom_series_access', true ) ? 'subscriber' : 'default';
}

/**
 * Keeps a file that a user may not choose out of an autosave, because WordPress checks no capability for the meta of autosaves.
 *
 * @param bool|null $check Whether another filter has decided, null to write.
 * @param int       $id    Autosave, or any other post.
 * @param string    $key   Key.
 * @param mixed     $value Value.
 * @return bool|null
 */
function newsroom_keep_autosaved_audio( $check, $id, $key, $value ) {
	$story = 'newsroom_audio' === $key && is_user_logged_in() && ! current_user_can( 'upload_files' ) ? wp_is_post_revision( $id ) : false;
	return $story && (int) get_post_meta( $story, $key, true ) !== (int) $value ? false : $check;
}

/**
 * Series to choose from, by their titles.
 *
 * @return array<int,string>
 */
function newsroom_series_choices() {
	$choices = array();
	$all     = get_posts(
		array(
			'post_type'              => 'podcasts',
			'post_status'            => array( 'publish', 'draft', 'future', 'private', 'pending' ),
			'numberposts'            => 500,
			'orderby'                => 'title',
			'order'                  => 'ASC',
			'update_post_term_cache' => false,
		)
	);
	foreach ( $all as $series ) {
		$title = newsroom_plain( $series->post_title );
		/* translators: %s: title of a series. */
		$choices[ $series->ID ] = newsroom_is_visible( $series ) ? $title : sprintf( __( '%s (not published)', 'newsroom' ), $title );
	}
	return $choices;
}

/**
 * Words that the panel and the box share.
 *
 * @return array<string,string>
 */
function newsroom_episode_words() {
	return array(
		'help'       => __( 'One audio file with a player above the story. On a story for subscribers, only they can listen.', 'newsroom' ),
		'title'      => __( 'Leave empty to use the story’s headline.', 'newsroom' ),
		'chapters'   => __( 'One per line: a time and a title, such as “12:30 The vote”.', 'newsroom' ),
		/* translators: %s: a line of the chapters. */
		'line'       => __( 'This line needs a time and a title: “%s”. Correct it, then save the story.', 'newsroom' ),
		'lock'       => __( 'The story can’t be saved: a line under “Sound → Chapters” needs a time and a title.', 'newsroom' ),
		'transcript' => __( 'Plain text, or WebVTT with times. On a story for subscribers, only they can read it.', 'newsroom' ),
	);
}

/**
 * Data for the panel of the block editor.
 *
 * @return array
 */
function newsroom_episode_panel_data() {
	return array(
		'words'  => newsroom_episode_words(),
		'series' => newsroom_choices( newsroom_series_choices() ),
	);
}

/**
 * Prints the box.
 *
 * @param WP_Post $post Article.
 */
function newsroom_episode_box( $post ) {
	$words  = newsroom_episode_words();
	$value  = static fn( $key ) => get_post_meta( $post->ID, $key, true );
	$chosen = (int) $value( 'newsroom_audio' );
	$files  = get_posts(
		array(
			'post_type'      => 'attachment',
			'post_mime_type' => 'audio',
			'post_status'    => 'inherit',
			'numberposts'    => 200,
		)
	);
	$audio  = array( 0 => __( '— No audio file —', 'newsroom' ) );
	foreach ( $files as $file ) {
		$audio[ $file->ID ] = newsroom_plain( $file->post_title );
	}
	if ( $chosen && ! isset( $audio[ $chosen ] ) ) {
		$audio[ $chosen ] = newsroom_plain( get_the_title( $chosen ) );
	}
	printf( '<p class="description">%s</p>', esc_html( $words['help'] ) );
	if ( current_user_can( 'edit_post_meta', $post->ID, 'newsroom_audio' ) ) {
		newsroom_print_select( 'newsroom_audio', __( 'Audio file', 'newsroom' ), $chosen, $audio );
	}
	$series  = (int) $value( 'newsroom_series' );
	$choices = array( 0 => __( '— No series —', 'newsroom' ) ) + newsroom_series_choices();
	if ( $series && ! isset( $choices[ $series ] ) && get_post( $series ) ) {
		// A series in the trash. Without this option, saving would remove the story from a paid series and so make it free.
		/* translators: %s: title of a series. */
		$choices[ $series ] = sprintf( __( '%s (not published)', 'newsroom' ), newsroom_plain( get_post_field( 'post_title', $series, 'raw' ) ) );
	}
	newsroom_print_select( 'newsroom_series', __( 'Series', 'newsroom' ), $series, $choices );
	newsroom_print_input( 'newsroom_episode_title', __( 'Episode title', 'newsroom' ), $value( 'newsroom_episode_title' ), $words['title'] );
	foreach ( newsroom_bad_chapters( $value( 'newsroom_chapters' ) ) as $line ) {
		printf( '<p class="newsroom-problem" role="alert">%s</p>', esc_html( sprintf( $words['line'], $line ) ) );
	}
	newsroom_print_textarea( 'newsroom_chapters', __( 'Chapters', 'newsroom' ), $value( 'newsroom_chapters' ), $words['chapters'], array( 'rows' => 6 ) );
	newsroom_print_textarea( 'newsroom_transcript', __( 'Transcript', 'newsroom' ), $value( 'newsroom_transcript' ), $words['transcript'], array( 'rows' => 8 ) );
}

/**
 * Lines of the chapters without a time or a title. They stay in the text, but readers don't get them.
 *
 * @param mixed $text Text.
 * @return string[]
 */
function newsroom_bad_chapters( $text ) {
	return array_values(
		array_filter(
			array_map( 'trim', explode( "\n", newsroom_sanitize_lines( $text ) ) ),
			static fn( $line ) => '' !== $line && ! newsroom_chapters_in( $line )
		)
	);
}

<?php
/**
 * Post meta: keys, types, who may change them, and how values are cleaned. Cleaning is part of the registration, so it applies
 * to meta boxes, REST and imports alike.
 *
 * @package Newsroom
 */

if ( ! defined( 'ABSPATH' ) ) {
	exit;
}

add_action( 'init', 'newsroom_register_meta', 11 );
// Of the plugin Duplicate Post.
add_filter( 'duplicate_post_excludelist_filter', 'newsroom_meta_of_the_original' );

/**
 * Meta keys by post type.
 *
 * @return array<string,string[]>
 */
function newsroom_meta_keys() {
	return array(
		'articles'   => array_merge( newsroom_byline_keys(), array( 'newsroom_access', 'newsroom_corrections', 'newsroom_headline_test', 'newsroom_live' ), newsroom_episode_keys() ),
		'live-entry' => array( 'newsroom_story', 'newsroom_author', 'newsroom_pinned', 'newsroom_key_event' ),
		'video'      => array( 'newsroom_author', 'newsroom_video_url' ),
		'crosswords' => array( 'newsroom_author', 'newsroom_iframe' ),
		'authors'    => array( 'newsroom_role' ),
		'podcasts'   => array( 'newsroom_series_access', 'newsroom_series_author', 'newsroom_series_email', 'newsroom_series_language', 'newsroom_series_category', 'newsroom_series_explicit', 'newsroom_series_guid' ),
		'page'       => array( 'newsroom_top_articles', 'newsroom_breaking', 'newsroom_featured_excerpt', 'newsroom_bulleted' ),
	);
}

/**
 * Type, default and cleaning of each meta key.
 *
 * @return array<string,array>
 */
function newsroom_meta_definitions() {
	return array(
		'newsroom_author'           => array( 'integer', 0, 'absint' ),
		'newsroom_access'           => array( 'string', 'default', 'newsroom_sanitize_access' ),
		'newsroom_video_url'        => array( 'string', '', 'newsroom_sanitize_web_address' ),
		'newsroom_iframe'           => array( 'string', '', 'newsroom_sanitize_embed' ),
		'newsroom_top_articles'     => array( 'array', array(), 'newsroom_sanitize_ids' ),
		'newsroom_breaking'         => array( 'boolean', false, 'newsroom_sanitize_flag' ),
		'newsroom_featured_excerpt' => array( 'string', '', 'newsroom_sanitize_lines' ),
		'newsroom_bulleted'         => array( 'boolean', false, 'newsroom_sanitize_flag' ),
		'newsroom_live'             => array( 'string', '', 'newsroom_sanitize_live' ),
		'newsroom_story'            => array( 'integer', 0, 'absint' ),
		'newsroom_pinned'           => array( 'boolean', false, 'newsroom_sanitize_flag' ),
		'newsroom_key_event'        => array( 'boolean', false, 'newsroom_sanitize_flag' ),
		'newsroom_corrections'      => array( 'array', array(), 'newsroom_sanitize_corrections' ),
		'newsroom_headline_test'    => array( 'object', newsroom_no_headline_test(), 'newsroom_sanitize_headline_test' ),
		'newsroom_authors'          => array( 'array', array(), 'newsroom_sanitize_people' ),
		'newsroom_contributors'     => array( 'array', array(), 'newsroom_sanitize_people' ),
		'newsroom_agency'           => array( 'string', '', 'newsroom_sanitize_line' ),
		'newsroom_agency_url'       => array( 'string', '', 'newsroom_sanitize_agency_url' ),
		'newsroom_role'             => array( 'string', '', 'newsroom_sanitize_line' ),
		'newsroom_audio'            => array( 'integer', 0, 'absint' ),
		'newsroom_series'           => array( 'integer', 0, 'absint' ),
		'newsroom_episode_title'    => array( 'string', '', 'newsroom_sanitize_words' ),
		'newsroom_chapters'         => array( 'string', '', 'newsroom_sanitize_lines' ),
		'newsroom_transcript'       => array( 'string', '', 'newsroom_sanitize_transcript' ),
		'newsroom_series_access'    => array( 'string', 'everyone', 'newsroom_sanitize_series_access' ),
		'newsroom_series_author'    => array( 'string', '', 'newsroom_sanitize_words' ),
		'newsroom_series_email'     => array( 'string', '', 'newsroom_sanitize_email' ),
		'newsroom_series_language'  => array( 'string', '', 'newsroom_sanitize_language' ),
		'newsroom_series_category'  => array( 'string', 'News', 'newsroom_sanitize_series_category' ),
		'newsroom_series_explicit'  => array( 'boolean', false, 'newsroom_sanitize_flag' ),
		'newsroom_series_guid'      => array( 'string', '', 'newsroom_sanitize_uuid' ),
	);
}

/**
 * Meta keys of an article that no earlier revision or version restores: an earlier text must neither open a story, as another access level
 * or series would, nor end or reopen its live coverage.
 *
 * @return string[]
 */
function newsroom_keys_of_the_present() {
	return array( 'newsroom_access', 'newsroom_series', 'newsroom_live' );
}

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

/**
 * Registers the meta of each type.
 */
function newsroom_register_meta() {
	$definitions = newsroom_meta_definitions();
	foreach ( newsroom_meta_keys() as $type => $keys ) {
		foreach ( $keys as $key ) {
			list( $kind, $default, $sanitize ) = $definitions[ $key ];
			register_post_meta(
				$type,
				$key,
				array(
					'type'              => $kind,
					'single'            => true,
					'default'           => $default,
					'sanitize_callback' => $sanitize,
					'auth_callback'     => 'newsroom_may_edit_meta',
					'show_in_rest'      => newsroom_meta_in_rest( $key, $kind ),
					// Corrections, headlines, bylines and sound are edited with the text: autosaves store them, and restoring an earlier
					// version restores them.
					'revisions_enabled' => 'articles' === $type && ! in_array( $key, newsroom_keys_of_the_present(), true ),
				)
			);
		}
	}
}

/**
 * The representation of a meta value in REST.
 *
 * @param string $key  Meta key.
 * @param string $kind Type.
 * @return array|true Its schema; true where the type says everything.
 */
function newsroom_meta_in_rest( $key, $kind ) {
	switch ( $key ) {
		case 'newsroom_corrections':
			return array( 'schema' => newsroom_corrections_schema() );
		case 'newsroom_headline_test':
			return array( 'schema' => newsroom_headline_test_schema() );
		case 'newsroom_authors':
		case 'newsroom_contributors':
			return array( 'schema' => newsroom_people_schema() );
		case 'newsroom_agency':
		case 'newsroom_role':
			return array(
				'schema' => array(
					'type'      => 'string',
					'maxLength' => NEWSROOM_LONGEST_LINE,
				),
			);
	}
	if ( 'array' !== $kind ) {
		return true;
	}
	return array(
		'schema' => array(
			'type'  => 'array',
			'items' => array( 'type' => 'integer' ),
		),
	);
}

/**
 * Whether a user may change a post's fields: users who may edit the post may.
 *
 * @param bool   $allowed Decision so far.
 * @param string $key     Meta key.
 * @param int    $post_id Post.
 * @param int    $user_id User.
 * @return bool
 */
function newsroom_may_edit_meta( $allowed, $key, $post_id, $user_id ) {
	// Only REST checks that the user may edit the story that an entry joins (includes/live.php).
	if ( 'newsroom_story' === $key && ! ( defined( 'REST_REQUEST' ) && REST_REQUEST ) ) {
		return false;
	}
	// Choosing a file reveals its address, so it requires access to the media library.
	if ( 'newsroom_audio' === $key && ! user_can( $user_id, 'upload_files' ) ) {
		return false;
	}
	return user_can( $user_id, 'edit_post', $post_id );
}

/**
 * Access levels with their labels for editors.
 *
 * @return array<string,string>
 */
function newsroom_access_levels() {
	return array(
		'default'    => __( 'Same as the section (default)', 'newsroom' ),
		'free'       => __( 'Everyone', 'newsroom' ),
		'registered' => __( 'Signed-in readers', 'newsroom' ),
		'subscriber' => __( 'Subscribers', 'newsroom' ),
	);
}

/**
 * Cleans an access level.
 *
 * @param mixed $value Value.
 * @return string
 */
function newsroom_sanitize_access( $value ) {
	return is_string( $value ) && in_array( $value, array( 'default', 'free', 'registered', 'subscriber' ), true ) ? $value : 'default';
}

/**
 * Cleans a web address.
 *
 * @param mixed $value Value.
 * @return string An http or https address, or ''.
 */
function newsroom_sanitize_web_address( $value ) {
	return is_scalar( $value ) ? esc_url_raw( trim( (string) $value ), array( 'http', 'https' ) ) : '';
}

/**
 * Cleans embed markup: frames, links and plain text stay; scripts and everything else go.
 *
 * @param mixed $value Value.
 * @return string
 */
function newsroom_sanitize_embed( $value ) {
	if ( ! is_scalar( $value ) ) {
		return '';
	}
	$frame = array_fill_keys( array( 'src', 'title', 'width', 'height', 'allow', 'allowfullscreen', 'loading', 'frameborder', 'scrolling', 'referrerpolicy' ), true );
	return trim(
		wp_kses(
			(string) $value,
			array(
				'iframe' => $frame,
				'div'    => array( 'class' => true ),
				'p'      => array(),
				'a'      => array( 'href' => true ),
			),
			array( 'http', 'https' )
		)
	);
}

/**
 * Cleans a line of text.
 *
 * @param mixed $value Value.
 * @return string
 */
function newsroom_sanitize_words( $value ) {
	return is_scalar( $value ) ? sanitize_text_field( (string) $value ) : '';
}

/**
 * Cleans a text of several lines, and normalizes the line ends that forms send.
 *
 * @param mixed $value Value.
 * @return string
 */
function newsroom_sanitize_lines( $value ) {
	return is_scalar( $value ) ? sanitize_textarea_field( str_replace( array( "\r\n", "\r" ), "\n", (string) $value ) ) : '';
}

/**
 * Cleans an ordered list of post ids: each once, 100 at most.
 *
 * @param mixed $value Array of ids, or ids separated by commas.
 * @return int[]
 */
function newsroom_sanitize_ids( $value ) {
	if ( is_string( $value ) ) {
		$value = explode( ',', $value );
	}
	$ids = array_map( 'absint', array_filter( (array) $value, 'is_numeric' ) );
	return array_slice( array_values( array_unique( array_filter( $ids ) ) ), 0, 100 );
}

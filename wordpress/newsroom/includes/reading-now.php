<?php
/**
 * Current readings: the site counts them, WordPress requests the counts and knows the stories. No data about readers is sent or
 * stored.
 *
 * @package Newsroom
 */

if ( ! defined( 'ABSPATH' ) ) {
	exit;
}

/** Seconds to wait for the site's response. */
define( 'NEWSROOM_READING_TIMEOUT', 4 );

/** Lengths of the periods in minutes. */
define( 'NEWSROOM_READING_PERIODS', array( 5, 30, 60 ) );

// The widget and the screen request it while they are open.
newsroom_route(
	'GET',
	'/reading-now',
	static fn( $request ) => newsroom_reading_answer( (int) $request['minutes'], (int) $request['most'] ),
	'newsroom_may_see_reading',
	array(
		'minutes' => array(
			'type'    => 'integer',
			'enum'    => NEWSROOM_READING_PERIODS,
			'default' => 5,
		),
		'most'    => array(
			'type'    => 'integer',
			'minimum' => 1,
			'maximum' => 20,
			'default' => 20,
		),
	)
);

/**
 * Whether the user may see current readings: everyone who writes may.
 *
 * @return bool
 */
function newsroom_may_see_reading() {
	return current_user_can( 'edit_posts' );
}

/**
 * Labels of the periods.
 *
 * @return array<int,string> By their lengths in minutes.
 */
function newsroom_reading_periods() {
	$periods = array();
	foreach ( NEWSROOM_READING_PERIODS as $minutes ) {
		/* translators: %s: number of minutes. */
		$periods[ $minutes ] = sprintf( __( '%s minutes', 'newsroom' ), number_format_i18n( $minutes ) );
	}
	return $periods;
}

/**
 * Current readings, as the screen shows them.
 *
 * @param int $minutes Length of the period.
 * @param int $most    Most stories.
 * @return array `html`: the list; `note`: when it was counted, or why it can't be shown; `problem`: whether the note is about a problem.
 */
function newsroom_reading_answer( $minutes, $most ) {
	$answer = newsroom_ask_what_is_read();
	if ( is_wp_error( $answer ) ) {
		return array(
			'html'    => '',
			'note'    => $answer->get_error_message(),
			'problem' => true,
		);
	}
	$period = null;
	foreach ( $answer['periods'] as $each ) {
		if ( is_array( $each ) && isset( $each['minutes'] ) && (int) $each['minutes'] === $minutes ) {
			$period = $each;
		}
	}
	return array(
		'html'    => $period ? newsroom_reading_list( $period, $most ) : '',
		/* translators: %s: a time with seconds. */
		'note'    => sprintf( __( 'Counted at %s.', 'newsroom' ), wp_date( 'H:i:s', (int) ( $answer['at'] / 1000 ) ) ),
		'problem' => false,
	);
}

/**
 * Requests the readings from the site.
 *
 * @return array|WP_Error `at` (milliseconds since 1970) and `periods`; or the reason for the failure, in words for editors.
 */
function newsroom_ask_what_is_read() {
	if ( '' === newsroom_site_url() ) {
		return new WP_Error( 'newsroom_reading', newsroom_no_site_message() );
	}
	$body     = (string) wp_json_encode( newsroom_payload( 'test', 'site', 0, 'reading-now', 'publish' ) );
	$response = newsroom_post_signed( '/api/v1/articles/popular/now', $body, wp_generate_uuid4(), NEWSROOM_READING_TIMEOUT );
	if ( is_wp_error( $response ) ) {
		return new WP_Error( 'newsroom_reading', __( 'The site isn’t responding. This list will try again automatically.', 'newsroom' ) );
	}
	$code   = (int) wp_remote_retrieve_response_code( $response );
	$answer = json_decode( wp_remote_retrieve_body( $response ), true );
	if ( 200 === $code && is_array( $answer ) && ! empty( $answer['ok'] ) && isset( $answer['at'], $answer['periods'] ) && is_numeric( $answer['at'] ) && is_array( $answer['periods'] ) ) {
		return $answer;
	}
	if ( 404 === $code || 405 === $code ) {
		return new WP_Error( 'newsroom_reading', __( 'The site is older than this plugin and can’t report what readers are reading. Update the site.', 'newsroom' ) );
	}
	if ( 200 === $code ) {
		return new WP_Error( 'newsroom_reading', __( 'The response isn’t from the site. Check the site address.', 'newsroom' ) );
	}
	if ( 503 === $code ) {
		return new WP_Error( 'newsroom_reading', __( 'The site can’t count readers right now: its database isn’t available, or webhooks are off.', 'newsroom' ) );
	}
	$reason = is_array( $answer ) && isset( $answer['reason'] ) && is_string( $answer['reason'] ) ? $answer['reason'] : '';
	return new WP_Error( 'newsroom_reading', newsroom_explain_status( $code, $reason, isset( $answer['ahead'] ) ? (int) $answer['ahead'] : 0 ) );
}

/**
 * Stories of a period that WordPress has and readers can see, most read first.
 *
 * @param array $period See newsroom_ask_what_is_read().
 * @param int   $most   Most stories.
 * @return array[] Each: `post`, `readings`, `before`.
 */
function newsroom_reading_stories( $period, $most ) {
	$counts = array();
	foreach ( isset( $period['stories'] ) && is_array( $period['stories'] ) ? $period['stories'] : array() as $story ) {
		if ( is_array( $story ) && isset( $story['id'], $story['readings'], $story['before'] ) ) {
			$counts[ (int) $story['id'] ] = array( (int) $story['readings'], (int) $story['before'] );
		}
	}
	_prime_post_caches( array_keys( $counts ), false, false );
	$stories = array();
	foreach ( $counts as $id => $count ) {
		$post = get_post( $id );
		if ( $post && 'articles' === $post->post_type && newsroom_is_visible( $post ) && count( $stories ) < $most ) {
			$stories[] = array(
				'post'     => $post,
				'readings' => $count[0],
				'before'   => $count[1],
			);
		}
	}
	return $stories;
}

<?php
/**
 * Asks the site for the state of headline tests, and ends those that are decided: from wp-cron every five minutes while a test runs, and
 * whenever an editor looks at one.
 *
 * @package Newsroom
 */

if ( ! defined( 'ABSPATH' ) ) {
	exit;
}

/** Seconds between two requests. */
define( 'NEWSROOM_HEADLINE_CHECK', 5 * MINUTE_IN_SECONDS );

add_action( 'newsroom_headline_tests', 'newsroom_check_headline_tests' );
add_action( 'newsroom_deliver', 'newsroom_continue_headline_tests', 10, 0 );
add_action( 'added_post_meta', 'newsroom_headline_test_saved', 10, 3 );
add_action( 'updated_post_meta', 'newsroom_headline_test_saved', 10, 3 );
newsroom_route( 'GET', '/headline-test/(?P<id>\d+)', 'newsroom_headline_test_report', 'newsroom_may_see_headline_test', array( 'id' => array( 'type' => 'integer' ) ) );

/**
 * Schedules the first request for a test that was started.
 *
 * @param int    $meta_id Meta row.
 * @param int    $post_id Post.
 * @param string $key     Meta key.
 */
function newsroom_headline_test_saved( $meta_id, $post_id, $key ) {
	if ( 'newsroom_headline_test' === $key ) {
		$test = newsroom_headline_test_of( $post_id );
		if ( 'running' === $test['state'] ) {
			newsroom_plan_headline_check();
		}
	}
}

/**
 * Schedules the next request, unless one is scheduled.
 */
function newsroom_plan_headline_check() {
	if ( newsroom_next_cron( 'newsroom_headline_tests', time() ) ) {
		return;
	}
	$next = time() + NEWSROOM_HEADLINE_CHECK;
	// WordPress refuses a second event within ten minutes unless its arguments differ.
	wp_schedule_single_event( $next, 'newsroom_headline_tests', array( $next ) );
}

/**
 * The stories whose headlines are being tested.
 *
 * @return int[]
 */
function newsroom_tested_stories() {
	return array_map(
		'intval',
		get_posts(
			array(
				'post_type'              => 'articles',
				'post_status'            => 'publish',
				'fields'                 => 'ids',
				'numberposts'            => 200,
				'no_found_rows'          => true,
				'update_post_term_cache' => false,
				'suppress_filters'       => false,
				'meta_query'             => array( // phpcs:ignore WordPress.DB.SlowDBQuery -- few stories have this key.
					array(
						'key'     => 'newsroom_headline_test',
						'value'   => '"state";s:7:"running"',
						'compare' => 'LIKE',
					),
				),
			)
		)
	);
}

/**
 * Asks for the state of every running test. Called by wp-cron.
 */
function newsroom_check_headline_tests() {
	$stories = newsroom_tested_stories();
	foreach ( $stories as $id ) {
		newsroom_check_headline_test( $id );
	}
	newsroom_continue_headline_tests();
}

/**
 * Schedules the next request while a test runs. Also called by the hourly task, in case the event of wp-cron was lost, for example when
 * the plugin was deactivated.
 */
function newsroom_continue_headline_tests() {
	if ( newsroom_tested_stories() ) {
		newsroom_plan_headline_check();
	}
}

/**
 * Asks for the state of a story's test, and ends it if the site has decided.
 *
 * @param int $id Article.
 * @return array|null What the site says; null when no test runs, or the site doesn't answer.
 */
function newsroom_check_headline_test( $id ) {
	$post = get_post( $id );
	$test = newsroom_headline_test_of( $id );
	if ( ! $post || 'running' !== $test['state'] || ! newsroom_is_visible( $post ) ) {
		return null;
	}
	$test_id = newsroom_headline_test_id( $id, $test );
	$answer  = newsroom_ask_about_headline_test( $id, $test_id );
	if ( $answer && in_array( $answer['state'], array( 'won', 'undecided' ), true ) ) {
		$won = 'won' === $answer['state'] && $answer['winner'] >= 0 && $answer['winner'] <= count( $test['variants'] );
		newsroom_end_headline_test( $id, $test_id, $won ? $answer['winner'] : -1, $answer['readings'], $answer['ended'] );
	}
	return $answer;
}

/**
 * Asks the site for the state of a test.
 *
 * @param int    $id      Article.
 * @param string $test_id Id of the test.
 * @return array|null `readers`, `state`, `winner`, `readings`, `certainty`, `ended`; null when the site doesn't answer, or doesn't know the test yet.
 */
function newsroom_ask_about_headline_test( $id, $test_id ) {
	$answer = newsroom_ask_site( '/api/v1/headline-tests/report', newsroom_payload( 'test', 'headline-tests', $id, $test_id, 'publish' ) );
	if ( ! isset( $answer['state'], $answer['readings'] ) ) {
		return null;
	}
	$certainty = isset( $answer['certainty'] ) && is_array( $answer['certainty'] ) ? $answer['certainty'] : array();
	return array(
		'readers'   => isset( $answer['readers'] ) && is_string( $answer['readers'] ) ? $answer['readers'] : '',
		'state'     => is_string( $answer['state'] ) ? $answer['state'] : '',
		'winner'    => isset( $answer['winner'] ) && is_int( $answer['winner'] ) ? $answer['winner'] : -1,
		'readings'  => newsroom_clean_readings( $answer['readings'], NEWSROOM_MOST_HEADLINES + 1 ),
		'certainty' => array_map( 'floatval', array_filter( array_slice( array_values( $certainty ), 0, NEWSROOM_MOST_HEADLINES + 1 ), 'is_numeric' ) ),
		'ended'     => isset( $answer['ended'] ) && is_string( $answer['ended'] ) ? $answer['ended'] : '',
	);
}

/**
 * Whether the user may see the state of a test, which may also end it: users who may edit the story may. The site's credentials may
 * only read.
 *
 * @param WP_REST_Request $request Request.
 * @return bool
 */
function newsroom_may_see_headline_test( $request ) {
	return current_user_can( 'edit_posts' ) && current_user_can( 'edit_post', (int) $request['id'] );
}

/**
 * The state of a story's test, after ending it if it is decided.
 *
 * @param WP_REST_Request $request Request.
 * @return array `test` (the field as it is now), `report` (what the site says, or null), `message`.
 */
function newsroom_headline_test_report( $request ) {
	$id     = (int) $request['id'];
	$report = newsroom_check_headline_test( $id );
	$test   = newsroom_headline_test_of( $id );
	return array(
		'test'    => $test,
		'report'  => $report,
		'message' => newsroom_headline_test_message( $test, $report ),
	);
}

/**
 * Letter of a headline, as editors see it: A is the story's own.
 *
 * @param int $number Number.
 * @return string
 */
function newsroom_headline_letter( $number ) {
	return substr( 'ABCD', max( 0, min( NEWSROOM_MOST_HEADLINES, $number ) ), 1 );
}

/**
 * The state of a test, in words for the editor.
 *
 * @param array      $test   Test.
 * @param array|null $report What the site says.
 * @return string
 */
function newsroom_headline_test_message( $test, $report ) {
	if ( 'off' === $test['state'] ) {
		return '';
	}
	if ( 'ended' === $test['state'] ) {
		$day = get_date_from_gmt( str_replace( array( 'T', 'Z' ), array( ' ', '' ), $test['ended'] ), get_option( 'date_format' ) );
		if ( 'editor' === $test['reason'] ) {
			/* translators: %s: a date. */
			return sprintf( __( 'Stopped by an editor on %s.', 'newsroom' ), $day );
		}
		if ( $test['winner'] < 0 ) {
			/* translators: %s: a date. */
			return sprintf( __( 'No winner. The test ended on %s, and the story keeps its own headline.', 'newsroom' ), $day );
		}
		/* translators: 1: letter of a headline, 2: a date. */
		return sprintf( __( '%1$s won on %2$s.', 'newsroom' ), newsroom_headline_letter( $test['winner'] ), $day );
	}
	if ( ! $report ) {
		return __( 'Running. The site has no numbers yet.', 'newsroom' );
	}
	if ( 'off' === $report['readers'] ) {
		return __( 'Running, but no readers can take part, because the site doesn’t ask for consent to measurement. Ask your administrator about HEADLINE_TESTS.', 'newsroom' );
	}
	return __( 'Running. No winner yet.', 'newsroom' );
}

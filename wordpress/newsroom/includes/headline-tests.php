<?php
/**
 * Headline tests: a story's cards show one of two to four headlines to each share of the readers, until the site finds that one is better.
 * The field `newsroom_headline_test` has all of it; the first headline is the story's own.
 *
 * @package Newsroom
 */

if ( ! defined( 'ABSPATH' ) ) {
	exit;
}

/** Most headlines in addition to the story's own. */
define( 'NEWSROOM_MOST_HEADLINES', 3 );
/** Most characters of a headline. */
define( 'NEWSROOM_LONGEST_HEADLINE', 200 );

add_filter( 'rest_prepare_articles', 'newsroom_hide_headline_test', 10, 2 );
add_action( 'transition_post_status', 'newsroom_headline_test_published', 10, 3 );
newsroom_rest_field( 'articles', 'headline_test', 'newsroom_rest_headline_test', array( 'type' => array( 'object', 'null' ) ) );

/**
 * A story without a test.
 *
 * @return array
 */
function newsroom_no_headline_test() {
	return array(
		'state'    => 'off',
		'variants' => array(),
		'story'    => true,
		'started'  => '',
		'ended'    => '',
		'winner'   => -1,
		'reason'   => '',
		'own'      => '',
		'readings' => array(),
	);
}

/**
 * Schema of a test in REST. A headline that is too long is refused instead of cut.
 *
 * @return array
 */
function newsroom_headline_test_schema() {
	return array(
		'type'                 => 'object',
		'properties'           => array(
			// `off`, `running` or `ended`.
			'state'    => array(
				'type' => 'string',
				'enum' => array( 'off', 'running', 'ended' ),
			),
			'variants' => array(
				'type'     => 'array',
				'maxItems' => NEWSROOM_MOST_HEADLINES,
				'items'    => array(
					'type'                 => 'object',
					'properties'           => array(
						'headline' => array(
							'type'      => 'string',
							'maxLength' => NEWSROOM_LONGEST_HEADLINE,
						),
						'image'    => array( 'type' => 'integer' ),
					),
					'additionalProperties' => false,
				),
			),
			// Whether the headline that wins becomes the story's own.
			'story'    => array( 'type' => 'boolean' ),
			'started'  => array( 'type' => 'string' ),
			'ended'    => array( 'type' => 'string' ),
			// Number of the headline that won, 0 for the story's own, -1 for none.
			'winner'   => array( 'type' => 'integer' ),
			// Who ended it: `site`, `time` or `editor`.
			'reason'   => array( 'type' => 'string' ),
			// The story's own headline during the test.
			'own'      => array(
				'type'      => 'string',
				'maxLength' => 1000,
			),
			// Readings of each headline, the story's own first.
			'readings' => array(
				'type'     => 'array',
				'maxItems' => NEWSROOM_MOST_HEADLINES + 1,
				'items'    => array( 'type' => 'integer' ),
			),
		),
		'additionalProperties' => false,
	);
}

/**
 * Cleans a test. Empty and repeated headlines are left out; a running test without a start time starts now. It is registered with the meta,
 * so it applies to every way of saving.
 *
 * @param mixed $value Test.
 * @return array
 */
function newsroom_sanitize_headline_test( $value ) {
	$value = is_object( $value ) ? (array) $value : $value;
	$test  = newsroom_no_headline_test();
	if ( ! is_array( $value ) ) {
		return $test;
	}
	$test['variants'] = newsroom_clean_headlines( $value['variants'] ?? array() );
	$test['story']    = ! isset( $value['story'] ) || '1' === newsroom_sanitize_flag( $value['story'] );
	$state            = $value['state'] ?? 'off';
	if ( ! $test['variants'] || ! in_array( $state, array( 'running', 'ended' ), true ) ) {
		return $test;
	}
	$started         = newsroom_sanitize_instant( $value['started'] ?? '' );
	$now             = newsroom_instant();
	$test['state']   = $state;
	$test['started'] = '' === $started || $started > $now ? $now : $started;
	if ( 'running' === $state ) {
		return $test;
	}
	$ended            = newsroom_sanitize_instant( $value['ended'] ?? '' );
	$winner           = isset( $value['winner'] ) && is_numeric( $value['winner'] ) ? (int) $value['winner'] : -1;
	$test['ended']    = '' === $ended ? $now : $ended;
	$test['winner']   = $winner >= 0 && $winner <= count( $test['variants'] ) ? $winner : -1;
	$test['reason']   = isset( $value['reason'] ) && in_array( $value['reason'], array( 'site', 'time' ), true ) ? $value['reason'] : 'editor';
	$test['own']      = newsroom_headline( $value['own'] ?? '' );
	$test['readings'] = newsroom_clean_readings( $value['readings'] ?? array(), count( $test['variants'] ) + 1 );
	return $test;
}

/**
 * Cleans the additional headlines.
 *
 * @param mixed $given List of arrays with headline and image.
 * @return array[]
 */
function newsroom_clean_headlines( $given ) {
	$variants = array();
	foreach ( array_slice( is_array( $given ) ? array_values( $given ) : array(), 0, 10 * NEWSROOM_MOST_HEADLINES ) as $each ) {
		$each     = is_object( $each ) ? (array) $each : $each;
		$headline = is_array( $each ) && isset( $each['headline'] ) ? newsroom_headline( $each['headline'] ) : '';
		if ( '' === $headline ) {
			continue;
		}
		$variant = array(
			'headline' => $headline,
			'image'    => isset( $each['image'] ) && is_numeric( $each['image'] ) ? absint( $each['image'] ) : 0,
		);
		if ( ! in_array( $variant, $variants, true ) ) {
			$variants[] = $variant;
		}
	}
	return array_slice( $variants, 0, NEWSROOM_MOST_HEADLINES );
}

/**
 * One line of plain text, of the length that a headline may have.
 *
 * @param mixed $text What was entered.
 * @return string
 */
function newsroom_headline( $text ) {
	return is_scalar( $text ) ? mb_substr( newsroom_one_line( $text ), 0, NEWSROOM_LONGEST_HEADLINE, 'UTF-8' ) : '';
}

/**
 * Counts of readings.
 *
 * @param mixed $given List of numbers.
 * @param int   $most  Number of headlines.
 * @return int[]
 */
function newsroom_clean_readings( $given, $most ) {
	return array_map( 'absint', array_filter( array_slice( is_array( $given ) ? array_values( $given ) : array(), 0, $most ), 'is_numeric' ) );
}

/**
 * The test of a story.
 *
 * @param int $id Article.
 * @return array
 */
function newsroom_headline_test_of( $id ) {
	return newsroom_sanitize_headline_test( get_post_meta( $id, 'newsroom_headline_test', true ) );
}

/**
 * Id of a test: it changes with the headlines, the story's own among them, and with each start. The site counts readings by this id.
 * The story's picture counts only if a headline has another: otherwise all cards show it.
 *
 * @param int   $id   Article.
 * @param array $test Test.
 * @return string 16 hexadecimal digits.
 */
function newsroom_headline_test_id( $id, $test ) {
	$own   = get_post_field( 'post_title', $id, 'raw' );
	$image = array_filter( array_column( $test['variants'], 'image' ) ) ? (int) get_post_thumbnail_id( $id ) : 0;
	return substr( hash( 'sha256', $id . ' ' . $test['started'] . ' ' . wp_json_encode( array( $own, $image, $test['variants'] ) ) ), 0, 16 );
}

/**
 * The test of a story as the site receives it: while it runs, and afterward if cards show another headline than the story.
 *
 * @param int $id Article.
 * @return array|null
 */
function newsroom_rest_headline_test( $id ) {
	$test = newsroom_headline_test_of( $id );
	$won  = 'ended' === $test['state'] && $test['winner'] > 0 && ! $test['story'];
	if ( 'running' !== $test['state'] && ! $won ) {
		return null;
	}
	$others = $won ? array( $test['variants'][ $test['winner'] - 1 ] ) : $test['variants'];
	return array(
		'id'      => newsroom_headline_test_id( $id, $test ),
		'state'   => $won ? 'won' : 'running',
		'started' => $test['started'],
		'others'  => array_map(
			static fn( $variant ) => array(
				'headline' => $variant['headline'],
				'image'    => newsroom_picture( $variant['image'] ),
			),
			$others
		),
	);
}

/**
 * Leaves the test out of the meta of a story for users who may not edit it: headlines that no reader has seen yet, and the readings, are the
 * editors' own.
 *
 * @param WP_REST_Response $response Answer.
 * @param WP_Post          $post     Article.
 * @return WP_REST_Response
 */
function newsroom_hide_headline_test( $response, $post ) {
	$data = $response->get_data();
	if ( isset( $data['meta']['newsroom_headline_test'] ) && ! user_can( newsroom_requesting_user(), 'edit_post', $post->ID ) ) {
		unset( $data['meta']['newsroom_headline_test'] );
		$response->set_data( $data );
	}
	return $response;
}

/**
 * Ends a test, in one change of the story. Does nothing if it has already ended, or if the headlines have changed.
 *
 * @param int    $id       Article.
 * @param string $test_id  Id of the test.
 * @param int    $winner   Number of the headline that won, 0 for the story's own, -1 for none.
 * @param int[]  $readings Readings of each headline.
 * @param string $ended    When, as the site says.
 * @return bool Whether the story was changed.
 */
function newsroom_end_headline_test( $id, $test_id, $winner, $readings, $ended ) {
	// While the site was asked, another process may have ended the test, or an editor may have saved the story: WordPress would write
	// the text that this process has in its cache over the editor's.
	clean_post_cache( $id );
	$test = newsroom_headline_test_of( $id );
	if ( 'running' !== $test['state'] || newsroom_headline_test_id( $id, $test ) !== $test_id ) {
		return false;
	}
	$test['state']    = 'ended';
	$test['ended']    = $ended;
	$test['winner']   = $winner;
	$test['reason']   = $winner < 0 ? 'time' : 'site';
	$test['own']      = newsroom_plain( get_post_field( 'post_title', $id, 'raw' ) );
	$test['readings'] = $readings;
	$change           = array(
		'ID'         => $id,
		'meta_input' => array( 'newsroom_headline_test' => $test ),
	);
	if ( $winner > 0 && $test['story'] && isset( $test['variants'][ $winner - 1 ] ) ) {
		$variant = $test['variants'][ $winner - 1 ];
		// Titles are stored as markup.
		$change['post_title'] = htmlspecialchars( $variant['headline'], ENT_NOQUOTES, 'UTF-8' );
		if ( $variant['image'] && wp_attachment_is_image( $variant['image'] ) ) {
			$change['meta_input']['_thumbnail_id'] = $variant['image'];
		}
	}
	// WordPress also saves the text, and would clean it by the capabilities of the current user; wp-cron runs without one.
	$filtered = false !== has_filter( 'content_save_pre', 'wp_filter_post_kses' );
	if ( $filtered ) {
		kses_remove_filters();
	}
	$saved = wp_update_post( wp_slash( $change ), true );
	if ( $filtered ) {
		kses_init_filters();
	}
	return ! is_wp_error( $saved ) && $saved > 0;
}

/**
 * A test that was started on a draft begins when the story is published.
 *
 * @param string  $now    Status.
 * @param string  $before Status before.
 * @param WP_Post $post   Post.
 */
function newsroom_headline_test_published( $now, $before, $post ) {
	if ( 'publish' !== $now || 'publish' === $before || 'articles' !== $post->post_type ) {
		return;
	}
	$test = newsroom_headline_test_of( $post->ID );
	if ( 'running' === $test['state'] ) {
		$test['started'] = '';
		update_post_meta( $post->ID, 'newsroom_headline_test', wp_slash( $test ) );
	}
}

<?php
/**
 * Headline tests in the editors: a panel of the block editor, which changes the article's meta, or a box of the classic editor; and the column of
 * the list of articles.
 *
 * @package Newsroom
 */

if ( ! defined( 'ABSPATH' ) ) {
	exit;
}

/**
 * Words that the panel and the box share.
 *
 * @return array<string,string>
 */
function newsroom_headline_test_words() {
	return array(
		'help'  => __( 'Readers see one of up to four headlines on the front page, in sections and in lists. The test ends automatically when one clearly brings more readers. The story’s page, feeds and search keep the story’s own headline (A).', 'newsroom' ),
		'story' => __( 'Make the winner the story’s headline', 'newsroom' ),
		'cards' => __( 'If this is off, only cards and lists show the winner.', 'newsroom' ),
		/* translators: %d: number of characters. */
		'long'  => sprintf( __( 'This headline is too long. Shorten it to %d characters.', 'newsroom' ), NEWSROOM_LONGEST_HEADLINE ),
		/* translators: %d: number of characters. */
		'lock'  => sprintf( __( 'The story can’t be saved: a headline under “Headline test” is too long. Shorten it to %d characters.', 'newsroom' ), NEWSROOM_LONGEST_HEADLINE ),
	);
}

/**
 * Data for the panel of the block editor.
 *
 * @return array
 */
function newsroom_headline_test_panel_data() {
	return array(
		'words'   => newsroom_headline_test_words(),
		'none'    => newsroom_no_headline_test(),
		'most'    => NEWSROOM_MOST_HEADLINES,
		'longest' => NEWSROOM_LONGEST_HEADLINE,
	);
}

/**
 * Prints the box.
 *
 * @param WP_Post $post Article.
 */
function newsroom_headline_test_box( $post ) {
	$words  = newsroom_headline_test_words();
	$report = newsroom_check_headline_test( $post->ID );
	$test   = newsroom_headline_test_of( $post->ID );
	$name   = 'newsroom_headline_test';
	printf( '<p class="description">%s</p>', esc_html( $words['help'] ) );
	$message = newsroom_headline_test_message( $test, $report );
	if ( '' !== $message ) {
		printf( '<p><strong>%s</strong></p>', esc_html( $message ) );
	}
	foreach ( array( 'started', 'ended', 'winner', 'reason', 'own' ) as $field ) {
		printf( '<input type="hidden" name="%1$s[%2$s]" value="%3$s">', esc_attr( $name ), esc_attr( $field ), esc_attr( $test[ $field ] ) );
	}
	$readings = $report ? $report['readings'] : $test['readings'];
	foreach ( $test['readings'] as $count ) {
		printf( '<input type="hidden" name="%1$s[readings][]" value="%2$d">', esc_attr( $name ), (int) $count );
	}
	for ( $at = 0; $at < NEWSROOM_MOST_HEADLINES; $at++ ) {
		$variant = $test['variants'][ $at ] ?? array(
			'headline' => '',
			'image'    => 0,
		);
		/* translators: %s: letter of a headline. */
		$label = sprintf( __( 'Headline %s', 'newsroom' ), newsroom_headline_letter( $at + 1 ) );
		if ( isset( $readings[ $at + 1 ] ) ) {
			/* translators: 1: letter of a headline, 2: number of readings. */
			$label = sprintf( _n( 'Headline %1$s (%2$s reading)', 'Headline %1$s (%2$s readings)', $readings[ $at + 1 ], 'newsroom' ), newsroom_headline_letter( $at + 1 ), number_format_i18n( $readings[ $at + 1 ] ) );
		}
		printf( '<p><label>%1$s<br><input type="text" class="widefat" maxlength="%2$d" name="%3$s[variants][%4$d][headline]" value="%5$s"></label></p>', esc_html( $label ), (int) NEWSROOM_LONGEST_HEADLINE, esc_attr( $name ), (int) $at, esc_attr( $variant['headline'] ) );
		printf( '<input type="hidden" name="%1$s[variants][%2$d][image]" value="%3$d">', esc_attr( $name ), (int) $at, (int) $variant['image'] );
	}
	printf( '<p><input type="hidden" name="%1$s[story]" value="0"><label><input type="checkbox" name="%1$s[story]" value="1"%2$s> %3$s</label> <span class="description">%4$s</span></p>', esc_attr( $name ), checked( $test['story'], true, false ), esc_html( $words['story'] ), esc_html( $words['cards'] ) );
	$states = array(
		'off'     => __( 'No test', 'newsroom' ),
		'running' => __( 'Run the test', 'newsroom' ),
		'ended'   => __( 'The test is over', 'newsroom' ),
	);
	printf( '<p><label>%1$s <select name="%2$s[state]">%3$s</select></label></p>', esc_html__( 'Test', 'newsroom' ), esc_attr( $name ), newsroom_options( $states, $test['state'] ) ); // phpcs:ignore WordPress.Security.EscapeOutput -- escaped where it is made.
}

/**
 * The test as posted by the box. Starting a test again starts it from scratch; a test that ended since the box was printed stays ended.
 *
 * @param mixed $posted Posted fields.
 * @param int   $id     Article.
 * @return array
 */
function newsroom_posted_headline_test( $posted, $id ) {
	if ( is_array( $posted ) ) {
		$posted = newsroom_headline_test_to_save( $id, $posted );
		if ( isset( $posted['state'] ) && 'running' === $posted['state'] && ! empty( $posted['ended'] ) ) {
			$posted['started'] = '';
		}
	}
	return newsroom_sanitize_headline_test( $posted );
}

/**
 * Prints the cell of an article.
 *
 * @param int $id Article.
 */
function newsroom_headline_test_cell( $id ) {
	$test = newsroom_headline_test_of( $id );
	if ( 'off' === $test['state'] ) {
		echo '<span aria-hidden="true">—</span><span class="screen-reader-text">' . esc_html__( 'No test', 'newsroom' ) . '</span>';
	} elseif ( 'running' === $test['state'] ) {
		/* translators: %s: a duration such as "3 hours". */
		printf( '<strong>%1$s</strong><br><span class="description">%2$s</span>', esc_html__( 'Running', 'newsroom' ), esc_html( sprintf( __( 'For %s', 'newsroom' ), human_time_diff( (int) strtotime( $test['started'] ) ) ) ) );
	} else {
		echo esc_html( newsroom_headline_test_message( $test, null ) );
	}
}

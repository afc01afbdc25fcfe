<?php
/**
 * "Reading now": a widget of the dashboard and a screen below it. The script updates them while they are open.
 *
 * @package Newsroom
 */

if ( ! defined( 'ABSPATH' ) ) {
	exit;
}

/** Stories in the widget. */
define( 'NEWSROOM_READING_IN_WIDGET', 8 );

add_action( 'admin_menu', 'newsroom_add_reading_screen' );
add_action( 'wp_dashboard_setup', 'newsroom_add_reading_widget' );

/**
 * Adds the screen below the dashboard.
 */
function newsroom_add_reading_screen() {
	$screen = add_dashboard_page( __( 'Reading now', 'newsroom' ), __( 'Reading now', 'newsroom' ), 'edit_posts', 'newsroom-reading', 'newsroom_reading_screen' );
	if ( $screen ) {
		add_action( 'load-' . $screen, 'newsroom_reading_assets_later' );
	}
}

/**
 * Adds the widget.
 */
function newsroom_add_reading_widget() {
	if ( newsroom_may_see_reading() ) {
		newsroom_reading_assets_later();
		wp_add_dashboard_widget( 'newsroom-reading', __( 'Reading now', 'newsroom' ), 'newsroom_reading_widget' );
	}
}

/**
 * Loads script and style where the list is.
 */
function newsroom_reading_assets_later() {
	add_action(
		'admin_enqueue_scripts',
		static function () {
			newsroom_enqueue_part( 'reading', array( 'wp-api-fetch', 'wp-i18n' ) );
			newsroom_enqueue_style( 'reading' );
		}
	);
}

/**
 * Address of the screen.
 *
 * @param int $minutes Length of the period.
 * @return string
 */
function newsroom_reading_url( $minutes ) {
	return add_query_arg( array( 'page' => 'newsroom-reading', 'minutes' => $minutes ), admin_url( 'index.php' ) ); // phpcs:ignore WordPress.Arrays
}

/**
 * Prints the screen. Without a script it shows the readings at this moment.
 */
function newsroom_reading_screen() {
	$minutes = isset( $_GET['minutes'] ) && is_string( $_GET['minutes'] ) ? absint( $_GET['minutes'] ) : 5; // phpcs:ignore WordPress.Security -- a number that only chooses what is shown.
	$minutes = array_key_exists( $minutes, newsroom_reading_periods() ) ? $minutes : 5;
	printf( '<div class="wrap"><h1>%s</h1>', esc_html__( 'Reading now', 'newsroom' ) );
	newsroom_reading_box( $minutes, 20, newsroom_reading_answer( $minutes, 20 ) );
	printf( '<p class="description">%s</p></div>', esc_html__( 'A reader counts once a day for each story, after five seconds of reading. The site keeps only the numbers, not who read what.', 'newsroom' ) );
}

/**
 * Prints the widget. The dashboard doesn't wait for the site: the script requests the readings.
 */
function newsroom_reading_widget() {
	$wait = array(
		'html'    => '',
		'note'    => __( 'Loading…', 'newsroom' ),
		'problem' => false,
	);
	newsroom_reading_box( 5, NEWSROOM_READING_IN_WIDGET, $wait );
	printf( '<p><a href="%1$s">%2$s</a></p>', esc_url( newsroom_reading_url( 5 ) ), esc_html__( 'More stories', 'newsroom' ) );
}

/**
 * Prints the choice of the period, and the list.
 *
 * @param int   $minutes Length of the period.
 * @param int   $most    Most stories.
 * @param array $answer  See newsroom_reading_answer().
 */
function newsroom_reading_box( $minutes, $most, $answer ) {
	printf( '<div class="newsroom-reading" data-newsroom-reading data-minutes="%1$d" data-most="%2$d"><p class="newsroom-reading-periods"><span id="newsroom-reading-period">%3$s</span> ', (int) $minutes, (int) $most, esc_html__( 'In the last', 'newsroom' ) );
	foreach ( newsroom_reading_periods() as $length => $label ) {
		printf( '<a class="button" href="%1$s" data-minutes="%2$d"%3$s aria-describedby="newsroom-reading-period">%4$s</a> ', esc_url( newsroom_reading_url( $length ) ), (int) $length, $length === $minutes ? ' aria-current="true"' : '', esc_html( $label ) );
	}
	printf( '</p><p role="status" data-problem>%s</p>', $answer['problem'] ? esc_html( $answer['note'] ) : '' );
	echo '<div data-list>' . $answer['html'] . '</div>'; // phpcs:ignore WordPress.Security.EscapeOutput -- escaped where it is made.
	printf( '<p class="description" data-note>%s</p></div>', $answer['problem'] ? '' : esc_html( $answer['note'] ) );
}

/**
 * The list of a period.
 *
 * @param array $period See newsroom_ask_what_is_read().
 * @param int   $most   Most stories.
 * @return string Markup.
 */
function newsroom_reading_list( $period, $most ) {
	$readings = isset( $period['readings'] ) ? (int) $period['readings'] : 0;
	$before   = isset( $period['before'] ) ? (int) $period['before'] : 0;
	/* translators: %s: number of readers. */
	$sum     = sprintf( _n( '%s reader', '%s readers', $readings, 'newsroom' ), number_format_i18n( $readings ) );
	$html    = sprintf( '<p class="newsroom-reading-sum"><strong>%1$s</strong> %2$s</p>', esc_html( $sum ), newsroom_reading_trend( $readings, $before ) );
	$stories = newsroom_reading_stories( $period, $most );
	if ( ! $stories ) {
		return $html . sprintf( '<p>%s</p>', esc_html__( 'No one started reading a story in this period.', 'newsroom' ) );
	}
	$rows = '';
	foreach ( $stories as $story ) {
		$id    = $story['post']->ID;
		$title = newsroom_plain( $story['post']->post_title );
		$link  = sprintf( '<a href="%1$s" data-story="%2$d">%3$s</a>', esc_url( (string) get_permalink( $id ) ), (int) $id, esc_html( '' === $title ? __( '(no title)', 'newsroom' ) : $title ) );
		if ( current_user_can( 'edit_post', $id ) ) {
			/* translators: %s: headline. */
			$link .= sprintf( ' <a class="newsroom-reading-edit" href="%1$s" data-edit="%2$d" aria-label="%3$s">%4$s</a>', esc_url( (string) get_edit_post_link( $id ) ), (int) $id, esc_attr( sprintf( __( 'Edit “%s”', 'newsroom' ), $title ) ), esc_html__( 'Edit', 'newsroom' ) );
		}
		$rows .= sprintf( '<tr><th scope="row">%1$s</th><td>%2$s</td><td>%3$s</td></tr>', $link, esc_html( number_format_i18n( $story['readings'] ) ), newsroom_reading_trend( $story['readings'], $story['before'] ) );
	}
	$head = '';
	foreach ( array( __( 'Story', 'newsroom' ), __( 'Readers', 'newsroom' ), __( 'Trend', 'newsroom' ) ) as $label ) {
		$head .= sprintf( '<th scope="col">%s</th>', esc_html( $label ) );
	}
	return $html . "<table class=\"widefat striped\"><thead><tr>$head</tr></thead><tbody>$rows</tbody></table>";
}

/**
 * How a count compares with the one before it.
 *
 * @param int $now    Count.
 * @param int $before Count of the period before.
 * @return string Markup.
 */
function newsroom_reading_trend( $now, $before ) {
	if ( $now === $before ) {
		$sign = '=';
		$kind = 'same';
	} else {
		$sign = ( $now > $before ? '▲ ' : '▼ ' ) . number_format_i18n( abs( $now - $before ) );
		$kind = $now > $before ? 'up' : 'down';
	}
	$words = array(
		'same' => __( 'same as before', 'newsroom' ),
		/* translators: %s: number of readers. */
		'up'   => sprintf( __( 'up by %s', 'newsroom' ), number_format_i18n( abs( $now - $before ) ) ),
		/* translators: %s: number of readers. */
		'down' => sprintf( __( 'down by %s', 'newsroom' ), number_format_i18n( abs( $now - $before ) ) ),
	);
	return sprintf( '<span class="newsroom-reading-trend is-%1$s"><span aria-hidden="true">%2$s</span><span class="screen-reader-text">%3$s</span></span>', esc_attr( $kind ), esc_html( $sign ), esc_html( $words[ $kind ] ) );
}

<?php
/**
 * Tools → Adopt this site: check, adopt in steps of some seconds, undo. Each step is a form; a script presses its button for the next
 * step, or the user if scripts are off.
 *
 * @package Newsroom
 */

if ( ! defined( 'ABSPATH' ) ) {
	exit;
}

add_action( 'admin_menu', 'newsroom_add_adopt_page' );
add_action( 'admin_post_newsroom_adopt_check', 'newsroom_adopt_check_now' );
add_action( 'admin_post_newsroom_adopt', 'newsroom_adopt_step_now' );
add_action( 'admin_post_newsroom_adopt_undo', 'newsroom_adopt_undo_now' );

/**
 * Adds the page.
 */
function newsroom_add_adopt_page() {
	add_management_page( __( 'Adopt this site', 'newsroom' ), __( 'Adopt this site', 'newsroom' ), 'manage_options', 'newsroom-adopt', 'newsroom_adopt_page' );
}

/**
 * Seconds of one step: far below the limits of PHP and of proxies.
 *
 * @return float
 */
function newsroom_adopt_step_seconds() {
	$limit = (int) ini_get( 'max_execution_time' );
	/**
	 * Filters how long one step on the screen works.
	 *
	 * @param float $seconds Seconds.
	 */
	return (float) apply_filters( 'newsroom_adopt_step_seconds', $limit > 0 ? min( 8, $limit / 3 ) : 8 );
}

/**
 * Redirects back to the page.
 *
 * @param bool  $on   Whether the next step may follow by itself.
 * @param array $args Query.
 */
function newsroom_adopt_return( $on, $args = array() ) {
	wp_safe_redirect( add_query_arg( array( 'page' => 'newsroom-adopt' ) + ( $on ? array( 'on' => '1' ) : array() ) + $args, admin_url( 'tools.php' ) ) );
	exit;
}

/**
 * Checks for some seconds.
 */
function newsroom_adopt_check_now() {
	newsroom_require_administrator( 'newsroom_adopt_check' );
	$again = ! empty( $_POST['again'] ); // phpcs:ignore WordPress.Security.NonceVerification -- checked above.
	$check = newsroom_adopt_read( newsroom_adopt_step_seconds(), $again );
	newsroom_adopt_return( ! $check['complete'] );
}

/**
 * Adopts for some seconds.
 */
function newsroom_adopt_step_now() {
	newsroom_require_administrator( 'newsroom_adopt' );
	newsroom_adopt_work( 'adopt' );
}

/**
 * Undoes the adoption for some seconds.
 */
function newsroom_adopt_undo_now() {
	newsroom_require_administrator( 'newsroom_adopt_undo' );
	newsroom_adopt_work( 'undo' );
}

/**
 * Works on a task for some seconds.
 *
 * @param string $task `adopt` or `undo`.
 */
function newsroom_adopt_work( $task ) {
	$state = newsroom_adopt( $task, newsroom_adopt_step_seconds() );
	if ( is_wp_error( $state ) ) {
		set_transient( 'newsroom_adopt_failed_' . get_current_user_id(), $state->get_error_message(), MINUTE_IN_SECONDS );
		newsroom_adopt_return( false );
	}
	$ended = in_array( $state['task'], array( '', 'done' ), true );
	newsroom_adopt_return( ! $ended, $ended ? array( 'ended' => $task ) : array() );
}

/**
 * Prints the page.
 */
function newsroom_adopt_page() {
	if ( ! current_user_can( 'manage_options' ) ) {
		return;
	}
	echo '<div class="wrap"><h1>' . esc_html__( 'Adopt this site', 'newsroom' ) . '</h1>';
	$state = newsroom_adoption();
	newsroom_adopt_notice();
	if ( in_array( $state['task'], array( 'adopt', 'undo' ), true ) ) {
		newsroom_print_adopt_progress( $state );
	} elseif ( 'done' === $state['task'] ) {
		newsroom_print_adopted( $state );
	} else {
		newsroom_print_adopt_check( $state );
	}
	echo '</div>';
}

/**
 * Prints what the last step did.
 */
function newsroom_adopt_notice() {
	$failed = get_transient( 'newsroom_adopt_failed_' . get_current_user_id() );
	delete_transient( 'newsroom_adopt_failed_' . get_current_user_id() );
	$ended = isset( $_GET['ended'] ) ? sanitize_key( wp_unslash( $_GET['ended'] ) ) : ''; // phpcs:ignore WordPress.Security.NonceVerification
	if ( $failed ) {
		printf( '<div class="notice notice-error" role="alert"><p>%s</p></div>', esc_html( $failed ) );
	} elseif ( 'undo' === $ended ) {
		printf( '<div class="notice notice-success" role="status"><p>%s</p></div>', esc_html__( 'Everything was put back.', 'newsroom' ) );
	} elseif ( 'adopt' === $ended ) {
		printf( '<div class="notice notice-success" role="status"><p>%s</p></div>', esc_html__( 'The posts are now articles.', 'newsroom' ) );
	}
}

/**
 * Prints the check and its result.
 *
 * @param array $state See newsroom_adoption().
 */
function newsroom_print_adopt_check( $state ) {
	echo '<p>' . esc_html__( 'Posts become articles, categories become sections, the users who wrote posts become authors, and permalinks redirect to the articles. Text, dates, comments and pictures don’t change. You can put everything back.', 'newsroom' ) . '</p>';
	$check = get_option( 'newsroom_adopt_check' );
	if ( ! is_array( $check ) ) {
		echo '<p>' . esc_html__( 'First, check what would happen. The check doesn’t change anything.', 'newsroom' ) . '</p>';
		newsroom_action_form( 'newsroom_adopt_check', __( 'Check', 'newsroom' ), array( 'again' => '1' ), 'button button-primary' );
		return;
	}
	if ( ! $check['complete'] ) {
		newsroom_print_adopt_bar( $check['read'], $state['posts'], __( 'posts read', 'newsroom' ) );
		newsroom_print_adopt_next( 'newsroom_adopt_check' );
		return;
	}
	$report = newsroom_adopt_report( $check );
	echo '<h2>' . esc_html__( 'What will happen', 'newsroom' ) . '</h2><ul class="ul-disc">';
	foreach ( $report['lines'] as $line ) {
		echo '<li>' . esc_html( $line ) . '</li>';
	}
	echo '</ul>';
	newsroom_print_adopt_problems( $report['problems'] );
	newsroom_print_adopt_redirects( $report['redirects'] );
	echo '<h2>' . esc_html__( 'Adopt', 'newsroom' ) . '</h2><p>' . esc_html__( 'Back up the database first, and ask editors to save and close their posts. A post that’s open during the adoption may become a post again when it’s saved; if that happens, adopt the rest afterward.', 'newsroom' ) . '</p>';
	if ( $report['posts'] ) {
		/* translators: %s: number of posts. */
		newsroom_action_form( 'newsroom_adopt', sprintf( _n( 'Adopt %s post', 'Adopt %s posts', $report['posts'], 'newsroom' ), number_format_i18n( $report['posts'] ) ), array(), 'button button-primary' );
	}
	echo '<p></p>';
	newsroom_action_form( 'newsroom_adopt_check', __( 'Check again', 'newsroom' ), array( 'again' => '1' ) );
}

/**
 * Prints problems with links to examples.
 *
 * @param array[] $problems See newsroom_adopt_report().
 */
function newsroom_print_adopt_problems( $problems ) {
	if ( ! $problems ) {
		return;
	}
	echo '<h2>' . esc_html__( 'Before you start', 'newsroom' ) . '</h2><ul class="ul-disc">';
	foreach ( $problems as $problem ) {
		printf( '<li data-problem="%s">%s', esc_attr( $problem['code'] ), esc_html( $problem['message'] ) );
		foreach ( $problem['ids'] as $id ) {
			$link = get_edit_post_link( $id );
			printf( ' <a href="%s">%s</a>', esc_url( (string) $link ), esc_html( (string) $id ) );
		}
		echo ( $problem['ids'] && $problem['count'] > count( $problem['ids'] ) ? ' …' : '' ) . '</li>';
	}
	echo '</ul>';
}

/**
 * Prints the lines for the site's list of redirects.
 *
 * @param string[] $lines Lines.
 */
function newsroom_print_adopt_redirects( $lines ) {
	if ( $lines ) {
		echo '<h2>' . esc_html__( 'Redirects to add', 'newsroom' ) . '</h2><p>' . esc_html__( 'The site redirects the permalinks automatically, but it can’t know these addresses. Ask the site’s operator to add these lines to the file set in REDIRECTS_FILE:', 'newsroom' ) . '</p>';
		echo '<pre>' . esc_html( implode( "\n", $lines ) ) . '</pre>';
	}
}

/**
 * Prints the progress of a task, and the button for its next step.
 *
 * @param array $state See newsroom_adoption().
 */
function newsroom_print_adopt_progress( $state ) {
	$undo = 'undo' === $state['task'];
	echo '<p>' . esc_html( $undo ? __( 'Everything is being put back. You can leave this page and continue later.', 'newsroom' ) : __( 'The posts are being adopted. You can leave this page and continue later.', 'newsroom' ) ) . '</p>';
	newsroom_print_adopt_bar( $state['total'] - $state['left'], $state['total'], $undo ? __( 'posts put back', 'newsroom' ) : __( 'posts adopted', 'newsroom' ) );
	newsroom_print_adopt_next( $undo ? 'newsroom_adopt_undo' : 'newsroom_adopt' );
	if ( ! $undo ) {
		echo '<p></p>';
		newsroom_action_form( 'newsroom_adopt_undo', __( 'Put everything back', 'newsroom' ) );
	}
}

/**
 * Prints what was adopted, and how to undo it.
 *
 * @param array $state See newsroom_adoption().
 */
function newsroom_print_adopted( $state ) {
	/* translators: %s: number of posts. */
	echo '<p>' . esc_html( sprintf( _n( '%s post is now an article. The site copies it automatically.', '%s posts are now articles. The site copies them automatically; if it was already running, this takes about two minutes per thousand.', $state['adopted'], 'newsroom' ), number_format_i18n( $state['adopted'] ) ) ) . '</p>';
	if ( $state['left'] ) {
		/* translators: %s: number of posts. */
		echo '<p>' . esc_html( sprintf( _n( '%s post was added later.', '%s posts were added later.', $state['left'], 'newsroom' ), number_format_i18n( $state['left'] ) ) ) . '</p>';
		newsroom_action_form( 'newsroom_adopt', __( 'Adopt the rest', 'newsroom' ), array(), 'button button-primary' );
	}
	newsroom_print_adopt_redirects( newsroom_adopt_redirect_lines( newsroom_adopt_plan(), newsroom_adopt_categories() ) );
	echo '<h2>' . esc_html__( 'Put everything back', 'newsroom' ) . '</h2><p>' . esc_html__( 'Articles that were posts become posts again, with their categories, slugs and permalinks. Changes that editors have made since then are kept, and new articles stay articles.', 'newsroom' ) . '</p>';
	newsroom_action_form( 'newsroom_adopt_undo', __( 'Put everything back', 'newsroom' ) );
}

/**
 * Prints how far something is.
 *
 * @param int    $done  Done.
 * @param int    $total All.
 * @param string $what  What is counted.
 */
function newsroom_print_adopt_bar( $done, $total, $what ) {
	printf(
		'<p><label for="newsroom-adopt-bar">%1$s</label><br><progress id="newsroom-adopt-bar" max="%2$d" value="%3$d" style="width:100%%;max-width:30em"></progress></p>',
		/* translators: 1: number done, 2: number of all, 3: what is counted, such as "posts read". */
		esc_html( sprintf( __( '%1$s of %2$s %3$s', 'newsroom' ), number_format_i18n( $done ), number_format_i18n( $total ), $what ) ),
		(int) max( 1, $total ),
		(int) $done
	);
}

/**
 * Prints the button for the next step. After a step without a failure a script presses it.
 *
 * @param string $action Action.
 */
function newsroom_print_adopt_next( $action ) {
	$on = isset( $_GET['on'] ); // phpcs:ignore WordPress.Security.NonceVerification
	echo '<div id="newsroom-adopt-next">';
	newsroom_action_form( $action, __( 'Continue', 'newsroom' ), array(), 'button button-primary' );
	echo '</div>';
	if ( $on ) {
		// A link to stop the automatic steps.
		printf( '<p class="hide-if-no-js"><a href="%s">%s</a></p>', esc_url( add_query_arg( 'page', 'newsroom-adopt', admin_url( 'tools.php' ) ) ), esc_html__( 'Pause', 'newsroom' ) );
		wp_print_inline_script_tag( "setTimeout( function () { document.querySelector( '#newsroom-adopt-next form' ).submit(); }, 400 );" );
	}
}

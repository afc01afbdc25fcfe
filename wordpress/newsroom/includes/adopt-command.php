<?php
/**
 * The command `wp newsroom adopt`.
 *
 * @package Newsroom
 */

if ( ! defined( 'ABSPATH' ) ) {
	exit;
}

if ( defined( 'WP_CLI' ) && WP_CLI ) {
	WP_CLI::add_command( 'newsroom adopt', 'newsroom_adopt_cli' );
}

/**
 * Turns this WordPress into a newsroom: posts become articles, categories become sections, users become authors, and permalinks redirect.
 *
 * Without an option, shows what would happen and changes nothing. If a run is interrupted, start it again and it continues.
 *
 * ## OPTIONS
 *
 * [--yes]
 * : Make the changes.
 *
 * [--undo]
 * : Put everything back.
 *
 * ## EXAMPLES
 *
 *     wp newsroom adopt
 *     wp newsroom adopt --yes
 *     wp newsroom adopt --undo
 *
 * @param string[] $args    Arguments.
 * @param array    $options Options.
 */
function newsroom_adopt_cli( $args, $options ) {
	$failed = newsroom_adopt_command( $options, array( 'WP_CLI', 'log' ) );
	if ( is_wp_error( $failed ) ) {
		WP_CLI::error( $failed->get_error_message() );
	}
}

/**
 * What the command does.
 *
 * @param array    $options `yes`, `undo`.
 * @param callable $say     Prints a line.
 * @return WP_Error|null Why it could not be done.
 */
function newsroom_adopt_command( $options, $say ) {
	$task = empty( $options['undo'] ) ? ( empty( $options['yes'] ) ? '' : 'adopt' ) : 'undo';
	if ( '' === $task ) {
		newsroom_adopt_say_report( newsroom_adopt_report( newsroom_adopt_read( INF, true ) ), $say );
		return null;
	}
	$state = newsroom_adoption();
	if ( 'undo' === $task && '' === $state['task'] && ! newsroom_has_journal() ) {
		$say( __( 'There’s nothing to put back.', 'newsroom' ) );
		return null;
	}
	$began    = microtime( true );
	$reported = 0;
	$lines    = newsroom_adopt_redirect_lines( newsroom_adopt_plan(), newsroom_adopt_categories() );
	$state    = newsroom_adopt(
		$task,
		INF,
		static function ( $now ) use ( $say, &$reported ) {
			if ( microtime( true ) - $reported >= 2 ) {
				$reported = microtime( true );
				/* translators: 1: number of posts done, 2: number of all posts. */
				$say( sprintf( _n( '%1$s of %2$s post', '%1$s of %2$s posts', $now['total'], 'newsroom' ), number_format_i18n( $now['total'] - $now['left'] ), number_format_i18n( $now['total'] ) ) );
			}
		}
	);
	if ( is_wp_error( $state ) ) {
		return $state;
	}
	$seconds = number_format_i18n( microtime( true ) - $began, 1 );
	if ( 'undo' === $task ) {
		/* translators: %s: number of seconds. */
		$say( sprintf( __( 'Everything was put back in %s seconds.', 'newsroom' ), $seconds ) );
		return null;
	}
	/* translators: 1: number of posts, 2: number of seconds. */
	$say( sprintf( _n( '%1$s post became an article in %2$s seconds. The site copies it automatically. To put everything back: wp newsroom adopt --undo', '%1$s posts became articles in %2$s seconds. The site copies them automatically. To put everything back: wp newsroom adopt --undo', $state['adopted'], 'newsroom' ), number_format_i18n( $state['adopted'] ), $seconds ) );
	newsroom_adopt_say_redirects( $lines, $say );
	return null;
}

/**
 * Prints what would happen.
 *
 * @param array    $report See newsroom_adopt_report().
 * @param callable $say    Prints a line.
 */
function newsroom_adopt_say_report( $report, $say ) {
	foreach ( $report['lines'] as $line ) {
		$say( $line );
	}
	foreach ( $report['problems'] as $problem ) {
		$examples = $problem['ids'] ? ' (' . implode( ', ', $problem['ids'] ) . ( $problem['count'] > count( $problem['ids'] ) ? ', …' : '' ) . ')' : '';
		$say( '- ' . $problem['code'] . ': ' . $problem['message'] . $examples );
	}
	newsroom_adopt_say_redirects( $report['redirects'], $say );
	$say( __( 'Nothing was changed. To adopt: wp newsroom adopt --yes', 'newsroom' ) );
}

/**
 * Prints the lines for the site's list of redirects.
 *
 * @param string[] $lines Lines.
 * @param callable $say   Prints a line.
 */
function newsroom_adopt_say_redirects( $lines, $say ) {
	if ( $lines ) {
		$say( __( 'Lines to add to the site’s list of redirects (REDIRECTS_FILE):', 'newsroom' ) );
		foreach ( $lines as $line ) {
			$say( '  ' . $line );
		}
	}
}

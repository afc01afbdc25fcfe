<?php
/**
 * Sends what is due: directly after the response to the request that changed something, and later from wp-cron.
 *
 * @package Newsroom
 */

if ( ! defined( 'ABSPATH' ) ) {
	exit;
}

/** Seconds to wait for the site: it answers once the changed pages are rendered, after eight seconds at most. */
define( 'NEWSROOM_SITE_WAIT', 10 );

add_action( 'newsroom_deliver', 'newsroom_deliver_from_cron' );
add_action( 'rest_api_init', 'newsroom_buffer_answer', 0 );

/**
 * Closes the response and then sends. Called on shutdown.
 *
 * @param int[] $rows Rows of this request's changes.
 */
function newsroom_deliver_after_response( $rows ) {
	if ( get_transient( 'newsroom_site_down' ) ) {
		// The site didn't respond a moment ago: the editor doesn't wait for it again.
		newsroom_schedule_next();
		return;
	}
	$sent = newsroom_finish_response();
	newsroom_deliver_due( 'open' === $sent ? 5 : NEWSROOM_SITE_WAIT, 'whole' === $sent ? 30 : 10, $rows );
}

/**
 * Sends the response to the browser, so that the editor doesn't wait for the site.
 *
 * @return string `whole`: the browser has all of it; `announced`: it knows the length, but a web server that compresses the response
 *                removes that; `open`: the browser waits for the end of the request.
 */
function newsroom_finish_response() {
	if ( 'cli' === PHP_SAPI || wp_doing_cron() ) {
		return 'whole';
	}
	ignore_user_abort( true );
	if ( function_exists( 'fastcgi_finish_request' ) ) {
		return fastcgi_finish_request() ? 'whole' : 'open';
	}
	if ( function_exists( 'litespeed_finish_request' ) ) {
		return litespeed_finish_request() ? 'whole' : 'open';
	}
	$announced = newsroom_announce_length();
	wp_ob_end_flush_all();
	flush();
	return $announced ? 'announced' : 'open';
}

/**
 * Sends the length of the response if all of it is still in buffers, so that the browser doesn't wait for the end of the
 * request. Compressed responses stay unchanged.
 *
 * @return bool Whether it was sent.
 */
function newsroom_announce_length() {
	if ( headers_sent() || ! ob_get_level() || ini_get( 'zlib.output_compression' ) || array_diff( ob_list_handlers(), array( 'default output handler' ) ) ) {
		return false;
	}
	foreach ( headers_list() as $header ) {
		if ( preg_match( '/^(content-encoding|content-length|transfer-encoding):/i', $header ) ) {
			return false;
		}
	}
	$answer = '';
	while ( ob_get_level() ) {
		$answer = ob_get_clean() . $answer;
	}
	header( 'Content-Length: ' . strlen( $answer ) );
	header( 'Connection: close' );
	echo $answer; // phpcs:ignore WordPress.Security.EscapeOutput -- the finished answer.
	return true;
}

/**
 * Buffers the response to a REST request that writes, on servers that can't close a response early.
 */
function newsroom_buffer_answer() {
	$method = isset( $_SERVER['REQUEST_METHOD'] ) ? sanitize_key( $_SERVER['REQUEST_METHOD'] ) : 'get';
	if ( defined( 'REST_REQUEST' ) && REST_REQUEST && ! in_array( $method, array( 'get', 'head', 'options' ), true ) && ! function_exists( 'fastcgi_finish_request' ) && ! function_exists( 'litespeed_finish_request' ) ) {
		ob_start();
	}
}

/**
 * Runs from wp-cron.
 */
function newsroom_deliver_from_cron() {
	if ( newsroom_can_deliver() ) {
		newsroom_deliver_due( NEWSROOM_SITE_WAIT, 50 );
	}
}

/**
 * Sends what is due.
 *
 * @param int   $timeout Seconds for one request.
 * @param int   $budget  Seconds for all.
 * @param int[] $first   Rows to send first, so that what an editor has just saved doesn't wait behind an import.
 */
function newsroom_deliver_due( $timeout, $budget, $first = array() ) {
	$until     = microtime( true ) + $budget;
	$delivered = false;
	foreach ( array_unique( array_merge( array_slice( $first, 0, 100 ), newsroom_due( 100 ) ) ) as $id ) {
		$result    = newsroom_deliver_row( $id, $timeout );
		$delivered = $delivered || ( $result && 'done' === $result['outcome'] );
		// If the site is down, a single failed row shows it for all.
		if ( ( $result && 0 === $result['code'] ) || microtime( true ) > $until ) {
			break;
		}
	}
	if ( $delivered ) {
		newsroom_retry_after_outage();
	}
	newsroom_prune_log();
	newsroom_schedule_next();
}

/**
 * Sends one row, if it is waiting.
 *
 * @param int $id      Row.
 * @param int $timeout Seconds.
 * @return array|null Result, see newsroom_post_webhook(); null when another process has the row.
 */
function newsroom_deliver_row( $id, $timeout = NEWSROOM_SITE_WAIT ) {
	$row = newsroom_claim( $id );
	if ( ! $row ) {
		return null;
	}
	/**
	 * Filters how long a delivery may take.
	 *
	 * @param int $timeout Seconds.
	 */
	$timeout = (int) apply_filters( 'newsroom_webhook_timeout', $timeout );
	$result  = newsroom_post_webhook( $row->payload, $row->delivery, $timeout );
	$values  = array(
		'status_code' => $result['code'],
		'took_ms'     => $result['took_ms'],
		'site_ms'     => $result['site_ms'],
		'refreshed'   => $result['refreshed'] ? wp_json_encode( $result['refreshed'] ) : '',
		'error'       => $result['error'],
		'state'       => $result['outcome'],
	);
	if ( 0 === $result['code'] && ! newsroom_may_be_rendering( $timeout, $result['error'] ) ) {
		set_transient( 'newsroom_site_down', 1, 30 );
	} elseif ( 0 !== $result['code'] ) {
		delete_transient( 'newsroom_site_down' );
	}
	if ( 'retry' === $result['outcome'] ) {
		if ( newsroom_merge_into_newer( $row ) ) {
			return $result;
		}
		$age               = time() - (int) ( $row->created_ms / 1000 );
		$values['state']   = $age > newsroom_give_up_after() ? 'failed' : 'pending';
		$values['next_at'] = time() + newsroom_retry_delay( (int) $row->tries, $result['retry_after'] );
	}
	newsroom_update_row( $row->id, $values );
	return $result;
}

/**
 * Whether the site may be rendering after a request without a response: the connection was open, and WordPress waited less than the site
 * may take. A large change must not look as if the site were down, because other changes would wait then.
 *
 * @param int    $timeout Seconds that WordPress waited.
 * @param string $error   The error of cURL or fsockopen().
 * @return bool
 */
function newsroom_may_be_rendering( $timeout, $error ) {
	return $timeout < NEWSROOM_SITE_WAIT && (bool) preg_match( '/\b(?:operation|fsocket) timed out/i', $error );
}

/**
 * Age in seconds at which a delivery is no longer retried.
 *
 * @return int
 */
function newsroom_give_up_after() {
	/**
	 * Filters how long a delivery is retried.
	 *
	 * @param int $seconds Seconds, a day by default.
	 */
	return (int) apply_filters( 'newsroom_give_up_after', DAY_IN_SECONDS );
}

/**
 * Seconds until the next try: 15, 30, 60 … up to six hours, plus or minus a fifth, so that many deliveries aren't retried at
 * the same moment.
 *
 * @param int $tries       Tries so far, at least 1.
 * @param int $retry_after Seconds that the site asks for, or 0.
 * @return int
 */
function newsroom_retry_delay( $tries, $retry_after = 0 ) {
	$seconds = min( 6 * HOUR_IN_SECONDS, 15 * pow( 2, min( 12, max( 0, $tries - 1 ) ) ) );
	$seconds = (int) round( $seconds * wp_rand( 80, 120 ) / 100 );
	/**
	 * Filters how long a failed delivery waits.
	 *
	 * @param int $seconds Seconds.
	 * @param int $tries   Tries so far.
	 */
	return max( $retry_after, (int) apply_filters( 'newsroom_retry_delay', $seconds, $tries ) );
}

/**
 * Makes sure that wp-cron runs when the next row is due.
 */
function newsroom_schedule_next() {
	$next = newsroom_next_due();
	if ( null === $next ) {
		return;
	}
	$next      = max( $next, time() + 1 );
	$scheduled = newsroom_next_cron( 'newsroom_deliver' );
	if ( null === $scheduled || $scheduled > $next ) {
		// WordPress refuses a second event within ten minutes unless its arguments differ.
		wp_schedule_single_event( $next, 'newsroom_deliver', array( $next ) );
	}
}

/**
 * The time of the next event of a hook in wp-cron, with any arguments.
 *
 * @param string $hook  Hook.
 * @param int    $after Events up to this time are left out.
 * @return int|null Unix seconds.
 */
function newsroom_next_cron( $hook, $after = 0 ) {
	foreach ( (array) _get_cron_array() as $time => $hooks ) {
		if ( $time > $after && is_array( $hooks ) && isset( $hooks[ $hook ] ) ) {
			return (int) $time;
		}
	}
	return null;
}

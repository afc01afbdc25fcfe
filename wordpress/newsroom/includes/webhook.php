<?php
/**
 * One signed request to the site.
 *
 * @package Newsroom
 */

if ( ! defined( 'ABSPATH' ) ) {
	exit;
}

/**
 * Signs a webhook. The delivery's id is part of the signature, so that a webhook can't be replayed under another id.
 *
 * @param string $delivery  UUID.
 * @param string $body      Raw body.
 * @param int    $timestamp Unix seconds.
 * @return string Value of X-Newsroom-Signature.
 */
function newsroom_signature( $delivery, $body, $timestamp ) {
	return 'sha256=' . hash_hmac( 'sha256', $timestamp . '.' . $delivery . '.' . $body, newsroom_secret() );
}

/**
 * Posts a signed body to the site.
 *
 * @param string $path     Path on the site.
 * @param string $body     Raw body.
 * @param string $delivery UUID.
 * @param int    $timeout  Seconds.
 * @return array|WP_Error Response.
 */
function newsroom_post_signed( $path, $body, $delivery, $timeout ) {
	$timestamp = time();
	return wp_remote_post(
		newsroom_site_url() . $path,
		array(
			'timeout'     => $timeout,
			'redirection' => 0,
			'user-agent'  => 'Newsroom/' . NEWSROOM_VERSION,
			'headers'     => array(
				'Content-Type'         => 'application/json',
				'X-Newsroom-Timestamp' => (string) $timestamp,
				'X-Newsroom-Delivery'  => $delivery,
				'X-Newsroom-Signature' => newsroom_signature( $delivery, $body, $timestamp ),
			),
			'body'        => $body,
		)
	);
}

/**
 * Asks the site a question for which an editor waits; not while the site doesn't respond.
 *
 * @param string $path    Path on the site.
 * @param array  $payload What is asked about, see newsroom_payload().
 * @return array|null The answer; null without one.
 */
function newsroom_ask_site( $path, $payload ) {
	if ( '' === newsroom_site_url() || '' === newsroom_secret() || get_transient( 'newsroom_site_down' ) ) {
		return null;
	}
	$response = newsroom_post_signed( $path, (string) wp_json_encode( $payload ), wp_generate_uuid4(), 5 );
	$answer   = is_wp_error( $response ) ? null : json_decode( wp_remote_retrieve_body( $response ), true );
	return is_array( $answer ) && ! empty( $answer['ok'] ) ? $answer : null;
}

/**
 * Posts a webhook to the site.
 *
 * @param string $body     Raw body.
 * @param string $delivery UUID, the same at every retry.
 * @param int    $timeout  Seconds.
 * @return array {
 *     The result.
 *
 *     @type string      $outcome     `done`, `retry` or `failed`.
 *     @type int         $code        Status, 0 when there was no answer.
 *     @type int         $took_ms     Milliseconds until the answer.
 *     @type int         $site_ms     What the site says it took.
 *     @type string[]    $refreshed   Pages that the site rendered again.
 *     @type int         $retry_after Seconds the site asks to wait, or 0.
 *     @type string      $error       Why readers don't see the change, in words for editors.
 * }
 */
function newsroom_post_webhook( $body, $delivery, $timeout ) {
	$begun    = microtime( true );
	$response = newsroom_post_signed( '/api/v1/revalidate', $body, $delivery, $timeout );
	$result   = array(
		'outcome'     => 'retry',
		'code'        => 0,
		'took_ms'     => (int) round( ( microtime( true ) - $begun ) * 1000 ),
		'site_ms'     => 0,
		'refreshed'   => array(),
		'retry_after' => 0,
		'error'       => '',
	);
	if ( is_wp_error( $response ) ) {
		$result['error'] = $response->get_error_message();
		return $result;
	}
	$result['code'] = (int) wp_remote_retrieve_response_code( $response );
	$answer         = json_decode( wp_remote_retrieve_body( $response ), true );
	if ( is_array( $answer ) ) {
		$result['site_ms']   = isset( $answer['ms'] ) && is_numeric( $answer['ms'] ) ? (int) round( $answer['ms'] ) : 0;
		$result['refreshed'] = isset( $answer['refreshed'] ) && is_array( $answer['refreshed'] ) ? array_slice( array_values( array_filter( $answer['refreshed'], 'is_string' ) ), 0, 200 ) : array();
	}
	if ( 200 === $result['code'] && ! ( is_array( $answer ) && ! empty( $answer['ok'] ) ) ) {
		// Something responds there, but it isn't the site.
		$result['error'] = __( 'The response isn’t from the site. Check the site address.', 'newsroom' );
		return $result;
	}
	$reason            = is_array( $answer ) && isset( $answer['reason'] ) && is_string( $answer['reason'] ) ? $answer['reason'] : '';
	$result['outcome'] = newsroom_outcome( $result['code'], $reason );
	if ( 'duplicate' === $reason ) {
		$result['error'] = __( 'The site already has this change; its earlier response didn’t reach WordPress.', 'newsroom' );
	} elseif ( isset( $answer['invalid']['field'], $answer['invalid']['problem'] ) ) {
		/* translators: 1: name of a field, 2: what is wrong with it. */
		$result['error'] = sprintf( __( 'The site can’t read %1$s (%2$s), so readers don’t see this change. Correct it and save again, or ask your administrator.', 'newsroom' ), $answer['invalid']['field'], $answer['invalid']['problem'] );
	} elseif ( isset( $answer['shown'] ) && false === $answer['shown'] ) {
		$result['error'] = __( 'The site has no page with this address, so readers don’t see it. Ask your administrator which addresses it has.', 'newsroom' );
	} elseif ( 'done' !== $result['outcome'] ) {
		$result['error'] = newsroom_explain_status( $result['code'], $reason, isset( $answer['ahead'] ) ? (int) $answer['ahead'] : 0 );
	}
	$wait = wp_remote_retrieve_header( $response, 'retry-after' );
	if ( is_numeric( $wait ) ) {
		$result['retry_after'] = max( 0, min( HOUR_IN_SECONDS, (int) $wait ) );
	}
	return $result;
}

/**
 * The result of a delivery for an HTTP status.
 *
 * @param int    $code   Status.
 * @param string $reason What the site gives as its reason, or ''.
 * @return string `done`, `retry` or `failed`.
 */
function newsroom_outcome( $code, $reason ) {
	// Only the site's own response counts: another 409 comes from a proxy.
	if ( ( 409 === $code && 'duplicate' === $reason ) || ( $code >= 200 && $code < 300 ) ) {
		return 'done';
	}
	// A malformed request can't succeed later; all other problems may be fixed.
	return 422 === $code ? 'failed' : 'retry';
}

/**
 * A status in words for editors.
 *
 * @param int    $code   Status.
 * @param string $reason What the site gives as its reason, or ''.
 * @param int    $ahead  Seconds by which WordPress's clock is ahead of the site's, if that is the reason.
 * @return string
 */
function newsroom_explain_status( $code, $reason = '', $ahead = 0 ) {
	switch ( true ) {
		case 'clock' === $reason && $ahead > 0:
			/* translators: %s: a duration such as "1 hour". */
			return sprintf( __( 'WordPress’s clock is %s ahead of the site’s. Sync both clocks with a time server (NTP).', 'newsroom' ), human_time_diff( 0, $ahead ) );
		case 'clock' === $reason:
			/* translators: %s: a duration such as "1 hour". */
			return sprintf( __( 'WordPress’s clock is %s behind the site’s. Sync both clocks with a time server (NTP).', 'newsroom' ), human_time_diff( 0, -$ahead ) );
		case 'outdated-plugin' === $reason:
			return __( 'The site is newer than this plugin. Update the plugin.', 'newsroom' );
		case 'no-secret' === $reason:
			return __( 'The site has no secret. Set NEWSROOM_SECRET on the site to the secret under Settings → Newsroom.', 'newsroom' );
		case 'wordpress' === $reason:
			return __( 'The site couldn’t read the document from WordPress.', 'newsroom' );
		case 'storage' === $reason:
			return __( 'The site couldn’t save the change. Its log says why.', 'newsroom' );
		case 401 === $code:
			return __( 'The site refused the signature. Set NEWSROOM_SECRET on the site to the secret under Settings → Newsroom.', 'newsroom' );
		case 404 === $code:
			return __( 'The site has no webhook at this address. Check the site address.', 'newsroom' );
		case 422 === $code:
			return __( 'The site couldn’t read the message. Make sure that the plugin and the site are the same version.', 'newsroom' );
		case 503 === $code:
			return __( 'The site is busy.', 'newsroom' );
		case $code >= 300 && $code < 400:
			return __( 'The site address redirects. Enter the address that it redirects to.', 'newsroom' );
		default:
			/* translators: %d: HTTP status code. */
			return sprintf( __( 'The site responded with status %d.', 'newsroom' ), $code );
	}
}

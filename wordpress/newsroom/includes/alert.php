<?php
/**
 * Breaking news: one alert that the site shows on every page until it is withdrawn or its time is over.
 *
 * The option `newsroom_alert` has the last alert. Its id is created with the form, so that a form that is submitted twice is one alert, and
 * the site sends each id only once.
 *
 * @package Newsroom
 */

if ( ! defined( 'ABSPATH' ) ) {
	exit;
}

/** Most characters of an alert. The site cuts longer ones. */
define( 'NEWSROOM_ALERT_LENGTH', 200 );

newsroom_route( 'GET', '/alert', 'newsroom_rest_alert', '__return_true' );
newsroom_route( 'GET', '/alert/report', 'newsroom_alert_report', 'newsroom_may_alert' );

/**
 * Whether the user may put an alert on every page: who may publish, and change the stories of others, as editors may.
 *
 * @return bool
 */
function newsroom_may_alert() {
	/**
	 * Filters the capability that breaking news requires in addition to `publish_posts`.
	 *
	 * @param string $capability Capability.
	 */
	return current_user_can( 'publish_posts' ) && current_user_can( apply_filters( 'newsroom_alert_capability', 'edit_others_posts' ) );
}

/**
 * The last alert, running or not.
 *
 * @return array|null `id`, `text`, `story`, `starts`, `until` (Unix seconds), `mail`, `push`, `user` (who sent it, 0 if erased), and `withdrawn`
 *                    (Unix seconds, or 0).
 */
function newsroom_last_alert() {
	$alert = get_option( 'newsroom_alert', null );
	return is_array( $alert ) && isset( $alert['id'], $alert['text'], $alert['starts'], $alert['until'] ) ? $alert : null;
}

/**
 * The alert that pages show now.
 *
 * @return array|null
 */
function newsroom_running_alert() {
	$alert = newsroom_last_alert();
	return $alert && empty( $alert['withdrawn'] ) && time() < (int) $alert['until'] ? $alert : null;
}

/**
 * Puts an alert on every page, in place of one that is running.
 *
 * @param array $given `id`, `text`, `story`, `hours`, `mail`, `push`.
 * @return true|WP_Error
 */
function newsroom_start_alert( $given ) {
	$text  = newsroom_one_line( $given['text'] );
	$story = get_post( (int) $given['story'] );
	if ( '' === $text ) {
		return new WP_Error( 'newsroom_alert_empty', __( 'Write the alert first.', 'newsroom' ) );
	}
	if ( mb_strlen( $text ) > NEWSROOM_ALERT_LENGTH ) {
		/* translators: %s: number of characters. */
		return new WP_Error( 'newsroom_alert_long', sprintf( __( 'This alert is too long. Shorten it to %s characters.', 'newsroom' ), number_format_i18n( NEWSROOM_ALERT_LENGTH ) ) );
	}
	if ( (int) $given['story'] && ! ( $story && 'articles' === $story->post_type && newsroom_is_visible( $story ) ) ) {
		return new WP_Error( 'newsroom_alert_story', __( 'Publish the story first, or choose “No link”.', 'newsroom' ) );
	}
	if ( ! wp_is_uuid( (string) $given['id'], 4 ) ) {
		return new WP_Error( 'newsroom_alert_id', __( 'This form is incomplete. Reload the page and try again.', 'newsroom' ) );
	}
	$used = (array) get_option( 'newsroom_alert_ids', array() );
	if ( in_array( $given['id'], $used, true ) ) {
		// The button was pressed twice, or the form was sent again.
		return true;
	}
	update_option( 'newsroom_alert_ids', array_slice( array_merge( $used, array( $given['id'] ) ), -100 ), false );
	$hours = max( 1, min( 48, (int) $given['hours'] ) );
	$alert = array(
		'id'        => $given['id'],
		'text'      => $text,
		'story'     => $story && (int) $given['story'] ? $story->ID : 0,
		'starts'    => time(),
		'until'     => time() + $hours * HOUR_IN_SECONDS,
		'mail'      => ! empty( $given['mail'] ),
		'push'      => ! empty( $given['push'] ),
		'user'      => get_current_user_id(),
		'withdrawn' => 0,
	);
	update_option( 'newsroom_alert', $alert, false );
	newsroom_send_alert( 'publish', $alert['id'] );
	return true;
}

/**
 * Takes the alert off every page.
 *
 * @param string $id Alert that the editor saw.
 * @return true|WP_Error An error if a colleague has replaced it.
 */
function newsroom_withdraw_alert( $id ) {
	$alert = newsroom_running_alert();
	if ( ! $alert ) {
		return true;
	}
	if ( $alert['id'] !== $id ) {
		return new WP_Error( 'newsroom_alert_replaced', __( 'A colleague has replaced the alert since you opened this page. Check the new one before you take it down.', 'newsroom' ) );
	}
	$alert['withdrawn'] = time();
	update_option( 'newsroom_alert', $alert, false );
	newsroom_send_alert( 'unpublish', $alert['id'] );
	return true;
}

/**
 * Notifies the site at once; if that fails, it is retried like every change.
 *
 * @param string $event Event.
 * @param string $id    Alert.
 */
function newsroom_send_alert( $event, $id ) {
	if ( newsroom_can_deliver() ) {
		newsroom_deliver_row( newsroom_enqueue( newsroom_payload( $event, 'alerts', 1, $id, 'publish' === $event ? 'publish' : 'trash' ) ), 10 );
		newsroom_schedule_next();
	}
}

/**
 * Records a change of the running alert if it links to a story that was published, moved or unpublished: its link is another one then.
 *
 * @param int $id Story.
 */
function newsroom_note_alert_of( $id ) {
	$alert = newsroom_running_alert();
	if ( $alert && ! empty( $alert['story'] ) && (int) $alert['story'] === $id ) {
		newsroom_changes( newsroom_payload( 'publish', 'alerts', 1, $alert['id'], 'publish' ) );
	}
}

/**
 * The alert as the site reads it.
 *
 * @return WP_REST_Response
 */
function newsroom_rest_alert() {
	$alert = newsroom_running_alert();
	$story = $alert && ! empty( $alert['story'] ) ? get_post( (int) $alert['story'] ) : null;
	$shown = null;
	if ( $alert ) {
		$shown = array(
			'id'     => $alert['id'],
			'text'   => $alert['text'],
			// A story that was unpublished since has no address.
			'link'   => $story && newsroom_is_visible( $story ) ? get_permalink( $story ) : '',
			'starts' => newsroom_instant( (int) $alert['starts'] ),
			'until'  => newsroom_instant( (int) $alert['until'] ),
			'mail'   => ! empty( $alert['mail'] ),
			'push'   => ! empty( $alert['push'] ),
		);
	}
	return rest_ensure_response( array( 'alert' => $shown ) );
}

/**
 * The delivery status of the last alert, in words for the editor.
 *
 * @return array `banner`, `mail`, `push`, and `final`: whether nothing of it will change any more.
 */
function newsroom_alert_report() {
	$alert = newsroom_last_alert();
	$row   = newsroom_last_delivery( 'alerts', 1 );
	$lines = array(
		'banner' => newsroom_delivery_message( $row ),
		'mail'   => '',
		'push'   => '',
		'final'  => ! $row || in_array( $row->state, array( 'done', 'failed' ), true ),
	);
	if ( ! $alert || ( empty( $alert['mail'] ) && empty( $alert['push'] ) ) ) {
		return $lines;
	}
	$answer = newsroom_ask_site( '/api/v1/alerts/report', newsroom_payload( 'test', 'alerts', 1, $alert['id'], 'publish' ) );
	foreach ( array( 'mail', 'push' ) as $way ) {
		if ( empty( $alert[ $way ] ) ) {
			continue;
		}
		$sent           = isset( $answer[ $way ] ) && is_array( $answer[ $way ] ) ? $answer[ $way ] : array( 'state' => null );
		$lines[ $way ]  = newsroom_alert_sent_line( $way, $sent, empty( $alert['withdrawn'] ) );
		$lines['final'] = $lines['final'] && in_array( $sent['state'], array( 'off', 'sent', 'stopped', 'refused', 'unclear' ), true );
	}
	return $lines;
}

/**
 * How an alert was sent, in words.
 *
 * @param string $way     `mail` or `push`.
 * @param array  $sent    The site's report; `state` is null if the site couldn't be asked.
 * @param bool   $running Whether the alert wasn't withdrawn.
 * @return string
 */
function newsroom_alert_sent_line( $way, $sent, $running ) {
	$readers = number_format_i18n( isset( $sent['readers'] ) ? (int) $sent['readers'] : 0 );
	$detail  = isset( $sent['detail'] ) && is_string( $sent['detail'] ) ? $sent['detail'] : '';
	switch ( $way . ' ' . $sent['state'] ) {
		case 'mail off':
			return __( 'The site can’t send email: reader accounts are off.', 'newsroom' );
		case 'push off':
			return __( 'The site can’t send notifications: ONESIGNAL_API_KEY isn’t set.', 'newsroom' );
		case 'mail none':
		case 'push none':
			return $running ? __( 'The site hasn’t started sending yet.', 'newsroom' ) : __( 'Nothing was sent.', 'newsroom' );
		case 'mail sending':
			/* translators: %s: number of readers. */
			return sprintf( __( 'Sending. Readers so far: %s.', 'newsroom' ), $readers );
		case 'mail sent':
			if ( empty( $sent['readers'] ) ) {
				return __( 'Nothing was sent, because no readers have signed up for alerts by email.', 'newsroom' );
			}
			/* translators: %s: number of readers. */
			return sprintf( __( 'On its way to everyone who signed up. Readers: %s.', 'newsroom' ), $readers );
		case 'mail stopped':
			/* translators: %s: number of readers. */
			return sprintf( __( 'Stopped. Readers who got it: %s.', 'newsroom' ), $readers );
		case 'push sending':
			/* translators: %s: reason. */
			return '' === $detail ? __( 'Sending.', 'newsroom' ) : sprintf( __( 'OneSignal hasn’t confirmed it; the site will ask again. %s', 'newsroom' ), $detail );
		case 'push sent':
			return __( 'OneSignal has accepted it.', 'newsroom' );
		case 'push stopped':
			return __( 'Stopped before it was sent.', 'newsroom' );
		case 'push refused':
			/* translators: %s: reason. */
			return sprintf( __( 'OneSignal refused it: %s', 'newsroom' ), $detail );
		case 'push unclear':
			/* translators: %s: reason. */
			return sprintf( __( 'OneSignal never confirmed it, and the site won’t send it again. %s', 'newsroom' ), $detail );
		default:
			return __( 'We couldn’t get the status from the site.', 'newsroom' );
	}
}

<?php
/**
 * The last deliveries on Settings → Newsroom.
 *
 * @package Newsroom
 */

if ( ! defined( 'ABSPATH' ) ) {
	exit;
}

add_action( 'admin_post_newsroom_retry', 'newsroom_retry_now' );

/**
 * Delivers one row now, even one that is no longer retried.
 */
function newsroom_retry_now() {
	newsroom_require_administrator( 'newsroom_retry' );
	$id = isset( $_POST['delivery'] ) ? absint( $_POST['delivery'] ) : 0; // phpcs:ignore WordPress.Security.NonceVerification -- checked above.
	newsroom_requeue( $id );
	newsroom_deliver_row( $id, 10 );
	newsroom_schedule_next();
	wp_safe_redirect( newsroom_settings_url( array( 'newsroom' => 'retry' ) ) );
	exit;
}

/**
 * Makes a failed row wait again, to be retried for a whole day.
 *
 * @param int $id Row.
 */
function newsroom_requeue( $id ) {
	global $wpdb;
	$row = array(
		'state'      => 'pending',
		'created_ms' => (int) round( microtime( true ) * 1000 ),
		'next_at'    => time(),
	);
	$wpdb->update( newsroom_table(), $row, array( 'id' => $id, 'state' => 'failed' ) ); // phpcs:ignore WordPress.DB,WordPress.Arrays
}

/**
 * A state in words.
 *
 * @param object $row Delivery.
 * @return string
 */
function newsroom_state_label( $row ) {
	switch ( $row->state ) {
		case 'done':
			return __( 'Delivered', 'newsroom' );
		case 'failed':
			return __( 'Failed', 'newsroom' );
		case 'sending':
			return __( 'Sending', 'newsroom' );
		default:
			if ( ! (int) $row->tries ) {
				return __( 'Waiting', 'newsroom' );
			}
			$left = (int) $row->next_at - time();
			return $left > 0
				/* translators: %s: a duration such as "5 mins". */
				? sprintf( __( 'Next try in %s', 'newsroom' ), human_time_diff( time(), (int) $row->next_at ) )
				: __( 'Next try is due now', 'newsroom' );
	}
}

/**
 * The document of a delivery, as a link where it can be edited.
 *
 * @param object $row Delivery.
 * @return string Markup.
 */
function newsroom_document_cell( $row ) {
	$payload = json_decode( $row->payload, true );
	$name    = $row->object_type . ( (int) $row->object_id ? ' ' . (int) $row->object_id : '' );
	$slug    = is_array( $payload ) && '' !== $payload['slug'] ? $payload['slug'] : '';
	$types   = array_flip( newsroom_document_types() );
	$link    = isset( $types[ $row->object_type ] ) ? get_edit_post_link( (int) $row->object_id ) : '';
	$text    = esc_html( '' === $slug ? $name : $slug );
	return ( $link ? sprintf( '<a href="%s">%s</a>', esc_url( $link ), $text ) : $text ) . ( '' === $slug ? '' : '<br><small>' . esc_html( $name ) . '</small>' );
}

/**
 * Prints the log.
 */
function newsroom_print_log() {
	$rows = newsroom_recent_deliveries();
	echo '<h2>' . esc_html__( 'Recent deliveries', 'newsroom' ) . '</h2>';
	if ( ! $rows ) {
		echo '<p>' . esc_html__( 'Nothing has been sent yet.', 'newsroom' ) . '</p>';
		return;
	}
	echo '<table class="widefat striped"><thead><tr>';
	$columns = array( __( 'When', 'newsroom' ), __( 'Event', 'newsroom' ), __( 'Document', 'newsroom' ), __( 'State', 'newsroom' ), __( 'Status', 'newsroom' ), __( 'Time taken', 'newsroom' ), __( 'Tries', 'newsroom' ), __( 'Refreshed on the site', 'newsroom' ) );
	foreach ( $columns as $column ) {
		printf( '<th scope="col">%s</th>', esc_html( $column ) );
	}
	echo '</tr></thead><tbody>';
	foreach ( $rows as $row ) {
		newsroom_print_log_row( $row );
	}
	echo '</tbody></table>';
}

/**
 * Prints one line of the log.
 *
 * @param object $row Delivery.
 */
function newsroom_print_log_row( $row ) {
	$pages = $row->refreshed ? (array) json_decode( $row->refreshed, true ) : array();
	$when  = (int) ( $row->created_ms / 1000 );
	printf(
		'<tr><td><time datetime="%1$s">%2$s</time></td><td>%3$s</td><td>%4$s</td><td>%5$s%6$s',
		esc_attr( gmdate( 'c', $when ) ),
		esc_html( wp_date( get_option( 'date_format' ) . ' H:i:s', $when ) ),
		esc_html( $row->event ),
		newsroom_document_cell( $row ), // phpcs:ignore WordPress.Security.EscapeOutput -- escaped where it is made.
		esc_html( newsroom_state_label( $row ) ),
		'' !== $row->error ? '<br><small>' . esc_html( $row->error ) . '</small>' : ''
	);
	if ( in_array( $row->state, array( 'pending', 'failed' ), true ) ) {
		newsroom_action_form( 'newsroom_retry', __( 'Retry now', 'newsroom' ), array( 'delivery' => (int) $row->id ), 'button button-small' );
	}
	printf( '</td><td>%s</td><td>', (int) $row->status_code ? (int) $row->status_code : '—' );
	if ( (int) $row->tries ) {
		/* translators: %s: number of milliseconds. */
		echo esc_html( sprintf( __( '%s ms', 'newsroom' ), number_format_i18n( (int) $row->took_ms ) ) );
		if ( (int) $row->site_ms ) {
			/* translators: %s: number of milliseconds. */
			echo '<br><small>' . esc_html( sprintf( __( '%s ms on the site', 'newsroom' ), number_format_i18n( (int) $row->site_ms ) ) ) . '</small>';
		}
	}
	printf( '</td><td>%d</td><td>', (int) $row->tries );
	if ( $pages ) {
		/* translators: %s: number of pages. */
		printf( '<details><summary>%1$s</summary>%2$s</details>', esc_html( sprintf( _n( '%s page', '%s pages', count( $pages ), 'newsroom' ), number_format_i18n( count( $pages ) ) ) ), implode( '<br>', array_map( 'esc_html', $pages ) ) ); // phpcs:ignore WordPress.Security.EscapeOutput -- escaped.
	}
	echo '</td></tr>';
}

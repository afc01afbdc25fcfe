<?php
/**
 * An editor's name in the history of fronts, and in the last breaking-news alert: exported with personal data, and removed when it is
 * erased or the account is deleted. The fronts and the alert stay.
 *
 * @package Newsroom
 */

if ( ! defined( 'ABSPATH' ) ) {
	exit;
}

add_filter( 'wp_privacy_personal_data_exporters', 'newsroom_front_exporter' );
add_filter( 'wp_privacy_personal_data_erasers', 'newsroom_front_eraser' );
add_action( 'deleted_user', 'newsroom_forget_front_editor' );

/**
 * Adds the exporter.
 *
 * @param array $exporters Exporters.
 * @return array
 */
function newsroom_front_exporter( $exporters ) {
	$exporters['newsroom-fronts'] = array(
		'exporter_friendly_name' => __( 'Fronts and breaking news', 'newsroom' ),
		'callback'               => 'newsroom_export_fronts',
	);
	return $exporters;
}

/**
 * Adds the eraser.
 *
 * @param array $erasers Erasers.
 * @return array
 */
function newsroom_front_eraser( $erasers ) {
	$erasers['newsroom-fronts'] = array(
		'eraser_friendly_name' => __( 'Fronts and breaking news', 'newsroom' ),
		'callback'             => 'newsroom_erase_fronts',
	);
	return $erasers;
}

/**
 * One page of the fronts that a user has saved, scheduled or published; on the first page also the user's alert.
 *
 * @param string $email Address of the user.
 * @param int    $page  Page, from 1.
 * @return array
 */
function newsroom_export_fronts( $email, $page = 1 ) {
	global $wpdb;
	$user  = get_user_by( 'email', $email );
	$page  = max( 1, (int) $page );
	$table = newsroom_front_table();
	$limit = 200;
	$rows  = $user ? $wpdb->get_results( $wpdb->prepare( "SELECT id, page, state, at FROM $table WHERE user_id = %d ORDER BY id LIMIT %d OFFSET %d", $user->ID, $limit, ( $page - 1 ) * $limit ) ) : array(); // phpcs:ignore WordPress.DB
	$pages = $rows ? newsroom_front_pages() : array();
	$words = newsroom_front_states();
	$data  = array();
	foreach ( $rows as $row ) {
		$name   = isset( $pages[ $row->page ] ) ? $pages[ $row->page ] : $row->page;
		$state  = isset( $words[ $row->state ] ) ? $words[ $row->state ] : $row->state;
		$data[] = newsroom_exported_item( 'newsroom-fronts', __( 'Fronts', 'newsroom' ), (int) $row->id, __( 'Page', 'newsroom' ), "$name ($state)", (int) $row->at );
	}
	$alert = $user && 1 === $page ? newsroom_last_alert() : null;
	if ( $alert && isset( $alert['user'] ) && (int) $alert['user'] === $user->ID ) {
		$data[] = newsroom_exported_item( 'newsroom-alerts', __( 'Breaking news', 'newsroom' ), $alert['id'], __( 'Alert', 'newsroom' ), $alert['text'], (int) $alert['starts'] );
	}
	return array(
		'data' => $data,
		'done' => count( $rows ) < $limit,
	);
}

/**
 * States of a front in words.
 *
 * @return array<string,string>
 */
function newsroom_front_states() {
	return array(
		'draft'     => __( 'draft', 'newsroom' ),
		'scheduled' => __( 'scheduled', 'newsroom' ),
		'published' => __( 'published', 'newsroom' ),
		'kept'      => __( 'draft that was replaced', 'newsroom' ),
	);
}

/**
 * An item of the export: what it was, and when.
 *
 * @param string     $group Group.
 * @param string     $label Name of the group.
 * @param int|string $id    Id in the group.
 * @param string     $name  Name of the value.
 * @param string     $value Value.
 * @param int        $time  Unix seconds.
 * @return array
 */
function newsroom_exported_item( $group, $label, $id, $name, $value, $time ) {
	return array(
		'group_id'    => $group,
		'group_label' => $label,
		'item_id'     => "$group-$id",
		'data'        => array(
			array(
				'name'  => $name,
				'value' => $value,
			),
			array(
				'name'  => __( 'Time', 'newsroom' ),
				'value' => gmdate( 'Y-m-d\TH:i:s\Z', $time ),
			),
		),
	);
}

/**
 * Removes a user's name from fronts and from the alert.
 *
 * @param string $email Address of the user.
 * @return array
 */
function newsroom_erase_fronts( $email ) {
	$user = get_user_by( 'email', $email );
	return array(
		'items_removed'  => $user ? newsroom_forget_front_editor( $user->ID ) : 0,
		'items_retained' => 0,
		'messages'       => array(),
		'done'           => true,
	);
}

/**
 * Removes a user's name from fronts and from the alert.
 *
 * @param int $user User.
 * @return int Number of fronts and alerts.
 */
function newsroom_forget_front_editor( $user ) {
	global $wpdb;
	$count = (int) $wpdb->update( newsroom_front_table(), array( 'user_id' => 0 ), array( 'user_id' => (int) $user ) ); // phpcs:ignore WordPress.DB
	$alert = newsroom_last_alert();
	if ( $alert && isset( $alert['user'] ) && (int) $alert['user'] === (int) $user ) {
		$alert['user'] = 0;
		update_option( 'newsroom_alert', $alert, false );
		++$count;
	}
	return $count;
}

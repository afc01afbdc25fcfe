<?php
/**
 * An editor's name in versions: exported with personal data, and removed when it is erased or the account is deleted. The
 * versions stay.
 *
 * @package Newsroom
 */

if ( ! defined( 'ABSPATH' ) ) {
	exit;
}

add_filter( 'wp_privacy_personal_data_exporters', 'newsroom_version_exporter' );
add_filter( 'wp_privacy_personal_data_erasers', 'newsroom_version_eraser' );
add_action( 'deleted_user', 'newsroom_forget_editor' );

/**
 * Adds the exporter.
 *
 * @param array $exporters Exporters.
 * @return array
 */
function newsroom_version_exporter( $exporters ) {
	$exporters['newsroom-versions'] = array(
		'exporter_friendly_name' => __( 'Versions of stories', 'newsroom' ),
		'callback'               => 'newsroom_export_versions',
	);
	return $exporters;
}

/**
 * Adds the eraser.
 *
 * @param array $erasers Erasers.
 * @return array
 */
function newsroom_version_eraser( $erasers ) {
	$erasers['newsroom-versions'] = array(
		'eraser_friendly_name' => __( 'Versions of stories', 'newsroom' ),
		'callback'             => 'newsroom_erase_versions',
	);
	return $erasers;
}

/**
 * One page of what a user has published.
 *
 * @param string $email Address of the user.
 * @param int    $page  Page, from 1.
 * @return array
 */
function newsroom_export_versions( $email, $page = 1 ) {
	global $wpdb;
	$user  = get_user_by( 'email', $email );
	$table = newsroom_version_table();
	$limit = 200;
	$rows  = $user ? $wpdb->get_results( $wpdb->prepare( "SELECT id, post_id, made_at FROM $table WHERE user_id = %d ORDER BY id LIMIT %d OFFSET %d", $user->ID, $limit, ( max( 1, (int) $page ) - 1 ) * $limit ) ) : array(); // phpcs:ignore WordPress.DB
	$data  = array();
	foreach ( $rows as $row ) {
		$data[] = array(
			'group_id'    => 'newsroom-versions',
			'group_label' => __( 'Versions of stories', 'newsroom' ),
			'item_id'     => 'newsroom-version-' . (int) $row->id,
			'data'        => array(
				array(
					'name'  => __( 'Story', 'newsroom' ),
					'value' => newsroom_plain( get_post_field( 'post_title', (int) $row->post_id, 'raw' ) ),
				),
				array(
					'name'  => __( 'Saved', 'newsroom' ),
					'value' => gmdate( 'Y-m-d\TH:i:s\Z', (int) $row->made_at ),
				),
			),
		);
	}
	return array(
		'data' => $data,
		'done' => count( $rows ) < $limit,
	);
}

/**
 * Removes a user's name from all versions.
 *
 * @param string $email Address of the user.
 * @return array
 */
function newsroom_erase_versions( $email ) {
	$user = get_user_by( 'email', $email );
	return array(
		'items_removed'  => $user ? newsroom_forget_editor( $user->ID ) : 0,
		'items_retained' => 0,
		'messages'       => array(),
		'done'           => true,
	);
}

/**
 * Removes a user's name from all versions.
 *
 * @param int $user User.
 * @return int Number of versions.
 */
function newsroom_forget_editor( $user ) {
	global $wpdb;
	return (int) $wpdb->update( newsroom_version_table(), array( 'user_id' => 0 ), array( 'user_id' => (int) $user ) ); // phpcs:ignore WordPress.DB
}

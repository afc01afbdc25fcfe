<?php
/**
 * An editor's name in versions of stories, in the history of fronts, and in the last breaking-news alert: exported with personal data, and
 * removed when it is erased or the account is deleted. What the editor did stays.
 *
 * @package Newsroom
 */

if ( ! defined( 'ABSPATH' ) ) {
	exit;
}

/** Rows of a table on one page of an export. */
define( 'NEWSROOM_EXPORTED_ROWS', 200 );

add_filter( 'wp_privacy_personal_data_exporters', 'newsroom_add_exporters' );
add_filter( 'wp_privacy_personal_data_erasers', 'newsroom_add_erasers' );
add_action( 'deleted_user', 'newsroom_forget_editor' );

/**
 * What has an editor's name.
 *
 * @return array[] By name: `label`; `export`: gets the user's address and a page from 1; `forget`: gets the user's id, returns how many
 *                 records it changed.
 */
function newsroom_named_records() {
	return array(
		'newsroom-versions' => array(
			'label'  => __( 'Versions of stories', 'newsroom' ),
			'export' => 'newsroom_export_versions',
			'forget' => 'newsroom_forget_version_editor',
		),
		'newsroom-fronts'   => array(
			'label'  => __( 'Fronts and breaking news', 'newsroom' ),
			'export' => 'newsroom_export_fronts',
			'forget' => 'newsroom_forget_front_editor',
		),
	);
}

/**
 * Adds the exporters.
 *
 * @param array $exporters Exporters.
 * @return array
 */
function newsroom_add_exporters( $exporters ) {
	foreach ( newsroom_named_records() as $name => $records ) {
		$exporters[ $name ] = array(
			'exporter_friendly_name' => $records['label'],
			'callback'               => $records['export'],
		);
	}
	return $exporters;
}

/**
 * Adds the erasers.
 *
 * @param array $erasers Erasers.
 * @return array
 */
function newsroom_add_erasers( $erasers ) {
	foreach ( newsroom_named_records() as $name => $records ) {
		$erasers[ $name ] = array(
			'eraser_friendly_name' => $records['label'],
			'callback'             => static function ( $email ) use ( $records ) {
				$user = get_user_by( 'email', $email );
				return array(
					'items_removed'  => $user ? call_user_func( $records['forget'], $user->ID ) : 0,
					'items_retained' => 0,
					'messages'       => array(),
					'done'           => true,
				);
			},
		);
	}
	return $erasers;
}

/**
 * Removes a deleted user's name.
 *
 * @param int $user User.
 */
function newsroom_forget_editor( $user ) {
	foreach ( newsroom_named_records() as $records ) {
		call_user_func( $records['forget'], (int) $user );
	}
}

/**
 * One page of the rows of a table that name a user.
 *
 * @param string   $table    Table with the columns `id` and `user_id`.
 * @param string   $columns  Columns that are described, for SQL.
 * @param callable $describe Gets a row, returns an item of the export.
 * @param string   $email    Address of the user.
 * @param int      $page     Page, from 1.
 * @return array
 */
function newsroom_exported_rows( $table, $columns, $describe, $email, $page ) {
	global $wpdb;
	$user = get_user_by( 'email', $email );
	$rows = $user ? $wpdb->get_results( $wpdb->prepare( "SELECT $columns FROM $table WHERE user_id = %d ORDER BY id LIMIT %d OFFSET %d", $user->ID, NEWSROOM_EXPORTED_ROWS, ( max( 1, (int) $page ) - 1 ) * NEWSROOM_EXPORTED_ROWS ) ) : array(); // phpcs:ignore WordPress.DB
	return array(
		'data' => array_map( $describe, $rows ),
		'done' => count( $rows ) < NEWSROOM_EXPORTED_ROWS,
	);
}

/**
 * An item of the export.
 *
 * @param string               $group  Group.
 * @param string               $label  Name of the group.
 * @param int|string           $id     Id in the group.
 * @param array<string,string> $values Values by their names.
 * @return array
 */
function newsroom_exported_item( $group, $label, $id, $values ) {
	$data = array();
	foreach ( $values as $name => $value ) {
		$data[] = compact( 'name', 'value' );
	}
	return array(
		'group_id'    => $group,
		'group_label' => $label,
		'item_id'     => "$group-$id",
		'data'        => $data,
	);
}

/**
 * One page of the versions that a user has made.
 *
 * @param string $email Address of the user.
 * @param int    $page  Page, from 1.
 * @return array
 */
function newsroom_export_versions( $email, $page = 1 ) {
	$describe = static function ( $row ) {
		$values = array(
			__( 'Story', 'newsroom' ) => newsroom_plain( get_post_field( 'post_title', (int) $row->post_id, 'raw' ) ),
			__( 'Saved', 'newsroom' ) => newsroom_instant( (int) $row->made_at ),
		);
		return newsroom_exported_item( 'newsroom-versions', __( 'Versions of stories', 'newsroom' ), (int) $row->id, $values );
	};
	return newsroom_exported_rows( newsroom_version_table(), 'id, post_id, made_at', $describe, $email, $page );
}

/**
 * Removes a user's name from all versions.
 *
 * @param int $user User.
 * @return int Number of versions.
 */
function newsroom_forget_version_editor( $user ) {
	global $wpdb;
	return (int) $wpdb->update( newsroom_version_table(), array( 'user_id' => 0 ), array( 'user_id' => $user ) ); // phpcs:ignore WordPress.DB
}

/**
 * One page of the fronts that a user has saved, scheduled or published; on the first page also the user's alert.
 *
 * @param string $email Address of the user.
 * @param int    $page  Page, from 1.
 * @return array
 */
function newsroom_export_fronts( $email, $page = 1 ) {
	$pages    = newsroom_front_pages();
	$states   = array(
		'draft'     => __( 'draft', 'newsroom' ),
		'scheduled' => __( 'scheduled', 'newsroom' ),
		'published' => __( 'published', 'newsroom' ),
		'kept'      => __( 'draft that was replaced', 'newsroom' ),
	);
	$describe = static function ( $row ) use ( $pages, $states ) {
		$name   = $pages[ $row->page ] ?? $row->page;
		$values = array(
			__( 'Page', 'newsroom' ) => "$name ({$states[ $row->state ]})",
			__( 'Time', 'newsroom' ) => newsroom_instant( (int) $row->at ),
		);
		return newsroom_exported_item( 'newsroom-fronts', __( 'Fronts', 'newsroom' ), (int) $row->id, $values );
	};
	$exported = newsroom_exported_rows( newsroom_front_table(), 'id, page, state, at', $describe, $email, $page );
	$user     = get_user_by( 'email', $email );
	$alert    = $user && (int) $page <= 1 ? newsroom_last_alert() : null;
	if ( $alert && isset( $alert['user'] ) && (int) $alert['user'] === $user->ID ) {
		$values             = array(
			__( 'Alert', 'newsroom' ) => $alert['text'],
			__( 'Time', 'newsroom' )  => newsroom_instant( (int) $alert['starts'] ),
		);
		$exported['data'][] = newsroom_exported_item( 'newsroom-alerts', __( 'Breaking news', 'newsroom' ), $alert['id'], $values );
	}
	return $exported;
}

/**
 * Removes a user's name from fronts and from the alert.
 *
 * @param int $user User.
 * @return int Number of fronts and alerts.
 */
function newsroom_forget_front_editor( $user ) {
	global $wpdb;
	$count = (int) $wpdb->update( newsroom_front_table(), array( 'user_id' => 0 ), array( 'user_id' => $user ) ); // phpcs:ignore WordPress.DB
	$alert = newsroom_last_alert();
	if ( $alert && isset( $alert['user'] ) && (int) $alert['user'] === $user ) {
		$alert['user'] = 0;
		update_option( 'newsroom_alert', $alert, false );
		++$count;
	}
	return $count;
}

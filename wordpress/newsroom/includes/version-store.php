<?php
/**
 * The tables of versions. One row is one version of a story; long texts are in a separate table, once for each distinct text of a
 * story. These are tables and not a post type, so that limits on revisions and cleanup plugins don't affect them.
 *
 * @package Newsroom
 */

if ( ! defined( 'ABSPATH' ) ) {
	exit;
}

/** Longest text in bytes that is stored in the row itself. */
define( 'NEWSROOM_LONG_TEXT', 500 );

/**
 * Name of the table of versions.
 *
 * @return string
 */
function newsroom_version_table() {
	global $wpdb;
	return $wpdb->prefix . 'newsroom_versions';
}

/**
 * Name of the table of their texts.
 *
 * @return string
 */
function newsroom_version_text_table() {
	global $wpdb;
	return $wpdb->prefix . 'newsroom_version_texts';
}

/**
 * Creates or updates the tables.
 */
function newsroom_create_version_tables() {
	global $wpdb;
	require_once ABSPATH . 'wp-admin/includes/upgrade.php';
	$versions = newsroom_version_table();
	$texts    = newsroom_version_text_table();
	$charset  = $wpdb->get_charset_collate();
	// `made_at` is in Unix seconds. `way` says what saved the version if it wasn't an editor.
	dbDelta(
		"CREATE TABLE $versions (
			id bigint(20) unsigned NOT NULL AUTO_INCREMENT,
			post_id bigint(20) unsigned NOT NULL DEFAULT 0,
			made_at bigint(20) NOT NULL DEFAULT 0,
			user_id bigint(20) unsigned NOT NULL DEFAULT 0,
			way varchar(10) NOT NULL DEFAULT '',
			event varchar(10) NOT NULL DEFAULT '',
			fingerprint varchar(64) NOT NULL DEFAULT '',
			changed text NOT NULL,
			content longtext NOT NULL,
			PRIMARY KEY  (id),
			KEY post_version (post_id,id),
			KEY user_version (user_id,id)
		) $charset;"
	);
	dbDelta(
		"CREATE TABLE $texts (
			post_id bigint(20) unsigned NOT NULL DEFAULT 0,
			hash varchar(64) NOT NULL DEFAULT '',
			packed longtext NOT NULL,
			PRIMARY KEY  (post_id,hash)
		) $charset;"
	);
}

/**
 * A text as it is stored: compressed if PHP supports it, and in ASCII, so that every database and dump preserves it.
 *
 * @param string $text Text.
 * @return string
 */
function newsroom_pack( $text ) {
	return function_exists( 'gzdeflate' ) ? 'deflate:' . base64_encode( gzdeflate( $text, 6 ) ) : 'plain:' . $text; // phpcs:ignore WordPress.PHP.DiscouragedPHPFunctions
}

/**
 * The original of a stored text.
 *
 * @param string $packed What newsroom_pack() gave.
 * @return string '' for what can't be read.
 */
function newsroom_unpack( $packed ) {
	if ( 0 === strpos( $packed, 'plain:' ) ) {
		return substr( $packed, 6 );
	}
	$bytes = 0 === strpos( $packed, 'deflate:' ) && function_exists( 'gzinflate' ) ? base64_decode( substr( $packed, 8 ), true ) : false; // phpcs:ignore WordPress.PHP.DiscouragedPHPFunctions
	$text  = false === $bytes ? false : @gzinflate( $bytes ); // phpcs:ignore WordPress.PHP.NoSilencedErrors -- damaged data gives an empty text.
	return false === $text ? '' : $text;
}

/**
 * Removes long texts from a version's content.
 *
 * @param array $held  What it holds.
 * @param array $texts Long texts by their hashes are added here.
 * @return array The content with `{"text": hash}` in place of each long text.
 */
function newsroom_without_texts( $held, &$texts ) {
	foreach ( $held as $key => $value ) {
		if ( is_array( $value ) ) {
			$held[ $key ] = newsroom_without_texts( $value, $texts );
		} elseif ( is_string( $value ) && strlen( $value ) > NEWSROOM_LONG_TEXT ) {
			$hash           = hash( 'sha256', $value );
			$texts[ $hash ] = $value;
			$held[ $key ]   = array( 'text' => $hash );
		}
	}
	return $held;
}

/**
 * Puts long texts back.
 *
 * @param array                $held  What newsroom_without_texts() gave.
 * @param array<string,string> $texts Texts by their hashes.
 * @return array
 */
function newsroom_with_texts( $held, $texts ) {
	foreach ( $held as $key => $value ) {
		if ( is_array( $value ) ) {
			$is_text      = array( 'text' ) === array_keys( $value ) && is_string( $value['text'] ) && 64 === strlen( $value['text'] );
			$held[ $key ] = $is_text ? ( $texts[ $value['text'] ] ?? '' ) : newsroom_with_texts( $value, $texts );
		}
	}
	return $held;
}

/**
 * Stores the texts of a version that aren't stored yet.
 *
 * @param int                  $post_id Story.
 * @param array<string,string> $texts   Texts by their hashes.
 */
function newsroom_store_texts( $post_id, $texts ) {
	global $wpdb;
	$table = newsroom_version_text_table();
	foreach ( $texts as $hash => $text ) {
		$there = $wpdb->get_var( $wpdb->prepare( "SELECT 1 FROM $table WHERE post_id = %d AND hash = %s", $post_id, $hash ) ); // phpcs:ignore WordPress.DB
		if ( ! $there ) {
			$wpdb->query( $wpdb->prepare( "INSERT IGNORE INTO $table (post_id, hash, packed) VALUES (%d, %s, %s)", $post_id, $hash, newsroom_pack( $text ) ) ); // phpcs:ignore WordPress.DB
		}
	}
}

/**
 * Adds a version, or replaces one.
 *
 * @param array $row  Columns without `content`.
 * @param array $held What the version holds.
 * @param int   $id   Version that it replaces, or 0.
 */
function newsroom_store_version( $row, $held, $id = 0 ) {
	global $wpdb;
	$texts          = array();
	$row['content'] = (string) wp_json_encode( newsroom_without_texts( $held, $texts ) );
	newsroom_store_texts( $row['post_id'], $texts );
	if ( $id ) {
		$wpdb->update( newsroom_version_table(), $row, array( 'id' => $id ) ); // phpcs:ignore WordPress.DB
	} else {
		$wpdb->insert( newsroom_version_table(), $row ); // phpcs:ignore WordPress.DB
	}
}

/**
 * The content of a version.
 *
 * @param object $row Version with `content`.
 * @return array See newsroom_version_now(); empty if it is damaged in the database.
 */
function newsroom_version_content( $row ) {
	global $wpdb;
	$held  = json_decode( $row->content, true );
	$held  = is_array( $held ) ? $held : array();
	$table = newsroom_version_text_table();
	preg_match_all( '/"text":"([0-9a-f]{64})"/', $row->content, $found );
	$texts = array();
	if ( $found[1] ) {
		$in = implode( ',', array_fill( 0, count( $found[1] ), '%s' ) );
		foreach ( $wpdb->get_results( $wpdb->prepare( "SELECT hash, packed FROM $table WHERE post_id = %d AND hash IN ($in)", array_merge( array( $row->post_id ), $found[1] ) ) ) as $text ) { // phpcs:ignore WordPress.DB
			$texts[ $text->hash ] = newsroom_unpack( $text->packed );
		}
	}
	return newsroom_with_texts( $held, $texts );
}

/**
 * The newest version of a story, or the newest before another one.
 *
 * @param int $post_id Story.
 * @param int $before  Version, or 0 for the newest of all.
 * @return object|null
 */
function newsroom_last_version( $post_id, $before = 0 ) {
	global $wpdb;
	$table = newsroom_version_table();
	$below = $before ? $wpdb->prepare( 'AND id < %d', $before ) : '';
	return $wpdb->get_row( $wpdb->prepare( "SELECT * FROM $table WHERE post_id = %d $below ORDER BY id DESC LIMIT 1", $post_id ) ); // phpcs:ignore WordPress.DB
}

/**
 * One version of a story.
 *
 * @param int $post_id Story.
 * @param int $id      Version.
 * @return object|null With `number`, its place among the story's versions from 1; null if the story has no such version.
 */
function newsroom_version( $post_id, $id ) {
	global $wpdb;
	$table = newsroom_version_table();
	$row   = $wpdb->get_row( $wpdb->prepare( "SELECT * FROM $table WHERE post_id = %d AND id = %d", $post_id, $id ) ); // phpcs:ignore WordPress.DB
	if ( $row ) {
		$row->number = (int) $wpdb->get_var( $wpdb->prepare( "SELECT COUNT(*) FROM $table WHERE post_id = %d AND id <= %d", $post_id, $id ) ); // phpcs:ignore WordPress.DB
	}
	return $row;
}

/**
 * Number of a story's versions.
 *
 * @param int $post_id Story.
 * @return int
 */
function newsroom_count_versions( $post_id ) {
	global $wpdb;
	$table = newsroom_version_table();
	return (int) $wpdb->get_var( $wpdb->prepare( "SELECT COUNT(*) FROM $table WHERE post_id = %d", $post_id ) ); // phpcs:ignore WordPress.DB
}

/**
 * Versions of a story without their content, newest first.
 *
 * @param int $post_id Story.
 * @param int $count   Number of all its versions.
 * @param int $limit   How many.
 * @param int $offset  How many newer ones are left out.
 * @return object[] With `number`.
 */
function newsroom_list_versions( $post_id, $count, $limit, $offset = 0 ) {
	global $wpdb;
	$table = newsroom_version_table();
	$rows  = $wpdb->get_results( $wpdb->prepare( "SELECT id, post_id, made_at, user_id, way, event, changed FROM $table WHERE post_id = %d ORDER BY id DESC LIMIT %d OFFSET %d", $post_id, $limit, $offset ) ); // phpcs:ignore WordPress.DB
	foreach ( $rows as $at => $row ) {
		$row->number = $count - $offset - $at;
	}
	return $rows;
}

/**
 * Deletes the versions of a story.
 *
 * @param int $post_id Story.
 */
function newsroom_delete_versions( $post_id ) {
	global $wpdb;
	$wpdb->delete( newsroom_version_table(), array( 'post_id' => $post_id ) ); // phpcs:ignore WordPress.DB
	$wpdb->delete( newsroom_version_text_table(), array( 'post_id' => $post_id ) ); // phpcs:ignore WordPress.DB
}

<?php
/**
 * Pictures whose files are deleted or replaced: the site gets a webhook, because it stores resized copies.
 *
 * @package Newsroom
 */

if ( ! defined( 'ABSPATH' ) ) {
	exit;
}

add_action( 'add_attachment', 'newsroom_picture_added' );
add_action( 'delete_attachment', 'newsroom_picture_deleted' );
// Before the meta has the new address. Tools that replace a file under its name write the meta again, even where it stays the same.
add_action( 'update_post_meta', 'newsroom_picture_meta_before', 10, 3 );
add_filter( 'wp_update_attachment_metadata', 'newsroom_picture_written', 10, 2 );

/**
 * Most pictures that are named to the site in one request. If there are more, the site checks every file again.
 */
define( 'NEWSROOM_MOST_PICTURES', 100 );

/**
 * Pictures of the current site whose files changed in this request, with their addresses and the event.
 *
 * @param int|null    $add   Attachment to add, or null to only look.
 * @param string|null $event `update`, `delete`, or `new` for a picture whose addresses have not been used yet.
 * @param bool        $drop  Whether to empty the list.
 * @return array[] By attachment: `event` and `addresses`.
 */
function newsroom_changed_pictures( $add = null, $event = null, $drop = false ) {
	static $pictures = array();
	$site            = get_current_blog_id();
	$now             = isset( $pictures[ $site ] ) ? $pictures[ $site ] : array();
	if ( $drop ) {
		unset( $pictures[ $site ] );
	} elseif ( null !== $add ) {
		$known = isset( $now[ $add ] ) ? $now[ $add ] : array(
			'event'     => $event,
			'addresses' => array(),
		);
		if ( 'delete' === $event ) {
			$known['event'] = $event;
		}
		// If a request changes thousands of pictures, their addresses aren't collected, because they aren't sent.
		if ( 'new' !== $known['event'] && count( $now ) < 2 * NEWSROOM_MOST_PICTURES ) {
			$known['addresses'] = array_values( array_unique( array_merge( $known['addresses'], newsroom_picture_addresses( $add ) ) ) );
		}
		$pictures[ $site ][ $add ] = $known;
		newsroom_noted_sites( $site );
	}
	return $now;
}

/**
 * Whether a post is a picture of the media library.
 *
 * @param int $id Post.
 * @return bool
 */
function newsroom_is_picture( $id ) {
	$post = get_post( $id );
	return $post instanceof WP_Post && 'attachment' === $post->post_type && 0 === strpos( (string) $post->post_mime_type, 'image/' );
}

/**
 * Addresses of all files of a picture, including those from before edits.
 *
 * @param int $id Attachment.
 * @return string[]
 */
function newsroom_picture_addresses( $id ) {
	$url = (string) wp_get_attachment_url( $id );
	if ( '' === $url ) {
		return array();
	}
	$files = array();
	$held  = array( wp_get_attachment_metadata( $id, true ), get_post_meta( $id, '_wp_attachment_backup_sizes', true ) );
	// Also in the lists that plugins for other formats add to each size.
	array_walk_recursive(
		$held,
		static function ( $value, $key ) use ( &$files ) {
			if ( in_array( $key, array( 'file', 'original_image' ), true ) && is_string( $value ) ) {
				$files[] = wp_basename( $value );
			}
		}
	);
	$folder    = substr( $url, 0, (int) strrpos( $url, '/' ) + 1 );
	$addresses = array( $url );
	foreach ( array_filter( $files, 'strlen' ) as $file ) {
		$addresses[] = $folder . $file;
	}
	return array_slice( array_values( array_unique( $addresses ) ), 0, 100 );
}

/**
 * A picture was uploaded. No page shows its files yet, so nothing is sent while they are created.
 *
 * @param int $id Attachment.
 */
function newsroom_picture_added( $id ) {
	if ( newsroom_is_picture( $id ) ) {
		newsroom_changed_pictures( $id, 'new' );
	}
}

/**
 * A picture is about to be deleted.
 *
 * @param int $id Attachment.
 */
function newsroom_picture_deleted( $id ) {
	if ( newsroom_is_picture( $id ) ) {
		newsroom_changed_pictures( $id, 'delete' );
	}
}

/**
 * The file or the sizes of a picture are about to change.
 *
 * @param int    $meta_id Meta row.
 * @param int    $post_id Post.
 * @param string $key     Meta key.
 */
function newsroom_picture_meta_before( $meta_id, $post_id, $key ) {
	if ( in_array( $key, array( '_wp_attached_file', '_wp_attachment_metadata' ), true ) && newsroom_is_picture( $post_id ) ) {
		newsroom_changed_pictures( $post_id, 'update' );
	}
}

/**
 * The files of a picture were written.
 *
 * @param array $data Metadata.
 * @param int   $id   Attachment.
 * @return array
 */
function newsroom_picture_written( $data, $id ) {
	if ( newsroom_is_picture( $id ) ) {
		newsroom_changed_pictures( $id, 'update' );
	}
	return $data;
}

/**
 * The changes of pictures in this request that are sent to the site. Also records a change of the documents with these pictures in their
 * text, because WordPress writes the pictures' sizes into it.
 *
 * @return array[] Payloads.
 */
function newsroom_picture_changes() {
	$pictures = newsroom_changed_pictures( null, null, true );
	foreach ( $pictures as $id => $picture ) {
		if ( 'new' === $picture['event'] ) {
			unset( $pictures[ $id ] );
		}
	}
	// In chunks, because the query lists all of the pictures.
	foreach ( array_chunk( array_keys( $pictures ), 500 ) as $ids ) {
		newsroom_touch_texts( $ids );
	}
	if ( count( $pictures ) > NEWSROOM_MOST_PICTURES ) {
		return array( newsroom_payload( 'update', 'media', 0, '', 'publish' ) );
	}
	$changes = array();
	foreach ( $pictures as $id => $picture ) {
		$deleted             = 'delete' === $picture['event'];
		$now                 = $deleted ? array() : newsroom_picture_addresses( $id );
		$change              = newsroom_payload( $picture['event'], 'media', $id, '', $deleted ? 'trash' : 'publish' );
		$change['addresses'] = array_slice( array_values( array_unique( array_merge( $picture['addresses'], $now ) ) ), 0, 200 );
		if ( $change['addresses'] ) {
			$changes[] = $change;
		}
	}
	return $changes;
}

/**
 * Records a change of the documents whose text contains pictures.
 *
 * @param int[] $ids Attachments.
 */
function newsroom_touch_texts( $ids ) {
	global $wpdb;
	if ( ! $ids ) {
		return;
	}
	$types   = "'" . implode( "','", array_map( 'esc_sql', array_keys( newsroom_document_types() ) ) ) . "'";
	$numbers = implode( '|', array_map( 'intval', $ids ) );
	// One query for all texts, however many pictures: blocks refer to a picture by a class, galleries by a list of ids. The pattern works
	// in all databases, which differ in escapes.
	$found = $wpdb->get_col( $wpdb->prepare( "SELECT ID FROM {$wpdb->posts} WHERE post_status = 'publish' AND post_type IN ( $types ) AND ( post_content LIKE %s OR post_content LIKE %s ) AND post_content REGEXP %s", '%wp-image-%', '%[gallery%', "(wp-image-|gallery[^<]*[^0-9])($numbers)[^0-9]" ) ); // phpcs:ignore WordPress.DB
	_prime_post_caches( array_map( 'intval', $found ), false, true );
	foreach ( $found as $id ) {
		newsroom_touch( (int) $id );
	}
}

<?php
/**
 * Pictures whose files are deleted or replaced: the site gets a webhook, because it stores resized copies. And the size of pictures in
 * texts.
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
add_filter( 'wp_content_img_tag', 'newsroom_picture_in_text', 10, 3 );

/**
 * Most pictures that are named to the site in one request. If there are more, the site checks every file again.
 */
define( 'NEWSROOM_MOST_PICTURES', 100 );

/**
 * Pictures of the current site whose files changed in this request, with their addresses and the event.
 *
 * @param int|null    $add   Attachment to add, or null to only look.
 * @param string|null $event `update`, `delete`, `new` for a picture whose addresses have not been used yet, or `words` if only its caption
 *                           or alternative text may have changed.
 * @param bool        $drop  Whether to empty the list.
 * @return array[] By attachment: `event`, `addresses`, and `parent`, the post that it was uploaded to.
 */
function newsroom_changed_pictures( $add = null, $event = null, $drop = false ) {
	static $pictures = array();
	$site            = get_current_blog_id();
	$now             = $pictures[ $site ] ?? array();
	if ( $drop ) {
		unset( $pictures[ $site ] );
	} elseif ( null !== $add ) {
		$known = $now[ $add ] ?? array(
			'event'     => $event,
			'addresses' => array(),
			'parent'    => (int) wp_get_post_parent_id( $add ),
		);
		if ( 'delete' === $event || 'words' === $known['event'] ) {
			$known['event'] = $event;
		}
		// If a request changes thousands of pictures, their addresses aren't collected, because they aren't sent.
		if ( 'words' !== $event && 'new' !== $known['event'] && count( $now ) < 2 * NEWSROOM_MOST_PICTURES ) {
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
	$words    = array();
	$pictures = newsroom_changed_pictures( null, null, true );
	foreach ( $pictures as $id => $picture ) {
		if ( 'words' === $picture['event'] ) {
			$words[ $id ] = $picture;
		}
		if ( in_array( $picture['event'], array( 'new', 'words' ), true ) ) {
			unset( $pictures[ $id ] );
		}
	}
	// In chunks, because the query lists all of the pictures.
	foreach ( array_chunk( $pictures, 500, true ) as $some ) {
		newsroom_touch_texts( $some, true );
	}
	foreach ( array_chunk( $words, 500, true ) as $some ) {
		newsroom_touch_texts( $some, false );
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
 * Records a change of the documents whose text contains pictures. Galleries print captions and alternative texts from the media library;
 * blocks have their own.
 *
 * @param array[] $pictures By attachment, see newsroom_changed_pictures().
 * @param bool    $blocks   Whether texts with a picture in a block have changed, too.
 */
function newsroom_touch_texts( $pictures, $blocks ) {
	global $wpdb;
	$ids     = array_map( 'intval', array_keys( $pictures ) );
	$numbers = implode( '|', $ids );
	$parents = implode( ',', array_map( 'intval', array_column( $pictures, 'parent' ) ) );
	// One query for all texts, however many pictures: blocks refer to a picture by a class, galleries by a list of ids, and a gallery without
	// one shows what was uploaded to its document. The pattern works in all databases, which differ in escapes.
	$pattern = $blocks ? "(wp-image-|gallery[^<]*[^0-9])($numbers)[^0-9]" : "gallery[^<]*[^0-9]($numbers)[^0-9]";
	$found   = $wpdb->get_col( $wpdb->prepare( "SELECT ID FROM {$wpdb->posts} WHERE post_status = 'publish' AND post_type IN (" . newsroom_types_with_text() . ") AND post_modified_gmt >= %s AND ( post_content LIKE %s OR post_content LIKE %s ) AND ( post_content REGEXP %s OR ( ID IN ( $parents ) AND post_content LIKE %s ) )", newsroom_oldest_text( $ids ), $blocks ? '%wp-image-%' : '%[gallery%', '%[gallery%', $pattern, '%[gallery%' ) ); // phpcs:ignore WordPress.DB
	_prime_post_caches( array_map( 'intval', $found ), false, true );
	foreach ( array_map( 'intval', $found ) as $id ) {
		if ( 'wp_block' === get_post_type( $id ) ) {
			newsroom_touch_pattern( $id );
		} else {
			newsroom_touch( $id );
		}
	}
}

/**
 * The modification date from which a text may contain one of these pictures. An upload is written in several requests, and WordPress must
 * not read every text of an archive for each. Texts of an import may have dates before those of their pictures, so the rule is for a day
 * only.
 *
 * @param int[] $ids Attachments.
 * @return string UTC.
 */
function newsroom_oldest_text( $ids ) {
	$uploaded = min(
		array_map(
			static fn( $id ) => (string) get_post_field( 'post_date_gmt', $id, 'raw' ),
			$ids
		)
	);
	return $uploaded > gmdate( 'Y-m-d H:i:s', time() - DAY_IN_SECONDS ) ? $uploaded : '0000-00-00 00:00:00';
}

/**
 * Gives the site a picture in a text that WordPress hasn't rotated with the size in which it is shown, and without its smaller files, which
 * have lost the note that they must be rotated.
 *
 * @param string $tag     The `img`.
 * @param string $context Unused.
 * @param int    $id      Attachment, 0 if it isn't known.
 * @return string
 */
function newsroom_picture_in_text( $tag, $context, $id ) {
	if ( ! $id || ! defined( 'REST_REQUEST' ) || ! REST_REQUEST || ! newsroom_is_turned( $id ) ) {
		return $tag;
	}
	$picture = newsroom_picture( $id );
	$image   = new WP_HTML_Tag_Processor( $tag );
	if ( ! $picture || ! $picture['width'] || ! $image->next_tag( 'img' ) ) {
		return $tag;
	}
	$image->set_attribute( 'src', $picture['url'] );
	$image->set_attribute( 'width', (string) $picture['width'] );
	$image->set_attribute( 'height', (string) $picture['height'] );
	$image->remove_attribute( 'srcset' );
	$image->remove_attribute( 'sizes' );
	return $image->get_updated_html();
}

<?php
/**
 * Changes of documents in this request, and which of them are sent to the site.
 *
 * @package Newsroom
 */

if ( ! defined( 'ABSPATH' ) ) {
	exit;
}

add_action( 'transition_post_status', 'newsroom_status_changed', 10, 3 );
add_action( 'post_updated', 'newsroom_post_updated', 20, 3 );
add_action( 'before_delete_post', 'newsroom_post_deleted' );
// A story is on the site at its hour, and doesn't wait for the other tasks of the same request.
add_action( 'publish_future_post', 'newsroom_flush_all', PHP_INT_MAX );
// Before WordPress closes the response; and again for changes that other plugins make while the request ends.
add_action( 'shutdown', 'newsroom_flush_all', 0 );
add_action( 'shutdown', 'newsroom_flush_all', PHP_INT_MAX );

/**
 * Most changed documents that are named to the site in one request. If there are more, the site finds them by their dates.
 */
define( 'NEWSROOM_MOST_CHANGES', 200 );

/**
 * Sites of a network in which something changed in this request: code that writes to several sites switches between them.
 *
 * @param int|null $add Site to add, or null to only look.
 * @return int[]
 */
function newsroom_noted_sites( $add = null ) {
	static $sites = array();
	if ( null !== $add ) {
		$sites[ $add ] = $add;
	}
	return array_values( $sites );
}

/**
 * Changes of this request in the current site, one for each document.
 *
 * @param array|null $add  Payload to add or merge, or null to only look.
 * @param bool       $drop Whether to empty the list.
 * @return array[]
 */
function newsroom_changes( $add = null, $drop = false ) {
	static $changes = array();
	$site           = get_current_blog_id();
	$now            = $changes[ $site ] ?? array();
	if ( $drop ) {
		unset( $changes[ $site ] );
	} elseif ( null !== $add ) {
		$key                      = $add['type'] . ':' . $add['id'];
		$changes[ $site ][ $key ] = isset( $now[ $key ] ) ? newsroom_merge( $now[ $key ], $add ) : $add;
		newsroom_noted_sites( $site );
	}
	return $now;
}

/**
 * A payload.
 *
 * @param string      $event    Event.
 * @param string      $type     Name on the wire.
 * @param int         $id       Id.
 * @param string      $slug     Slug, or ''.
 * @param string      $status   Status.
 * @param string|null $previous Slug before.
 * @return array
 */
function newsroom_payload( $event, $type, $id, $slug, $status, $previous = null ) {
	return array(
		'event'         => $event,
		'type'          => $type,
		'id'            => (int) $id,
		'slug'          => (string) $slug,
		'previous_slug' => $previous,
		'status'        => $status,
		'modified'      => newsroom_instant(),
	);
}

/**
 * Records a change of a document.
 *
 * @param WP_Post     $post     Document.
 * @param string      $event    Event.
 * @param string|null $previous Slug before.
 */
function newsroom_note_change( $post, $event, $previous = null ) {
	$types = newsroom_document_types();
	$live  = (string) get_post_meta( $post->ID, '_newsroom_live_slug', true );
	$slug  = newsroom_slug_of( $post );
	if ( null === $previous && '' !== $live && $live !== $slug ) {
		$previous = $live;
	}
	if ( 'authors' === $post->post_type && in_array( $event, array( 'publish', 'update', 'slug' ), true ) ) {
		$event = 'author';
	} elseif ( 'update' === $event && null !== $previous ) {
		$event = 'slug';
	}
	newsroom_changes( newsroom_payload( $event, $types[ $post->post_type ], $post->ID, $slug, newsroom_wire_status( $post, $event ), $previous ) );
	if ( 'update' !== $event ) {
		newsroom_note_alert_of( $post->ID );
	}
}

/**
 * Slug of a document as readers know it: in the trash it has a suffix that readers never saw.
 *
 * @param WP_Post $post Document.
 * @return string
 */
function newsroom_slug_of( $post ) {
	return (string) preg_replace( '/__trashed(?:-\d+)?$/', '', $post->post_name );
}

/**
 * Status of a document for the site. A password hides a document just as the status private does.
 *
 * @param WP_Post $post  Document.
 * @param string  $event Event.
 * @return string
 */
function newsroom_wire_status( $post, $event ) {
	if ( 'delete' === $event ) {
		return 'trash';
	}
	return 'publish' === $post->post_status && '' !== (string) $post->post_password ? 'private' : $post->post_status;
}

/**
 * A document was published or unpublished.
 *
 * @param string  $new  Status now.
 * @param string  $old  Status before.
 * @param WP_Post $post Post.
 */
function newsroom_status_changed( $new, $old, $post ) {
	if ( $new === $old || ! newsroom_is_document( $post ) ) {
		return;
	}
	if ( 'publish' === $new && newsroom_is_visible( $post ) ) {
		// A scheduled post keeps the modification date of the day on which it was written, and a post with an earlier date gets
		// that date, so the document is stamped.
		newsroom_touched( $post->ID );
		newsroom_note_change( $post, 'publish' );
	} elseif ( 'publish' === $old ) {
		newsroom_note_change( $post, 'trash' === $new ? 'trash' : 'unpublish' );
	}
}

/**
 * A document that was already published was saved.
 *
 * @param int     $id     Post.
 * @param WP_Post $after  Now.
 * @param WP_Post $before Before.
 */
function newsroom_post_updated( $id, $after, $before ) {
	if ( $after->post_type !== $before->post_type ) {
		newsroom_kind_changed( $after, $before );
		return;
	}
	if ( ! newsroom_is_document( $after ) || 'publish' !== $after->post_status || 'publish' !== $before->post_status ) {
		return;
	}
	if ( newsroom_is_visible( $after ) ) {
		$previous = $before->post_name !== $after->post_name ? $before->post_name : null;
		newsroom_note_change( $after, newsroom_is_visible( $before ) ? 'update' : 'publish', $previous );
	} elseif ( newsroom_is_visible( $before ) ) {
		newsroom_note_change( $after, 'unpublish' );
	}
}

/**
 * A document's post type changed: the site still has it under the former type.
 *
 * @param WP_Post $after  Now.
 * @param WP_Post $before Before.
 */
function newsroom_kind_changed( $after, $before ) {
	if ( newsroom_is_document( $before ) && newsroom_is_visible( $before ) ) {
		newsroom_note_change( $before, 'delete' );
	}
	if ( newsroom_is_document( $after ) && newsroom_is_visible( $after ) ) {
		newsroom_note_change( $after, 'publish' );
	}
}

/**
 * A document is about to be deleted for good. One that was never published is ignored.
 *
 * @param int $id Post.
 */
function newsroom_post_deleted( $id ) {
	$post = get_post( $id );
	if ( newsroom_is_document( $post ) && ( newsroom_is_visible( $post ) || '' !== (string) get_post_meta( $id, '_newsroom_live_slug', true ) ) ) {
		newsroom_note_change( $post, 'delete' );
	}
}

/**
 * Remembers the slug under which readers know a document.
 *
 * @param WP_Post $post Document.
 */
function newsroom_remember_slug( $post ) {
	if ( newsroom_is_visible( $post ) && get_post_meta( $post->ID, '_newsroom_live_slug', true ) !== $post->post_name ) {
		update_post_meta( $post->ID, '_newsroom_live_slug', wp_slash( $post->post_name ) );
	}
}

/**
 * Stores and sends the changes of this request, for each site of the network that has the plugin.
 */
function newsroom_flush_all() {
	$here = get_current_blog_id();
	newsroom_flush_changes();
	foreach ( is_multisite() ? array_diff( newsroom_noted_sites(), array( $here ) ) : array() as $site ) {
		switch_to_blog( $site );
		if ( false !== get_option( 'newsroom_version' ) ) {
			newsroom_flush_changes();
		}
		restore_current_blog();
	}
}

/**
 * Stores the changes of this request in the current site in the table, and sends them.
 */
function newsroom_flush_changes() {
	// Pictures come first: the site measures them when it reads the documents that show them.
	$pictures = newsroom_picture_changes();
	newsroom_stamp_touched();
	$changes = array_merge( $pictures, array_values( newsroom_changes( null, true ) ) );
	if ( ! $changes ) {
		return;
	}
	$post_types = array_flip( newsroom_document_types() );
	$rows       = array();
	$deliver    = newsroom_can_deliver();
	$is_bulk    = newsroom_is_bulk_change( $changes );
	$withdrawn  = newsroom_withdrawn_documents( $changes );
	foreach ( $changes as $change ) {
		$post = isset( $post_types[ $change['type'] ] ) ? get_post( $change['id'] ) : null;
		if ( $post ) {
			newsroom_remember_slug( $post );
			newsroom_keep_version( $post, $change['event'] );
			$change['modified'] = mysql2date( 'Y-m-d\TH:i:s\Z', $post->post_modified_gmt, false );
		}
		$is_known = ( $is_bulk && newsroom_is_found_by_date( $change ) ) || ( isset( $change['post'] ) && isset( $withdrawn[ $change['post'] ] ) );
		if ( $deliver && ! $is_known ) {
			/**
			 * Filters a change before it is queued for the site.
			 *
			 * @param array|null $change Body of the webhook, or null to keep it back.
			 */
			$change = apply_filters( 'newsroom_webhook_payload', $change );
			if ( is_array( $change ) ) {
				$rows[] = newsroom_enqueue( $change );
			}
		}
	}
	if ( $is_bulk && $deliver ) {
		$rows[] = newsroom_enqueue( newsroom_payload( 'update', 'site', 0, '', 'publish' ) );
	}
	if ( $rows ) {
		newsroom_deliver_after_response( $rows );
	}
}

/**
 * Whether so many documents changed at once, through an import or the deletion of a category, that the site gets a single request to look
 * for them by their dates.
 *
 * @param array[] $changes Payloads.
 * @return bool
 */
function newsroom_is_bulk_change( $changes ) {
	/** This filter is documented in includes/touch.php */
	return count( array_filter( $changes, 'newsroom_is_found_by_date' ) ) > NEWSROOM_MOST_CHANGES && apply_filters( 'newsroom_touch_modified', true );
}

/**
 * Whether an event takes a document from readers.
 *
 * @param string $event Event.
 * @return bool
 */
function newsroom_is_withdrawal( $event ) {
	return in_array( $event, array( 'unpublish', 'trash', 'delete' ), true );
}

/**
 * Whether the site can find a change by the date of its document.
 *
 * @param array $change Payload.
 * @return bool
 */
function newsroom_is_found_by_date( $change ) {
	return in_array( $change['type'], newsroom_document_types(), true ) && ! newsroom_is_withdrawal( $change['event'] );
}

/**
 * Ids of the documents that this request withdraws: the site withdraws their comments with them.
 *
 * @param array[] $changes Payloads.
 * @return array<int,true>
 */
function newsroom_withdrawn_documents( $changes ) {
	$ids = array();
	foreach ( $changes as $change ) {
		if ( newsroom_is_withdrawal( $change['event'] ) && in_array( $change['type'], newsroom_document_types(), true ) ) {
			$ids[ $change['id'] ] = true;
		}
	}
	return $ids;
}

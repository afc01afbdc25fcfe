<?php
/**
 * Fronts: the stories that editors place on the home page and on sections, in an order. The table `newsroom_fronts` has a draft for each
 * page, the scheduled front, and every published front, so that the history doesn't depend on WordPress's revisions. Each page has a post
 * of the type `front`, so that its front is sent to the site like every document.
 *
 * @package Newsroom
 */

if ( ! defined( 'ABSPATH' ) ) {
	exit;
}

/** Days for which published fronts are kept. */
define( 'NEWSROOM_FRONT_DAYS', 100 );

add_action( 'init', 'newsroom_register_front', 6 );
add_action( 'newsroom_front_due', 'newsroom_publish_due_fronts' );
// Also runs here, in case an event of wp-cron was lost.
add_action( 'newsroom_deliver', 'newsroom_publish_due_fronts', 5, 0 );

/**
 * Registers the post type. Its posts are created, changed and deleted only with the fronts: a renamed post would show readers an
 * empty front. WordPress has no screen for them.
 */
function newsroom_register_front() {
	$writing = array( 'create_posts', 'edit_posts', 'edit_others_posts', 'edit_published_posts', 'edit_private_posts', 'publish_posts', 'read_private_posts', 'delete_posts', 'delete_others_posts', 'delete_published_posts', 'delete_private_posts' );
	newsroom_register_type(
		'front',
		array(
			'labels'              => newsroom_type_labels( __( 'Fronts', 'newsroom' ), __( 'Front', 'newsroom' ) ),
			// Supports the editor only for the field `content`, which tells the site whether a document has a password.
			'supports'            => array( 'title', 'editor' ),
			'public'              => false,
			'publicly_queryable'  => false,
			'exclude_from_search' => true,
			'show_ui'             => false,
			'rest_base'           => 'fronts',
			'rewrite'             => false,
			'capabilities'        => array_fill_keys( $writing, 'do_not_allow' ),
		)
	);
}

/**
 * Whether the user may edit fronts: who may edit the stories of others.
 *
 * @return bool
 */
function newsroom_may_front() {
	/**
	 * Filters the capability that fronts require.
	 *
	 * @param string $capability Capability.
	 */
	return current_user_can( apply_filters( 'newsroom_front_capability', 'edit_others_posts' ) );
}

/**
 * Name of the table.
 *
 * @return string
 */
function newsroom_front_table() {
	global $wpdb;
	return $wpdb->prefix . 'newsroom_fronts';
}

/**
 * Creates or updates the table. `name` is unique: a page has one draft and one scheduled front. `at` is a time in Unix seconds: when
 * the draft was saved, when the scheduled front is due, or when a front was published.
 */
function newsroom_create_front_table() {
	global $wpdb;
	require_once ABSPATH . 'wp-admin/includes/upgrade.php';
	$table = newsroom_front_table();
	dbDelta(
		"CREATE TABLE $table (
			id bigint(20) unsigned NOT NULL AUTO_INCREMENT,
			name varchar(60) NOT NULL DEFAULT '',
			page varchar(30) NOT NULL DEFAULT '',
			state varchar(10) NOT NULL DEFAULT '',
			version bigint(20) NOT NULL DEFAULT 0,
			slots longtext NOT NULL,
			user_id bigint(20) unsigned NOT NULL DEFAULT 0,
			at bigint(20) NOT NULL DEFAULT 0,
			PRIMARY KEY  (id),
			UNIQUE KEY name (name),
			KEY page_state (page,state,at)
		) {$wpdb->get_charset_collate()};"
	);
}

/**
 * Pages that have a front: the home page, and the sections in the order of the navigation.
 *
 * @return array<string,string> Names by key.
 */
function newsroom_front_pages() {
	$pages = array( 'home' => __( 'Home page', 'newsroom' ) );
	$order = array();
	$terms = get_terms(
		array(
			'taxonomy'   => 'category',
			'hide_empty' => false,
		)
	);
	foreach ( is_array( $terms ) ? $terms : array() as $term ) {
		$settings = newsroom_section_settings( $term->term_id );
		if ( null !== $settings['navigation_position'] ) {
			$order[ $term->term_id ] = $settings['navigation_position'];
		}
	}
	asort( $order );
	foreach ( array_keys( $order ) as $id ) {
		$pages[ 'section-' . $id ] = newsroom_section_settings( $id )['label'];
	}
	return $pages;
}

/**
 * A row with its slots.
 *
 * @param object|null $row Row.
 * @return array|null `id`, `page`, `state`, `version`, `slots`, `user`, `at`.
 */
function newsroom_front_of_row( $row ) {
	if ( ! $row ) {
		return null;
	}
	$slots = json_decode( $row->slots, true );
	$slots = array_map( 'newsroom_slot_with_place', is_array( $slots ) ? $slots : array() );
	return array(
		'id'      => (int) $row->id,
		'page'    => $row->page,
		'state'   => $row->state,
		'version' => (int) $row->version,
		'slots'   => $slots,
		'user'    => (int) $row->user_id,
		'at'      => (int) $row->at,
	);
}

/**
 * The newest row of a page in a state.
 *
 * @param string $page  Key.
 * @param string $state `draft`, `scheduled` or `published`.
 * @return array|null
 */
function newsroom_front_row( $page, $state ) {
	global $wpdb;
	$table = newsroom_front_table();
	return newsroom_front_of_row( $wpdb->get_row( $wpdb->prepare( "SELECT * FROM $table WHERE page = %s AND state = %s ORDER BY at DESC, id DESC LIMIT 1", $page, $state ) ) ); // phpcs:ignore WordPress.DB
}

/**
 * Slots of the published front of a page.
 *
 * @param string $page Key.
 * @return array[]
 */
function newsroom_front_published( $page ) {
	$row = newsroom_front_row( $page, 'published' );
	return $row ? $row['slots'] : array();
}

/**
 * The draft of a page; without one, the published front as version 0.
 *
 * @param string $page Key.
 * @return array
 */
function newsroom_front_draft( $page ) {
	$row = newsroom_front_row( $page, 'draft' );
	return $row ? $row : array(
		'id'      => 0,
		'page'    => $page,
		'state'   => 'draft',
		'version' => 0,
		'slots'   => newsroom_front_published( $page ),
		'user'    => 0,
		'at'      => 0,
	);
}

/**
 * Writes a row.
 *
 * @param string   $page    Key.
 * @param string   $state   State.
 * @param array    $slots   Slots.
 * @param int      $at      Unix seconds.
 * @param int      $version Version of a draft.
 * @param int|null $user    User, 0 for one whose name was erased; null for the current one.
 * @return bool Whether it was written; not where there is one of that name.
 */
function newsroom_insert_front( $page, $state, $slots, $at, $version = 0, $user = null ) {
	global $wpdb;
	$name  = in_array( $state, array( 'draft', 'scheduled' ), true ) ? "$state:$page" : wp_generate_uuid4();
	$table = newsroom_front_table();
	return 1 === (int) $wpdb->query( $wpdb->prepare( "INSERT IGNORE INTO $table (name, page, state, version, slots, user_id, at) VALUES (%s, %s, %s, %d, %s, %d, %d)", $name, $page, $state, $version, wp_json_encode( $slots ), null === $user ? get_current_user_id() : $user, $at ) ); // phpcs:ignore WordPress.DB
}

/**
 * Saves the draft of a page, if it is still the version that the editor started from.
 *
 * @param string  $page    Key.
 * @param array[] $slots   Slots, clean.
 * @param int     $version Version that the editor has.
 * @param bool    $over    Whether to replace a colleague's draft, which is then kept in the history.
 * @return int|WP_Error The new version; a conflict has the status 409.
 */
function newsroom_save_front( $page, $slots, $version, $over = false ) {
	global $wpdb;
	$table = newsroom_front_table();
	$json  = wp_json_encode( $slots );
	for ( $try = 0; $try < 3; $try++ ) {
		$draft = newsroom_front_draft( $page );
		if ( $over && $draft['version'] !== $version ) {
			newsroom_keep_front( $draft, $slots );
			$version = $draft['version'];
		}
		if ( $draft['version'] !== $version ) {
			break;
		}
		if ( $draft['version'] > 0 && wp_json_encode( $draft['slots'] ) === $json ) {
			return $version;
		}
		$saved = 0 === $version
			? newsroom_insert_front( $page, 'draft', $slots, time(), 1 )
			: 1 === (int) $wpdb->query( $wpdb->prepare( "UPDATE $table SET slots = %s, version = version + 1, user_id = %d, at = %d WHERE name = %s AND version = %d", $json, get_current_user_id(), time(), 'draft:' . $page, $version ) ); // phpcs:ignore WordPress.DB
		if ( $saved ) {
			return $version + 1;
		}
		if ( ! $over ) {
			break;
		}
	}
	return newsroom_front_conflict();
}

/**
 * The error for an editor whose front isn't the latest.
 *
 * @return WP_Error
 */
function newsroom_front_conflict() {
	return new WP_Error( 'newsroom_front_conflict', __( 'A colleague has changed this front since you opened it.', 'newsroom' ), array( 'status' => 409 ) );
}

/**
 * The error if the database refuses a front.
 *
 * @return WP_Error
 */
function newsroom_front_not_written() {
	return new WP_Error( 'newsroom_front_failed', __( 'WordPress couldn’t write to its database. Try again.', 'newsroom' ), array( 'status' => 500 ) );
}

/**
 * Stores a draft in the history before it is replaced.
 *
 * @param array   $draft Draft.
 * @param array[] $slots What takes its place.
 */
function newsroom_keep_front( $draft, $slots ) {
	$same = array( wp_json_encode( $slots ), wp_json_encode( newsroom_front_published( $draft['page'] ) ) );
	if ( $draft['version'] > 0 && ! in_array( wp_json_encode( $draft['slots'] ), $same, true ) ) {
		newsroom_insert_front( $draft['page'], 'kept', $draft['slots'], $draft['at'], 0, $draft['user'] );
	}
}

/**
 * Publishes the draft of a page.
 *
 * @param string $page    Key.
 * @param int    $version Version that the editor has.
 * @return int|WP_Error The new version of the draft.
 */
function newsroom_publish_front( $page, $version ) {
	global $wpdb;
	$table = newsroom_front_table();
	// A front that was due earlier also counts as published earlier.
	newsroom_publish_due_fronts();
	$draft = newsroom_front_draft( $page );
	// A button that is pressed twice publishes once.
	$taken = 0 === $version
		? 0 === $draft['version'] && newsroom_insert_front( $page, 'draft', $draft['slots'], time(), 1 )
		: 1 === (int) $wpdb->query( $wpdb->prepare( "UPDATE $table SET version = version + 1 WHERE name = %s AND version = %d", 'draft:' . $page, $version ) ); // phpcs:ignore WordPress.DB
	if ( ! $taken || $draft['version'] !== $version ) {
		return newsroom_front_conflict();
	}
	if ( ! newsroom_insert_front( $page, 'published', $draft['slots'], time() ) ) {
		return newsroom_front_not_written();
	}
	newsroom_prune_fronts( $page );
	newsroom_announce_front( $page );
	return $version + 1;
}

/**
 * The post that represents a page's front.
 *
 * @param string $page Key.
 * @return WP_Post|null
 */
function newsroom_front_post( $page ) {
	$found = get_posts(
		array(
			'post_type'   => 'front',
			'name'        => $page,
			'post_status' => array( 'publish', 'draft' ),
			'numberposts' => 1,
		)
	);
	return $found ? $found[0] : null;
}

/**
 * Saves the post of a page's front, which causes a webhook to the site.
 *
 * @param string $page   Key.
 * @param string $status `publish`, or `draft` for a page that only has a draft.
 * @return int Post.
 */
function newsroom_announce_front( $page, $status = 'publish' ) {
	$post  = newsroom_front_post( $page );
	$pages = newsroom_front_pages();
	$data  = array(
		'post_type'   => 'front',
		'post_name'   => $page,
		'post_title'  => wp_slash( $pages[ $page ] ?? $page ),
		'post_status' => $status,
	);
	return $post ? (int) wp_update_post( array( 'ID' => $post->ID ) + $data ) : (int) wp_insert_post( $data );
}

/**
 * Schedules the draft of a page, replacing what was scheduled before.
 *
 * @param string $page    Key.
 * @param int    $version Version that the editor has.
 * @param int    $at      Unix seconds.
 * @return true|WP_Error
 */
function newsroom_schedule_front( $page, $version, $at ) {
	newsroom_publish_due_fronts();
	$draft = newsroom_front_draft( $page );
	if ( $draft['version'] !== $version ) {
		return newsroom_front_conflict();
	}
	if ( $at <= time() ) {
		return new WP_Error( 'newsroom_front_past', __( 'That time has passed. Choose a later one, or publish now.', 'newsroom' ), array( 'status' => 400 ) );
	}
	newsroom_drop_scheduled_front( $page );
	// A colleague may schedule the same page at this moment: only one of the two is stored.
	if ( ! newsroom_insert_front( $page, 'scheduled', $draft['slots'], $at ) ) {
		return newsroom_front_not_written();
	}
	wp_schedule_single_event( $at, 'newsroom_front_due', array( $page ) );
	newsroom_announce_front( $page );
	return true;
}

/**
 * Cancels the scheduled front of a page.
 *
 * @param string $page Key.
 * @return bool Whether anything was.
 */
function newsroom_drop_scheduled_front( $page ) {
	global $wpdb;
	wp_clear_scheduled_hook( 'newsroom_front_due', array( $page ) );
	return (bool) $wpdb->delete( newsroom_front_table(), array( 'name' => 'scheduled:' . $page ) ); // phpcs:ignore WordPress.DB
}

/**
 * Publishes scheduled fronts that are due. The site has already shown them since their time; here they become part of the
 * history.
 */
function newsroom_publish_due_fronts() {
	global $wpdb;
	$table = newsroom_front_table();
	$due   = $wpdb->get_results( $wpdb->prepare( "SELECT id, page FROM $table WHERE state = 'scheduled' AND at <= %d ORDER BY at", time() ) ); // phpcs:ignore WordPress.DB
	foreach ( $due as $row ) {
		$taken = $wpdb->query( $wpdb->prepare( "UPDATE $table SET state = 'published', name = %s WHERE id = %d AND state = 'scheduled'", wp_generate_uuid4(), $row->id ) ); // phpcs:ignore WordPress.DB
		if ( $taken ) {
			newsroom_prune_fronts( $row->page );
			newsroom_announce_front( $row->page );
		}
	}
}

/**
 * Deletes fronts that are older than the history's limit, except the one that was shown at that time.
 *
 * @param string $page Key.
 */
function newsroom_prune_fronts( $page ) {
	global $wpdb;
	$table = newsroom_front_table();
	$since = time() - NEWSROOM_FRONT_DAYS * DAY_IN_SECONDS;
	$shown = (int) $wpdb->get_var( $wpdb->prepare( "SELECT id FROM $table WHERE page = %s AND state = 'published' AND at < %d ORDER BY at DESC, id DESC LIMIT 1", $page, $since ) ); // phpcs:ignore WordPress.DB
	$wpdb->query( $wpdb->prepare( "DELETE FROM $table WHERE page = %s AND state IN ( 'published', 'kept' ) AND at < %d AND id <> %d", $page, $since, $shown ) ); // phpcs:ignore WordPress.DB
}

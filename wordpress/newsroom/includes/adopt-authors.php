<?php
/**
 * Adopting: the users who wrote posts become authors.
 *
 * @package Newsroom
 */

if ( ! defined( 'ABSPATH' ) ) {
	exit;
}

/**
 * Users who wrote posts that are adopted.
 *
 * @return object[] `user` (WP_User, or null when the account was deleted), `id`, `posts`, `shown` (how many of them readers see or will).
 */
function newsroom_adopt_writers() {
	global $wpdb;
	$rows    = $wpdb->get_results( "SELECT post_author AS id, COUNT(*) AS posts, SUM(CASE WHEN post_status IN ('publish','future') THEN 1 ELSE 0 END) AS shown FROM {$wpdb->posts} WHERE " . newsroom_adoptable() . ' GROUP BY post_author ORDER BY post_author' ); // phpcs:ignore WordPress.DB
	$writers = array();
	cache_users( array_map( 'intval', wp_list_pluck( $rows, 'id' ) ) );
	foreach ( $rows as $row ) {
		$user      = get_userdata( (int) $row->id );
		$writers[] = (object) array(
			'user'  => $user ? $user : null,
			'id'    => (int) $row->id,
			'posts' => (int) $row->posts,
			'shown' => (int) $row->shown,
		);
	}
	return $writers;
}

/**
 * Finds author documents, at most two: an ambiguous result isn't used.
 *
 * @param array $query Arguments of get_posts().
 * @return WP_Post[]
 */
function newsroom_find_authors( $query ) {
	return get_posts(
		$query + array(
			'post_type'        => 'authors',
			'post_status'      => array( 'publish', 'draft', 'pending', 'private' ),
			'numberposts'      => 2,
			'suppress_filters' => true,
		)
	);
}

/**
 * The author document that a user already has: one that an earlier run created, one with the same slug, or the only one with the
 * same name.
 *
 * @param WP_User $user User.
 * @return WP_Post|null
 */
function newsroom_author_of_user( $user ) {
	$found = newsroom_find_authors(
		array(
			'meta_key'   => '_newsroom_user', // phpcs:ignore WordPress.DB.SlowDBQuery
			'meta_value' => (string) $user->ID, // phpcs:ignore WordPress.DB.SlowDBQuery
		)
	);
	if ( ! $found ) {
		$found = newsroom_find_authors( array( 'name' => $user->user_nicename ) );
	}
	if ( $found ) {
		return $found[0];
	}
	$found = newsroom_find_authors( array( 'title' => $user->display_name ) );
	return 1 === count( $found ) ? $found[0] : null;
}

/**
 * Creates authors for users who have none.
 *
 * @param float  $until Time after which to stop, seconds; one author is done in any case.
 * @param string $token The run's token.
 * @return bool Whether all are done.
 */
function newsroom_adopt_authors( $until, $token ) {
	$known = array();
	foreach ( newsroom_journal_rows( 'author' ) as $row ) {
		$known[ $row->object_id ] = ! empty( $row->became['id'] );
	}
	foreach ( newsroom_adopt_writers() as $writer ) {
		if ( ! $writer->user || ! empty( $known[ $writer->id ] ) ) {
			continue;
		}
		newsroom_in_batch(
			$token,
			static function () use ( $writer ) {
				newsroom_adopt_author( $writer );
			}
		);
		if ( microtime( true ) > $until ) {
			return false;
		}
	}
	return true;
}

/**
 * Creates an author for a user.
 *
 * @param object $writer See newsroom_adopt_writers().
 * @throws RuntimeException When WordPress refuses the author.
 */
function newsroom_adopt_author( $writer ) {
	global $wpdb;
	$user = $writer->user;
	newsroom_journal( array( array( 'author', $user->ID, '', array( 'after' => (int) $wpdb->get_var( "SELECT MAX(ID) FROM {$wpdb->posts}" ) ), array() ) ) ); // phpcs:ignore WordPress.DB
	// The journal's row may be from an earlier run that was interrupted here, so the author may already exist.
	$was   = $wpdb->get_var( $wpdb->prepare( 'SELECT was FROM ' . newsroom_journal_table() . " WHERE kind = 'author' AND object_id = %d", $user->ID ) ); // phpcs:ignore WordPress.DB
	$made  = newsroom_interrupted_author( $user->ID, json_decode( (string) $was, true ) );
	$there = $made ? get_post( $made ) : newsroom_author_of_user( $user );
	$ours  = $made || ( $there && (string) get_post_meta( $there->ID, '_newsroom_user', true ) === (string) $user->ID );
	if ( $made ) {
		update_post_meta( $made, '_newsroom_user', (string) $user->ID );
	}
	$became = array( 'id' => $there ? $there->ID : 0 );
	if ( ! $there ) {
		$id = wp_insert_post(
			wp_slash(
				array(
					'post_type'      => 'authors',
					'post_title'     => '' !== trim( (string) $user->display_name ) ? $user->display_name : $user->user_nicename,
					'post_name'      => $user->user_nicename,
					'post_excerpt'   => (string) get_user_meta( $user->ID, 'description', true ),
					// The name of a user without a published post has never been public.
					'post_status'    => $writer->shown ? 'publish' : 'draft',
					'comment_status' => 'closed',
					'ping_status'    => 'closed',
					'meta_input'     => array( '_newsroom_user' => (string) $user->ID ),
				)
			),
			true
		);
		if ( is_wp_error( $id ) ) {
			throw new RuntimeException( $id->get_error_message() ); // phpcs:ignore WordPress.Security.EscapeOutput.ExceptionNotEscaped -- printed as text.
		}
		$became['id'] = (int) $id;
		$made         = (int) $id;
	} elseif ( ! $ours && $there->post_name !== $user->user_nicename ) {
		// The user's archive was at /author/nicename.
		$became['old_slug'] = $user->user_nicename;
		add_post_meta( $there->ID, '_wp_old_slug', $user->user_nicename );
	}
	if ( $made ) {
		$became['modified'] = get_post_field( 'post_modified_gmt', $became['id'], 'raw' );
	}
	newsroom_write( $wpdb->prepare( 'UPDATE ' . newsroom_journal_table() . " SET became = %s WHERE kind = 'author' AND object_id = %d", wp_json_encode( $became ), $user->ID ) ); // phpcs:ignore WordPress.DB
}

/**
 * Author documents of users.
 *
 * @return array<int,int> User => document.
 */
function newsroom_adopted_authors() {
	$authors = array();
	foreach ( newsroom_journal_rows( 'author' ) as $row ) {
		if ( ! empty( $row->became['id'] ) ) {
			$authors[ $row->object_id ] = (int) $row->became['id'];
		}
	}
	return $authors;
}

/**
 * Removes the authors that were created, except those that an editor has changed or that other articles use.
 *
 * @param float  $until Time after which to stop, seconds; one author is done in any case.
 * @param string $token The run's token.
 * @return bool Whether all are done.
 */
function newsroom_restore_authors( $until, $token ) {
	foreach ( newsroom_journal_rows( 'author' ) as $row ) {
		newsroom_in_batch(
			$token,
			static function () use ( $row ) {
				newsroom_restore_author( $row );
				newsroom_journal_forget( array( $row->id ) );
			}
		);
		if ( microtime( true ) > $until ) {
			return false;
		}
	}
	return true;
}

/**
 * Removes one author, or what was added to an existing one.
 *
 * @param object $row Row of the journal.
 */
function newsroom_restore_author( $row ) {
	global $wpdb;
	// If a run was interrupted between the journal and the author, the row has no id.
	$cut = empty( $row->became['id'] ) ? newsroom_interrupted_author( $row->object_id, $row->was ) : 0;
	$id  = $cut ? $cut : ( empty( $row->became['id'] ) ? 0 : (int) $row->became['id'] );
	if ( isset( $row->became['old_slug'] ) ) {
		delete_post_meta( $id, '_wp_old_slug', $row->became['old_slug'] );
		return;
	}
	$author = $id ? get_post( $id ) : null;
	$ours   = $cut || ( isset( $row->became['modified'] ) && (string) get_post_meta( $id, '_newsroom_user', true ) === (string) $row->object_id );
	if ( ! $author || ! $ours ) {
		return;
	}
	$used    = $wpdb->get_var( $wpdb->prepare( "SELECT post_id FROM {$wpdb->postmeta} WHERE ( meta_key = 'newsroom_author' AND meta_value = %s ) OR ( meta_key IN ( 'newsroom_authors', 'newsroom_contributors' ) AND meta_value LIKE %s ) LIMIT 1", (string) $id, '%"' . $id . '"%' ) ); // phpcs:ignore WordPress.DB
	$changed = isset( $row->became['modified'] ) && $author->post_modified_gmt !== $row->became['modified'];
	if ( ! $used && ! $changed ) {
		wp_delete_post( $id, true );
	}
}

/**
 * The author that a run created just before it was interrupted. In tables without transactions it may lack its field.
 *
 * @param int        $user_id User.
 * @param array|null $was     From the journal: `after`, the last post before the run began with this author.
 * @return int 0 for none.
 */
function newsroom_interrupted_author( $user_id, $was ) {
	global $wpdb;
	$user = get_userdata( $user_id );
	if ( ! isset( $was['after'] ) ) {
		return 0;
	}
	return (int) $wpdb->get_var( $wpdb->prepare( "SELECT p.ID FROM {$wpdb->posts} p LEFT JOIN {$wpdb->postmeta} m ON m.post_id = p.ID AND m.meta_key = '_newsroom_user' AND m.meta_value = %s WHERE p.post_type = 'authors' AND p.ID > %d AND (m.meta_id IS NOT NULL OR p.post_name = %s) ORDER BY p.ID LIMIT 1", (string) $user_id, $was['after'], $user ? $user->user_nicename : '' ) ); // phpcs:ignore WordPress.DB
}

<?php
/**
 * Fronts as the site receives them.
 *
 * @package Newsroom
 */

if ( ! defined( 'ABSPATH' ) ) {
	exit;
}

newsroom_rest_field(
	'front',
	'front',
	'newsroom_rest_front',
	array(
		'type'    => 'object',
		'context' => array( 'view', 'edit' ),
	)
);

/**
 * The field `front`: the published front. Only the site also gets what readers don't see yet: the scheduled front, slots that begin later,
 * and headlines of stories that aren't published.
 *
 * @param int $id Post.
 * @return array
 */
function newsroom_rest_front( $id ) {
	$page  = (string) get_post_field( 'post_name', $id, 'raw' );
	$whole = user_can( newsroom_requesting_user(), 'newsroom_read_restricted' );
	$slots = newsroom_front_published( $page );
	$next  = $whole ? newsroom_front_row( $page, 'scheduled' ) : null;
	return array(
		'slots' => newsroom_front_wire( $whole ? $slots : newsroom_front_open_slots( $slots ) ),
		'next'  => $next ? array(
			'at'    => newsroom_instant( $next['at'] ),
			'slots' => newsroom_front_wire( $next['slots'] ),
		) : null,
	);
}

/**
 * What readers see of slots now.
 *
 * @param array[] $slots Slots.
 * @return array[]
 */
function newsroom_front_open_slots( $slots ) {
	$now  = newsroom_instant();
	$open = array();
	$ids  = array_column( $slots, 'story' );
	foreach ( $slots as $slot ) {
		$ids = array_merge( $ids, array_column( $slot['related'], 'story' ) );
	}
	_prime_post_caches( array_values( array_unique( array_filter( array_map( 'intval', $ids ) ) ) ), false, false );
	foreach ( $slots as $slot ) {
		$from  = newsroom_front_instant( $slot['from'] );
		$until = newsroom_front_instant( $slot['until'] );
		if ( ( null !== $from && $from > $now ) || ( null !== $until && $until <= $now ) || ! newsroom_front_shows_story( $slot['story'] ) ) {
			continue;
		}
		$related = array();
		foreach ( $slot['related'] as $link ) {
			if ( empty( $link['story'] ) || newsroom_front_shows_story( $link['story'] ) ) {
				$related[] = $link;
			}
		}
		$slot['related'] = $related;
		$open[]          = $slot;
	}
	return $open;
}

/**
 * Whether readers see a story.
 *
 * @param int $id Story.
 * @return bool
 */
function newsroom_front_shows_story( $id ) {
	$post = get_post( $id );
	return $post instanceof WP_Post && newsroom_is_visible( $post );
}

/**
 * Slots as the site receives them.
 *
 * @param array[] $slots Slots.
 * @return array[]
 */
function newsroom_front_wire( $slots ) {
	$wire = array();
	foreach ( $slots as $slot ) {
		$wire[] = array(
			'kind'     => $slot['kind'],
			'story'    => $slot['story'],
			'headline' => $slot['headline'],
			'picture'  => newsroom_picture( $slot['picture'] ),
			'from'     => newsroom_front_instant( $slot['from'] ),
			'until'    => newsroom_front_instant( $slot['until'] ),
			'related'  => $slot['related'],
			'after'    => '' === $slot['after'] ? null : $slot['after'],
		);
	}
	return $wire;
}

/**
 * A time in WordPress's zone as an instant.
 *
 * @param string $local `2026-11-25T13:00`, or ''.
 * @return string|null UTC.
 */
function newsroom_front_instant( $local ) {
	$time = '' === $local ? false : date_create_immutable( $local, wp_timezone() );
	return $time ? newsroom_instant( $time->getTimestamp() ) : null;
}

/**
 * Records a change of the fronts that show a picture.
 *
 * @param int $picture Attachment.
 */
function newsroom_touch_fronts( $picture ) {
	global $wpdb;
	$table = newsroom_front_table();
	$pages = $wpdb->get_col( $wpdb->prepare( "SELECT DISTINCT page FROM $table WHERE state IN ( 'published', 'scheduled' ) AND slots LIKE %s", '%"picture":' . (int) $picture . ',%' ) ); // phpcs:ignore WordPress.DB
	foreach ( $pages as $page ) {
		$post = newsroom_front_post( $page );
		if ( $post ) {
			newsroom_touch( $post->ID );
		}
	}
}

<?php
/**
 * Every published version of a story is kept permanently. A version is what readers could see: it is created at the end of a request in
 * which a published story changed, from the changes collected for the site, so that one save is one version however many hooks it fires.
 *
 * @package Newsroom
 */

if ( ! defined( 'ABSPATH' ) ) {
	exit;
}

/** Seconds within which the block editor submits the meta boxes after the story. */
define( 'NEWSROOM_META_BOX_SECONDS', 60 );

add_action( 'pre_post_update', 'newsroom_before_update' );
add_action( 'deleted_post', 'newsroom_delete_versions_with_post', 10, 2 );

/**
 * Post types whose versions are kept.
 *
 * @return string[]
 */
function newsroom_version_types() {
	return array( 'articles', 'live-entry', 'video' );
}

/**
 * Whether versions of a post are kept.
 *
 * @param WP_Post|null $post Post.
 * @return bool
 */
function newsroom_has_versions( $post ) {
	return $post instanceof WP_Post && in_array( $post->post_type, newsroom_version_types(), true );
}

/**
 * Fields that hold the id of another post, whose name a version keeps.
 *
 * @return string[] Meta keys.
 */
function newsroom_post_id_keys() {
	return array( 'newsroom_audio', 'newsroom_series', 'newsroom_story' );
}

/**
 * What readers see of a story now.
 *
 * @param WP_Post $post Story.
 * @return array {
 *     @type array $story The story itself: `title`, `excerpt`, `content`, `slug`, `date` (UTC), `authors` and `contributors` (ids),
 *                        `picture` (`id`, `file`, `alt`, `caption`, `credit`), `category` and `post_tag` (ids), `meta` (by key, without
 *                        defaults).
 *     @type array $names Names of what the story refers to, as they were: `people`, `terms`, `posts`, by id.
 * }
 */
function newsroom_version_now( $post ) {
	$people = newsroom_version_people( $post );
	$story  = array(
		'title'   => $post->post_title,
		'excerpt' => $post->post_excerpt,
		'content' => $post->post_content,
		'slug'    => newsroom_slug_of( $post ),
		'date'    => $post->post_date_gmt,
	) + $people + array( 'picture' => newsroom_version_picture( $post ) );
	$names  = array(
		'people' => array(),
		'terms'  => array(),
		'posts'  => array(),
	);
	foreach ( array_merge( ...array_values( $people ) ) as $id ) {
		$names['people'][ $id ] = newsroom_plain( get_post_field( 'post_title', $id, 'raw' ) );
	}
	foreach ( array( 'category', 'post_tag' ) as $taxonomy ) {
		$terms              = is_object_in_taxonomy( $post->post_type, $taxonomy ) ? get_the_terms( $post, $taxonomy ) : array();
		$story[ $taxonomy ] = array();
		foreach ( is_array( $terms ) ? $terms : array() as $term ) {
			$story[ $taxonomy ][]             = $term->term_id;
			$names['terms'][ $term->term_id ] = newsroom_plain( $term->name );
		}
		sort( $story[ $taxonomy ] );
	}
	$story['meta'] = newsroom_version_meta( $post );
	foreach ( newsroom_post_id_keys() as $key ) {
		if ( isset( $story['meta'][ $key ] ) ) {
			$id                    = (int) $story['meta'][ $key ];
			$names['posts'][ $id ] = newsroom_plain( get_post_field( 'post_title', $id, 'raw' ) );
		}
	}
	return array(
		'story' => $story,
		'names' => $names,
	);
}

/**
 * Ids of a story's authors and contributors, wherever they are stored.
 *
 * @param WP_Post $post Story.
 * @return array<string,int[]> `authors` and `contributors`.
 */
function newsroom_version_people( $post ) {
	if ( 'articles' === $post->post_type ) {
		return array(
			'authors'      => newsroom_author_ids( $post->ID ),
			'contributors' => newsroom_contributor_ids( $post->ID ),
		);
	}
	$one = newsroom_id_of( newsroom_field_value( 'author', 'newsroom_author', $post->ID ) );
	return array(
		'authors'      => $one ? array( $one ) : array(),
		'contributors' => array(),
	);
}

/**
 * The lead picture of a story.
 *
 * @param WP_Post $post Story.
 * @return array|null
 */
function newsroom_version_picture( $post ) {
	$picture = newsroom_picture( (int) get_post_thumbnail_id( $post ) );
	return null === $picture ? null : array(
		'id'      => $picture['id'],
		'file'    => wp_basename( $picture['url'] ),
		'alt'     => $picture['alt'],
		'caption' => $picture['caption'],
		'credit'  => $picture['credit'],
	);
}

/**
 * Fields of a story that differ from their defaults.
 *
 * @param WP_Post $post Story.
 * @return array<string,mixed>
 */
function newsroom_version_meta( $post ) {
	$keys        = newsroom_meta_keys();
	$definitions = newsroom_meta_definitions();
	$meta        = array();
	foreach ( $keys[ $post->post_type ] as $key ) {
		list( $kind, $default ) = $definitions[ $key ];
		$value                  = newsroom_typed_meta( $kind, get_post_meta( $post->ID, $key, true ) );
		// WordPress stores numbers and flags as text, and an empty text means that nothing was chosen.
		if ( $value !== $default && '' !== $value ) {
			$meta[ $key ] = $value;
		}
	}
	if ( '' !== (string) get_post_meta( $post->ID, 'footnotes', true ) ) {
		$meta['footnotes'] = (string) get_post_meta( $post->ID, 'footnotes', true );
	}
	return $meta;
}

/**
 * A meta value converted to its registered type.
 *
 * @param string $kind  Type.
 * @param mixed  $value Value as WordPress gives it.
 * @return mixed
 */
function newsroom_typed_meta( $kind, $value ) {
	switch ( $kind ) {
		case 'integer':
			return is_numeric( $value ) ? (int) $value : 0;
		case 'boolean':
			return (bool) $value;
		case 'array':
		case 'object':
			return is_array( $value ) ? $value : array();
		default:
			return is_scalar( $value ) ? (string) $value : '';
	}
}

/**
 * Fingerprint of a story's content: versions with the same fingerprint are equal.
 *
 * @param array $story See newsroom_version_now().
 * @return string
 */
function newsroom_version_fingerprint( $story ) {
	return hash( 'sha256', (string) wp_json_encode( $story ) );
}

/**
 * What saved a version, if it wasn't an editor in WordPress.
 *
 * @return string `schedule`, `command` or ''.
 */
function newsroom_version_way() {
	if ( wp_doing_cron() ) {
		return 'schedule';
	}
	return defined( 'WP_CLI' ) && WP_CLI ? 'command' : '';
}

/**
 * Stores a version of a story that has changed in this request.
 *
 * @param WP_Post $post  Story.
 * @param string  $event Event of its change, see newsroom_note_change().
 */
function newsroom_keep_version( $post, $event ) {
	if ( ! newsroom_has_versions( $post ) ) {
		return;
	}
	$last = newsroom_last_version( $post->ID );
	if ( in_array( $event, array( 'unpublish', 'trash' ), true ) ) {
		newsroom_keep_withdrawal( $post, $last );
	} elseif ( newsroom_is_visible( $post ) ) {
		$first = 'publish' === $event || $last ? 'publish' : 'found';
		newsroom_keep_state(
			$post,
			$last,
			array(
				'made_at' => time(),
				'user_id' => get_current_user_id(),
				'way'     => newsroom_version_way(),
				'event'   => $last && 'unpublish' !== $last->event ? 'update' : $first,
			)
		);
	}
}

/**
 * Stores what readers see of a story now, unless the last version is equal.
 *
 * @param WP_Post     $post Story.
 * @param object|null $last Its last version.
 * @param array       $row  `made_at` (Unix seconds), `user_id`, `way`, and `event`: `publish`, `update` or `found`.
 */
function newsroom_keep_state( $post, $last, $row ) {
	$now   = newsroom_version_now( $post );
	$print = newsroom_version_fingerprint( $now['story'] );
	if ( $last && 'unpublish' !== $last->event && $last->fingerprint === $print ) {
		return;
	}
	$replace = 0;
	if ( $last && newsroom_completes_save( $last, $row ) ) {
		$replace      = (int) $last->id;
		$row['event'] = $last->event;
		$last         = newsroom_last_version( $post->ID, $replace );
	}
	$before = $last ? newsroom_version_content( $last ) : null;
	$row   += array(
		'post_id'     => $post->ID,
		'fingerprint' => $print,
		'changed'     => $before ? (string) wp_json_encode( newsroom_version_changes( $before['story'], $now['story'] ) ) : '{}',
	);
	newsroom_store_version( $row, $now, $replace );
}

/**
 * Whether this request submits the block editor's meta boxes.
 *
 * @return bool
 */
function newsroom_is_meta_box_request() {
	return ! empty( $_REQUEST['meta-box-loader'] ); // phpcs:ignore WordPress.Security.NonceVerification -- changes nothing but which version is written.
}

/**
 * Whether a change is the second half of the save that created the last version: the block editor submits the meta boxes after the story.
 *
 * @param object $last Last version.
 * @param array  $row  Version that would follow.
 * @return bool
 */
function newsroom_completes_save( $last, $row ) {
	return newsroom_is_meta_box_request() && 'update' === $row['event'] && $row['user_id'] && (int) $last->user_id === $row['user_id'] && (int) $last->made_at > $row['made_at'] - NEWSROOM_META_BOX_SECONDS;
}

/**
 * Records that a story was withdrawn. The version contains what readers saw last, not later changes, which readers never saw.
 *
 * @param WP_Post     $post Story.
 * @param object|null $last Its last version.
 */
function newsroom_keep_withdrawal( $post, $last ) {
	if ( ! $last || 'unpublish' === $last->event ) {
		return;
	}
	$row = array(
		'post_id'     => $post->ID,
		'made_at'     => time(),
		'user_id'     => get_current_user_id(),
		'way'         => newsroom_version_way(),
		'event'       => 'unpublish',
		'fingerprint' => $last->fingerprint,
		'changed'     => '{}',
	);
	newsroom_store_version( $row, newsroom_version_content( $last ) );
}

/**
 * A published story is about to be saved. If no version contains what readers have seen, that is stored first: for stories older than
 * the versions feature, for changes made directly in the database, and after a process was stopped before it wrote its version.
 *
 * @param int $id Post.
 */
function newsroom_before_update( $id ) {
	$post = get_post( $id );
	// The block editor's meta boxes are submitted so soon after the story that its version may not be written yet.
	if ( ! newsroom_has_versions( $post ) || ! newsroom_is_visible( $post ) || newsroom_is_meta_box_request() ) {
		return;
	}
	$types   = newsroom_document_types();
	$changes = newsroom_changes();
	// A change in this request gets its version at the end of the request.
	if ( ! isset( $changes[ $types[ $post->post_type ] . ':' . $post->ID ] ) ) {
		$found = array(
			'made_at' => max( 0, (int) strtotime( $post->post_modified_gmt . ' UTC' ) ),
			'user_id' => 0,
			'way'     => '',
			'event'   => 'found',
		);
		newsroom_keep_state( $post, newsroom_last_version( $post->ID ), $found );
	}
}

/**
 * A story was permanently deleted, so its versions are deleted, too.
 *
 * @param int          $id   Post.
 * @param WP_Post|null $post Post.
 */
function newsroom_delete_versions_with_post( $id, $post = null ) {
	if ( newsroom_has_versions( $post ) ) {
		newsroom_delete_versions( $id );
	}
}

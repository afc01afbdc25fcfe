<?php
/**
 * Opens an earlier version in the editor as an unsaved change: nothing is published until the editor saves. Also the panel "Versions" of
 * the block editor, and the box of the classic one.
 *
 * @package Newsroom
 */

if ( ! defined( 'ABSPATH' ) ) {
	exit;
}

/** Versions in the panel. */
define( 'NEWSROOM_VERSIONS_IN_PANEL', 5 );

add_action( 'enqueue_block_editor_assets', 'newsroom_versions_panel' );
add_action( 'add_meta_boxes', 'newsroom_add_versions_box', 10, 2 );
add_action( 'load-post.php', 'newsroom_version_in_form' );
newsroom_route(
	'GET',
	'/versions/(?P<id>\d+)',
	static fn( $request ) => newsroom_newest_versions( get_post( (int) $request['id'] ) ),
	static fn( $request ) => newsroom_may_see_versions( get_post( (int) $request['id'] ) ),
	array( 'id' => array( 'type' => 'integer' ) )
);

/**
 * Prints the link that opens a version in the editor.
 *
 * @param WP_Post $story Story.
 * @param object  $row   Version.
 */
function newsroom_restore_link( $story, $row ) {
	/* translators: %s: number of a version. */
	$label = sprintf( __( 'Restore in the editor: version %s', 'newsroom' ), number_format_i18n( $row->number ) );
	printf( '<a href="%1$s" aria-label="%2$s">%3$s</a>', esc_url( add_query_arg( 'newsroom_version', (int) $row->id, get_edit_post_link( $story->ID, 'raw' ) ) ), esc_attr( $label ), esc_html__( 'Restore in the editor', 'newsroom' ) );
}

/**
 * The newest versions of a story in words.
 *
 * @param WP_Post $story Story.
 * @return array `count`, and `versions`: each with `id`, `number`, `made` (UTC), `when`, `editor` and `what`.
 */
function newsroom_newest_versions( $story ) {
	$count    = newsroom_count_versions( $story->ID );
	$versions = array();
	foreach ( newsroom_list_versions( $story->ID, $count, NEWSROOM_VERSIONS_IN_PANEL ) as $row ) {
		$versions[] = array(
			'id'     => (int) $row->id,
			'number' => $row->number,
			'made'   => newsroom_instant( (int) $row->made_at ),
			'when'   => newsroom_version_time( (int) $row->made_at ),
			'editor' => newsroom_version_editor( $row ),
			'what'   => newsroom_version_words( $row ),
		);
	}
	return compact( 'count', 'versions' );
}

/**
 * The version that the editor is opened with.
 *
 * @param WP_Post $story Story.
 * @return object|null Null without one, or if its content is damaged.
 */
function newsroom_version_to_restore( $story ) {
	$id  = newsroom_asked_number( 'newsroom_version' );
	$row = $id && newsroom_may_see_versions( $story ) ? newsroom_version( $story->ID, $id ) : null;
	return $row && newsroom_version_content( $row ) ? $row : null;
}

/**
 * A description of a version, for the notice above the story.
 *
 * @param object $row Version.
 * @return string
 */
function newsroom_restored_note( $row ) {
	/* translators: 1: number of a version, 2: its time. */
	return sprintf( __( 'Version %1$s of %2$s is in the editor. Readers see no change until you save the story.', 'newsroom' ), number_format_i18n( $row->number ), newsroom_version_time( (int) $row->made_at ) );
}

/**
 * A version as attributes of the post in the block editor. Address and date of the story stay unchanged, and so does anything that no
 * longer exists, such as a deleted picture or tag. Its sections also stay, because the site has rules for them about who may read a story,
 * a headline test, because restoring it would restart it, and the keys of newsroom_keys_of_the_present().
 *
 * @param WP_Post $story Story.
 * @param array   $held  What the version holds, see newsroom_version_now().
 * @return array
 */
function newsroom_version_attributes( $story, $held ) {
	$then        = $held['story'];
	$definitions = newsroom_meta_definitions();
	$meta        = array();
	foreach ( array_diff( newsroom_meta_keys()[ $story->post_type ], array( 'newsroom_headline_test' ), newsroom_keys_of_the_present() ) as $key ) {
		$meta[ $key ] = $then['meta'][ $key ] ?? $definitions[ $key ][1];
		if ( in_array( $key, array( 'newsroom_authors', 'newsroom_contributors' ), true ) ) {
			$meta[ $key ] = array_map( 'intval', $meta[ $key ] );
		}
	}
	if ( registered_meta_key_exists( 'post', 'footnotes', $story->post_type ) ) {
		$meta['footnotes'] = $then['meta']['footnotes'] ?? '';
	}
	$attributes = array(
		'title'   => $then['title'],
		'content' => $then['content'],
		'meta'    => $meta,
	);
	if ( post_type_supports( $story->post_type, 'excerpt' ) ) {
		$attributes['excerpt'] = $then['excerpt'];
	}
	if ( post_type_supports( $story->post_type, 'thumbnail' ) && ( ! $then['picture'] || get_post( $then['picture']['id'] ) ) ) {
		$attributes['featured_media'] = $then['picture'] ? $then['picture']['id'] : 0;
	}
	if ( is_object_in_taxonomy( $story->post_type, 'post_tag' ) ) {
		$attributes['tags'] = array_values( array_filter( $then['post_tag'], static fn( $id ) => (bool) term_exists( $id, 'post_tag' ) ) );
	}
	return $attributes;
}

/**
 * Loads the panel of the block editor, with the version that is to be restored.
 */
function newsroom_versions_panel() {
	$screen = get_current_screen();
	$post   = get_post();
	if ( ! $screen || 'post' !== $screen->base || ! newsroom_may_see_versions( $post ) ) {
		return;
	}
	$row     = newsroom_version_to_restore( $post );
	$restore = $row ? array(
		'note' => newsroom_restored_note( $row ),
		'post' => newsroom_version_attributes( $post, newsroom_version_content( $row ) ),
	) : null;
	newsroom_enqueue_part(
		'versions',
		array( 'newsroom-panels' ),
		'newsroomVersions',
		array(
			'screen'  => newsroom_versions_url( $post->ID ),
			'restore' => $restore,
		)
	);
}

/**
 * Adds the box of the classic editor; the block editor has the panel instead.
 *
 * @param string       $type Post type.
 * @param WP_Post|null $post Post.
 */
function newsroom_add_versions_box( $type, $post = null ) {
	if ( $post instanceof WP_Post && 'auto-draft' !== $post->post_status && newsroom_may_see_versions( $post ) ) {
		add_meta_box( 'newsroom-versions', __( 'Versions', 'newsroom' ), 'newsroom_versions_box', $type, 'side', 'default', array( '__back_compat_meta_box' => true ) );
	}
}

/**
 * Prints the box.
 *
 * @param WP_Post $post Story.
 */
function newsroom_versions_box( $post ) {
	$newest = newsroom_newest_versions( $post );
	echo '<ol class="newsroom-version-list">';
	foreach ( $newest['versions'] as $version ) {
		printf( '<li value="%1$d"><strong>%2$s</strong><br>%3$s</li>', (int) $version['number'], esc_html( $version['what'] ), esc_html( implode( ' · ', array_filter( array( $version['when'], $version['editor'] ), 'strlen' ) ) ) );
	}
	printf( '</ol><p><a href="%1$s">%2$s</a></p>', esc_url( newsroom_versions_url( $post->ID ) ), esc_html__( 'Compare versions', 'newsroom' ) );
}

/**
 * Fills the form of the classic editor with a version. Only what this request shows is replaced, nothing that is stored.
 */
function newsroom_version_in_form() {
	$story = get_post( newsroom_asked_number( 'post' ) );
	$row   = $story ? newsroom_version_to_restore( $story ) : null;
	if ( ! $row || use_block_editor_for_post( $story ) ) {
		return;
	}
	$attributes = newsroom_version_attributes( $story, newsroom_version_content( $row ) );
	foreach ( array( 'title', 'content', 'excerpt' ) as $name ) {
		add_filter(
			"edit_post_$name",
			static fn( $value, $id ) => (int) $id === $story->ID && isset( $attributes[ $name ] ) ? $attributes[ $name ] : $value,
			10,
			2
		);
	}
	$meta = $attributes['meta'];
	if ( isset( $attributes['featured_media'] ) ) {
		$meta['_thumbnail_id'] = $attributes['featured_media'] ? $attributes['featured_media'] : '';
	}
	add_filter(
		'get_post_metadata',
		static fn( $value, $id, $key ) => (int) $id === $story->ID && isset( $meta[ $key ] ) ? array( $meta[ $key ] ) : $value,
		10,
		3
	);
	add_action(
		'admin_notices',
		static function () use ( $row ) {
			printf( '<div class="notice notice-info"><p>%s</p></div>', esc_html( newsroom_restored_note( $row ) ) );
		}
	);
}

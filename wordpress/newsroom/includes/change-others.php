<?php
/**
 * Collects changes of sections, menus and comments in this request.
 *
 * @package Newsroom
 */

if ( ! defined( 'ABSPATH' ) ) {
	exit;
}

add_action( 'edit_terms', 'newsroom_term_before', 10, 2 );
add_action( 'created_category', 'newsroom_term_changed' );
add_action( 'edited_category', 'newsroom_term_changed' );
add_action( 'delete_category', 'newsroom_term_deleted', 10, 3 );
foreach ( array( 'added', 'updated', 'deleted' ) as $newsroom_verb ) {
	add_action( "{$newsroom_verb}_term_meta", 'newsroom_term_meta_changed', 10, 3 );
}
unset( $newsroom_verb );
add_action( 'wp_create_nav_menu', 'newsroom_menu_changed' );
add_action( 'wp_update_nav_menu', 'newsroom_menu_changed' );
add_action( 'wp_delete_nav_menu', 'newsroom_menu_changed' );
// Plugins, WP-CLI and the Customizer change the items of a menu one by one.
add_action( 'wp_update_nav_menu_item', 'newsroom_menu_item_changed' );
add_action( 'before_delete_post', 'newsroom_menu_item_deleted' );
add_action( 'updated_option', 'newsroom_option_changed', 10, 3 );
add_action( 'added_option', 'newsroom_option_added', 10, 2 );
add_action( 'wp_insert_comment', 'newsroom_comment_inserted', 10, 2 );
add_action( 'edit_comment', 'newsroom_comment_edited' );
add_action( 'transition_comment_status', 'newsroom_comment_moved', 10, 3 );
add_action( 'delete_comment', 'newsroom_comment_deleted', 10, 2 );

/**
 * Slugs of categories before they were saved in this request.
 *
 * @param int         $term_id Category.
 * @param string|null $slug    Slug to keep, or null to only read it.
 * @return string|null
 */
function newsroom_slug_before( $term_id, $slug = null ) {
	static $slugs = array();
	if ( null !== $slug ) {
		$slugs[ $term_id ] = $slug;
	}
	return $slugs[ $term_id ] ?? null;
}

/**
 * A category is about to be saved.
 *
 * @param int    $term_id  Category.
 * @param string $taxonomy Taxonomy.
 */
function newsroom_term_before( $term_id, $taxonomy = 'category' ) {
	$term = 'category' === $taxonomy ? get_term( $term_id, 'category' ) : null;
	if ( $term instanceof WP_Term ) {
		newsroom_slug_before( $term->term_id, $term->slug );
	}
}

/**
 * A category was created or saved.
 *
 * @param int $term_id Category.
 */
function newsroom_term_changed( $term_id ) {
	$term = get_term( $term_id, 'category' );
	if ( $term instanceof WP_Term ) {
		$before = newsroom_slug_before( $term->term_id );
		newsroom_remember_section_slug( $term, $before );
		newsroom_changes( newsroom_payload( 'term', 'categories', $term->term_id, $term->slug, 'publish', $before !== $term->slug ? $before : null ) );
	}
}

/**
 * Stores the former slugs of a category, so that the site can redirect from them; WordPress doesn't store them.
 *
 * @param WP_Term     $term   Category.
 * @param string|null $before Its slug before it was saved, or null.
 */
function newsroom_remember_section_slug( $term, $before ) {
	if ( null === $before || $before === $term->slug ) {
		return;
	}
	$former = array_merge( array( $before ), newsroom_former_section_slugs( $term->term_id ) );
	update_term_meta( $term->term_id, '_newsroom_former_slugs', wp_slash( array_slice( array_values( array_diff( array_unique( $former ), array( $term->slug ) ) ), 0, 20 ) ) );
}

/**
 * Former slugs of a category, the latest one first.
 *
 * @param int $term_id Category.
 * @return string[]
 */
function newsroom_former_section_slugs( $term_id ) {
	$slugs = get_term_meta( $term_id, '_newsroom_former_slugs', true );
	return is_array( $slugs ) ? array_values( array_filter( $slugs, 'is_string' ) ) : array();
}

/**
 * A category was deleted.
 *
 * @param int     $term_id Category.
 * @param int     $tt_id   Its row in the taxonomy.
 * @param WP_Term $term    What it was.
 */
function newsroom_term_deleted( $term_id, $tt_id, $term ) {
	newsroom_changes( newsroom_payload( 'term', 'categories', $term_id, $term->slug, 'trash' ) );
}

/**
 * A section's settings changed.
 *
 * @param int|int[] $meta_id Meta rows.
 * @param int       $term_id Term.
 * @param string    $key     Meta key.
 */
function newsroom_term_meta_changed( $meta_id, $term_id, $key ) {
	if ( array_key_exists( $key, newsroom_term_meta_keys() ) ) {
		newsroom_term_changed( $term_id );
	}
}

/**
 * A menu changed.
 *
 * @param int $menu_id Menu.
 */
function newsroom_menu_changed( $menu_id ) {
	$menu = wp_get_nav_menu_object( $menu_id );
	newsroom_changes( newsroom_payload( 'menu', 'menus', $menu_id, $menu ? $menu->slug : '', $menu ? 'publish' : 'trash' ) );
}

/**
 * An item of a menu was added or changed.
 *
 * @param int $menu_id Menu, or 0 for an item that isn't in one yet.
 */
function newsroom_menu_item_changed( $menu_id ) {
	if ( $menu_id ) {
		newsroom_menu_changed( (int) $menu_id );
	}
}

/**
 * An item of a menu is about to be deleted.
 *
 * @param int $id Post.
 */
function newsroom_menu_item_deleted( $id ) {
	$menus = 'nav_menu_item' === get_post_type( $id ) ? wp_get_object_terms( $id, 'nav_menu', array( 'fields' => 'ids' ) ) : array();
	if ( is_array( $menus ) ) {
		array_map( 'newsroom_menu_changed', $menus );
	}
}

/**
 * A menu was assigned to another location.
 *
 * @param string $option Option.
 * @param mixed  $old    Before.
 * @param mixed  $new    Now.
 */
function newsroom_option_changed( $option, $old, $new ) {
	if ( 'theme_mods_' . get_option( 'stylesheet' ) !== $option ) {
		return;
	}
	$before = isset( $old['nav_menu_locations'] ) ? (array) $old['nav_menu_locations'] : array();
	$after  = isset( $new['nav_menu_locations'] ) ? (array) $new['nav_menu_locations'] : array();
	// A location without a menu has the number 0.
	foreach ( array_filter( array_unique( array_merge( array_diff_assoc( $before, $after ), array_diff_assoc( $after, $before ) ) ) ) as $menu_id ) {
		newsroom_menu_changed( (int) $menu_id );
	}
}

/**
 * A menu was assigned to a location of a theme that had none.
 *
 * @param string $option Option.
 * @param mixed  $value  Value.
 */
function newsroom_option_added( $option, $value ) {
	newsroom_option_changed( $option, array(), $value );
}

/**
 * Records a change of a comment, if readers can see its document.
 *
 * @param WP_Comment|null $comment Comment.
 * @param string          $status  `publish` if it is visible, `trash` if not.
 */
function newsroom_note_comment( $comment, $status ) {
	if ( ! $comment instanceof WP_Comment || ! in_array( $comment->comment_type, array( '', 'comment' ), true ) ) {
		return;
	}
	$post = get_post( (int) $comment->comment_post_ID );
	if ( ! newsroom_is_document( $post ) || ! newsroom_is_visible( $post ) ) {
		return;
	}
	$payload         = newsroom_payload( 'comment', 'comments', $comment->comment_ID, '', $status );
	$payload['post'] = $post->ID;
	newsroom_changes( $payload );
}

/**
 * A comment was created; one that waits for approval isn't sent.
 *
 * @param int        $id      Comment.
 * @param WP_Comment $comment Comment.
 */
function newsroom_comment_inserted( $id, $comment ) {
	if ( '1' === (string) $comment->comment_approved ) {
		newsroom_note_comment( $comment, 'publish' );
	}
}

/**
 * A comment's text changed.
 *
 * @param int $id Comment.
 */
function newsroom_comment_edited( $id ) {
	$comment = get_comment( $id );
	if ( $comment && '1' === (string) $comment->comment_approved ) {
		newsroom_note_comment( $comment, 'publish' );
	}
}

/**
 * A comment was approved or unapproved.
 *
 * @param string     $new     Status now.
 * @param string     $old     Status before.
 * @param WP_Comment $comment Comment.
 */
function newsroom_comment_moved( $new, $old, $comment ) {
	if ( 'approved' === $new || 'approved' === $old ) {
		newsroom_note_comment( $comment, 'approved' === $new ? 'publish' : 'trash' );
	}
}

/**
 * A comment is about to be deleted for good.
 *
 * @param int             $id      Comment.
 * @param WP_Comment|null $comment Comment.
 */
function newsroom_comment_deleted( $id, $comment = null ) {
	$comment = $comment ? $comment : get_comment( $id );
	if ( $comment && '1' === (string) $comment->comment_approved ) {
		newsroom_note_comment( $comment, 'trash' );
	}
}

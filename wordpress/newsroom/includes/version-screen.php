<?php
/**
 * The screen "Versions" of a story: the list of its versions, from which two are chosen for a comparison; and the links to it.
 *
 * @package Newsroom
 */

if ( ! defined( 'ABSPATH' ) ) {
	exit;
}

/** Versions on one page of the list. */
define( 'NEWSROOM_VERSIONS_A_PAGE', 50 );

add_action( 'admin_menu', 'newsroom_add_version_screen' );
add_filter( 'post_row_actions', 'newsroom_version_row_action', 10, 2 );

/**
 * Adds the screen. It has no menu entry, because each story has its own.
 */
function newsroom_add_version_screen() {
	$screen = add_submenu_page( '', __( 'Versions', 'newsroom' ), __( 'Versions', 'newsroom' ), 'edit_posts', 'newsroom-versions', 'newsroom_version_screen' );
	if ( $screen ) {
		add_action( 'load-' . $screen, 'newsroom_version_load' );
	}
}

/**
 * Address of the screen of a story.
 *
 * @param int   $id   Story.
 * @param array $args Query.
 * @return string
 */
function newsroom_versions_url( $id, $args = array() ) {
	$query = array(
		'page'  => 'newsroom-versions',
		'story' => (int) $id,
	);
	return add_query_arg( $query + $args, admin_url( 'admin.php' ) );
}

/**
 * Whether the user may see the versions of a story: users who may edit it may. The site's own account, which may read drafts, may not.
 *
 * @param WP_Post|null $post Story.
 * @return bool
 */
function newsroom_may_see_versions( $post ) {
	return newsroom_has_versions( $post ) && current_user_can( 'edit_posts' ) && current_user_can( 'edit_post', $post->ID );
}

/**
 * A number from the address.
 *
 * @param string $name Name of the parameter.
 * @return int 0 without one.
 */
function newsroom_asked_number( $name ) {
	return isset( $_GET[ $name ] ) && is_string( $_GET[ $name ] ) ? absint( $_GET[ $name ] ) : 0; // phpcs:ignore WordPress.Security -- a number that only chooses what is shown.
}

/**
 * The story in the screen's address.
 *
 * @return WP_Post|null Null without one whose versions the user may see.
 */
function newsroom_version_story() {
	$id    = newsroom_asked_number( 'story' );
	$story = $id ? get_post( $id ) : null;
	return newsroom_may_see_versions( $story ) ? $story : null;
}

/**
 * Prepares the screen: its title, its style and its open menu.
 */
function newsroom_version_load() {
	$story = newsroom_version_story();
	if ( ! $story ) {
		wp_die( esc_html__( 'Sorry, you are not allowed to see the versions of this story.', 'newsroom' ), '', array( 'response' => 403 ) );
	}
	$GLOBALS['title'] = newsroom_version_title( $story ); // phpcs:ignore WordPress.WP.GlobalVariablesOverride -- a screen without a menu entry has no title else.
	// Marks the stories' menu entry as open. WordPress would look for the screen in the menu, where it has no entry.
	remove_submenu_page( '', 'newsroom-versions' );
	foreach ( array( 'parent_file', 'submenu_file' ) as $entry ) {
		add_filter( $entry, static fn() => 'edit.php?post_type=' . ( 'live-entry' === $story->post_type ? 'articles' : $story->post_type ) );
	}
	add_action(
		'admin_enqueue_scripts',
		static function () {
			newsroom_enqueue_style( 'versions', array( 'revisions' ) );
		}
	);
}

/**
 * Title of the screen.
 *
 * @param WP_Post $story Story.
 * @return string
 */
function newsroom_version_title( $story ) {
	$title = newsroom_plain( $story->post_title );
	/* translators: %s: headline of a story. */
	return sprintf( __( 'Versions of “%s”', 'newsroom' ), '' === $title ? __( '(no title)', 'newsroom' ) : $title );
}

/**
 * Adds "Versions" below a story that has been on the site.
 *
 * @param string[] $actions Links.
 * @param WP_Post  $post    Post.
 * @return string[]
 */
function newsroom_version_row_action( $actions, $post ) {
	$was_live = newsroom_has_versions( $post ) && ( newsroom_is_visible( $post ) || '' !== (string) get_post_meta( $post->ID, '_newsroom_live_slug', true ) );
	if ( $was_live && newsroom_may_see_versions( $post ) ) {
		/* translators: %s: headline of a story. */
		$label                         = sprintf( __( 'Versions of “%s”', 'newsroom' ), newsroom_plain( $post->post_title ) );
		$actions['newsroom_versions'] = sprintf( '<a href="%1$s" aria-label="%2$s">%3$s</a>', esc_url( newsroom_versions_url( $post->ID ) ), esc_attr( $label ), esc_html__( 'Versions', 'newsroom' ) );
	}
	return $actions;
}

/**
 * Prints the screen.
 */
function newsroom_version_screen() {
	$story = newsroom_version_story();
	if ( ! $story ) {
		return;
	}
	$count = newsroom_count_versions( $story->ID );
	printf( '<div class="wrap newsroom-versions"><h1>%s</h1>', esc_html( newsroom_version_title( $story ) ) );
	printf( '<p><a href="%1$s">%2$s</a></p>', esc_url( get_edit_post_link( $story->ID ) ), esc_html__( 'Edit the story', 'newsroom' ) );
	if ( ! $count ) {
		printf( '<p>%s</p></div>', esc_html__( 'This story has no versions yet. The first one is saved when you publish the story or, if it’s already published, when you change it.', 'newsroom' ) );
		return;
	}
	newsroom_print_comparison( $story );
	newsroom_print_versions( $story, $count );
	echo '</div>';
}

/**
 * Prints the list as a form in which two versions are chosen. Its page links are buttons of the form, so that the choice is kept.
 *
 * @param WP_Post $story Story.
 * @param int     $count Number of versions.
 */
function newsroom_print_versions( $story, $count ) {
	$pages  = (int) ceil( $count / NEWSROOM_VERSIONS_A_PAGE );
	$page   = max( 1, min( $pages, newsroom_asked_number( 'paged' ) ) );
	$rows   = newsroom_list_versions( $story->ID, $count, NEWSROOM_VERSIONS_A_PAGE, ( $page - 1 ) * NEWSROOM_VERSIONS_A_PAGE );
	$chosen = newsroom_chosen_versions( $story->ID, $rows );
	printf( '<h2 id="newsroom-versions-list">%s</h2>', esc_html__( 'All versions', 'newsroom' ) );
	printf( '<form method="get" action="%s"><input type="hidden" name="page" value="newsroom-versions"><input type="hidden" name="story" value="%d">', esc_url( admin_url( 'admin.php' ) ), (int) $story->ID );
	newsroom_compare_button();
	echo '<table class="widefat striped newsroom-versions-list" aria-labelledby="newsroom-versions-list"><thead><tr>';
	foreach ( array( __( 'From', 'newsroom' ), __( 'To', 'newsroom' ), __( 'Version', 'newsroom' ), __( 'When', 'newsroom' ), __( 'Editor', 'newsroom' ), __( 'What changed', 'newsroom' ), __( 'Actions', 'newsroom' ) ) as $label ) {
		printf( '<th scope="col">%s</th>', esc_html( $label ) );
	}
	echo '</tr></thead><tbody>';
	$shown = array_map( 'intval', wp_list_pluck( $rows, 'id' ) );
	foreach ( array_unique( array_filter( $chosen ) ) as $id ) {
		// A version that was chosen on another page of the list.
		if ( ! in_array( $id, $shown, true ) ) {
			array_unshift( $rows, newsroom_version( $story->ID, $id ) );
		}
	}
	foreach ( $rows as $row ) {
		newsroom_print_version( $story, $row, $chosen );
	}
	echo '</tbody></table>';
	newsroom_compare_button();
	newsroom_version_pages( $page, $pages );
	echo '</form>';
}

/**
 * The chosen versions: those in the address, or else the newest two.
 *
 * @param int      $post_id Story.
 * @param object[] $rows    Versions of the page.
 * @return array<string,int> `from` and `to`; 0 for none.
 */
function newsroom_chosen_versions( $post_id, $rows ) {
	$chosen = array(
		'from' => isset( $rows[1] ) ? (int) $rows[1]->id : 0,
		'to'   => (int) $rows[0]->id,
	);
	foreach ( $chosen as $name => $default ) {
		$asked           = newsroom_asked_number( $name );
		$chosen[ $name ] = $asked && newsroom_version( $post_id, $asked ) ? $asked : $default;
	}
	return $chosen;
}

/**
 * Prints the button that compares.
 */
function newsroom_compare_button() {
	printf( '<p><button class="button button-primary">%s</button></p>', esc_html__( 'Compare the two chosen versions', 'newsroom' ) );
}

/**
 * Prints one version.
 *
 * @param WP_Post           $story  Story.
 * @param object            $row    Version.
 * @param array<string,int> $chosen Versions that are chosen.
 */
function newsroom_print_version( $story, $row, $chosen ) {
	echo '<tr>';
	/* translators: %s: number of a version. */
	$labels = array( 'from' => __( 'From version %s', 'newsroom' ), 'to' => __( 'To version %s', 'newsroom' ) ); // phpcs:ignore WordPress.Arrays
	$number = number_format_i18n( $row->number );
	foreach ( $labels as $name => $label ) {
		printf( '<td class="newsroom-versions-choice"><input type="radio" name="%1$s" value="%2$d" aria-label="%3$s"%4$s></td>', esc_attr( $name ), (int) $row->id, esc_attr( sprintf( $label, $number ) ), checked( $chosen[ $name ], (int) $row->id, false ) );
	}
	$editor = newsroom_version_editor( $row );
	printf(
		'<th scope="row">%1$s</th><td>%2$s</td><td>%3$s</td><td>%4$s</td><td>',
		esc_html( $number ),
		newsroom_version_clock( $row ), // phpcs:ignore WordPress.Security.EscapeOutput -- escaped where it is made.
		'' === $editor ? '<span aria-hidden="true">—</span><span class="screen-reader-text">' . esc_html__( 'Not known', 'newsroom' ) . '</span>' : esc_html( $editor ),
		esc_html( newsroom_version_words( $row ) )
	);
	if ( $row->number > 1 ) {
		$compared = array( 'changes' => (int) $row->id );
		/* translators: %s: number of a version. */
		$label = sprintf( __( 'Show changes of version %s', 'newsroom' ), $number );
		printf( '<a href="%1$s" aria-label="%2$s">%3$s</a> · ', esc_url( newsroom_versions_url( $story->ID, $compared ) ), esc_attr( $label ), esc_html__( 'Show changes', 'newsroom' ) );
	}
	newsroom_restore_link( $story, $row );
	echo '</td></tr>';
}

/**
 * The time of a version.
 *
 * @param object $row Version.
 * @return string Markup.
 */
function newsroom_version_clock( $row ) {
	return sprintf( '<time datetime="%1$s">%2$s</time>', esc_attr( gmdate( 'c', (int) $row->made_at ) ), esc_html( newsroom_version_time( (int) $row->made_at ) ) );
}

/**
 * Prints the pages of the list.
 *
 * @param int $page  Page that is shown.
 * @param int $pages Number of pages.
 */
function newsroom_version_pages( $page, $pages ) {
	if ( $pages < 2 ) {
		return;
	}
	printf( '<p class="newsroom-versions-pages"><button class="button" name="paged" value="%1$d"%2$s>%3$s</button> ', (int) $page - 1, disabled( $page, 1, false ), esc_html__( 'Newer', 'newsroom' ) );
	/* translators: 1: number of a page, 2: number of pages. */
	printf( '<span>%s</span> ', esc_html( sprintf( __( 'Page %1$s of %2$s', 'newsroom' ), number_format_i18n( $page ), number_format_i18n( $pages ) ) ) );
	printf( '<button class="button" name="paged" value="%1$d"%2$s>%3$s</button></p>', (int) $page + 1, disabled( $page, $pages, false ), esc_html__( 'Older', 'newsroom' ) );
}

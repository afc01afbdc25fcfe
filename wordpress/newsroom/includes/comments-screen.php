<?php
/**
 * The list of comments in wp-admin: how often readers have reported each, and a view of the reported ones.
 *
 * @package Newsroom
 */

if ( ! defined( 'ABSPATH' ) ) {
	exit;
}

add_filter( 'manage_edit-comments_columns', 'newsroom_comment_columns' );
add_action( 'manage_comments_custom_column', 'newsroom_comment_column', 10, 2 );
add_filter( 'comment_status_links', 'newsroom_comment_views' );
add_action( 'pre_get_comments', 'newsroom_only_reported' );

/**
 * Adds the column.
 *
 * @param string[] $columns Columns.
 * @return string[]
 */
function newsroom_comment_columns( $columns ) {
	$columns['newsroom_reports'] = __( 'Reports', 'newsroom' );
	return $columns;
}

/**
 * Prints the column.
 *
 * @param string $column Column.
 * @param int    $id     Comment.
 */
function newsroom_comment_column( $column, $id ) {
	if ( 'newsroom_reports' !== $column ) {
		return;
	}
	$reports = (int) get_comment_meta( (int) $id, '_newsroom_reports', true );
	if ( $reports < 1 ) {
		echo '<span aria-hidden="true">—</span><span class="screen-reader-text">' . esc_html__( 'None', 'newsroom' ) . '</span>';
		return;
	}
	$new = $reports - (int) get_comment_meta( (int) $id, '_newsroom_reports_seen', true );
	/* translators: %s: number of readers. */
	echo '<strong>' . esc_html( sprintf( _n( '%s reader', '%s readers', $reports, 'newsroom' ), number_format_i18n( $reports ) ) ) . '</strong>';
	if ( $new > 0 && $new < $reports ) {
		/* translators: %s: number of readers. */
		echo '<br>' . esc_html( sprintf( __( '%s since it was approved', 'newsroom' ), number_format_i18n( $new ) ) );
	}
}

/**
 * Adds the view.
 *
 * @param string[] $views Links above the list.
 * @return string[]
 */
function newsroom_comment_views( $views ) {
	$current           = newsroom_shows_reported();
	$views['reported'] = sprintf(
		'<a href="%1$s"%2$s>%3$s</a>',
		esc_url( admin_url( 'edit-comments.php?newsroom_reported=1' ) ),
		$current ? ' class="current" aria-current="page"' : '',
		esc_html__( 'Reported', 'newsroom' )
	);
	if ( $current && isset( $views['all'] ) ) {
		$views['all'] = str_replace( array( ' class="current"', ' aria-current="page"' ), '', $views['all'] );
	}
	return $views;
}

/**
 * Whether the list shows only reported comments.
 *
 * @return bool
 */
function newsroom_shows_reported() {
	return is_admin() && isset( $_GET['newsroom_reported'] ); // phpcs:ignore WordPress.Security.NonceVerification
}

/**
 * Limits the list to reported comments.
 *
 * @param WP_Comment_Query $query Query.
 */
function newsroom_only_reported( $query ) {
	$screen = function_exists( 'get_current_screen' ) ? get_current_screen() : null;
	if ( ! newsroom_shows_reported() || ! $screen || 'edit-comments' !== $screen->id ) {
		return;
	}
	$query->query_vars['meta_query'] = array( // phpcs:ignore WordPress.DB.SlowDBQuery
		array(
			'key'     => '_newsroom_reports',
			'compare' => 'EXISTS',
		),
	);
}

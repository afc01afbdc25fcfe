<?php
/**
 * Two versions of a story side by side or in one column, with deletions and insertions marked.
 *
 * @package Newsroom
 */

if ( ! defined( 'ABSPATH' ) ) {
	exit;
}

/** Unchanged lines that are shown around a change. */
define( 'NEWSROOM_LINES_AROUND', 1 );

/**
 * The versions to compare: two that were chosen, or one and the version before it.
 *
 * @param int $post_id Story.
 * @return object[]|null The older one first; empty if none were requested, null if one of them doesn't exist.
 */
function newsroom_asked_versions( $post_id ) {
	$one = newsroom_asked_number( 'changes' );
	if ( $one ) {
		$to     = newsroom_version( $post_id, $one );
		$before = $to ? newsroom_last_version( $post_id, $one ) : null;
		$from   = $before ? newsroom_version( $post_id, (int) $before->id ) : null;
	} elseif ( newsroom_asked_number( 'from' ) || newsroom_asked_number( 'to' ) ) {
		$from = newsroom_version( $post_id, newsroom_asked_number( 'from' ) );
		$to   = newsroom_version( $post_id, newsroom_asked_number( 'to' ) );
	} else {
		return array();
	}
	if ( ! $from || ! $to ) {
		return null;
	}
	return $from->number > $to->number ? array( $to, $from ) : array( $from, $to );
}

/**
 * Prints the comparison requested by the address.
 *
 * @param WP_Post $story Story.
 */
function newsroom_print_comparison( $story ) {
	// Other pages of the list only pass the choice on, without comparing yet.
	$versions = newsroom_asked_number( 'paged' ) ? array() : newsroom_asked_versions( $story->ID );
	if ( array() === $versions ) {
		return;
	}
	if ( null === $versions ) {
		printf( '<div class="notice notice-error"><p>%s</p></div>', esc_html__( 'This story doesn’t have these versions. Choose two from the list.', 'newsroom' ) );
		return;
	}
	list( $from, $to ) = $versions;
	$older             = newsroom_version_content( $from );
	$newer             = newsroom_version_content( $to );
	if ( ! $older || ! $newer ) {
		printf( '<div class="notice notice-error"><p>%s</p></div>', esc_html__( 'One of these versions is damaged in the database and can’t be shown.', 'newsroom' ) );
		return;
	}
	/* translators: 1: number of a version, 2: number of a version. */
	printf( '<h2 id="newsroom-comparison">%s</h2>', esc_html( sprintf( __( 'Version %1$s and version %2$s', 'newsroom' ), number_format_i18n( $from->number ), number_format_i18n( $to->number ) ) ) );
	$inline = isset( $_GET['view'] ) && 'inline' === $_GET['view']; // phpcs:ignore WordPress.Security.NonceVerification -- only shows.
	$whole  = (bool) newsroom_asked_number( 'whole' );
	newsroom_comparison_views( $story, $from, $to, $inline, $whole );
	echo '<div class="newsroom-compared">';
	foreach ( $versions as $row ) {
		newsroom_compared_version( $story, $row );
	}
	echo '</div>';
	newsroom_print_differences( $older, $newer, $inline, $whole );
}

/**
 * Prints the display options of the comparison.
 *
 * @param WP_Post $story  Story.
 * @param object  $from   Older version.
 * @param object  $to     Newer version.
 * @param bool    $inline Whether it is in one column.
 * @param bool    $whole  Whether unchanged lines are shown.
 */
function newsroom_comparison_views( $story, $from, $to, $inline, $whole ) {
	$link = static function ( $label, $in_one, $all, $current ) use ( $story, $from, $to ) {
		$query = array(
			'from'  => (int) $from->id,
			'to'    => (int) $to->id,
			'view'  => $in_one ? 'inline' : 'side',
			'whole' => (int) $all,
		);
		return sprintf( '<a class="button" href="%1$s"%2$s>%3$s</a> ', esc_url( newsroom_versions_url( $story->ID, $query ) ), $current ? ' aria-current="true"' : '', esc_html( $label ) );
	};
	printf( '<nav class="newsroom-comparison-views" aria-label="%s">', esc_attr__( 'Comparison view', 'newsroom' ) );
	echo $link( __( 'Side by side', 'newsroom' ), false, $whole, ! $inline ); // phpcs:ignore WordPress.Security.EscapeOutput -- escaped where it is made.
	echo $link( __( 'Inline', 'newsroom' ), true, $whole, $inline ); // phpcs:ignore WordPress.Security.EscapeOutput
	echo ' ' . $link( __( 'Changes only', 'newsroom' ), $inline, false, ! $whole ); // phpcs:ignore WordPress.Security.EscapeOutput
	echo $link( __( 'Whole text', 'newsroom' ), $inline, true, $whole ); // phpcs:ignore WordPress.Security.EscapeOutput
	echo '</nav>';
}

/**
 * Prints the heading of one side of the comparison: its version.
 *
 * @param WP_Post $story Story.
 * @param object  $row   Version.
 */
function newsroom_compared_version( $story, $row ) {
	$editor = newsroom_version_editor( $row );
	/* translators: %s: number of a version. */
	printf( '<p><strong>%1$s</strong><br>%2$s%3$s<br>', esc_html( sprintf( __( 'Version %s', 'newsroom' ), number_format_i18n( $row->number ) ) ), newsroom_version_clock( $row ), '' === $editor ? '' : ' · ' . esc_html( $editor ) ); // phpcs:ignore WordPress.Security.EscapeOutput -- escaped where it is made.
	newsroom_restore_link( $story, $row );
	echo '</p>';
}

/**
 * Prints the differences between two versions, part by part.
 *
 * @param array $from   See newsroom_version_now().
 * @param array $to     See newsroom_version_now().
 * @param bool  $inline Whether in one column.
 * @param bool  $whole  Whether unchanged lines are shown.
 */
function newsroom_print_differences( $from, $to, $inline, $whole ) {
	$changes = newsroom_version_changes( $from['story'], $to['story'] );
	$same    = array();
	foreach ( newsroom_version_parts() as $part => $label ) {
		$old   = newsroom_part_lines( $from, $part );
		$new   = newsroom_part_lines( $to, $part );
		$shown = isset( $changes[ $part ] ) || ( $whole && 'content' === $part );
		if ( ! $shown ) {
			if ( $old || $new ) {
				$same[] = $label;
			}
			continue;
		}
		printf( '<h3>%s</h3>', esc_html( $label ) );
		$rows = newsroom_difference( $old, $new, $inline, $whole );
		if ( '' === $rows ) {
			printf( '<p>%s</p>', esc_html__( 'The text is the same. The layout or settings differ.', 'newsroom' ) );
		} else {
			newsroom_difference_table( $rows, $label, $inline );
		}
	}
	if ( ! $changes ) {
		printf( '<p>%s</p>', esc_html__( 'These versions are the same.', 'newsroom' ) );
	}
	if ( $same ) {
		/* translators: %s: parts of a story, such as "Byline, Picture". */
		printf( '<p class="description">%s</p>', esc_html( sprintf( __( 'The same in both: %s.', 'newsroom' ), implode( ', ', $same ) ) ) );
	}
}

/**
 * Rows of a comparison.
 *
 * @param string[] $old    Lines.
 * @param string[] $new    Lines.
 * @param bool     $inline Whether in one column.
 * @param bool     $whole  Whether unchanged lines are shown.
 * @return string Rows of a table; '' if the lines are equal and unchanged ones aren't shown.
 */
function newsroom_difference( $old, $new, $inline, $whole ) {
	newsroom_load_diff();
	require_once __DIR__ . '/version-diff.php';
	$around   = $whole ? 100000 : NEWSROOM_LINES_AROUND;
	$renderer = new Newsroom_Version_Diff(
		array(
			'show_split_view'        => ! $inline,
			'leading_context_lines'  => $around,
			'trailing_context_lines' => $around,
		)
	);
	if ( $old === $new ) {
		return $whole ? $renderer->_context( $old ) : '';
	}
	return $renderer->render( newsroom_diff( $old, $new ) );
}

/**
 * Prints rows as a table.
 *
 * @param string $rows   Rows.
 * @param string $label  Part of the story.
 * @param bool   $inline Whether in one column.
 */
function newsroom_difference_table( $rows, $label, $inline ) {
	printf( '<table class="diff%1$s"><caption class="screen-reader-text">%2$s</caption>', $inline ? '' : ' is-split-view', esc_html( $label ) );
	if ( ! $inline ) {
		printf( '<thead class="screen-reader-text"><tr><th scope="col">%1$s</th><th scope="col">%2$s</th></tr></thead>', esc_html__( 'Older version', 'newsroom' ), esc_html__( 'Newer version', 'newsroom' ) );
	}
	echo '<tbody>' . $rows . '</tbody></table>'; // phpcs:ignore WordPress.Security.EscapeOutput -- the renderer escapes each line.
}

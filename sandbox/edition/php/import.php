<?php
/**
 * Writes the demo edition in one transaction.
 *
 * $input: documents, comments, topStories, fronts, footer, now (unix seconds). See edition/model.ts.
 */

global $wpdb;

wp_set_current_user( 1 );
wp_defer_term_counting( true );
wp_defer_comment_counting( true );
// No webhooks for the import: the site reads everything at its first sync.
add_filter( 'newsroom_webhooks_enabled', '__return_false' );
remove_action( 'post_updated', 'wp_save_post_revision' );
remove_action( 'wp_after_insert_post', 'wp_save_post_revision_on_insert', 9 );

/** A moment as WordPress stores it: site time and UTC. */
function sandbox_dates( $hours, $now, $fixed = null ) {
	$gmt = $fixed ? gmdate( 'Y-m-d H:i:s', strtotime( $fixed ) ) : gmdate( 'Y-m-d H:i:s', (int) round( $now - $hours * 3600 ) );
	return array( get_date_from_gmt( $gmt ), $gmt );
}

/** Stops the import when WordPress refuses something. */
function sandbox_must( $result, $what ) {
	if ( is_wp_error( $result ) || ! $result ) {
		throw new RuntimeException( $what . ': ' . ( is_wp_error( $result ) ? $result->get_error_message() : 'WordPress refused it' ) );
	}
	return $result;
}

/** Registers a file of uploads/ as an attachment. */
function sandbox_attach( $picture, $parent, $dates ) {
	$name = pathinfo( $picture['file'], PATHINFO_FILENAME );
	$id   = sandbox_must(
		wp_insert_attachment(
			wp_slash(
				array(
					'post_title'     => $name,
					'post_name'      => 'picture-' . $name,
					'post_excerpt'   => $picture['caption'],
					'post_mime_type' => 'image/jpeg',
					'post_date'      => $dates[0],
					'post_date_gmt'  => $dates[1],
				)
			),
			$picture['file'],
			$parent,
			true
		),
		$picture['file']
	);
	update_post_meta( $id, '_wp_attachment_image_alt', wp_slash( $picture['alt'] ) );
	update_post_meta( $id, 'newsroom_credit', wp_slash( $picture['credit'] ) );
	wp_update_attachment_metadata(
		$id,
		array(
			'width'    => $picture['width'],
			'height'   => $picture['height'],
			'file'     => $picture['file'],
			'filesize' => $picture['bytes'],
			'sizes'    => array(),
		)
	);
	return $id;
}

/** Registers a recording of uploads/ as an attachment. */
function sandbox_attach_recording( $recording, $title, $parent, $dates ) {
	$id = sandbox_must(
		wp_insert_attachment(
			wp_slash(
				array(
					'post_title'     => $title,
					'post_mime_type' => $recording['type'],
					'post_date'      => $dates[0],
					'post_date_gmt'  => $dates[1],
				)
			),
			$recording['file'],
			$parent,
			true
		),
		$recording['file']
	);
	wp_update_attachment_metadata(
		$id,
		array(
			'dataformat'       => 'wav',
			'mime_type'        => $recording['type'],
			'filesize'         => $recording['bytes'],
			'length'           => $recording['seconds'],
			'length_formatted' => sprintf( '%d:%02d', intdiv( $recording['seconds'], 60 ), $recording['seconds'] % 60 ),
		)
	);
	return $id;
}

/** Writes a comment and its replies. */
function sandbox_comment( $comment, $post, $parent, $now ) {
	$dates = sandbox_dates( $comment['hours'], $now );
	$id    = sandbox_must(
		wp_insert_comment(
			wp_slash(
				array(
					'comment_post_ID'      => $post,
					'comment_parent'       => $parent,
					'comment_author'       => $comment['name'],
					'comment_author_email' => $comment['email'],
					'comment_content'      => $comment['text'],
					'comment_date'         => $dates[0],
					'comment_date_gmt'     => $dates[1],
					'comment_approved'     => empty( $comment['held'] ) ? 1 : 0,
					'comment_type'         => 'comment',
				)
			)
		),
		'comment by ' . $comment['name']
	);
	foreach ( isset( $comment['replies'] ) ? $comment['replies'] : array() as $reply ) {
		sandbox_comment( $reply, $post, $id, $now );
	}
}

$now = $input['now'];
$wpdb->query( 'START TRANSACTION' );
try {
	$ids      = array();
	$sections = array();
	foreach ( get_terms( array( 'taxonomy' => 'category', 'hide_empty' => false ) ) as $term ) {
		$sections[ $term->slug ] = $term->term_id;
	}

	foreach ( $input['documents'] as $document ) {
		$name  = $document['type'] . '/' . $document['slug'];
		$dates = sandbox_dates( $document['hours'], $now, isset( $document['date'] ) ? $document['date'] : null );
		$terms = array();
		foreach ( $document['sections'] as $section ) {
			$terms[] = $sections[ $section ];
		}
		$meta = $document['meta'];
		if ( $document['author'] ) {
			$meta['newsroom_author'] = $ids[ 'authors/' . $document['author'] ];
		}
		foreach ( array( 'authors', 'contributors' ) as $list ) {
			foreach ( isset( $document[ $list ] ) ? $document[ $list ] : array() as $author ) {
				$meta[ 'newsroom_' . $list ][] = $ids[ 'authors/' . $author ];
			}
		}
		if ( ! empty( $meta['newsroom_authors'] ) ) {
			array_unshift( $meta['newsroom_authors'], $meta['newsroom_author'] );
		}
		if ( ! empty( $document['story'] ) ) {
			$meta['newsroom_story'] = $ids[ 'articles/' . $document['story'] ];
		}
		foreach ( isset( $document['corrections'] ) ? $document['corrections'] : array() as $note ) {
			$meta['newsroom_corrections'][] = array(
				'kind' => $note['kind'],
				'date' => gmdate( 'Y-m-d\TH:i:s\Z', (int) round( $now - $note['hours'] * 3600 ) ),
				'text' => $note['text'],
			);
		}
		if ( $terms ) {
			$meta['_yoast_wpseo_primary_category'] = $terms[0];
		}
		$post = array(
			'post_type'      => $document['type'],
			'post_name'      => $document['slug'],
			'post_status'    => $document['status'],
			'post_title'     => $document['title'],
			'post_content'   => $document['content'],
			'post_excerpt'   => $document['excerpt'],
			'post_password'  => isset( $document['password'] ) ? $document['password'] : '',
			'post_author'    => 1,
			'post_date'      => $dates[0],
			'post_date_gmt'  => $dates[1],
			'comment_status' => in_array( $document['type'], array( 'articles', 'video' ), true ) ? 'open' : 'closed',
			'ping_status'    => 'closed',
		);
		if ( $terms ) {
			$post['post_category'] = $terms;
		}
		$id           = sandbox_must( wp_insert_post( wp_slash( $post ), true ), $name );
		$ids[ $name ] = $id;
		if ( isset( $meta['newsroom_live'] ) ) {
			// Set before the state, whose start would otherwise be now.
			$meta = array( 'newsroom_live_started' => gmdate( 'Y-m-d\TH:i:s\Z', strtotime( $dates[1] . ' UTC' ) ) ) + $meta;
		}
		foreach ( $meta as $key => $value ) {
			update_post_meta( $id, $key, wp_slash( $value ) );
		}
		if ( $document['recording'] ) {
			update_post_meta( $id, 'newsroom_audio', sandbox_attach_recording( $document['recording'], $document['meta']['newsroom_episode_title'], $id, $dates ) );
			update_post_meta( $id, 'newsroom_series', $document['sound']['series'] ? $ids[ 'podcasts/' . $document['sound']['series'] ] : 0 );
		}
		if ( $document['picture'] ) {
			set_post_thumbnail( $id, sandbox_attach( $document['picture'], $id, $dates ) );
		}
	}

	$top = $input['topStories'];
	$id  = sandbox_must(
		wp_insert_post(
			array(
				'post_type'    => 'page',
				'post_name'    => 'top-stories-2',
				'post_status'  => 'publish',
				'post_title'   => 'Top Stories',
				'post_content' => '',
				'post_author'  => 1,
			),
			true
		),
		'top-stories-2'
	);
	$lead = array();
	foreach ( $top['articles'] as $slug ) {
		$lead[] = $ids[ 'articles/' . $slug ];
	}
	update_post_meta( $id, 'newsroom_top_articles', $lead );
	update_post_meta( $id, 'newsroom_breaking', $top['breaking'] ? '1' : '0' );
	update_post_meta( $id, 'newsroom_bulleted', $top['bulleted'] ? '1' : '0' );
	update_post_meta( $id, 'newsroom_featured_excerpt', wp_slash( $top['excerpt'] ) );

	foreach ( $input['fronts'] as $front ) {
		$slots = array();
		foreach ( $front['slots'] as $slot ) {
			$slot['story'] = $ids[ 'articles/' . $slot['story'] ];
			foreach ( isset( $slot['related'] ) ? $slot['related'] : array() as $at => $link ) {
				$slot['related'][ $at ]['story'] = isset( $link['story'] ) ? $ids[ 'articles/' . $link['story'] ] : 0;
			}
			$slots[] = $slot;
		}
		$page  = 'section-' . $sections[ $front['section'] ];
		$slots = sandbox_must( newsroom_clean_slots( $slots ), $page );
		sandbox_must( newsroom_insert_front( $page, 'published', $slots, $now ), $page );
		sandbox_must( newsroom_announce_front( $page ), $page );
	}

	foreach ( $input['comments'] as $comment ) {
		if ( empty( $ids[ 'articles/' . $comment['article'] ] ) ) {
			throw new RuntimeException( 'comments.json: no article "' . $comment['article'] . '"' );
		}
		sandbox_comment( $comment, $ids[ 'articles/' . $comment['article'] ], 0, $now );
	}

	$menu = sandbox_must( wp_create_nav_menu( 'Footer' ), 'menu' );
	foreach ( $input['footer'] as $place => $item ) {
		sandbox_must(
			wp_update_nav_menu_item(
				$menu,
				0,
				array(
					'menu-item-title'    => $item['title'],
					'menu-item-url'      => $item['path'],
					'menu-item-status'   => 'publish',
					'menu-item-position' => $place + 1,
				)
			),
			$item['title']
		);
	}
	set_theme_mod( 'nav_menu_locations', array( 'footer' => $menu ) );

	wp_defer_term_counting( false );
	wp_defer_comment_counting( false );
	// Records the plugin's pending changes within the transaction, not at the end of the request; and no story of the edition
	// was revised after it was published.
	if ( function_exists( 'newsroom_flush_changes' ) ) {
		newsroom_flush_changes();
	}
	$wpdb->query( "UPDATE {$wpdb->posts} SET post_modified = post_date, post_modified_gmt = post_date_gmt WHERE post_status IN ( 'publish', 'inherit' )" );
	update_option( 'sandbox_edition', $now );
	$wpdb->query( 'COMMIT' );
	echo count( $ids );
} catch ( Throwable $problem ) {
	$wpdb->query( 'ROLLBACK' );
	throw $problem;
}

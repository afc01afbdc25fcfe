<?php
/**
 * Turns an ordinary WordPress into a newsroom: posts become articles, categories sections, users authors, permalinks former addresses.
 *
 * The command and the screen call the same functions. A run consists of steps of some seconds; after an interruption the next step
 * continues. Progress isn't stored as a counter but read from the database: a post of the type `post` still has to be adopted, and a row
 * of the journal still has to be reverted.
 *
 * @package Newsroom
 */

if ( ! defined( 'ABSPATH' ) ) {
	exit;
}

/**
 * The state of the adoption.
 *
 * @return array `task`: '' (never run, or put back), `adopt`, `undo`, `done`; `phase`; `total`: posts of the task; `left`: of them to do;
 *               `adopted`: posts in the journal.
 */
function newsroom_adoption() {
	global $wpdb;
	$kept  = get_option( 'newsroom_adoption', array() );
	$state = array(
		'task'    => $kept['task'] ?? '',
		'phase'   => $kept['phase'] ?? '',
		'total'   => isset( $kept['total'] ) ? (int) $kept['total'] : 0,
		'adopted' => newsroom_journal_count( 'post' ),
	);
	$state['posts'] = (int) $wpdb->get_var( "SELECT COUNT(*) FROM {$wpdb->posts} WHERE " . newsroom_adoptable() ); // phpcs:ignore WordPress.DB
	$state['left']  = 'undo' === $state['task'] ? $state['adopted'] : $state['posts'];
	$state['total'] = max( $state['total'], $state['left'] );
	return $state;
}

/**
 * Stores the state of the adoption.
 *
 * @param string $task  Task.
 * @param string $phase Phase.
 * @param int    $total Posts of the task.
 */
function newsroom_store_adoption( $task, $phase, $total ) {
	update_option( 'newsroom_adoption', compact( 'task', 'phase', 'total' ), false );
}

/**
 * Works on a task for some seconds: starts or continues it.
 *
 * @param string        $task     `adopt` or `undo`.
 * @param float         $seconds  How long.
 * @param callable|null $progress Called with newsroom_adoption() after each batch.
 * @return array|WP_Error Where the adoption stands; an error when another run is at work or the database refused a change.
 */
function newsroom_adopt( $task, $seconds, $progress = null ) {
	try {
		$token = newsroom_adopt_lock();
	} catch ( Exception $error ) {
		return new WP_Error( 'newsroom_adopt_failed', $error->getMessage() );
	}
	if ( is_wp_error( $token ) ) {
		return $token;
	}
	// No webhooks during the run: at its end the site reads everything again, so single deliveries would be superfluous.
	add_filter( 'newsroom_webhooks_enabled', '__return_false', 999 );
	add_filter( 'newsroom_touch_modified', '__return_false', 999 );
	$ended = false;
	try {
		newsroom_create_journal();
		$ended = newsroom_adopt_phases( $task, microtime( true ) + $seconds, $token, $progress );
	} catch ( Exception $error ) {
		$failed = new WP_Error( 'newsroom_adopt_failed', $error->getMessage() );
	} finally {
		newsroom_changes( null, true );
		newsroom_touched( null, true );
		remove_filter( 'newsroom_webhooks_enabled', '__return_false', 999 );
		remove_filter( 'newsroom_touch_modified', '__return_false', 999 );
		newsroom_adopt_unlock( $token );
	}
	if ( $ended ) {
		newsroom_announce_adoption();
	}
	return $failed ?? newsroom_adoption();
}

/**
 * Phases of a task, in their order.
 *
 * @param string $task Task.
 * @return string[]
 */
function newsroom_adopt_phase_names( $task ) {
	return 'undo' === $task ? array( 'posts', 'counts', 'authors', 'sections' ) : array( 'sections', 'authors', 'posts', 'counts' );
}

/**
 * Works through the phases until the time is up.
 *
 * @param string        $task     Task.
 * @param float         $until    Time at which to stop, seconds.
 * @param string        $token    The run's token.
 * @param callable|null $progress See newsroom_adopt().
 * @return bool Whether the task has ended.
 */
function newsroom_adopt_phases( $task, $until, $token, $progress ) {
	$state  = newsroom_adoption();
	$phases = newsroom_adopt_phase_names( $task );
	$at     = $task === $state['task'] ? array_search( $state['phase'], $phases, true ) : false;
	$total  = $state['total'];
	if ( false === $at ) {
		$at    = 0;
		$total = 'undo' === $task ? $state['adopted'] : $state['posts'];
		newsroom_store_adoption( $task, $phases[0], $total );
	}
	for ( ; $at < count( $phases ); $at++ ) {
		newsroom_store_adoption( $task, $phases[ $at ], $total );
		if ( ! newsroom_adopt_phase( $task, $phases[ $at ], $until, $token, $progress ) ) {
			return false;
		}
	}
	if ( 'undo' === $task ) {
		delete_option( 'newsroom_adoption' );
		delete_option( 'newsroom_adopt_check' );
		newsroom_write( 'DROP TABLE ' . newsroom_journal_table() );
	} else {
		newsroom_store_adoption( 'done', '', $total );
	}
	return true;
}

/**
 * Works on one phase until the time is up.
 *
 * @param string        $task     Task.
 * @param string        $phase    Phase.
 * @param float         $until    Time at which to stop, seconds.
 * @param string        $token    The run's token.
 * @param callable|null $progress See newsroom_adopt().
 * @return bool Whether the phase has ended.
 */
function newsroom_adopt_phase( $task, $phase, $until, $token, $progress ) {
	$undo = 'undo' === $task;
	switch ( $phase ) {
		case 'sections':
			newsroom_in_batch( $token, $undo ? 'newsroom_restore_sections' : 'newsroom_adopt_sections' );
			return true;
		case 'authors':
			return $undo ? newsroom_restore_authors( $until, $token ) : newsroom_adopt_authors( $until, $token );
		case 'counts':
			newsroom_adopt_renew( $token );
			newsroom_recount_sections();
			return true;
	}
	$plan = $undo ? null : newsroom_adopt_plan();
	// Each step does at least one batch, however long the ones before it took.
	do {
		$count = $undo ? newsroom_restore_posts( $token ) : newsroom_adopt_posts( $plan, $token );
		if ( $progress && $count ) {
			$progress( newsroom_adoption() );
		}
	} while ( $count && microtime( true ) <= $until );
	return ! $count;
}

/**
 * Recounts the posts of the sections, because posts of their subcategories were added or removed.
 */
function newsroom_recount_sections() {
	$ids = array();
	foreach ( newsroom_adopt_categories() as $id => $term ) {
		$settings = newsroom_section_settings( $id );
		if ( null !== $settings['navigation_position'] ) {
			$ids[] = $term->term_taxonomy_id;
		}
	}
	if ( $ids ) {
		wp_update_term_count_now( $ids, 'category' );
	}
}

/**
 * Notifies the site of the sections with a single change, and of authors that existed before and now have a former address. The site finds
 * the articles and the new authors itself, by comparing its copy with WordPress.
 */
function newsroom_announce_adoption() {
	$first = current( newsroom_adopt_categories() );
	if ( $first ) {
		newsroom_changes( newsroom_payload( 'term', 'categories', $first->term_id, $first->slug, 'publish' ) );
	}
	foreach ( newsroom_has_journal() ? newsroom_journal_rows( 'author' ) : array() as $row ) {
		$author = isset( $row->became['old_slug'] ) ? get_post( $row->became['id'] ) : null;
		if ( $author && newsroom_is_visible( $author ) ) {
			newsroom_note_change( $author, 'update' );
		}
	}
}

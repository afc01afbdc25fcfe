<?php
/**
 * Adopting: which categories become sections, and to which section each category leads.
 *
 * Sections have no parents. The categories of the first level become sections; a post that is only in a category below one is also put
 * into the section above it, so that it shows there.
 *
 * @package Newsroom
 */

if ( ! defined( 'ABSPATH' ) ) {
	exit;
}

/**
 * All categories.
 *
 * @return WP_Term[] By id.
 */
function newsroom_adopt_categories() {
	$terms = get_terms(
		array(
			'taxonomy'   => 'category',
			'hide_empty' => false,
			'orderby'    => 'id',
		)
	);
	$by_id = array();
	foreach ( is_array( $terms ) ? $terms : array() as $term ) {
		$by_id[ $term->term_id ] = $term;
	}
	return $by_id;
}

/**
 * Whether a category is WordPress's default category for posts without one.
 *
 * @param WP_Term $term Category.
 * @return bool
 */
function newsroom_is_uncategorized( $term ) {
	if ( 'uncategorized' === $term->slug ) {
		return true;
	}
	$name = _x( 'Uncategorized', 'Default category slug', 'default' );
	return (int) get_option( 'default_category' ) === $term->term_id && in_array( $term->slug, array( sanitize_title( $name ), sanitize_title( __( 'Uncategorized', 'default' ) ) ), true );
}

/**
 * A category's name in the form in which names are compared.
 *
 * @param string $name Name.
 * @return string
 */
function newsroom_compared_name( $name ) {
	$name = newsroom_plain( $name );
	return function_exists( 'mb_strtolower' ) ? mb_strtolower( $name, 'UTF-8' ) : strtolower( $name );
}

/**
 * Number of published posts to adopt in each category, including its subcategories.
 *
 * @param WP_Term[] $categories By id.
 * @return array<int,int> Posts by category.
 */
function newsroom_adopt_category_counts( $categories ) {
	global $wpdb;
	$rows   = $wpdb->get_results( "SELECT tt.term_id AS term_id, COUNT(*) AS posts FROM {$wpdb->term_taxonomy} tt JOIN {$wpdb->term_relationships} tr ON tr.term_taxonomy_id = tt.term_taxonomy_id JOIN {$wpdb->posts} p ON p.ID = tr.object_id WHERE tt.taxonomy = 'category' AND p.post_status = 'publish' AND " . newsroom_adoptable( 'p' ) . ' GROUP BY tt.term_id' ); // phpcs:ignore WordPress.DB
	$counts = array();
	foreach ( $rows as $row ) {
		foreach ( newsroom_category_and_ancestors( (int) $row->term_id, $categories ) as $id ) {
			$counts[ $id ] = ( $counts[ $id ] ?? 0 ) + (int) $row->posts;
		}
	}
	return $counts;
}

/**
 * A category and its ancestors, itself first.
 *
 * @param int       $id         Category.
 * @param WP_Term[] $categories By id.
 * @return int[]
 */
function newsroom_category_and_ancestors( $id, $categories ) {
	$line = array();
	// Guards against a category that is its own ancestor, which faulty imports are known to create.
	while ( isset( $categories[ $id ] ) && ! in_array( $id, $line, true ) ) {
		$line[] = $id;
		$id     = $categories[ $id ]->parent;
	}
	return $line;
}

/**
 * Categories in the order in which the theme's menus name them.
 *
 * @return int[]
 */
function newsroom_adopt_menu_order() {
	$ids = array();
	foreach ( get_nav_menu_locations() as $menu ) {
		$items = $menu ? wp_get_nav_menu_items( $menu ) : false;
		foreach ( is_array( $items ) ? $items : array() as $item ) {
			if ( 'taxonomy' === $item->type && 'category' === $item->object ) {
				$ids[] = (int) $item->object_id;
			}
		}
	}
	return array_values( array_unique( $ids ) );
}

/**
 * The plan for the categories.
 *
 * @return array `sections`: categories that become sections => place in the navigation; `joined`: categories whose name an existing
 *               section has => that section; `leads`: every category => its section, where it has one.
 */
function newsroom_adopt_plan() {
	$categories = newsroom_adopt_categories();
	$places     = array();
	$names      = array();
	foreach ( $categories as $id => $term ) {
		$settings = newsroom_section_settings( $id );
		if ( null !== $settings['navigation_position'] ) {
			$places[ $id ] = $settings['navigation_position'];
			// A section's name takes precedence over another section's label.
			$names += array( newsroom_compared_name( $settings['label'] ) => $id );
			$names  = array( newsroom_compared_name( $term->name ) => $id ) + $names;
		}
	}
	$first = newsroom_adopt_first_level( $categories, $places );
	$next  = $places ? max( $places ) + 1 : 1;
	$plan  = array(
		'sections' => array(),
		'joined'   => array(),
		'leads'    => array(),
	);
	foreach ( newsroom_adopt_candidates( $categories, $first ) as $id ) {
		$name = newsroom_compared_name( $categories[ $id ]->name );
		if ( ! isset( $names[ $name ] ) ) {
			$names[ $name ]          = $id;
			$plan['sections'][ $id ] = $next++;
		}
	}
	foreach ( $first as $id ) {
		$name = newsroom_compared_name( $categories[ $id ]->name );
		if ( isset( $names[ $name ] ) && $names[ $name ] !== $id ) {
			$plan['joined'][ $id ] = $names[ $name ];
		}
	}
	foreach ( array_keys( $categories ) as $id ) {
		foreach ( newsroom_category_and_ancestors( $id, $categories ) as $above ) {
			if ( isset( $plan['joined'][ $above ] ) ) {
				$plan['leads'][ $id ] = $plan['joined'][ $above ];
				break;
			}
			if ( isset( $places[ $above ] ) || isset( $plan['sections'][ $above ] ) ) {
				$plan['leads'][ $id ] = $above;
				break;
			}
		}
	}
	return $plan;
}

/**
 * Top-level categories that aren't sections.
 *
 * @param WP_Term[] $categories By id.
 * @param int[]     $places     Sections that there are, as keys.
 * @return int[]
 */
function newsroom_adopt_first_level( $categories, $places ) {
	$known = array();
	foreach ( newsroom_has_journal() ? newsroom_journal_rows( 'termmeta' ) : array() as $row ) {
		$known[ $row->object_id ] = true;
	}
	$ids = array();
	foreach ( $categories as $id => $term ) {
		// A section that an earlier run created and an editor has removed from the navigation stays out of it.
		if ( ( ! $term->parent || ! isset( $categories[ $term->parent ] ) ) && ! isset( $places[ $id ] ) && ! isset( $known[ $id ] ) && ! newsroom_is_uncategorized( $term ) ) {
			$ids[] = $id;
		}
	}
	return $ids;
}

/**
 * Categories that may become sections, in their order: those with published posts, in the order of the theme's menus, then those with the
 * most posts first.
 *
 * @param WP_Term[] $categories By id.
 * @param int[]     $first      See newsroom_adopt_first_level().
 * @return int[]
 */
function newsroom_adopt_candidates( $categories, $first ) {
	$counts = newsroom_adopt_category_counts( $categories );
	$menu   = array_flip( newsroom_adopt_menu_order() );
	$ids    = array_values( array_intersect( $first, array_keys( $counts ) ) );
	usort(
		$ids,
		static function ( $a, $b ) use ( $menu, $counts ) {
			$place = static fn( $id ) => $menu[ $id ] ?? PHP_INT_MAX;
			return array( $place( $a ), -$counts[ $a ], $a ) <=> array( $place( $b ), -$counts[ $b ], $b );
		}
	);
	/**
	 * Filters which categories become sections, and in which order.
	 *
	 * @param int[] $ids Categories.
	 */
	return array_values( array_intersect( array_map( 'intval', (array) apply_filters( 'newsroom_adopt_sections', $ids ) ), $first ) );
}

/**
 * Makes the categories sections.
 */
function newsroom_adopt_sections() {
	$plan = newsroom_adopt_plan();
	$rows = array();
	foreach ( $plan['sections'] as $id => $place ) {
		$values = array(
			'newsroom_navigation_position' => (string) $place,
			'newsroom_home_count'          => $place <= 10 ? '4' : '0',
		);
		foreach ( $values as $key => $value ) {
			$rows[] = array( 'new-termmeta', $id, $key, get_term_meta( $id, $key ), $value );
		}
	}
	newsroom_journal( $rows );
	// Includes sections of a run that was interrupted here.
	foreach ( newsroom_journal_rows( 'new-termmeta' ) as $row ) {
		update_term_meta( $row->object_id, $row->name, $row->became );
	}
	newsroom_write( 'UPDATE ' . newsroom_journal_table() . " SET kind = 'termmeta' WHERE kind = 'new-termmeta'" );
}

/**
 * Turns the sections back into categories, except those whose settings an editor has changed since.
 */
function newsroom_restore_sections() {
	foreach ( array_merge( newsroom_journal_rows( 'termmeta' ), newsroom_journal_rows( 'new-termmeta' ) ) as $row ) {
		if ( (string) get_term_meta( $row->object_id, $row->name, true ) === (string) $row->became ) {
			delete_term_meta( $row->object_id, $row->name );
			foreach ( $row->was as $value ) {
				add_term_meta( $row->object_id, $row->name, wp_slash( $value ) );
			}
		}
		newsroom_journal_forget( array( $row->id ) );
	}
}

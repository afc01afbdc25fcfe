<?php
/**
 * Slots of a front: cleaning them, and describing how two fronts differ.
 *
 * @package Newsroom
 */

if ( ! defined( 'ABSPATH' ) ) {
	exit;
}

/**
 * Most slots of a front, headlines of a package, rows after which a package may be placed, and characters of a headline. The site has the
 * same limits.
 */
define( 'NEWSROOM_FRONT_SLOTS', 60 );
define( 'NEWSROOM_FRONT_RELATED', 12 );
define( 'NEWSROOM_FRONT_ROWS', 20 );
define( 'NEWSROOM_FRONT_HEADLINE', 200 );

/**
 * Kinds of slots with their labels for editors.
 *
 * @return array<string,string>
 */
function newsroom_front_kinds() {
	return array(
		'lead'    => __( 'Lead', 'newsroom' ),
		'second'  => __( 'Second', 'newsroom' ),
		'package' => __( 'Package', 'newsroom' ),
	);
}

/**
 * Creates the error for an invalid input.
 *
 * @param string $message Why.
 * @return WP_Error
 */
function newsroom_front_refusal( $message ) {
	return new WP_Error( 'newsroom_front_invalid', $message, array( 'status' => 400 ) );
}

/**
 * Cleans slots.
 *
 * @param mixed $given What came.
 * @return array[]|WP_Error
 */
function newsroom_clean_slots( $given ) {
	if ( ! is_array( $given ) || array_values( $given ) !== $given ) {
		return newsroom_front_refusal( __( 'This isn’t a list of slots.', 'newsroom' ) );
	}
	if ( count( $given ) > NEWSROOM_FRONT_SLOTS ) {
		/* translators: %s: number of slots. */
		return newsroom_front_refusal( sprintf( __( 'A front can have up to %s stories.', 'newsroom' ), number_format_i18n( NEWSROOM_FRONT_SLOTS ) ) );
	}
	$slots = array();
	foreach ( $given as $each ) {
		$slot = newsroom_clean_slot( $each );
		if ( is_wp_error( $slot ) ) {
			return $slot;
		}
		$slots[] = $slot;
	}
	return $slots;
}

/**
 * Cleans one slot.
 *
 * @param mixed $given What came.
 * @return array|WP_Error
 */
function newsroom_clean_slot( $given ) {
	$story = is_array( $given ) && isset( $given['story'] ) && is_int( $given['story'] ) ? $given['story'] : 0;
	$kind  = is_array( $given ) && isset( $given['kind'] ) && is_string( $given['kind'] ) ? $given['kind'] : '';
	if ( $story < 1 || ! array_key_exists( $kind, newsroom_front_kinds() ) ) {
		return newsroom_front_refusal( __( 'A slot needs a kind and a story.', 'newsroom' ) );
	}
	$picture  = isset( $given['picture'] ) && is_int( $given['picture'] ) && wp_attachment_is_image( $given['picture'] ) ? $given['picture'] : 0;
	$headline = newsroom_clean_headline( $given['headline'] ?? '' );
	$from     = newsroom_clean_local_time( $given['from'] ?? '' );
	$until    = newsroom_clean_local_time( $given['until'] ?? '' );
	$related  = 'package' === $kind && isset( $given['related'] ) ? newsroom_clean_related( $given['related'] ) : array();
	$after    = 'package' === $kind ? newsroom_clean_place( $given['after'] ?? '' ) : '';
	foreach ( array( $headline, $from, $until, $related, $after ) as $part ) {
		if ( is_wp_error( $part ) ) {
			return $part;
		}
	}
	if ( '' !== $from && '' !== $until && $from >= $until ) {
		/* translators: %s: headline. */
		return newsroom_front_refusal( sprintf( __( '“%s” ends before it begins. Change its times.', 'newsroom' ), newsroom_front_title( $story, $headline ) ) );
	}
	return array(
		'id'       => isset( $given['id'] ) && is_string( $given['id'] ) && preg_match( '/^[\w-]{1,40}$/D', $given['id'] ) ? $given['id'] : wp_generate_uuid4(),
		'kind'     => $kind,
		'story'    => $story,
		'headline' => $headline,
		'picture'  => $picture,
		'from'     => $from,
		'until'    => $until,
		'related'  => $related,
		'after'    => $after,
	);
}

/**
 * Cleans the place of a package: what it comes after.
 *
 * @param mixed $given What came; '' for the usual place, after the seconds.
 * @return string|WP_Error `start`, `lead`, `seconds`, or `row-3` for the third automatic row.
 */
function newsroom_clean_place( $given ) {
	if ( '' === $given || null === $given ) {
		return 'seconds';
	}
	$row = is_string( $given ) && preg_match( '/^row-([1-9]\d?)$/D', $given, $found ) ? (int) $found[1] : 0;
	if ( ! in_array( $given, array( 'start', 'lead', 'seconds' ), true ) && ( $row < 1 || $row > NEWSROOM_FRONT_ROWS ) ) {
		return newsroom_front_refusal( __( 'A package can go before the lead, after the lead, after the seconds or after a row.', 'newsroom' ) );
	}
	return $given;
}

/**
 * Adds the usual place to a package from before packages had places.
 *
 * @param array $slot Slot.
 * @return array
 */
function newsroom_slot_with_place( $slot ) {
	return $slot + array( 'after' => 'package' === $slot['kind'] ? 'seconds' : '' );
}

/**
 * Place of a package, in words.
 *
 * @param string $after Place.
 * @return string
 */
function newsroom_place_words( $after ) {
	$words = array(
		'start'   => __( 'before the lead', 'newsroom' ),
		'lead'    => __( 'between the lead and the seconds', 'newsroom' ),
		'seconds' => __( 'after the seconds', 'newsroom' ),
	);
	/* translators: %s: number of a row. */
	return $words[ $after ] ?? sprintf( __( 'after automatic row %s', 'newsroom' ), substr( $after, 4 ) );
}

/**
 * Cleans a headline: one line of plain text.
 *
 * @param mixed $given What came.
 * @return string|WP_Error
 */
function newsroom_clean_headline( $given ) {
	$line = is_string( $given ) ? newsroom_one_line( $given ) : '';
	if ( mb_strlen( $line ) > NEWSROOM_FRONT_HEADLINE ) {
		/* translators: %s: number of characters. */
		return newsroom_front_refusal( sprintf( __( 'This headline is too long. Shorten it to %s characters.', 'newsroom' ), number_format_i18n( NEWSROOM_FRONT_HEADLINE ) ) );
	}
	return $line;
}

/**
 * Cleans a time in WordPress's zone.
 *
 * @param mixed $given What came.
 * @return string|WP_Error `2026-11-25T13:00`, or ''.
 */
function newsroom_clean_local_time( $given ) {
	if ( '' === $given || null === $given ) {
		return '';
	}
	if ( ! is_string( $given ) || ! preg_match( '/^(2\d{3})-(\d\d)-(\d\d)T(?:[01]\d|2[0-3]):[0-5]\d$/D', $given, $part ) || ! checkdate( (int) $part[2], (int) $part[3], (int) $part[1] ) ) {
		return newsroom_front_refusal( __( 'This isn’t a date and time.', 'newsroom' ) );
	}
	return $given;
}

/**
 * Cleans the headlines of a package.
 *
 * @param mixed $given What came.
 * @return array[]|WP_Error Each: `story` (0 for an address), `url`, `title`.
 */
function newsroom_clean_related( $given ) {
	$links = array();
	foreach ( is_array( $given ) ? $given : array() as $each ) {
		$story = is_array( $each ) && isset( $each['story'] ) && is_int( $each['story'] ) ? max( 0, $each['story'] ) : 0;
		$title = newsroom_clean_headline( is_array( $each ) && isset( $each['title'] ) ? $each['title'] : '' );
		$typed = is_array( $each ) && isset( $each['url'] ) && is_string( $each['url'] ) ? trim( $each['url'] ) : '';
		if ( is_wp_error( $title ) ) {
			return $title;
		}
		if ( ! $story && '' === $typed ) {
			continue;
		}
		$url = $story ? '' : esc_url_raw( $typed, array( 'http', 'https' ) );
		if ( ! $story && ( '' === $url || ! preg_match( '#^(?:https?://[^/]|/(?!/))#i', $url ) ) ) {
			/* translators: %s: what was entered. */
			return newsroom_front_refusal( sprintf( __( 'This isn’t a web address: %s', 'newsroom' ), mb_substr( $typed, 0, 100 ) ) );
		}
		if ( ! $story && '' === $title ) {
			return newsroom_front_refusal( __( 'A link to a web address needs text.', 'newsroom' ) );
		}
		$links[] = compact( 'story', 'url', 'title' );
	}
	if ( count( $links ) > NEWSROOM_FRONT_RELATED ) {
		/* translators: %s: number of headlines. */
		return newsroom_front_refusal( sprintf( __( 'A package can have up to %s related headlines.', 'newsroom' ), number_format_i18n( NEWSROOM_FRONT_RELATED ) ) );
	}
	return $links;
}

/**
 * Headline of a slot.
 *
 * @param int    $story    Story.
 * @param string $headline Headline for its place, or ''.
 * @return string
 */
function newsroom_front_title( $story, $headline = '' ) {
	$title = '' === $headline ? newsroom_plain( get_post_field( 'post_title', $story, 'raw' ) ) : $headline;
	/* translators: %d: id. */
	return '' === $title ? sprintf( __( 'Story %d (deleted)', 'newsroom' ), $story ) : $title;
}

/**
 * How a front differs from another one, in words.
 *
 * @param array[] $from Slots before.
 * @param array[] $to   Slots after.
 * @return string[] Empty when nothing does.
 */
function newsroom_front_differences( $from, $to ) {
	$before = array_column( $from, null, 'story' );
	$after  = array_column( $to, null, 'story' );
	$words  = array();
	foreach ( array_diff_key( $before, $after ) as $slot ) {
		/* translators: %s: headline. */
		$words[] = sprintf( __( '“%s” was removed.', 'newsroom' ), newsroom_front_title( $slot['story'], $slot['headline'] ) );
	}
	$moved  = newsroom_front_moved( array_keys( $before ), array_keys( $after ) );
	$places = array_flip( array_keys( $after ) );
	$former = array_flip( array_keys( $before ) );
	foreach ( $after as $story => $slot ) {
		$title = newsroom_front_title( $story, $slot['headline'] );
		if ( ! isset( $before[ $story ] ) ) {
			/* translators: 1: headline, 2: kind of slot, 3: place. */
			$words[] = sprintf( __( '“%1$s” was added (%2$s, place %3$d).', 'newsroom' ), $title, newsroom_front_kinds()[ $slot['kind'] ], $places[ $story ] + 1 );
			continue;
		}
		if ( isset( $moved[ $story ] ) ) {
			/* translators: 1: headline, 2: place before, 3: place now. */
			$words[] = sprintf( __( '“%1$s” moved from place %2$d to place %3$d.', 'newsroom' ), $title, $former[ $story ] + 1, $places[ $story ] + 1 );
		}
		$words = array_merge( $words, newsroom_slot_differences( $title, $before[ $story ], $slot ) );
	}
	return $words;
}

/**
 * How a slot differs, in words.
 *
 * @param string $title  Headline now.
 * @param array  $before Slot before.
 * @param array  $after  Slot now.
 * @return string[]
 */
function newsroom_slot_differences( $title, $before, $after ) {
	$words = array();
	$kinds = newsroom_front_kinds();
	if ( $before['kind'] !== $after['kind'] ) {
		/* translators: 1: headline, 2: kind of slot before, 3: kind now. */
		$words[] = sprintf( __( '“%1$s” changed from %2$s to %3$s.', 'newsroom' ), $title, $kinds[ $before['kind'] ], $kinds[ $after['kind'] ] );
	}
	if ( $before['headline'] !== $after['headline'] ) {
		/* translators: 1: headline before, 2: headline now. */
		$words[] = sprintf( __( 'The headline “%1$s” is now “%2$s”.', 'newsroom' ), newsroom_front_title( $before['story'], $before['headline'] ), $title );
	}
	if ( $before['picture'] !== $after['picture'] ) {
		/* translators: %s: headline. */
		$words[] = sprintf( __( '“%s” has a different picture.', 'newsroom' ), $title );
	}
	if ( $before['from'] !== $after['from'] || $before['until'] !== $after['until'] ) {
		/* translators: 1: headline, 2: a time or "–", 3: a time or "–". */
		$words[] = sprintf( __( '“%1$s” is pinned from %2$s until %3$s.', 'newsroom' ), $title, newsroom_front_time_words( $after['from'] ), newsroom_front_time_words( $after['until'] ) );
	}
	if ( $before['after'] !== $after['after'] && '' !== $after['after'] ) {
		/* translators: 1: headline, 2: place of a package, such as "before the lead". */
		$words[] = sprintf( __( '“%1$s” is now %2$s.', 'newsroom' ), $title, newsroom_place_words( $after['after'] ) );
	}
	if ( $before['related'] !== $after['related'] ) {
		/* translators: %s: headline. */
		$words[] = sprintf( __( '“%s” has different related headlines.', 'newsroom' ), $title );
	}
	return $words;
}

/**
 * A time in WordPress's zone, in words.
 *
 * @param string $local Time, or ''.
 * @return string
 */
function newsroom_front_time_words( $local ) {
	$time = '' === $local ? false : date_create_immutable( $local, wp_timezone() );
	return $time ? newsroom_time_words( $time->getTimestamp() ) : '–';
}

/**
 * Which of the stories in both lists have moved: the fewest that explain the new order.
 *
 * @param int[] $before Stories before.
 * @param int[] $after  Stories now.
 * @return array<int,true>
 */
function newsroom_front_moved( $before, $after ) {
	$place = array_flip( array_values( array_intersect( $before, $after ) ) );
	$order = array_values( array_intersect( $after, $before ) );
	$best  = array();
	$from  = array();
	$end   = -1;
	// Finds the longest subsequence that is still in its original order.
	foreach ( $order as $at => $story ) {
		$best[ $at ] = 1;
		$from[ $at ] = -1;
		for ( $earlier = 0; $earlier < $at; $earlier++ ) {
			if ( $place[ $order[ $earlier ] ] < $place[ $story ] && $best[ $earlier ] + 1 > $best[ $at ] ) {
				$best[ $at ] = $best[ $earlier ] + 1;
				$from[ $at ] = $earlier;
			}
		}
		if ( $end < 0 || $best[ $at ] > $best[ $end ] ) {
			$end = $at;
		}
	}
	$moved = array_fill_keys( $order, true );
	for ( ; $end >= 0; $end = $from[ $end ] ) {
		unset( $moved[ $order[ $end ] ] );
	}
	return $moved;
}

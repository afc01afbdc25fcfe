<?php
/**
 * Series of episodes (the post type `podcasts`): a document with a title, a description, a square picture and what podcast
 * directories ask for. Each story may be an episode of one series (includes/episodes.php).
 *
 * @package Newsroom
 */

if ( ! defined( 'ABSPATH' ) ) {
	exit;
}

/** Namespace of podcasts' ids (podcast namespace, tag "guid"). */
define( 'NEWSROOM_PODCAST_NAMESPACE', 'ead4c236-bf58-58c6-a2c6-a6b28d128cb6' );

add_action( 'add_meta_boxes_podcasts', 'newsroom_series_box_added' );
add_action( 'wp_after_insert_post', 'newsroom_keep_series_id', 10, 2 );
add_action( 'before_delete_post', 'newsroom_keep_episodes_paid' );
foreach ( array( 'added', 'updated', 'deleted' ) as $newsroom_verb ) {
	add_action( "{$newsroom_verb}_post_meta", 'newsroom_series_meta_changed', 10, 3 );
}
unset( $newsroom_verb );
newsroom_rest_field(
	'podcasts',
	'series',
	'newsroom_series_settings',
	array(
		'type'       => 'object',
		'properties' => array(
			'guid'     => array( 'type' => 'string' ),
			'language' => array( 'type' => 'string' ),
			'author'   => array( 'type' => 'string' ),
			'email'    => array( 'type' => 'string' ),
			'category' => array(
				'type'  => 'array',
				'items' => array( 'type' => 'string' ),
			),
			'explicit' => array( 'type' => 'boolean' ),
			'access'   => array(
				'type' => 'string',
				'enum' => array( 'everyone', 'subscriber' ),
			),
		),
	)
);

/**
 * Categories of podcast directories (Apple Podcasts), each with its subcategories.
 *
 * @return array<string,string[]>
 */
function newsroom_series_categories() {
	return array(
		'News'                    => array( 'Business News', 'Daily News', 'Entertainment News', 'News Commentary', 'Politics', 'Sports News', 'Tech News' ),
		'Arts'                    => array( 'Books', 'Design', 'Fashion & Beauty', 'Food', 'Performing Arts', 'Visual Arts' ),
		'Business'                => array( 'Careers', 'Entrepreneurship', 'Investing', 'Management', 'Marketing', 'Non-Profit' ),
		'Comedy'                  => array( 'Comedy Interviews', 'Improv', 'Stand-Up' ),
		'Education'               => array( 'Courses', 'How To', 'Language Learning', 'Self-Improvement' ),
		'Fiction'                 => array( 'Comedy Fiction', 'Drama', 'Science Fiction' ),
		'Government'              => array(),
		'Health & Fitness'        => array( 'Alternative Health', 'Fitness', 'Medicine', 'Mental Health', 'Nutrition', 'Sexuality' ),
		'History'                 => array(),
		'Kids & Family'           => array( 'Education for Kids', 'Parenting', 'Pets & Animals', 'Stories for Kids' ),
		'Leisure'                 => array( 'Animation & Manga', 'Automotive', 'Aviation', 'Crafts', 'Games', 'Hobbies', 'Home & Garden', 'Video Games' ),
		'Music'                   => array( 'Music Commentary', 'Music History', 'Music Interviews' ),
		'Religion & Spirituality' => array( 'Buddhism', 'Christianity', 'Hinduism', 'Islam', 'Judaism', 'Religion', 'Spirituality' ),
		'Science'                 => array( 'Astronomy', 'Chemistry', 'Earth Sciences', 'Life Sciences', 'Mathematics', 'Natural Sciences', 'Nature', 'Physics', 'Social Sciences' ),
		'Society & Culture'       => array( 'Documentary', 'Personal Journals', 'Philosophy', 'Places & Travel', 'Relationships' ),
		'Sports'                  => array( 'Baseball', 'Basketball', 'Cricket', 'Fantasy Sports', 'Football', 'Golf', 'Hockey', 'Rugby', 'Running', 'Soccer', 'Swimming', 'Tennis', 'Volleyball', 'Wilderness', 'Wrestling' ),
		'Technology'              => array(),
		'True Crime'              => array(),
		'TV & Film'               => array( 'After Shows', 'Film History', 'Film Interviews', 'Film Reviews', 'TV Reviews' ),
	);
}

/**
 * Cleans a category: `News` or `News > Daily News`.
 *
 * @param mixed $value Value.
 * @return string `News` for what no directory knows.
 */
function newsroom_sanitize_series_category( $value ) {
	$parts = array_map( 'trim', explode( '>', is_string( $value ) ? html_entity_decode( $value, ENT_QUOTES, 'UTF-8' ) : '' ) );
	$known = newsroom_series_categories();
	if ( ! isset( $known[ $parts[0] ] ) ) {
		return 'News';
	}
	return isset( $parts[1] ) && in_array( $parts[1], $known[ $parts[0] ], true ) ? $parts[0] . ' > ' . $parts[1] : $parts[0];
}

/**
 * Cleans a language code such as `en` or `en-US`.
 *
 * @param mixed $value Value.
 * @return string '' for what is none.
 */
function newsroom_sanitize_language( $value ) {
	return is_string( $value ) && preg_match( '/^[a-z]{2,3}(?:-[A-Za-z]{2,4})?$/', trim( $value ) ) ? trim( $value ) : '';
}

/**
 * Cleans an email address.
 *
 * @param mixed $value Value.
 * @return string '' for what is none.
 */
function newsroom_sanitize_email( $value ) {
	$email = is_string( $value ) ? sanitize_email( $value ) : '';
	return is_email( $email ) ? $email : '';
}

/**
 * Cleans the access level for listening.
 *
 * @param mixed $value Value.
 * @return string `everyone` or `subscriber`.
 */
function newsroom_sanitize_series_access( $value ) {
	return 'subscriber' === $value ? 'subscriber' : 'everyone';
}

/**
 * Cleans a podcast's id.
 *
 * @param mixed $value Value.
 * @return string A UUID in lower case, or ''.
 */
function newsroom_sanitize_uuid( $value ) {
	$uuid = is_string( $value ) ? strtolower( trim( $value ) ) : '';
	return preg_match( '/^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/', $uuid ) ? $uuid : '';
}

/**
 * The UUID (version 5) of a name.
 *
 * @param string $space Namespace.
 * @param string $name  Name.
 * @return string
 */
function newsroom_uuid5( $space, $name ) {
	$hash = sha1( hex2bin( str_replace( '-', '', $space ) ) . $name );
	return sprintf(
		'%s-%s-%04x-%04x-%s',
		substr( $hash, 0, 8 ),
		substr( $hash, 8, 4 ),
		( hexdec( substr( $hash, 12, 4 ) ) & 0x0fff ) | 0x5000,
		( hexdec( substr( $hash, 16, 4 ) ) & 0x3fff ) | 0x8000,
		substr( $hash, 20, 12 )
	);
}

/**
 * Gives a series its id when it is first published. The id never changes, even if the address does.
 *
 * @param int     $id   Post.
 * @param WP_Post $post Post.
 */
function newsroom_keep_series_id( $id, $post ) {
	if ( 'podcasts' !== $post->post_type || 'publish' !== $post->post_status || '' !== (string) get_post_meta( $id, 'newsroom_series_guid', true ) ) {
		return;
	}
	$site = '' === newsroom_site_url() ? home_url() : newsroom_site_url();
	$feed = preg_replace( '#^https?://#', '', $site ) . sprintf( newsroom_site_path( 'podcasts' ), $post->post_name ) . '/rss.xml';
	update_post_meta( $id, 'newsroom_series_guid', newsroom_uuid5( NEWSROOM_PODCAST_NAMESPACE, $feed ) );
}

/**
 * Stories that are episodes of a series.
 *
 * @param int $id Series.
 * @return int[]
 */
function newsroom_episodes_of( $id ) {
	global $wpdb;
	return array_map( 'intval', $wpdb->get_col( $wpdb->prepare( "SELECT post_id FROM {$wpdb->postmeta} WHERE meta_key = 'newsroom_series' AND meta_value = %s", (string) $id ) ) ); // phpcs:ignore WordPress.DB
}

/**
 * The access level of a series changed: it applies to episodes that have none of their own.
 *
 * @param int|int[] $meta_id Meta rows.
 * @param int       $post_id Post.
 * @param string    $key     Meta key.
 */
function newsroom_series_meta_changed( $meta_id, $post_id, $key ) {
	if ( 'newsroom_series_access' !== $key ) {
		return;
	}
	$episodes = newsroom_episodes_of( $post_id );
	_prime_post_caches( $episodes, false, true );
	array_map( 'newsroom_touch', $episodes );
}

/**
 * A subscriber series is about to be deleted: its episodes stay for subscribers.
 *
 * @param int $id Post.
 */
function newsroom_keep_episodes_paid( $id ) {
	if ( 'podcasts' !== get_post_type( $id ) || 'subscriber' !== get_post_meta( $id, 'newsroom_series_access', true ) ) {
		return;
	}
	foreach ( newsroom_episodes_of( $id ) as $episode ) {
		if ( 'default' === newsroom_sanitize_access( get_post_meta( $episode, 'newsroom_access', true ) ) ) {
			update_post_meta( $episode, 'newsroom_access', 'subscriber' );
		}
	}
}

/**
 * A series' settings for the site, in addition to its text and picture.
 *
 * @param int $id Series.
 * @return array
 */
function newsroom_series_settings( $id ) {
	$value = static fn( $key ) => get_post_meta( $id, 'newsroom_series_' . $key, true );
	return array(
		'guid'     => newsroom_sanitize_uuid( $value( 'guid' ) ),
		'language' => newsroom_sanitize_language( $value( 'language' ) ),
		'author'   => newsroom_plain( $value( 'author' ) ),
		'email'    => newsroom_sanitize_email( $value( 'email' ) ),
		'category' => explode( ' > ', newsroom_sanitize_series_category( $value( 'category' ) ) ),
		'explicit' => '1' === newsroom_sanitize_flag( $value( 'explicit' ) ),
		'access'   => newsroom_sanitize_series_access( $value( 'access' ) ),
	);
}

/**
 * Adds the box, in both editors.
 */
function newsroom_series_box_added() {
	add_meta_box( 'newsroom-fields', __( 'Series', 'newsroom' ), 'newsroom_series_box', 'podcasts', 'normal', 'high' );
}

/**
 * Prints the box.
 *
 * @param WP_Post $post Series.
 */
function newsroom_series_box( $post ) {
	$series = newsroom_series_settings( $post->ID );
	wp_nonce_field( 'newsroom_fields_' . $post->ID, 'newsroom_fields_nonce' );
	printf( '<p class="description">%s</p>', esc_html__( 'The title and the text describe the series. Its picture is the featured image.', 'newsroom' ) );
	newsroom_series_picture_note( $post );
	$access = array(
		'everyone'   => __( 'Everyone', 'newsroom' ),
		'subscriber' => __( 'Subscribers', 'newsroom' ),
	);
	newsroom_print_select( 'newsroom_series_access', __( 'Who may listen', 'newsroom' ), $series['access'], $access, __( 'For episodes whose story says “Same as the section”. Subscribers get their own feed.', 'newsroom' ) );
	newsroom_print_input( 'newsroom_series_author', __( 'Author', 'newsroom' ), $series['author'], __( 'Who makes the series, as podcast directories show it.', 'newsroom' ) );
	newsroom_print_input( 'newsroom_series_email', __( 'Owner’s email address', 'newsroom' ), $series['email'], __( 'Directories write to it to check that the series is yours. It’s public.', 'newsroom' ), array( 'type' => 'email' ) );
	newsroom_print_input( 'newsroom_series_language', __( 'Language', 'newsroom' ), $series['language'], __( 'A code such as en-US. Leave empty for the newspaper’s language.', 'newsroom' ) );
	$options = array();
	foreach ( newsroom_series_categories() as $name => $below ) {
		$options[ $name ] = $name;
		foreach ( $below as $sub ) {
			$options[ "$name > $sub" ] = "$name > $sub";
		}
	}
	newsroom_print_select( 'newsroom_series_category', __( 'Category', 'newsroom' ), implode( ' > ', $series['category'] ), $options );
	$yes_no = array(
		'0' => __( 'No', 'newsroom' ),
		'1' => __( 'Yes', 'newsroom' ),
	);
	newsroom_print_select( 'newsroom_series_explicit', __( 'Explicit language or adult content', 'newsroom' ), $series['explicit'] ? '1' : '0', $yes_no );
	newsroom_print_input( 'newsroom_series_guid', __( 'Podcast GUID', 'newsroom' ), $series['guid'], __( 'Leave empty for a new series: it’s created when you publish and doesn’t change. If the series was on another host before, enter its GUID.', 'newsroom' ) );
}

/**
 * Explains why a picture isn't suitable for podcast directories.
 *
 * @param WP_Post $post Series.
 */
function newsroom_series_picture_note( $post ) {
	$picture = newsroom_picture( (int) get_post_thumbnail_id( $post ) );
	$width   = $picture ? (int) $picture['width'] : 0;
	$fits    = $picture && $width === (int) $picture['height'] && $width >= 1400 && $width <= 3000 && preg_match( '/\.(?:jpe?g|png)$/i', $picture['url'] );
	if ( ! $fits ) {
		printf( '<p class="newsroom-problem">%s</p>', esc_html__( 'Podcast directories require a square JPEG or PNG picture, 1400 to 3000 pixels wide.', 'newsroom' ) );
	}
}

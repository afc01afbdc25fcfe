<?php
/**
 * Access levels: bodies of articles for registered readers and subscribers are given only to the site's own credentials and to
 * users who may edit them. All others get only the opening, through every interface of WordPress.
 *
 * @package Newsroom
 */

if ( ! defined( 'ABSPATH' ) ) {
	exit;
}

// `content_pagination` covers everything that reads a body with get_the_content(): themes, feeds, excerpts.
add_filter( 'content_pagination', 'newsroom_cut_pages', PHP_INT_MAX, 2 );
// `the_content` covers code that passes post_content itself: REST, embedded posts, query blocks. The filter runs first, so that
// no block of the rest is even rendered.
add_filter( 'the_content', 'newsroom_cut_content', PHP_INT_MIN );
// And the post of the page itself, for themes and plugins that print $post->post_content (descriptions, JSON-LD).
add_filter( 'the_posts', 'newsroom_cut_main_query', PHP_INT_MAX, 2 );
// Fields of a story that blocks print, such as its footnotes: a body may show other stories through a query block.
add_filter( 'get_post_metadata', 'newsroom_cut_printed_meta', 10, 3 );
add_filter( 'rest_prepare_articles', 'newsroom_cut_rest', PHP_INT_MAX, 2 );
add_filter( 'rest_prepare_live-entry', 'newsroom_cut_rest_entry', PHP_INT_MAX, 2 );
add_filter( 'rest_request_before_callbacks', 'newsroom_refuse_protected', 10, 3 );
add_filter( 'rest_post_search_query', 'newsroom_without_protected' );
add_filter( 'rest_post_dispatch', 'newsroom_keep_private', 10, 3 );

/**
 * Who may read a post: its access level as chosen by editors.
 *
 * @param WP_Post $post Article.
 * @return string `default`, `free`, `registered` or `subscriber`.
 */
function newsroom_access_of( $post ) {
	return newsroom_sanitize_access( get_post_meta( $post->ID, 'newsroom_access', true ) );
}

/**
 * Whether the body of a post is restricted. An entry of a live story follows its story.
 *
 * @param WP_Post $post Post.
 * @return bool
 */
function newsroom_is_restricted( $post ) {
	if ( 'live-entry' === $post->post_type ) {
		$story = newsroom_story_of( $post );
		return ! $story || ! newsroom_is_visible( $story ) || newsroom_is_restricted( $story );
	}
	if ( 'articles' !== $post->post_type ) {
		return false;
	}
	/**
	 * Filters the effective access level of an article. `default` counts as open; a paper whose sections have their own rules
	 * returns another level here.
	 *
	 * @param string  $level Level.
	 * @param WP_Post $post  Article.
	 */
	$level = apply_filters( 'newsroom_effective_access', newsroom_level_of( $post ), $post );
	return in_array( $level, array( 'registered', 'subscriber' ), true );
}

/**
 * Whether the current user gets only the opening of a post.
 *
 * @param WP_Post|null $post Post or revision.
 * @return bool
 */
function newsroom_is_cut( $post ) {
	if ( $post instanceof WP_Post && 'revision' === $post->post_type ) {
		$post = get_post( $post->post_parent );
	}
	if ( ! $post instanceof WP_Post || ! newsroom_is_restricted( $post ) ) {
		return false;
	}
	if ( newsroom_unrestricted_id() === $post->ID ) {
		return false;
	}
	return ! current_user_can( 'newsroom_read_restricted' ) && ! current_user_can( 'edit_post', $post->ID );
}

/**
 * Cuts the pages that get_the_content() works with.
 *
 * @param string[] $pages Pages of the body.
 * @param WP_Post  $post  Post.
 * @return string[]
 */
function newsroom_cut_pages( $pages, $post ) {
	return newsroom_is_cut( $post ) ? array( newsroom_opening( $post ) ) : $pages;
}

/**
 * Cuts a body on its way through `the_content`.
 *
 * Always starts from the stored body instead of the input, so that a text isn't cut twice.
 *
 * @param string $content Body.
 * @return string
 */
function newsroom_cut_content( $content ) {
	$post = get_post();
	return '' !== trim( (string) $content ) && newsroom_is_cut( $post ) ? newsroom_opening( $post ) : $content;
}

/**
 * Cuts the posts of the page's or feed's main query.
 *
 * Other queries may belong to code that saves the posts again, and must return them in full.
 *
 * @param WP_Post[] $posts Posts.
 * @param WP_Query  $query Query.
 * @return WP_Post[]
 */
function newsroom_cut_main_query( $posts, $query ) {
	if ( ! $query->is_main_query() || is_admin() || wp_doing_cron() || ( defined( 'WP_CLI' ) && WP_CLI ) || ! is_array( $posts ) ) {
		return $posts;
	}
	foreach ( $posts as $index => $post ) {
		if ( $post instanceof WP_Post && newsroom_is_cut( $post ) ) {
			$cut                      = clone $post;
			$cut->post_content        = newsroom_opening( $post );
			$cut->newsroom_is_opening = true;
			$posts[ $index ]          = $cut;
		}
	}
	return $posts;
}

/**
 * Whether the user who made the REST request gets only the opening, even if the response is made as user 0.
 *
 * @param WP_Post $post Post.
 * @return bool
 */
function newsroom_is_cut_for_requesting_user( $post ) {
	return newsroom_is_cut( $post ) && ! user_can( newsroom_requesting_user(), 'newsroom_read_restricted' );
}

/**
 * Removes footnotes and the sound's fields from a cut article in REST, because they are public meta.
 *
 * @param WP_REST_Response $response Answer.
 * @param WP_Post          $post     Article.
 * @return WP_REST_Response
 */
function newsroom_cut_rest( $response, $post ) {
	if ( $response instanceof WP_REST_Response && newsroom_is_cut_for_requesting_user( $post ) ) {
		$data = $response->get_data();
		if ( isset( $data['meta'] ) && is_array( $data['meta'] ) ) {
			foreach ( newsroom_paid_meta_keys() as $key ) {
				if ( isset( $data['meta'][ $key ] ) ) {
					$data['meta'][ $key ] = is_int( $data['meta'][ $key ] ) ? 0 : '';
				}
			}
			$response->set_data( $data );
		}
	}
	return $response;
}

/**
 * Keys of the meta that belong to a story's body: its footnotes and its sound, but not its series.
 *
 * @return string[]
 */
function newsroom_paid_meta_keys() {
	return array_merge( array( 'footnotes' ), array_diff( newsroom_episode_keys(), array( 'newsroom_series' ) ) );
}

/**
 * Hides the fields of a cut story when they are printed in another story's body.
 *
 * @param mixed  $value Value so far, null to read it.
 * @param int    $id    Post.
 * @param string $key   Key.
 * @return mixed
 */
function newsroom_cut_printed_meta( $value, $id, $key ) {
	if ( null !== $value || ! doing_filter( 'the_content' ) || ! in_array( $key, newsroom_paid_meta_keys(), true ) || ! newsroom_is_cut( get_post( $id ) ) ) {
		return $value;
	}
	return array( '' );
}

/**
 * Reduces a cut entry in REST to its existence, its story and its date. Title, slug and address would reveal its content, and so would
 * fields that other plugins add.
 *
 * @param WP_REST_Response $response Answer.
 * @param WP_Post          $post     Entry.
 * @return WP_REST_Response
 */
function newsroom_cut_rest_entry( $response, $post ) {
	if ( ! $response instanceof WP_REST_Response || ! newsroom_is_cut_for_requesting_user( $post ) ) {
		return $response;
	}
	$data = $response->get_data();
	$kept = array_intersect_key( $data, array_flip( array( 'id', 'date', 'date_gmt', 'modified', 'modified_gmt', 'status', 'type' ) ) );
	$none = array(
		// The slug that WordPress would give a post without a title.
		'slug'      => (string) $post->ID,
		'link'      => '',
		'title'     => array( 'rendered' => '' ),
		'content'   => array(
			'rendered'  => '',
			'protected' => false,
		),
		'meta'      => (object) array(),
		'acf'       => (object) array(),
		'image'     => null,
		'old_slugs' => array(),
		'entry'     => array(
			'story'     => (int) get_post_meta( $post->ID, 'newsroom_story', true ),
			'pinned'    => false,
			'key_event' => false,
		),
	);
	$response->set_data( $kept + array_intersect_key( $none, $data ) );
	foreach ( array_diff( array_keys( $response->get_links() ), array( 'self', 'collection', 'about' ) ) as $relation ) {
		$response->remove_link( $relation );
	}
	return $response;
}

/**
 * Whether the user may know about documents that readers may not see.
 *
 * @return bool
 */
function newsroom_asks_with_credentials() {
	$user = newsroom_requesting_user();
	return user_can( $user, 'newsroom_read_restricted' ) || user_can( $user, 'edit_others_posts' );
}

/**
 * Hides password-protected documents that are requested by id from users without the right. The site's credentials get their text as if
 * the password were entered, for previews.
 *
 * @param mixed           $response Answer so far.
 * @param array           $handler  Route handler.
 * @param WP_REST_Request $request  Request.
 * @return mixed
 */
function newsroom_refuse_protected( $response, $handler, $request ) {
	if ( is_wp_error( $response ) || ! preg_match( '#^/wp/v2/(?:articles|live-entries|video|crosswords|authors|podcasts|pages)/(\d+)$#', $request->get_route(), $found ) ) {
		return $response;
	}
	$post = get_post( (int) $found[1] );
	if ( ! newsroom_is_document( $post ) || '' === (string) $post->post_password ) {
		return $response;
	}
	if ( newsroom_reads_as_visitor( $request ) ) {
		$request->set_param( 'password', $post->post_password );
	}
	if ( newsroom_asks_with_credentials() || current_user_can( 'edit_post', $post->ID ) ) {
		return $response;
	}
	return new WP_Error(
		'rest_forbidden',
		__( 'Sorry, you are not allowed to read this document.', 'newsroom' ),
		array( 'status' => rest_authorization_required_code() )
	);
}

/**
 * Keeps password-protected documents out of a list.
 *
 * @param array $args Arguments of the query.
 * @return array
 */
function newsroom_without_protected( $args ) {
	if ( ! newsroom_asks_with_credentials() ) {
		$args['has_password'] = false;
	}
	return $args;
}

/**
 * Makes responses to signed-in users private for caches.
 *
 * @param WP_REST_Response $response Answer.
 * @param WP_REST_Server   $server   Server.
 * @param WP_REST_Request  $request  Request.
 * @return WP_REST_Response
 */
function newsroom_keep_private( $response, $server, $request ) {
	if ( is_user_logged_in() && preg_match( '#^/(?:wp/v2/(?:articles|live-entries|video|crosswords|authors|podcasts|fronts|pages)|newsroom/v1)\b#', $request->get_route() ) ) {
		$response->header( 'Cache-Control', 'private, no-store' );
		$response->header( 'Vary', 'Authorization, Cookie', false );
	}
	return $response;
}

<?php
/**
 * The byline in the editors: a panel of the block editor, which changes the article's meta, or a box of the classic editor. Both keep
 * `newsroom_author`, the field for a single author, equal to the first of the list.
 *
 * @package Newsroom
 */

if ( ! defined( 'ABSPATH' ) ) {
	exit;
}

/**
 * Words that the panel and the box share.
 *
 * @return array<string,string>
 */
function newsroom_byline_words() {
	return array(
		'authors'         => __( 'Authors', 'newsroom' ),
		'contributors'    => __( 'With reporting by', 'newsroom' ),
		'addAuthor'       => __( 'Add an author', 'newsroom' ),
		'addContributor'  => __( 'Add a contributor', 'newsroom' ),
		'agency'          => __( 'Agency', 'newsroom' ),
		'agencyHelp'      => __( 'The name as readers should see it, such as “Associated Press.” It comes last in the byline.', 'newsroom' ),
		'agencyUrl'       => __( 'Agency’s web address (optional)', 'newsroom' ),
		/* translators: 1: name of a plugin, 2: names of authors. */
		'inherited'       => __( 'From %1$s: %2$s. Add an author here to replace this list.', 'newsroom' ),
		/* translators: 1: name of a plugin. */
		'inheritedNone'   => __( '%1$s has no author for this story. Add one here.', 'newsroom' ),
		/* translators: 1: names of people. */
		'missing'         => __( 'Not in the byline, because there’s no author with that name: %1$s.', 'newsroom' ),
	);
}

/**
 * Authors to choose from, by their names.
 *
 * @param string|string[] $status Statuses.
 * @return WP_Post[]
 */
function newsroom_all_authors( $status ) {
	return get_posts(
		array(
			'post_type'              => 'authors',
			'post_status'            => $status,
			'numberposts'            => 2000,
			'orderby'                => 'title',
			'order'                  => 'ASC',
			'update_post_meta_cache' => false,
			'update_post_term_cache' => false,
		)
	);
}

/**
 * Name of an author for the editors, with the reason why readers don't see it, if any.
 *
 * @param int $id Document.
 * @return string
 */
function newsroom_author_label( $id ) {
	$author = get_post( $id );
	if ( ! $author || 'authors' !== $author->post_type ) {
		/* translators: %d: number of a document. */
		return sprintf( __( 'Deleted author (%d)', 'newsroom' ), $id );
	}
	$name = newsroom_plain( $author->post_title );
	/* translators: %s: name of an author. */
	return newsroom_is_visible( $author ) ? $name : sprintf( __( '%s (not published)', 'newsroom' ), $name );
}

/**
 * The lists that an editor may change: the article's own, or the single author from before it had lists.
 *
 * @param int $id Article.
 * @return array<string,int[]> By meta key.
 */
function newsroom_editable_people( $id ) {
	$authors = newsroom_own_people( $id, 'newsroom_authors' );
	$one     = absint( get_post_meta( $id, 'newsroom_author', true ) );
	if ( ! $authors && $one && null === newsroom_acf_people( array( 'authors', 'author' ), $id ) ) {
		$authors = array( $one );
	}
	return array(
		'newsroom_authors'      => $authors,
		'newsroom_contributors' => newsroom_own_people( $id, 'newsroom_contributors' ),
	);
}

/**
 * Explains where the authors come from while the article has no list of its own.
 *
 * @param int $id Article.
 * @return string[] Sentences.
 */
function newsroom_inherited_note( $id ) {
	$inherited = newsroom_inherited_authors( $id );
	if ( ! $inherited ) {
		return array();
	}
	$words = newsroom_byline_words();
	$note  = array( sprintf( $words[ $inherited['names'] ? 'inherited' : 'inheritedNone' ], $inherited['from'], implode( ', ', $inherited['names'] ) ) );
	if ( $inherited['missing'] ) {
		$note[] = sprintf( $words['missing'], implode( ', ', $inherited['missing'] ) );
	}
	return $note;
}

/**
 * Data for the panel of the block editor.
 *
 * @param WP_Post $post Article.
 * @return array
 */
function newsroom_byline_panel_data( $post ) {
	$names = array();
	foreach ( array_merge( ...array_values( newsroom_editable_people( $post->ID ) ) ) as $id ) {
		$names[ $id ] = newsroom_author_label( $id );
	}
	return array(
		'words'     => newsroom_byline_words(),
		'names'     => (object) $names,
		'inherited' => newsroom_inherited_note( $post->ID ),
		'acf'       => null !== newsroom_acf_people( array( 'authors', 'author' ), $post->ID ),
		'most'      => NEWSROOM_MOST_AUTHORS,
		'longest'   => NEWSROOM_LONGEST_LINE,
	);
}

/**
 * Prints the box.
 *
 * @param WP_Post $post Article.
 */
function newsroom_byline_box( $post ) {
	newsroom_picker_script();
	$words = newsroom_byline_words();
	$lists = newsroom_editable_people( $post->ID );
	// Marks that the box was submitted: a form without it would otherwise empty the lists.
	echo '<input type="hidden" name="newsroom_byline_shown" value="1">';
	foreach ( $lists['newsroom_authors'] ? array() : newsroom_inherited_note( $post->ID ) as $sentence ) {
		printf( '<p class="description">%s</p>', esc_html( $sentence ) );
	}
	$adds = array(
		'newsroom_authors'      => array( $words['authors'], $words['addAuthor'] ),
		'newsroom_contributors' => array( $words['contributors'], $words['addContributor'] ),
	);
	foreach ( $adds as $key => $labels ) {
		newsroom_picker(
			array(
				'field'   => $key,
				'route'   => 'authors',
				'heading' => $labels[0],
				'search'  => $labels[1],
				'none'    => __( 'No published author found.', 'newsroom' ),
			),
			array_combine( $lists[ $key ], array_map( 'newsroom_author_label', $lists[ $key ] ) )
		);
	}
	newsroom_print_input( 'newsroom_agency', $words['agency'], get_post_meta( $post->ID, 'newsroom_agency', true ), $words['agencyHelp'], array( 'maxlength' => NEWSROOM_LONGEST_LINE ) );
	newsroom_print_input( 'newsroom_agency_url', $words['agencyUrl'], get_post_meta( $post->ID, 'newsroom_agency_url', true ), '', array( 'type' => 'url' ) );
}

/**
 * Prints the field of an author's role.
 *
 * @param WP_Post $post Author.
 */
function newsroom_role_control( $post ) {
	newsroom_print_input( 'newsroom_role', __( 'Role', 'newsroom' ), get_post_meta( $post->ID, 'newsroom_role', true ), __( 'Such as “Economics editor.” Readers see it on the author’s page and in the list of authors.', 'newsroom' ), array( 'maxlength' => NEWSROOM_LONGEST_LINE ) );
}

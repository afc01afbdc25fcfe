<?php
/**
 * Boxes next to the editor: author, access, video address, crossword embed, an author’s role. They are plain forms and work in the block
 * editor and the classic one.
 *
 * @package Newsroom
 */

if ( ! defined( 'ABSPATH' ) ) {
	exit;
}

add_action( 'add_meta_boxes', 'newsroom_add_boxes', 10, 2 );
add_action( 'save_post', 'newsroom_save_boxes', 10, 2 );
add_action( 'admin_enqueue_scripts', 'newsroom_admin_style' );

/**
 * Loads the style of the boxes and of the lists of categories and articles.
 *
 * @param string $screen Screen.
 */
function newsroom_admin_style( $screen ) {
	if ( in_array( $screen, array( 'post.php', 'post-new.php', 'edit.php', 'edit-tags.php' ), true ) ) {
		newsroom_enqueue_style( 'admin' );
	}
}

/**
 * Adds the box of a type.
 *
 * @param string       $type Post type.
 * @param WP_Post|null $post Post.
 */
function newsroom_add_boxes( $type, $post = null ) {
	if ( in_array( $type, array( 'articles', 'video', 'crosswords', 'authors' ), true ) ) {
		add_meta_box( 'newsroom-fields', __( 'Newsroom', 'newsroom' ), 'newsroom_fields_box', $type, 'side', 'high' );
	}
	if ( newsroom_is_top_stories( $post ) ) {
		add_meta_box( 'newsroom-top-stories', __( 'Front page', 'newsroom' ), 'newsroom_top_stories_box', $type, 'normal', 'high' );
	}
}

/**
 * Prints the box of an article, a video, a crossword or an author. An article's authors are in the box or panel of its byline.
 *
 * @param WP_Post $post Post.
 */
function newsroom_fields_box( $post ) {
	wp_nonce_field( 'newsroom_fields_' . $post->ID, 'newsroom_fields_nonce' );
	foreach ( 'articles' === $post->post_type ? array() : newsroom_field_names( $post ) as $name => $key ) {
		if ( newsroom_acf_has( $name, $post->ID ) ) {
			newsroom_acf_note( $name );
			continue;
		}
		$value = get_post_meta( $post->ID, $key, true );
		if ( 'newsroom_author' === $key ) {
			newsroom_author_control( (int) $value );
		} elseif ( 'newsroom_video_url' === $key ) {
			$attributes = array(
				'type'        => 'url',
				'placeholder' => 'https://www.youtube.com/watch?v=…',
				'inputmode'   => 'url',
			);
			newsroom_print_input( $key, __( 'Video address', 'newsroom' ), $value, __( 'The video’s page on YouTube.', 'newsroom' ), $attributes );
		} elseif ( 'newsroom_iframe' === $key ) {
			$attributes = array(
				'rows'  => 5,
				'class' => 'widefat code',
			);
			newsroom_print_textarea( $key, __( 'Crossword embed', 'newsroom' ), $value, __( 'The puzzle’s embed code (an iframe) or its address. Scripts are removed.', 'newsroom' ), $attributes );
		}
	}
	if ( 'articles' === $post->post_type ) {
		newsroom_access_control( newsroom_access_of( $post ) );
		newsroom_live_control( $post );
	}
	if ( 'authors' === $post->post_type ) {
		newsroom_role_control( $post );
	}
}

/**
 * Says that a field is edited elsewhere.
 *
 * @param string $name Field name.
 */
function newsroom_acf_note( $name ) {
	printf(
		'<p class="description">%s</p>',
		/* translators: %s: name of a field. */
		esc_html( sprintf( __( 'Edit “%s” in Advanced Custom Fields.', 'newsroom' ), $name ) )
	);
}

/**
 * Prints the choice of an author.
 *
 * @param int $chosen Author.
 */
function newsroom_author_control( $chosen ) {
	$ids     = wp_list_pluck( newsroom_all_authors( array( 'publish', 'draft', 'future', 'private', 'pending' ) ), 'ID' );
	if ( $chosen && ! in_array( $chosen, $ids, true ) ) {
		// An author in the trash: without this option, saving would remove the byline.
		$ids[] = $chosen;
	}
	$options = array( 0 => __( '— No byline —', 'newsroom' ) );
	foreach ( $ids as $id ) {
		$options[ $id ] = newsroom_author_label( $id );
	}
	newsroom_print_select( 'newsroom_author', __( 'Author', 'newsroom' ), $chosen, $options );
	if ( current_user_can( 'edit_pages' ) ) {
		printf( '<p><a href="%1$s" target="_blank">%2$s<span class="screen-reader-text"> %3$s</span></a></p>', esc_url( admin_url( 'post-new.php?post_type=authors' ) ), esc_html__( 'Add an author', 'newsroom' ), esc_html__( '(opens in a new tab)', 'newsroom' ) );
	}
}

/**
 * Prints the choice of an access level.
 *
 * @param string $chosen Level.
 */
function newsroom_access_control( $chosen ) {
	echo '<fieldset><legend><strong>' . esc_html__( 'Who may read it', 'newsroom' ) . '</strong></legend>';
	foreach ( newsroom_access_levels() as $level => $label ) {
		printf(
			'<p><label><input type="radio" name="newsroom_access" value="%1$s"%2$s> %3$s</label></p>',
			esc_attr( $level ),
			checked( $chosen, $level, false ),
			esc_html( $label )
		);
	}
	echo '</fieldset>';
}

/**
 * Saves the boxes.
 *
 * @param int     $id   Post.
 * @param WP_Post $post Post.
 */
function newsroom_save_boxes( $id, $post ) {
	if ( ( defined( 'DOING_AUTOSAVE' ) && DOING_AUTOSAVE ) || wp_is_post_revision( $id ) || ! newsroom_is_document( $post ) || ! current_user_can( 'edit_post', $id ) ) {
		return;
	}
	$nonce = isset( $_POST['newsroom_fields_nonce'] ) ? sanitize_key( wp_unslash( $_POST['newsroom_fields_nonce'] ) ) : '';
	if ( ! wp_verify_nonce( $nonce, 'newsroom_fields_' . $id ) ) {
		return;
	}
	$keys = newsroom_meta_keys();
	// An empty list sends no values, so a hidden field shows that the box was submitted.
	$boxes = array(
		'newsroom_top_articles' => 'newsroom_top_stories_shown',
		'newsroom_authors'      => 'newsroom_byline_shown',
		'newsroom_contributors' => 'newsroom_byline_shown',
	);
	foreach ( $keys[ $post->post_type ] as $key ) {
		if ( ! isset( $_POST[ isset( $boxes[ $key ] ) ? $boxes[ $key ] : $key ] ) || ! current_user_can( 'edit_post_meta', $id, $key ) ) {
			continue;
		}
		// The screen "Live coverage" may have changed the state since the box was printed, so an unchanged choice isn't saved.
		if ( 'newsroom_live' === $key && isset( $_POST['newsroom_live_before'] ) && $_POST['newsroom_live_before'] === $_POST['newsroom_live'] ) {
			continue;
		}
		$definition = newsroom_meta_definitions()[ $key ];
		// Cleaned by the callback of each key's registration (includes/fields.php).
		$value  = isset( $_POST[ $key ] ) ? wp_unslash( $_POST[ $key ] ) : array(); // phpcs:ignore WordPress.Security.ValidatedSanitizedInput
		$posted = array(
			'newsroom_corrections'   => 'newsroom_posted_corrections',
			'newsroom_headline_test' => 'newsroom_posted_headline_test',
		);
		$clean  = isset( $posted[ $key ] ) ? call_user_func( $posted[ $key ], $value, $id ) : call_user_func( $definition[2], $value );
		update_post_meta( $id, $key, wp_slash( $clean ) );
		if ( 'newsroom_authors' === $key ) {
			$authors = newsroom_own_people( $id, $key );
			update_post_meta( $id, 'newsroom_author', $authors ? $authors[0] : 0 );
		}
	}
}

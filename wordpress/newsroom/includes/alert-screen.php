<?php
/**
 * The screen "Breaking news": one line, one button, and the delivery status.
 *
 * @package Newsroom
 */

if ( ! defined( 'ABSPATH' ) ) {
	exit;
}

add_action( 'admin_menu', 'newsroom_add_alert_screen' );
add_action( 'admin_enqueue_scripts', 'newsroom_alert_script' );
add_action( 'admin_post_newsroom_alert', 'newsroom_post_alert' );
add_action( 'admin_post_newsroom_alert_end', 'newsroom_post_alert_end' );

/**
 * Adds the screen.
 */
function newsroom_add_alert_screen() {
	if ( newsroom_may_alert() ) {
		add_menu_page( __( 'Breaking news', 'newsroom' ), __( 'Breaking news', 'newsroom' ), 'publish_posts', 'newsroom-alert', 'newsroom_alert_screen', 'dashicons-megaphone', 4 );
	}
}

/**
 * Loads the screen's script and style.
 *
 * @param string $screen Screen.
 */
function newsroom_alert_script( $screen ) {
	if ( 'toplevel_page_newsroom-alert' === $screen ) {
		newsroom_enqueue_part( 'alert', array( 'wp-api-fetch' ) );
		newsroom_enqueue_style( 'alert' );
	}
}

/**
 * Address of the screen.
 *
 * @param array $args Query.
 * @return string
 */
function newsroom_alert_url( $args = array() ) {
	return add_query_arg( array( 'page' => 'newsroom-alert' ) + $args, admin_url( 'admin.php' ) );
}

/**
 * Stops a request by a user without the right, or from another page.
 *
 * @param string $action Action of the nonce.
 */
function newsroom_require_alert_right( $action ) {
	if ( ! newsroom_may_alert() ) {
		wp_die( esc_html__( 'Sorry, you are not allowed to do that.', 'newsroom' ), '', array( 'response' => 403 ) );
	}
	check_admin_referer( $action );
}

/**
 * Starts an alert.
 */
function newsroom_post_alert() {
	newsroom_require_alert_right( 'newsroom_alert' );
	// phpcs:disable WordPress.Security.NonceVerification -- checked above.
	$given = array();
	foreach ( array( 'id', 'text', 'story', 'hours', 'mail', 'push' ) as $name ) {
		$value          = isset( $_POST[ 'newsroom_alert_' . $name ] ) ? wp_unslash( $_POST[ 'newsroom_alert_' . $name ] ) : ''; // phpcs:ignore WordPress.Security.ValidatedSanitizedInput -- newsroom_start_alert() checks each.
		$given[ $name ] = is_string( $value ) ? $value : '';
	}
	// phpcs:enable
	$started = newsroom_start_alert( $given );
	if ( is_wp_error( $started ) ) {
		$given['error'] = $started->get_error_message();
		$given['text']  = mb_substr( $given['text'], 0, 2000 );
		set_transient( 'newsroom_alert_' . get_current_user_id(), $given, MINUTE_IN_SECONDS );
	}
	wp_safe_redirect( newsroom_alert_url() );
	exit;
}

/**
 * Withdraws the alert.
 */
function newsroom_post_alert_end() {
	newsroom_require_alert_right( 'newsroom_alert_end' );
	$id        = isset( $_POST['newsroom_alert_id'] ) ? sanitize_key( wp_unslash( $_POST['newsroom_alert_id'] ) ) : ''; // phpcs:ignore WordPress.Security.NonceVerification -- checked above.
	$withdrawn = newsroom_withdraw_alert( $id );
	if ( is_wp_error( $withdrawn ) ) {
		set_transient( 'newsroom_alert_' . get_current_user_id(), array( 'error' => $withdrawn->get_error_message() ), MINUTE_IN_SECONDS );
	}
	wp_safe_redirect( newsroom_alert_url() );
	exit;
}

/**
 * Prints the screen.
 */
function newsroom_alert_screen() {
	if ( ! newsroom_may_alert() ) {
		return;
	}
	echo '<div class="wrap newsroom-alert"><h1>' . esc_html__( 'Breaking news', 'newsroom' ) . '</h1>';
	if ( '' === newsroom_site_url() ) {
		echo '<div class="notice notice-warning"><p>' . esc_html( newsroom_no_site_message() ) . '</p></div>';
	}
	newsroom_alert_state();
	newsroom_alert_form();
	echo '</div>';
}

/**
 * Prints the current or last alert, with its delivery status.
 */
function newsroom_alert_state() {
	$alert = newsroom_last_alert();
	if ( ! $alert || (int) $alert['until'] < time() - 2 * DAY_IN_SECONDS ) {
		return;
	}
	$running = null !== newsroom_running_alert();
	echo '<section class="newsroom-alert-now" aria-labelledby="newsroom-alert-now">';
	printf( '<h2 id="newsroom-alert-now">%s</h2>', esc_html( $running ? __( 'On every page now', 'newsroom' ) : __( 'Last alert', 'newsroom' ) ) );
	newsroom_alert_banner( $alert['text'] );
	if ( $running ) {
		/* translators: 1: a time, 2: a time. */
		$when = sprintf( __( 'Since %1$s. It ends automatically at %2$s.', 'newsroom' ), newsroom_time_words( (int) $alert['starts'] ), newsroom_time_words( (int) $alert['until'] ) );
	} elseif ( ! empty( $alert['withdrawn'] ) ) {
		/* translators: 1: a time, 2: a time. */
		$when = sprintf( __( 'From %1$s to %2$s, when it was taken down.', 'newsroom' ), newsroom_time_words( (int) $alert['starts'] ), newsroom_time_words( (int) $alert['withdrawn'] ) );
	} else {
		/* translators: 1: a time, 2: a time. */
		$when = sprintf( __( 'From %1$s to %2$s.', 'newsroom' ), newsroom_time_words( (int) $alert['starts'] ), newsroom_time_words( (int) $alert['until'] ) );
	}
	echo '<p>' . esc_html( $when ) . '</p>';
	$report = newsroom_alert_report();
	printf( '<dl role="status" data-newsroom-alert="%s">', $report['final'] ? 'final' : 'open' );
	$names = array(
		'banner' => __( 'Banner', 'newsroom' ),
		'mail'   => __( 'Email', 'newsroom' ),
		'push'   => __( 'Notifications', 'newsroom' ),
	);
	foreach ( $names as $name => $label ) {
		if ( '' !== $report[ $name ] ) {
			printf( '<div><dt>%1$s</dt><dd data-line="%2$s">%3$s</dd></div>', esc_html( $label ), esc_attr( $name ), esc_html( $report[ $name ] ) );
		}
	}
	echo '</dl>';
	if ( $running ) {
		newsroom_action_form( 'newsroom_alert_end', __( 'Take it down', 'newsroom' ), array( 'newsroom_alert_id' => $alert['id'] ), 'button button-large newsroom-alert-end' );
	}
	echo '</section>';
}

/**
 * Prints the banner as readers see it.
 *
 * @param string $text Text.
 */
function newsroom_alert_banner( $text ) {
	printf( '<p class="newsroom-alert-banner"><b>%1$s</b> <span>%2$s</span></p>', esc_html__( 'Breaking', 'newsroom' ), esc_html( $text ) );
}

/**
 * Initial values of the form: what was entered and refused, or a story; and the error of the last action.
 *
 * @return array
 */
function newsroom_alert_begin() {
	$refused = get_transient( 'newsroom_alert_' . get_current_user_id() );
	delete_transient( 'newsroom_alert_' . get_current_user_id() );
	$story   = isset( $_GET['story'] ) ? get_post( absint( $_GET['story'] ) ) : null; // phpcs:ignore WordPress.Security.NonceVerification -- only fills the form.
	$story   = $story && 'articles' === $story->post_type && newsroom_is_visible( $story ) ? $story : null;
	return ( is_array( $refused ) ? $refused : array() ) + array(
		'text'  => $story ? newsroom_one_line( $story->post_title ) : '',
		'story' => $story ? $story->ID : 0,
		'hours' => 4,
		'mail'  => '',
		'push'  => '',
		'error' => '',
	);
}

/**
 * Prints the form of a new alert.
 */
function newsroom_alert_form() {
	$begin = newsroom_alert_begin();
	printf( '<h2>%s</h2>', esc_html( newsroom_running_alert() ? __( 'Replace the alert', 'newsroom' ) : __( 'New alert', 'newsroom' ) ) );
	if ( '' !== $begin['error'] ) {
		printf( '<div class="notice notice-error" role="alert"><p>%s</p></div>', esc_html( $begin['error'] ) );
	}
	printf( '<form method="post" action="%s" data-newsroom-alert-form><input type="hidden" name="action" value="newsroom_alert"><input type="hidden" name="newsroom_alert_id" value="%s">', esc_url( admin_url( 'admin-post.php' ) ), esc_attr( wp_generate_uuid4() ) );
	wp_nonce_field( 'newsroom_alert', '_wpnonce', false );
	$attributes = array(
		'class'        => 'large-text',
		'maxlength'    => NEWSROOM_ALERT_LENGTH,
		'required'     => true,
		'autocomplete' => 'off',
	);
	newsroom_print_input( 'newsroom_alert_text', __( 'One line', 'newsroom' ), $begin['text'], __( 'What happened, in one sentence. Readers see it above everything else.', 'newsroom' ), $attributes );
	$stories = array( 0 => __( 'No link', 'newsroom' ) );
	foreach ( newsroom_alert_stories( (int) $begin['story'] ) as $story ) {
		$stories[ $story->ID ] = newsroom_plain( $story->post_title );
	}
	newsroom_print_select( 'newsroom_alert_story', __( 'Story', 'newsroom' ), (int) $begin['story'], $stories, '', array( 'class' => null ) );
	$lengths = array();
	foreach ( array( 1, 2, 4, 8, 12, 24 ) as $hours ) {
		/* translators: %s: number of hours. */
		$lengths[ $hours ] = sprintf( _n( '%s hour', '%s hours', $hours, 'newsroom' ), number_format_i18n( $hours ) );
	}
	newsroom_print_select( 'newsroom_alert_hours', __( 'Ends automatically after', 'newsroom' ), (int) $begin['hours'], $lengths, '', array( 'class' => null ) );
	printf( '<fieldset><legend><strong>%s</strong></legend>', esc_html__( 'Also send it once to readers who signed up for alerts', 'newsroom' ) );
	foreach ( array( 'mail' => __( 'Email', 'newsroom' ), 'push' => __( 'Web push', 'newsroom' ) ) as $way => $label ) { // phpcs:ignore WordPress.Arrays
		printf( '<label><input type="checkbox" name="newsroom_alert_%1$s" value="1"%2$s> %3$s</label><br>', esc_attr( $way ), checked( ! empty( $begin[ $way ] ), true, false ), esc_html( $label ) );
	}
	printf( '</fieldset><h3>%s</h3>', esc_html__( 'Preview', 'newsroom' ) );
	newsroom_alert_banner( $begin['text'] );
	printf( '<p><button class="button button-primary button-hero">%s</button></p></form>', esc_html__( 'Put it on every page', 'newsroom' ) );
}

/**
 * The newest stories, and the chosen one.
 *
 * @param int $chosen Story.
 * @return WP_Post[]
 */
function newsroom_alert_stories( $chosen ) {
	$stories = get_posts(
		array(
			'post_type'    => 'articles',
			'post_status'  => 'publish',
			'has_password' => false,
			'numberposts'  => 50,
		)
	);
	$post    = $chosen ? get_post( $chosen ) : null;
	if ( $post && ! in_array( $post->ID, wp_list_pluck( $stories, 'ID' ), true ) ) {
		array_unshift( $stories, $post );
	}
	return $stories;
}

/**
 * Prints the link from a published story to this screen.
 *
 * @param WP_Post $post Story.
 */
function newsroom_alert_link( $post ) {
	if ( 'articles' === $post->post_type && newsroom_is_visible( $post ) && newsroom_may_alert() ) {
		printf( '<p><a href="%1$s">%2$s</a></p>', esc_url( newsroom_alert_url( array( 'story' => $post->ID ) ) ), esc_html__( 'Send it as breaking news', 'newsroom' ) );
	}
}

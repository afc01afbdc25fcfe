<?php
/**
 * Settings → Newsroom: site address, secret, "Send test", and the log.
 *
 * @package Newsroom
 */

if ( ! defined( 'ABSPATH' ) ) {
	exit;
}

add_action( 'admin_menu', 'newsroom_add_settings_page' );
add_action( 'admin_init', 'newsroom_register_settings' );
add_action( 'admin_post_newsroom_secret', 'newsroom_regenerate_secret' );
add_action( 'admin_post_newsroom_test', 'newsroom_send_test' );
add_filter( 'plugin_action_links_' . plugin_basename( NEWSROOM_FILE ), 'newsroom_action_links' );

/**
 * Adds the page.
 */
function newsroom_add_settings_page() {
	add_options_page( __( 'Newsroom', 'newsroom' ), __( 'Newsroom', 'newsroom' ), 'manage_options', 'newsroom', 'newsroom_settings_page' );
}

/**
 * Registers the site address, which the user enters. The secret is generated here and never entered.
 */
function newsroom_register_settings() {
	register_setting(
		'newsroom',
		'newsroom_site_url',
		array(
			'type'              => 'string',
			'sanitize_callback' => 'newsroom_check_site_url',
			'default'           => '',
		)
	);
}

/**
 * Cleans the address, and reports if it is invalid.
 *
 * @param mixed $value What was entered.
 * @return string
 */
function newsroom_check_site_url( $value ) {
	$url = newsroom_sanitize_site_url( $value );
	if ( '' === $url && '' !== trim( (string) $value ) && function_exists( 'add_settings_error' ) ) {
		add_settings_error( 'newsroom_site_url', 'newsroom_site_url', __( 'Enter a full web address that begins with https://.', 'newsroom' ) );
	}
	return $url;
}

/**
 * Adds "Settings" to the plugin's line in the list of plugins.
 *
 * @param string[] $links Links.
 * @return string[]
 */
function newsroom_action_links( $links ) {
	array_unshift( $links, sprintf( '<a href="%1$s">%2$s</a>', esc_url( newsroom_settings_url() ), esc_html__( 'Settings', 'newsroom' ) ) );
	return $links;
}

/**
 * Address of the page.
 *
 * @param array $args Query.
 * @return string
 */
function newsroom_settings_url( $args = array() ) {
	return add_query_arg( array( 'page' => 'newsroom' ) + $args, admin_url( 'options-general.php' ) );
}

/**
 * Stops a request that isn't an administrator's own.
 *
 * @param string $action Action of the nonce.
 */
function newsroom_require_administrator( $action ) {
	if ( ! current_user_can( 'manage_options' ) ) {
		wp_die( esc_html__( 'Sorry, you are not allowed to do that.', 'newsroom' ), '', array( 'response' => 403 ) );
	}
	check_admin_referer( $action );
}

/**
 * Makes a new secret.
 */
function newsroom_regenerate_secret() {
	newsroom_require_administrator( 'newsroom_secret' );
	update_option( 'newsroom_secret', newsroom_new_secret(), false );
	wp_safe_redirect( newsroom_settings_url( array( 'newsroom' => 'secret' ) ) );
	exit;
}

/**
 * Sends a test and stores the result.
 */
function newsroom_send_test() {
	newsroom_require_administrator( 'newsroom_test' );
	$result = null;
	if ( '' !== newsroom_site_url() && '' !== newsroom_secret() ) {
		$result = newsroom_deliver_row( newsroom_enqueue( newsroom_payload( 'test', 'site', 0, '', 'publish' ) ), 10 );
		// A test is only useful now, so one that wasn't delivered isn't retried.
		newsroom_fail_waiting_tests();
		newsroom_prune_log();
	}
	set_transient( 'newsroom_test_' . get_current_user_id(), $result ? $result : array( 'outcome' => 'none' ), MINUTE_IN_SECONDS );
	wp_safe_redirect( newsroom_settings_url( array( 'newsroom' => 'test' ) ) );
	exit;
}

/**
 * Ends tests that were not delivered.
 */
function newsroom_fail_waiting_tests() {
	global $wpdb;
	$wpdb->update( newsroom_table(), array( 'state' => 'failed' ), array( 'event' => 'test', 'state' => 'pending' ) ); // phpcs:ignore WordPress.DB,WordPress.Arrays
}

/**
 * Prints the result of the last action.
 */
function newsroom_settings_notice() {
	$done = isset( $_GET['newsroom'] ) ? sanitize_key( wp_unslash( $_GET['newsroom'] ) ) : ''; // phpcs:ignore WordPress.Security.NonceVerification
	$kind = 'success';
	$text = '';
	if ( 'secret' === $done ) {
		$text = __( 'The secret was changed. Set NEWSROOM_SECRET on the site to the new one; until then the site refuses changes from WordPress.', 'newsroom' );
		$kind = 'warning';
	} elseif ( 'retry' === $done ) {
		$text = __( 'Sent again. See the log for the result.', 'newsroom' );
	} elseif ( 'test' === $done ) {
		$result = get_transient( 'newsroom_test_' . get_current_user_id() );
		delete_transient( 'newsroom_test_' . get_current_user_id() );
		if ( ! is_array( $result ) ) {
			// The page was reloaded, or opened from the browser's history.
			$text = '';
		} elseif ( 'none' === $result['outcome'] ) {
			$kind = 'error';
			$text = __( 'Enter and save the site address first.', 'newsroom' );
		} elseif ( 'done' === $result['outcome'] ) {
			/* translators: %s: number of milliseconds. */
			$text = sprintf( __( 'The site responded in %s ms and accepted the signature.', 'newsroom' ), number_format_i18n( $result['took_ms'] ) );
		} else {
			$kind = 'error';
			/* translators: %s: reason. */
			$text = sprintf( __( 'The test failed: %s', 'newsroom' ), $result['error'] );
		}
	}
	if ( '' !== $text ) {
		printf( '<div class="notice notice-%1$s" role="status"><p>%2$s</p></div>', esc_attr( $kind ), esc_html( $text ) );
	}
}

/**
 * Prints the page.
 */
function newsroom_settings_page() {
	if ( ! current_user_can( 'manage_options' ) ) {
		return;
	}
	$fixed_url    = defined( 'NEWSROOM_SITE_URL' );
	$fixed_secret = defined( 'NEWSROOM_SECRET' );
	echo '<div class="wrap"><h1>' . esc_html__( 'Newsroom', 'newsroom' ) . '</h1>';
	newsroom_settings_notice();
	echo '<h2>' . esc_html__( 'The site', 'newsroom' ) . '</h2><form method="post" action="options.php">';
	settings_fields( 'newsroom' );
	printf(
		'<table class="form-table" role="presentation"><tr><th scope="row"><label for="newsroom_site_url">%1$s</label></th><td><input type="url" class="regular-text" id="newsroom_site_url" name="newsroom_site_url" value="%2$s" placeholder="https://www.example.com" aria-describedby="newsroom_site_url-description"%3$s><p class="description" id="newsroom_site_url-description">%4$s</p></td></tr></table>',
		esc_html__( 'Site address', 'newsroom' ),
		esc_attr( newsroom_site_url() ),
		disabled( $fixed_url, true, false ),
		esc_html( $fixed_url ? __( 'Set by NEWSROOM_SITE_URL in wp-config.php.', 'newsroom' ) : __( 'The address of the newspaper’s website. Changes, previews and links go there.', 'newsroom' ) )
	);
	if ( ! $fixed_url ) {
		submit_button();
	}
	echo '</form><h2>' . esc_html__( 'Secret', 'newsroom' ) . '</h2>';
	echo '<p>' . esc_html( $fixed_secret ? __( 'Set by NEWSROOM_SECRET in wp-config.php.', 'newsroom' ) : __( 'Signs changes that are sent to the site, and preview links. The site’s setting NEWSROOM_SECRET must have the same value.', 'newsroom' ) ) . '</p>';
	if ( ! $fixed_secret ) {
		printf( '<details><summary>%1$s</summary><p><code>%2$s</code></p></details>', esc_html__( 'Show the secret', 'newsroom' ), esc_html( newsroom_secret() ) );
		newsroom_action_form( 'newsroom_secret', __( 'Create a new secret', 'newsroom' ) );
	}
	echo '<h2>' . esc_html__( 'Connection', 'newsroom' ) . '</h2><p>' . esc_html__( 'Sends a signed test message and shows the response. It doesn’t change anything.', 'newsroom' ) . '</p>';
	newsroom_action_form( 'newsroom_test', __( 'Send test', 'newsroom' ) );
	newsroom_print_problems();
	newsroom_print_log();
	echo '</div>';
}

/**
 * Prints a form that consists of one button.
 *
 * @param string $action Action.
 * @param string $label  Label.
 * @param array  $fields Hidden fields.
 * @param string $class  Class of the button.
 */
function newsroom_action_form( $action, $label, $fields = array(), $class = 'button' ) {
	printf( '<form method="post" action="%s"><input type="hidden" name="action" value="%s">', esc_url( admin_url( 'admin-post.php' ) ), esc_attr( $action ) );
	wp_nonce_field( $action, '_wpnonce', false );
	foreach ( $fields as $name => $value ) {
		printf( '<input type="hidden" name="%s" value="%s">', esc_attr( $name ), esc_attr( $value ) );
	}
	printf( '<button class="%s">%s</button></form>', esc_attr( $class ), esc_html( $label ) );
}

<?php
/**
 * Problems between the site and WordPress, each with its remedy. Shown on Settings → Newsroom and reported to the
 * site, which shows it on /readyz.
 *
 * @package Newsroom
 */

if ( ! defined( 'ABSPATH' ) ) {
	exit;
}

/**
 * Whether readers may be sent to WordPress itself.
 *
 * @return bool
 */
function newsroom_wordpress_is_public() {
	/**
	 * Filters whether readers may be sent to WordPress itself, if a text links to something that the site doesn't have (a tag, an
	 * attachment). By default they may if search engines may: Settings → Reading.
	 *
	 * @param bool $public Whether they may.
	 */
	return (bool) apply_filters( 'newsroom_wordpress_is_public', (bool) get_option( 'blog_public' ) );
}

/**
 * Base address of the uploads.
 *
 * @return string
 */
function newsroom_uploads_url() {
	$uploads = wp_get_upload_dir();
	return isset( $uploads['baseurl'] ) ? (string) $uploads['baseurl'] : '';
}

/**
 * Whether this request has a user name and a password that reached PHP.
 *
 * @return bool
 */
function newsroom_came_with_password() {
	foreach ( array( 'PHP_AUTH_USER', 'HTTP_AUTHORIZATION', 'REDIRECT_HTTP_AUTHORIZATION' ) as $name ) {
		if ( ! empty( $_SERVER[ $name ] ) ) {
			return true;
		}
	}
	return false;
}

/**
 * Whether the hourly task is a day overdue.
 *
 * @return bool
 */
function newsroom_tasks_are_late() {
	$next = newsroom_next_cron( 'newsroom_deliver' );
	return null !== $next && $next < time() - DAY_IN_SECONDS;
}

/**
 * Problems that WordPress itself can detect.
 *
 * @return array[] Each: `code` and `message`, which names cause and remedy.
 */
function newsroom_problems() {
	$problems = array();
	$add      = static function ( $code, $message ) use ( &$problems ) {
		$problems[] = compact( 'code', 'message' );
	};
	if ( ! wp_is_application_passwords_available() ) {
		if ( ! wp_is_application_passwords_supported() ) {
			$add( 'passwords-need-https', __( 'Application passwords are off because WordPress isn’t served over HTTPS, so the site can’t sign in. Serve WordPress over HTTPS; behind a proxy that terminates HTTPS, set $_SERVER[\'HTTPS\'] = \'on\' in wp-config.php. On your own machine, define( \'WP_ENVIRONMENT_TYPE\', \'local\' ) in wp-config.php.', 'newsroom' ) );
		} else {
			$add( 'passwords-off', newsroom_explain_passwords_off() );
		}
	}
	if ( '' === (string) get_option( 'permalink_structure' ) ) {
		$add( 'plain-permalinks', __( 'Permalinks are plain, so the site can’t read /wp-json/. Choose "Post name" under Settings → Permalinks.', 'newsroom' ) );
	}
	$uploads = (string) wp_parse_url( newsroom_uploads_url(), PHP_URL_HOST );
	if ( '' !== $uploads && wp_parse_url( home_url(), PHP_URL_HOST ) !== $uploads ) {
		/* translators: %s: host name. */
		$add( 'uploads-elsewhere', sprintf( __( 'Uploads are on another host. Set IMAGE_HOSTS=%s on the site; otherwise the site leaves out pictures, audio and video from there.', 'newsroom' ), $uploads ) );
	}
	if ( newsroom_tasks_are_late() ) {
		$add( 'tasks-late', __( 'WordPress’s scheduled tasks aren’t running: scheduled stories don’t appear, and failed deliveries aren’t retried. If DISABLE_WP_CRON is set, have the server call wp-cron.php every minute.', 'newsroom' ) );
	}
	if ( '' === newsroom_site_url() ) {
		$add( 'no-site-address', __( 'The site’s address isn’t set, so changes aren’t sent to the site. Enter it under Settings → Newsroom.', 'newsroom' ) );
	}
	return $problems;
}

/**
 * Explains which plugin has turned off application passwords, if that is known.
 *
 * @return string
 */
function newsroom_explain_passwords_off() {
	if ( defined( 'WORDFENCE_VERSION' ) || class_exists( 'wordfence', false ) ) {
		return __( 'Wordfence has turned application passwords off, so the site can’t sign in. Allow them in Wordfence under All Options → Brute Force Protection → "Disable WordPress application passwords".', 'newsroom' );
	}
	return __( 'A plugin has turned application passwords off (the filter wp_is_application_passwords_available), so the site can’t sign in. Allow them in the settings of your security plugin.', 'newsroom' );
}

/**
 * Prints the causes on the settings page.
 */
function newsroom_print_problems() {
	foreach ( newsroom_problems() as $problem ) {
		printf( '<div class="notice notice-warning inline" data-problem="%1$s"><p>%2$s</p></div>', esc_attr( $problem['code'] ), esc_html( $problem['message'] ) );
	}
}

<?php
/**
 * The real Akismet, with its service in this process: what is sent to it is kept in an option, and words in a comment decide what it says.
 *
 * @package Newsroom
 */

if ( ! defined( 'ABSPATH' ) ) {
	exit;
}

add_filter(
	'pre_option_wordpress_api_key',
	static function () {
		return '0123456789ab';
	}
);
// After the sandbox's own, which lets nothing leave this machine.
add_filter(
	'pre_http_request',
	static function ( $answer, $request, $url ) {
		if ( ! preg_match( '#^https?://rest\.akismet\.com/1\.1/([\w-]+)#', $url, $found ) ) {
			return $answer;
		}
		wp_parse_str( $request['body'], $sent );
		$asked   = get_option( 'newsroom_tests_akismet', array() );
		$asked[] = array( 'path' => $found[1] ) + $sent;
		update_option( 'newsroom_tests_akismet', $asked, false );
		$spam = isset( $sent['comment_content'] ) && false !== strpos( $sent['comment_content'], 'akismet-guaranteed-spam' );
		return array(
			'headers'  => new WpOrg\Requests\Utility\CaseInsensitiveDictionary( array() ),
			'body'     => 'verify-key' === $found[1] ? 'valid' : ( $spam ? 'true' : 'false' ),
			'response' => array( 'code' => 200, 'message' => 'OK' ),
			'cookies'  => array(),
			'filename' => null,
		);
	},
	10,
	3
);
if ( ! class_exists( 'Akismet' ) ) {
	require WP_PLUGIN_DIR . '/akismet/akismet.php';
}
// What Akismet answers REST with when it drops a comment (class.akismet.php, auto_check_comment): an error without a status.
add_filter(
	'rest_pre_insert_comment',
	static function ( $prepared ) {
		return is_array( $prepared ) && false !== strpos( $prepared['comment_content'], 'discard-me' )
			? new WP_Error( 'akismet_rest_comment_discarded', 'Comment discarded.' )
			: $prepared;
	},
	2
);

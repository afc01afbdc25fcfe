<?php
/**
 * The real Akismet plugin, with its service simulated in this process: requests to it are stored in an option, and words in a comment
 * decide its answer.
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
// Runs after the sandbox's own filter, which keeps requests on this machine.
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
// Akismet's REST response when it drops a comment (class.akismet.php, auto_check_comment): an error without a status.
add_filter(
	'rest_pre_insert_comment',
	static function ( $prepared ) {
		return is_array( $prepared ) && false !== strpos( $prepared['comment_content'], 'discard-me' )
			? new WP_Error( 'akismet_rest_comment_discarded', 'Comment discarded.' )
			: $prepared;
	},
	2
);

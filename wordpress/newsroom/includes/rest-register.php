<?php
/**
 * How the plugin's own REST routes and fields are registered.
 *
 * @package Newsroom
 */

if ( ! defined( 'ABSPATH' ) ) {
	exit;
}

/**
 * Registers a route of the plugin.
 *
 * @param string   $method   HTTP method.
 * @param string   $route    Path after /newsroom/v1.
 * @param callable $callback Gets the request, returns the response's data, a response or an error.
 * @param callable $may      Whether the user may call it; gets the request.
 * @param array    $args     Parameters, see register_rest_route().
 */
function newsroom_route( $method, $route, $callback, $may, $args = array() ) {
	add_action(
		'rest_api_init',
		static function () use ( $method, $route, $callback, $may, $args ) {
			register_rest_route(
				'newsroom/v1',
				$route,
				array(
					'methods'             => $method,
					'callback'            => $callback,
					'permission_callback' => $may,
					'args'                => $args,
				)
			);
		}
	);
}

/**
 * Registers a read-only field of documents or categories.
 *
 * @param string|string[] $types    Post types, or a taxonomy.
 * @param string          $name     Field.
 * @param callable        $callback Gets the id, returns the value.
 * @param array|callable  $schema   Schema of the value; a function if it has translated parts, which aren't loaded yet.
 */
function newsroom_rest_field( $types, $name, $callback, $schema ) {
	add_action(
		'rest_api_init',
		static function () use ( $types, $name, $callback, $schema ) {
			$readonly = array(
				'context'  => array( 'view', 'edit', 'embed' ),
				'readonly' => true,
			);
			register_rest_field(
				$types,
				$name,
				array(
					'get_callback' => static fn( $item ) => call_user_func( $callback, $item['id'] ),
					'schema'       => ( is_array( $schema ) ? $schema : $schema() ) + $readonly,
				)
			);
		}
	);
}

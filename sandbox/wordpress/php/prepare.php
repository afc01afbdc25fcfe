<?php
/**
 * Gives a new or an older WordPress the sandbox's settings. Runs at every start.
 *
 * $input: url, adminUser, adminPassword, siteUser, siteApplicationPassword (or null), secret, plugins, sections, title,
 * tagline.
 * Prints {"siteApplicationPassword": "..."}.
 */

require_once ABSPATH . 'wp-admin/includes/plugin.php';
require_once ABSPATH . 'wp-admin/includes/user.php';

global $wpdb, $wp_rewrite;

$first_time = ! get_option( 'sandbox_prepared' );

if ( $first_time ) {
	$wpdb->update(
		$wpdb->users,
		array( 'user_login' => $input['adminUser'], 'user_nicename' => $input['adminUser'], 'display_name' => 'The Editor' ),
		array( 'ID' => 1 )
	);
	clean_user_cache( 1 );
	update_user_meta( 1, 'nickname', 'The Editor' );
	foreach ( array( 'post', 'page' ) as $type ) {
		foreach ( get_posts( array( 'post_type' => $type, 'post_status' => 'any', 'numberposts' => -1, 'fields' => 'ids' ) ) as $id ) {
			wp_delete_post( $id, true );
		}
	}
	$options = array(
		'blogname'                     => $input['title'],
		'blogdescription'              => $input['tagline'],
		'timezone_string'              => 'America/New_York',
		'date_format'                  => 'F j, Y',
		'time_format'                  => 'g:i a',
		'start_of_week'                => 0,
		'default_comment_status'       => 'open',
		'default_ping_status'          => 'closed',
		'comment_moderation'           => 1,
		'comment_previously_approved'  => 1,
		'comment_registration'         => 0,
		'require_name_email'           => 1,
		'comments_notify'              => 0,
		'moderation_notify'            => 0,
		'thread_comments'              => 1,
		'users_can_register'           => 0,
		'uploads_use_yearmonth_folders' => 1,
		'show_avatars'                 => 0,
	);
	foreach ( $options as $name => $value ) {
		update_option( $name, $value );
	}
	$wp_rewrite->set_permalink_structure( '/%postname%/' );
	// The sections' ids are fixed, so WordPress's default category gets another id. Meta keys are the plugin's.
	foreach ( array( $wpdb->terms, $wpdb->term_taxonomy ) as $table ) {
		$wpdb->query( "UPDATE {$table} SET term_id = 90 WHERE term_id = 1" );
	}
	update_option( 'default_category', 90 );
	foreach ( $input['sections'] as $section ) {
		$wpdb->insert( $wpdb->terms, array( 'term_id' => $section['id'], 'name' => $section['name'], 'slug' => $section['slug'], 'term_group' => 0 ) );
		$wpdb->insert( $wpdb->term_taxonomy, array( 'term_id' => $section['id'], 'taxonomy' => 'category', 'description' => '', 'parent' => 0, 'count' => 0 ) );
		update_term_meta( $section['id'], 'newsroom_label', $section['label'] );
		update_term_meta( $section['id'], 'newsroom_navigation_position', $section['position'] );
		update_term_meta( $section['id'], 'newsroom_home_count', $section['homeCount'] );
		update_term_meta( $section['id'], 'newsroom_color', $section['color'] );
		update_term_meta( $section['id'], 'newsroom_show_in_media', $section['showInMedia'] ? '1' : '0' );
	}
	clean_taxonomy_cache( 'category' );
	// The editor opens without welcome tours.
	update_user_meta( 1, 'show_welcome_panel', 0 );
	update_user_meta(
		1,
		$wpdb->get_blog_prefix() . 'persisted_preferences',
		array(
			'core'           => array( 'welcomeGuide' => false ),
			'core/edit-post' => array( 'welcomeGuide' => false, 'fullscreenMode' => false ),
			'_modified'      => gmdate( 'c' ),
		)
	);
}

// Without these, as in a WordPress whose settings were never saved, each request looks for each of them in the database.
foreach ( array( 'WPLANG' => '', 'theme_switched' => '', 'theme_mods_' . get_stylesheet() => array() ) as $name => $value ) {
	add_option( $name, $value );
}

$admin = get_user_by( 'id', 1 );
if ( ! wp_check_password( $input['adminPassword'], $admin->user_pass, 1 ) ) {
	wp_set_password( $input['adminPassword'], 1 );
}

foreach ( $input['plugins'] as $slug ) {
	foreach ( array_keys( get_plugins( '/' . $slug ) ) as $file ) {
		$result = activate_plugin( $slug . '/' . $file );
		if ( is_wp_error( $result ) ) {
			throw new RuntimeException( $slug . ': ' . $result->get_error_message() );
		}
	}
}

// The user with whom the site signs in; the plugin defines its role.
$role = get_role( 'newsroom_site' ) ? 'newsroom_site' : 'editor';
$site = get_user_by( 'login', $input['siteUser'] );
if ( ! $site ) {
	$id = wp_insert_user(
		array(
			'user_login'   => $input['siteUser'],
			'user_pass'    => wp_generate_password( 40 ),
			'user_email'   => 'site@newsroom.invalid',
			'display_name' => 'The website',
			'role'         => $role,
		)
	);
	if ( is_wp_error( $id ) ) {
		throw new RuntimeException( $id->get_error_message() );
	}
	$site = get_user_by( 'id', $id );
} elseif ( ! in_array( $role, $site->roles, true ) ) {
	$site->set_role( $role );
}

$password = $input['siteApplicationPassword'];
$valid    = false;
foreach ( WP_Application_Passwords::get_user_application_passwords( $site->ID ) as $item ) {
	if ( $password && WP_Application_Passwords::check_password( $password, $item['password'] ) ) {
		$valid = true;
	}
}
if ( ! $valid ) {
	WP_Application_Passwords::delete_all_application_passwords( $site->ID );
	$created = WP_Application_Passwords::create_new_application_password( $site->ID, array( 'name' => 'The website' ) );
	if ( is_wp_error( $created ) ) {
		throw new RuntimeException( $created->get_error_message() );
	}
	$password = $created[0];
}

// After a change of port, updates the addresses inside texts.
$before = get_option( 'sandbox_url' );
if ( $before && $before !== $input['url'] ) {
	$wpdb->query( $wpdb->prepare( "UPDATE {$wpdb->posts} SET post_content = REPLACE( post_content, %s, %s )", $before . '/', $input['url'] . '/' ) );
	$wpdb->query( $wpdb->prepare( "UPDATE {$wpdb->postmeta} SET meta_value = REPLACE( meta_value, %s, %s ) WHERE meta_value NOT LIKE 'a:%%' AND meta_value NOT LIKE '%%;s:%%'", $before . '/', $input['url'] . '/' ) );
}
update_option( 'sandbox_url', $input['url'] );
update_option( 'sandbox_prepared', 1 );
flush_rewrite_rules( false );

echo wp_json_encode( array( 'siteApplicationPassword' => $password ) );

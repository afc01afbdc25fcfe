<?php
/**
 * An ordinary WordPress, with what imports and years of use leave behind. Required by adopt.test.ts inside WordPress; returns ids
 * by name.
 *
 * @package Newsroom
 */

global $wpdb, $wp_rewrite;
$wp_rewrite->set_permalink_structure( '/%year%/%monthnum%/%postname%/' );
update_option( 'category_base', 'topics' );
$wp_rewrite->init();
flush_rewrite_rules();

$user = static function ( $login, $name, $more = array() ) {
	return wp_insert_user(
		$more + array(
			'user_login'   => $login,
			'user_pass'    => 'x',
			'user_email'   => "$login@newsroom.invalid",
			'display_name' => $name,
			'role'         => 'author',
		)
	);
};
$ids  = array(
	'ada'    => $user( 'ada', 'Ada O’Vale', array( 'description' => 'Writes about <b>rivers</b>.' ) ),
	'bo'     => $user( 'bo', 'bo@newsroom.invalid' ),
	'idle'   => $user( 'idle', 'Never Wrote' ),
	'drafty' => $user( 'drafty', 'Only Drafts' ),
	'cleo'   => $user( 'cleo.m', 'Cleo Marsh' ),
	'gone'   => $user( 'gone', 'Was Deleted' ),
);
// Her author document existed before, with another slug than her archive's.
$ids['byline'] = wp_insert_post( array( 'post_type' => 'authors', 'post_title' => 'Cleo Marsh', 'post_name' => 'cleo', 'post_status' => 'publish' ) );

$category = static function ( $name, $slug, $parent = 0 ) {
	return wp_insert_term( $name, 'category', compact( 'slug', 'parent' ) )['term_id'];
};
$ids['news']     = $category( 'News', 'news' );
$ids['region']   = $category( 'Region', 'region', $ids['news'] );
$ids['city']     = $category( 'City', 'city', $ids['region'] );
$ids['borough']  = $category( 'Borough', 'borough', $ids['city'] );
$ids['politix']  = $category( 'POLITICS', 'politics-2' );
$ids['sport']    = $category( '100 % Sport & more', 'sport' );
$ids['empty']    = $category( 'Empty', 'empty' );
$ids['culture']  = get_term_by( 'slug', 'culture', 'category' )->term_id;
$ids['politics'] = get_term_by( 'slug', 'politics', 'category' )->term_id;
$ids['none']     = (int) get_option( 'default_category' );

$post = static function ( $title, $categories, $more = array() ) {
	static $day = 0;
	++$day;
	return wp_insert_post(
		wp_slash(
			$more + array(
				'post_title'    => $title,
				'post_status'   => 'publish',
				'post_content'  => "<!-- wp:paragraph -->\n<p>$title, \"quoted\" \\ back.</p>\n<!-- /wp:paragraph -->",
				'post_date'     => gmdate( 'Y-m-d H:i:s', gmmktime( 9, 0, 0, 1, $day, 2024 ) ),
				'post_author'   => get_user_by( 'login', 'ada' )->ID,
				'post_category' => $categories,
			)
		),
		true
	);
};
$ids['plain']     = $post( 'Plain story', array( $ids['news'] ), array( 'post_excerpt' => 'By hand.', 'tags_input' => array( 'one', 'two' ), 'meta_input' => array( 'mood' => 'a:1:{i:0;s:1:"x";}', '_yoast_wpseo_primary_category' => (string) $ids['news'] ) ) );
$ids['deep']      = $post( 'Deep story', array( $ids['borough'] ), array( 'post_author' => $ids['bo'] ) );
$ids['joined']    = $post( 'Party story', array( $ids['politix'], $ids['culture'] ) );
$ids['sporty']    = $post( 'Goal', array( $ids['sport'] ), array( 'post_author' => $ids['cleo'] ) );
$ids['hebrew']    = $post( 'שלום עולם', array( $ids['news'] ) );
$ids['bare']      = $post( 'Bare', array( $ids['none'] ) );
$ids['orphan']    = $post( 'Orphan', array( $ids['news'] ), array( 'post_author' => $ids['gone'] ) );
$ids['draft']     = $post( 'Draft', array( $ids['borough'] ), array( 'post_status' => 'draft', 'post_author' => $ids['drafty'] ) );
// A story of ordinary length, which the check doesn't report as long.
$ids['pending']   = $post( 'Pending', array( $ids['news'] ), array( 'post_status' => 'pending', 'post_content' => str_repeat( 'word ', 400 ) ) );
$ids['private']   = $post( 'Private', array( $ids['news'] ), array( 'post_status' => 'private' ) );
$ids['future']    = $post( 'Later', array( $ids['news'] ), array( 'post_date' => gmdate( 'Y-m-d H:i:s', time() + 9 * DAY_IN_SECONDS ), 'post_status' => 'future' ) );
$ids['protected'] = $post( 'Protected', array( $ids['news'] ), array( 'post_password' => 'sesame' ) );
$ids['trashed']   = $post( 'Trashed', array( $ids['news'] ) );
wp_trash_post( $ids['trashed'] );
$ids['shortcodes'] = $post( 'Codes', array( $ids['news'] ), array( 'post_content' => '[gallery ids="1"] [sic] [the mayor] [old_form id="3"] [box]in[/box] [[escaped]]' ) );
$ids['long']       = $post( 'Long', array( $ids['news'] ), array( 'post_content' => str_repeat( 'word ', 110000 ) ) );
$ids['renamed']    = $post( 'Renamed', array( $ids['news'] ), array( 'post_name' => 'first-name' ) );
wp_update_post( array( 'ID' => $ids['renamed'], 'post_name' => 'second-name' ) );
// The same slug in three years, and once more for an existing article.
$ids['same1'] = $post( 'Same one', array( $ids['news'] ), array( 'post_date' => '2021-05-05 05:05:05', 'post_status' => 'draft' ) );
$ids['same2'] = $post( 'Same two', array( $ids['news'] ), array( 'post_date' => '2022-05-05 05:05:05' ) );
$ids['same3'] = $post( 'Same three', array( $ids['news'] ), array( 'post_date' => '2023-05-05 05:05:05' ) );
$ids['same4'] = wp_insert_post( array( 'post_type' => 'articles', 'post_title' => 'Same four', 'post_name' => 'annual', 'post_status' => 'publish' ) );
foreach ( array( 'same1', 'same2', 'same3' ) as $name ) {
	$wpdb->update( $wpdb->posts, array( 'post_name' => 'annual' ), array( 'ID' => $ids[ $name ] ) );
}
for ( $number = 0; $number < 35; $number++ ) {
	$post( "Filler $number", array( $number % 2 ? $ids['news'] : $ids['sport'] ) );
}

$picture = wp_insert_attachment( array( 'post_mime_type' => 'image/png', 'post_title' => 'Tower', 'post_status' => 'inherit' ), 'tower.png', $ids['plain'] );
set_post_thumbnail( $ids['plain'], $picture );
wp_insert_comment( array( 'comment_post_ID' => $ids['plain'], 'comment_author' => 'A Reader', 'comment_content' => 'Well said.', 'comment_approved' => 1 ) );
wp_update_post( wp_slash( array( 'ID' => $ids['plain'], 'post_content' => '<p>Rewritten once, after <a href="' . home_url( '/2024/01/deep-story/#there' ) . '">another</a> and <a href="' . home_url( "/?p={$ids['sporty']}" ) . '">a third</a>.</p>' ) ) );
$wpdb->delete( $wpdb->users, array( 'ID' => $ids['gone'] ) );
// Pings are a WordPress task that would change rows while a test compares them.
wp_clear_scheduled_hook( 'do_pings' );
$wpdb->query( "DELETE FROM {$wpdb->postmeta} WHERE meta_key IN ('_encloseme','_pingme')" );
// An editor has the blank post of "Add New" open.
$ids['blank'] = wp_insert_post( array( 'post_title' => 'Auto Draft', 'post_status' => 'auto-draft' ) );
// As after an import: modification dates of long ago.
$wpdb->query( "UPDATE {$wpdb->posts} SET post_modified = '2024-02-02 00:00:00', post_modified_gmt = '2024-02-02 05:00:00' WHERE post_type = 'post'" );
wp_cache_flush();
return $ids;

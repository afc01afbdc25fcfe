<?php
/**
 * Plugin Name:       Newsroom
 * Description:       Edits a newspaper in WordPress that readers see on a site of its own: articles, videos, crosswords, authors and sections, access levels, signed webhooks and previews.
 * Version:           1.3.0
 * Requires at least: 6.1
 * Requires PHP:      7.4
 * Author:            The Broadsheet authors
 * License:           GPL-2.0-or-later
 * License URI:       https://www.gnu.org/licenses/gpl-2.0.html
 * Text Domain:       newsroom
 * Domain Path:       /languages
 *
 * @package Newsroom
 */

if ( ! defined( 'ABSPATH' ) ) {
	exit;
}

define( 'NEWSROOM_VERSION', '1.3.0' );
define( 'NEWSROOM_FILE', __FILE__ );

$newsroom_parts = array(
	'documents',     // Which post types travel to the site, and under which names.
	'options',       // Site address and secret.
	'install',       // Activation, upgrades.
	'roles',         // The site's own role, and what its credentials may read.
	'types',         // Post types.
	'terms',         // Sections: term meta, first set-up.
	'term-screen',   // Sections: the edit screens and columns.
	'fields',        // Post meta and how it is cleaned.
	'values',        // What a field's value is, Advanced Custom Fields included.
	'meta-boxes',    // Boxes beside the editor.
	'picker',        // An ordered list of documents in a box.
	'top-stories',   // The box of the front page.
	'live',          // Live coverage: the state of a story, its entries.
	'live-screen',   // The screen on which entries are written.
	'panels',        // What the panels of the block editor share.
	'corrections',   // Corrections and clarifications of an article.
	'headline-tests', // Several headlines for the cards of an article.
	'headline-test-check', // What the site says of a test, and its end.
	'headline-test-editor', // The panel, the box and the column of tests.
	'bylines',       // Authors, contributors and agency of an article.
	'byline-sources', // What other plugins hold of them.
	'byline-editor', // The panel and the box of the byline.
	'article-columns', // The list of articles: byline and access.
	'blocks',        // Blocks that work without WordPress's scripts.
	'attachments',   // The credit of a picture.
	'audio-files',   // Audio files, and that their addresses stay unknown.
	'series',        // Series of episodes: the fields of podcast directories.
	'episodes',      // The sound of an article.
	'opening',       // The part of a body that anyone may read.
	'access',        // Who gets the rest.
	'visitor',       // The site reads as an anonymous visitor.
	'search',        // Searching without revealing what cannot be read.
	'rest',          // REST fields.
	'rest-query',    // REST filters: category, author_id.
	'rest-key',      // Pages of lists by key: after_key.
	'menus',         // /newsroom/v1/menus.
	'health',        // What keeps the two from working together.
	'akismet',       // Spam is judged by the reader's address.
	'status',        // /newsroom/v1/status.
	'touch',         // Keeps post_modified honest for modified_after.
	'pictures',      // Pictures whose files were deleted or replaced.
	'changes',       // Documents: what happened in this request.
	'change-others', // Terms, menus and comments: what happened in this request.
	'comments',      // Readers' comments as the site brings them.
	'comments-screen', // How often readers have reported them.
	'queue',         // The table of deliveries.
	'version-store', // Versions of stories: the tables.
	'versions',      // Every published version of a story is kept.
	'version-words', // What changed between two versions, in words.
	'version-screen', // The list of a story's versions.
	'version-compare', // Two versions beside each other.
	'version-restore', // An earlier version in the editor, as a change that isn't saved.
	'version-privacy', // Export and erasure of an editor's name.
	'changes-route', // /newsroom/v1/changes.
	'deliveries',    // Sends what is due, retries.
	'webhook',       // One signed request.
	'delivery-note', // Tells the editor that the site has it.
	'links',         // Public addresses point to the site.
	'former-links',  // Permalinks of posts that became articles.
	'preview',       // Signed previews.
	'alert',         // Breaking news: the alert, its routes.
	'alert-screen',  // Breaking news: the screen.
	'reading-now',   // What is read now: asks the site.
	'reading-screen', // What is read now: the widget and the screen.
	'front',         // Fronts: drafts, what is published, what is scheduled.
	'front-wire',    // Fronts as the site receives them.
	'front-slots',   // Slots of a front, and how two fronts differ.
	'front-routes',  // Routes of the screen.
	'front-screen',  // The screen "Front".
	'settings',      // Settings → Newsroom.
	'settings-log',  // The last deliveries.
	'adopt',         // An ordinary WordPress becomes a newsroom: the task and its phases.
	'adopt-journal', // What was changed, the lock, transactions.
	'adopt-sections', // Categories become sections.
	'adopt-authors', // Users become authors.
	'adopt-posts',   // Posts become articles.
	'adopt-check',   // What would happen: counts and problems.
	'adopt-command', // wp newsroom adopt.
	'adopt-screen',  // Tools → Adopt this site.
);
foreach ( $newsroom_parts as $newsroom_part ) {
	require_once __DIR__ . '/includes/' . $newsroom_part . '.php';
}
unset( $newsroom_parts, $newsroom_part );

register_activation_hook( __FILE__, 'newsroom_activate' );
register_deactivation_hook( __FILE__, 'newsroom_deactivate' );

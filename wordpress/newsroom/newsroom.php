<?php
/**
 * Plugin Name:       Newsroom
 * Description:       Edit a newspaper in WordPress that readers see on a separate site: articles, videos, crosswords, authors and sections, access levels, signed webhooks and previews.
 * Version:           1.4.0
 * Requires at least: 6.2
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

define( 'NEWSROOM_VERSION', '1.4.0' );
define( 'NEWSROOM_FILE', __FILE__ );

$newsroom_parts = array(
	'documents',     // Which post types are sent to the site, and their names there; texts and times.
	'options',       // Site address and secret.
	'rest-register', // How REST routes and fields are registered.
	'install',       // Activation, upgrades.
	'roles',         // The site's own role, and what its credentials may read.
	'types',         // Post types.
	'terms',         // Sections: term meta, first set-up.
	'term-screen',   // Sections: the edit screens and columns.
	'fields',        // Post meta and how it is cleaned.
	'values',        // Values of fields, including those of Advanced Custom Fields.
	'form-fields',   // Labeled fields of boxes and screens.
	'meta-boxes',    // Boxes next to the editor.
	'picker',        // An ordered list of documents in a box.
	'top-stories',   // The box of the front page.
	'live',          // Live coverage: the state of a story, its entries.
	'live-screen',   // The screen on which entries are written.
	'panels',        // Loads scripts, and what the block editor panels share.
	'corrections',   // Corrections and clarifications of an article.
	'headline-tests', // Several headlines for the cards of an article.
	'headline-test-updates', // Updates that don't know that a test has ended.
	'headline-test-check', // The site's report on a test, and the end of a test.
	'headline-test-editor', // The panel, the box and the column of tests.
	'bylines',       // Authors, contributors and agency of an article.
	'byline-sources', // Bylines from other plugins.
	'byline-editor', // The panel and the box of the byline.
	'article-columns', // The list of articles: byline and access.
	'blocks',        // Blocks that work without WordPress's scripts.
	'attachments',   // The credit of a picture.
	'file-privacy',  // Addresses of recordings, films and documents are hidden.
	'audio-files',   // Audio files for the site.
	'series',        // Series of episodes: the fields of podcast directories.
	'episodes',      // The sound of an article.
	'opening',       // The part of a body that anyone may read.
	'access',        // Who may read the rest.
	'visitor',       // The site reads as an anonymous visitor.
	'search',        // Search that doesn't reveal restricted text.
	'rest',          // REST fields.
	'rest-query',    // REST filters: category, author_id.
	'rest-key',      // Paging by key: after_key.
	'menus',         // /newsroom/v1/menus.
	'health',        // Problems between the site and WordPress.
	'akismet',       // Gives Akismet the reader's address.
	'status',        // /newsroom/v1/status.
	'touch',         // Updates post_modified for modified_after.
	'edited',        // When the words of an article last changed.
	'patterns',      // Synced patterns in the text of documents.
	'pictures',      // Pictures whose files were deleted or replaced, and pictures in texts.
	'changes',       // Documents: changes in this request.
	'change-others', // Terms, menus and comments: changes in this request.
	'comments',      // Readers' comments, which the site posts.
	'comment-privacy', // Addresses and browsers of commenters are emptied.
	'comments-screen', // The column for readers' reports.
	'queue',         // The table of deliveries.
	'version-store', // Versions of stories: the tables.
	'versions',      // Every published version of a story is kept.
	'version-words', // Describes the changes between two versions.
	'version-lines', // Each part of a version as lines of text.
	'version-screen', // The list of a story's versions.
	'version-compare', // Comparison of two versions.
	'version-restore', // Opens an earlier version in the editor as an unsaved change.
	'changes-route', // /newsroom/v1/changes.
	'deliveries',    // Sends what is due, retries.
	'webhook',       // One signed request.
	'delivery-note', // Tells the editor that the site shows the change.
	'links',         // Public addresses point to the site.
	'former-links',  // Permalinks of posts that became articles.
	'preview',       // Signed previews.
	'alert',         // Breaking news: the alert, its routes.
	'alert-screen',  // Breaking news: the screen.
	'reading-now',   // Current readings: the requests to the site.
	'reading-screen', // Current readings: the widget and the screen.
	'front',         // Fronts: drafts, published and scheduled fronts.
	'front-wire',    // Fronts as the site receives them.
	'front-slots',   // Slots of a front, and how two fronts differ.
	'front-routes',  // Routes of the screen.
	'front-screen',  // The screen "Front".
	'editor-privacy', // Export and erasure of an editor's name in versions, in fronts and in the alert.
	'settings',      // Settings → Newsroom.
	'settings-log',  // The last deliveries.
	'adopt',         // An ordinary WordPress becomes a newsroom: the task and its phases.
	'adopt-journal', // The journal of changes, the lock, transactions.
	'adopt-sections', // Categories become sections.
	'adopt-authors', // Users become authors.
	'adopt-posts',   // Posts become articles.
	'adopt-check',   // The check: counts and problems.
	'adopt-command', // wp newsroom adopt.
	'adopt-screen',  // Tools → Adopt this site.
);
foreach ( $newsroom_parts as $newsroom_part ) {
	require_once __DIR__ . '/includes/' . $newsroom_part . '.php';
}
unset( $newsroom_parts, $newsroom_part );

register_activation_hook( __FILE__, 'newsroom_activate' );
register_deactivation_hook( __FILE__, 'newsroom_deactivate' );

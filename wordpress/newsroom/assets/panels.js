/** What the plugin's panels of the block editor share. */
( function () {
	'use strict';

	const { createElement: el, Fragment, useEffect } = wp.element;
	const { useDispatch } = wp.data;
	const Panel =
		wp.editor.PluginDocumentSettingPanel ||
		wp.editPost.PluginDocumentSettingPanel;

	/**
	 * Locks saving while `locked`, and says why above the story. For a component beside a panel: what is in a panel is gone while the panel
	 * is closed.
	 */
	function useSavingLock( locked, id, message ) {
		const { lockPostSaving, unlockPostSaving } =
			useDispatch( 'core/editor' );
		const { createErrorNotice, removeNotice } =
			useDispatch( 'core/notices' );
		useEffect( () => {
			if ( ! locked ) {
				return;
			}
			lockPostSaving( id );
			// The message beside the field is read out already.
			createErrorNotice( message, {
				id,
				isDismissible: false,
				speak: false,
			} );
			return () => {
				unlockPostSaving( id );
				removeNotice( id );
			};
		}, [ locked ] );
	}

	/** Registers a panel. `Beside` is a component that is there while the panel is closed. */
	function registerPanel( { name, title, Inside, Beside } ) {
		wp.plugins.registerPlugin( name, {
			render: () =>
				el(
					Fragment,
					null,
					Beside && el( Beside ),
					el( Panel, { name, title }, el( Inside ) )
				),
		} );
	}

	window.newsroomPanels = { registerPanel, useSavingLock };
} )();

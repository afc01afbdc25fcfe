/** Shared code of the plugin's block editor panels. */
( function () {
	'use strict';

	const { createElement: el, Fragment, useEffect } = wp.element;
	const { useDispatch, useSelect } = wp.data;
	const Panel =
		wp.editor.PluginDocumentSettingPanel ||
		wp.editPost.PluginDocumentSettingPanel;

	/** The meta of the story as edited. */
	const metaIn = ( select ) =>
		select( 'core/editor' ).getEditedPostAttribute( 'meta' ) || {};

	/** The meta of the story as edited, and a function that changes a part of it. */
	function useMeta() {
		const meta = useSelect( metaIn, [] );
		const { editPost } = useDispatch( 'core/editor' );
		// All of the meta, because the editor's undo and redo replace it with what is passed here.
		const change = ( part ) =>
			editPost( { meta: { ...metaIn( wp.data.select ), ...part } } );
		return [ meta, change ];
	}

	/** A message about a field. @param id referred to by the field's `aria-describedby` */
	const Problem = ( { id, children } ) =>
		el( 'p', { id, className: 'newsroom-problem', role: 'alert' }, children );

	/**
	 * Locks saving while `locked`, and shows the reason above the story. For a component outside of a panel, because a panel's content
	 * isn't rendered while it is closed.
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
			// Not announced: the message next to the field already is.
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

	/** Registers a panel. `Always` is a component that is rendered even while the panel is closed. */
	function registerPanel( { name, title, Inside, Always } ) {
		wp.plugins.registerPlugin( name, {
			render: () =>
				el(
					Fragment,
					null,
					Always && el( Always ),
					el( Panel, { name, title }, el( Inside ) )
				),
		} );
	}

	window.newsroomPanels = {
		metaIn,
		Problem,
		registerPanel,
		useMeta,
		useSavingLock,
	};
} )();

/**
 * The screen "Live": a block editor for the next entry, and the entries of the story below it. What is written is saved as a
 * draft; Ctrl+Enter (Command+Enter) publishes it and starts the next one.
 */
( function () {
	'use strict';

	const { apiFetch } = wp;
	const { createElement: el, useEffect, useState } = wp.element;
	const {
		Button,
		CheckboxControl,
		Notice,
		Popover,
		SelectControl,
		SlotFillProvider,
		TextControl,
	} = wp.components;
	const {
		BlockEditorKeyboardShortcuts,
		BlockEditorProvider,
		BlockList,
		BlockTools,
		Inserter,
		ObserveTyping,
		WritingFlow,
	} = wp.blockEditor;
	const { __, sprintf } = wp.i18n;
	const { control, plain } = window.newsroomShared;
	const { story, authors, settings, publish, entries } = window.newsroomLive;
	const { edit, emptyEntry, keep, send, set, useEntry, usePosts, useRequests, withdraw } = entries;

	/** Milliseconds from the last change until it is saved. */
	const keepAfter = 3000;

	const isMac = /Mac|iPhone|iPad/.test( window.navigator.platform );
	const keys = isMac ? '⌘ Enter' : 'Ctrl+Enter';

	const nameOf = ( post ) =>
		plain( post.title.raw ).trim() ||
		plain( post.content.raw ).trim().slice( 0, 80 ) ||
		__( '(no text)', 'newsroom' );

	const mediaUpload = ( options ) =>
		wp.mediaUtils.uploadMedia( {
			...options,
			wpAllowedMimeTypes: settings.allowedMimeTypes,
			onError: ( { message } ) => options.onError( message ),
		} );
	const editorSettings = { ...settings, mediaUpload };

	/** The block editor of one entry. */
	function Body( { blocks, change } ) {
		return el(
			BlockEditorProvider,
			{
				value: blocks,
				onInput: change,
				onChange: change,
				settings: editorSettings,
			},
			el( BlockEditorKeyboardShortcuts.Register ),
			el(
				'div',
				{ className: 'newsroom-live-inserter' },
				el( Inserter, { rootClientId: null, isAppender: false } )
			),
			el(
				BlockTools,
				{ className: 'newsroom-live-body' },
				el(
					'div',
					{ className: 'editor-styles-wrapper' },
					el(
						WritingFlow,
						null,
						el( ObserveTyping, null, el( BlockList ) )
					)
				)
			)
		);
	}

	/** One entry of the list: published, a draft or pending review. */
	function Row( { post, screen } ) {
		const name = nameOf( post );
		const { newsroom_pinned: pinned, newsroom_key_event: keyEvent } =
			post.meta;
		const button = ( label, onClick, props ) =>
			el(
				Button,
				{
					variant: 'tertiary',
					onClick,
					'aria-label': sprintf( '%1$s: %2$s', label, name ),
					...props,
				},
				label
			);
		return el(
			'li',
			{ className: post.id === screen.entry.id ? 'is-edited' : undefined },
			el(
				'p',
				null,
				el( 'strong', null, name ),
				post.status === 'draft' &&
					el( 'span', null, ' — ', __( 'Draft', 'newsroom' ) ),
				post.status === 'pending' &&
					el( 'span', null, ' — ', __( 'Pending review', 'newsroom' ) ),
				pinned && el( 'span', null, ' — ', __( 'Pinned', 'newsroom' ) ),
				keyEvent &&
					el( 'span', null, ' — ', __( 'Key event', 'newsroom' ) )
			),
			el(
				'p',
				{ className: 'description' },
				wp.date.dateI18n(
					wp.date.getSettings().formats.datetime,
					post.date
				)
			),
			button( __( 'Edit', 'newsroom' ), () => edit( screen, post ) ),
			button(
				pinned ? __( 'Unpin', 'newsroom' ) : __( 'Pin', 'newsroom' ),
				() => set( screen, post, 'pinned', ! pinned )
			),
			button(
				keyEvent
					? __( 'Not a key event', 'newsroom' )
					: __( 'Key event', 'newsroom' ),
				() => set( screen, post, 'keyEvent', ! keyEvent )
			),
			button( __( 'Withdraw', 'newsroom' ), () => withdraw( screen, post ), {
				isDestructive: true,
			} )
		);
	}

	/** The state of the story, and buttons to change it. */
	function State( { enqueue } ) {
		const [ state, setState ] = useState( window.newsroomLive.state );
		const isLive = state === 'live';
		const words = {
			'': __( 'This story isn’t live.', 'newsroom' ),
			live: __( 'This story is live.', 'newsroom' ),
			ended: __( 'Live coverage has ended.', 'newsroom' ),
		};
		const next = isLive ? 'ended' : 'live';
		const change = async () => {
			await apiFetch( {
				path: `/wp/v2/articles/${ story }`,
				method: 'POST',
				data: { meta: { newsroom_live: next } },
			} );
			setState( next );
		};
		const label = isLive
			? __( 'End live coverage', 'newsroom' )
			: __( 'Start live coverage', 'newsroom' );
		return el(
			'p',
			{ className: 'newsroom-live-state' },
			el( 'span', { role: 'status' }, words[ state ] ),
			' ',
			el(
				Button,
				{ variant: 'secondary', onClick: () => enqueue( change ) },
				label
			)
		);
	}

	/** The fields of the entry other than its headline and text, and the buttons. */
	function EntryFields( { screen } ) {
		const { entry, change } = screen;
		const action = publish
			? __( 'Publish', 'newsroom' )
			: __( 'Submit for review', 'newsroom' );
		const flag = ( name, label ) =>
			el( CheckboxControl, {
				label,
				checked: entry[ name ],
				onChange: ( value ) => change( { [ name ]: value } ),
				__nextHasNoMarginBottom: true,
			} );
		return el(
			'div',
			{ className: 'newsroom-live-fields' },
			el( SelectControl, {
				...control,
				label: __( 'Byline', 'newsroom' ),
				value: entry.byline,
				options: authors,
				onChange: ( byline ) => change( { byline: Number( byline ) } ),
			} ),
			flag( 'keyEvent', __( 'Key event', 'newsroom' ) ),
			flag( 'pinned', __( 'Pinned', 'newsroom' ) ),
			el(
				Button,
				{
					variant: 'primary',
					onClick: () => send( screen ),
					'aria-keyshortcuts': isMac ? 'Meta+Enter' : 'Control+Enter',
				},
				sprintf(
					/* translators: 1: "Publish", "Submit for review" or "Update", 2: keys. */
					'%1$s (%2$s)',
					entry.status === 'publish' ? __( 'Update', 'newsroom' ) : action,
					keys
				)
			),
			entry.id &&
				el(
					Button,
					{
						variant: 'tertiary',
						onClick: () =>
							screen.replaceEntry( async () => {
								await keep( screen );
								screen.begin( emptyEntry( entry.byline ) );
							} ),
					},
					__( 'Write a new entry', 'newsroom' )
				)
		);
	}

	/** The form of the entry. */
	function Writing( { screen } ) {
		const { entry, change, message, problem } = screen;
		const onKeyDown = ( event ) => {
			if ( event.key === 'Enter' && ( event.ctrlKey || event.metaKey ) ) {
				event.preventDefault();
				event.stopPropagation();
				// While held down, the key must not also publish the next entry.
				if ( ! event.repeat ) {
					send( screen );
				}
			}
		};
		return el(
			'div',
			{
				ref: screen.form,
				className: 'newsroom-live-writing',
				role: 'form',
				'aria-label':
					entry.status === 'publish'
						? __( 'Edit an entry', 'newsroom' )
						: __( 'New entry', 'newsroom' ),
				// Handled before the blocks, which have their own keys.
				onKeyDownCapture: onKeyDown,
			},
			el( TextControl, {
				...control,
				ref: screen.title,
				label: __( 'Headline (optional)', 'newsroom' ),
				value: entry.title,
				onChange: ( title ) => change( { title } ),
			} ),
			el( Body, {
				key: entry.editor,
				blocks: entry.blocks,
				change: ( blocks ) => change( { blocks } ),
			} ),
			el( EntryFields, { screen } ),
			el( 'p', { className: 'newsroom-live-message' }, message ),
			problem && el( Notice, { status: 'error', isDismissible: false }, problem )
		);
	}

	function Live() {
		const requests = useRequests();
		const screen = { ...useEntry(), ...requests, ...usePosts( requests.enqueue ) };
		const { entry, posts, enqueue } = screen;

		useEffect( () => {
			const timer = setTimeout( () => enqueue( () => keep( screen ) ), keepAfter );
			return () => clearTimeout( timer );
		}, [ entry ] );

		return el(
			SlotFillProvider,
			null,
			el( State, { enqueue } ),
			el( Writing, { screen } ),
			el( 'h2', null, __( 'Entries', 'newsroom' ) ),
			posts.length === 0 &&
				el( 'p', null, __( 'No entries yet.', 'newsroom' ) ),
			el(
				'ol',
				{ className: 'newsroom-live-list', reversed: true },
				posts.map( ( post ) => el( Row, { key: post.id, post, screen } ) )
			),
			screen.total > posts.length &&
				el(
					Button,
					{ variant: 'secondary', onClick: screen.more },
					__( 'Show more', 'newsroom' )
				),
			el( Popover.Slot )
		);
	}

	wp.domReady( () => {
		wp.blockLibrary.registerCoreBlocks();
		wp.element
			.createRoot( document.getElementById( 'newsroom-live' ) )
			.render( el( Live ) );
	} );
} )();

/**
 * The screen "Live": a block editor for the next entry, and the entries of the story below it. What is written is saved as a
 * draft; Ctrl+Enter (Command+Enter) publishes it and starts the next one.
 */
( function () {
	'use strict';

	const { apiFetch } = wp;
	const { createElement: el, useCallback, useEffect, useRef, useState } =
		wp.element;
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
	const { createBlock, parse, serialize } = wp.blocks;
	const { __, sprintf } = wp.i18n;
	const { addQueryArgs } = wp.url;
	const { story, authors, author, settings, publish, user } =
		window.newsroomLive;

	const path = '/wp/v2/live-entries';
	/** Milliseconds from the last change until it is saved, and between two requests for what colleagues have published. */
	const keepAfter = 3000;
	const loadEvery = 15000;
	const perPage = 50;

	const isMac = /Mac|iPhone|iPad/.test( window.navigator.platform );
	const keys = isMac ? '⌘ Enter' : 'Ctrl+Enter';

	/** An empty paragraph to start with. */
	const emptyBlocks = () => [ createBlock( 'core/paragraph' ) ];

	/** Meta keys of the flags of an entry. */
	const flags = {
		pinned: 'newsroom_pinned',
		keyEvent: 'newsroom_key_event',
	};
	const noFlags = { pinned: false, keyEvent: false };

	/** Number of the editor: each entry gets a separate editor with its own undo. */
	let editors = 0;

	const emptyEntry = ( byline ) => ( {
		editor: ++editors,
		id: null,
		status: 'draft',
		title: '',
		blocks: emptyBlocks(),
		byline,
		...noFlags,
		stored: noFlags,
	} );

	/** An entry as WordPress has it. */
	const entryOf = ( post ) => {
		const stored = {
			pinned: post.meta.newsroom_pinned,
			keyEvent: post.meta.newsroom_key_event,
		};
		return {
			editor: ++editors,
			id: post.id,
			status: post.status,
			title: post.title.raw,
			blocks: post.content.raw
				? parse( post.content.raw )
				: emptyBlocks(),
			byline: post.meta.newsroom_author,
			...stored,
			stored,
		};
	};

	/** What is saved of an entry: only the flags that were changed here, because a colleague may have changed the others. */
	const dataOf = ( entry ) => {
		const meta = {
			newsroom_story: story,
			newsroom_author: Number( entry.byline ),
		};
		for ( const [ flag, key ] of Object.entries( flags ) ) {
			if ( entry[ flag ] !== entry.stored[ flag ] ) {
				meta[ key ] = entry[ flag ];
			}
		}
		return {
			title: entry.title,
			content: serialize( entry.blocks ),
			meta,
		};
	};

	const plain = ( html ) => {
		const doc = new window.DOMParser().parseFromString( html, 'text/html' );
		return doc.body.textContent.trim();
	};

	/** Whether there is nothing to publish: WordPress refuses an empty post. */
	const isEmpty = ( entry ) =>
		entry.title.trim() === '' &&
		entry.blocks.every(
			( block ) =>
				block.name === 'core/paragraph' &&
				plain( serialize( [ block ] ) ) === ''
		);

	const nameOf = ( post ) =>
		plain( post.title.raw ) ||
		plain( post.content.raw ).slice( 0, 80 ) ||
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
	function Row( { post, isEdited, edit, set, withdraw } ) {
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
			{ className: isEdited ? 'is-edited' : undefined },
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
			button( __( 'Edit', 'newsroom' ), () => edit( post ) ),
			button(
				pinned ? __( 'Unpin', 'newsroom' ) : __( 'Pin', 'newsroom' ),
				() => set( post, 'pinned', ! pinned )
			),
			button(
				keyEvent
					? __( 'Not a key event', 'newsroom' )
					: __( 'Key event', 'newsroom' ),
				() => set( post, 'keyEvent', ! keyEvent )
			),
			button( __( 'Withdraw', 'newsroom' ), () => withdraw( post ), {
				isDestructive: true,
			} )
		);
	}

	/** The state of the story, and buttons to change it. */
	function State( { state, change } ) {
		const isLive = state === 'live';
		const words = {
			'': __( 'This story isn’t live.', 'newsroom' ),
			live: __( 'This story is live.', 'newsroom' ),
			ended: __( 'Live coverage has ended.', 'newsroom' ),
		};
		const next = isLive
			? __( 'End live coverage', 'newsroom' )
			: __( 'Start live coverage', 'newsroom' );
		return el(
			'p',
			{ className: 'newsroom-live-state' },
			el( 'span', { role: 'status' }, words[ state ] ),
			' ',
			el(
				Button,
				{
					variant: 'secondary',
					onClick: () => change( isLive ? 'ended' : 'live' ),
				},
				next
			)
		);
	}

	function Live() {
		const [ entry, setEntry ] = useState( () => emptyEntry( author ) );
		const [ posts, setPosts ] = useState( [] );
		const [ total, setTotal ] = useState( 0 );
		const [ pages, setPages ] = useState( 1 );
		const [ state, setState ] = useState( window.newsroomLive.state );
		const [ message, setMessage ] = useState( '' );
		const [ problem, setProblem ] = useState( '' );
		const title = useRef();
		const form = useRef();
		// The current entry, for code that runs later; and the requests, one after the other.
		const now = useRef( entry );
		const kept = useRef( JSON.stringify( dataOf( entry ) ) );
		const queue = useRef( Promise.resolve() );
		const isBusy = useRef( false );
		now.current = entry;

		const change = useCallback(
			( part ) => setEntry( ( before ) => ( { ...before, ...part } ) ),
			[]
		);

		const say = ( words ) => {
			setProblem( '' );
			setMessage( words );
			wp.a11y.speak( words );
		};

		/** Runs requests in order. A failure is shown; the text stays in the editor. */
		const enqueue = ( run ) => {
			queue.current = queue.current.then( run ).catch( ( error ) => {
				setMessage( '' );
				setProblem(
					error.message ||
						__( 'We couldn’t reach WordPress. Try again.', 'newsroom' )
				);
			} );
			return queue.current;
		};

		/** Runs a request that puts another entry into the editor: until it is answered, nothing can be typed that would be lost. */
		const replaceEntry = ( run, after = () => {} ) => {
			const focused = document.activeElement;
			const lock = ( isLocked ) => {
				isBusy.current = isLocked;
				form.current.inert = isLocked;
			};
			lock( true );
			return enqueue( async () => {
				lock( true );
				try {
					await run();
				} catch ( error ) {
					// The browser moved the focus out of the locked form.
					setTimeout( () => focused && focused.focus(), 0 );
					throw error;
				} finally {
					lock( false );
				}
				await after();
			} );
		};

		/** Saves the entry in the editor as a post. */
		const save = async ( data ) => {
			const { id } = now.current;
			try {
				return await apiFetch( {
					path: id ? `${ path }/${ id }` : path,
					method: 'POST',
					data,
				} );
			} catch ( error ) {
				if ( error.code !== 'newsroom_entry_withdrawn' ) {
					throw error;
				}
				// The text becomes a new entry.
				const part = { id: null, status: 'draft', stored: noFlags };
				now.current = { ...now.current, ...part };
				kept.current = '';
				change( part );
				throw new Error(
					__(
						'A colleague has withdrawn this entry. Your text is still here: publish it as a new entry, or restore the old one from the Trash.',
						'newsroom'
					)
				);
			}
		};

		const loadPosts = async () => {
			// By id, because an entry that is published between two requests moves another one to the next page.
			const loaded = new Map();
			let count = 0;
			for ( let page = 1; page <= pages; page++ ) {
				const response = await apiFetch( {
					path: addQueryArgs( path, {
						story,
						context: 'edit',
						status: 'publish,draft,pending',
						per_page: perPage,
						page,
					} ),
					parse: false,
				} );
				for ( const post of await response.json() ) {
					loaded.set( post.id, post );
				}
				count = Number( response.headers.get( 'X-WP-Total' ) );
				// WordPress refuses a page after the last one.
				if ( count <= perPage * page ) {
					break;
				}
			}
			setTotal( count );
			setPosts( [ ...loaded.values() ] );
		};

		useEffect( () => {
			enqueue( loadPosts );
			const timer = setInterval( () => {
				if ( ! document.hidden ) {
					loadPosts().catch( () => {} );
				}
			}, loadEvery );
			return () => clearInterval( timer );
		}, [ pages ] );

		/** Saves a draft directly, and a published entry as an autosave, which readers don't see. */
		const keep = async () => {
			const entryNow = now.current;
			const { id, status, pinned, keyEvent } = entryNow;
			const data = dataOf( entryNow );
			const text = JSON.stringify( data );
			if ( text === kept.current || isEmpty( entryNow ) ) {
				return;
			}
			if ( id && status === 'publish' ) {
				const { title: words, content } = data;
				await apiFetch( {
					path: `${ path }/${ id }/autosaves`,
					method: 'POST',
					data: { title: words, content },
				} );
				kept.current = text;
			} else {
				const post = await save( {
					...data,
					// An entry that waits for a review stays in the queue.
					status: status === 'pending' ? 'pending' : 'draft',
				} );
				const part = { id: post.id, stored: { pinned, keyEvent } };
				change( part );
				now.current = { ...now.current, ...part };
				kept.current = JSON.stringify(
					dataOf( { ...entryNow, ...part } )
				);
			}
			setMessage(
				status === 'pending'
					? __( 'Saved.', 'newsroom' )
					: __( 'Saved as a draft.', 'newsroom' )
			);
		};

		useEffect( () => {
			const timer = setTimeout( () => enqueue( keep ), keepAfter );
			return () => clearTimeout( timer );
		}, [ entry ] );

		const begin = ( next ) => {
			now.current = next;
			kept.current = JSON.stringify( dataOf( next ) );
			setEntry( next );
			// After the editor has drawn it.
			setTimeout( () => title.current && title.current.focus(), 0 );
		};

		const send = () => {
			// A key that is held down publishes once.
			if ( isBusy.current ) {
				return;
			}
			if ( isEmpty( now.current ) ) {
				say( __( 'Write something first.', 'newsroom' ) );
				return;
			}
			const { byline, status } = now.current;
			const data = {
				...dataOf( now.current ),
				status: publish ? 'publish' : 'pending',
			};
			const done = publish
				? __( 'Published.', 'newsroom' )
				: __( 'Submitted for review.', 'newsroom' );
			replaceEntry(
				async () => {
					await save( data );
					begin( emptyEntry( byline ) );
				},
				// The next entry may be published while the list is still loading.
				async () => {
					say(
						status === 'publish'
							? __( 'Updated.', 'newsroom' )
							: done
					);
					await loadPosts();
				}
			);
		};

		/** The editor's own changes of a published entry that were saved but not published, if there are any. */
		const unpublishedChanges = async ( { id, status, modified_gmt: modified } ) => {
			if ( status !== 'publish' ) {
				return null;
			}
			const autosaves = await apiFetch( {
				path: addQueryArgs( `${ path }/${ id }/autosaves`, {
					context: 'edit',
				} ),
			} );
			return autosaves.find(
				( each ) =>
					each.author === user && each.modified_gmt > modified
			);
		};

		const edit = ( post ) =>
			replaceEntry( async () => {
				await keep();
				const changes = await unpublishedChanges( post );
				if ( ! changes ) {
					begin( entryOf( post ) );
					return;
				}
				const { title: words, content } = changes;
				begin( entryOf( { ...post, title: words, content } ) );
				say(
					__(
						'These are your changes that aren’t published yet.',
						'newsroom'
					)
				);
			} );

		const set = ( post, flag, value ) =>
			enqueue( async () => {
				await apiFetch( {
					path: `${ path }/${ post.id }`,
					method: 'POST',
					data: { meta: { [ flags[ flag ] ]: value } },
				} );
				if ( now.current.id === post.id ) {
					change( {
						[ flag ]: value,
						stored: { ...now.current.stored, [ flag ]: value },
					} );
				}
				await loadPosts();
			} );

		const withdraw = ( post ) => {
			const isOpen = now.current.id === post.id;
			const run = isOpen ? replaceEntry : enqueue;
			return run( async () => {
				await apiFetch( {
					path: `${ path }/${ post.id }`,
					method: 'DELETE',
				} );
				if ( isOpen ) {
					begin( emptyEntry( now.current.byline ) );
				}
				say( __( 'Withdrawn and moved to the Trash.', 'newsroom' ) );
				await loadPosts();
			} );
		};

		const changeState = ( next ) =>
			enqueue( async () => {
				await apiFetch( {
					path: `/wp/v2/articles/${ story }`,
					method: 'POST',
					data: { meta: { newsroom_live: next } },
				} );
				setState( next );
			} );

		const onKeyDown = ( event ) => {
			if ( event.key === 'Enter' && ( event.ctrlKey || event.metaKey ) ) {
				event.preventDefault();
				event.stopPropagation();
				// While held down, the key must not also publish the next entry.
				if ( ! event.repeat ) {
					send();
				}
			}
		};

		const isUpdate = entry.status === 'publish';
		const action = publish
			? __( 'Publish', 'newsroom' )
			: __( 'Submit for review', 'newsroom' );
		return el(
			SlotFillProvider,
			null,
			el( State, { state, change: changeState } ),
			el(
				'div',
				{
					ref: form,
					className: 'newsroom-live-writing',
					role: 'form',
					'aria-label': isUpdate
						? __( 'Edit an entry', 'newsroom' )
						: __( 'New entry', 'newsroom' ),
					// Handled before the blocks, which have their own keys.
					onKeyDownCapture: onKeyDown,
				},
				el( TextControl, {
					ref: title,
					label: __( 'Headline (optional)', 'newsroom' ),
					value: entry.title,
					onChange: ( value ) => change( { title: value } ),
					__next40pxDefaultSize: true,
					__nextHasNoMarginBottom: true,
				} ),
				el( Body, {
					key: entry.editor,
					blocks: entry.blocks,
					change: ( blocks ) => change( { blocks } ),
				} ),
				el(
					'div',
					{ className: 'newsroom-live-fields' },
					el( SelectControl, {
						label: __( 'Byline', 'newsroom' ),
						value: entry.byline,
						options: authors,
						onChange: ( byline ) =>
							change( { byline: Number( byline ) } ),
						__next40pxDefaultSize: true,
						__nextHasNoMarginBottom: true,
					} ),
					el( CheckboxControl, {
						label: __( 'Key event', 'newsroom' ),
						checked: entry.keyEvent,
						onChange: ( keyEvent ) => change( { keyEvent } ),
						__nextHasNoMarginBottom: true,
					} ),
					el( CheckboxControl, {
						label: __( 'Pinned', 'newsroom' ),
						checked: entry.pinned,
						onChange: ( pinned ) => change( { pinned } ),
						__nextHasNoMarginBottom: true,
					} ),
					el(
						Button,
						{
							variant: 'primary',
							onClick: send,
							'aria-keyshortcuts': isMac
								? 'Meta+Enter'
								: 'Control+Enter',
						},
						sprintf(
							/* translators: 1: "Publish", "Submit for review" or "Update", 2: keys. */
							'%1$s (%2$s)',
							isUpdate ? __( 'Update', 'newsroom' ) : action,
							keys
						)
					),
					entry.id &&
						el(
							Button,
							{
								variant: 'tertiary',
								onClick: () =>
									replaceEntry( async () => {
										await keep();
										begin( emptyEntry( entry.byline ) );
									} ),
							},
							__( 'Write a new entry', 'newsroom' )
						)
				),
				el( 'p', { className: 'newsroom-live-message' }, message ),
				problem &&
					el(
						Notice,
						{ status: 'error', isDismissible: false },
						problem
					)
			),
			el( 'h2', null, __( 'Entries', 'newsroom' ) ),
			posts.length === 0 &&
				el( 'p', null, __( 'No entries yet.', 'newsroom' ) ),
			el(
				'ol',
				{ className: 'newsroom-live-list', reversed: true },
				posts.map( ( post ) =>
					el( Row, {
						key: post.id,
						post,
						isEdited: post.id === entry.id,
						edit,
						set,
						withdraw,
					} )
				)
			),
			total > posts.length &&
				el(
					Button,
					{
						variant: 'secondary',
						onClick: () => setPages( pages + 1 ),
					},
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

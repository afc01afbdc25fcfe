/**
 * The screen "Live": a block editor for the next entry, and the entries of the story below it. What is written is saved as a
 * draft; Ctrl+Enter (Command+Enter) publishes it and starts the next one.
 */
( function () {
	'use strict';

	const { apiFetch } = wp;
	const { createElement: el, useEffect, useRef, useState } = wp.element;
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
	const { control, failed, plain, useQueue } = window.newsroomShared;
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

	/** Whether there is nothing to publish: WordPress refuses an empty post. */
	const isEmpty = ( entry ) =>
		entry.title.trim() === '' &&
		entry.blocks.every(
			( block ) =>
				block.name === 'core/paragraph' &&
				plain( serialize( [ block ] ) ).trim() === ''
		);

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

	/** The entry in the editor. */
	function useEntry() {
		const [ entry, setEntry ] = useState( () => emptyEntry( author ) );
		const title = useRef();
		// The current entry and what is saved of it, for code that runs later.
		const now = useRef( entry );
		const kept = useRef( JSON.stringify( dataOf( entry ) ) );
		now.current = entry;

		const change = ( part ) => setEntry( ( before ) => ( { ...before, ...part } ) );
		return {
			entry,
			title,
			now,
			kept,
			change,
			/** Changes what WordPress knows about the entry, at once also for requests that follow. */
			store( part, saved ) {
				change( part );
				now.current = { ...now.current, ...part };
				kept.current = saved;
			},
			/** Puts another entry into the editor. */
			begin( next ) {
				now.current = next;
				kept.current = JSON.stringify( dataOf( next ) );
				setEntry( next );
				// After the editor has drawn it.
				setTimeout( () => title.current && title.current.focus(), 0 );
			},
		};
	}

	/** The requests of the screen, one after the other, and the messages about them. */
	function useRequests() {
		const [ message, setMessage ] = useState( '' );
		const [ problem, setProblem ] = useState( '' );
		const form = useRef();
		const isBusy = useRef( false );
		// A failure is shown; the text stays in the editor.
		const enqueue = useQueue( ( error ) => {
			setMessage( '' );
			setProblem( failed( error ) );
		} );
		return {
			message,
			problem,
			form,
			isBusy,
			setMessage,
			enqueue,
			say( words ) {
				setProblem( '' );
				setMessage( words );
				wp.a11y.speak( words );
			},
			/** Runs a request that puts another entry into the editor: until it is answered, nothing can be typed that would be lost. */
			replaceEntry( run, after = () => {} ) {
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
			},
		};
	}

	/** The entries of the story. */
	function usePosts( enqueue ) {
		const [ posts, setPosts ] = useState( [] );
		const [ total, setTotal ] = useState( 0 );
		const [ pages, setPages ] = useState( 1 );

		const load = async () => {
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
			enqueue( load );
			const timer = setInterval( () => {
				if ( ! document.hidden ) {
					load().catch( () => {} );
				}
			}, loadEvery );
			return () => clearInterval( timer );
		}, [ pages ] );

		return { posts, total, load, more: () => setPages( pages + 1 ) };
	}

	/** Saves the entry in the editor as a post. */
	async function save( { now, store }, data ) {
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
			store( { id: null, status: 'draft', stored: noFlags }, '' );
			throw new Error(
				__(
					'A colleague has withdrawn this entry. Your text is still here: publish it as a new entry, or restore the old one from the Trash.',
					'newsroom'
				)
			);
		}
	}

	/** Saves a draft directly, and a published entry as an autosave, which readers don't see. */
	async function keep( screen ) {
		const { now, kept, store, setMessage } = screen;
		const entry = now.current;
		const { id, status, pinned, keyEvent } = entry;
		const data = dataOf( entry );
		const text = JSON.stringify( data );
		if ( text === kept.current || isEmpty( entry ) ) {
			return;
		}
		if ( id && status === 'publish' ) {
			await apiFetch( {
				path: `${ path }/${ id }/autosaves`,
				method: 'POST',
				data: { title: data.title, content: data.content },
			} );
			kept.current = text;
		} else {
			const post = await save( screen, {
				...data,
				// An entry that waits for a review stays in the queue.
				status: status === 'pending' ? 'pending' : 'draft',
			} );
			const part = { id: post.id, stored: { pinned, keyEvent } };
			store( part, JSON.stringify( dataOf( { ...entry, ...part } ) ) );
		}
		setMessage(
			status === 'pending'
				? __( 'Saved.', 'newsroom' )
				: __( 'Saved as a draft.', 'newsroom' )
		);
	}

	/** Publishes the entry, or submits it for review, and starts the next one. */
	function send( screen ) {
		const { now, isBusy, say, replaceEntry, begin, load } = screen;
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
				await save( screen, data );
				begin( emptyEntry( byline ) );
			},
			// The next entry may be published while the list is still loading.
			async () => {
				say( status === 'publish' ? __( 'Updated.', 'newsroom' ) : done );
				await load();
			}
		);
	}

	/** The editor's own changes of a published entry that were saved but not published, if there are any. */
	async function unpublishedChanges( { id, status, modified_gmt: modified } ) {
		if ( status !== 'publish' ) {
			return null;
		}
		const autosaves = await apiFetch( {
			path: addQueryArgs( `${ path }/${ id }/autosaves`, {
				context: 'edit',
			} ),
		} );
		return autosaves.find(
			( each ) => each.author === user && each.modified_gmt > modified
		);
	}

	/** Opens an entry of the list in the editor. */
	const edit = ( screen, post ) =>
		screen.replaceEntry( async () => {
			await keep( screen );
			const changes = await unpublishedChanges( post );
			if ( ! changes ) {
				screen.begin( entryOf( post ) );
				return;
			}
			const { title, content } = changes;
			screen.begin( entryOf( { ...post, title, content } ) );
			screen.say( __( 'These are your changes that aren’t published yet.', 'newsroom' ) );
		} );

	/** Sets a flag of an entry of the list. */
	const set = ( { now, enqueue, change, load }, post, flag, value ) =>
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
			await load();
		} );

	/** Moves an entry of the list to the Trash. */
	function withdraw( { now, enqueue, replaceEntry, begin, say, load }, post ) {
		const isOpen = now.current.id === post.id;
		const run = isOpen ? replaceEntry : enqueue;
		return run( async () => {
			await apiFetch( { path: `${ path }/${ post.id }`, method: 'DELETE' } );
			if ( isOpen ) {
				begin( emptyEntry( now.current.byline ) );
			}
			say( __( 'Withdrawn and moved to the Trash.', 'newsroom' ) );
			await load();
		} );
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

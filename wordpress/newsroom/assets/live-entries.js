/** The screen "Live": the entries of a story, the one in the editor, and the requests that save, publish and withdraw them. */
( function () {
	'use strict';

	const { apiFetch } = wp;
	const { useEffect, useRef, useState } = wp.element;
	const { createBlock, parse, serialize } = wp.blocks;
	const { __ } = wp.i18n;
	const { addQueryArgs } = wp.url;
	const { failed, plain, useQueue } = window.newsroomShared;
	const { story, author, publish, user } = window.newsroomLive;

	const path = '/wp/v2/live-entries';
	/** Milliseconds between two requests for what colleagues have published. */
	const loadEvery = 15000;
	const perPage = 50;

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

	window.newsroomLive.entries = { edit, emptyEntry, keep, send, set, useEntry, usePosts, useRequests, withdraw };
} )();

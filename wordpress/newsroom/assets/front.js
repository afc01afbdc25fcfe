/**
 * The screen "Front": the stories of a page in their order, moved by keyboard. Changes are saved as a draft; readers see them after
 * publication, or at a scheduled time.
 */
( function () {
	'use strict';

	const { apiFetch } = wp;
	const {
		createElement: el,
		useCallback,
		useEffect,
		useLayoutEffect,
		useRef,
		useState,
	} = wp.element;
	const { Button, Notice, SelectControl, TextControl } = wp.components;
	const { __, sprintf } = wp.i18n;
	const { order, pages, page: first, zone, parts } = window.newsroomFront;
	const { ask, Conflict, control, failed, History, newSlot, Notes, Search, Slot } = parts;
	const { inPlaces, isPackage, ordered, placeWords, stepOf, stepped, withKind } = order;

	/** Milliseconds after the last change until it is saved; changes that can be undone. */
	const saveAfter = 800;
	const mostUndone = 100;
	/** Most requests for the result of a publication, within ten minutes; the first ones in quick succession, milliseconds. */
	const mostChecks = 140;
	const soonChecks = 20;
	const checkSoon = 700;
	const checkLater = 5000;

	function Front() {
		const [ page, setPage ] = useState( first );
		// The page whose front is on the screen: another one than the chosen one until that has come.
		const [ shown, setShown ] = useState( '' );
		const [ state, setState ] = useState( null );
		const [ slots, setSlots ] = useState( [] );
		const [ message, setMessage ] = useState( '' );
		const [ problem, setProblem ] = useState( '' );
		const [ conflict, setConflict ] = useState( null );
		const [ time, setTime ] = useState( '' );
		const [ isHistory, setHistory ] = useState( false );
		const [ undos, setUndos ] = useState( [] );
		const [ saves, setSaves ] = useState( 0 );
		const list = useRef();
		// The current state of the screen, for code that runs later; and the requests, one after the other.
		const now = useRef( { page, slots, version: 0, saved: '[]', conflict: false } );
		const queue = useRef( Promise.resolve() );
		const focus = useRef( null );
		const followed = useRef( 0 );
		now.current.slots = slots;

		const say = ( words ) => {
			setProblem( '' );
			setMessage( words );
			wp.a11y.speak( words );
		};

		/**
		 * Updates the screen from WordPress's response. @param whole including the slots @param isRestored the first slot gets the focus,
		 * because the button is gone
		 */
		const take = ( answer, whole, isRestored = false ) => {
			setState( ( before ) =>
				before && ! whole
					? {
							...answer,
							stories: { ...before.stories, ...answer.stories },
							pictures: { ...before.pictures, ...answer.pictures },
					  }
					: answer
			);
			now.current.version = answer.version;
			// In fronts from before packages had places, packages may be anywhere in the list.
			const own = inPlaces( answer.slots );
			now.current.saved = JSON.stringify( own );
			if ( whole ) {
				now.current.slots = own;
				if ( isRestored && own.length > 0 ) {
					focus.current = { id: own[ 0 ].id, name: 'title' };
				}
				setSlots( own );
			}
		};

		/** Runs requests in order. A failure is shown; the changes stay on the screen. */
		const enqueue = ( run ) => {
			queue.current = queue.current.then( run ).catch( ( error ) => {
				const current = error.data && error.data.current;
				if ( error.code === 'newsroom_front_conflict' && current ) {
					now.current.conflict = true;
					setConflict( current );
					// Another page can be opened once the editor has chosen one of the versions.
					setPage( now.current.page );
					wp.a11y.speak( error.message, 'assertive' );
					return;
				}
				setMessage( '' );
				setProblem( failed( error ) );
				wp.a11y.speak( failed( error ), 'assertive' );
			} );
			return queue.current;
		};

		/** Saves the draft, if it has changed. @throws the error of the request */
		const save = async ( over = false ) => {
			const { slots: own, version, saved } = now.current;
			if ( ! over && ( now.current.conflict || JSON.stringify( own ) === saved ) ) {
				return;
			}
			const answer = await ask( now.current.page, '/draft', 'POST', { slots: own, version, over } );
			take( answer, false );
			// WordPress may have cleaned the input; what is on the screen counts as saved.
			now.current.saved = JSON.stringify( own );
			setSaves( ( count ) => count + 1 );
			setMessage( __( 'Draft saved.', 'newsroom' ) );
		};

		useEffect( () => {
			enqueue( async () => {
				// What isn't saved yet belongs to the page before.
				await save();
				if ( now.current.conflict ) {
					return;
				}
				now.current.page = page;
				take( await ask( page ), true );
				setUndos( [] );
				setMessage( '' );
				setProblem( '' );
				setShown( page );
			} );
		}, [ page ] );

		useEffect( () => {
			if ( JSON.stringify( slots ) === now.current.saved ) {
				return undefined;
			}
			const timer = setTimeout( () => enqueue( save ), saveAfter );
			const warn = ( event ) => event.preventDefault();
			window.addEventListener( 'beforeunload', warn );
			return () => {
				clearTimeout( timer );
				window.removeEventListener( 'beforeunload', warn );
			};
		}, [ slots, saves ] );

		// A control that has moved with its slot keeps the focus.
		useLayoutEffect( () => {
			if ( ! focus.current || ! list.current ) {
				return;
			}
			const { id, name } = focus.current;
			focus.current = null;
			const row = list.current.querySelector( `[data-slot="${ id }"]` );
			const wanted = row && row.querySelector( `[data-control="${ name }"]` );
			if ( wanted ) {
				wanted.focus();
			}
		}, [ slots ] );

		/** Records slots so that the editor can return to them. */
		const remember = useCallback( ( before ) => setUndos( ( all ) => [ ...all.slice( 1 - mostUndone ), before ] ), [] );

		/** Changes the list in a way that can be undone. */
		const change = useCallback( ( next, details = {} ) => {
			remember( now.current.slots );
			setSlots( next );
			setState( ( known ) => ( {
				...known,
				stories: { ...known.stories, ...details.stories },
				pictures: { ...known.pictures, ...details.pictures },
			} ) );
		}, [] );

		const titleOf = ( { headline, story } ) =>
			headline || ( state.stories[ story ] || {} ).title || '';

		/** @param step `up`, `down`, `first` or `last` @param name control that keeps the focus */
		const move = ( at, step, name ) => {
			const next = stepped( slots, at, step );
			if ( ! next ) {
				return;
			}
			const { id } = slots[ at ];
			const to = next.findIndex( ( slot ) => slot.id === id );
			focus.current = { id, name };
			change( next );
			wp.a11y.speak(
				sprintf(
					/* translators: 1: headline, 2: place, 3: number of slots. */
					__( '%1$s is now %2$d of %3$d.', 'newsroom' ),
					titleOf( slots[ at ] ),
					to + 1,
					slots.length
				) + ( isPackage( next[ to ] ) ? ` ${ placeWords( next[ to ] ) }` : '' )
			);
		};

		const remove = ( at ) => {
			const neighbor = slots[ at + 1 ] || slots[ at - 1 ];
			focus.current = neighbor ? { id: neighbor.id, name: 'title' } : null;
			change( ordered( slots.filter( ( _, each ) => each !== at ), slots ) );
			/* translators: %s: headline. */
			wp.a11y.speak( sprintf( __( '%s removed. Undo brings it back.', 'newsroom' ), titleOf( slots[ at ] ) ) );
		};

		const undo = () => {
			if ( undos.length === 0 ) {
				return;
			}
			setSlots( undos[ undos.length - 1 ] );
			setUndos( undos.slice( 0, -1 ) );
			wp.a11y.speak( __( 'Undone.', 'newsroom' ) );
		};

		const onKeyDown = ( event ) => {
			const row = event.target.closest( '[data-slot]' );
			const isText = event.target.closest( 'input, textarea' );
			if ( ( event.ctrlKey || event.metaKey ) && event.key === 'z' && ! isText ) {
				event.preventDefault();
				undo();
				return;
			}
			// Related headlines have their own order.
			if ( ! row || ! list.current || ! list.current.contains( row ) || event.target.closest( '[data-related]' ) ) {
				return;
			}
			const at = slots.findIndex( ( { id } ) => id === row.dataset.slot );
			const named = event.target.closest( '[data-control]' );
			const name = named ? named.dataset.control : 'title';
			const goals = { ArrowUp: at - 1, ArrowDown: at + 1, Home: 0, End: slots.length - 1 };
			if ( ! ( event.key in goals ) ) {
				return;
			}
			if ( event.altKey ) {
				event.preventDefault();
				event.stopPropagation();
				move( at, stepOf( event.key ), name );
			} else if ( named && name === 'title' ) {
				const to = slots[ goals[ event.key ] ];
				const next = to && list.current.querySelector( `[data-slot="${ to.id }"] [data-control="title"]` );
				if ( next ) {
					event.preventDefault();
					next.focus();
				}
			}
		};

		/**
		 * Reports when the site shows the front. Not in the queue of requests, so that changes made in the meantime are saved
		 * at once.
		 */
		const follow = async ( post ) => {
			const mine = ++followed.current;
			const onPage = now.current.page;
			let lastWords = '';
			for ( let check = 0; check < mostChecks; check++ ) {
				const { state: at, message: words } = await apiFetch( { path: `/newsroom/v1/delivery/${ post }` } );
				if ( mine !== followed.current || onPage !== now.current.page ) {
					return;
				}
				const isOver = [ 'done', 'failed' ].includes( at );
				if ( words !== lastWords && ( isOver || check >= soonChecks ) ) {
					lastWords = words;
					setMessage( words );
					wp.a11y.speak( words );
				}
				if ( isOver ) {
					return;
				}
				await new Promise( ( resolve ) => setTimeout( resolve, check < soonChecks ? checkSoon : checkLater ) );
			}
		};

		const act = ( path, method, data, words ) =>
			enqueue( async () => {
				await save();
				if ( now.current.conflict ) {
					return;
				}
				const before = now.current.slots;
				const answer = await ask( now.current.page, path, method, { version: now.current.version, ...data } );
				const isRestored = path.startsWith( '/history' );
				// Changes made during the request stay on the screen, unless a front was restored.
				take( answer, isRestored || now.current.slots === before, isRestored );
				say( words );
				if ( words === publishedWords || words === restoredWords ) {
					// If there is no response, the message stays: the front is published anyway.
					follow( answer.post ).catch( () => {} );
				}
			} );

		const publishedWords = __( 'Published.', 'newsroom' );
		const restoredWords = __( 'Restored and published.', 'newsroom' );

		const restore = ( row, publish ) => {
			remember( now.current.slots );
			act(
				`/history/${ row }`,
				'POST',
				{ publish },
				publish ? restoredWords : __( 'Restored as a draft.', 'newsroom' )
			);
		};

		/** One window shows the draft as any reader would see it, on a phone and on a desktop. */
		const preview = () => {
			const { availWidth, availHeight } = window.screen;
			// Opened before the request, because browsers allow new windows only directly after a click.
			const opened = window.open(
				'',
				'newsroom-front-preview',
				`popup,width=${ Math.min( availWidth, 1720 ) },height=${ Math.min( availHeight, 1000 ) }`
			);
			let isShown = false;
			enqueue( async () => {
				await save();
				if ( ! now.current.conflict ) {
					const { url } = await ask( now.current.page, '/preview', 'POST' );
					( opened || window ).location = url;
					isShown = true;
					opened?.focus();
				}
			} ).then( () => isShown || opened?.close() );
		};

		const settle = ( mine ) => {
			const theirs = conflict;
			now.current.conflict = false;
			setConflict( null );
			if ( mine ) {
				enqueue( () => save( true ) );
				return;
			}
			remember( now.current.slots );
			take( theirs, true );
			say( __( 'This is your colleague’s version. Undo brings yours back.', 'newsroom' ) );
		};

		const choice = el( SelectControl, {
			...control,
			className: 'newsroom-front-page',
			label: __( 'Page', 'newsroom' ),
			value: page,
			options: pages,
			disabled: conflict !== null,
			help: conflict && __( 'Choose a version of this page first.', 'newsroom' ),
			onChange: ( next ) => {
				setProblem( '' );
				setPage( next );
			},
		} );
		const trouble = problem && el( Notice, { status: 'error', isDismissible: false }, problem );
		if ( shown !== page ) {
			return el( 'div', null, choice, trouble || el( 'p', null, __( 'Loading…', 'newsroom' ) ) );
		}
		const isSaved = JSON.stringify( slots ) === now.current.saved;
		const button = ( variant, words, onClick, props = {} ) => el( Button, { variant, onClick, ...props }, words );
		return el(
			'div',
			{ onKeyDownCapture: onKeyDown },
			choice,
			el( Notes, { state } ),
			el(
				'div',
				{ className: 'newsroom-front-actions' },
				button( 'primary', __( 'Publish', 'newsroom' ), () => act( '/publish', 'POST', {}, publishedWords ) ),
				button( 'secondary', __( 'Preview', 'newsroom' ), preview ),
				button( 'secondary', __( 'Undo', 'newsroom' ), undo, {
					disabled: undos.length === 0,
					accessibleWhenDisabled: true,
				} ),
				button( 'secondary', __( 'History', 'newsroom' ), () => setHistory( ! isHistory ), {
					'aria-expanded': isHistory,
				} )
			),
			el( 'p', { className: 'newsroom-front-message' }, isSaved || conflict ? message : __( 'Saving…', 'newsroom' ) ),
			trouble,
			conflict && el( Conflict, { draft: conflict.draft, settle } ),
			el( 'h2', { id: 'newsroom-front-list' }, __( 'Stories', 'newsroom' ) ),
			el(
				'p',
				{ className: 'description', id: 'newsroom-front-keys' },
				__( 'Use the arrow keys to go through the list, and Alt with an arrow key to move a story or a package. Places that you don’t use are filled automatically.', 'newsroom' )
			),
			slots.length === 0 && el( 'p', null, __( 'Nothing is placed, so the page is filled automatically.', 'newsroom' ) ),
			el(
				'ol',
				{ ref: list, className: 'newsroom-front-slots', 'aria-labelledby': 'newsroom-front-list' },
				slots.map( ( slot, at ) =>
					el( Slot, {
						key: slot.id,
						slot,
						at,
						slots,
						stories: state.stories,
						pictures: state.pictures,
						move: ( step, name ) => move( at, step, name ),
						setKind: ( kind ) => {
							focus.current = { id: slot.id, name: 'kind' };
							change( withKind( slots, at, kind ) );
						},
						change: ( part, details ) =>
							change(
								now.current.slots.map( ( each ) => ( each.id === slot.id ? { ...each, ...part } : each ) ),
								details
							),
						remove: () => remove( at ),
					} )
				)
			),
			el( Search, {
				label: __( 'Find a story', 'newsroom' ),
				has: ( id ) => now.current.slots.some( ( { story } ) => story === id ),
				add: ( story, about ) =>
					change( inPlaces( [ ...now.current.slots, newSlot( story, now.current.slots.length ? 'second' : 'lead' ) ] ), {
						stories: { [ story ]: about },
					} ),
			} ),
			el(
				'fieldset',
				{ className: 'newsroom-front-schedule' },
				el( 'legend', null, __( 'Schedule', 'newsroom' ) ),
				el( TextControl, {
					...control,
					type: 'datetime-local',
					/* translators: %s: time zone. */
					label: sprintf( __( 'Publish this draft at (%s)', 'newsroom' ), zone ),
					value: time,
					onChange: ( value ) => setTime( value.slice( 0, 16 ) ),
				} ),
				button( 'secondary', __( 'Schedule', 'newsroom' ), () => act( '/schedule', 'POST', { at: time }, __( 'Scheduled.', 'newsroom' ) ), {
					disabled: time === '',
				} ),
				state.scheduled &&
					button( 'tertiary', __( 'Cancel the scheduled front', 'newsroom' ), () =>
						act( '/schedule', 'DELETE', {}, __( 'Schedule canceled.', 'newsroom' ) )
					)
			),
			isHistory && el( History, { page, published: state.published && state.published.row, restore } )
		);
	}

	wp.domReady( () => {
		wp.element.createRoot( document.getElementById( 'newsroom-front' ) ).render( el( Front ) );
	} );
} )();

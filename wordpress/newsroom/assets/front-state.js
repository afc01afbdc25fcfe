/** The screen "Front": its state, and the requests that change it. A draft is saved after each change. */
( function () {
	'use strict';

	const { apiFetch } = wp;
	const { useEffect, useRef, useState } = wp.element;
	const { __ } = wp.i18n;
	const { failed, useNextFocus, useQueue } = window.newsroomShared;
	const { order, page: first, parts } = window.newsroomFront;
	const { ask } = parts;
	const { inPlaces } = order;

	/** Milliseconds after the last change until it is saved; changes that can be undone. */
	const saveAfter = 800;
	const mostUndone = 100;
	/** Most requests for the result of a publication, within ten minutes; the first ones in quick succession, milliseconds. */
	const mostChecks = 140;
	const soonChecks = 20;
	const checkSoon = 700;
	const checkLater = 5000;

	/** The state of the screen. `now` is the current one, for code that runs later. */
	function useScreen() {
		const [ page, setPage ] = useState( first );
		// The page whose front is on the screen: another one than the chosen one until that has come.
		const [ shown, setShown ] = useState( '' );
		const [ state, setState ] = useState( null );
		const [ slots, setSlots ] = useState( [] );
		const [ message, setMessage ] = useState( '' );
		const [ problem, setProblem ] = useState( '' );
		const [ conflict, setConflict ] = useState( null );
		const [ undos, setUndos ] = useState( [] );
		const [ saves, setSaves ] = useState( 0 );
		const list = useRef();
		const now = useRef( { page, slots, version: 0, saved: '[]', conflict: false, followed: 0 } );
		now.current.slots = slots;
		const focusNext = useNextFocus( slots );

		const say = ( words ) => {
			setProblem( '' );
			setMessage( words );
			wp.a11y.speak( words );
		};
		// A failure is shown; the changes stay on the screen.
		const enqueue = useQueue( ( error ) => {
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
		return {
			page,
			setPage,
			shown,
			setShown,
			state,
			setState,
			slots,
			setSlots,
			message,
			setMessage,
			problem,
			setProblem,
			conflict,
			setConflict,
			undos,
			setUndos,
			saves,
			setSaves,
			list,
			now,
			say,
			enqueue,
			/** Moves the focus to a control of a slot once the list has changed. */
			focusSlot: ( id, name ) =>
				focusNext( () => list.current?.querySelector( `[data-slot="${ id }"] [data-control="${ name }"]` ) ),
		};
	}

	/** Adds the stories and pictures of new slots to those that are known. */
	const withDetails = ( known, { stories, pictures } ) => ( {
		stories: { ...known.stories, ...stories },
		pictures: { ...known.pictures, ...pictures },
	} );

	/**
	 * Updates the screen from WordPress's response. @param whole including the slots @param isRestored the first slot gets the focus,
	 * because the button is gone
	 */
	function take( { now, setState, setSlots, focusSlot }, answer, whole, isRestored = false ) {
		setState( ( before ) =>
			before && ! whole ? { ...answer, ...withDetails( before, answer ) } : answer
		);
		now.current.version = answer.version;
		// In fronts from before packages had places, packages may be anywhere in the list.
		const own = inPlaces( answer.slots );
		now.current.saved = JSON.stringify( own );
		if ( whole ) {
			now.current.slots = own;
			if ( isRestored && own.length > 0 ) {
				focusSlot( own[ 0 ].id, 'title' );
			}
			setSlots( own );
		}
	}

	/** Saves the draft, if it has changed. @throws the error of the request */
	async function save( screen, over = false ) {
		const { now, setMessage, setSaves } = screen;
		const { page, slots, version, saved, conflict } = now.current;
		if ( ! over && ( conflict || JSON.stringify( slots ) === saved ) ) {
			return;
		}
		take( screen, await ask( page, '/draft', 'POST', { slots, version, over } ), false );
		// WordPress may have cleaned the input; what is on the screen counts as saved.
		now.current.saved = JSON.stringify( slots );
		setSaves( ( count ) => count + 1 );
		setMessage( __( 'Draft saved.', 'newsroom' ) );
	}

	/** Opens the chosen page. */
	function useOpenPage( screen ) {
		const { page, now, enqueue } = screen;
		useEffect( () => {
			enqueue( async () => {
				// What isn't saved yet belongs to the page before.
				await save( screen );
				if ( now.current.conflict ) {
					return;
				}
				now.current.page = page;
				take( screen, await ask( page ), true );
				screen.setUndos( [] );
				screen.setMessage( '' );
				screen.setProblem( '' );
				screen.setShown( page );
			} );
		}, [ page ] );
	}

	/** Saves each change a moment later, and warns before the page is closed with a change that isn't saved. */
	function useAutosave( screen ) {
		const { slots, saves, now, enqueue } = screen;
		useEffect( () => {
			if ( JSON.stringify( slots ) === now.current.saved ) {
				return undefined;
			}
			const timer = setTimeout( () => enqueue( () => save( screen ) ), saveAfter );
			const warn = ( event ) => event.preventDefault();
			window.addEventListener( 'beforeunload', warn );
			return () => {
				clearTimeout( timer );
				window.removeEventListener( 'beforeunload', warn );
			};
		}, [ slots, saves ] );
	}

	/** Records the slots so that the editor can return to them. */
	const remember = ( { now, setUndos } ) => {
		const before = now.current.slots;
		setUndos( ( all ) => [ ...all.slice( 1 - mostUndone ), before ] );
	};

	/** Changes the list in a way that can be undone. */
	function change( screen, next, details = {} ) {
		remember( screen );
		screen.setSlots( next );
		screen.setState( ( known ) => ( { ...known, ...withDetails( known, details ) } ) );
	}

	function undo( { undos, setUndos, setSlots } ) {
		if ( undos.length === 0 ) {
			return;
		}
		setSlots( undos[ undos.length - 1 ] );
		setUndos( undos.slice( 0, -1 ) );
		wp.a11y.speak( __( 'Undone.', 'newsroom' ) );
	}

	/**
	 * Reports when the site shows the front. Not in the queue of requests, so that changes made in the meantime are saved
	 * at once.
	 */
	async function follow( { now, setMessage }, post ) {
		const mine = ++now.current.followed;
		const onPage = now.current.page;
		let lastWords = '';
		for ( let check = 0; check < mostChecks; check++ ) {
			const { state, message } = await apiFetch( { path: `/newsroom/v1/delivery/${ post }` } );
			if ( mine !== now.current.followed || onPage !== now.current.page ) {
				return;
			}
			const isOver = [ 'done', 'failed' ].includes( state );
			if ( message !== lastWords && ( isOver || check >= soonChecks ) ) {
				lastWords = message;
				setMessage( message );
				wp.a11y.speak( message );
			}
			if ( isOver ) {
				return;
			}
			await new Promise( ( resolve ) => setTimeout( resolve, check < soonChecks ? checkSoon : checkLater ) );
		}
	}

	/** Saves the draft and sends a request about it. @param words said when it is done */
	const act = ( screen, path, method, data, words ) =>
		screen.enqueue( async () => {
			const { now } = screen;
			await save( screen );
			if ( now.current.conflict ) {
				return;
			}
			const before = now.current.slots;
			const answer = await ask( now.current.page, path, method, { version: now.current.version, ...data } );
			const isRestored = path.startsWith( '/history' );
			// Changes made during the request stay on the screen, unless a front was restored.
			take( screen, answer, isRestored || now.current.slots === before, isRestored );
			screen.say( words );
			if ( path === '/publish' || data.publish ) {
				// If there is no response, the message stays: the front is published anyway.
				follow( screen, answer.post ).catch( () => {} );
			}
		} );

	/** Makes a front of the history the draft. */
	function restore( screen, row, publish ) {
		remember( screen );
		const words = publish ? __( 'Restored and published.', 'newsroom' ) : __( 'Restored as a draft.', 'newsroom' );
		act( screen, `/history/${ row }`, 'POST', { publish }, words );
	}

	/** One window shows the draft as any reader would see it, on a phone and on a desktop. */
	function preview( screen ) {
		const { availWidth, availHeight } = window.screen;
		// Opened before the request, because browsers allow new windows only directly after a click.
		const opened = window.open(
			'',
			'newsroom-front-preview',
			`popup,width=${ Math.min( availWidth, 1720 ) },height=${ Math.min( availHeight, 1000 ) }`
		);
		let isShown = false;
		screen.enqueue( async () => {
			const { now } = screen;
			await save( screen );
			if ( ! now.current.conflict ) {
				const { url } = await ask( now.current.page, '/preview', 'POST' );
				( opened || window ).location = url;
				isShown = true;
				opened?.focus();
			}
		} ).then( () => isShown || opened?.close() );
	}

	/** Ends a conflict. @param mine whether the editor's own version stays, and not the colleague's */
	function settle( screen, mine ) {
		const { conflict, now, setConflict, enqueue, say } = screen;
		now.current.conflict = false;
		setConflict( null );
		if ( mine ) {
			enqueue( () => save( screen, true ) );
			return;
		}
		remember( screen );
		take( screen, conflict, true );
		say( __( 'This is your colleague’s version. Undo brings yours back.', 'newsroom' ) );
	}

	Object.assign( parts, { act, change, preview, restore, settle, undo, useAutosave, useOpenPage, useScreen } );
} )();

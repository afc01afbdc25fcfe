/**
 * The screen "Front": the stories of a page in their order, moved by keyboard. Changes are saved as a draft; readers see them after
 * publication, or at a scheduled time.
 */
( function () {
	'use strict';

	const { createElement: el, useState } = wp.element;
	const { Button, Notice, SelectControl, TextControl } = wp.components;
	const { __, sprintf } = wp.i18n;
	const { control, movedWords, without } = window.newsroomShared;
	const { Search, stepOf } = window.newsroomLists;
	const { order, pages, zone, parts } = window.newsroomFront;
	const { act, change, Conflict, History, newSlot, Notes, preview, restore, settle, Slot, undo } = parts;
	const { inPlaces, isPackage, ordered, placeWords, stepped, withKind } = order;

	const titleOf = ( { state }, { headline, story } ) =>
		headline || ( state.stories[ story ] || {} ).title || '';

	/** Moves a slot. @param step `up`, `down`, `first` or `last` @param name control that keeps the focus */
	function move( screen, at, step, name ) {
		const { slots } = screen;
		const next = stepped( slots, at, step );
		if ( ! next ) {
			return;
		}
		const { id } = slots[ at ];
		const to = next.findIndex( ( slot ) => slot.id === id );
		screen.focusSlot( id, name );
		change( screen, next );
		wp.a11y.speak(
			movedWords( titleOf( screen, slots[ at ] ), to, slots.length ) +
				( isPackage( next[ to ] ) ? ` ${ placeWords( next[ to ] ) }` : '' )
		);
	}

	function remove( screen, at ) {
		const { slots } = screen;
		const neighbor = slots[ at + 1 ] || slots[ at - 1 ];
		if ( neighbor ) {
			screen.focusSlot( neighbor.id, 'title' );
		}
		change( screen, ordered( without( slots, at ), slots ) );
		/* translators: %s: headline. */
		wp.a11y.speak( sprintf( __( '%s removed. Undo brings it back.', 'newsroom' ), titleOf( screen, slots[ at ] ) ) );
	}

	/** Keys of the screen: undo, and moves in the list or of a slot. */
	function onKeyDown( screen, event ) {
		const { slots } = screen;
		const list = screen.list.current;
		const row = event.target.closest( '[data-slot]' );
		const isText = event.target.closest( 'input, textarea' );
		if ( ( event.ctrlKey || event.metaKey ) && event.key === 'z' && ! isText ) {
			event.preventDefault();
			undo( screen );
			return;
		}
		// Related headlines have their own order.
		if ( ! row || ! list || ! list.contains( row ) || event.target.closest( '[data-related]' ) ) {
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
			move( screen, at, stepOf( event.key ), name );
		} else if ( named && name === 'title' ) {
			const to = slots[ goals[ event.key ] ];
			const next = to && list.querySelector( `[data-slot="${ to.id }"] [data-control="title"]` );
			if ( next ) {
				event.preventDefault();
				next.focus();
			}
		}
	}

	const button = ( variant, words, onClick, props = {} ) => el( Button, { variant, onClick, ...props }, words );

	/** The choice of a page. */
	function PageChoice( { screen } ) {
		const { page, conflict, setPage, setProblem } = screen;
		return el( SelectControl, {
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
	}

	function Actions( { screen, isHistory, setHistory } ) {
		const publish = () => act( screen, '/publish', 'POST', {}, __( 'Published.', 'newsroom' ) );
		return el(
			'div',
			{ className: 'newsroom-front-actions' },
			button( 'primary', __( 'Publish', 'newsroom' ), publish ),
			button( 'secondary', __( 'Preview', 'newsroom' ), () => preview( screen ) ),
			button( 'secondary', __( 'Undo', 'newsroom' ), () => undo( screen ), {
				disabled: screen.undos.length === 0,
				accessibleWhenDisabled: true,
			} ),
			button( 'secondary', __( 'History', 'newsroom' ), () => setHistory( ! isHistory ), {
				'aria-expanded': isHistory,
			} )
		);
	}

	/** The list of slots, and the search for more stories. */
	function Stories( { screen } ) {
		const { state, slots, list, now, focusSlot } = screen;
		return el(
			wp.element.Fragment,
			null,
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
						move: ( step ) => move( screen, at, step, step ),
						setKind: ( kind ) => {
							focusSlot( slot.id, 'kind' );
							change( screen, withKind( slots, at, kind ) );
						},
						change: ( part, details ) =>
							change(
								screen,
								now.current.slots.map( ( each ) => ( each.id === slot.id ? { ...each, ...part } : each ) ),
								details
							),
						remove: () => remove( screen, at ),
					} )
				)
			),
			el( Search, {
				label: __( 'Find a story', 'newsroom' ),
				query: { status: 'publish,future' },
				has: ( id ) => now.current.slots.some( ( { story } ) => story === id ),
				add: ( story, about ) => {
					const slot = newSlot( story, now.current.slots.length ? 'second' : 'lead' );
					change( screen, inPlaces( [ ...now.current.slots, slot ] ), { stories: { [ story ]: about } } );
				},
			} )
		);
	}

	function Schedule( { screen, time, setTime } ) {
		return el(
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
			button(
				'secondary',
				__( 'Schedule', 'newsroom' ),
				() => act( screen, '/schedule', 'POST', { at: time }, __( 'Scheduled.', 'newsroom' ) ),
				{ disabled: time === '' }
			),
			screen.state.scheduled &&
				button( 'tertiary', __( 'Cancel the scheduled front', 'newsroom' ), () =>
					act( screen, '/schedule', 'DELETE', {}, __( 'Schedule canceled.', 'newsroom' ) )
				)
		);
	}

	function Front() {
		const screen = parts.useScreen();
		const [ time, setTime ] = useState( '' );
		const [ isHistory, setHistory ] = useState( false );
		parts.useOpenPage( screen );
		parts.useAutosave( screen );
		const { page, shown, state, slots, message, problem, conflict, now } = screen;
		const trouble = problem && el( Notice, { status: 'error', isDismissible: false }, problem );
		if ( shown !== page ) {
			return el( 'div', null, el( PageChoice, { screen } ), trouble || el( 'p', null, __( 'Loading…', 'newsroom' ) ) );
		}
		const isSaved = JSON.stringify( slots ) === now.current.saved;
		return el(
			'div',
			{ onKeyDownCapture: ( event ) => onKeyDown( screen, event ) },
			el( PageChoice, { screen } ),
			el( Notes, { state } ),
			el( Actions, { screen, isHistory, setHistory } ),
			el( 'p', { className: 'newsroom-front-message' }, isSaved || conflict ? message : __( 'Saving…', 'newsroom' ) ),
			trouble,
			conflict && el( Conflict, { draft: conflict.draft, settle: ( mine ) => settle( screen, mine ) } ),
			el( Stories, { screen } ),
			el( Schedule, { screen, time, setTime } ),
			isHistory &&
				el( History, {
					page,
					published: state.published && state.published.row,
					restore: ( row, publish ) => restore( screen, row, publish ),
				} )
		);
	}

	wp.domReady( () => {
		wp.element.createRoot( document.getElementById( 'newsroom-front' ) ).render( el( Front ) );
	} );
} )();

/** The screen "Front": calls, new slots, the notes above the list, the buttons of lists, and the search for stories. */
( function () {
	'use strict';

	const { apiFetch } = wp;
	const { createElement: el, Fragment, useEffect, useRef, useState } = wp.element;
	const { Button, Notice, TextControl } = wp.components;
	const { __, sprintf } = wp.i18n;
	const { addQueryArgs } = wp.url;
	const { control, plain } = window.newsroomShared;

	/** Milliseconds between the last key and the search. */
	const searchAfter = 250;

	/** Sends a request about a page's front. @throws the error with `code`, `message` and `data` */
	const ask = ( page, path = '', method = 'GET', data = undefined ) =>
		apiFetch( { path: `/newsroom/v1/front/${ page }${ path }`, method, data } );

	const newSlot = ( story, kind ) => ( {
		id: window.crypto.randomUUID
			? window.crypto.randomUUID()
			: `s-${ Date.now() }-${ Math.floor( Math.random() * 1e9 ) }`,
		kind,
		story,
		headline: '',
		picture: 0,
		from: '',
		until: '',
		related: [],
		after: '',
	} );

	/** Buttons that move an item of a list, or remove it. `move` gets `up` or `down`. */
	function MoveButtons( { title, canMoveUp, canMoveDown, move, remove } ) {
		const button = ( name, words, label, onClick, props ) =>
			el(
				Button,
				{
					variant: 'tertiary',
					'data-control': name,
					/* translators: 1: what the button does, 2: headline. */
					'aria-label': sprintf( '%1$s: %2$s', label, title ),
					onClick,
					...props,
				},
				words
			);
		return el(
			Fragment,
			null,
			button( 'up', '↑', __( 'Move up', 'newsroom' ), () => move( 'up' ), {
				disabled: ! canMoveUp,
				accessibleWhenDisabled: true,
			} ),
			button( 'down', '↓', __( 'Move down', 'newsroom' ), () => move( 'down' ), {
				disabled: ! canMoveDown,
				accessibleWhenDisabled: true,
			} ),
			button( 'remove', __( 'Remove', 'newsroom' ), __( 'Remove', 'newsroom' ), remove, { isDestructive: true } )
		);
	}

	/** Finds stories by their words, and adds one with the button or with Enter. */
	function Search( { label, add, has } ) {
		const [ query, setQuery ] = useState( '' );
		const [ found, setFound ] = useState( [] );
		const [ words, setWords ] = useState( '' );
		const latest = useRef( 0 );

		const find = async () => {
			const own = ++latest.current;
			if ( query.trim().length < 2 ) {
				setFound( [] );
				setWords( '' );
				return;
			}
			try {
				const stories = await apiFetch( {
					path: addQueryArgs( '/wp/v2/articles', {
						search: query.trim(),
						per_page: 10,
						orderby: 'relevance',
						status: 'publish,future',
						_fields: 'id,title,date,status',
					} ),
				} );
				if ( own !== latest.current ) {
					return;
				}
				setFound( stories );
				setWords(
					stories.length
						? /* translators: %d: number of stories. */
						  sprintf( __( '%d found.', 'newsroom' ), stories.length )
						: __( 'No story found.', 'newsroom' )
				);
			} catch ( error ) {
				if ( own === latest.current ) {
					setWords(
						error.message ||
							__( 'The search failed. Try again.', 'newsroom' )
					);
				}
			}
		};

		useEffect( () => {
			const timer = setTimeout( find, searchAfter );
			return () => clearTimeout( timer );
		}, [ query ] );

		const take = ( story ) => {
			const title = plain( story.title.rendered );
			if ( has && has( story.id ) ) {
				/* translators: %s: headline. */
				setWords( sprintf( __( '%s is already in the list.', 'newsroom' ), title ) );
				return;
			}
			add( story.id, {
				title,
				state: story.status === 'future' ? 'scheduled' : '',
			} );
			/* translators: %s: headline. */
			setWords( sprintf( __( '%s added.', 'newsroom' ), title ) );
		};

		return el(
			'div',
			{ className: 'newsroom-front-search' },
			el( TextControl, {
				...control,
				type: 'search',
				label,
				value: query,
				autoComplete: 'off',
				onChange: setQuery,
				onKeyDown: ( event ) => {
					if ( event.key === 'Enter' ) {
						event.preventDefault();
						if ( found[ 0 ] ) {
							take( found[ 0 ] );
						}
					}
				},
			} ),
			el( 'p', { role: 'status', className: 'newsroom-front-found' }, words ),
			el(
				'ul',
				null,
				found.map( ( story ) =>
					el(
						'li',
						{ key: story.id },
						el(
							'span',
							null,
							`${ plain( story.title.rendered ) } (${ story.date.slice( 0, 10 ) })`
						),
						' ',
						el(
							Button,
							{
								variant: 'secondary',
								size: 'small',
								'aria-label': sprintf(
									/* translators: %s: headline. */
									__( 'Add %s', 'newsroom' ),
									plain( story.title.rendered )
								),
								onClick: () => take( story ),
							},
							__( 'Add', 'newsroom' )
						)
					)
				)
			)
		);
	}

	/** What readers see, what is scheduled, and whose draft this is. */
	function Notes( { state } ) {
		const { published, scheduled, draft, changed } = state;
		const withTimeAndUser = ( words, note ) => sprintf( words, note.when, note.by );
		return el(
			'p',
			{ className: 'newsroom-front-notes' },
			published
				? /* translators: 1: time, 2: user. */
				  withTimeAndUser( __( 'Published %1$s by %2$s.', 'newsroom' ), published )
				: __( 'Nothing is published, so the page is filled automatically.', 'newsroom' ),
			' ',
			changed && draft
				? /* translators: 1: time, 2: user. */
				  withTimeAndUser( __( 'This is a draft, changed %1$s by %2$s.', 'newsroom' ), draft )
				: '',
			scheduled &&
				el(
					'strong',
					null,
					' ',
					/* translators: 1: time, 2: user. */
					withTimeAndUser( __( 'Another front is scheduled for %1$s by %2$s.', 'newsroom' ), scheduled )
				)
		);
	}

	/** A colleague's draft that is newer than what is on the screen. @param settle called with whether the editor's own version stays */
	function Conflict( { draft, settle } ) {
		const button = ( words, mine ) =>
			el( Button, { variant: 'secondary', onClick: () => settle( mine ) }, words );
		return el(
			Notice,
			{ status: 'warning', isDismissible: false },
			el(
				'p',
				null,
				sprintf(
					/* translators: 1: user, 2: time. */
					__( '%1$s changed this front at %2$s. Your version isn’t saved, but it’s still here. The version that you replace stays in the history.', 'newsroom' ),
					draft ? draft.by : '',
					draft ? draft.when : ''
				)
			),
			button( __( 'Show theirs', 'newsroom' ), false ),
			' ',
			button( __( 'Keep mine', 'newsroom' ), true )
		);
	}

	window.newsroomFront.parts = { ask, Conflict, MoveButtons, newSlot, Notes, Search };
} )();

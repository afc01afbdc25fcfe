/** Ordered lists of documents: moving and removing items with the focus, the buttons of an item, and the search for more. */
( function () {
	'use strict';

	const { apiFetch } = wp;
	const { createElement: el, Fragment, useEffect, useRef, useState } = wp.element;
	const { Button, TextControl } = wp.components;
	const { __, sprintf } = wp.i18n;
	const { addQueryArgs } = wp.url;
	const { control, moved, movedWords, plain, useNextFocus, without } = window.newsroomShared;

	/** Milliseconds between the last key and the search. */
	const searchAfter = 250;

	/** Name of the step for a key; undefined for other keys. */
	const stepOf = ( key ) =>
		( { ArrowUp: 'up', ArrowDown: 'down', Home: 'first', End: 'last' } )[ key ];

	/** Steps of a move by their names: the next place, or the end of the list. */
	const steps = { up: -1, down: 1, first: -Infinity, last: Infinity };

	/**
	 * The order of a list. Alt with an arrow key, in any of an item's controls, moves the item.
	 *
	 * @param list    Items.
	 * @param set     Called with the changed list.
	 * @param titleOf Title of an item.
	 * @param usual   `data-control` of the control that gets the focus when an item before it was removed.
	 * @return `box`: ref of the element with the list, an `ol`, and with the field that adds items; `onKeyDown` of the list; `buttons`:
	 *         properties of the buttons of an item.
	 */
	function useOrder( list, set, titleOf, usual = 'remove' ) {
		const box = useRef( null );
		const focusNext = useNextFocus( list );
		const items = () => [ ...box.current.querySelectorAll( 'ol > li' ) ];
		const focusOn = ( at, name ) =>
			focusNext( () =>
				at < 0
					? box.current.querySelector( 'input' )
					: items()[ at ]?.querySelector( `[data-control="${ name }"]` )
			);
		const move = ( at, step, name ) => {
			const to = Math.min( list.length - 1, Math.max( 0, at + steps[ step ] ) );
			if ( to !== at ) {
				focusOn( to, name );
				set( moved( list, at, to ) );
				wp.a11y.speak( movedWords( titleOf( list[ at ] ), to, list.length ) );
			}
		};
		const remove = ( at ) => {
			focusOn( Math.min( at, list.length - 2 ), usual );
			set( without( list, at ) );
			/* translators: %s: title or name. */
			wp.a11y.speak( sprintf( __( '%s removed.', 'newsroom' ), titleOf( list[ at ] ) ) );
		};
		const onKeyDown = ( event ) => {
			const at = items().indexOf( event.target.closest( 'li' ) );
			const step = stepOf( event.key );
			if ( event.altKey && step && at >= 0 ) {
				event.preventDefault();
				move( at, step, event.target.closest( '[data-control]' )?.dataset.control ?? usual );
			}
		};
		const buttons = ( at ) => ( {
			title: titleOf( list[ at ] ),
			canMoveUp: at > 0,
			canMoveDown: at < list.length - 1,
			move: ( step ) => move( at, step, step ),
			remove: () => remove( at ),
		} );
		return { box, buttons, onKeyDown };
	}

	/** Buttons that move an item of a list, or remove it. `move` gets `up` or `down`. At an end of the list the focus stays on its button. */
	function MoveButtons( { title, canMoveUp, canMoveDown, move, remove, size } ) {
		const button = ( name, words, label, onClick, props ) =>
			el(
				Button,
				{
					variant: 'tertiary',
					size,
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

	/**
	 * Finds documents by their words, and adds one with the button or with Enter.
	 *
	 * @param add   Called with its id, and with `title` and `state`.
	 * @param has   Whether the list has a document.
	 * @param route Type in REST.
	 * @param query Further parameters of the request.
	 * @param none  What is said when nothing is found.
	 */
	function Search( { label, add, has, route = 'articles', query: limits, none = __( 'No story found.', 'newsroom' ) } ) {
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
					path: addQueryArgs( `/wp/v2/${ route }`, {
						search: query.trim(),
						per_page: 10,
						orderby: 'relevance',
						_fields: 'id,title,date,status',
						...limits,
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
						: none
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
			if ( has( story.id ) ) {
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
			{ className: 'newsroom-search' },
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
			el( 'p', { role: 'status', className: 'newsroom-found' }, words ),
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
							plain( story.title.rendered ),
							// Titles of stories are often alike, so their dates are shown, too.
							route === 'articles' && ` (${ story.date.slice( 0, 10 ) })`
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

	window.newsroomLists = { MoveButtons, Search, stepOf, steps, useOrder };
} )();

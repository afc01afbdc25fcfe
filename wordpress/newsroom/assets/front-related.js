/** The screen "Front": the related headlines of a package, moved by keyboard. */
( function () {
	'use strict';

	const { createElement: el, useLayoutEffect, useRef, useState } = wp.element;
	const { Button, TextControl } = wp.components;
	const { __, sprintf } = wp.i18n;
	const { order, headline: longest, parts } = window.newsroomFront;
	const { control, Search } = parts;
	const { moved, stepOf, steps } = order;

	/** Stories, or addresses with a text. Alt with an arrow key, in any of its controls, moves a headline. */
	function Related( { slot, stories, change } ) {
		const [ url, setUrl ] = useState( '' );
		const [ title, setTitle ] = useState( '' );
		const set = ( next, details ) => change( { related: next }, details );
		const list = useRef();
		const focus = useRef( null );
		const { related } = slot;
		const titleOf = ( link ) =>
			link.title || ( link.story ? ( stories[ link.story ] || {} ).title : link.url );

		// A control that has moved with its headline keeps the focus.
		useLayoutEffect( () => {
			if ( ! focus.current || ! list.current ) {
				return;
			}
			const { at, name } = focus.current;
			focus.current = null;
			const item = list.current.children[ at ];
			const wanted = item && item.querySelector( `[data-part="${ name }"]` );
			if ( wanted ) {
				wanted.focus();
			}
		}, [ related ] );

		const move = ( at, step, name ) => {
			const to = Math.min( related.length - 1, Math.max( 0, at + steps[ step ] ) );
			if ( to === at ) {
				return;
			}
			focus.current = { at: to, name };
			set( moved( related, at, to ) );
			wp.a11y.speak(
				sprintf(
					/* translators: 1: headline, 2: place, 3: number of headlines. */
					__( '%1$s is now %2$d of %3$d.', 'newsroom' ),
					titleOf( related[ at ] ),
					to + 1,
					related.length
				)
			);
		};
		const remove = ( at ) => {
			focus.current = { at: Math.min( at, related.length - 2 ), name: 'words' };
			set( related.filter( ( _, each ) => each !== at ) );
		};
		const onKeyDown = ( event ) => {
			const item = event.target.closest( 'li' );
			const step = stepOf( event.key );
			if ( ! event.altKey || ! step || ! item ) {
				return;
			}
			event.preventDefault();
			const named = event.target.closest( '[data-part]' );
			move( [ ...list.current.children ].indexOf( item ), step, named ? named.dataset.part : 'words' );
		};
		return el(
			'fieldset',
			null,
			el( 'legend', null, __( 'Related headlines', 'newsroom' ) ),
			el(
				'ol',
				{ ref: list, className: 'newsroom-front-related', 'data-related': '', onKeyDown },
				related.map( ( link, at ) => {
					const own = titleOf( { ...link, title: '' } );
					const button = ( name, words, label, onClick, props ) =>
						el(
							Button,
							{
								variant: 'tertiary',
								'data-part': name,
								'aria-label': `${ label }: ${ own }`,
								onClick,
								...props,
							},
							words
						);
					return el(
						'li',
						{ key: `${ link.story }-${ link.url }-${ at }` },
						el( TextControl, {
							...control,
							'data-part': 'words',
							label: sprintf(
								/* translators: %s: headline or address. */
								__( 'Link text for %s', 'newsroom' ),
								own
							),
							value: link.title,
							placeholder: link.story ? own : '',
							maxLength: longest,
							onChange: ( words ) =>
								set(
									related.map( ( each, place ) =>
										place === at ? { ...each, title: words } : each
									)
								),
						} ),
						button( 'up', '↑', __( 'Move up', 'newsroom' ), () => move( at, 'up', 'up' ), {
							disabled: at === 0,
							accessibleWhenDisabled: true,
						} ),
						button( 'down', '↓', __( 'Move down', 'newsroom' ), () => move( at, 'down', 'down' ), {
							disabled: at === related.length - 1,
							accessibleWhenDisabled: true,
						} ),
						button( 'remove', __( 'Remove', 'newsroom' ), __( 'Remove', 'newsroom' ), () => remove( at ), {
							isDestructive: true,
						} )
					);
				} )
			),
			el( Search, {
				label: __( 'Add a story', 'newsroom' ),
				has: ( id ) => related.some( ( { story } ) => story === id ),
				add: ( story, about ) =>
					set( [ ...related, { story, url: '', title: '' } ], {
						stories: { [ story ]: about },
					} ),
			} ),
			el(
				'div',
				{ className: 'newsroom-front-fields' },
				el( TextControl, {
					...control,
					type: 'url',
					label: __( 'Or a web address', 'newsroom' ),
					value: url,
					onChange: setUrl,
				} ),
				el( TextControl, {
					...control,
					label: __( 'Link text', 'newsroom' ),
					value: title,
					maxLength: longest,
					onChange: setTitle,
				} ),
				el(
					Button,
					{
						variant: 'secondary',
						disabled: url.trim() === '' || title.trim() === '',
						onClick: () => {
							set( [ ...related, { story: 0, url: url.trim(), title } ] );
							setUrl( '' );
							setTitle( '' );
						},
					},
					__( 'Add the link', 'newsroom' )
				)
			)
		);
	}

	parts.Related = Related;
} )();

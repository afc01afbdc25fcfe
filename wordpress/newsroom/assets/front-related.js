/** The screen "Front": the related headlines of a package, moved by keyboard. */
( function () {
	'use strict';

	const { createElement: el, useRef, useState } = wp.element;
	const { Button, TextControl } = wp.components;
	const { __, sprintf } = wp.i18n;
	const { order, headline: longest, parts } = window.newsroomFront;
	const { changed, control, moved, movedWords, useNextFocus, without } = window.newsroomShared;
	const { MoveButtons, Search } = parts;
	const { stepOf, steps } = order;

	/** Stories, or addresses with a text. Alt with an arrow key, in any of its controls, moves a headline. */
	function Related( { slot, stories, change } ) {
		const [ url, setUrl ] = useState( '' );
		const [ title, setTitle ] = useState( '' );
		const set = ( next, details ) => change( { related: next }, details );
		const list = useRef();
		const { related } = slot;
		const focusNext = useNextFocus( related );
		const focusOn = ( at, name ) =>
			focusNext( () => list.current.children[ at ]?.querySelector( `[data-control="${ name }"]` ) );
		const titleOf = ( link ) =>
			link.title || ( link.story ? ( stories[ link.story ] || {} ).title : link.url );

		const move = ( at, step, name ) => {
			const to = Math.min( related.length - 1, Math.max( 0, at + steps[ step ] ) );
			if ( to === at ) {
				return;
			}
			focusOn( to, name );
			set( moved( related, at, to ) );
			wp.a11y.speak( movedWords( titleOf( related[ at ] ), to, related.length ) );
		};
		const remove = ( at ) => {
			focusOn( Math.min( at, related.length - 2 ), 'words' );
			set( without( related, at ) );
		};
		const onKeyDown = ( event ) => {
			const item = event.target.closest( 'li' );
			const step = stepOf( event.key );
			if ( ! event.altKey || ! step || ! item ) {
				return;
			}
			event.preventDefault();
			const named = event.target.closest( '[data-control]' );
			move( [ ...list.current.children ].indexOf( item ), step, named ? named.dataset.control : 'words' );
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
					return el(
						'li',
						{ key: `${ link.story }-${ link.url }-${ at }` },
						el( TextControl, {
							...control,
							'data-control': 'words',
							label: sprintf(
								/* translators: %s: headline or address. */
								__( 'Link text for %s', 'newsroom' ),
								own
							),
							value: link.title,
							placeholder: link.story ? own : '',
							maxLength: longest,
							onChange: ( words ) => set( changed( related, at, { title: words } ) ),
						} ),
						el( MoveButtons, {
							title: own,
							canMoveUp: at > 0,
							canMoveDown: at < related.length - 1,
							move: ( step ) => move( at, step, step ),
							remove: () => remove( at ),
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

/** The screen "Front": the related headlines of a package, moved by keyboard. */
( function () {
	'use strict';

	const { createElement: el, useState } = wp.element;
	const { Button, TextControl } = wp.components;
	const { __, sprintf } = wp.i18n;
	const { headline: longest, parts } = window.newsroomFront;
	const { changed, control } = window.newsroomShared;
	const { MoveButtons, Search, useOrder } = window.newsroomLists;

	/** Stories, or addresses with a text. */
	function Related( { slot, stories, change } ) {
		const [ url, setUrl ] = useState( '' );
		const [ title, setTitle ] = useState( '' );
		const set = ( next, details ) => change( { related: next }, details );
		const { related } = slot;
		const titleOf = ( link ) =>
			link.title || ( link.story ? ( stories[ link.story ] || {} ).title : link.url );
		const { box, buttons, onKeyDown } = useOrder( related, set, titleOf, 'words' );
		return el(
			'fieldset',
			{ ref: box },
			el( 'legend', null, __( 'Related headlines', 'newsroom' ) ),
			el(
				'ol',
				{ className: 'newsroom-front-related', 'data-related': '', onKeyDown },
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
						el( MoveButtons, buttons( at ) )
					);
				} )
			),
			el( Search, {
				label: __( 'Add a story', 'newsroom' ),
				query: { status: 'publish,future' },
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

/** The screen "Front": one slot of the list, with its fields. */
( function () {
	'use strict';

	const { createElement: el, useState } = wp.element;
	const { Button, SelectControl, TextControl } = wp.components;
	const { __, sprintf } = wp.i18n;
	const { kinds, zone, headline: longest, parts } = window.newsroomFront;
	const { control, Search } = parts;

	const stateWords = {
		'': '',
		scheduled: __( 'Scheduled: readers don’t see it yet.', 'newsroom' ),
		unpublished: __( 'Not published: its place fills itself.', 'newsroom' ),
		gone: __( 'This story is gone: its place fills itself.', 'newsroom' ),
	};

	/** Opens the media library. @param then called with the picture's id and address */
	function choosePicture( then ) {
		const frame = wp.media( {
			title: __( 'Picture for this place', 'newsroom' ),
			library: { type: 'image' },
			multiple: false,
		} );
		frame.on( 'select', () => {
			const { id, sizes, url } = frame.state().get( 'selection' ).first().toJSON();
			then( id, ( sizes && sizes.thumbnail && sizes.thumbnail.url ) || url );
		} );
		frame.open();
	}

	function Picture( { slot, pictures, change } ) {
		const address = pictures[ slot.picture ];
		return el(
			'div',
			{ className: 'newsroom-front-picture' },
			slot.picture > 0 &&
				address &&
				el( 'img', { src: address, alt: '', width: 80, height: 80 } ),
			el(
				Button,
				{
					variant: 'secondary',
					onClick: () =>
						choosePicture( ( id, url ) =>
							change( { picture: id }, { pictures: { [ id ]: url } } )
						),
				},
				slot.picture > 0
					? __( 'Change the picture', 'newsroom' )
					: __( 'Picture for this place', 'newsroom' )
			),
			slot.picture > 0 &&
				el(
					Button,
					{
						variant: 'tertiary',
						onClick: () => change( { picture: 0 } ),
					},
					__( 'Use the story’s own', 'newsroom' )
				)
		);
	}

	/** Related headlines of a package: stories, or addresses with words. */
	function Related( { slot, stories, change } ) {
		const [ url, setUrl ] = useState( '' );
		const [ title, setTitle ] = useState( '' );
		const set = ( related, details ) => change( { related }, details );
		const without = ( at ) => slot.related.filter( ( _, each ) => each !== at );
		return el(
			'fieldset',
			null,
			el( 'legend', null, __( 'Related headlines', 'newsroom' ) ),
			el(
				'ol',
				{ className: 'newsroom-front-related' },
				slot.related.map( ( link, at ) => {
					const own = link.story ? ( stories[ link.story ] || {} ).title : link.url;
					return el(
						'li',
						{ key: `${ link.story }-${ link.url }-${ at }` },
						el( TextControl, {
							...control,
							label: sprintf(
								/* translators: %s: headline or address. */
								__( 'Words for %s', 'newsroom' ),
								own
							),
							value: link.title,
							placeholder: link.story ? own : '',
							maxLength: longest,
							onChange: ( words ) =>
								set(
									slot.related.map( ( each, place ) =>
										place === at ? { ...each, title: words } : each
									)
								),
						} ),
						el(
							Button,
							{
								variant: 'tertiary',
								isDestructive: true,
								'aria-label': sprintf(
									/* translators: %s: headline or address. */
									__( 'Remove %s', 'newsroom' ),
									own
								),
								onClick: () => set( without( at ) ),
							},
							__( 'Remove', 'newsroom' )
						)
					);
				} )
			),
			el( Search, {
				label: __( 'Add a story', 'newsroom' ),
				has: ( id ) => slot.related.some( ( { story } ) => story === id ),
				add: ( story, about ) =>
					set( [ ...slot.related, { story, url: '', title: '' } ], {
						stories: { [ story ]: about },
					} ),
			} ),
			el(
				'div',
				{ className: 'newsroom-front-fields' },
				el( TextControl, {
					...control,
					type: 'url',
					label: __( 'Or an address', 'newsroom' ),
					value: url,
					onChange: setUrl,
				} ),
				el( TextControl, {
					...control,
					label: __( 'Its words', 'newsroom' ),
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
							set( [ ...slot.related, { story: 0, url: url.trim(), title } ] );
							setUrl( '' );
							setTitle( '' );
						},
					},
					__( 'Add the address', 'newsroom' )
				)
			)
		);
	}

	function Fields( { slot, stories, pictures, change } ) {
		const time = ( name, label ) =>
			el( TextControl, {
				...control,
				type: 'datetime-local',
				label,
				value: slot[ name ],
				onChange: ( value ) => change( { [ name ]: value.slice( 0, 16 ) } ),
			} );
		return el(
			'div',
			{ className: 'newsroom-front-details', id: `fields-${ slot.id }` },
			el( TextControl, {
				...control,
				label: __( 'Headline for this place', 'newsroom' ),
				value: slot.headline,
				placeholder: ( stories[ slot.story ] || {} ).title,
				maxLength: longest,
				onChange: ( headline ) => change( { headline } ),
			} ),
			el( Picture, { slot, pictures, change } ),
			el(
				'div',
				{ className: 'newsroom-front-fields' },
				/* translators: %s: time zone. */
				time( 'from', sprintf( __( 'Pinned from (%s)', 'newsroom' ), zone ) ),
				/* translators: %s: time zone. */
				time( 'until', sprintf( __( 'Pinned until (%s)', 'newsroom' ), zone ) )
			),
			slot.kind === 'package' && el( Related, { slot, stories, change } )
		);
	}

	/** One slot. Alt with an arrow moves it from any of its controls. */
	function Slot( { slot, at, count, stories, pictures, move, change, remove } ) {
		const [ isOpen, setOpen ] = useState( false );
		const story = stories[ slot.story ] || { title: '', state: '' };
		const title = slot.headline || story.title;
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
		const pinned = [ slot.from, slot.until ].some( ( time ) => time !== '' );
		return el(
			'li',
			{ 'data-slot': slot.id },
			el(
				'div',
				{ className: 'newsroom-front-row' },
				el( 'span', { className: 'newsroom-front-place' }, at + 1 ),
				el( SelectControl, {
					...control,
					label: sprintf(
						/* translators: %s: headline. */
						__( 'Kind: %s', 'newsroom' ),
						title
					),
					hideLabelFromVision: true,
					value: slot.kind,
					options: kinds,
					'data-control': 'kind',
					onChange: ( kind ) => change( { kind } ),
				} ),
				el(
					Button,
					{
						className: 'newsroom-front-title',
						'data-control': 'title',
						'aria-expanded': isOpen,
						'aria-describedby': 'newsroom-front-keys',
						onClick: () => setOpen( ! isOpen ),
					},
					title
				),
				button( 'up', '↑', __( 'Move up', 'newsroom' ), () => move( at - 1, 'up' ), {
					disabled: at === 0,
					accessibleWhenDisabled: true,
				} ),
				button( 'down', '↓', __( 'Move down', 'newsroom' ), () => move( at + 1, 'down' ), {
					disabled: at === count - 1,
					accessibleWhenDisabled: true,
				} ),
				button(
					'remove',
					__( 'Remove', 'newsroom' ),
					__( 'Remove', 'newsroom' ),
					remove,
					{ isDestructive: true }
				)
			),
			( story.state || pinned || slot.related.length > 0 ) &&
				el(
					'p',
					{ className: 'description' },
					[
						stateWords[ story.state ],
						pinned &&
							sprintf(
								/* translators: 1: a time or "–", 2: a time or "–". */
								__( 'Pinned from %1$s until %2$s.', 'newsroom' ),
								slot.from.replace( 'T', ' ' ) || '–',
								slot.until.replace( 'T', ' ' ) || '–'
							),
						slot.related.length > 0 &&
							sprintf(
								/* translators: %d: number of headlines. */
								__( 'Related headlines: %d.', 'newsroom' ),
								slot.related.length
							),
					]
						.filter( Boolean )
						.join( ' ' )
				),
			isOpen && el( Fields, { slot, stories, pictures, change } )
		);
	}

	parts.Slot = Slot;
} )();

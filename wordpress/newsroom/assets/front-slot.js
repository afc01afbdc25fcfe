/** The screen "Front": one slot of the list, with its fields. */
( function () {
	'use strict';

	const { createElement: el, useState } = wp.element;
	const { Button, SelectControl, TextControl } = wp.components;
	const { __, sprintf } = wp.i18n;
	const { kinds, order, zone, headline: longest, parts } = window.newsroomFront;
	const { control } = window.newsroomShared;
	const { MoveButtons } = window.newsroomLists;
	const { Related } = parts;
	const { canStep, isPackage, placeWords } = order;

	const stateWords = {
		'': '',
		scheduled: __( 'Scheduled: readers don’t see it yet.', 'newsroom' ),
		unpublished: __( 'Not published: the next story takes its place.', 'newsroom' ),
		gone: __( 'This story was deleted: the next one takes its place.', 'newsroom' ),
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
					__( 'Use the story’s own picture', 'newsroom' )
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
			isPackage( slot ) && el( Related, { slot, stories, change } )
		);
	}

	/** One slot. Alt with an arrow key, in any of its controls, moves it. */
	function Slot( { slot, at, slots, stories, pictures, move, setKind, change, remove } ) {
		const [ isOpen, setOpen ] = useState( false );
		const story = stories[ slot.story ] || { title: '', state: '' };
		const title = slot.headline || story.title;
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
					onChange: setKind,
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
				el( MoveButtons, {
					title,
					canMoveUp: canStep( slots, at, 'up' ),
					canMoveDown: canStep( slots, at, 'down' ),
					move,
					remove,
				} )
			),
			( story.state || pinned || isPackage( slot ) ) &&
				el(
					'p',
					{ className: 'description' },
					[
						isPackage( slot ) && placeWords( slot ),
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

/** The screen "Front": published fronts, and drafts that were replaced by others. */
( function () {
	'use strict';

	const { createElement: el, useEffect, useState } = wp.element;
	const { Button, Notice } = wp.components;
	const { __, sprintf } = wp.i18n;
	const { failed } = window.newsroomShared;
	const { parts } = window.newsroomFront;
	const { ask } = parts;

	/** Each front can be shown, compared with what is published, and restored. */
	function History( { page, published, restore } ) {
		const [ fronts, setFronts ] = useState( [] );
		const [ total, setTotal ] = useState( 0 );
		const [ shown, setShown ] = useState( null );
		const [ problem, setProblem ] = useState( '' );
		const load = async ( skip ) => {
			try {
				const part = await ask( page, `/history?skip=${ skip }` );
				setFronts( ( before ) => ( skip ? [ ...before, ...part.fronts ] : part.fronts ) );
				setTotal( part.total );
			} catch ( error ) {
				setProblem( failed( error ) );
			}
		};
		useEffect( () => {
			setShown( null );
			load( 0 );
		}, [ page, published ] );
		const show = async ( row ) => {
			try {
				setShown( await ask( page, `/history/${ row }` ) );
			} catch ( error ) {
				setProblem( failed( error ) );
			}
		};
		return el(
			'section',
			{ className: 'newsroom-front-history', 'aria-labelledby': 'newsroom-front-history' },
			el( 'h2', { id: 'newsroom-front-history' }, __( 'History', 'newsroom' ) ),
			problem && el( Notice, { status: 'error', isDismissible: false }, problem ),
			fronts.length === 0 && el( 'p', null, __( 'Nothing has been published yet.', 'newsroom' ) ),
			el(
				'ol',
				null,
				fronts.map( ( { row, state, by, when, slots } ) => {
					const words = sprintf(
						state === 'kept'
							? /* translators: 1: time, 2: user, 3: number of slots. */
							  __( '%1$s, replaced draft by %2$s, stories: %3$d', 'newsroom' )
							: /* translators: 1: time, 2: user, 3: number of slots. */
							  __( '%1$s, published by %2$s, stories: %3$d', 'newsroom' ),
						when,
						by,
						slots
					);
					const isShown = shown && shown.row === row;
					return el(
						'li',
						{ key: row },
						words,
						' ',
						el(
							Button,
							{
								variant: 'link',
								'aria-expanded': Boolean( isShown ),
								'aria-label': `${ __( 'Show', 'newsroom' ) }: ${ words }`,
								onClick: () => ( isShown ? setShown( null ) : show( row ) ),
							},
							__( 'Show', 'newsroom' )
						),
						isShown && el( Shown, { shown, restore } )
					);
				} )
			),
			total > fronts.length &&
				el(
					Button,
					{ variant: 'secondary', onClick: () => load( fronts.length ) },
					__( 'Show more', 'newsroom' )
				)
		);
	}

	function Shown( { shown, restore } ) {
		return el(
			'div',
			{ className: 'newsroom-front-shown' },
			el( 'ol', null, shown.lines.map( ( line, at ) => el( 'li', { key: at }, line ) ) ),
			el(
				'p',
				null,
				shown.differences.length
					? __( 'Compared with the published front:', 'newsroom' )
					: __( 'This is the published front.', 'newsroom' )
			),
			shown.differences.length > 0 &&
				el( 'ul', null, shown.differences.map( ( line, at ) => el( 'li', { key: at }, line ) ) ),
			el(
				Button,
				{ variant: 'secondary', onClick: () => restore( shown.row, false ) },
				__( 'Restore as draft', 'newsroom' )
			),
			' ',
			el(
				Button,
				{ variant: 'primary', onClick: () => restore( shown.row, true ) },
				__( 'Restore and publish', 'newsroom' )
			)
		);
	}

	parts.History = History;
} )();

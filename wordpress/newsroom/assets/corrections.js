/**
 * The panel "Corrections" of the block editor. It edits the post's meta, so undo, redo, autosaves, revisions and the
 * question about unsaved changes are the editor's own.
 */
( function () {
	'use strict';

	const { createElement: el, Fragment, useEffect, useId, useRef } = wp.element;
	const { Button, SelectControl, TextareaControl, TextControl } =
		wp.components;
	const { useDispatch, useSelect } = wp.data;
	const { __, sprintf } = wp.i18n;
	const { kinds, words, most, longest } = window.newsroomCorrections;
	const key = 'newsroom_corrections';
	const Panel =
		wp.editor.PluginDocumentSettingPanel ||
		wp.editPost.PluginDocumentSettingPanel;

	/** An instant as the field shows it, in the zone of this WordPress. */
	const localOf = ( date ) => wp.date.dateI18n( 'Y-m-d\\TH:i', date );
	const instantOf = ( local ) =>
		wp.date
			.getDate( local )
			.toISOString()
			.replace( /\.\d+Z$/, 'Z' );

	function Note( { note, number, input, change, remove } ) {
		const tooLong = Array.from( note.text ).length > longest;
		const title = sprintf(
			/* translators: 1: "Correction" or "Clarification", 2: number. */
			__( '%1$s %2$d', 'newsroom' ),
			kinds[ note.kind ],
			number
		);
		const messageId = useId();
		return el(
			'fieldset',
			{ className: 'newsroom-correction' },
			el( 'legend', null, title ),
			el( SelectControl, {
				label: __( 'Kind', 'newsroom' ),
				value: note.kind,
				options: Object.keys( kinds ).map( ( value ) => ( {
					value,
					label: kinds[ value ],
				} ) ),
				onChange: ( kind ) => change( { kind } ),
				__next40pxDefaultSize: true,
				__nextHasNoMarginBottom: true,
			} ),
			el( TextControl, {
				type: 'datetime-local',
				label: __( 'Date and time', 'newsroom' ),
				value: localOf( note.date ),
				// An emptied field keeps the date: a note always has one.
				onChange: ( local ) =>
					local && change( { date: instantOf( local ) } ),
				__next40pxDefaultSize: true,
				__nextHasNoMarginBottom: true,
			} ),
			el( TextareaControl, {
				ref: input,
				label: __( 'Text', 'newsroom' ),
				value: note.text,
				rows: 5,
				onChange: ( text ) => change( { text } ),
				'aria-invalid': tooLong || undefined,
				'aria-describedby': tooLong ? messageId : undefined,
				__nextHasNoMarginBottom: true,
			} ),
			tooLong &&
				el(
					'p',
					{
						id: messageId,
						className: 'newsroom-correction-problem',
						role: 'alert',
					},
					words.long
				),
			el(
				Button,
				{
					variant: 'tertiary',
					isDestructive: true,
					onClick: remove,
					'aria-label': sprintf(
						/* translators: %s: "Correction 1". */
						__( 'Remove %s', 'newsroom' ),
						title
					),
				},
				__( 'Remove', 'newsroom' )
			)
		);
	}

	function Corrections() {
		const notes = useSelect(
			( select ) =>
				( select( 'core/editor' ).getEditedPostAttribute( 'meta' ) ||
					{} )[ key ],
			[]
		);
		const { editPost, lockPostSaving, unlockPostSaving } =
			useDispatch( 'core/editor' );
		const list = notes || [];
		const first = useRef( null );
		const add = useRef( null );
		const focusNext = useRef( null );
		const tooLong = list.some(
			( note ) => Array.from( note.text ).length > longest
		);

		// WordPress would refuse the whole story; the message is beside the note.
		useEffect( () => {
			( tooLong ? lockPostSaving : unlockPostSaving )( key );
		}, [ tooLong ] );
		useEffect( () => {
			if ( focusNext.current ) {
				focusNext.current.current?.focus();
				focusNext.current = null;
			}
		}, [ list.length ] );

		const set = ( next ) => editPost( { meta: { [ key ]: next } } );
		return el(
			Fragment,
			null,
			el( 'p', { className: 'description' }, words.help ),
			el(
				Button,
				{
					ref: add,
					variant: 'secondary',
					disabled: list.length >= most,
					accessibleWhenDisabled: true,
					onClick: () => {
						focusNext.current = first;
						const date = new Date()
							.toISOString()
							.replace( /\.\d+Z$/, 'Z' );
						set( [ { kind: 'correction', date, text: '' }, ...list ] );
					},
				},
				__( 'Add a note', 'newsroom' )
			),
			list.map( ( note, index ) =>
				el( Note, {
					key: list.length - index,
					note,
					number: list.length - index,
					input: index === 0 ? first : undefined,
					change: ( part ) =>
						set(
							list.map( ( each, at ) =>
								at === index ? { ...each, ...part } : each
							)
						),
					remove: () => {
						focusNext.current = add;
						set( list.filter( ( _, at ) => at !== index ) );
						wp.a11y.speak( __( 'Note removed.', 'newsroom' ) );
					},
				} )
			)
		);
	}

	wp.plugins.registerPlugin( 'newsroom-corrections', {
		render: () =>
			el(
				Panel,
				{
					name: 'newsroom-corrections',
					title: __( 'Corrections', 'newsroom' ),
				},
				el( Corrections )
			),
	} );
} )();

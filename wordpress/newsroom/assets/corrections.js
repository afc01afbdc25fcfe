/**
 * The panel "Corrections" of the block editor. It edits the post's meta, so undo, redo, autosaves, revisions and the
 * question about unsaved changes are the editor's own.
 */
( function () {
	'use strict';

	const { createElement: el, Fragment, useId, useRef } = wp.element;
	const { Button, SelectControl, TextareaControl, TextControl } =
		wp.components;
	const { useSelect } = wp.data;
	const { __, sprintf } = wp.i18n;
	const { changed, control, useNextFocus, without } = window.newsroomShared;
	const { metaIn, Problem, registerPanel, useMeta, useSavingLock } =
		window.newsroomPanels;
	const { ahead, kinds, words, most, longest, useLinks } =
		window.newsroomCorrections;
	const key = 'newsroom_corrections';

	/** An instant as the field shows it, in the zone of this WordPress. */
	const localOf = ( date ) => wp.date.dateI18n( 'Y-m-d\\TH:i', date );
	const instantOf = ( local ) =>
		wp.date
			.getDate( local )
			.toISOString()
			.replace( /\.\d+Z$/, 'Z' );

	const isTooLong = ( note ) => Array.from( note.text ).length > longest;

	/** Whether a note is dated in the future. */
	const isAhead = ( { date } ) =>
		Boolean( date ) && Date.parse( date ) > Date.now() + 1000 * ahead;

	/**
	 * Locks saving while a note is too long or dated in the future, because WordPress would refuse the whole story. It is outside of the
	 * panel, whose contents aren't rendered while it is closed, and shows the reason above the story.
	 */
	function Lock() {
		const some = ( test ) => ( select ) =>
			( metaIn( select )[ key ] || [] ).some( test );
		const tooLong = useSelect( some( isTooLong ), [] );
		const isEarly = useSelect( some( isAhead ), [] );
		useSavingLock( tooLong, key, words.lock );
		useSavingLock( isEarly, `${ key }_ahead`, words.refused );
		return null;
	}

	function Note( { note, number, input, change, remove } ) {
		const tooLong = isTooLong( note );
		const early = isAhead( note );
		const area = useRef( null );
		const { controls, onKeyDown } = useLinks( area, ( text ) =>
			change( { text } )
		);
		const title = sprintf(
			/* translators: 1: "Correction" or "Clarification", 2: number. */
			__( '%1$s %2$d', 'newsroom' ),
			kinds[ note.kind ],
			number
		);
		const messageId = useId();
		const dateId = useId();
		return el(
			'fieldset',
			{ className: 'newsroom-correction' },
			el( 'legend', null, title ),
			el( SelectControl, {
				...control,
				label: __( 'Kind', 'newsroom' ),
				value: note.kind,
				options: Object.keys( kinds ).map( ( value ) => ( {
					value,
					label: kinds[ value ],
				} ) ),
				onChange: ( kind ) => change( { kind } ),
			} ),
			el( TextControl, {
				...control,
				type: 'datetime-local',
				label: __( 'Date and time', 'newsroom' ),
				// WordPress fills in the time of saving: readers who saw the story before that are notified of the note.
				value: note.date ? localOf( note.date ) : '',
				help: note.date ? undefined : words.date,
				// Clearing the field keeps the date: only a new note has none.
				onChange: ( local ) =>
					local && change( { date: instantOf( local ) } ),
				'aria-invalid': early || undefined,
				'aria-describedby': early ? dateId : undefined,
			} ),
			early && el( Problem, { id: dateId }, words.ahead ),
			el( TextareaControl, {
				__nextHasNoMarginBottom: true,
				ref: ( node ) => {
					area.current = node;
					if ( input ) {
						input.current = node;
					}
				},
				label: __( 'Text', 'newsroom' ),
				value: note.text,
				rows: 5,
				onChange: ( text ) => change( { text } ),
				onKeyDown,
				'aria-invalid': tooLong || undefined,
				'aria-describedby': tooLong ? messageId : undefined,
			} ),
			tooLong && el( Problem, { id: messageId }, words.long ),
			controls,
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
		const [ meta, change ] = useMeta();
		// WordPress sends null for stored notes that don't fit the schema.
		const list = meta[ key ] || [];
		const set = ( next ) => change( { [ key ]: next } );
		const first = useRef( null );
		const add = useRef( null );
		const focusNext = useNextFocus( list.length );
		return el(
			Fragment,
			null,
			el( 'p', { className: 'description' }, words.panel ),
			el(
				Button,
				{
					ref: add,
					variant: 'secondary',
					disabled: list.length >= most,
					accessibleWhenDisabled: true,
					onClick: () => {
						focusNext( () => first.current );
						set( [ { kind: 'correction', text: '' }, ...list ] );
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
					change: ( part ) => set( changed( list, index, part ) ),
					remove: () => {
						focusNext( () => add.current );
						set( without( list, index ) );
						wp.a11y.speak( __( 'Note removed.', 'newsroom' ) );
					},
				} )
			)
		);
	}

	registerPanel( {
		name: 'newsroom-corrections',
		title: __( 'Corrections', 'newsroom' ),
		Inside: Corrections,
		Always: Lock,
	} );
} )();

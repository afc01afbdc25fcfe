/**
 * The panel "Sound" of the block editor: the audio file of a story, its chapters and its series. It edits the post's meta, so undo, redo,
 * autosaves, revisions and the question about unsaved changes are the editor's own.
 */
( function () {
	'use strict';

	const { createElement: el, useId } = wp.element;
	const { Button, SelectControl, TextareaControl, TextControl } =
		wp.components;
	const { MediaUpload, MediaUploadCheck } = wp.blockEditor;
	const { useSelect } = wp.data;
	const { __, sprintf } = wp.i18n;
	const { control } = window.newsroomShared;
	const { metaIn, Problem, registerPanel, useMeta, useSavingLock } =
		window.newsroomPanels;
	const { words, series } = window.newsroomEpisode;
	const lock = 'newsroom_chapters';

	/** The same format that the plugin accepts (includes/episodes.php). */
	const chapter = /^\s*(?:\d{1,2}:)?\d{1,3}:[0-5]\d\s+\S/;
	const badLine = ( text ) =>
		( text || '' )
			.split( '\n' )
			.find( ( line ) => line.trim() !== '' && ! chapter.test( line ) );

	/**
	 * Locks saving while a line of the chapters can't be read. It is outside of the panel, whose contents aren't rendered while it is
	 * closed, and shows the reason above the story.
	 */
	function Lock() {
		const isBad = useSelect(
			( select ) =>
				badLine( metaIn( select ).newsroom_chapters ) !== undefined,
			[]
		);
		useSavingLock( isBad, lock, words.lock );
		return null;
	}

	/** The audio file: its name, and a button to choose another one. */
	function AudioFile( { id, choose } ) {
		const file = useSelect(
			( select ) =>
				id
					? select( 'core' ).getEntityRecord(
							'root',
							'media',
							id
					  ) ||
					  select( 'core' ).getEntityRecord(
							'postType',
							'attachment',
							id
					  )
					: null,
			[ id ]
		);
		const title = file ? file.title.raw || file.slug : `#${ id }`;
		const length = file?.media_details?.length_formatted;
		return el(
			MediaUploadCheck,
			{
				fallback: el(
					'p',
					null,
					__( 'Sorry, you are not allowed to choose media files.', 'newsroom' )
				),
			},
			Boolean( id ) &&
				el(
					'p',
					{ className: 'newsroom-episode-file' },
					length ? `${ title } (${ length })` : title
				),
			el( MediaUpload, {
				allowedTypes: [ 'audio' ],
				value: id || undefined,
				title: __( 'Audio file', 'newsroom' ),
				onSelect: ( media ) => choose( media.id ),
				render: ( { open } ) =>
					el(
						Button,
						{ variant: 'secondary', onClick: open },
						id
							? __( 'Replace the audio file', 'newsroom' )
							: __( 'Choose an audio file', 'newsroom' )
					),
			} ),
			Boolean( id ) &&
				el(
					Button,
					{
						variant: 'tertiary',
						isDestructive: true,
						onClick: () => choose( 0 ),
					},
					__( 'Remove the audio file', 'newsroom' )
				)
		);
	}

	function Episode() {
		const [ meta, change ] = useMeta();
		const messageId = useId();
		const set = ( key, value ) => change( { [ key ]: value } );
		const bad = badLine( meta.newsroom_chapters );
		return el(
			'div',
			{ className: 'newsroom-episode' },
			el( 'p', { className: 'description' }, words.help ),
			el( AudioFile, {
				id: meta.newsroom_audio || 0,
				choose: ( id ) => set( 'newsroom_audio', id ),
			} ),
			el( SelectControl, {
				...control,
				label: __( 'Series', 'newsroom' ),
				value: String( meta.newsroom_series || 0 ),
				options: [
					{ value: '0', label: __( '— No series —', 'newsroom' ) },
					...series,
				],
				onChange: ( id ) => set( 'newsroom_series', Number( id ) ),
			} ),
			el( TextControl, {
				...control,
				label: __( 'Episode title', 'newsroom' ),
				value: meta.newsroom_episode_title || '',
				help: words.title,
				onChange: ( title ) => set( 'newsroom_episode_title', title ),
			} ),
			el( TextareaControl, {
				label: __( 'Chapters', 'newsroom' ),
				value: meta.newsroom_chapters || '',
				help: words.chapters,
				rows: 6,
				onChange: ( text ) => set( 'newsroom_chapters', text ),
				'aria-invalid': bad !== undefined || undefined,
				'aria-describedby': bad === undefined ? undefined : messageId,
				__nextHasNoMarginBottom: true,
			} ),
			bad !== undefined &&
				el( Problem, { id: messageId }, sprintf( words.line, bad.trim() ) ),
			el( TextareaControl, {
				label: __( 'Transcript', 'newsroom' ),
				value: meta.newsroom_transcript || '',
				help: words.transcript,
				rows: 6,
				onChange: ( text ) => set( 'newsroom_transcript', text ),
				__nextHasNoMarginBottom: true,
			} )
		);
	}

	registerPanel( {
		name: 'newsroom-episode',
		title: __( 'Sound', 'newsroom' ),
		Inside: Episode,
		Always: Lock,
	} );
} )();

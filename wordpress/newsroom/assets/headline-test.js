/**
 * The panel "Headline test" of the block editor. It edits the post's meta, so undo, redo, autosaves, revisions and the question about
 * unsaved changes are the editor's own.
 */
( function () {
	'use strict';

	const {
		createElement: el,
		Fragment,
		useEffect,
		useId,
		useRef,
		useState,
	} = wp.element;
	const { Button, TextControl, ToggleControl } = wp.components;
	const { MediaUpload, MediaUploadCheck } = wp.blockEditor;
	const { useDispatch, useSelect } = wp.data;
	const { decodeEntities } = wp.htmlEntities;
	const { __, _n, sprintf } = wp.i18n;
	const { changed, control, useNextFocus, without } = window.newsroomShared;
	const { metaIn, Problem, registerPanel, useMeta, useSavingLock } =
		window.newsroomPanels;
	const { words, none, most, longest } = window.newsroomHeadlineTest;
	const key = 'newsroom_headline_test';

	const letterOf = ( number ) => 'ABCD'[ number ];
	const isTooLong = ( { headline } ) =>
		Array.from( headline ).length > longest;
	/** The test of the story as edited. */
	const testIn = ( select ) => ( { ...none, ...metaIn( select )[ key ] } );
	/** Milliseconds between two requests for the counts of a test that runs. */
	const everyMs = 30000;

	/** Locks saving while a headline is too long, because WordPress would refuse the whole story. */
	function Lock() {
		const tooLong = useSelect(
			( select ) => testIn( select ).variants.some( isTooLong ),
			[]
		);
		useSavingLock( tooLong, key, words.lock );
		return null;
	}

	/** The picture of a headline, and a button to choose another one. */
	function CardPicture( { letter, id, choose } ) {
		const picture = useSelect(
			( select ) =>
				id
					? select( 'core' ).getEntityRecord(
							'postType',
							'attachment',
							id
					  )
					: null,
			[ id ]
		);
		return el(
			MediaUploadCheck,
			null,
			Boolean( id ) &&
				picture &&
				el( 'img', { src: picture.source_url, alt: '' } ),
			el( MediaUpload, {
				allowedTypes: [ 'image' ],
				value: id || undefined,
				/* translators: %s: letter of a headline. */
				title: sprintf( __( 'Picture for %s', 'newsroom' ), letter ),
				onSelect: ( media ) => choose( media.id ),
				render: ( { open } ) =>
					el(
						Button,
						{
							variant: 'tertiary',
							size: 'small',
							onClick: open,
							'aria-label': sprintf(
								id
									? /* translators: %s: letter of a headline. */
									  __( 'Replace the picture for %s', 'newsroom' )
									: /* translators: %s: letter of a headline. */
									  __( 'Add a picture for %s', 'newsroom' ),
								letter
							),
						},
						id
							? __( 'Replace the picture', 'newsroom' )
							: __( 'Add a picture', 'newsroom' )
					),
			} ),
			Boolean( id ) &&
				el(
					Button,
					{
						variant: 'tertiary',
						size: 'small',
						isDestructive: true,
						onClick: () => choose( 0 ),
						'aria-label': sprintf(
							/* translators: %s: letter of a headline. */
							__( 'Remove the picture for %s', 'newsroom' ),
							letter
						),
					},
					__( 'Remove the picture', 'newsroom' )
				)
		);
	}

	/** An additional headline, with its fields. */
	function Variant( { variant, number, input, change, remove } ) {
		const letter = letterOf( number );
		const tooLong = isTooLong( variant );
		const messageId = useId();
		return el(
			'li',
			null,
			el( TextControl, {
				...control,
				ref: input,
				/* translators: %s: letter of a headline. */
				label: sprintf( __( 'Headline %s', 'newsroom' ), letter ),
				value: variant.headline,
				onChange: ( headline ) => change( { headline } ),
				'aria-invalid': tooLong || undefined,
				'aria-describedby': tooLong ? messageId : undefined,
			} ),
			tooLong && el( Problem, { id: messageId }, words.long ),
			el( CardPicture, {
				letter,
				id: variant.image,
				choose: ( image ) => change( { image } ),
			} ),
			el(
				Button,
				{
					variant: 'tertiary',
					size: 'small',
					isDestructive: true,
					onClick: remove,
					/* translators: %s: letter of a headline. */
					'aria-label': sprintf( __( 'Remove %s', 'newsroom' ), letter ),
				},
				__( 'Remove', 'newsroom' )
			)
		);
	}

	/** The headlines of a test that hasn't started. */
	function Draft( { test, title, set } ) {
		const { variants } = test;
		const last = useRef( null );
		const add = useRef( null );
		const focusNext = useNextFocus( variants.length );
		const isComplete =
			variants.length > 0 &&
			variants.every( ( { headline } ) => headline.trim() !== '' );
		return el(
			Fragment,
			null,
			el( 'p', { className: 'description' }, words.help ),
			el(
				'ul',
				{ className: 'newsroom-headlines' },
				el(
					'li',
					null,
					el( 'strong', null, __( 'A, the story’s own', 'newsroom' ) ),
					el( 'p', null, title )
				),
				variants.map( ( variant, at ) =>
					el( Variant, {
						key: at,
						variant,
						number: at + 1,
						input: at === variants.length - 1 ? last : undefined,
						change: ( part ) => set( { variants: changed( variants, at, part ) } ),
						remove: () => {
							focusNext( () => add.current );
							set( { variants: without( variants, at ) } );
							wp.a11y.speak( __( 'Headline removed.', 'newsroom' ) );
						},
					} )
				)
			),
			el(
				Button,
				{
					ref: add,
					variant: 'secondary',
					disabled: variants.length >= most,
					accessibleWhenDisabled: true,
					onClick: () => {
						focusNext( () => last.current );
						set( {
							variants: [ ...variants, { headline: '', image: 0 } ],
						} );
					},
				},
				__( 'Add a headline', 'newsroom' )
			),
			el( ToggleControl, {
				label: words.story,
				help: words.cards,
				checked: test.story,
				onChange: ( story ) => set( { story } ),
				__nextHasNoMarginBottom: true,
			} ),
			el(
				Button,
				{
					variant: 'primary',
					disabled: ! isComplete || variants.some( isTooLong ),
					accessibleWhenDisabled: true,
					onClick: () => {
						set( { ...none, variants, story: test.story, state: 'running' } );
						wp.a11y.speak(
							__( 'The test starts when you save the story.', 'newsroom' )
						);
					},
				},
				__( 'Start the test', 'newsroom' )
			)
		);
	}

	/** The site's report on a saved test, requested again while it runs. */
	function useReport( id, isSaved ) {
		const [ answer, setAnswer ] = useState( null );
		useEffect( () => {
			if ( ! isSaved ) {
				setAnswer( null );
				return;
			}
			let current = true;
			const ask = () =>
				wp
					.apiFetch( { path: `/newsroom/v1/headline-test/${ id }` } )
					.then(
						( found ) => current && setAnswer( found ),
						() => {}
					);
			ask();
			const timer = setInterval( ask, everyMs );
			return () => {
				current = false;
				clearInterval( timer );
			};
		}, [ id, isSaved ] );
		return answer;
	}

	/** A headline with its counts. */
	function Result( { letter, headline, readings, certainty, isBetter } ) {
		return el(
			'li',
			null,
			el( 'strong', null, `${ letter } ` ),
			headline,
			readings !== undefined &&
				el(
					'p',
					{ className: 'description' },
					sprintf(
						/* translators: %s: number of readings. */
						_n( '%s reading', '%s readings', readings, 'newsroom' ),
						readings.toLocaleString()
					),
					certainty > 0 &&
						` · ${ sprintf(
							isBetter
								? /* translators: %d: percent. */
								  __( '%d%% certain it beats A', 'newsroom' )
								: /* translators: %d: percent. */
								  __( '%d%% certain A beats it', 'newsroom' ),
							Math.floor( certainty * 100 )
						) }`
				)
		);
	}

	function Results( { test, title, report } ) {
		const readings = report?.readings ?? test.readings;
		const headlines = [
			test.own || title,
			...test.variants.map( ( { headline } ) => headline ),
		];
		return el(
			'ul',
			{ className: 'newsroom-headlines' },
			headlines.map( ( headline, at ) =>
				el( Result, {
					key: at,
					letter: letterOf( at ),
					headline,
					readings: readings[ at ],
					certainty: report?.certainty[ at ] ?? 0,
					isBetter: readings[ at ] > readings[ 0 ],
				} )
			)
		);
	}

	/** A test that is running, or will be after the story is saved. */
	function Running( { test, title, id, set } ) {
		const isSaved = test.started !== '';
		const answer = useReport( id, isSaved );
		const { editPost } = useDispatch( 'core/editor' );
		const ended = answer?.test.state === 'ended' ? answer.test : null;
		const stop = ( part ) =>
			set( {
				...test,
				state: 'ended',
				reason: 'editor',
				winner: -1,
				own: title,
				readings: answer?.report?.readings ?? [],
				...part,
			} );
		if ( ended ) {
			return el(
				Fragment,
				null,
				el( 'p', { role: 'status' }, answer.message ),
				el( Results, { test: ended, title } ),
				el(
					'p',
					null,
					__( 'Reload this page to continue with the current version of the story.', 'newsroom' )
				)
			);
		}
		return el(
			Fragment,
			null,
			el(
				'p',
				{ role: 'status' },
				isSaved
					? answer?.message ?? __( 'Running.', 'newsroom' )
					: __( 'The test starts when you save the story.', 'newsroom' )
			),
			el( Results, { test, title, report: answer?.report } ),
			el(
				'div',
				{ className: 'newsroom-headline-buttons' },
				el(
					Button,
					{
						variant: 'secondary',
						size: 'compact',
						isDestructive: true,
						onClick: () =>
							isSaved ? stop( {} ) : set( { ...test, state: 'off' } ),
					},
					isSaved
						? __( 'Stop the test', 'newsroom' )
						: __( 'Don’t start it', 'newsroom' )
				),
				isSaved &&
					test.variants.map( ( { headline, image }, at ) =>
						el(
							Button,
							{
								key: at,
								variant: 'secondary',
								size: 'compact',
								onClick: () => {
									stop( { winner: at + 1, story: true } );
									editPost( {
										title: headline,
										...( image && { featured_media: image } ),
									} );
								},
							},
							sprintf(
								/* translators: %s: letter of a headline. */
								__( 'Stop and use %s', 'newsroom' ),
								letterOf( at + 1 )
							)
						)
					)
			)
		);
	}

	function Ended( { test, title, id, set } ) {
		const answer = useReport( id, test.ended !== '' );
		return el(
			Fragment,
			null,
			el(
				'p',
				{ role: 'status' },
				test.ended
					? answer?.message ?? ''
					: __( 'The test stops when you save the story.', 'newsroom' )
			),
			el( Results, { test, title } ),
			el(
				Button,
				{
					variant: 'secondary',
					onClick: () =>
						set( { ...none, variants: test.variants, story: test.story } ),
				},
				__( 'Prepare another test', 'newsroom' )
			)
		);
	}

	function HeadlineTest() {
		const [ meta, change ] = useMeta();
		const { title, id } = useSelect(
			( select ) => ( {
				title: select( 'core/editor' ).getEditedPostAttribute( 'title' ),
				id: select( 'core/editor' ).getCurrentPostId(),
			} ),
			[]
		);
		const test = meta[ key ] ?? none;
		const set = ( part ) =>
			change( { [ key ]: { ...testIn( wp.data.select ), ...part } } );
		const State =
			{ running: Running, ended: Ended }[ test.state ] || Draft;
		return el(
			'div',
			{ className: 'newsroom-headline-test' },
			el( State, { test, title: decodeEntities( title ), id, set } )
		);
	}

	registerPanel( {
		name: 'newsroom-headline-test',
		title: __( 'Headline test', 'newsroom' ),
		Inside: HeadlineTest,
		Always: Lock,
	} );
} )();

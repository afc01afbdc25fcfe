/**
 * The panel "Versions" of the block editor: the newest versions of the story. If the editor is opened with a version, that version is
 * put into the story as one change, which can be undone, and which readers don’t see until the story is saved.
 */
( function () {
	'use strict';

	const {
		createElement: el,
		Fragment,
		useEffect,
		useState,
	} = wp.element;
	const { useSelect } = wp.data;
	const { __, sprintf } = wp.i18n;
	const { addQueryArgs, removeQueryArgs } = wp.url;
	const { metaIn, Problem, registerPanel } = window.newsroomPanels;
	const { screen, restore } = window.newsroomVersions;

	/** Puts a version into the editor, once the story is there. */
	function Restore() {
		const story = useSelect( ( select ) => {
			const { getCurrentPostId, getCurrentPostType } =
				select( 'core/editor' );
			const ready = select( 'core/editor' ).__unstableIsEditorReady();
			return ready ? `${ getCurrentPostType() } ${ getCurrentPostId() }` : '';
		}, [] );
		useEffect( () => {
			if ( ! story ) {
				return;
			}
			const [ type, id ] = story.split( ' ' );
			const { content, meta, ...rest } = restore.post;
			// One edit, so that a single undo reverts it.
			wp.data.dispatch( 'core' ).editEntityRecord( 'postType', type, Number( id ), {
				...rest,
				content,
				blocks: wp.blocks.parse( content ),
				selection: undefined,
				meta: { ...metaIn( wp.data.select ), ...meta },
			} );
			wp.data.dispatch( 'core/notices' ).createInfoNotice( restore.note, {
				id: 'newsroom-version',
				actions: [
					{
						label: __( 'Undo', 'newsroom' ),
						onClick: () => {
							wp.data.dispatch( 'core/editor' ).undo();
							wp.data
								.dispatch( 'core/notices' )
								.removeNotice( 'newsroom-version' );
						},
					},
				],
			} );
			// Removes the parameter, so that reloading the page doesn't restore the version again.
			window.history.replaceState(
				window.history.state,
				'',
				removeQueryArgs( window.location.href, 'newsroom_version' )
			);
		}, [ story ] );
		return null;
	}

	/** The newest versions, asked for again after each save. */
	function useVersions() {
		const [ found, setFound ] = useState( null );
		const { id, saving } = useSelect( ( select ) => {
			const editor = select( 'core/editor' );
			return {
				id: editor.getCurrentPostId(),
				saving:
					( editor.isSavingPost() && ! editor.isAutosavingPost() ) ||
					select( 'core/edit-post' ).isSavingMetaBoxes(),
			};
		}, [] );
		useEffect( () => {
			if ( saving || ! id ) {
				return;
			}
			let current = true;
			wp.apiFetch( { path: `/newsroom/v1/versions/${ id }` } )
				.catch( () => ( { failed: true } ) )
				.then( ( answer ) => current && setFound( answer ) );
			return () => {
				current = false;
			};
		}, [ id, saving ] );
		return found;
	}

	function Versions() {
		const found = useVersions();
		if ( ! found ) {
			return el( 'p', null, __( 'Loading…', 'newsroom' ) );
		}
		if ( found.failed ) {
			return el(
				Problem,
				null,
				__( 'We couldn’t load the versions. Reload the page.', 'newsroom' )
			);
		}
		if ( ! found.count ) {
			return el(
				'p',
				null,
				__( 'A version is saved each time you publish a change.', 'newsroom' )
			);
		}
		return el(
			Fragment,
			null,
			el(
				'ol',
				{ className: 'newsroom-version-list' },
				found.versions.map( ( { id, number, when, editor, what, made } ) =>
					el(
						'li',
						{ key: id, value: number },
						el(
							'a',
							{ href: addQueryArgs( screen, { changes: id } ) },
							what
						),
						el( 'br' ),
						el( 'time', { dateTime: made }, when ),
						editor && ` · ${ editor }`
					)
				)
			),
			el(
				'a',
				{ href: screen, className: 'newsroom-version-all' },
				sprintf(
					/* translators: %d: number of versions. */
					__( 'Compare all versions (%d)', 'newsroom' ),
					found.count
				)
			)
		);
	}

	registerPanel( {
		name: 'newsroom-versions',
		title: __( 'Versions', 'newsroom' ),
		Inside: Versions,
		Always: restore ? Restore : null,
	} );
} )();

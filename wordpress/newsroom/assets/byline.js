/**
 * The panel "Byline" of the block editor: authors, contributors and an agency. It edits the post's meta, so undo, redo, autosaves,
 * revisions and the question about unsaved changes are the editor's own.
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
	const { Button, ComboboxControl, TextControl } = wp.components;
	const { useDispatch, useSelect } = wp.data;
	const { decodeEntities } = wp.htmlEntities;
	const { __, sprintf } = wp.i18n;
	const { registerPanel } = window.newsroomPanels;
	const { words, names, inherited, acf, most, longest } =
		window.newsroomByline;

	/** Milliseconds without a key before a search. */
	const calm = 250;

	/** Requests authors from WordPress and caches their names. */
	async function authors( query ) {
		const found = await wp.apiFetch( {
			path: `/wp/v2/authors?_fields=id,title&${ query }`,
		} );
		return found.map( ( { id, title } ) => {
			names[ id ] = decodeEntities( title.rendered );
			return { value: String( id ), label: names[ id ] };
		} );
	}

	/** Authors whose names match what is typed. */
	function useMatches( typed ) {
		const [ matches, setMatches ] = useState( [] );
		useEffect( () => {
			const search = typed.trim();
			if ( search.length < 2 ) {
				setMatches( [] );
				return;
			}
			let current = true;
			const timer = setTimeout( async () => {
				const found = await authors(
					`per_page=20&orderby=relevance&search_columns=post_title&search=${ encodeURIComponent(
						search
					) }`
				).catch( () => [] );
				if ( current ) {
					setMatches( found );
				}
			}, calm );
			return () => {
				current = false;
				clearTimeout( timer );
			};
		}, [ typed ] );
		return matches;
	}

	/** Names that the page didn't bring: an earlier version, or an undo of it, may have other authors. */
	function useNames( ids ) {
		const [ , shown ] = useState( 0 );
		const unknown = ids.filter( ( id ) => ! ( id in names ) ).join();
		useEffect( () => {
			if ( unknown ) {
				authors( `per_page=100&include=${ unknown }` )
					.catch( () => [] )
					.then( () => {
						for ( const id of unknown.split( ',' ) ) {
							names[ id ] ??= sprintf(
								/* translators: %s: number of a document. */
								__( 'Author %s (not published)', 'newsroom' ),
								id
							);
						}
						shown( ( count ) => count + 1 );
					} );
			}
		}, [ unknown ] );
		return ( id ) => names[ id ] || '…';
	}

	function Person( { name, place, count, move, remove, focus } ) {
		const buttons = { up: useRef( null ), down: useRef( null ) };
		useEffect( () => {
			if ( focus ) {
				buttons[ focus ].current?.focus();
			}
		}, [ focus, place ] );
		const button = ( which, sign, label, disabled ) =>
			el(
				Button,
				{
					ref: buttons[ which ],
					size: 'compact',
					variant: 'tertiary',
					disabled,
					// At the end of the list the focus stays on its button.
					accessibleWhenDisabled: true,
					'aria-label': sprintf( label, name ),
					onClick: () => move( which ),
				},
				sign
			);
		return el(
			'li',
			{ className: 'newsroom-byline-person' },
			el( 'span', { className: 'newsroom-picker-title' }, name ),
			/* translators: %s: name of an author. */
			button( 'up', '↑', __( 'Move %s up', 'newsroom' ), place === 0 ),
			/* translators: %s: name of an author. */
			button(
				'down',
				'↓',
				__( 'Move %s down', 'newsroom' ),
				place === count - 1
			),
			el(
				Button,
				{
					size: 'compact',
					variant: 'tertiary',
					isDestructive: true,
					/* translators: %s: name of an author. */
					'aria-label': sprintf( __( 'Remove %s', 'newsroom' ), name ),
					onClick: remove,
				},
				__( 'Remove', 'newsroom' )
			)
		);
	}

	function People( { heading, label, ids, taken, set } ) {
		const [ typed, setTyped ] = useState( '' );
		const [ moved, setMoved ] = useState( {} );
		const box = useRef( null );
		const headingId = useId();
		const nameOf = useNames( ids );
		const matches = useMatches( typed ).filter(
			( { value } ) => ! taken.includes( Number( value ) )
		);
		const say = ( message, ...rest ) =>
			wp.a11y.speak( sprintf( message, ...rest ) );

		function move( at, which ) {
			const to = at + ( which === 'up' ? -1 : 1 );
			if ( to < 0 || to >= ids.length ) {
				return;
			}
			const next = [ ...ids ];
			next.splice( to, 0, ...next.splice( at, 1 ) );
			setMoved( { id: ids[ at ], which } );
			set( next );
			say(
				/* translators: 1: name, 2: place, 3: number of authors. */
				__( '%1$s is now %2$d of %3$d.', 'newsroom' ),
				nameOf( ids[ at ] ),
				to + 1,
				ids.length
			);
		}

		function remove( at ) {
			setMoved( {} );
			set( ids.filter( ( _, each ) => each !== at ) );
			/* translators: %s: name of an author. */
			say( __( '%s removed.', 'newsroom' ), nameOf( ids[ at ] ) );
			box.current?.querySelector( 'input' )?.focus();
		}

		return el(
			'div',
			{ className: 'newsroom-byline-people', ref: box },
			el( 'h3', { id: headingId }, heading ),
			ids.length > 0 &&
				el(
					'ol',
					{ 'aria-labelledby': headingId },
					ids.map( ( id, at ) =>
						el( Person, {
							key: id,
							name: nameOf( id ),
							place: at,
							count: ids.length,
							focus: moved.id === id ? moved.which : undefined,
							move: ( which ) => move( at, which ),
							remove: () => remove( at ),
						} )
					)
				),
			ids.length < most &&
				el( ComboboxControl, {
					label,
					value: null,
					options: matches,
					onFilterValueChange: setTyped,
					onChange: ( value ) => {
						const id = Number( value );
						if ( id && ! taken.includes( id ) ) {
							setMoved( {} );
							set( [ ...ids, id ] );
							/* translators: %s: name of an author. */
							say( __( '%s added at the end.', 'newsroom' ), names[ id ] );
						}
					},
					__next40pxDefaultSize: true,
					__nextHasNoMarginBottom: true,
				} )
		);
	}

	function Byline() {
		const meta = useSelect(
			( select ) =>
				select( 'core/editor' ).getEditedPostAttribute( 'meta' ) || {},
			[]
		);
		const { editPost } = useDispatch( 'core/editor' );
		// All of the meta, because undo replaces the whole attribute.
		const change = ( part ) => editPost( { meta: { ...meta, ...part } } );
		const own = meta.newsroom_authors || [];
		const one = acf ? 0 : meta.newsroom_author;
		const list = own.length === 0 && one ? [ one ] : own;
		const contributors = meta.newsroom_contributors || [];
		const taken = [ ...list, ...contributors ];
		return el(
			Fragment,
			null,
			list.length === 0 &&
				inherited.map( ( sentence ) =>
					el(
						'p',
						{ key: sentence, className: 'description' },
						sentence
					)
				),
			el( People, {
				heading: words.authors,
				label: words.addAuthor,
				ids: list,
				taken,
				// The first author is stored in the field that stories had before they had several authors.
				set: ( next ) =>
					change( {
						newsroom_authors: next,
						newsroom_author: next[ 0 ] || 0,
					} ),
			} ),
			el( People, {
				heading: words.contributors,
				label: words.addContributor,
				ids: contributors,
				taken,
				set: ( next ) => change( { newsroom_contributors: next } ),
			} ),
			el(
				'div',
				{ className: 'newsroom-byline-agency' },
				el( TextControl, {
					label: words.agency,
					help: words.agencyHelp,
					value: meta.newsroom_agency || '',
					maxLength: longest,
					onChange: ( value ) =>
						change( { newsroom_agency: value } ),
					__next40pxDefaultSize: true,
					__nextHasNoMarginBottom: true,
				} ),
				el( TextControl, {
					type: 'url',
					label: words.agencyUrl,
					value: meta.newsroom_agency_url || '',
					onChange: ( value ) =>
						change( { newsroom_agency_url: value } ),
					__next40pxDefaultSize: true,
					__nextHasNoMarginBottom: true,
				} )
			)
		);
	}

	registerPanel( {
		name: 'newsroom-byline',
		title: __( 'Byline', 'newsroom' ),
		Inside: Byline,
	} );
} )();

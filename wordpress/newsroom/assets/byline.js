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
	const { decodeEntities } = wp.htmlEntities;
	const { __, sprintf } = wp.i18n;
	const { registerPanel, useMeta } = window.newsroomPanels;
	const { control, moved, movedWords, useNextFocus, without } =
		window.newsroomShared;
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

	function Person( { id, name, place, count, move, remove } ) {
		const button = ( part, sign, label, onClick, props ) =>
			el(
				Button,
				{
					size: 'compact',
					variant: 'tertiary',
					'data-part': part,
					'aria-label': sprintf( label, name ),
					onClick,
					// At the end of the list the focus stays on its button.
					accessibleWhenDisabled: true,
					...props,
				},
				sign
			);
		return el(
			'li',
			{ className: 'newsroom-byline-person', 'data-id': id },
			el( 'span', { className: 'newsroom-picker-title' }, name ),
			/* translators: %s: name of an author. */
			button( 'up', '↑', __( 'Move %s up', 'newsroom' ), () => move( -1, 'up' ), { disabled: place === 0 } ),
			/* translators: %s: name of an author. */
			button( 'down', '↓', __( 'Move %s down', 'newsroom' ), () => move( 1, 'down' ), { disabled: place === count - 1 } ),
			/* translators: %s: name of an author. */
			button( 'remove', __( 'Remove', 'newsroom' ), __( 'Remove %s', 'newsroom' ), remove, { isDestructive: true } )
		);
	}

	function People( { heading, label, ids, taken, set } ) {
		const [ typed, setTyped ] = useState( '' );
		const box = useRef( null );
		const focusNext = useNextFocus( ids );
		const headingId = useId();
		const nameOf = useNames( ids );
		const matches = useMatches( typed ).filter(
			( { value } ) => ! taken.includes( Number( value ) )
		);
		const say = ( message, ...rest ) =>
			wp.a11y.speak( sprintf( message, ...rest ) );

		function move( at, by, part ) {
			const to = at + by;
			if ( to < 0 || to >= ids.length ) {
				return;
			}
			const id = ids[ at ];
			focusNext( () =>
				box.current.querySelector( `[data-id="${ id }"] [data-part="${ part }"]` )
			);
			set( moved( ids, at, to ) );
			wp.a11y.speak( movedWords( nameOf( id ), to, ids.length ) );
		}

		function remove( at ) {
			set( without( ids, at ) );
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
							id,
							name: nameOf( id ),
							place: at,
							count: ids.length,
							move: ( by, part ) => move( at, by, part ),
							remove: () => remove( at ),
						} )
					)
				),
			ids.length < most &&
				el( ComboboxControl, {
					...control,
					label,
					value: null,
					options: matches,
					onFilterValueChange: setTyped,
					onChange: ( value ) => {
						const id = Number( value );
						if ( id && ! taken.includes( id ) ) {
							set( [ ...ids, id ] );
							/* translators: %s: name of an author. */
							say( __( '%s added at the end.', 'newsroom' ), names[ id ] );
						}
					},
				} )
		);
	}

	function Byline() {
		const [ meta, change ] = useMeta();
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
					...control,
					label: words.agency,
					help: words.agencyHelp,
					value: meta.newsroom_agency || '',
					maxLength: longest,
					onChange: ( value ) =>
						change( { newsroom_agency: value } ),
				} ),
				el( TextControl, {
					...control,
					type: 'url',
					label: words.agencyUrl,
					value: meta.newsroom_agency_url || '',
					onChange: ( value ) =>
						change( { newsroom_agency_url: value } ),
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

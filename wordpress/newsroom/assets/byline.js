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
		useState,
	} = wp.element;
	const { ComboboxControl, TextControl } = wp.components;
	const { decodeEntities } = wp.htmlEntities;
	const { __, sprintf } = wp.i18n;
	const { registerPanel, useMeta } = window.newsroomPanels;
	const { control } = window.newsroomShared;
	const { MoveButtons, useOrder } = window.newsroomLists;
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

	function People( { heading, label, ids, taken, set } ) {
		const [ typed, setTyped ] = useState( '' );
		const headingId = useId();
		const nameOf = useNames( ids );
		const matches = useMatches( typed ).filter(
			( { value } ) => ! taken.includes( Number( value ) )
		);
		const { box, buttons, onKeyDown } = useOrder( ids, set, nameOf );

		return el(
			'div',
			{ className: 'newsroom-byline-people', ref: box },
			el( 'h3', { id: headingId }, heading ),
			ids.length > 0 &&
				el(
					'ol',
					{ 'aria-labelledby': headingId, onKeyDown },
					ids.map( ( id, at ) =>
						el(
							'li',
							{ key: id, className: 'newsroom-byline-person' },
							el( 'span', { className: 'newsroom-picker-title' }, nameOf( id ) ),
							el( MoveButtons, { ...buttons( at ), size: 'compact' } )
						)
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
							wp.a11y.speak( sprintf( __( '%s added.', 'newsroom' ), names[ id ] ) );
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

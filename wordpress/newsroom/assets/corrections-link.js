/** The panel "Corrections": links in the text of a note, by a button and without markup. The text keeps its stored form. */
( function () {
	'use strict';

	const { createElement: el, useEffect, useId, useRef, useState } =
		wp.element;
	const { Button, TextControl } = wp.components;
	const { __, sprintf } = wp.i18n;
	const { control, plain } = window.newsroomShared;
	const { Problem } = window.newsroomPanels;

	const links = /<a\s[^>]*?href="([^"]*)"[^>]*>([\s\S]*?)<\/a>/gi;

	const escaped = ( text ) =>
		text
			.replace( /&/g, '&amp;' )
			.replace( /</g, '&lt;' )
			.replace( />/g, '&gt;' )
			.replace( /"/g, '&quot;' );

	/** An address as typed, completed with what is usually omitted; '' if it isn't an address. */
	function addressOf( typed ) {
		const text = typed.trim();
		if ( text === '' || /[\s<>"]/.test( text ) ) {
			return '';
		}
		if ( /^https?:\/\//i.test( text ) ) {
			return URL.canParse( text ) ? text : '';
		}
		if ( /^(?:mailto:)?[^@/:]+@[^@/:]+\.[^@/:]+$/i.test( text ) ) {
			return text.replace( /^(?:mailto:)?/i, 'mailto:' );
		}
		if ( /^\/(?!\/)/.test( text ) ) {
			return text;
		}
		const whole = `https://${ text }`;
		const isHost = /^[\p{L}\p{N}-]+(?:\.[\p{L}\p{N}-]+)+(?:[/?#:].*)?$/u;
		return isHost.test( text ) && URL.canParse( whole ) ? whole : '';
	}

	/** Whether markup contains only complete elements, and no link. */
	function isWhole( markup ) {
		let rest = markup;
		let before;
		do {
			before = rest;
			rest = rest.replace( /<(em|strong)>[^<>]*<\/\1>/gi, '' );
		} while ( rest !== before );
		return ! /[<>]/.test( rest );
	}

	/**
	 * What is selected in a note's text.
	 *
	 * @return `from` and `to` of the text that a link replaces, the `words` to link as markup, `''` if none are selected, and the `address`
	 *   of an existing link; null where a link isn't possible
	 */
	function selected( text, start, end ) {
		for ( const found of text.matchAll( links ) ) {
			const to = found.index + found[ 0 ].length;
			if ( start >= found.index && end <= to && ( end > found.index || start < end ) && start < to ) {
				return { from: found.index, to, words: found[ 2 ], address: plain( found[ 1 ] ) };
			}
		}
		const before = text.slice( 0, start );
		const chosen = text.slice( start, end );
		// A double click selects the space after a word, too.
		const words = chosen.trim();
		const from = words === '' ? start : start + chosen.indexOf( words );
		const to = words === '' ? end : from + words.length;
		const isInTag = before.lastIndexOf( '<' ) > before.lastIndexOf( '>' );
		return isInTag || ! isWhole( words )
			? null
			: { from, to, words, address: '' };
	}

	/** The fields of a link. */
	function Fields( { place, apply, close } ) {
		const [ typed, setTyped ] = useState( place.address );
		const [ words, setWords ] = useState( '' );
		const [ problem, setProblem ] = useState( '' );
		const first = useRef();
		const problemId = useId();
		useEffect( () => first.current.focus(), [] );

		const add = () => {
			const address = addressOf( typed );
			if ( place.words === '' && words.trim() === '' ) {
				setProblem( __( 'Enter the link text.', 'newsroom' ) );
			} else if ( address === '' ) {
				setProblem( __( 'This isn’t a web address.', 'newsroom' ) );
			} else {
				const shown = place.words || escaped( words.trim() );
				apply( `<a href="${ escaped( address ) }">${ shown }</a>` );
			}
		};
		const onKeyDown = ( event ) => {
			if ( event.key === 'Enter' && event.target.matches( 'input' ) ) {
				event.preventDefault();
				add();
			} else if ( event.key === 'Escape' ) {
				event.stopPropagation();
				close();
			}
		};
		const described = problem ? problemId : undefined;
		return el(
			'div',
			{ className: 'newsroom-correction-link', role: 'group', 'aria-label': __( 'Link', 'newsroom' ), onKeyDown },
			place.words === '' &&
				el( TextControl, {
					...control,
					ref: first,
					label: __( 'Link text', 'newsroom' ),
					value: words,
					'aria-describedby': described,
					onChange: setWords,
				} ),
			el( TextControl, {
				...control,
				ref: place.words === '' ? undefined : first,
				label:
					place.words === ''
						? __( 'Address', 'newsroom' )
						: /* translators: %s: words that are linked. */
						  sprintf( __( 'Address for “%s”', 'newsroom' ), plain( place.words ) ),
				value: typed,
				autoComplete: 'off',
				'aria-describedby': described,
				onChange: setTyped,
			} ),
			problem &&
				el( Problem, { id: problemId }, problem ),
			el(
				Button,
				{ variant: 'secondary', onClick: add },
				place.address ? __( 'Change the link', 'newsroom' ) : __( 'Add the link', 'newsroom' )
			),
			place.address &&
				el(
					Button,
					{ variant: 'tertiary', isDestructive: true, onClick: () => apply( place.words ) },
					__( 'Remove the link', 'newsroom' )
				),
			el( Button, { variant: 'tertiary', onClick: close }, __( 'Cancel', 'newsroom' ) )
		);
	}

	/**
	 * Adds links to one text field.
	 *
	 * @param area   ref of the field
	 * @param change called with the new text
	 * @return the button with its fields, and the key handler of the field: Ctrl+K opens them
	 */
	function useLinks( area, change ) {
		const [ place, setPlace ] = useState( null );
		const [ problem, setProblem ] = useState( '' );
		const caret = useRef( null );

		useEffect( () => {
			// The text has been edited in the meantime, so the position is no longer right.
			if ( place && area.current.value !== place.text ) {
				setPlace( null );
			}
			if ( caret.current !== null && area.current ) {
				area.current.focus();
				area.current.setSelectionRange( caret.current, caret.current );
				caret.current = null;
			}
		} );

		const open = () => {
			const { value, selectionStart, selectionEnd } = area.current;
			const found = selected( value, selectionStart, selectionEnd );
			setPlace( found && { ...found, text: value } );
			setProblem(
				found ? '' : __( 'Select text without tags, or with both the opening and the closing tag.', 'newsroom' )
			);
		};
		const close = () => {
			caret.current = place.to;
			setPlace( null );
		};
		const apply = ( markup ) => {
			const { value } = area.current;
			caret.current = place.from + markup.length;
			setPlace( null );
			change( value.slice( 0, place.from ) + markup + value.slice( place.to ) );
		};
		const onKeyDown = ( event ) => {
			if ( ( event.ctrlKey || event.metaKey ) && event.key.toLowerCase() === 'k' ) {
				// The editor's own shortcut would open its commands.
				event.preventDefault();
				event.stopPropagation();
				open();
			}
		};
		const controls = el(
			'div',
			null,
			! place &&
				el(
					Button,
					{ variant: 'secondary', size: 'compact', onClick: open, 'aria-keyshortcuts': 'Control+K' },
					__( 'Link', 'newsroom' )
				),
			problem && el( Problem, null, problem ),
			place && el( Fields, { key: place.from, place, apply, close } )
		);
		return { controls, onKeyDown };
	}

	window.newsroomCorrections.useLinks = useLinks;
} )();

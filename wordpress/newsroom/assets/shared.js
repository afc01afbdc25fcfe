/** What the plugin's screens, panels and boxes share. Only functions named `use…` and components need React. */
( function () {
	'use strict';

	const { __, sprintf } = wp.i18n;

	/** Properties of every control: WordPress's current design. */
	const control = {
		__next40pxDefaultSize: true,
		__nextHasNoMarginBottom: true,
	};

	/** Text of markup, such as a title in a response. */
	const plain = ( html ) =>
		new window.DOMParser().parseFromString( html, 'text/html' ).body
			.textContent;

	/** Words for an error of a request. */
	const failed = ( error ) =>
		error.message || __( 'We couldn’t reach WordPress. Try again.', 'newsroom' );

	/** A list with one item moved. */
	function moved( list, from, to ) {
		const next = [ ...list ];
		next.splice( to, 0, ...next.splice( from, 1 ) );
		return next;
	}

	/** A list with some properties of one item changed. */
	const changed = ( list, at, part ) =>
		list.map( ( each, other ) => ( other === at ? { ...each, ...part } : each ) );

	/** A list without one item. */
	const without = ( list, at ) => list.filter( ( _, other ) => other !== at );

	/** The announcement of a move. @param to place, from 0 */
	const movedWords = ( title, to, count ) =>
		sprintf(
			/* translators: 1: title or name, 2: place, 3: number of items. */
			__( '%1$s is now %2$d of %3$d.', 'newsroom' ),
			title,
			to + 1,
			count
		);

	/** Runs requests one after the other. @return called with a request */
	function useQueue( onError ) {
		const last = wp.element.useRef( Promise.resolve() );
		return ( run ) => {
			last.current = last.current.then( run ).catch( onError );
			return last.current;
		};
	}

	/**
	 * Moves the focus once a list has changed: to a control that has moved with its item, or away from one that was removed.
	 *
	 * @return called with a function that finds the control in the changed list
	 */
	function useNextFocus( list ) {
		const find = wp.element.useRef( null );
		wp.element.useLayoutEffect( () => {
			const found = find.current && find.current();
			find.current = null;
			if ( found ) {
				found.focus();
			}
		}, [ list ] );
		return ( next ) => {
			find.current = next;
		};
	}

	window.newsroomShared = {
		changed,
		control,
		failed,
		moved,
		movedWords,
		plain,
		useNextFocus,
		useQueue,
		without,
	};
} )();

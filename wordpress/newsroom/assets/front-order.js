/** The screen "Front": the list of slots as data: their order, and the places of packages among the automatic rows. */
( function () {
	'use strict';

	const { __, sprintf } = wp.i18n;

	/** Highest number of a row after which a package may be placed; the server's limit. */
	const { rows: mostRows } = window.newsroomFront;
	const { moved } = window.newsroomShared;
	const { steps } = window.newsroomLists;
	/** The places of packages, from the top of the page. */
	const places = [
		'start',
		'lead',
		'seconds',
		...Array.from( { length: mostRows }, ( _, at ) => `row-${ at + 1 }` ),
	];
	const usualPlace = 'seconds';

	const isPackage = ( { kind } ) => kind === 'package';
	const rankOf = ( slot ) => places.indexOf( slot.after || usualPlace );

	/** The place of a package in words. */
	const placeWords = ( { after } ) => {
		switch ( after || usualPlace ) {
			case 'start':
				return __( 'Placed before the lead.', 'newsroom' );
			case 'lead':
				return __( 'Placed between the lead and the seconds.', 'newsroom' );
			case 'seconds':
				return __( 'Placed after the seconds.', 'newsroom' );
			default:
				return sprintf(
					/* translators: %s: number of a row. */
					__( 'Placed after automatic row %s.', 'newsroom' ),
					after.slice( 4 )
				);
		}
	};

	/** The index at which the seconds begin: after the last lead. */
	const secondsAt = ( stories ) =>
		stories.map( ( { kind } ) => kind ).lastIndexOf( 'lead' ) + 1;

	/** Slots in the order in which the page has them: packages in their places, stories as they are. */
	function inPlaces( slots ) {
		const stories = slots.filter( ( slot ) => ! isPackage( slot ) );
		const packages = slots.filter( isPackage );
		const at = secondsAt( stories );
		const standing = ( ranks ) =>
			packages
				.filter( ( slot ) => ranks( rankOf( slot ) ) )
				.sort( ( a, b ) => rankOf( a ) - rankOf( b ) );
		return [
			...standing( ( rank ) => rank === 0 ),
			...stories.slice( 0, at ),
			...standing( ( rank ) => rank === 1 ),
			...stories.slice( at ),
			...standing( ( rank ) => rank > 1 ),
		];
	}

	/** Slots in another order: the kinds lead and second stay with the positions, a package with its story. */
	function ordered( next, before ) {
		const kinds = before
			.filter( ( slot ) => ! isPackage( slot ) )
			.map( ( { kind } ) => kind );
		return inPlaces(
			next.map( ( slot ) =>
				isPackage( slot ) ? slot : { ...slot, kind: kinds.shift() }
			)
		);
	}

	/**
	 * Moves a story past the next story, without moving packages.
	 *
	 * @param step name of the step
	 * @return the slots, or null where it can't go further
	 */
	function movedStory( slots, at, step ) {
		const stories = slots.filter( ( slot ) => ! isPackage( slot ) );
		const from = stories.indexOf( slots[ at ] );
		const to = Math.min( stories.length - 1, Math.max( 0, from + steps[ step ] ) );
		if ( to === from ) {
			return null;
		}
		return ordered(
			[ ...moved( stories, from, to ), ...slots.filter( isPackage ) ],
			slots
		);
	}

	/**
	 * Moves a package past its neighbor in the same place, or else to the next place.
	 *
	 * @param step name of the step; the first place is before the lead, the last one after the seconds or after the last row that has a
	 *   package
	 * @return the slots, or null where it can't go further
	 */
	function movedPackage( slots, at, step ) {
		const slot = slots[ at ];
		const others = slots.filter( ( each ) => each !== slot );
		const last = Math.max(
			places.indexOf( usualPlace ),
			...others.filter( isPackage ).map( rankOf )
		);
		const put = ( rank, isFirst ) => {
			const it = { ...slot, after: places[ rank ] };
			return inPlaces( isFirst ? [ it, ...others ] : [ ...others, it ] );
		};
		if ( step === 'first' || step === 'last' ) {
			const next = step === 'first' ? put( 0, true ) : put( last, false );
			return JSON.stringify( next ) === JSON.stringify( slots ) ? null : next;
		}
		const neighbor = slots[ at + steps[ step ] ];
		if ( neighbor && isPackage( neighbor ) && rankOf( neighbor ) === rankOf( slot ) ) {
			return moved( slots, at, at + steps[ step ] );
		}
		const rank = rankOf( slot ) + steps[ step ];
		return places[ rank ] ? put( rank, step === 'down' ) : null;
	}

	/** Moves a slot by one step. */
	const stepped = ( slots, at, step ) =>
		( isPackage( slots[ at ] ) ? movedPackage : movedStory )( slots, at, step );

	/** Whether a slot can be moved by a step. */
	const canStep = ( slots, at, step ) => stepped( slots, at, step ) !== null;

	/** Slots of which one was changed to a package, in the place where the story was, or to a story. */
	function withKind( slots, at, kind ) {
		const before = slots.slice( 0, at ).filter( ( slot ) => ! isPackage( slot ) );
		const others = slots.filter( ( slot, each ) => each !== at && ! isPackage( slot ) );
		const seconds = secondsAt( others );
		let after = usualPlace;
		if ( before.length === 0 && others.length > 0 ) {
			after = 'start';
		} else if ( before.length === seconds && others.length > seconds ) {
			after = 'lead';
		}
		return inPlaces(
			slots.map( ( slot, each ) => {
				if ( each !== at ) {
					return slot;
				}
				return kind === 'package'
					? { ...slot, kind, after }
					: { ...slot, kind, after: '' };
			} )
		);
	}

	window.newsroomFront.order = {
		canStep,
		inPlaces,
		isPackage,
		ordered,
		placeWords,
		stepped,
		withKind,
	};
} )();

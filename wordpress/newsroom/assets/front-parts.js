/** The screen "Front": calls, new slots, and the notes above the list. */
( function () {
	'use strict';

	const { apiFetch } = wp;
	const { createElement: el } = wp.element;
	const { Button, Notice } = wp.components;
	const { __, sprintf } = wp.i18n;

	/** Sends a request about a page's front. @throws the error with `code`, `message` and `data` */
	const ask = ( page, path = '', method = 'GET', data = undefined ) =>
		apiFetch( { path: `/newsroom/v1/front/${ page }${ path }`, method, data } );

	const newSlot = ( story, kind ) => ( {
		id: window.crypto.randomUUID
			? window.crypto.randomUUID()
			: `s-${ Date.now() }-${ Math.floor( Math.random() * 1e9 ) }`,
		kind,
		story,
		headline: '',
		picture: 0,
		from: '',
		until: '',
		related: [],
		after: '',
	} );

	/** What readers see, what is scheduled, and whose draft this is. */
	function Notes( { state } ) {
		const { published, scheduled, draft, changed } = state;
		const withTimeAndUser = ( words, note ) => sprintf( words, note.when, note.by );
		return el(
			'p',
			{ className: 'newsroom-front-notes' },
			published
				? /* translators: 1: time, 2: user. */
				  withTimeAndUser( __( 'Published %1$s by %2$s.', 'newsroom' ), published )
				: __( 'Nothing is published, so the page is filled automatically.', 'newsroom' ),
			' ',
			changed && draft
				? /* translators: 1: time, 2: user. */
				  withTimeAndUser( __( 'This is a draft, changed %1$s by %2$s.', 'newsroom' ), draft )
				: '',
			scheduled &&
				el(
					'strong',
					null,
					' ',
					/* translators: 1: time, 2: user. */
					withTimeAndUser( __( 'Another front is scheduled for %1$s by %2$s.', 'newsroom' ), scheduled )
				)
		);
	}

	/** A colleague's draft that is newer than what is on the screen. @param settle called with whether the editor's own version stays */
	function Conflict( { draft, settle } ) {
		const button = ( words, mine ) =>
			el( Button, { variant: 'secondary', onClick: () => settle( mine ) }, words );
		return el(
			Notice,
			{ status: 'warning', isDismissible: false },
			el(
				'p',
				null,
				sprintf(
					/* translators: 1: user, 2: time. */
					__( '%1$s changed this front at %2$s. Your version isn’t saved, but it’s still here. The version that you replace stays in the history.', 'newsroom' ),
					draft ? draft.by : '',
					draft ? draft.when : ''
				)
			),
			button( __( 'Show theirs', 'newsroom' ), false ),
			' ',
			button( __( 'Keep mine', 'newsroom' ), true )
		);
	}

	window.newsroomFront.parts = { ask, Conflict, newSlot, Notes };
} )();

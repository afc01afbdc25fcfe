/**
 * "Reading now": requests the list every ten seconds while it is visible, and at once for another period. The link that has the focus
 * keeps it when the list is replaced.
 */
( function () {
	'use strict';

	const everyMs = 10000;

	function follow( box ) {
		const list = box.querySelector( '[data-list]' );
		const note = box.querySelector( '[data-note]' );
		const problem = box.querySelector( '[data-problem]' );
		let timer;
		let asked = 0;

		function show( answer ) {
			if ( answer.html !== list.innerHTML && ! answer.problem ) {
				const { story, edit } = list.contains( document.activeElement ) ? document.activeElement.dataset : {};
				list.innerHTML = answer.html;
				const same = story ? `[data-story="${ story }"]` : `[data-edit="${ edit }"]`;
				( story || edit ) && list.querySelector( same )?.focus();
			}
			// Old counts stay below a problem, in gray, with the time when they were counted.
			box.classList.toggle( 'is-old', answer.problem );
			if ( answer.problem ) {
				problem.textContent = answer.note;
			} else {
				problem.textContent = '';
				note.textContent = answer.note;
			}
		}

		async function ask() {
			clearTimeout( timer );
			const mine = ++asked;
			const { minutes, most } = box.dataset;
			const answer = await wp
				.apiFetch( { path: `/newsroom/v1/reading-now?minutes=${ minutes }&most=${ most }` } )
				.catch( () => ( {
					problem: true,
					note: wp.i18n.__( 'WordPress isn’t responding. This list will try again automatically.', 'newsroom' ),
				} ) );
			if ( mine !== asked ) {
				return;
			}
			show( answer );
			if ( document.visibilityState === 'visible' ) {
				timer = setTimeout( ask, everyMs );
			}
		}

		box.querySelector( '.newsroom-reading-periods' ).addEventListener( 'click', ( event ) => {
			const chosen = event.target.closest( 'a' );
			if ( ! chosen || event.ctrlKey || event.metaKey || event.shiftKey ) {
				return;
			}
			event.preventDefault();
			for ( const link of box.querySelectorAll( '.newsroom-reading-periods a' ) ) {
				link.toggleAttribute( 'aria-current', link === chosen );
				link === chosen && link.setAttribute( 'aria-current', 'true' );
			}
			box.dataset.minutes = chosen.dataset.minutes;
			ask();
		} );
		document.addEventListener( 'visibilitychange', () => document.visibilityState === 'visible' && ask() );
		ask();
	}

	document.querySelectorAll( '[data-newsroom-reading]' ).forEach( follow );
} )();

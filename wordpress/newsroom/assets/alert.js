/**
 * The screen "Breaking news": the preview follows what is typed, the button works once, and what became of the alert is asked until nothing
 * changes any more.
 */
( function () {
	'use strict';

	const form = document.querySelector( '[data-newsroom-alert-form]' );
	if ( form ) {
		const text = form.elements.newsroom_alert_text;
		const shown = form.querySelector( '.newsroom-alert-banner span' );
		text.addEventListener( 'input', () => {
			shown.textContent = text.value;
		} );
		form.addEventListener( 'submit', () => {
			// Not disabled: the browser's own message about an empty field leaves the form as it is.
			form.querySelector( 'button' ).setAttribute( 'aria-busy', 'true' );
		} );
	}

	const lines = document.querySelector( '[data-newsroom-alert="open"]' );
	async function follow() {
		for ( let tries = 0; tries < 100; tries++ ) {
			await new Promise( ( resolve ) => setTimeout( resolve, tries < 20 ? 1000 : 10000 ) );
			const report = await wp.apiFetch( { path: '/newsroom/v1/alert/report' } ).catch( () => null );
			if ( ! report ) {
				continue;
			}
			for ( const line of lines.querySelectorAll( '[data-line]' ) ) {
				const words = report[ line.dataset.line ];
				if ( words && line.textContent !== words ) {
					line.textContent = words;
				}
			}
			if ( report.final ) {
				lines.dataset.newsroomAlert = 'final';
				return;
			}
		}
	}
	if ( lines ) {
		follow();
	}
} )();

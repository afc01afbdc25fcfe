/**
 * The screen "Breaking news": the preview follows what is typed, the button works only once, and the alert's delivery status is requested
 * until it no longer changes.
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
			// Not disabled: otherwise the form would stay unusable if the browser reports an empty field.
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

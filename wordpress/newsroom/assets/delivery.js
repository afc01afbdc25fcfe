/**
 * After a save, follows the delivery until the site has responded and shows the result: in the box, and in the block editor as a
 * snackbar too.
 */
( function () {
	'use strict';

	const line = document.querySelector( '[data-newsroom-delivery]' );
	if ( ! line ) {
		return;
	}
	let latest = 0;
	/** Tries until it's clear that nothing is sent: the save of a draft makes no delivery. */
	const triesWithout = 8;

	/** Asks until a delivery other than the last known one has ended, there is none, or ten minutes have passed. */
	async function follow( wait ) {
		const mine = ++latest;
		for ( let tries = 0; tries < wait && mine === latest; tries++ ) {
			let answer;
			try {
				answer = await wp.apiFetch( {
					path: `/newsroom/v1/delivery/${ line.dataset.newsroomDelivery }`,
				} );
			} catch {
				return null;
			}
			const fresh = answer.delivery && answer.delivery !== line.dataset.last;
			const isWaiting = answer.state === 'sending' || answer.state === 'pending';
			if ( fresh || isWaiting ) {
				line.textContent = answer.message;
			}
			if ( fresh && ( answer.state === 'done' || answer.state === 'failed' ) ) {
				line.dataset.last = answer.delivery;
				return answer;
			}
			if ( ! isWaiting && tries + 1 >= triesWithout ) {
				return null;
			}
			await new Promise( ( resolve ) => setTimeout( resolve, Math.min( 10000, 250 * ( tries + 1 ) ) ) );
		}
		return null;
	}

	const data = window.wp && wp.data;
	const editor = data && data.select( 'core/editor' );
	if ( ! editor || ! document.body.classList.contains( 'block-editor-page' ) ) {
		// The classic editor has just reloaded the page: a delivery in progress may have ended.
		follow( 1 );
		return;
	}
	let saving = false;
	data.subscribe( () => {
		const now =
			( editor.isSavingPost() && ! editor.isAutosavingPost() ) ||
			( data.select( 'core/edit-post' ) && data.select( 'core/edit-post' ).isSavingMetaBoxes() );
		if ( saving && ! now ) {
			follow( 80 ).then( ( answer ) => {
				if ( answer ) {
					data.dispatch( 'core/notices' ).createNotice( answer.state === 'done' ? 'success' : 'error', answer.message, {
						id: 'newsroom-delivery',
						type: answer.state === 'done' ? 'snackbar' : 'default',
						isDismissible: true,
					} );
				}
			} );
		}
		saving = now;
	} );
} )();

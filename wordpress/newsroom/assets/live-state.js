/**
 * "Live coverage" in the box of the block editor. The box stays as it is when it is saved, so this script updates the state with which
 * WordPress compares the choice: only a changed choice is saved.
 */
( function () {
	'use strict';

	const { select, subscribe } = wp.data;
	const valueOf = ( name ) =>
		document.querySelector( `[name="${ name }"]` )?.value;
	let isSaving = false;
	let sent;

	subscribe( () => {
		const wasSaving = isSaving;
		isSaving = Boolean( select( 'core/edit-post' )?.isSavingMetaBoxes() );
		if ( isSaving && ! wasSaving ) {
			sent = valueOf( 'newsroom_live' );
		}
		const before = document.querySelector( '[name="newsroom_live_before"]' );
		if ( wasSaving && ! isSaving && before && sent !== undefined ) {
			before.value = sent;
		}
	} );
} )();

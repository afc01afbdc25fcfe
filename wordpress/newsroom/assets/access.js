/**
 * "Who may read it" in the block editor. The editor saves the story first and submits the meta boxes' forms afterward, so a story for
 * subscribers would be public for a moment. The choice is therefore also stored as post meta, which is saved with the text; undo, redo
 * and a restored version change the choice in the box.
 */
( function () {
	'use strict';

	const { dispatch, select, subscribe } = wp.data;
	const key = 'newsroom_access';
	const meta = () => select( 'core/editor' ).getEditedPostAttribute( 'meta' );
	let known;

	document.addEventListener( 'change', ( { target } ) => {
		if ( target.name === key && target.checked && meta() ) {
			known = target.value;
			// All of the meta, because the editor's redo would replace it with what is passed here.
			dispatch( 'core/editor' ).editPost( {
				meta: { ...meta(), [ key ]: target.value },
			} );
		}
	} );

	subscribe( () => {
		const value = ( meta() || {} )[ key ];
		if ( value === known ) {
			return;
		}
		known = value;
		const choice = document.querySelector(
			`input[name="${ key }"][value="${ CSS.escape( String( value ) ) }"]`
		);
		if ( choice ) {
			choice.checked = true;
		}
	} );
} )();

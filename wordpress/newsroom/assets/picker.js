/**
 * An ordered list of documents in a box, such as the stories of the front page. The form submits their ids. They are moved with the
 * keyboard, the mouse, or by dragging.
 */
( function () {
	'use strict';

	const { createElement: el, createRoot, useState } = wp.element;
	const { moved, without } = window.newsroomShared;
	const { MoveButtons, Search, useOrder } = window.newsroomLists;

	function Picker( { field, heading, search, chosen, route, none } ) {
		const [ list, set ] = useState( chosen );
		const [ dragged, setDragged ] = useState( 0 );
		const { box, buttons, onKeyDown } = useOrder( list, set, ( { title } ) => title );
		const dragOver = ( event, over ) => {
			const item = list.find( ( { id } ) => id === dragged );
			if ( ! item || item === over ) {
				return;
			}
			event.preventDefault();
			const { top, height } = event.currentTarget.getBoundingClientRect();
			const from = list.indexOf( item );
			const others = without( list, from );
			const isBelow = event.clientY >= top + height / 2;
			set( moved( list, from, others.indexOf( over ) + ( isBelow ? 1 : 0 ) ) );
		};
		return el(
			'div',
			{ ref: box },
			el( 'h3', { id: `${ field }-heading` }, heading ),
			el(
				'ol',
				{ className: 'newsroom-picker-list', 'aria-labelledby': `${ field }-heading`, onKeyDown },
				list.map( ( item, at ) =>
					el(
						'li',
						{
							key: item.id,
							className: item.id === dragged ? 'is-dragged' : undefined,
							draggable: true,
							onDragStart: ( event ) => {
								event.dataTransfer.effectAllowed = 'move';
								setDragged( item.id );
							},
							onDragOver: ( event ) => dragOver( event, item ),
							onDragEnd: () => setDragged( 0 ),
						},
						el(
							'div',
							{ className: 'newsroom-picker-row' },
							el( 'span', { className: 'newsroom-picker-title' }, item.title ),
							el( 'input', { type: 'hidden', name: `${ field }[]`, value: item.id } ),
							el( MoveButtons, { ...buttons( at ), size: 'compact' } )
						)
					)
				)
			),
			el( Search, {
				label: search,
				route,
				none,
				has: ( id ) => list.some( ( item ) => item.id === id ),
				add: ( id, { title } ) => set( [ ...list, { id, title } ] ),
			} )
		);
	}

	document.querySelectorAll( '[data-newsroom-picker]' ).forEach( ( picker ) => {
		createRoot( picker ).render( el( Picker, JSON.parse( picker.dataset.newsroomPicker ) ) );
	} );
} )();

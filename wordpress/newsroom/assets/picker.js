/**
 * Picks and orders documents in a box, such as the stories of the front page: with the keyboard, the mouse, or by dragging.
 */
document.querySelectorAll( '[data-newsroom-picker]' ).forEach( ( picker ) => {
	'use strict';

	const { __, sprintf } = wp.i18n;
	const { movedWords, plain } = window.newsroomShared;
	const { newsroomPicker: field, route, none } = picker.dataset;
	const list = picker.querySelector( '.newsroom-picker-list' );
	const search = picker.querySelector( 'input[type="search"]' );
	const results = picker.querySelector( '.newsroom-picker-results' );
	const state = picker.querySelector( '.newsroom-picker-state' );
	let latest = 0;
	let timer = 0;
	let dragged = null;

	const items = () => Array.from( list.children );
	const titleOf = ( item ) =>
		item.querySelector( '.newsroom-picker-title' ).textContent;

	function button( label, title, act ) {
		const element = document.createElement( 'button' );
		element.type = 'button';
		element.className = 'button button-small';
		element.textContent = label;
		element.setAttribute( 'aria-label', title );
		element.addEventListener( 'click', act );
		return element;
	}

	/** Disables the up button of the first item and the down button of the last one. */
	function settle() {
		items().forEach( ( item, index, all ) => {
			const [ up, down ] = item.querySelectorAll( 'button' );
			up.disabled = index === 0;
			down.disabled = index === all.length - 1;
		} );
	}

	function move( item, by ) {
		const all = items();
		const to = all.indexOf( item ) + by;
		if ( to < 0 || to >= all.length ) {
			return;
		}
		list.insertBefore( item, by < 0 ? all[ to ] : all[ to ].nextSibling );
		settle();
		const buttons = item.querySelectorAll( 'button' );
		const same = buttons[ by < 0 ? 0 : 1 ];
		( same.disabled ? buttons[ by < 0 ? 1 : 0 ] : same ).focus();
		wp.a11y.speak( movedWords( titleOf( item ), to, all.length ) );
	}

	function remove( item ) {
		const title = titleOf( item );
		const next = item.nextElementSibling || item.previousElementSibling;
		item.remove();
		settle();
		( next ? next.querySelector( 'button:last-of-type' ) : search ).focus();
		/* translators: %s: title. */
		wp.a11y.speak( sprintf( __( '%s removed.', 'newsroom' ), title ) );
	}

	function equip( item ) {
		const title = titleOf( item );
		const row = document.createElement( 'div' );
		row.className = 'newsroom-picker-row';
		row.append( ...item.childNodes );
		row.append(
			/* translators: %s: title. */
			button( '↑', sprintf( __( 'Move %s up', 'newsroom' ), title ), () => move( item, -1 ) ),
			/* translators: %s: title. */
			button( '↓', sprintf( __( 'Move %s down', 'newsroom' ), title ), () => move( item, 1 ) ),
			/* translators: %s: title. */
			button( __( 'Remove', 'newsroom' ), sprintf( __( 'Remove %s', 'newsroom' ), title ), () => remove( item ) )
		);
		item.append( row );
		item.draggable = true;
	}

	function add( id, title ) {
		if ( items().some( ( item ) => Number( item.dataset.id ) === id ) ) {
			/* translators: %s: title. */
			state.textContent = sprintf( __( '%s is already in the list.', 'newsroom' ), title );
			return;
		}
		const item = document.createElement( 'li' );
		item.dataset.id = String( id );
		const text = document.createElement( 'span' );
		text.className = 'newsroom-picker-title';
		text.textContent = title;
		const input = document.createElement( 'input' );
		input.type = 'hidden';
		input.name = `${ field }[]`;
		input.value = String( id );
		item.append( text, input );
		equip( item );
		list.append( item );
		settle();
		/* translators: %s: title. */
		state.textContent = sprintf( __( '%s added at the end.', 'newsroom' ), title );
	}

	async function find() {
		const query = search.value.trim();
		const mine = ++latest;
		results.replaceChildren();
		if ( query.length < 2 ) {
			state.textContent = '';
			return;
		}
		try {
			const found = await wp.apiFetch( {
				path: `/wp/v2/${ route }?per_page=10&_fields=id,title,date&orderby=relevance&search=${ encodeURIComponent( query ) }`,
			} );
			if ( mine !== latest ) {
				return;
			}
			state.textContent = found.length
				? /* translators: %d: number of documents. */
				  sprintf( __( '%d found.', 'newsroom' ), found.length )
				: none;
			for ( const match of found ) {
				const title = plain( match.title.rendered );
				const item = document.createElement( 'li' );
				const text = document.createElement( 'span' );
				text.className = 'newsroom-picker-title';
				// Titles of stories are often alike, so their dates are shown, too; authors have no date.
				text.textContent = route === 'articles' ? `${ title } (${ match.date.slice( 0, 10 ) })` : title;
				/* translators: %s: title. */
				item.append( text, button( __( 'Add', 'newsroom' ), sprintf( __( 'Add %s', 'newsroom' ), title ), () => add( match.id, title ) ) );
				results.append( item );
			}
		} catch ( error ) {
			if ( mine === latest ) {
				state.textContent = error.message || __( 'The search failed. Try again.', 'newsroom' );
			}
		}
	}

	search.addEventListener( 'input', () => {
		clearTimeout( timer );
		timer = setTimeout( find, 250 );
	} );
	search.addEventListener( 'keydown', ( event ) => {
		// Enter would submit the page's form.
		if ( event.key === 'Enter' ) {
			event.preventDefault();
			clearTimeout( timer );
			find();
		}
	} );
	list.addEventListener( 'dragstart', ( event ) => {
		dragged = event.target.closest( 'li' );
		dragged.classList.add( 'is-dragged' );
		event.dataTransfer.effectAllowed = 'move';
	} );
	list.addEventListener( 'dragover', ( event ) => {
		const over = event.target.closest( 'li' );
		if ( ! dragged || ! over || over === dragged ) {
			return;
		}
		event.preventDefault();
		const box = over.getBoundingClientRect();
		list.insertBefore( dragged, event.clientY < box.top + box.height / 2 ? over : over.nextSibling );
	} );
	list.addEventListener( 'dragend', () => {
		if ( dragged ) {
			dragged.classList.remove( 'is-dragged' );
			dragged = null;
			settle();
		}
	} );
	items().forEach( equip );
	settle();
} );

/** Keyboard movement in a list of links: arrows, Home, End, and the first letters of a name. */
import { createTypeAhead } from '../lib/type-ahead.ts';

/** Makes a list of links answer to the keyboard. */
export function typeAhead(list: HTMLElement): void {
  const find = createTypeAhead();
  list.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const links = [...list.querySelectorAll<HTMLAnchorElement>('a[href]')];
    const current = links.indexOf(document.activeElement as HTMLAnchorElement);
    let next = -1;
    if (event.key === 'ArrowDown') next = Math.min(current + 1, links.length - 1);
    else if (event.key === 'ArrowUp') next = Math.max(current - 1, 0);
    else if (event.key === 'Home') next = 0;
    else if (event.key === 'End') next = links.length - 1;
    else if (event.key.length === 1 && event.key !== ' ') {
      const names = links.map((link) => link.textContent ?? '');
      next = find(event.key, names, current);
    } else return;
    if (next < 0) return;
    event.preventDefault();
    links[next]?.focus();
  });
}

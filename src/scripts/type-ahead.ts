/** Keyboard movement in a list of links: arrows, Home, End, and the first letters of a name. */

/** What has been typed is forgotten after this many milliseconds (spec section 9, "Side-menu type-ahead"). */
export const typeAheadReset = 350;

/**
 * Index of the name that typed text leads to, or -1. The same letter again and again steps through the names that begin
 * with it; longer text stays on the current name while that still fits.
 */
export function findByPrefix(names: readonly string[], typed: string, current: number): number {
  if (typed === '' || names.length === 0) return -1;
  const text = typed.toLocaleLowerCase();
  const first = text[0] ?? '';
  const repeated = [...text].every((letter) => letter === first);
  const prefix = repeated ? first : text;
  const start = repeated ? current + 1 : Math.max(current, 0);
  for (let step = 0; step < names.length; step += 1) {
    const index = (start + step) % names.length;
    if (names[index]?.trim().toLocaleLowerCase().startsWith(prefix)) return index;
  }
  return -1;
}

/** Makes a list of links answer to the keyboard. */
export function typeAhead(list: HTMLElement): void {
  let typed = '';
  let timer: ReturnType<typeof setTimeout> | undefined;
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
      clearTimeout(timer);
      typed += event.key;
      timer = setTimeout(() => {
        typed = '';
      }, typeAheadReset);
      next = findByPrefix(
        links.map((link) => link.textContent ?? ''),
        typed,
        current,
      );
    } else return;
    if (next < 0) return;
    event.preventDefault();
    links[next]?.focus();
  });
}

/** Finding a name by its first letters, as menus do. */

/** Typed letters are forgotten after this many milliseconds (spec section 9, "Side-menu type-ahead"). */
export const typeAheadReset = 350;

/**
 * Index of the name that matches the typed text, or -1. Repeating a letter steps through the names that begin with it; longer
 * text stays on the current name as long as it matches.
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

/** Collects typed letters for a moment, so that several letters form one search. */
export function createTypeAhead(): (letter: string, names: readonly string[], current: number) => number {
  let typed = '';
  let timer: ReturnType<typeof setTimeout> | undefined;
  return (letter, names, current) => {
    clearTimeout(timer);
    typed += letter;
    timer = setTimeout(() => {
      typed = '';
    }, typeAheadReset);
    return findByPrefix(names, typed, current);
  };
}

/** Style sheets that are generated at build time. */
import type { Plugin } from 'vite';

/** Makes the style sheet `virtual:<name>.css`. */
export function virtualStyle(name: string, css: string): Plugin {
  const file = `/__${name}.css`;
  return {
    name: `broadsheet:${name}`,
    resolveId: (id) => (id === `virtual:${name}.css` ? file : null),
    load: (id) => (id === file ? css : null),
  };
}

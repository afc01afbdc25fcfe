/**
 * Browser scripts need single values of `src/publication.ts`: the name, the time zone, a limit. A bundler would include the whole
 * object for one of them, 1.5 kB on every page. This plugin replaces each reference by its value.
 */
import type { Plugin } from 'vite';
import { publication } from '../src/publication.ts';

/** `publication.layout.welcomePopup` and the like, not as a part of a longer name and not in a type. */
const reference = /(?<![\w$]|(?<!\.\.)\.)(?<!typeof\s)publication((?:\.[a-zA-Z_$][\w$]*)+)/gu;

/** @returns the code, with references to the publication replaced by their values */
export function inlined(code: string, whole: object = publication): string {
  return code.replace(reference, (text, path: string) => {
    let value: unknown = whole;
    const names = path.slice(1).split('.');
    let read = 0;
    // Names after a value that isn't an object belong to the value: `publication.name.length`.
    while (read < names.length && isObject(value) && Object.hasOwn(value, names[read] as string))
      value = value[names[read++] as string];
    if (read === 0) return text;
    const rest = names.slice(read).map((name) => `.${name}`);
    return `(${JSON.stringify(value)})${rest.join('')}`;
  });
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Only browser code is changed; the server has the whole object. */
export function inlinePublication(): Plugin {
  return {
    name: 'broadsheet:inline-publication',
    apply: 'build',
    transform(code, id, options) {
      if (options?.ssr || !/\/src\/.*\.(?:tsx?|astro)(?:\?|$)/u.test(id)) return null;
      if (id.endsWith('/src/publication.ts')) return { code, map: null, moduleSideEffects: false };
      return code.includes('publication.') ? { code: inlined(code), map: null } : null;
    },
  };
}

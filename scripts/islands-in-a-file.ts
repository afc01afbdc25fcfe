/**
 * A build plugin that takes the code of islands out of the pages. Astro writes its custom element and the code of each directive into every
 * page with an island, 2 kB gzip. `src/client/hydration.ts` has both, in a file that browsers cache. The code of other directives, which
 * few pages use, stays in the pages.
 */
import type { Plugin } from 'vite';

const declaration = 'function getPrescripts(result, type, directive) {';
const inPage = `function getPrescripts(result, type, directive) {
  return directive === "interaction" ? "" : \`<script>\${getDirectiveScriptText(result, directive)}</script>\`;
}
function getWholePrescripts(result, type, directive) {`;

export const islandsInAFile = (): Plugin => ({
  name: 'broadsheet:islands-in-a-file',
  apply: 'build',
  transform(code, id) {
    if (!/\/astro\/dist\/runtime\/server\/scripts\.js$/.test(id.replaceAll('\\', '/'))) return undefined;
    if (!code.includes(declaration)) {
      this.error(
        'Astro now writes the scripts of islands in a different way: update scripts/islands-in-a-file.ts, or remove it.',
      );
    }
    return { code: code.replace(declaration, inPage), map: null };
  },
});

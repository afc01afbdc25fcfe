/**
 * A plugin of the build: pages don't carry the code of islands. Astro writes its element and the code of each directive into every page that
 * has an island, 2 kB gzip; `src/client/hydration.ts` has both, in a file that pages with an island load and browsers keep. Other directives than ours, which few pages have,
 * still stand in their pages.
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
        'Astro writes the scripts of islands in another way now: bring scripts/islands-in-a-file.ts in line with it, or drop it.',
      );
    }
    return { code: code.replace(declaration, inPage), map: null };
  },
});

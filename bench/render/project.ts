/**
 * The site as a static Astro project in a folder of its own: the same pages, layouts and settings, but the routes of articles
 * and authors list all their addresses, and every page gets its services from {@link file://./edition.ts}.
 */
import { cpSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';

const root = join(import.meta.dirname, '..', '..');
const edition = pathToFileURL(join(import.meta.dirname, 'edition.ts')).href;

/** @param folder an empty one */
export function writeProject(folder: string): void {
  cpSync(join(root, 'src'), join(folder, 'src'), { recursive: true });
  for (const name of ['node_modules', 'public', '.broadsheet']) symlinkSync(join(root, name), join(folder, name));
  for (const name of ['package.json', 'tsconfig.json']) cpSync(join(root, name), join(folder, name));
  const config = readFileSync(join(root, 'astro.config.mjs'), 'utf8')
    .replace("output: 'server'", "output: 'static'")
    .replace(/^ *adapter: .*$/mu, '');
  writeFileSync(join(folder, 'astro.config.mjs'), config);

  const pages = join(folder, 'src', 'pages');
  rmSync(pages, { recursive: true });
  for (const kind of ['article', 'author']) {
    const page = join('src', 'pages', kind, '[slug].astro');
    mkdirSync(dirname(join(folder, page)), { recursive: true });
    const [opening, ...rest] = readFileSync(join(root, page), 'utf8').split('---');
    const paths = `
export async function getStaticPaths() {
  const { slugs } = await import(/* @vite-ignore */ ${JSON.stringify(edition)});
  return slugs('${kind}').map((slug) => ({ params: { slug } }));
}
`;
    writeFileSync(join(folder, page), [opening, paths + rest[0], ...rest.slice(1)].join('---'));
  }
  writeFileSync(
    join(folder, 'src', 'middleware.ts'),
    `const edition = await import(/* @vite-ignore */ ${JSON.stringify(edition)});
export const onRequest = (context, next) => {
  Object.assign(context.locals, edition.locals());
  return next();
};
`,
  );
}

/**
 * A build integration that decides which style sheets a page links. Astro links every sheet that a script of the page may ever load, and
 * inlines small ones in each page. With this integration, a page links only the sheets of its server-rendered parts, joined in order: those
 * that nearly every page uses in one file, which browsers cache, and the page's others in a second file. Sheets of islands that scripts
 * open, such as the paywall's, load with their island: the bundler's `import()` waits for them.
 */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, parse } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { AstroIntegration } from 'astro';

/** A page and its style sheets, in the order of the cascade. */
export interface StyledPage {
  /** Name of the file with the page's own styles. */
  readonly name: string;
  readonly sheets: readonly string[];
}

/** A sheet that this share of the pages has is in the file that all of them link. */
const sharedShare = 0.9;

/**
 * Joins the sheets of pages.
 *
 * @param read text of a sheet
 * @returns the texts of the new files by name, and the names that each page links, in the order of the pages
 */
export function joinSheets(
  pages: readonly StyledPage[],
  read: (sheet: string) => string,
): { files: ReadonlyMap<string, string>; links: readonly (readonly string[])[] } {
  const styled = pages.filter(({ sheets }) => sheets.length > 0);
  const uses = new Map<string, number>();
  for (const sheet of styled.flatMap(({ sheets }) => sheets)) uses.set(sheet, (uses.get(sheet) ?? 0) + 1);
  const isShared = (sheet: string): boolean => (uses.get(sheet) ?? 0) >= sharedShare * styled.length;
  const common = styled.find(
    ({ sheets }) => sheets.filter(isShared).length === [...uses.keys()].filter(isShared).length,
  );
  const site = common?.sheets.filter(isShared) ?? [];
  const files = new Map<string, string>();
  const add = (name: string, sheets: readonly string[]): string[] => {
    if (sheets.length === 0) return [];
    const text = sheets.map((sheet) => read(sheet).trim()).join('\n');
    const known = [...files].find(([, each]) => each === text)?.[0];
    if (known) return [known];
    const file = `${name}.${createHash('sha256').update(text).digest('base64url').slice(0, 8)}.css`;
    files.set(file, text);
    return [file];
  };
  const links = pages.map(({ name, sheets }) => {
    // Sheets that came after the shared ones in the cascade still come after them.
    const last = sheets.findLastIndex((sheet) => site.includes(sheet));
    const own = (part: readonly string[]): string[] => part.filter((sheet) => !site.includes(sheet));
    return [
      ...add(name, own(sheets.slice(0, last < 0 ? undefined : last))),
      ...(last < 0 ? [] : add('site', site)),
      ...(last < 0 ? [] : add(name, own(sheets.slice(last)))),
    ];
  });
  return { files, links };
}

export function pageStyles(): AstroIntegration {
  type Pages = Map<string, { component: string; styles: readonly { sheet: { type: string; src?: string } }[] }>;
  let pages: Pages = new Map();
  let folders: readonly string[] = [];
  let joined: ReadonlySet<string> = new Set();
  /** Sheets of the server-rendered parts of each page, by its source file. */
  let rendered = new Map<string, ReadonlySet<string | undefined>>();
  /** Pages with an island that is rendered only in the browser, so that no server-rendered part brings its sheets. */
  const clientOnlyPages = new Set<string>();
  /** Names of sheets whose address a page imports (`?url`), to link them itself. */
  const linked = new Set<string>();
  return {
    name: 'broadsheet:page-styles',
    hooks: {
      'astro:config:setup': ({ command, updateConfig }) => {
        if (command !== 'build') return;
        const plugin = {
          name: 'broadsheet:page-styles',
          moduleParsed({ id, meta }: { id: string; meta: { astro?: { clientOnlyComponents?: readonly unknown[] } } }) {
            if (meta.astro?.clientOnlyComponents?.length) clientOnlyPages.add(id);
            const [, sheet] = /([\w-]+)\.css\?(?:.*&)?url\b/.exec(id) ?? [];
            if (sheet !== undefined) linked.add(sheet);
          },
          // The browser's part is built last, so at this point the list of pages still has the sheets of the server's build.
          buildStart(this: { environment?: { name: string } }) {
            if (this.environment?.name !== 'client') return;
            rendered = new Map(
              [...pages.values()].map(({ component, styles }) => [
                component,
                new Set(styles.map(({ sheet }) => sheet.src)),
              ]),
            );
          },
        };
        updateConfig({ vite: { plugins: [plugin] } });
      },
      'astro:config:done': ({ config }) => {
        folders = [config.build.client, config.build.server].map((url) => fileURLToPath(url));
      },
      'astro:build:setup': (options) => {
        pages = options.pages as unknown as Pages;
      },
      'astro:build:ssr': ({ manifest }) => {
        const routes = manifest.routes as unknown as {
          routeData: { component: string };
          styles: { type: string; src: string }[];
        }[];
        const lists = routes.map(({ routeData: { component }, styles }) => {
          const all = styles.map(({ src }) => src);
          const whole = [...clientOnlyPages].some((id) => id.endsWith(`/${component}`));
          const sheets = whole ? all : all.filter((src) => rendered.get(component)?.has(src));
          return { name: parse(component).name.replaceAll(/[^\w-]/g, ''), sheets };
        });
        const read = (sheet: string): string => {
          const path = folders.map((folder) => join(folder, sheet)).find((each) => existsSync(each));
          if (path === undefined) throw new Error(`The build has no style sheet ${sheet}.`);
          return readFileSync(path, 'utf8');
        };
        const { files, links } = joinSheets(lists, read);
        const [client = ''] = folders;
        for (const [file, text] of files) writeFileSync(join(client, manifest.assetsDir, file), text);
        for (const [at, route] of routes.entries())
          route.styles = (links[at] ?? []).map((file) => ({ type: 'external', src: `${manifest.assetsDir}/${file}` }));
        joined = new Set(files.keys());
      },
      // Deletes sheets that are now in joined files, unless a script or a page still refers to them.
      'astro:build:done': ({ dir }) => {
        const assets = join(fileURLToPath(dir), '_assets');
        const names = readdirSync(assets);
        const scripts = names
          .filter((name) => name.endsWith('.js'))
          .map((name) => readFileSync(join(assets, name), 'utf8'));
        for (const name of names) {
          const isNamed = linked.has(name.split('.', 1)[0] ?? '') || scripts.some((text) => text.includes(name));
          if (name.endsWith('.css') && !joined.has(name) && !isNamed) rmSync(join(assets, name));
        }
      },
    },
  };
}

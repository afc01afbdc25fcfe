/**
 * Everything that the documents name exists: paths, commands, settings, links, and the parts of the documents that code and
 * settings refer to.
 */
import { existsSync, globSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { root } from '../scripts/setup/places.mjs';
import { pathsOf } from '../src/lib/http/fixed-pages.ts';
import { editorialSlugs } from '../src/lib/static/builtin.ts';
import { settingNames } from '../src/server/config/config.ts';

const files = globSync('{src,tests,scripts,sandbox,bench,wordpress,docs}/**/*.*', { cwd: root });
const names: ReadonlySet<string> = new Set(files.map((path) => basename(path)));
const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const { scripts } = JSON.parse(read('package.json')) as { readonly scripts: object };

/** Variables that the site doesn't read: variables of the sandbox, Node, Caddy, cron, WordPress and its database. */
const ofOthers = [
  'SANDBOX_THIRD_PARTIES',
  'NODE_EXTRA_CA_CERTS',
  'SITE_HOST',
  'CRON_TZ',
  'DB_CHARSET',
  'HTTP_AUTHORIZATION',
  'ONLY_FULL_GROUP_BY',
  'WP_POST_REVISIONS',
];

/** The anchors of a document's headings, as GitHub makes them. */
const anchorsOf = (text: string): string[] =>
  [...text.matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .trim()
      .replaceAll(' ', '-'),
  );

/** Texts in backticks that are file paths: no addresses of the site, no commands, no placeholders. */
function pathsIn(text: string): string[] {
  const quoted = [...text.matchAll(/`([^`\n]+)`/g)].map(([, inner = '']) => inner);
  return quoted.filter(
    (one) => /^[.\w@[\]-]+(?:\/[.\w@[\]-]*)*$/.test(one) && (one.includes('/') || /\.(?:ts|astro|mjs|md)$/.test(one)),
  );
}

/** A path from one of these folders; a bare file name means any file of this name. */
const folders = ['', 'src', 'src/lib/billing'];
const exists = (path: string): boolean =>
  names.has(path) || folders.some((folder) => existsSync(join(root, folder, path)));

const file = String.raw`\`([\w./[\]-]+\.(?:ts|tsx|astro))\``;
const name = String.raw`\`(\w+)\``;
const nameThenFile = new RegExp(String.raw`${name},?\s(?:of\s|in\s|\()${file}`, 'g');
const fileThenName = new RegExp(String.raw`${file}(?:,\s|\s\()${name}`, 'g');

/** Names that a text says are in a file, such as `name` of `file.ts`, `name` (`file.ts`), or `file.ts`, `name`. */
const placedIn = (text: string): readonly { readonly name: string; readonly file: string }[] => [
  ...[...text.matchAll(nameThenFile)].map(([, name = '', file = '']) => ({ name, file })),
  ...[...text.matchAll(fileThenName)].map(([, file = '', name = '']) => ({ name, file })),
];

/** The text of a file by its path, or of all files of a bare name. */
const textOf = (file: string): string =>
  files
    .filter(
      (path) =>
        path === file ||
        path === join('src', file) ||
        path === join('src/lib/billing', file) ||
        basename(path) === file,
    )
    .map((path) => readFileSync(join(root, path), 'utf8'))
    .join('\n');

describe.each(['docs/architecture.md', 'docs/contributing.md'])('%s', (file) => {
  const text = readFileSync(join(root, file), 'utf8');

  it('names paths that exist', () => {
    const paths = pathsIn(text);
    expect(paths.length).toBeGreaterThan(10);
    expect(paths.filter((path) => !exists(path))).toEqual([]);
  });

  it('names identifiers that are in the files it gives for them', () => {
    const placed = placedIn(text);
    expect(placed.length).toBeGreaterThan(5);
    expect(placed.filter(({ name, file }) => !new RegExp(`\\b${name}\\b`).test(textOf(file)))).toEqual([]);
  });

  it('names commands that exist', () => {
    const commands = [...text.matchAll(/`npm (?:run )?([a-z:]+)/g)].map(([, name = '']) => name);
    expect(commands.filter((name) => name !== 'ci' && !(name in scripts))).toEqual([]);
  });
});

describe.each(['README.md', ...globSync('docs/**/*.md', { cwd: root })])('%s', (file) => {
  const text = read(file);

  it('links to files and headings that exist', () => {
    const links = [...text.matchAll(/\]\((?!https?:)([^)\s#]*)(?:#([^)\s]+))?\)/g)];
    const broken = links.filter(([, path = '', anchor]) => {
      const target = path === '' ? file : join(dirname(file), path);
      return !existsSync(join(root, target)) || (anchor !== undefined && !anchorsOf(read(target)).includes(anchor));
    });
    expect(broken.map(([link]) => link)).toEqual([]);
  });

  it('names commands and settings that exist', () => {
    const commands = [...text.matchAll(/npm\srun\s([a-z][a-z:-]+)/g)].map(([, name = '']) => name);
    expect(commands.filter((name) => !(name in scripts))).toEqual([]);
    const settings = [...text.matchAll(/`([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)[`=]/g)].map(([, name = '']) => name);
    expect(settings.filter((name) => !settingNames.includes(name) && !ofOthers.includes(name))).toEqual([]);
  });
});

it('code, settings and deployment files refer to parts of documents that exist', () => {
  const paths = globSync(
    ['{src,scripts,deploy,tests,bench}/**/*.*', 'wordpress/newsroom/**/*.{php,ts}', '.env.example', 'Dockerfile'],
    { cwd: root },
  ).filter((path) => !path.includes('node_modules'));
  const references = paths.flatMap((path) =>
    [...read(path).matchAll(/\b(docs\/[\w/-]+\.md)(?:, "([A-Z][^"]+)")?/g)].map(([, document = '', part]) => ({
      path,
      document,
      part,
    })),
  );
  expect(references.filter(({ part }) => part !== undefined).length).toBeGreaterThan(20);
  const missing = references.filter(({ document, part }) => {
    if (!existsSync(join(root, document))) return true;
    return part !== undefined && !new RegExp(`^(?:#+ |[*]{2})${part}(?:$|\\.?[*]{2})`, 'm').test(read(document));
  });
  expect(missing).toEqual([]);
});

it('docs/operations.md names every page that is never cached, for readers and for a CDN', () => {
  const text = read('docs/operations.md');
  for (const [, list = ''] of [/^Not cached: (.*?)\n\n/ms, /Never cache (.*?)\. /s].map(
    (form) => form.exec(text) ?? [],
  ))
    expect(pathsOf('uncached').filter((path) => !list.includes(`\`${path}\``))).toEqual([]);
});

it('docs/operations.md quotes log lines that are in the code', () => {
  const quoted = [...read('docs/operations.md').matchAll(/(?:"([^"]+)" in the log|the log line "([^"]+)")/g)];
  expect(quoted.length).toBeGreaterThan(3);
  const code = globSync('src/**/*.server.ts', { cwd: root }).concat(globSync('src/press/cache/*.ts', { cwd: root }));
  const texts = code.map(read).join('\n');
  expect(quoted.map(([, line, other]) => line ?? other ?? '').filter((line) => !texts.includes(line))).toEqual([]);
});

it('docs/editors.md names every page whose text is written in WordPress', () => {
  const [, list = ''] = /^- \*\*Pages\*\* with these slugs (.*?)\. /ms.exec(read('docs/editors.md')) ?? [];
  const slugs = [...list.matchAll(/`([\w-]+)`/g)].map(([, slug = '']) => slug);
  expect(slugs.toSorted()).toEqual(editorialSlugs.toSorted());
});

it('the documents about the WordPress plugin have its version and list its filters', () => {
  const version = /^ \* Version:\s*(\S+)/m.exec(read('wordpress/newsroom/newsroom.php'))?.[1] ?? '';
  expect(read('docs/services/wordpress.md')).toContain(`→ version ${version},`);
  const readme = read('wordpress/newsroom/readme.txt');
  expect(readme).toContain(`Stable tag: ${version}\n`);
  const code = globSync('wordpress/newsroom/{*,includes/*}.php', { cwd: root }).map(read).join('\n');
  const filters = new Set([...code.matchAll(/apply_filters\(\s*'(newsroom_\w+)'/g)].map(([, name = '']) => name));
  const [, list = ''] = /^= Which hooks are there\? =$(.*?)^= /ms.exec(readme) ?? [];
  const named = [...list.matchAll(/`(newsroom_\w+)`/g)].map(([, name = '']) => name);
  expect(named.toSorted()).toEqual([...filters].toSorted());
});

it('README.md names every command', () => {
  const text = read('README.md');
  const named = new Set([...text.matchAll(/`npm (?:run )?([a-z][a-z:-]+)[` ]/g)].map(([, name = '']) => name));
  expect(Object.keys(scripts).filter((name) => !named.has(name))).toEqual([]);
});

it('docs/architecture.md names every feature and every island', () => {
  const text = readFileSync(join(root, 'docs/architecture.md'), 'utf8');
  const folders = globSync('src/{lib,islands}/*/', { cwd: root }).map((path) => basename(path));
  expect(folders.length).toBeGreaterThan(20);
  expect(folders.filter((folder) => !new RegExp(`\\b${folder}\\b`).test(text))).toEqual([]);
});

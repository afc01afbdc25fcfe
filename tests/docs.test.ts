/** Every path, command and name that the documents for contributors give exists. */
import { existsSync, globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { root } from '../scripts/setup/places.mjs';

const files = globSync('{src,tests,scripts,sandbox,bench,wordpress,docs}/**/*.*', { cwd: root });
const names: ReadonlySet<string> = new Set(files.map((path) => basename(path)));

/** Texts in backticks that are paths: not addresses of the site, not commands, without placeholders. */
function pathsIn(text: string): string[] {
  const quoted = [...text.matchAll(/`([^`\n]+)`/g)].map(([, inner = '']) => inner);
  return quoted.filter(
    (one) => /^[.\w@[\]-]+(?:\/[.\w@[\]-]*)*$/.test(one) && (one.includes('/') || /\.(?:ts|astro|mjs|md)$/.test(one)),
  );
}

/** A path from one of these folders; a bare file name stands for any file of this name. */
const folders = ['', 'src', 'src/lib/billing'];
const exists = (path: string): boolean =>
  names.has(path) || folders.some((folder) => existsSync(join(root, folder, path)));

const file = String.raw`\`([\w./[\]-]+\.(?:ts|tsx|astro))\``;
const name = String.raw`\`(\w+)\``;
const nameThenFile = new RegExp(String.raw`${name},?\s(?:of\s|in\s|\()${file}`, 'g');
const fileThenName = new RegExp(String.raw`${file}(?:,\s|\s\()${name}`, 'g');

/** Names that a text places in a file, such as `name` of `file.ts`, `name` (`file.ts`), or `file.ts`, `name`. */
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

  it('names things that are in the files it gives', () => {
    const placed = placedIn(text);
    expect(placed.length).toBeGreaterThan(5);
    expect(placed.filter(({ name, file }) => !new RegExp(`\\b${name}\\b`).test(textOf(file)))).toEqual([]);
  });

  it('names commands that exist', () => {
    const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { scripts: object };
    const commands = [...text.matchAll(/`npm (?:run )?([a-z:]+)/g)].map(([, name = '']) => name);
    expect(commands.filter((name) => name !== 'ci' && !(name in scripts))).toEqual([]);
  });
});

it('docs/architecture.md names every feature and every island', () => {
  const text = readFileSync(join(root, 'docs/architecture.md'), 'utf8');
  const folders = globSync('src/{lib,islands}/*/', { cwd: root }).map((path) => basename(path));
  expect(folders.length).toBeGreaterThan(20);
  expect(folders.filter((folder) => !new RegExp(`\\b${folder}\\b`).test(text))).toEqual([]);
});

/** Every path and command that the documents for contributors name exists. */
import { existsSync, globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { root } from '../scripts/setup/places.mjs';

const names: ReadonlySet<string> = new Set(
  globSync('{src,tests,scripts,sandbox,bench,wordpress,docs}/**/*.*', { cwd: root }).map((path) => basename(path)),
);

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

describe.each(['docs/architecture.md', 'docs/contributing.md'])('%s', (file) => {
  const text = readFileSync(join(root, file), 'utf8');

  it('names paths that exist', () => {
    const paths = pathsIn(text);
    expect(paths.length).toBeGreaterThan(10);
    expect(paths.filter((path) => !exists(path))).toEqual([]);
  });

  it('names commands that exist', () => {
    const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { scripts: object };
    const commands = [...text.matchAll(/`npm (?:run )?([a-z:]+)/g)].map(([, name = '']) => name);
    expect(commands.filter((name) => name !== 'ci' && !(name in scripts))).toEqual([]);
  });
});

/**
 * Checks the import rules of `.dependency-cruiser.cjs`, in `.astro` files too: dependency-cruiser reads only TypeScript, so
 * each `.astro` file is replaced by a copy with the TypeScript in it.
 */
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { cruise, type ICruiseOptions, type ICruiseResult } from 'dependency-cruiser';
import extractConfiguration from 'dependency-cruiser/config-utl/extract-depcruise-options';
import { downloads, root } from './setup/places.mjs';

export interface Violation {
  readonly rule: string;
  readonly from: string;
  readonly to: string;
}

const config = '.dependency-cruiser.cjs';
const folders = ['src', 'sandbox', 'scripts', 'tests', 'bench', 'wordpress'];
const ignored = /(?:^|\/)node_modules(?:\/|$)/;

/** Names of all rules. */
export function ruleNames(): string[] {
  const { forbidden } = createRequire(import.meta.url)(join(root, config)) as { forbidden: { name: string }[] };
  return forbidden.map((rule) => rule.name);
}

/**
 * The TypeScript in an Astro file: its front matter, and the scripts that the browser gets.
 *
 * @param source text of the file
 */
export function scriptsOf(source: string): string {
  const frontMatter = /^\s*---\r?\n([\s\S]*?)\r?\n---/.exec(source)?.[1] ?? '';
  const scripts = [...source.matchAll(/<script(?:\s[^>]*)?>([\s\S]*?)<\/script>/g)].map((match) => match[1] ?? '');
  const imports = scripts.flatMap((script) => [
    ...script.matchAll(/\bimport\s[^;'"]*['"][^'"]+['"]|\bimport\(\s*['"][^'"]+['"]\s*\)/g),
  ]);
  return `${frontMatter}\n;${imports.map((match) => match[0]).join(';\n')}\n`;
}

/** Every violation below a folder that is laid out like the repository. */
export async function violations(folder: string = root): Promise<Violation[]> {
  mkdirSync(downloads, { recursive: true });
  const copy = mkdtempSync(join(downloads, 'import-rules-'));
  try {
    for (const name of folders) layOut(join(folder, name), join(copy, name));
    for (const name of ['node_modules', 'package.json', 'tsconfig.json', config])
      symlinkSync(join(root, name), join(copy, name));
    const modules = join(root, 'sandbox', 'node_modules');
    if (existsSync(modules) && existsSync(join(copy, 'sandbox')))
      symlinkSync(modules, join(copy, 'sandbox', 'node_modules'));

    const options = (await extractConfiguration(join(root, config))) as ICruiseOptions;
    const { output } = await cruise(
      folders.filter((name) => existsSync(join(copy, name))),
      { ...options, baseDir: copy, validate: true, outputType: 'json' },
    );
    const result = (typeof output === 'string' ? JSON.parse(output) : output) as ICruiseResult;
    const plain = (path: string): string => path.replace(/\.astro\.ts$/, '.astro');
    return result.summary.violations.map(({ rule, from, to }) => ({
      rule: rule.name,
      from: plain(from),
      to: plain(to),
    }));
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}

function layOut(from: string, to: string): void {
  if (!existsSync(from)) return;
  for (const entry of readdirSync(from, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    const inside = relative(from, path);
    if (!entry.isFile() || ignored.test(inside) || !/\.(?:astro|tsx?|mjs|js|css|json|svg)$/.test(entry.name)) continue;
    const target = join(to, inside);
    mkdirSync(dirname(target), { recursive: true });
    if (entry.name.endsWith('.astro')) writeFileSync(`${target}.ts`, scriptsOf(readFileSync(path, 'utf8')));
    else cpSync(path, target);
  }
}

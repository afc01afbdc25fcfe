/** Decision 28 names every script of the pages with its reason; a new script without a row fails here. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { root } from '../../scripts/setup/places.mjs';

const filesIn = (folder: string, ending: RegExp): string[] =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .map((file) => `${folder}/${file}`)
    .filter((file) => ending.test(file));

/** Whether a component's script does more than import modules. */
const hasOwnScript = (file: string): boolean =>
  [...readFileSync(join(root, file), 'utf8').matchAll(/<script>([\s\S]*?)<\/script>/g)].some(
    ([, code = '']) => code.replace(/^\s*(?:import '[^']+';|\/\/.*|\/\*\*.*\*\/)\s*$/gm, '').trim() !== '',
  );

it('decision 28 lists every script of the pages', () => {
  const decision = readFileSync(join(root, 'docs/decisions/0028-what-stays-a-script.md'), 'utf8');
  const named = [...decision.matchAll(/^\| `(src\/[^`]+)` \|/gm)].map(([, file = '']) => file);
  const scripts = filesIn('src/scripts', /(?<!\.test)\.ts$/);
  const components = filesIn('src', /\.astro$/).filter(hasOwnScript);
  expect(named.toSorted()).toEqual([...scripts, ...components].toSorted());
});

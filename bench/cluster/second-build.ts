/** Another build of the site, whose pages and hashed files differ from this checkout's; made once and kept below `var`. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { hashSources } from '../../scripts/build.ts';
import { root } from '../../scripts/setup/places.mjs';

const folder = join(root, 'var', 'bench', 'second-build');
/** Written last, with the hash of the sources that this build was made of. */
const stamp = join(folder, '.made-of');
const parts = ['src', 'public', 'scripts', 'astro.config.mjs', 'tsconfig.json', 'package.json', 'package-lock.json'];

/** @returns the folder of the project, see `StartOptions.root` */
export async function secondBuild(): Promise<string> {
  const sources = hashSources();
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === sources) return folder;
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const part of parts) cpSync(join(root, part), join(folder, part), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  append('src/styles/base.css', '\n.second-build { color: inherit; }\n');
  append('src/components/site/Footer.astro', '<p class="second-build">Second build</p>\n');
  // Islands and scripts share this module: their names change with it.
  append('src/stores/session.ts', "\n(globalThis as { secondBuild?: string }).secondBuild = 'yes';\n");
  const build = spawn(process.execPath, [join(folder, 'scripts', 'run.mjs'), 'build'], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [build.stdout, build.stderr]) {
    stream.on('data', (data) => {
      output += data;
    });
  }
  const [code] = await once(build, 'close');
  if (code !== 0) throw new Error(`The second build failed.\n${output.slice(-3000)}`);
  writeFileSync(stamp, sources);
  return folder;
}

function append(file: string, text: string): void {
  const path = join(folder, file);
  writeFileSync(path, readFileSync(path, 'utf8') + text);
}

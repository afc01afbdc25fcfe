/** Makes `/sw.js` of `story-worker.ts` when the pages are built: its types taken away, and the name of the build put in. */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { AstroIntegration } from 'astro';
import { publication } from '../publication.ts';

export interface WorkerSettings {
  /** Another build is another name: browsers take the worker anew when its text has changed. */
  readonly build: string;
  /** Stories that are kept; 0: none, and whatever worker there is goes. */
  readonly stories: number;
  /** Days that they are kept. */
  readonly days: number;
}

/** Ends a worker that a browser has from before, with all that it kept. */
const farewell = `self.addEventListener('install', () => self.skipWaiting());
self.addEventListener('activate', (event) => event.waitUntil((async () => {
  const own = (await caches.keys()).filter((name) => name.startsWith('broadsheet-'));
  await Promise.all(own.map((name) => caches.delete(name)));
  await self.registration.unregister();
})()));
`;

/** The text of the worker. */
export function workerText(settings: WorkerSettings): string {
  if (settings.stories === 0) return farewell;
  const source = readFileSync(fileURLToPath(new URL('./story-worker.ts', import.meta.url)), 'utf8');
  return `const settings = ${JSON.stringify(settings)};\n${stripTypeScriptTypes(source).replace(/^export \{\};$/m, '')}`;
}

/** A short hash over everything that was built. */
function buildName(folder: string): string {
  const hash = createHash('sha256');
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
  for (const file of files.sort()) hash.update(`${file.slice(folder.length)}\0`).update(readFileSync(file));
  return hash.digest('hex').slice(0, 12);
}

export const storyWorker = (): AstroIntegration => ({
  name: 'broadsheet:story-worker',
  hooks: {
    'astro:build:done': ({ dir }) => {
      // The folder of the browser's files; beside it the server's, where there is one.
      const client = fileURLToPath(dir);
      const server = join(client, '..', 'server');
      const build = [client, server].filter((folder) => existsSync(folder)).map(buildName);
      writeFileSync(join(client, 'sw.js'), workerText({ build: build.join(''), ...publication.offline }));
    },
  },
});

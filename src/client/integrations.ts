/** The Astro integrations of the build: React, the directive `client:interaction`, and the service worker. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import react from '@astrojs/react';
import type { AstroIntegration } from 'astro';
import { buildName } from '../lib/build-name.server.ts';
import { publication } from '../publication.ts';

declare module 'astro' {
  interface AstroClientDirectives {
    /** Hydrates on the first pointer, key or focus within the island; see interaction.ts. */
    'client:interaction'?: boolean | 'or-idle-when-signed-in' | 'or-resumed' | 'or-seen-for-a-minute';
  }
}

/** `@astrojs/react`, with src/client/react-renderer.server.ts as its server renderer. */
export function reactIslands(): AstroIntegration {
  const integration = react();
  return {
    ...integration,
    hooks: {
      ...integration.hooks,
      'astro:config:setup': (options) =>
        integration.hooks['astro:config:setup']?.({
          ...options,
          addRenderer: (renderer) =>
            options.addRenderer({ ...renderer, serverEntrypoint: './src/client/react-renderer.server.ts' }),
        }),
    },
  };
}

export const interactionDirective = (): AstroIntegration => ({
  name: 'broadsheet:interaction',
  hooks: {
    'astro:config:setup': ({ addClientDirective }) => {
      addClientDirective({ name: 'interaction', entrypoint: './src/client/interaction.ts' });
    },
  },
});

export interface WorkerSettings {
  /** Name of the build. Browsers update the worker when its text changes. */
  readonly build: string;
  /** Stories to keep; 0: none, and browsers remove the worker. */
  readonly stories: number;
  /** Days to keep them. */
  readonly days: number;
}

/** Removes a worker that a browser has from an earlier build, with all that it stored. */
const unregisteringWorker = `self.addEventListener('install', () => self.skipWaiting());
self.addEventListener('activate', (event) => event.waitUntil((async () => {
  const own = (await caches.keys()).filter((name) => name.startsWith('broadsheet-'));
  await Promise.all(own.map((name) => caches.delete(name)));
  await self.registration.unregister();
})()));
`;

/** The text of the worker. */
export function workerText(settings: WorkerSettings): string {
  if (settings.stories === 0) return unregisteringWorker;
  const source = readFileSync(fileURLToPath(new URL('./story-worker.ts', import.meta.url)), 'utf8');
  return `const settings = ${JSON.stringify(settings)};\n${stripTypeScriptTypes(source).replace(/^export \{\};$/m, '')}`;
}

/** Writes `/sw.js` when the pages are built: `story-worker.ts` without its types, and with its settings. */
export const storyWorker = (): AstroIntegration => ({
  name: 'broadsheet:story-worker',
  hooks: {
    'astro:build:done': ({ dir }) => {
      // The folder of the browser's files; the server's build, if there is one, is in the folder next to it.
      const client = fileURLToPath(dir);
      const server = join(client, '..', 'server');
      const build = [client, server].filter((folder) => existsSync(folder)).map(buildName);
      writeFileSync(join(client, 'sw.js'), workerText({ build: build.join(''), ...publication.offline }));
    },
  },
});

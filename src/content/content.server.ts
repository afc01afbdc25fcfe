/** Puts the content service together: mirror, reader, sync, webhooks and previews. */
import { openMirror } from './mirror.server.ts';
import { createReader } from './reader.server.ts';
import type { Content, ContentOptions } from './service.ts';

/** Opens the mirror and makes the service; nothing is fetched before `start` or `syncNow`. */
export function openContent(options: ContentOptions): Content {
  const origin = options.wordpress?.url.replace(/\/+$/u, '') ?? null;
  const mirror = openMirror({ file: options.file, origin, log: options.log });
  return {
    reader: () => createReader(mirror),
    start() {},
    async stop() {
      mirror.close();
    },
    async syncNow() {
      return { ok: false, stored: 0, withdrawn: 0, rejected: 0, ms: 0, problem: 'no WordPress is set' };
    },
    async receive() {
      return { status: 503, headers: { 'Retry-After': '60' }, body: { ok: false } };
    },
    async preview() {
      return { status: 501, error: 'Previews are off.' };
    },
    status: () => ({
      ready: mirror.getMeta('ready') === '1',
      phase: 'off',
      progress: {},
      secondsLeft: null,
      syncedAt: mirror.getMeta('synced-at'),
      problem: null,
      rejected: 0,
      credentials: null,
      bytes: mirror.size(),
    }),
  };
}

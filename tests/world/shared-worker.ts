/** A file that shares a worker's process with others (shared-pool.ts) still has its own modules; libraries stay loaded. */
import { afterAll, vi } from 'vitest';

vi.resetModules();

// A nanostore without listeners unmounts a second later and reads the window, which may be gone with the file's document.
if ('document' in globalThis) {
  const started = new Set<NodeJS.Timeout>();
  globalThis.setTimeout = new Proxy(globalThis.setTimeout, {
    apply(start, self, given: Parameters<typeof setTimeout>) {
      const timer = Reflect.apply(start, self, given) as NodeJS.Timeout;
      started.add(timer);
      return timer;
    },
  });
  afterAll(() => {
    for (const timer of started) clearTimeout(timer);
  });
}

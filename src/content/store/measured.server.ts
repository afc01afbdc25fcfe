/** The sizes of pictures that were measured. */
import { type Logger, warnOncePerHost } from '../../lib/logging.ts';
import type { ContentOptions } from '../service.ts';
import type { ContentStore } from './content-store.server.ts';

/** Measures every picture only once; after a failure the document's next version measures it again. */
export function measureOnce(
  store: ContentStore,
  measure: ContentOptions['measure'],
  log: Logger,
): ContentOptions['measure'] {
  const warn = warnOncePerHost(log);
  return async (url) => {
    const known = store.prepare('SELECT width, height FROM measured WHERE url = ?').get(url);
    if (known) return { width: Number(known.width), height: Number(known.height) };
    try {
      const size = await measure(url);
      if (size) store.prepare('INSERT OR REPLACE INTO measured VALUES (?, ?, ?)').run(url, size.width, size.height);
      return size;
    } catch (error) {
      warn('content: picture could not be measured', url, { error: String(error) });
      return null;
    }
  };
}

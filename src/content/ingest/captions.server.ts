/** Files of captions, which pages hold inline. */
import { readResponse } from '../../lib/http/short-body.server.ts';
import { type Logger, warnOncePerHost } from '../../lib/logging.ts';

/** Largest caption file. Captions of a film are some 20 kB, and they are inlined in the page. */
const maxCaptionBytes = 100_000;

/** Reads a file of captions; ingest calls it only for allowed hosts. */
export function createCaptionReader(get: typeof fetch, log: Logger): (url: string) => Promise<string | null> {
  const warn = warnOncePerHost(log);
  return async (url) => {
    try {
      const response = await get(url, { signal: AbortSignal.timeout(10_000), redirect: 'error' });
      const captions = await readResponse(response, maxCaptionBytes);
      if (response.ok && captions !== null && /^WEBVTT(?:\s|$)/u.test(captions)) return captions;
      warn('content: captions omitted: not WebVTT, or more than 100 kB', url, { status: response.status });
    } catch (error) {
      warn('content: captions could not be read', url, { error: String(error) });
    }
    return null;
  };
}

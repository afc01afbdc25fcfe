/** Pictures that can't be served: what is remembered of them, how many one client may ask for, and the answer. */
import type { Logger } from '../logging.ts';
import { ImageError } from './source.server.ts';

export interface Refusals {
  /** Why a picture was refused a short while ago; `null`: it may be tried. */
  known(url: string): ImageError | null;
  note(url: string, error: ImageError): void;
  forget(url: string): void;
  /** Counts a picture that does not exist against the client that asked for it. */
  count(client: string): void;
  /** Seconds for which a client has to wait because too many did not exist; 0: none. */
  waitOf(client: string): number;
}

/** Milliseconds for which a refusal is believed: a missing file may come, a file that is no picture seldom becomes one. */
const missingMs = 60_000;
const unfitMs = 300_000;
const awayMs = 5000;
const mostRemembered = 10_000;
/** New names of pictures that do not exist, for one client in a minute. Each costs WordPress a page. */
const mostMissing = 60;
const minuteMs = 60_000;

/** @param now epoch milliseconds */
export function createRefusals(now: () => number): Refusals {
  const remembered = new Map<string, { readonly error: ImageError; readonly until: number }>();
  let counts = new Map<string, number>();
  let minute = 0;

  const counted = (): Map<string, number> => {
    const current = Math.floor(now() / minuteMs);
    if (current !== minute) {
      minute = current;
      counts = new Map();
    }
    return counts;
  };

  return {
    known(url) {
      const entry = remembered.get(url);
      return entry && entry.until > now() ? entry.error : null;
    },
    note(url, error) {
      const ms = error.status >= 500 ? awayMs : error.status === 404 ? missingMs : unfitMs;
      remembered.delete(url);
      remembered.set(url, { error, until: now() + ms });
      if (remembered.size <= mostRemembered) return;
      const [oldest] = remembered.keys();
      if (oldest !== undefined) remembered.delete(oldest);
    },
    forget: (url) => void remembered.delete(url),
    count(client) {
      const all = counted();
      all.set(client, (all.get(client) ?? 0) + 1);
    },
    waitOf(client) {
      if ((counted().get(client) ?? 0) < mostMissing) return 0;
      return Math.ceil((minuteMs - (now() % minuteMs)) / 1000);
    },
  };
}

/** Seconds after which to try again, where nothing else is said. */
const retryAfter = 10;

/** What of a refusal is told: nothing of what was read, only whether to try again. Why it was refused goes to the log. */
export function refusalAnswer(error: unknown, log: Logger) {
  const known = error instanceof ImageError ? error : null;
  if (!known) log.error({ err: error }, 'A picture request failed');
  else if (known.status >= 500)
    log.warn({ status: known.status, reason: known.message, cause: String(known.cause ?? '') }, 'No picture');
  const status = known === null ? 500 : known.status >= 500 ? 503 : known.status === 400 ? 400 : 404;
  const sentences: Record<number, string> = {
    400: known?.message ?? '',
    404: 'This picture isn’t available.',
    500: 'This picture couldn’t be made.',
    503: 'This picture isn’t available right now. Try again in a moment.',
  };
  const headers: Record<string, string> = {
    'content-type': 'text/plain; charset=utf-8',
    'cache-control': status === 404 ? 'public, max-age=60' : 'no-store',
    'x-content-type-options': 'nosniff',
  };
  if (status === 503) headers['retry-after'] = String(known?.retryAfter ?? retryAfter);
  return { status, headers, body: `${sentences[status]}\n` };
}

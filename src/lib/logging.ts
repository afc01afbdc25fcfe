/**
 * The log as the rest of the site sees it: a message and an object of context, no personal data in either. The server
 * makes one with pino (src/server/logging.ts); tests pass {@link silent}.
 */
export interface Logger {
  debug(context: object, message: string): void;
  info(context: object, message: string): void;
  warn(context: object, message: string): void;
  error(context: object, message: string): void;
}

const nothing = (): void => {};

/** A log that keeps nothing. */
export const silent: Logger = { debug: nothing, info: nothing, warn: nothing, error: nothing };

const mostHosts = 500;

/**
 * Makes a warning that is logged once for each message and host: pictures of one host that is not allowed (avatars, for instance) are in bodies by
 * the dozen.
 */
export function warnOncePerHost(log: Logger): (message: string, url: string, context: object) => void {
  const warned = new Set<string>();
  return (message, url, context) => {
    const host = URL.parse(url)?.host ?? '';
    const key = `${message} ${host}`;
    if (warned.has(key) || warned.size >= mostHosts) return;
    warned.add(key);
    log.warn({ host, ...context }, `${message}; it is not logged again for this host`);
  };
}

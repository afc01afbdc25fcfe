/**
 * The logger's interface: a message and a context object, neither of which contains personal data. The server makes one with
 * pino (src/server/logging.ts); tests pass {@link silent}.
 */
export interface Logger {
  debug(context: object, message: string): void;
  info(context: object, message: string): void;
  warn(context: object, message: string): void;
  error(context: object, message: string): void;
}

const nothing = (): void => {};

/** A logger that discards everything. */
export const silent: Logger = { debug: nothing, info: nothing, warn: nothing, error: nothing };

const mostHosts = 500;

/**
 * Creates a warning that is logged once for each message and host: bodies may contain dozens of pictures from one host that isn't allowed
 * (avatars, for instance).
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

export interface FailureLog {
  /** Logs a warning, unless the work has failed since it last worked. */
  failed(context: object, message: string): void;
  worked(): void;
}

/** Logs the failure of repeated work once, until it works again. @param again logged then, by default nothing */
export function createFailureLog(
  log: Pick<Logger, 'warn'> & Partial<Pick<Logger, 'info'>>,
  again?: string,
): FailureLog {
  let isFailing = false;
  return {
    failed(context, message) {
      if (!isFailing) log.warn(context, message);
      isFailing = true;
    },
    worked() {
      if (isFailing && again !== undefined) log.info?.({}, again);
      isFailing = false;
    },
  };
}

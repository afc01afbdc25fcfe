/**
 * The log as the rest of the house sees it: a message and an object of context, no personal data in either. The server
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

/** The log of the server: JSON lines on standard output, without personal data and without query strings. */
import pino from 'pino';
import type { Logger } from '../lib/logging.ts';
import type { LogLevel } from './config.ts';

/** Context keys that could carry a secret or a person; they are replaced wherever they appear at the top or one level down. */
const withheld = [
  'password',
  'secret',
  'authorization',
  'cookie',
  'email',
  'ip',
  'author_ip',
  'author_email',
  'signature',
];

/**
 * Makes the log.
 *
 * @param destination where the lines go; standard output unless a test says otherwise
 */
export function createLog(level: LogLevel, destination?: pino.DestinationStream): Logger {
  const options: pino.LoggerOptions = {
    level,
    base: undefined,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
    serializers: { err: withoutData, url: withoutQuery },
    redact: { paths: withheld.flatMap((key) => [key, `*.${key}`]), censor: '[left out]' },
  };
  return destination ? pino(options, destination) : pino(options);
}

/** An address without its query and fragment, which may carry signatures and e-mail addresses. */
export function withoutQuery(url: unknown): unknown {
  return typeof url === 'string' ? url.replace(/[?#].*$/s, '') : url;
}

/** Deepest cause that is told. */
const deepest = 4;

/**
 * What an error is, and nothing that it carries: errors of a database name the row, those of Stripe the whole payment with its secret
 * and its reader. Addresses in their sentences are left out.
 */
function withoutData(error: unknown, depth = 0): unknown {
  if (!(error instanceof Error)) return typeof error === 'string' ? withoutAddresses(error) : typeof error;
  const { code, statusCode, requestId, syscall } = error as Error & Record<string, unknown>;
  const scalars = Object.entries({ code, statusCode, requestId, syscall }).filter(([, value]) =>
    ['string', 'number'].includes(typeof value),
  );
  return {
    type: error.name === 'Error' ? error.constructor.name : error.name,
    message: withoutAddresses(error.message),
    stack: withoutAddresses(error.stack ?? ''),
    ...Object.fromEntries(scalars),
    ...(error.cause !== undefined && depth < deepest && { cause: withoutData(error.cause, depth + 1) }),
  };
}

const withoutAddresses = (text: string): string =>
  text.replace(/[^\s"'<>()@]+@[^\s"'<>()@/]+\.[a-z]{2,}/gi, '[left out]');

/** The log of the server: JSON lines on standard output, without personal data and without query strings. */
import pino from 'pino';
import type { Logger } from '../lib/logging.ts';
import type { LogLevel } from './config/config.ts';

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
    serializers: { err: withoutBaggage, url: withoutSecrets },
    redact: { paths: withheld.flatMap((key) => [key, `*.${key}`]), censor: '[left out]' },
  };
  return destination ? pino(options, destination) : pino(options);
}

/** What errors of libraries carry beside these, such as the request or the answer, may be about a person. */
const ofErrors = ['type', 'message', 'stack', 'code', 'statusCode', 'requestId'] as const;

function withoutBaggage(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const whole = pino.stdSerializers.err(error) as Readonly<Record<string, unknown>>;
  return Object.fromEntries(
    ofErrors.filter((name) => whole[name] !== undefined).map((name) => [name, withoutAddresses(whole[name])]),
  );
}

/** Only looked for where a word begins: from each of its letters on, a long one would take its length squared. */
const address = /(?<=^|[\s"'<>()@])[^\s"'<>()@]+@[^\s"'<>()@/]+\.[a-z]{2,}/gi;

/** Sentences of Stripe's and of databases may name whom they are about. */
const withoutAddresses = (value: unknown): unknown =>
  typeof value === 'string' ? value.replace(address, '[left out]') : value;

/** An address without its query and fragment, which may carry signatures and e-mail addresses, and without what a gift's link opens it by. */
function withoutSecrets(url: unknown): unknown {
  return typeof url === 'string' ? url.replace(/[?#].*$/s, '').replace(/(\/gift\/)[^/]+/g, '$1[left out]') : url;
}

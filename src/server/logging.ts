/** The server's log: JSON lines on standard output, without personal data and without query strings. */
import pino from 'pino';
import type { Logger } from '../lib/logging.ts';
import type { LogLevel } from './config/config.ts';
import { currentRequestId } from './http/request-id.ts';

/** Keys of values that could be a secret or personal data; they are replaced at the top level and one level down. */
const redactedKeys = [
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
 * Creates the log.
 *
 * @param destination where the lines go; standard output except in tests
 */
export function createLog(level: LogLevel, destination?: pino.DestinationStream): Logger {
  const options: pino.LoggerOptions = {
    level,
    base: undefined,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
    serializers: { err: onlyLoggedFields, url: withoutSecrets },
    mixin: requestIdField,
    redact: { paths: redactedKeys.flatMap((key) => [key, `*.${key}`]), censor: '[left out]' },
  };
  return destination ? pino(options, destination) : pino(options);
}

const requestIdField = (): object => {
  const requestId = currentRequestId();
  return requestId === undefined ? {} : { requestId };
};

/** No others are logged: libraries add fields such as the request or the response, which may contain personal data. */
const loggedErrorFields = ['type', 'message', 'stack', 'code', 'statusCode', 'requestId'] as const;

function onlyLoggedFields(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const whole = pino.stdSerializers.err(error) as Readonly<Record<string, unknown>>;
  return Object.fromEntries(
    loggedErrorFields.filter((name) => whole[name] !== undefined).map((name) => [name, withoutAddresses(whole[name])]),
  );
}

/** The match must start where a word starts: starting at each letter of a long word would take quadratic time. */
const address = /(?<=^|[\s"'<>()@])[^\s"'<>()@]+@[^\s"'<>()@/]+\.[a-z]{2,}/gi;

/** Messages of Stripe and of databases may contain an email address. */
const withoutAddresses = (value: unknown): unknown =>
  typeof value === 'string' ? value.replace(address, '[left out]') : value;

/** Paths of gifts and private feeds, in the spellings that the site answers. */
const secretPath = /^((?:https?:\/\/[^/]{0,255})?\/{1,9}(?:gift|podcast\/{1,9}[^/]*\/{1,9}private)\/{1,9})[^/]+/i;

/** An address without its query and fragment, which may contain signatures and email addresses, and without the token of its path. */
function withoutSecrets(url: unknown): unknown {
  return typeof url === 'string' ? url.replace(/[?#].*$/s, '').replace(secretPath, '$1[left out]') : url;
}

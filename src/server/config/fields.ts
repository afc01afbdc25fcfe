/** Formats that settings share. An error is the rest of a sentence that starts with the setting's name. */
import { isIP } from 'node:net';
import { z } from 'zod';
import type { TrustedProxies } from '../http/client-address.ts';

/** What is wrong with a value that the message may repeat. */
const refusal = (value: unknown, advice: string): string => `is ${JSON.stringify(value)}; ${advice}`;

/** As {@link refusal}, for {@link setting}. */
export const repeating = (advice: string) => (text: string) => refusal(text, advice);

/**
 * A setting whose text is read; `undefined` when it is not set.
 *
 * @param read returns `null` for a text that isn't valid
 * @param message a function where it repeats the text, which therefore must not hold a secret
 */
export const setting = <T>(read: (text: string) => T | null, message: string | ((text: string) => string)) =>
  z
    .string()
    .transform((text, context): T => {
      const value = read(text);
      if (value !== null) return value;
      context.addIssue(typeof message === 'string' ? message : message(text));
      return z.NEVER;
    })
    .optional();

/** A text of a certain form; `undefined` when it is not set. */
export const matching = (form: RegExp, message: string) => z.string().regex(form, message).optional();

/** Parts between commas, without empty ones. */
export const partsOf = (text: string): string[] =>
  text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');

/** One of some words. */
export const oneOf = <const Words extends readonly string[]>(words: Words, advice: string) =>
  z.enum(words, { error: (issue) => refusal(issue.input, advice) });

/** A whole number between two limits. */
export const whole = (fallback: number, low: number, high: number, unit: string) =>
  setting(
    (text) => (/^\d+$/.test(text) && Number(text) >= low && Number(text) <= high ? Number(text) : null),
    repeating(`give ${unit}, a whole number from ${low} to ${high}`),
  ).default(fallback);

/** A number from 0 to 1. */
export const fraction = (fallback: number, unit: string) =>
  setting(
    (text) => (/^\d+(?:\.\d+)?$/.test(text) && Number(text) <= 1 ? Number(text) : null),
    repeating(`give ${unit}, a number from 0 to 1`),
  ).default(fallback);

/** An http or https address; `null` for anything else. */
export function webAddress(text: string): URL | null {
  if (!URL.canParse(text)) return null;
  const url = new URL(text);
  return url.protocol === 'http:' || url.protocol === 'https:' ? url : null;
}

/** A {@link webAddress} without a user, a password or a fragment; `null` for anything else. */
export function openAddress(text: string): URL | null {
  const url = webAddress(text);
  return url && !url.hash && !url.username && !url.password ? url : null;
}

/** An {@link openAddress} without a query; `null` for anything else. */
export function plainAddress(text: string): URL | null {
  const url = openAddress(text);
  return url && !url.search ? url : null;
}

/**
 * Hosts separated by commas, each a bare host with or without a port.
 *
 * @param wildcards whether `*.example.com` is allowed, for every host below a domain of at least two labels
 */
export const hosts = (example: string, { wildcards = false }: { readonly wildcards?: boolean } = {}) =>
  z
    .string()
    .default('')
    .transform((text, context) => {
      const list = partsOf(text.toLowerCase());
      for (const host of list) {
        const bare = wildcards && /^\*\.[a-z0-9-]+(?:\.[a-z0-9-]+)+(?::\d+)?$/.test(host) ? host.slice(2) : host;
        if (!URL.canParse(`http://${bare}`) || !/^(?:[a-z0-9.-]+|\[[0-9a-f:.]+\])(?::\d+)?$/.test(bare)) {
          context.addIssue(
            `holds ${JSON.stringify(host)}; give bare hosts separated by commas, such as ${example}, without https:// and paths`,
          );
        }
      }
      return [...new Set(list)];
    });

/** `on` or `off`; `undefined` when it is not set. */
export const onOff = () =>
  setting((text) => (text === 'on' || text === 'off' ? text === 'on' : null), repeating('give on or off'));

/** Base address of an API, without a trailing slash; `undefined` when it is not set. */
export const apiAddress = (example: string) =>
  setting(
    (text) => plainAddress(text)?.href.replace(/\/+$/, '') ?? null,
    `is not a base URL; give one such as ${example}`,
  );

/** As {@link apiAddress}, and the vendor's own address when it is not set. */
export const vendorAddress = (address: string) => apiAddress(address).default(address);

/** Signing keys as `id:secret`, separated by commas. A message never repeats a secret. */
export const accessKeys = () =>
  z
    .string()
    .optional()
    .transform((text, context) => {
      if (text === undefined) return undefined;
      const keys = text.split(',').map((part) => {
        const [id = '', ...rest] = part.trim().split(':');
        return { id, secret: rest.join(':') };
      });
      for (const [place, { id, secret }] of keys.entries()) {
        const which = `holds a key (number ${place + 1})`;
        if (!/^[\w-]{1,16}$/.test(id) || !/^[\x21-\x7e]*$/.test(secret))
          context.addIssue(`${which} that is not of the form id:secret with an id of 1 to 16 letters and digits`);
        else if (secret.length < 32) context.addIssue(`${which} whose secret is shorter than 32 characters`);
      }
      if (new Set(keys.map(({ id }) => id)).size < keys.length) context.addIssue('holds two keys with the same id');
      return keys;
    });

/** Trusted proxies: a number of them, or addresses and networks separated by commas. */
export const proxies = () =>
  z
    .string()
    .default('0')
    .transform((text, context): TrustedProxies => {
      if (/^\d$/.test(text)) return Number(text);
      const list = text.split(',').map((part) => part.trim());
      const isNetwork = (network: string): boolean => {
        const [address = '', bits, more] = network.split('/');
        const most = isIP(address) === 6 ? 128 : 32;
        return (
          isIP(address) !== 0 &&
          more === undefined &&
          (bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= most))
        );
      };
      for (const network of list) {
        if (!isNetwork(network)) {
          context.addIssue(
            `holds ${JSON.stringify(network)}; give the number of proxies in front, such as 1, or their addresses and networks separated by commas, such as 10.0.0.0/8`,
          );
        }
      }
      return list;
    });

/** Address of a PostgreSQL database. It contains a password, so a message never repeats it. */
export const postgresAddress = () =>
  setting((text) => {
    const url = URL.canParse(text) ? new URL(text) : null;
    return url && /^postgres(?:ql)?:$/.test(url.protocol) && url.pathname.length > 1 ? text : null;
  }, 'is not the address of a PostgreSQL database; give one such as postgres://user:password@host:5432/name');

/** Path of the Zephr tenant's own, below `/blaize/` or `/zephr/`. */
export const tenantPath = (example: string) =>
  matching(/^\/(?:blaize|zephr)(?:\/[\w-]+)+$/, `isn't a path of a tenant; give one such as ${example}`);

/**
 * Problems of settings that need others.
 *
 * @param needs for each setting, those that must be set together with it
 */
export const missingCompanions = (
  given: Readonly<Record<string, string>>,
  needs: Readonly<Record<string, readonly string[]>>,
): string[] =>
  Object.entries(needs).flatMap(([name, others]) =>
    given[name]
      ? others
          .filter((other) => !given[other])
          .map((other) => `${other} is missing; set it together with ${name}, or remove ${name}`)
      : [],
  );

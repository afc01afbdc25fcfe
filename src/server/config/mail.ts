/** Settings of what readers' addresses need: the mail server, the checks of addresses, and where a reader is. */
import { z } from 'zod';
import type { ExternalSettings } from '../../lib/email-verification/external.server.ts';
import type { GeoSettings } from '../../lib/geo/geo.server.ts';
import { readSender, type Sender } from '../../lib/mail/address.ts';
import type { MailSettings, SmtpSettings } from '../../lib/mail/smtp.server.ts';
import { onOff, webAddress } from './fields.ts';

export interface MailConfig {
  /** `null`: no mail is sent. */
  readonly mail: MailSettings | null;
  /** Service that says whether a mailbox exists; `null`: none is asked. */
  readonly emailVerifier: ExternalSettings | null;
  /** Whether DNS is asked if a domain takes mail. */
  readonly emailDnsCheck: boolean;
  readonly geo: GeoSettings;
}

/** `smtp://user:password@host:port`, or `smtps://`; a user and a password come together or not at all. */
const smtpAddress = () =>
  z
    .string()
    .optional()
    .transform((text, context): SmtpSettings | undefined => {
      if (text === undefined) return undefined;
      const smtp = readSmtp(text);
      if (smtp) return smtp;
      // The text is not repeated, for it may hold a password.
      context.addIssue(
        'is no address of a mail server; give smtp://user:password@host:587 or smtps://user:password@host:465, signs such as @ and / in the password as %40 and %2F',
      );
      return z.NEVER;
    });

function readSmtp(text: string): SmtpSettings | null {
  if (!URL.canParse(text)) return null;
  const url = new URL(text);
  const secure = url.protocol === 'smtps:';
  if ((!secure && url.protocol !== 'smtp:') || url.hostname === '' || url.search || url.hash) return null;
  if ((url.pathname !== '' && url.pathname !== '/') || (url.username === '') !== (url.password === '')) return null;
  try {
    return {
      host: url.hostname.replace(/^\[(.*)\]$/u, '$1'),
      port: url.port === '' ? (secure ? 465 : 587) : Number(url.port),
      secure,
      auth: url.username
        ? { user: decodeURIComponent(url.username), password: decodeURIComponent(url.password) }
        : null,
    };
  } catch {
    return null;
  }
}

const sender = (example: string) =>
  z
    .string()
    .optional()
    .transform((text, context): Sender | undefined => {
      if (text === undefined) return undefined;
      const read = readSender(text);
      if (read) return read;
      context.addIssue(`is ${JSON.stringify(text)}; give an address such as ${example}`);
      return z.NEVER;
    });

const headerName = (example: string) =>
  z
    .string()
    .regex(/^[\w-]{1,64}$/, `is no name of a header; give one such as ${example}`)
    .toLowerCase()
    .optional();

export const mailFields = {
  SMTP_URL: smtpAddress(),
  MAIL_FROM: sender('The Sun <news@example.com>'),
  MAIL_REPLY_TO: sender('support@example.com'),
  EMAIL_VERIFIER: z
    .enum(['plain', 'kickbox'], { error: (issue) => `is ${JSON.stringify(issue.input)}; give kickbox or plain` })
    .default('plain'),
  EMAIL_VERIFIER_URL: z
    .string()
    .optional()
    .refine((text) => {
      const url = text === undefined ? null : webAddress(text);
      return text === undefined || (url !== null && !url.username && !url.password && !url.hash);
    }, 'is no address of a service; give one such as https://verifier.example.com/v1/verify'),
  EMAIL_VERIFIER_KEY: z
    .string()
    .regex(/^[\x21-\x7e]*$/, 'holds spaces or letters beyond ASCII; copy the key again')
    .optional(),
  EMAIL_DNS_CHECK: onOff(),
  GEO_COUNTRY_HEADER: headerName('cf-ipcountry'),
  GEO_CITY_HEADER: headerName('cf-ipcity'),
};

type Values = z.infer<z.ZodObject<typeof mailFields>>;

/** That nothing is missing is {@link mailTogether}'s business. */
export function mailOf(values: Values): MailConfig {
  const { SMTP_URL: smtp, MAIL_FROM: from, MAIL_REPLY_TO: replyTo, EMAIL_VERIFIER_URL: url } = values;
  return {
    mail: smtp && from ? { smtp, from, replyTo: replyTo ?? null } : null,
    emailVerifier: verifierOf(values.EMAIL_VERIFIER, url, values.EMAIL_VERIFIER_KEY),
    emailDnsCheck: values.EMAIL_DNS_CHECK ?? true,
    geo: { countryHeader: values.GEO_COUNTRY_HEADER ?? null, cityHeader: values.GEO_CITY_HEADER ?? null },
  };
}

const kickbox = 'https://api.kickbox.com/v2/verify';

function verifierOf(vendor: ExternalSettings['vendor'], url: string | undefined, key: string | undefined) {
  const place = url ?? (vendor === 'kickbox' && key ? kickbox : undefined);
  return place === undefined ? null : { vendor, url: place, key: key ?? null };
}

/** Problems of settings that make sense only together. */
export function mailTogether(given: Readonly<Record<string, string>>): string[] {
  const problems: string[] = [];
  if (given.SMTP_URL && !given.MAIL_FROM) {
    problems.push(
      'MAIL_FROM is missing; set it beside SMTP_URL to the sender of all mail, such as The Sun <news@example.com>',
    );
  }
  for (const name of ['MAIL_FROM', 'MAIL_REPLY_TO']) {
    if (given[name] && !given.SMTP_URL) problems.push(`SMTP_URL is missing; set it beside ${name}, or remove ${name}`);
  }
  if (given.EMAIL_VERIFIER === 'kickbox') {
    if (!given.EMAIL_VERIFIER_KEY)
      problems.push('EMAIL_VERIFIER_KEY is missing; set it to the API key of Kickbox, or remove EMAIL_VERIFIER');
  } else if (given.EMAIL_VERIFIER_KEY && !given.EMAIL_VERIFIER_URL) {
    problems.push('EMAIL_VERIFIER_URL is missing; set it beside EMAIL_VERIFIER_KEY, or remove EMAIL_VERIFIER_KEY');
  }
  return problems;
}

/** Sends messages to a mail server (SMTP, RFC 5321) and classifies the result. */
import { createTransport } from 'nodemailer';
import { isLoopback } from '../http/network.ts';
import { inSpan } from '../tracing.ts';
import type { Rendered } from './messages/layout.ts';
import { domainOf, oneLine, type Sender } from './model.ts';

export interface SmtpSettings {
  readonly host: string;
  readonly port: number;
  /** TLS from the first byte; without it the connection is upgraded when the server offers it. */
  readonly secure: boolean;
  /** A password is never sent over a connection that is not encrypted, except to this machine. */
  readonly auth: { readonly user: string; readonly password: string } | null;
}

export interface MailSettings {
  readonly smtp: SmtpSettings;
  readonly from: Sender;
  /** Address for replies, if not the sender. */
  readonly replyTo: Sender | null;
}

export type SendResult =
  | { readonly kind: 'sent' }
  /** The server will never accept this message. `detail` is its status code. */
  | { readonly kind: 'refused'; readonly detail: string }
  /** The server does not accept this message now. `limited`: the account's sending limit is reached, for minutes to hours. */
  | { readonly kind: 'later'; readonly detail: string; readonly limited: boolean }
  /** The server accepts nothing now: it is unavailable, or a setting is wrong. `problem` is for the operator. */
  | { readonly kind: 'down'; readonly problem: string };

export interface MailTransport {
  /** @param id of the message; the same for every try, so that a mailbox recognizes a duplicate */
  send(id: string, to: string, message: Rendered, signal: AbortSignal): Promise<SendResult>;
  close(): void;
}

/** Milliseconds. A slower server counts as unavailable. */
const timeoutsMs = { connect: 10_000, silence: 20_000, whole: 60_000, idle: 20_000 };

/** @param connections open at once, at most */
export function openTransport({ smtp, from, replyTo }: MailSettings, connections: number): MailTransport {
  const mailer = createTransport({
    pool: true,
    maxConnections: connections,
    // The outbox retries.
    maxRequeues: 0,
    idleTimeout: timeoutsMs.idle,
    ...connectionOf(smtp),
    // Message content must never be read from a file or URL.
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  const domain = domainOf(from.address);
  return {
    async send(id, to, message, signal) {
      try {
        await inSpan('smtp send', { 'server.address': smtp.host, 'server.port': smtp.port }, () =>
          mailer.sendMail({
            envelope: { from: from.address, to: [to] },
            from,
            to: { name: '', address: to },
            replyTo: message.replyTo ?? replyTo ?? undefined,
            subject: oneLine(message.subject),
            text: message.text,
            html: message.html,
            messageId: `<${id}@${domain}>`,
            headers: {
              // RFC 3834: no out-of-office notice answers this.
              'Auto-Submitted': 'auto-generated',
              'X-Auto-Response-Suppress': 'All',
              ...Object.fromEntries(
                Object.entries(message.headers ?? {}).map(([name, value]) => [
                  name,
                  { prepared: true, value: oneLine(value) },
                ]),
              ),
            },
            signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutsMs.whole)]),
          }),
        );
        return { kind: 'sent' };
      } catch (error) {
        return classify(error as SmtpError);
      }
    },
    close: () => mailer.close({ force: true }),
  };
}

/** Connection settings: with TLS whenever a password is sent to another machine. */
export const connectionOf = (smtp: SmtpSettings) => ({
  host: smtp.host,
  port: smtp.port,
  secure: smtp.secure,
  requireTLS: smtp.auth !== null && !isLoopback(smtp.host),
  auth: smtp.auth ? { user: smtp.auth.user, pass: smtp.auth.password } : undefined,
  connectionTimeout: timeoutsMs.connect,
  greetingTimeout: timeoutsMs.connect,
  dnsTimeout: timeoutsMs.connect,
  socketTimeout: timeoutsMs.silence,
});

interface SmtpError extends Error {
  readonly code?: string;
  readonly command?: string;
  readonly response?: string;
  readonly responseCode?: number;
}

/** Classifies an error. The server's text may contain the address, so only its status codes are logged. */
export function classify(error: SmtpError): SendResult {
  const { code = '', command = '', responseCode, response = '' } = error;
  const enhanced = /^\d{3}[ -](\d\.\d{1,3}\.\d{1,3})\b/u.exec(response)?.[1];
  const detail = [responseCode, enhanced].filter(Boolean).join(' ') || code;
  const aboutMessage = /^(?:RCPT TO|DATA|BDAT|MESSAGE)/u.test(command) || code === 'EMESSAGE';
  if (responseCode !== undefined && aboutMessage) {
    // 421 means that the server is closing the connection; 503 is about the session, not the message.
    if (responseCode === 421 || responseCode === 503)
      return { kind: 'down', problem: `The mail server answers ${detail}.` };
    const limited = responseCode >= 500 && isLimit(enhanced, response);
    return responseCode < 500 || limited ? { kind: 'later', detail, limited } : { kind: 'refused', detail };
  }
  // Before any recipient, 5.7.x is about the sender.
  if (responseCode !== undefined && !enhanced?.startsWith('5.7.') && isLimit(enhanced, response)) {
    return {
      kind: 'down',
      problem: `The mail server accepts no more for now (${detail}): see the account's sending limit.`,
    };
  }
  // An untrusted certificate ends the connection like any other socket error.
  const encryption = code === 'ETLS' || /certificate|altnames/iu.test(error.message);
  return { kind: 'down', problem: problemOf(encryption ? 'ETLS' : code, command, detail) };
}

/**
 * Whether a refusal is about how much this account sends and not about the message. Providers send 5xx for that although it is
 * temporary: 5.4.5 (Google's daily quota), 5.7.x (policy and rate), or a sentence. 5.1.x and 5.2.x are about the recipient's
 * mailbox.
 */
function isLimit(enhanced: string | undefined, response: string): boolean {
  if (enhanced !== undefined && /^[45]\.[12]\./u.test(enhanced)) return false;
  if (enhanced === '5.4.5' || enhanced?.startsWith('5.7.')) return true;
  return /\b(?:quota|rate|sending limit|too many (?:messages|connections)|throttl\w+)\b/iu.test(response);
}

/**
 * Whether a refusal says that the mailbox doesn't exist or has moved, and not that it is full (5.2.2), that the message is refused (5.6.x,
 * 5.7.x), or nothing in particular.
 *
 * @param detail of a refused message
 */
export const isUnknownMailbox = (detail: string | null): boolean => / 5\.1\.(?:1|6|10)$/u.test(detail ?? '');

function problemOf(code: string, command: string, detail: string): string {
  if (code === 'EAUTH' || code === 'ENOAUTH') {
    return `The mail server refuses the user or the password (${detail}): see SMTP_URL.`;
  }
  if (detail.startsWith('530')) {
    return `The mail server wants a user and a password (${detail}): set them in SMTP_URL, or use its encrypted port.`;
  }
  if (code === 'ETLS')
    return 'The connection to the mail server cannot be encrypted: see SMTP_URL, and its certificate.';
  if (code === 'EDNS') return 'The mail server’s name is not found: see SMTP_URL.';
  if (/^MAIL FROM/u.test(command)) return `The mail server refuses the sender (${detail}): see MAIL_FROM.`;
  return `The mail server does not answer (${detail || 'no reason given'}): see that it runs and that SMTP_URL is right.`;
}

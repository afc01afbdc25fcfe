/** SMTP: encryption, log-in, and with `--mail-to` a message that arrives. */
import { randomUUID } from 'node:crypto';
import SMTPConnection from 'nodemailer/lib/smtp-connection/index.js';
import { askVerifier, type ExternalSettings, problemOf } from '../../lib/email-verification/external.server.ts';
import { isLoopback } from '../../lib/http/network.ts';
import { type MailSettings, openTransport, type SmtpSettings } from '../../lib/mail/smtp.server.ts';
import { type Check, reason, type Step, Trouble } from './checks.ts';

const patienceMs = 15_000;

/**
 * @param mail `null`: no mail server is configured
 * @param mailTo recipient of a test message; `null`: none is sent
 */
export function mailCheck(mail: MailSettings | null, mailTo: string | null): Check {
  const smtp = mail?.smtp;
  const steps: Step[] = [
    {
      asks: smtp?.secure ? `TLS and EHLO at ${smtp.host}:${smtp.port}` : `EHLO and STARTTLS at ${place(smtp)}`,
      run: async () => withConnection(settings(mail).smtp, (connection) => encryption(settings(mail).smtp, connection)),
    },
    {
      asks: `AUTH as the user in SMTP_URL`,
      run: async () => {
        const { smtp } = settings(mail);
        if (!smtp.auth) return 'no user in SMTP_URL; the server takes mail without one';
        return withConnection(smtp, (connection) => logIn(smtp, connection));
      },
    },
  ];
  if (mailTo !== null) steps.push({ asks: `a message to ${mailTo}`, run: () => sendTest(settings(mail), mailTo) });
  return { service: 'mail', missing: mail ? null : 'set SMTP_URL and MAIL_FROM', steps };
}

const place = (smtp: SmtpSettings | undefined): string => (smtp ? `${smtp.host}:${smtp.port}` : 'the host of SMTP_URL');

function settings(mail: MailSettings | null): MailSettings {
  if (!mail) throw new Error('mail is not configured');
  return mail;
}

/** Connects as the mail transport does: with a log-in over the network, the connection must be encrypted first. */
async function withConnection<T>(smtp: SmtpSettings, work: (connection: SMTPConnection) => Promise<T>): Promise<T> {
  const connection = new SMTPConnection({
    host: smtp.host,
    port: smtp.port,
    secure: smtp.secure,
    requireTLS: smtp.auth !== null && !isLoopback(smtp.host),
    connectionTimeout: patienceMs,
    greetingTimeout: patienceMs,
    socketTimeout: patienceMs,
  });
  try {
    await new Promise<void>((resolve, reject) => {
      connection.once('error', (error: Error) => reject(connectionTrouble(error, smtp)));
      connection.connect((error) => (error ? reject(connectionTrouble(error, smtp)) : resolve()));
    });
    connection.removeAllListeners('error');
    connection.on('error', () => {});
    return await work(connection);
  } finally {
    connection.close();
  }
}

async function encryption(smtp: SmtpSettings, connection: SMTPConnection): Promise<string> {
  if (connection.secure) return smtp.secure ? 'encrypted from the first byte' : 'encrypted by STARTTLS';
  if (isLoopback(smtp.host)) return 'not encrypted, on this machine only';
  throw new Trouble(
    'the server offers no STARTTLS; mail to readers would go over the network in the clear',
    'give the address of a server with TLS in SMTP_URL, as a rule smtp://…:587 (STARTTLS) or smtps://…:465',
  );
}

function logIn(smtp: SmtpSettings, connection: SMTPConnection): Promise<string> {
  return new Promise((resolve, reject) => {
    const credentials = { user: smtp.auth?.user ?? '', pass: smtp.auth?.password ?? '' };
    connection.login({ credentials }, (error) => {
      if (!error) return resolve('signed in');
      const remedy = 'check the user and the password in SMTP_URL; signs such as @ and / are written %40 and %2F';
      reject(new Trouble(reason(error), remedy, { cause: error }));
    });
  });
}

function connectionTrouble(error: Error, smtp: SmtpSettings): Trouble {
  const where = `${smtp.host}:${smtp.port}`;
  const remedy = /STARTTLS|TLS|SSL|CERT|SELF_SIGNED|wrong version/i.test(reason(error))
    ? `see which encryption ${where} speaks: smtps:// is TLS from the first byte (465), smtp:// upgrades by STARTTLS (587); its certificate must be valid`
    : `check the host and port in SMTP_URL, and that this machine may open connections to ${where}`;
  return new Trouble(reason(error), remedy, { cause: error });
}

async function sendTest(mail: MailSettings, to: string): Promise<string> {
  const transport = openTransport(mail, 1);
  try {
    const text = 'Broadsheet can send mail. This message was sent by npm run verify; nothing needs to be done.';
    const message = { subject: 'Broadsheet: test message', text, html: `<p>${text}</p>` };
    const delivered = await transport.send(randomUUID(), to, message, AbortSignal.timeout(patienceMs * 4));
    if (delivered.kind === 'sent') return 'accepted for delivery; look whether it arrives, and not as spam';
    const came = 'detail' in delivered ? `${delivered.kind}: ${delivered.detail}` : delivered.problem;
    throw new Trouble(came, 'check that the server may send as MAIL_FROM, and the address after --mail-to');
  } finally {
    transport.close();
  }
}

/** Verifies the newspaper's own address, which exists; this costs one credit. */
export function verifierCheck(verifier: ExternalSettings | null, address: string): Check {
  return {
    service: 'verifier',
    missing: verifier ? null : 'set EMAIL_VERIFIER and EMAIL_VERIFIER_KEY',
    steps: [{ asks: `whether ${address} exists`, run: () => ask(verifier, address) }],
  };
}

async function ask(verifier: ExternalSettings | null, address: string): Promise<string> {
  if (!verifier) throw new Error('no verifier is configured');
  try {
    const { result } = await askVerifier(verifier, address, patienceMs);
    return result;
  } catch (error) {
    const host = new URL(verifier.url).host;
    const remedy = `check EMAIL_VERIFIER_KEY, the credits of the account, and that ${host} speaks what EMAIL_VERIFIER (${verifier.vendor}) names`;
    throw new Trouble(problemOf(error), remedy, { cause: error });
  }
}

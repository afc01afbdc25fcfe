/**
 * The mail server: SMTP on 127.0.0.1, with configurable failures. If so configured, it requires a password as a vendor's server
 * does, and offers encryption (STARTTLS, or TLS from the first byte), without which it then accepts no password.
 */
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { SMTPServer, type SMTPServerSession } from 'smtp-server';
import { portInUse } from '../web.ts';
import { type Certificate, makeCertificate } from './certificate.ts';
import type { Failure, FailureMode } from './failure.ts';
import type { MessageStore } from './store.ts';

/** The one account of the server. */
export const account = { user: 'newspaper', password: 'letterbox' };

export interface MailServerOptions {
  /** 0 chooses a free one, which stays the same while connections are refused for a time. */
  readonly port: number;
  /** `optional`: senders without a password are accepted, as in a company's own network. */
  readonly login: 'required' | 'optional';
  readonly encryption: 'none' | 'starttls' | 'tls';
}

export interface MailServer {
  readonly port: number;
  /** PEM, for clients that must trust the server; `null` without encryption. */
  readonly certificate: string | null;
  readonly failure: Failure;
  /** Sets the failure; resolves when it is in effect. */
  setFailure(failure: Failure): Promise<void>;
  close(): Promise<void>;
}

/** An error with the response code that the client receives. */
const smtpError = (responseCode: number, message: string) => Object.assign(new Error(message), { responseCode });

/** The response to a recipient in each mode. */
const recipientErrors: Partial<Record<FailureMode, [code: number, message: string]>> = {
  temporary: [451, '4.3.0 Try again later'],
  permanent: [550, '5.1.1 There is no such mailbox here'],
  quota: [550, '5.4.5 Daily sending quota exceeded'],
  policy: [554, '5.7.1 Message rate over the limit of this account'],
};

interface State {
  readonly messages: MessageStore;
  readonly options: MailServerOptions;
  readonly certificate: Certificate | null;
  failure: Failure;
  /** `null` while connections are refused. */
  server: SMTPServer | null;
  /** The port on which the server listens, once it has been opened. */
  port: number;
}

export async function listenMail(messages: MessageStore, options: MailServerOptions): Promise<MailServer> {
  const certificate = options.encryption === 'none' ? null : makeCertificate(['localhost']);
  const state: State = {
    messages,
    options,
    certificate,
    failure: { mode: 'none' },
    server: null,
    port: options.port,
  };
  await openServer(state);
  return {
    get port() {
      return state.port;
    },
    certificate: certificate?.certificate ?? null,
    get failure() {
      return state.failure;
    },
    async setFailure(next) {
      state.failure = next;
      if (next.mode === 'refuse') await closeServer(state);
      else if (!state.server) await openServer(state);
    },
    close: () => closeServer(state),
  };
}

/** The failure that applies to these recipients, or to a password (`null`); each use decrements `times`. */
function takeFailure(state: State, recipients: readonly string[] | null): Failure {
  const { failure } = state;
  const { to, times } = failure;
  const affected = to === undefined || !recipients || recipients.some((address) => address.toLowerCase().includes(to));
  if (!affected) return { mode: 'none' };
  if (times !== undefined) state.failure = times > 1 ? { ...failure, times: times - 1 } : { mode: 'none' };
  return failure;
}

async function receive(state: State, stream: NodeJS.ReadableStream, session: SMTPServerSession): Promise<string> {
  const to = session.envelope.rcptTo.map(({ address }) => address);
  const applied = ['drop', 'lost-answer', 'slow'].includes(state.failure.mode) ? takeFailure(state, to) : null;
  const parts: Buffer[] = [];
  for await (const part of stream) {
    parts.push(Buffer.from(part));
    if (applied?.mode === 'drop') disconnect(state, session.id);
  }
  if (applied?.mode === 'slow') await delay(applied.delay ?? 3000);
  if (applied?.mode === 'drop') throw smtpError(451, 'Dropped');
  const from = session.envelope.mailFrom ? session.envelope.mailFrom.address : '';
  const { number } = await state.messages.add({ from, to, raw: Buffer.concat(parts), encrypted: session.secure });
  if (applied?.mode === 'lost-answer') disconnect(state, session.id);
  return `2.0.0 Accepted as message ${number}`;
}

/** Ends a connection without a response. */
function disconnect(state: State, id: string): void {
  for (const connection of state.server?.connections ?? []) {
    if (connection.id === id) connection._socket.destroy();
  }
}

async function openServer(state: State): Promise<void> {
  const { login, encryption } = state.options;
  const { certificate } = state;
  const opening = new SMTPServer({
    name: 'mailbox.sandbox',
    banner: 'Broadsheet sandbox',
    // Nothing leaves this machine; a client would have to trust a certificate that was made for this run.
    disabledCommands: encryption === 'none' ? ['STARTTLS'] : [],
    secure: encryption === 'tls',
    ...(certificate && { key: certificate.key, cert: certificate.certificate }),
    authOptional: login === 'optional',
    authRequiredMessage: '5.7.0 Authentication required',
    authMethods: ['PLAIN', 'LOGIN'],
    disableReverseLookup: true,
    size: 10 * 1024 * 1024,
    closeTimeout: 100,
    onAuth({ username, password }, _session, done) {
      if (state.failure.mode === 'auth') takeFailure(state, null);
      else if (username === account.user && password === account.password) return done(null, { user: username });
      done(smtpError(535, '5.7.8 Authentication credentials invalid'));
    },
    onRcptTo({ address }, _session, done) {
      const answer = recipientErrors[state.failure.mode];
      if (!answer || takeFailure(state, [address]).mode === 'none') return done();
      done(smtpError(...answer));
    },
    onData(stream, session, done) {
      receive(state, stream, session).then(
        (message) => done(null, message),
        (error: Error) => done(error),
      );
    },
  });
  // Ignores errors of connections: this server breaks them on purpose.
  opening.on('error', () => {});
  await new Promise<void>((resolve, reject) => {
    opening.server.once('error', (error) => reject(portInUse(error, state.port, 'the mail server')));
    opening.listen(state.port, '127.0.0.1', resolve);
  });
  state.port = (opening.server.address() as AddressInfo).port;
  state.server = opening;
}

async function closeServer(state: State): Promise<void> {
  const closing = state.server;
  state.server = null;
  if (!closing) return;
  for (const connection of closing.connections) connection._socket.destroy();
  await new Promise<void>((resolve) => closing.close(() => resolve()));
}

/** A mailbox that accepts mail to any address: an SMTP server, a page to read messages, and an API for tests. */
import fs from 'node:fs';
import path from 'node:path';
import { listenWeb, type Route } from '../web.ts';
import { api } from './api.ts';
import { pages } from './pages.ts';
import { account, listenMail, type MailServerOptions } from './smtp.ts';
import { openMessages } from './store.ts';

export interface MailboxAccess {
  /** `smtp://user:password@127.0.0.1:port`; `smtps:` with TLS from the first byte. */
  readonly smtpUrl: string;
  /** The page. */
  readonly url: string;
}

export interface Mailbox {
  readonly access: MailboxAccess;
  /** The mail server's certificate (PEM), `null` without encryption. */
  readonly certificate: string | null;
  stop(): Promise<void>;
}

export interface MailboxOptions extends Partial<Pick<MailServerOptions, 'login' | 'encryption'>> {
  /** Port of the page; 0 chooses a free one. */
  readonly port?: number;
  /** Port of SMTP (default: a free one). */
  readonly smtpPort?: number;
  /** Keeps messages between starts. */
  readonly folder?: string;
}

/**
 * Starts both servers on 127.0.0.1.
 * @throws {SetupError} when a port is in use
 */
export async function startMailbox(options: MailboxOptions = {}): Promise<Mailbox> {
  const { port = 0, smtpPort = 0, folder, login = 'optional', encryption = 'none' } = options;
  const messages = openMessages(folder);
  const mail = await listenMail(messages, { port: smtpPort, login, encryption });
  try {
    const web = await listenWeb([...api(messages, mail), ...pages(messages, mail), ...files()], {
      port,
      name: "the sandbox's mailbox",
      setting: 'SANDBOX_MAILBOX_PORT',
    });
    const smtpUrl = `${encryption === 'tls' ? 'smtps' : 'smtp'}://${account.user}:${account.password}@127.0.0.1:${mail.port}`;
    return {
      access: { smtpUrl, url: web.url },
      certificate: mail.certificate,
      async stop() {
        await Promise.all([web.close(), mail.close()]);
      },
    };
  } catch (error) {
    await mail.close();
    throw error;
  }
}

/** Style and script of the page. */
const files = (): Route[] =>
  [
    ['reader.css', 'text/css'],
    ['reader.js', 'text/javascript'],
  ].map(([name = '', type]) => ({
    method: 'GET',
    path: new RegExp(`^/${name.replace('.', '\\.')}$`),
    handle: () => ({
      headers: { 'content-type': `${type}; charset=utf-8`, 'cache-control': 'no-cache' },
      body: fs.readFileSync(path.join(import.meta.dirname, name), 'utf8'),
    }),
  }));

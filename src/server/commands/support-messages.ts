/**
 * `npm run support`: what readers wrote to the support inbox and what looked as if no person had written it. It runs beside the serving
 * process, on the same settings; that one mails what is released.
 */
import type { HeldMessage, Support } from '../../lib/support/service.server.ts';
import { compose } from '../compose.ts';
import { parseConfig } from '../config/config.ts';
import { createLog } from '../logging.ts';

type Env = Readonly<Record<string, string | undefined>>;

/** What is held, newest first. @throws as {@link releaseMessage} */
export const listHeld = (env: Env): Promise<readonly HeldMessage[]> =>
  withSupport(env, (support) => support.heldMessages());

/**
 * Hands one to the mail.
 *
 * @returns `false` where no message of this number is held
 * @throws ConfigError, or Error with a sentence that says what to do
 */
export const releaseMessage = (env: Env, id: string): Promise<boolean> =>
  withSupport(env, (support) => support.release(id));

async function withSupport<T>(env: Env, work: (support: Support) => Promise<T>): Promise<T> {
  const config = parseConfig(env);
  const app = await compose(config, createLog(config.logLevel === 'debug' ? 'debug' : 'error'));
  try {
    const { support } = app.services;
    if (!support) throw new Error('Accounts are off, or kept elsewhere: set SMTP_URL and MAIL_FROM, and no ZEPHR_URL.');
    return await work(support);
  } finally {
    await app.stop();
  }
}

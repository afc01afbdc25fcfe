/**
 * `npm run support`: shows messages to the support inbox that were not mailed because they look like spam; `npm run support --
 * release <number>` mails one after all. `npm run serve` must be running: it sends the mail.
 */
import type { HeldMessage } from '../src/lib/support/service.server.ts';
import { checkSettings, readSettings, siteFolder } from './settings.ts';
import { Stop } from './setup/explain.mjs';

/**
 * With the sandbox of `npm start`, only the site knows the mail server: this process writes the message to the outbox and sends
 * nothing, so any address will do.
 */
const waiting = { SMTP_URL: 'smtp://127.0.0.1:9', MAIL_FROM: 'The Sun <news@example.com>' };

/** @returns the number of the message to release; `null`: list the messages @throws Stop with how it should look */
export function readMessageId(args: readonly string[]): string | null {
  const [what, id = '', ...more] = args;
  if (what === undefined) return null;
  if (what === 'release' && /^[\da-f-]{36}$/.test(id) && more.length === 0) return id;
  throw new Stop('Usage: npm run support, or npm run support -- release <the number that it shows>');
}

const why: Readonly<Record<HeldMessage['held'], string>> = {
  trap: 'filled in a hidden field',
  hasty: 'sent within three seconds',
  links: 'full of links',
};

/** Formats a message for the terminal. */
export const asText = ({ id, created, held, name, email, phone, message }: HeldMessage): string =>
  [
    `${id}  ${new Date(created).toISOString().slice(0, 16).replace('T', ' ')} UTC  ${why[held]}`,
    `  ${name} <${email}> ${phone}`,
    ...message.split('\n').map((line) => `  | ${line}`),
  ].join('\n');

export async function run(args: readonly string[]): Promise<number> {
  const id = readMessageId(args);
  process.env.NODE_ENV = 'production';
  const settings = readSettings();
  const config = checkSettings(settings);
  // The same folder as `npm start` and `npm run serve` use.
  const demo = config.wordpress === null && !settings.SMTP_URL;
  const env = { ...settings, ...(demo && waiting), DATA_DIR: siteFolder(settings, config.wordpress !== null) };
  const { listHeld, releaseMessage } = await import('../src/server/commands/mail.ts');
  const explained = (error: Error) => {
    throw new Stop(error.cause ? `${error.message}\n  (${error.cause})` : error.message, { cause: error });
  };
  if (id !== null) {
    const released = await releaseMessage(env, id).catch(explained);
    console.log(
      released ? 'It goes to the support inbox as soon as the mail server accepts it.' : 'No such message is held.',
    );
    return released ? 0 : 1;
  }
  const held = await listHeld(env).catch(explained);
  console.log(held.length === 0 ? 'No messages are held.' : held.map(asText).join('\n\n'));
  return 0;
}

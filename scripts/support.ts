/**
 * `npm run support`: shows messages to the support inbox that were not mailed because they look like spam; `npm run support --
 * release <number>` mails one after all. `npm run serve` must be running: it sends the mail.
 */
import type { HeldMessage } from '../src/lib/support/service.server.ts';
import { outboxSettings, readSettings } from './settings.ts';
import { Stop, throwAsStop } from './setup/explain.mjs';

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
  const env = outboxSettings(readSettings());
  const { listHeld, releaseMessage } = await import('../src/server/commands/mail.ts');

  if (id !== null) {
    const released = await releaseMessage(env, id).catch(throwAsStop);
    console.log(
      released ? 'It goes to the support inbox as soon as the mail server accepts it.' : 'No such message is held.',
    );
    return released ? 0 : 1;
  }
  const held = await listHeld(env).catch(throwAsStop);
  console.log(held.length === 0 ? 'No messages are held.' : held.map(asText).join('\n\n'));
  return 0;
}

/**
 * Commands that put mail into the outbox: `npm run newsletter` and `npm run support`. They run while the serving process runs, with the
 * same settings; that process sends the mail.
 */
import { composeIssue, newsletters as letters } from '../../lib/newsletters/model.ts';
import type { Addressed, SendOptions } from '../../lib/newsletters/service.server.ts';
import type { HeldMessage, Support } from '../../lib/support/service.server.ts';
import type { Composition } from '../compose.ts';
import type { Config } from '../config/config.ts';
import { openForCommand } from './open.ts';

type Env = Readonly<Record<string, string | undefined>>;

/** Number of newest stories from which a newsletter is composed: more than a day has. */
const newestStories = 60;
const accountsOff =
  'Accounts are off, or a Zephr tenant manages them: set SMTP_URL and MAIL_FROM, and remove ZEPHR_URL.';

/**
 * Composes a newsletter from the newest stories of the content store.
 *
 * @returns `null` when there is no story to send
 * @throws ConfigError, or Error with a sentence that names the remedy
 */
export async function sendNewsletter(env: Env, slug: string, options: SendOptions = {}): Promise<Addressed | null> {
  const letter = letters.find((each) => each.slug === slug);
  if (!letter) {
    const known = letters.map((each) => each.slug).join(', ');
    throw new Error(`There is no newsletter "${slug}"; choose one of ${known}.`);
  }
  return withServices(env, async ({ content, newsletters }, { dataDir }) => {
    if (!newsletters) throw new Error(accountsOff);
    const reader = content.reader();
    if (!reader.edition().ready) {
      throw new Error(`DATA_DIR (${dataDir}) has no edition yet: start the site once with the same DATA_DIR.`);
    }
    const { items } = reader.articles({ limit: newestStories });
    const { ids } = reader.topStories();
    return newsletters.send(slug, () => composeIssue(letter, items, ids, Date.now()), options);
  });
}

/** Support messages that look automated and were not mailed, newest first. @throws as {@link releaseMessage} */
export const listHeld = (env: Env): Promise<readonly HeldMessage[]> =>
  withSupport(env, (support) => support.heldMessages());

/**
 * Mails one of the held messages.
 *
 * @returns `false` when no message with this id is held
 * @throws ConfigError, or Error with a sentence that names the remedy
 */
export const releaseMessage = (env: Env, id: string): Promise<boolean> =>
  withSupport(env, (support) => support.release(id));

const withSupport = <T>(env: Env, work: (support: Support) => Promise<T>): Promise<T> =>
  withServices(env, async ({ support }) => {
    if (!support) throw new Error(accountsOff);
    return work(support);
  });

async function withServices<T>(
  env: Env,
  work: (services: Composition['services'], config: Config) => Promise<T>,
): Promise<T> {
  const { app, config } = await openForCommand(env);
  try {
    return await work(app.services, config);
  } finally {
    await app.stop();
  }
}

/**
 * `npm run newsletter`: composes a day's letter of the newest stories of the content store, and hands it to the outbox for everybody who chose it.
 * It runs beside the serving process, on the same settings; that one sends what waits.
 */
import { composeIssue, newsletters as letters } from '../../lib/newsletters/model.ts';
import type { Addressed, SendOptions } from '../../lib/newsletters/service.server.ts';
import { compose } from '../compose.ts';
import { parseConfig } from '../config/config.ts';
import { createLog } from '../logging.ts';

/** Newest stories that are looked at: more than a day has. */
const looked = 60;

/**
 * @param env settings, see config.ts
 * @param slug of the letter
 * @returns `null` where there is no story to send
 * @throws ConfigError, or Error with a sentence that says what to do
 */
export async function sendNewsletter(
  env: Readonly<Record<string, string | undefined>>,
  slug: string,
  options: SendOptions = {},
): Promise<Addressed | null> {
  const letter = letters.find((each) => each.slug === slug);
  if (!letter)
    throw new Error(`There is no letter "${slug}"; give one of ${letters.map((each) => each.slug).join(', ')}.`);
  const config = parseConfig(env);
  const app = await compose(config, createLog(config.logLevel === 'debug' ? 'debug' : 'error'));
  try {
    const { content, newsletters } = app.services;
    if (!newsletters)
      throw new Error('Accounts are off, or kept elsewhere: set SMTP_URL and MAIL_FROM, and no ZEPHR_URL.');
    const reader = content.reader();
    if (!reader.edition().ready) {
      throw new Error(`${config.dataDir} holds no edition yet: start the site once, on the same DATA_DIR.`);
    }
    return await newsletters.send(
      slug,
      () => composeIssue(letter, reader.articles({ limit: looked }).items, reader.topStories().ids, Date.now()),
      options,
    );
  } finally {
    await app.stop();
  }
}

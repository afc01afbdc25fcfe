/**
 * `npm run newsletter -- morning`: writes the day's newsletter and puts it into the outbox for all its subscribers. A newsletter goes out
 * once a day: after an interrupted run the next one continues from there, and a repeated run does nothing. For cron, while
 * `npm run serve` is running.
 */

import { newsletters } from '../src/lib/newsletters/model.ts';
import type { Addressed } from '../src/lib/newsletters/service.server.ts';
import { outboxSettings, readSettings } from './settings.ts';
import { Stop, throwAsStop } from './setup/explain.mjs';
import { untilStopped } from './setup/lifetime.mjs';
import { step } from './setup/steps.mjs';

const slugs = newsletters.map(({ slug }) => slug);

/** @throws Stop with the error and the right form */
export function readSlug(args: readonly string[]): string {
  const [slug = '', ...more] = args;
  if (slugs.includes(slug) && more.length === 0) return slug;
  throw new Stop(`Name the newsletter: npm run newsletter -- ${slugs.join(' | ')}`);
}

export async function run(args: readonly string[]): Promise<number> {
  const slug = readSlug(args);
  process.env.NODE_ENV = 'production';
  const env = outboxSettings(readSettings());
  const { signal, ended } = untilStopped();
  const { sendNewsletter } = await import('../src/server/commands/mail.ts');
  const count = new Intl.NumberFormat('en-US');
  const done: Addressed | null = await step('Putting the newsletter into the outbox', (progress) =>
    sendNewsletter(env, slug, {
      signal,
      onProgress: (readers, waiting) =>
        progress(`${count.format(readers)} readers${waiting ? '; the mail server has to catch up' : ''}`),
    })
      .finally(ended)
      .catch(throwAsStop),
  );
  if (done === null) {
    console.log('There are no stories to send.');
    return 0;
  }
  console.log(`${count.format(done.readers)} readers: sent, or waiting for the mail server.`);
  if (!done.finished) console.log('Interrupted. Run the same command to continue.');
  return done.finished ? 0 : 1;
}

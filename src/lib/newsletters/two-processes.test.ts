/** Two processes on one PostgreSQL send a day's issue at the same time: each reader's copy reaches the mail server once. */
import { afterEach, expect, it, vi } from 'vitest';
import { fixture } from '../../../tests/world/accounts.ts';
import { prepare } from '../../../tests/world/databases.ts';
import { silent } from '../logging.ts';
import { openOutbox, type RunningOutbox } from '../mail/outbox.server.ts';
import { publisherAt } from '../mail/publisher.ts';
import type { MailTransport } from '../mail/smtp.server.ts';
import { createNewsletters } from './service.server.ts';

const engines = prepare('postgres');
const secret = 'a secret of the newsletters that is long enough';
const siteUrl = 'https://sun.example';
const paper = publisherAt(siteUrl);
const boxes: RunningOutbox[] = [];
afterEach(async () => {
  await Promise.all(boxes.splice(0).map((box) => box.stop()));
});

it('two processes that send the same newsletter send each reader one copy', async () => {
  const place = await engines.migratedPlace();
  const received: string[] = [];
  const process = async () => {
    const database = await engines.open(place);
    const transport: MailTransport = {
      async send(_id, to) {
        received.push(to);
        return { kind: 'sent' };
      },
      close() {},
    };
    const outbox = openOutbox({ database, transport, secret, log: silent, paper, pollMs: 50 });
    boxes.push(outbox);
    outbox.start();
    return { database, letters: createNewsletters({ database, outbox, secret, siteUrl }) };
  };
  const [first, second] = await Promise.all([process(), process()]);
  const site = await fixture(first.database);
  const readers = Array.from({ length: 12 }, (_, number) => `reader-${number}@example.com`);
  for (const email of readers) {
    const { session } = await site.join(email);
    await first.letters.choose(session, ['morning']);
  }
  const issue = (day: string) => ({
    letter: 'Morning Sun',
    slug: 'morning',
    day,
    stories: [{ title: 'A crack', standfirst: '', path: '/article/a', kicker: '', byline: '', minutes: 3 }],
  });
  const send = ({ letters }: typeof first) => letters.send('morning', issue, { batch: 1 });
  const whole = { readers: readers.length, finished: true };
  expect(await Promise.all([send(first), send(second), send(first)])).toEqual([whole, whole, whole]);
  await vi.waitFor(() => expect(received.toSorted()).toEqual(readers.toSorted()));
  // Sent again, there is nothing to send.
  expect(await send(second)).toEqual(whole);
  await Promise.all(boxes.splice(0).map((box) => box.stop()));
  expect(received).toHaveLength(readers.length);
});

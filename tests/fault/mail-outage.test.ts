/**
 * The outbox against the sandbox's mail server, over SMTP, while the server is down or misbehaves: no mail is lost, none is sent twice.
 */
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { type Mailbox, startMailbox } from '../../sandbox/mailbox/mailbox.ts';
import type { StoredMessage } from '../../sandbox/mailbox/store.ts';
import type { Database } from '../../src/lib/database.ts';
import { silent } from '../../src/lib/logging.ts';
import type { Message } from '../../src/lib/mail/model.ts';
import { openOutbox, type RunningOutbox } from '../../src/lib/mail/outbox.server.ts';
import { publisherAt } from '../../src/lib/mail/publisher.ts';
import { openTransport } from '../../src/lib/mail/smtp.server.ts';
import { onBothEngines } from '../world/databases.ts';

const paper = publisherAt('https://sun.example');

let mailbox: Mailbox;
let boxes: RunningOutbox[];
beforeEach(async () => {
  mailbox = await startMailbox();
  boxes = [];
});
afterEach(async () => {
  await Promise.all(boxes.map((box) => box.stop()));
  await mailbox.stop();
});

function open(database: Database): RunningOutbox {
  const { hostname: host, port, username: user, password } = new URL(mailbox.access.smtpUrl);
  const smtp = { host, port: Number(port), secure: false, auth: { user, password } };
  const transport = openTransport({ smtp, from: { name: 'The Sun', address: 'news@sun.example' }, replyTo: null }, 4);
  const box = openOutbox({
    database,
    transport,
    paper,
    secret: 'a secret that outlives the outage',
    log: silent,
    pollMs: 50,
    backOffMs: [5, 50],
  });
  boxes.push(box);
  return box;
}

const fail = (failure: object) =>
  fetch(`${mailbox.access.url}/api/failure`, { method: 'PUT', body: JSON.stringify(failure) });
const letters = async (): Promise<StoredMessage[]> =>
  ((await (await fetch(`${mailbox.access.url}/api/messages`)).json()) as { messages: StoredMessage[] }).messages;
const recipients = async () => (await letters()).flatMap(({ envelope }) => envelope.to).toSorted();
const idOf = ({ headers }: StoredMessage) => headers.find(({ name }) => name === 'Message-ID')?.value;
const outcomes = async ({ db }: Database) =>
  (await db.selectFrom('jobs').select('outcome').execute()).map(({ outcome }) => outcome);

const readers = (count: number): Message[] =>
  Array.from({ length: count }, (_, place) =>
    place % 2 === 0
      ? { kind: 'code', to: `reader-${place}@example.com`, code: String(100_000 + place), minutes: 10 }
      : { kind: 'welcome', to: `reader-${place}@example.com`, firstName: 'Ada' },
  );
const write = (database: Database, box: RunningOutbox, messages: readonly Message[]) =>
  Promise.all(
    messages.map(async (message) => {
      await database.transaction((tx) => box.enqueue(tx, message));
      box.nudge();
    }),
  );

onBothEngines('mail', (engines) => {
  it('waits while the mail server is down, and is sent once when it is back', async () => {
    const place = await engines.place();
    const database = await engines.open(place);
    await fail({ mode: 'refuse' });
    // Two processes of the site on one database.
    const [first, second] = [open(database), open(await engines.open(place))];
    first.start();
    second.start();
    const messages = readers(40);
    await write(database, first, messages);
    await vi.waitFor(() => {
      expect(first.stats().failedTries).toBeGreaterThan(3);
      expect(second.stats().problem).toMatch(/does not answer \(ECONNREFUSED\)|does not answer \(ESOCKET\)/);
    });
    expect(await first.waiting()).toMatchObject({ count: 40 });
    expect(await letters()).toEqual([]);

    await fail({ mode: 'none' });
    await vi.waitFor(async () => expect(await outcomes(database)).toEqual(Array(40).fill('sent')));
    expect(await recipients()).toEqual(messages.map(({ to }) => to).toSorted());
    expect(first.stats().sent + second.stats().sent).toBe(40);
  });

  it('is sent by the next process when the one that wrote it has stopped', async () => {
    const place = await engines.place();
    const database = await engines.open(place);
    await fail({ mode: 'refuse' });
    const before = open(database);
    before.start();
    await write(database, before, readers(6));
    await vi.waitFor(() => expect(before.stats().failedTries).toBeGreaterThan(0));
    await before.stop();
    await database.close();

    await fail({ mode: 'none' });
    const reopened = await engines.open(place);
    open(reopened).start();
    await vi.waitFor(async () => expect(await outcomes(reopened)).toEqual(Array(6).fill('sent')));
    expect(await recipients()).toEqual(
      readers(6)
        .map(({ to }) => to)
        .toSorted(),
    );
  });

  it('is sent even when the server hangs up in the middle of messages', async () => {
    const database = await engines.open();
    await fail({ mode: 'drop', times: 5 });
    const box = open(database);
    box.start();
    await write(database, box, readers(10));
    await vi.waitFor(async () => expect(await outcomes(database)).toEqual(Array(10).fill('sent')));
    expect(await recipients()).toEqual(
      readers(10)
        .map(({ to }) => to)
        .toSorted(),
    );
  });

  it('may arrive twice with the same Message-ID when the server’s confirmation is lost', async () => {
    const database = await engines.open();
    await fail({ mode: 'lost-answer', times: 1 });
    const box = open(database);
    box.start();
    await write(database, box, readers(1));
    await vi.waitFor(async () => expect(await outcomes(database)).toEqual(['sent']));
    const arrived = await letters();
    expect(arrived).toHaveLength(2);
    expect(new Set(arrived.map(idOf)).size).toBe(1);
  });

  it('to one refused address does not hold up other mail', async () => {
    const database = await engines.open();
    await fail({ mode: 'permanent', to: 'reader-1@' });
    const box = open(database);
    box.start();
    await write(database, box, readers(4));
    await vi.waitFor(async () =>
      expect((await outcomes(database)).toSorted()).toEqual(['refused', 'sent', 'sent', 'sent']),
    );
    expect(await recipients()).toEqual(['reader-0@example.com', 'reader-2@example.com', 'reader-3@example.com']);
  });
});

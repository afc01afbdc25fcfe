import { expect, it, vi } from 'vitest';
import { onBothEngines } from '../../../tests/world/databases.ts';
import {
  code,
  down,
  fakeTransport,
  openBox,
  outcomes,
  rows,
  sent,
  welcome,
  write,
} from '../../../tests/world/outbox.ts';
import { deleteOldRows } from '../jobs/old-rows.ts';
import { createJobQueue, leaseMs } from '../jobs/queue.server.ts';
import { type Logger, silent } from '../logging.ts';
import type { Message } from './model.ts';
import type { RunningOutbox } from './outbox.server.ts';
import type { SendResult } from './smtp.server.ts';

onBothEngines('the outbox', (engines) => {
  it('sends committed messages when nudged, and none from a transaction that is rolled back', async () => {
    const database = await engines.open();
    const { transport, tries } = fakeTransport();
    const box = openBox(database, transport, { pollMs: 3_600_000 });
    box.start();
    const undone = database.transaction(async (tx) => {
      await box.enqueue(tx, code('undone@example.com'));
      throw new Error('no');
    });
    await expect(undone).rejects.toThrow('no');
    await write(database, box, code('ada@example.com'));
    expect(tries).toEqual([]);
    box.nudge();
    await vi.waitFor(async () => expect(await outcomes(database)).toEqual(['sent']));
    expect(tries.map(({ to, message }) => [to, message.subject])).toEqual([
      ['ada@example.com', '123456 is your code for The Sun'],
    ]);
    await box.stop();
  });

  it('sends codes and alerts before newsletters that are already waiting', async () => {
    const database = await engines.open();
    const { transport, tries } = fakeTransport();
    const box = openBox(database, transport, { concurrency: 1 });
    const letter = (to: string): Message => ({
      kind: 'newsletter',
      to,
      letter: 'Morning Sun',
      slug: 'morning',
      day: 'today',
      minutes: 60,
      unsubscribe: 'https://sun.example/account/unsubscribe?t=x',
      stories: [{ title: 'A', standfirst: '', path: '/article/a', kicker: '', byline: '', minutes: 1 }],
    });
    await write(database, box, letter('a@example.com'), letter('b@example.com'), letter('c@example.com'));
    const alert = { ...letter('alert@example.com'), alert: { id: 'a', starts: '2026-11-21T09:00:00Z' } } as Message;
    await write(database, box, alert, code('ada@example.com'));
    box.start();
    await vi.waitFor(async () => expect(await outcomes(database)).toEqual(Array(5).fill('sent')));
    await box.stop();
    expect(tries.slice(0, 2).map(({ to }) => to)).toEqual(['ada@example.com', 'alert@example.com']);
    expect(tries.at(-1)?.message.headers).toMatchObject({ 'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click' });
  });

  it('stores waiting messages encrypted', async () => {
    const database = await engines.open();
    const { transport, tries } = fakeTransport();
    const box = openBox(database, transport);
    const link = 'https://sun.example/account/link#a-token-nobody-else-has';
    await write(database, box, code('ada@example.com', '987654'), {
      kind: 'link',
      to: 'ada@example.com',
      url: link,
      purpose: 'login',
      minutes: 10,
    });
    const [first, second] = await rows(database);
    for (const row of [first, second]) {
      for (const bytes of [row?.payload ?? '', Buffer.from(row?.payload ?? '', 'base64url').toString('latin1')]) {
        expect(bytes.length).toBeGreaterThan(40);
        expect(bytes).not.toMatch(/987654|nobody/);
      }
    }
    const stranger = openBox(database, transport, { secret: 'of another site', concurrency: 1 });
    stranger.start();
    await vi.waitFor(async () => expect(await outcomes(database)).toEqual(['refused', 'refused']));
    await stranger.stop();
    expect(tries).toEqual([]);
    expect((await rows(database))[0]?.detail).toContain('ACCOUNTS_SECRET');
  });

  it('deletes the text and address of a sent message', async () => {
    const database = await engines.open();
    const box = openBox(database, fakeTransport().transport);
    await write(database, box, code('ada@example.com', '987654'));
    expect(JSON.stringify(await rows(database))).toContain('ada@example');
    expect(await box.waiting()).toEqual({ count: 1, oldest: expect.any(Number) });
    box.start();
    await vi.waitFor(async () => expect(await outcomes(database)).toEqual(['sent']));
    expect(JSON.stringify(await rows(database))).not.toMatch(/987654|ada@/);
    expect(await box.waiting()).toEqual({ count: 0, oldest: null });
    await box.stop();
    expect(box.stats()).toMatchObject({ sent: 1, refused: 0, expired: 0, failedTries: 0 });
  });

  it('has its results deleted after a week, in steps', async () => {
    const database = await engines.open();
    const ended = (id: number, at: number) => ({
      id: String(id),
      kind: 'newsletter',
      queue: 'mail' as const,
      subject: null,
      payload: null,
      priority: 2,
      causes: 1,
      created: at,
      expires: at,
      due: at,
      claim: null,
      tries: 1,
      ended: at,
      outcome: 'sent',
      detail: null,
    });
    const some = 700;
    for (let from = 0; from < 6 * some; from += some) {
      const old = Array.from({ length: some }, (_, at) => ended(from + at, 1));
      await database.db.insertInto('jobs').values(old).execute();
    }
    const count = async () => (await rows(database)).length;
    await database.db.insertInto('jobs').values(ended(5000, Date.now())).execute();
    const { oldRows } = openBox(database, fakeTransport().transport);
    let steps = 0;
    expect(await deleteOldRows(oldRows, () => ++steps <= 2)).toBe(1000);
    await deleteOldRows(oldRows);
    expect(await count()).toBe(1);
  });

  it('sends each message once when two processes use the same table', async () => {
    const place = await engines.place();
    const first = await engines.open(place);
    const second = await engines.open(place);
    const { transport, tries, most } = fakeTransport(async () => {
      await new Promise(setImmediate);
      return sent;
    });
    const boxes = [openBox(first, transport), openBox(second, transport), openBox(first, transport)];
    const messages = Array.from({ length: 60 }, (_, number) => code(`reader-${number}@example.com`));
    await write(first, boxes[0] as RunningOutbox, ...messages);
    for (const box of boxes) box.start();
    await vi.waitFor(async () => expect((await outcomes(first)).every((outcome) => outcome === 'sent')).toBe(true));
    await Promise.all(boxes.map((box) => box.stop()));
    expect(tries.map(({ to }) => to).toSorted()).toEqual(messages.map(({ to }) => to).toSorted());
    expect(most.together).toBeLessThanOrEqual(12);
  });

  it('tries an unreachable server with one message at a time, and sends all when it responds', async () => {
    const database = await engines.open();
    let away = true;
    const { transport, tries, most } = fakeTransport(() => (away ? down : sent));
    const errors: string[] = [];
    const log: Logger = { ...silent, error: (_context, message) => void errors.push(message) };
    const box = openBox(database, transport, { log });
    await write(database, box, ...Array.from({ length: 20 }, (_, number) => code(`reader-${number}@example.com`)));
    box.start();
    await vi.waitFor(() => expect(tries.length).toBeGreaterThan(12));
    expect(box.stats()).toMatchObject({ problem: 'away', sent: 0, waiting: 20 });
    // The first round sends four at once; afterward each attempt is alone, and the problem was logged once.
    most.together = 0;
    const before = tries.length;
    await vi.waitFor(() => expect(tries.length).toBeGreaterThan(before + 3));
    expect(most.together).toBe(1);
    expect(errors).toEqual(['Mail cannot be sent; it waits']);
    away = false;
    await vi.waitFor(async () => expect(await outcomes(database)).toEqual(Array(20).fill('sent')));
    expect(new Set(tries.slice(-20).map(({ id }) => id)).size).toBe(20);
    expect(box.stats()).toMatchObject({ problem: null, sent: 20 });
    await box.stop();
  });

  it('does not treat an unreadable message as a sign that the mail server is back', async () => {
    const database = await engines.open();
    const { transport, tries } = fakeTransport(() => down);
    const told: string[] = [];
    const tell = (_context: unknown, text: string) => void told.push(text);
    const box = openBox(database, transport, { log: { ...silent, error: tell, info: tell } });
    await write(database, box, welcome('ada@example.com'));
    box.start();
    await vi.waitFor(() => expect(box.stats().problem).toBe('away'));
    await write(database, openBox(database, null, { secret: 'of another site' }), code('ben@example.com'));
    await vi.waitFor(async () => expect((await outcomes(database)).toSorted()).toEqual([null, 'refused']));
    const before = tries.length;
    await vi.waitFor(() => expect(tries.length).toBeGreaterThan(before));
    await box.stop();
    expect(told).toEqual(['Mail cannot be sent; it waits']);
  });

  it('sends all messages after an outage, even if a fast clock was set back during it', async () => {
    const database = await engines.open();
    const right = 1_900_000_000_000;
    let now = right + 86_400_000;
    let away = true;
    const { transport, tries } = fakeTransport(() => (away ? down : sent));
    const box = openBox(database, transport, { now: () => now });
    await write(database, box, welcome('early@example.com'));
    box.start();
    await vi.waitFor(() => expect(tries).toHaveLength(1));
    await vi.waitFor(() => expect(box.stats().problem).toBe('away'));
    now = right;
    away = false;
    await write(database, box, code('ada@example.com'));
    // The early message no longer waits, either.
    const sentNow = () => tries.slice(1).map(({ to }) => to);
    await vi.waitFor(() => expect(sentNow().toSorted()).toEqual(['ada@example.com', 'early@example.com']));
    await box.stop();
  });

  it('drops an expired code and logs that without the address, but keeps a welcome message', async () => {
    const database = await engines.open();
    let now = Date.parse('2026-11-20T12:00:00Z');
    let away = true;
    const { transport, tries } = fakeTransport(() => (away ? down : sent));
    const warnings: unknown[] = [];
    const log: Logger = { ...silent, warn: (...said) => void warnings.push(said) };
    const box = openBox(database, transport, { now: () => now, log });
    await write(database, box, code('ada@example.com', '555777'), welcome('ben@example.com'));
    box.start();
    await vi.waitFor(() => expect(tries.length).toBeGreaterThan(0));
    now += 5 * 3_600_000;
    await vi.waitFor(async () => expect((await outcomes(database)).toSorted()).toEqual(['expired', null]));
    away = false;
    now += 60_000;
    await vi.waitFor(async () => expect((await outcomes(database)).toSorted()).toEqual(['expired', 'sent']));
    await box.stop();
    expect(tries.at(-1)?.to).toBe('ben@example.com');
    expect(JSON.stringify(await rows(database))).not.toContain('555777');
    expect(warnings).toContainEqual([
      { kind: 'code', messages: 1, problem: 'away' },
      'Messages could not be sent in time and were dropped',
    ]);
    expect(JSON.stringify(warnings)).not.toMatch(/ada@|555777/);
  });

  it('writes the remaining lifetime of a code into the message when it is sent', async () => {
    const database = await engines.open();
    let now = Date.parse('2026-11-20T12:00:00Z');
    const { transport, tries } = fakeTransport();
    const box = openBox(database, transport, { now: () => now });
    await write(database, box, code('ada@example.com'));
    now += 7 * 60_000 + 1;
    box.start();
    await vi.waitFor(() => expect(tries[0]?.message.html).toContain('for 3 minutes'));
    await box.stop();
  });

  it('does not retry a refused message, and sends the others', async () => {
    const database = await engines.open();
    const { transport, tries } = fakeTransport(({ to }) =>
      to.startsWith('gone') ? { kind: 'refused', detail: '550 5.1.1' } : sent,
    );
    const box = openBox(database, transport);
    await write(database, box, code('gone@example.com'), code('ada@example.com'));
    box.start();
    await vi.waitFor(async () => expect((await outcomes(database)).toSorted()).toEqual(['refused', 'sent']));
    await box.stop();
    expect(tries).toHaveLength(2);
    expect(box.stats()).toMatchObject({ refused: 1, sent: 1 });
    const refused = (await rows(database)).find((row) => row.outcome === 'refused');
    expect(refused).toMatchObject({ detail: '550 5.1.1', subject: null, payload: null });
  });

  it('tries a message again after a temporary refusal, without delaying others', async () => {
    const database = await engines.open();
    let now = Date.parse('2026-11-20T12:00:00Z');
    const { transport, tries } = fakeTransport(({ to }, count) =>
      to.startsWith('grey') && count < 4 ? { kind: 'later', detail: '451', limited: false } : sent,
    );
    const box = openBox(database, transport, { now: () => now, concurrency: 1 });
    await write(database, box, code('grey@example.com'), code('ada@example.com'));
    box.start();
    await vi.waitFor(async () => expect((await outcomes(database)).toSorted()).toEqual([null, 'sent']));
    for (let minute = 0; (await outcomes(database)).includes(null); minute++) {
      expect(minute).toBeLessThan(9);
      now += 60_000;
      box.nudge();
      const before = now;
      await vi.waitFor(async () => {
        const left = (await rows(database)).filter((row) => row.ended === null);
        expect(left.every((row) => row.due > before)).toBe(true);
      });
    }
    await box.stop();
    expect(tries.filter(({ to }) => to.startsWith('grey')).length).toBeGreaterThan(1);
    expect(new Set(tries.map(({ id }) => id)).size).toBe(2);
  });

  it('takes over the message of a dead process when its lease ends', async () => {
    const database = await engines.open();
    let now = Date.now();
    const { transport, tries } = fakeTransport();
    const box = openBox(database, transport, { now: () => now });
    await write(database, box, welcome('ada@example.com'));
    expect(await createJobQueue(database, 'mail', () => now).claim(5)).toHaveLength(1);
    box.start();
    box.nudge();
    await vi.waitFor(() => expect(box.stats().waiting).toBe(1));
    expect(tries).toEqual([]);
    now += leaseMs;
    await vi.waitFor(async () => expect(await outcomes(database)).toEqual(['sent']));
    await box.stop();
    expect(tries).toHaveLength(1);
  });

  it('finishes a message that is being sent before it stops', async () => {
    const database = await engines.open();
    const sending = Promise.withResolvers<SendResult>();
    const { transport, tries } = fakeTransport(() => sending.promise);
    const box = openBox(database, transport);
    await write(database, box, code('ada@example.com'));
    box.start();
    await vi.waitFor(() => expect(tries).toHaveLength(1));
    const stopped = box.stop();
    expect(transport.close).not.toHaveBeenCalled();
    sending.resolve(sent);
    await stopped;
    expect(transport.close).toHaveBeenCalledOnce();
    expect(await outcomes(database)).toEqual(['sent']);
  });

  it('deletes the messages to one address in the caller’s transaction', async () => {
    const database = await engines.open();
    const box = openBox(database, null);
    await write(database, box, code('ada@example.com'), code('ben@example.com'), welcome('ada@example.com'));
    await database.transaction((tx) => box.forget(tx, 'ada@example.com'));
    expect((await rows(database)).map((row) => row.subject)).toEqual(['ben@example.com']);
  });

  it('refuses an address with a line break, a comma or a display name', async () => {
    const database = await engines.open();
    const box = openBox(database, null);
    for (const to of [
      'ada@example.com\r\nBcc: eve@example.com',
      'ada@example.com, eve@example.com',
      'Ada <ada@example.com>',
    ]) {
      await expect(write(database, box, code(to))).rejects.toThrow('not an email address');
    }
    expect(await rows(database)).toEqual([]);
  });

  it('keeps messages, until they expire, while no mail server is configured', async () => {
    const database = await engines.open();
    let now = Date.parse('2026-11-20T12:00:00Z');
    const box = openBox(database, null, { now: () => now });
    box.start();
    await write(database, box, code('ada@example.com'), welcome('ada@example.com'));
    box.nudge();
    await vi.waitFor(() => expect(box.stats().waiting).toBe(2));
    expect(await outcomes(database)).toEqual([null, null]);
    // Messages that have become useless are still removed.
    now += 11 * 60_000;
    box.nudge();
    await vi.waitFor(() => expect(box.stats()).toMatchObject({ waiting: 1, expired: 1 }));
    await box.stop();
  });
});

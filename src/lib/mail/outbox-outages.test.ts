import { expect, it, vi } from 'vitest';
import { onBothEnginesAlone } from '../../../tests/world/databases.ts';
import { code, fakeTransport, openBox, outcomes, sent, welcome, write } from '../../../tests/world/outbox.ts';
import { type Database, DatabaseUnavailable } from '../database.ts';
import { leaseMs } from '../jobs/queue.server.ts';
import { silent } from '../logging.ts';
import type { RunningOutbox } from './outbox.server.ts';
import type { SendResult } from './smtp.server.ts';

onBothEnginesAlone('the outbox, when the database becomes unavailable', (engines) => {
  /** A database whose queries fail when `fails` says so of their text, and the number of counts of waiting messages. */
  function failing(database: Database, fails: (query: string) => boolean) {
    const seen = { counts: 0 };
    const db = database.db.withPlugin({
      transformQuery({ node }) {
        if (fails(JSON.stringify(node))) throw new DatabaseUnavailable('away');
        if (node.kind === 'SelectQueryNode') seen.counts++;
        return node;
      },
      transformResult: async ({ result }) => result,
    });
    return { database: { ...database, db } satisfies Database, seen };
  }
  const polled = async (box: RunningOutbox, seen: { counts: number }) => {
    const before = seen.counts;
    box.nudge();
    await vi.waitFor(() => expect(seen.counts).toBeGreaterThan(before));
  };

  it('sends a message once, and does not expire it, if its result cannot be stored before its lease ends', async () => {
    const database = await engines.open();
    let [now, away] = [Date.now(), true];
    const { transport, tries } = fakeTransport();
    const flaky = failing(database, (query) => away && query.includes('"sent"'));
    const box = openBox(flaky.database, transport, { now: () => now });
    await write(database, box, code('ada@example.com'), welcome('ben@example.com'));
    box.start();
    await vi.waitFor(() => expect(tries).toHaveLength(2));
    await vi.waitFor(() => expect(box.stats().sent).toBe(2));
    now += leaseMs + 10 * 60_000;
    await polled(box, flaky.seen);
    away = false;
    await vi.waitFor(async () => expect(await outcomes(database)).toEqual(['sent', 'sent']));
    await box.stop();
    expect(tries).toHaveLength(2);
    expect(box.stats().expired).toBe(0);
  });

  it('leaves a message to the process that sent it when the database is back after its lease', async () => {
    const place = await engines.place();
    const database = await engines.open(place);
    let now = Date.now();
    const away = { sender: false, other: true };
    const { transport, tries } = fakeTransport(() => {
      away.sender = true;
      return sent;
    });
    const flaky = failing(await engines.open(place), () => away.other);
    const sender = openBox(failing(database, () => away.sender).database, transport, { now: () => now });
    const log = { ...silent, warn: vi.fn() };
    const other = openBox(flaky.database, transport, { now: () => now, log });
    await write(database, sender, welcome('ada@example.com'));
    other.start();
    await vi.waitFor(() => expect(log.warn).toHaveBeenCalled());
    sender.start();
    await vi.waitFor(() => expect(tries).toHaveLength(1));
    now += leaseMs;
    away.other = false;
    await polled(other, flaky.seen);
    away.sender = false;
    await vi.waitFor(async () => expect(await outcomes(database)).toEqual(['sent']));
    await Promise.all([sender.stop(), other.stop()]);
    expect(tries).toHaveLength(1);
  });

  if (engines.engine === 'sqlite') return;

  it('sends a message once even if the database becomes unavailable while it is being sent', async () => {
    const database = await engines.open();
    const reached = Promise.withResolvers<void>();
    const answer = Promise.withResolvers<SendResult>();
    const { transport, tries } = fakeTransport(() => {
      reached.resolve();
      return answer.promise;
    });
    const box = openBox(database, transport);
    await write(database, box, code('ada@example.com'));
    box.start();
    await reached.promise;
    await engines.cluster().stop();
    answer.resolve(sent);
    await vi.waitFor(() => expect(database.problem()).not.toBeNull());
    await engines.cluster().start();
    await vi.waitFor(async () => expect(await outcomes(database)).toEqual(['sent']));
    await box.stop();
    expect(tries).toHaveLength(1);
  });
});

import { setTimeout } from 'node:timers/promises';
import { expect, it, vi } from 'vitest';
import { caller, elsewhere, fixture } from '../../../tests/world/accounts.ts';
import { onBothEngines } from '../../../tests/world/databases.ts';
import { limiterOf } from '../../../tests/world/limiter.ts';
import type { Database } from '../database.ts';
import type { Sender } from '../http/field-form.server.ts';
import { defaultLimits } from '../http/limits.ts';
import { deleteOldRows } from '../jobs/old-rows.ts';
import { type Logger, silent } from '../logging.ts';
import type { Message } from '../mail/model.ts';
import { createSupport } from './service.server.ts';

const fields = {
  name: 'Ada Whitlock',
  email: 'Ada@Example.com',
  phone: '2125550183',
  message: 'Where is my paper?',
};
const secret = 'a secret of the support inbox that is long enough';
const inbox = 'desk@sun.example';

onBothEngines('the support inbox', (engines) => {
  async function open(change: { log?: Logger; failing?: boolean; enqueueMs?: number } = {}) {
    const database = await engines.open();
    const clock = { now: Date.UTC(2026, 10, 20, 12) };
    const mail: Message[] = [];
    const nudged: number[] = [];
    const support = createSupport({
      database,
      secret,
      inbox,
      keepDays: 180,
      limiter: limiterOf(database, defaultLimits, () => clock.now),
      log: silent,
      now: () => clock.now,
      ...(change.log && { log: change.log }),
      outbox: {
        enqueue: async (_, message) => {
          if (change.failing) throw new Error('the outbox is away');
          if (change.enqueueMs) await setTimeout(change.enqueueMs);
          mail.push(message);
        },
        nudge: () => void nudged.push(mail.length),
      },
    });
    const sender = (more: Partial<Sender> = {}): Sender => ({
      caller: caller(),
      session: null,
      honeypot: '',
      stamp: '',
      ...more,
    });
    return { database, support, mail, nudged, clock, sender };
  }
  const rows = ({ db }: Database) => db.selectFrom('support_messages').selectAll().orderBy('created').execute();

  it('stores a message and mails it to the inbox with the reader’s address', async () => {
    const { database, support, mail, sender } = await open();
    expect(await support.take(fields, sender())).toEqual({ ok: true });
    expect(await rows(database)).toMatchObject([
      { name: 'Ada Whitlock', email: 'ada@example.com', message: 'Where is my paper?', user_id: null, held: null },
    ]);
    expect(mail).toMatchObject([{ kind: 'support', to: inbox, email: 'ada@example.com', known: false }]);
  });

  it('stores a message that is sent twice only once, but again ten minutes later', async () => {
    const { database, support, mail, clock, sender } = await open();
    for (let press = 0; press < 2; press++) expect(await support.take(fields, sender())).toEqual({ ok: true });
    expect([(await rows(database)).length, mail.length]).toEqual([1, 1]);
    await support.take({ ...fields, message: 'It came after all.' }, sender());
    clock.now += 10 * 60_000;
    await support.take(fields, sender());
    expect([(await rows(database)).length, mail.length]).toEqual([3, 3]);
  });

  it('stores a message that is sent twice at the same time only once', async () => {
    const { database, support, mail, sender } = await open({ enqueueMs: 100 });
    await Promise.all(Array.from({ length: 4 }, () => support.take(fields, sender())));
    expect([(await rows(database)).length, mail.length]).toEqual([1, 1]);
  });

  it('stores equal messages of two readers separately, and mails both at once', async () => {
    const { database, support, mail, nudged, sender } = await open();
    await support.take(fields, sender());
    await support.take({ ...fields, email: 'ben@example.com' }, sender());
    expect((await rows(database)).map(({ email }) => email).toSorted()).toEqual(['ada@example.com', 'ben@example.com']);
    expect([mail.length, nudged]).toEqual([2, [1, 2]]);
  });

  it('marks a message as from a known reader only if its address is the account’s confirmed one', async () => {
    const { database, support, mail, nudged, sender } = await open();
    const { session } = await (await fixture(database)).join('ada@example.com');
    const release = async () => {
      const [held] = await support.heldMessages();
      expect(await support.release(held?.id ?? '')).toBe(true);
    };
    await support.take({ ...fields, email: 'grace@example.com' }, sender({ session }));
    await support.take({ ...fields, email: 'grace@example.com', message: 'Held.' }, sender({ session, honeypot: 'x' }));
    await release();
    expect(nudged).toEqual([1, 2]);
    await support.take({ ...fields, message: 'Held, too.' }, sender({ session, honeypot: 'x' }));
    await database.db.updateTable('users').set({ emailVerified: 0 }).where('id', '=', session.userId).execute();
    await release();
    expect(mail).toMatchObject([
      { email: 'grace@example.com', known: false },
      { email: 'grace@example.com', known: false },
      { email: 'ada@example.com', known: false },
    ]);
  });

  it('stores no message if the outbox fails, and throws an error', async () => {
    const { database, support, sender } = await open({ failing: true });
    await expect(support.take(fields, sender())).rejects.toThrow('away');
    expect(await rows(database)).toEqual([]);
  });

  it('holds back spam without mailing it, and logs no personal data', async () => {
    const said: unknown[] = [];
    const { database, support, mail, clock, sender } = await open({
      log: { ...silent, info: (...words) => void said.push(words) },
    });
    expect(await support.take(fields, sender({ honeypot: 'spam.example' }))).toEqual({ ok: true });
    expect(await support.take(fields, sender({ stamp: support.stamp() }))).toEqual({ ok: true });
    clock.now += 1;
    expect(await support.take({ ...fields, message: 'https://a.example https://b.example' }, sender())).toEqual({
      ok: true,
    });
    expect((await rows(database)).map(({ held }) => held)).toEqual(expect.arrayContaining(['trap', 'hasty', 'links']));
    expect(mail).toEqual([]);
    expect(said).toHaveLength(3);
    expect(JSON.stringify(said)).not.toMatch(/ada@|whitlock|2125550183/i);
  });

  it('accepts links from an account only if its address is confirmed', async () => {
    const { database, support, mail, sender } = await open();
    const { session } = await (await fixture(database)).join('ada@example.com');
    const spam = { ...fields, message: 'https://a.example https://b.example' };
    await support.take(spam, sender({ session: { ...session, emailVerified: false } }));
    expect([(await rows(database)).map(({ held }) => held), mail]).toEqual([['links'], []]);
    await support.take({ ...spam, message: `${spam.message} Look.` }, sender({ session }));
    expect(mail).toHaveLength(1);
  });

  it('lists and counts held messages, and mails a released one once', async () => {
    const { database, support, mail, clock, sender } = await open();
    const { session } = await (await fixture(database)).join('ada@example.com');
    await support.take(fields, sender({ session }));
    await support.take({ ...fields, message: 'Hers, and in the trap' }, sender({ session, honeypot: 'x' }));
    clock.now += 1;
    await support.take({ ...fields, message: 'A stranger’s' }, sender({ honeypot: 'x', caller: elsewhere(1) }));
    const held = await support.heldMessages();
    expect(held).toMatchObject([
      { message: 'A stranger’s', held: 'trap', created: clock.now },
      { message: 'Hers, and in the trap', name: 'Ada Whitlock', email: 'ada@example.com', phone: '2125550183' },
    ]);
    support.start();
    await vi.waitFor(() => expect(support.stats()).toEqual({ held: 2 }));
    await support.take({ ...fields, message: 'One more' }, sender({ honeypot: 'x', caller: elsewhere(2) }));
    expect(support.stats()).toEqual({ held: 3 });
    const [stranger, hers] = held.map(({ id }) => id);
    expect(await Promise.all([support.release(hers ?? ''), support.release(hers ?? '')])).toContain(false);
    expect(await support.release(stranger ?? '')).toBe(true);
    expect(await support.release('unknown')).toBe(false);
    expect(mail.slice(1)).toMatchObject([
      { to: inbox, message: 'Hers, and in the trap', at: clock.now - 1, known: true },
      { to: inbox, message: 'A stranger’s', known: false },
    ]);
    await vi.waitFor(() => expect(support.stats()).toEqual({ held: 1 }));
    await support.stop();
  });

  it('accepts links with its own form stamp, but not with a forged or day-old one', async () => {
    const { support, mail, clock, sender } = await open();
    const stamp = support.stamp();
    clock.now += 60_000;
    const links = { ...fields, message: 'https://a.example https://b.example' };
    await support.take(links, sender({ stamp }));
    expect(mail).toHaveLength(1);
    clock.now += 25 * 3_600_000;
    await support.take(links, sender({ stamp }));
    await support.take(links, sender({ stamp: 'made-up' }));
    expect(mail).toHaveLength(1);
  });

  it('limits messages to five in ten minutes per IP address and ten in an hour per email address', async () => {
    const { support, clock, sender } = await open();
    for (let count = 0; count < 5; count++) expect(await support.take(fields, sender())).toEqual({ ok: true });
    expect(await support.take(fields, sender())).toMatchObject({ ok: false, retryAfter: 600 });
    expect(await support.take({ ...fields, email: 'b@example.com' }, sender({ caller: elsewhere(1) }))).toEqual({
      ok: true,
    });
    for (let count = 0; count < 5; count++) {
      expect(await support.take(fields, sender({ caller: elsewhere(count + 2) }))).toEqual({ ok: true });
    }
    expect(await support.take(fields, sender({ caller: elsewhere(9) }))).toMatchObject({ ok: false });
    clock.now += 3_600_000;
    expect(await support.take(fields, sender())).toEqual({ ok: true });
  });

  it('accepts a signed-in reader’s messages even if others used up the limit of the reader’s email address', async () => {
    const { database, support, sender } = await open();
    const { session } = await (await fixture(database)).join('ada@example.com');
    for (let count = 0; count < 11; count++) await support.take(fields, sender({ caller: elsewhere(count) }));
    expect(await support.take(fields, sender({ caller: elsewhere(50) }))).toMatchObject({ ok: false });
    for (let count = 0; count < 10; count++) {
      expect(await support.take(fields, sender({ session, caller: elsewhere(100 + count) }))).toEqual({ ok: true });
    }
    // With any address, it is the same reader.
    const other = { ...fields, email: 'work@example.com' };
    expect(await support.take(other, sender({ session, caller: elsewhere(150) }))).toMatchObject({ ok: false });
  });

  it('exports a reader’s messages, deletes them with the account, and deletes all after 180 days', async () => {
    const { database, support, clock, sender } = await open();
    const site = await fixture(database);
    const { session } = await site.join('ada@example.com');
    await support.take(fields, sender({ caller: elsewhere(1) }));
    clock.now += 1;
    await support.take({ ...fields, email: 'work@example.com', message: 'Mine too.' }, sender({ session }));
    await support.take({ ...fields, email: 'eve@example.com', message: 'Not hers.' }, sender({ caller: elsewhere(2) }));
    await support.take({ ...fields, message: 'Held.' }, sender({ session, honeypot: 'x' }));
    const own = JSON.stringify(await support.personalData.export(session));
    expect(own).toMatch(/Where is my paper\?.*Mine too\./);
    expect(own).not.toContain('Not hers');
    // An account with an unconfirmed address gets no messages that were sent from that address.
    const stranger = { ...session, userId: 'nobody', emailVerified: false };
    expect(await support.personalData.export(stranger)).toEqual({ support_messages: [] });
    await support.personalData.erase(stranger, null);
    expect(await rows(database)).toHaveLength(4);
    await support.personalData.erase(session, null);
    expect((await rows(database)).map(({ message }) => message)).toEqual(['Not hers.']);
    clock.now += 179 * 24 * 3_600_000;
    await deleteOldRows(support.oldRows);
    expect(await rows(database)).toHaveLength(1);
    clock.now += 2 * 24 * 3_600_000;
    await deleteOldRows(support.oldRows);
    expect(await rows(database)).toEqual([]);
  });
});

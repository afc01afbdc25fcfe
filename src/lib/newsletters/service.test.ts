import { expect, it } from 'vitest';
import { fixture } from '../../../tests/world/accounts.ts';
import { onBothEngines } from '../../../tests/world/databases.ts';
import type { AccountsTransaction } from '../database.ts';
import type { Message, NewsletterIssue } from '../mail/model.ts';
import { createNewsletters } from './service.server.ts';

const secret = 'a secret of the newsletters that is long enough';
const issue = (day: string): NewsletterIssue => ({
  letter: 'Morning Sun',
  slug: 'morning',
  day,
  stories: [{ title: 'A crack', standfirst: '', path: '/article/a', kicker: '', byline: '', minutes: 3 }],
});
const morning = () => issue('today');
type Letter = Extract<Message, { kind: 'newsletter' }>;

onBothEngines('the newsletters', (engines) => {
  async function open(full = () => 0) {
    const database = await engines.open();
    const site = await fixture(database);
    const clock = { now: Date.parse('2026-11-20T12:00:00Z') };
    const mail: Letter[] = [];
    const nudged: number[] = [];
    const outbox = {
      // As the outbox does: a message that isn't committed doesn't exist.
      enqueue: async (tx: AccountsTransaction, message: Message) => {
        await tx
          .insertInto('limits')
          .values({ key: `mail ${mail.length}`, since: 0, until: 0, count: 0 })
          .execute();
        mail.push(message as Letter);
      },
      nudge: () => void nudged.push(mail.length),
      waiting: async () => ({ count: full(), oldest: null }),
    };
    const create = () =>
      createNewsletters({ database, outbox, secret, siteUrl: 'https://sun.example', now: () => clock.now });
    const join = async (name: string, choices: readonly string[] = ['morning']) => {
      const { session } = await site.join(`${name}@example.com`);
      await letters.choose(session, choices);
      return session;
    };
    const letters = create();
    return { database, site, letters, create, mail, nudged, clock, join };
  }

  it('save a reader’s choices, ignoring unknown newsletters', async () => {
    const { letters, join } = await open();
    const ada = await join('ada', ['evening', 'made-up', 'offers']);
    expect(await letters.choices(ada.userId)).toEqual(['evening', 'offers']);
    await letters.add(ada, ['morning', 'evening', "'; drop table users"]);
    expect(await letters.choices(ada.userId)).toEqual(['morning', 'evening', 'offers']);
    await letters.choose(ada, ['morning']);
    expect(await letters.personalData.export(ada)).toMatchObject({ mail_choices: [{ choice: 'morning' }] });
    await letters.choose(ada, []);
    expect(await letters.choices(ada.userId)).toEqual([]);
  });

  it('save one of two concurrent choices, never a mix of both', async () => {
    const { letters, join } = await open();
    const ada = await join('ada', []);
    for (let round = 0; round < 10; round++) {
      await Promise.all([letters.choose(ada, ['morning']), letters.choose(ada, ['evening'])]);
      expect(await letters.choices(ada.userId)).toHaveLength(1);
    }
  });

  it('are sent once a day to each reader who chose them and has a confirmed address', async () => {
    const { database, letters, mail, clock, join } = await open();
    for (const name of ['ada', 'ben', 'cleo']) await join(name);
    await join('dora', ['evening']);
    const eve = await join('eve');
    await database.db.updateTable('users').set({ emailVerified: 0 }).where('id', '=', eve.userId).execute();
    expect(await letters.send('morning', morning, { batch: 2 })).toEqual({ readers: 3, finished: true });
    expect(mail.map(({ to }) => to).toSorted()).toEqual(['ada@example.com', 'ben@example.com', 'cleo@example.com']);
    expect(mail[0]).toMatchObject({ kind: 'newsletter', letter: 'Morning Sun', minutes: 720 });
    expect(new Set(mail.map(({ unsubscribe }) => unsubscribe)).size).toBe(3);
    // Sent again on the same day, it is the same issue, and no reader gets it twice.
    expect(await letters.send('morning', () => issue('another'))).toEqual({ readers: 3, finished: true });
    expect(mail).toHaveLength(3);
    clock.now += 24 * 3_600_000;
    expect(await letters.send('morning', morning)).toEqual({ readers: 3, finished: true });
    expect(mail).toHaveLength(6);
  });

  it('are dated in the newspaper’s time zone, even when it is already the next day in London', async () => {
    const { letters, mail, clock, join } = await open();
    await join('ada', ['evening']);
    const days: string[] = [];
    const compose = (day: string) => {
      days.push(day);
      return issue(day);
    };
    for (const time of ['2026-11-20T23:30:00Z', '2026-11-21T01:30:00Z']) {
      clock.now = Date.parse(time);
      expect(await letters.send('evening', compose)).toEqual({ readers: 1, finished: true });
    }
    expect(days).toEqual(['2026-11-20']);
    expect(mail).toHaveLength(1);
  });

  it('skip a reader with an invalid address, and are sent in batches', async () => {
    const { database, letters, mail, nudged, join } = await open();
    for (const name of ['ada', 'ben', 'cleo', 'dora']) {
      const { userId } = await join(name);
      if (name === 'ben')
        await database.db.updateTable('users').set({ email: 'ben' }).where('id', '=', userId).execute();
    }
    expect(await letters.send('morning', morning, { batch: 2 })).toEqual({ readers: 3, finished: true });
    expect(mail.map(({ to }) => to).toSorted()).toEqual(['ada@example.com', 'cleo@example.com', 'dora@example.com']);
    expect(nudged.at(-1)).toBe(3);
    expect(nudged.length).toBeGreaterThan(1);
  });

  it('wait while 1,999 messages are in the outbox, but an alert does not', async () => {
    const { letters, mail, join } = await open(() => 1999);
    await join('ada', ['breaking', 'morning']);
    expect(await letters.sendAlert('a1', issue('today'), () => true)).toEqual({ readers: 1, finished: true });
    const stopping = new AbortController();
    const letter = await letters.send('morning', morning, {
      signal: stopping.signal,
      onProgress: () => stopping.abort(),
    });
    expect([letter, mail.length]).toEqual([{ readers: 0, finished: false }, 1]);
  });

  it('resume where an aborted run stopped, and concurrent runs share the readers', async () => {
    const { letters, create, mail, join } = await open();
    for (let count = 0; count < 7; count++) await join(`reader-${count}`);
    const stopping = new AbortController();
    const broken = await letters.send('morning', morning, {
      batch: 2,
      signal: stopping.signal,
      onProgress: () => stopping.abort(),
    });
    expect(broken).toEqual({ readers: 2, finished: false });
    // A run that addresses no further reader reports those of earlier runs.
    const stopped = { signal: AbortSignal.abort() };
    expect(await create().send('morning', morning, stopped)).toEqual({ readers: 2, finished: false });
    const both = await Promise.all([
      create().send('morning', () => issue('not composed again'), { batch: 1 }),
      create().send('morning', morning, { batch: 1 }),
    ]);
    expect(both).toEqual([
      { readers: 7, finished: true },
      { readers: 7, finished: true },
    ]);
    expect(new Set(mail.map(({ to }) => to)).size).toBe(7);
    expect(mail).toHaveLength(7);
    expect(new Set(mail.map(({ day }) => day))).toEqual(new Set(['today']));
  });

  it('wait while 500 messages are in the outbox', async () => {
    let count = 500;
    const { letters, mail, join } = await open(() => count);
    await join('ada');
    const waited: boolean[] = [];
    const done = await letters.send('morning', morning, {
      onProgress: (_, waiting) => {
        waited.push(waiting);
        expect(mail.length).toBe(waiting ? 0 : 1);
        count = 0;
      },
    });
    expect([done?.finished, waited]).toEqual([true, [true, false]]);
  });

  it('send nothing without stories, and can still be sent later that day', async () => {
    const { letters, mail, join } = await open();
    await join('ada');
    expect(await letters.send('morning', () => null)).toBeNull();
    expect(await letters.send('morning', morning)).toEqual({ readers: 1, finished: true });
    expect(mail).toHaveLength(1);
  });

  it('can be left and rejoined with a token for one reader and one newsletter', async () => {
    const { letters, mail, clock, join } = await open();
    const ada = await join('ada', ['morning', 'evening']);
    const ben = await join('ben');
    await letters.send('morning', morning);
    const link = new URL(mail.find(({ to }) => to.startsWith('ada'))?.unsubscribe ?? '');
    expect(link.pathname).toBe('/account/unsubscribe');
    // Random text can contain short names by chance.
    expect(link.href).not.toMatch(/ada%40|example\.com|@/);
    const token = link.searchParams.get('t') ?? '';
    expect(letters.peek(token)).toBe('morning');
    expect(await letters.choices(ada.userId)).toEqual(['morning', 'evening']);
    expect(await letters.unsubscribe(token)).toBe('morning');
    expect(await letters.unsubscribe(token)).toBe('morning');
    expect([await letters.choices(ada.userId), await letters.choices(ben.userId)]).toEqual([['evening'], ['morning']]);
    expect(await letters.resubscribe(token)).toBe('morning');
    expect(await letters.choices(ada.userId)).toEqual(['morning', 'evening']);
    for (const forged of ['', 'x', `${token}A`, token.slice(1), link.href]) {
      expect([letters.peek(forged), await letters.unsubscribe(forged), await letters.resubscribe(forged)]).toEqual([
        null,
        null,
        null,
      ]);
    }
    // The law grants a reader 30 days.
    clock.now += 31 * 24 * 3_600_000;
    expect(letters.peek(token)).toBe('morning');
    clock.now += 370 * 24 * 3_600_000;
    expect(await letters.unsubscribe(token)).toBeNull();
  });

  it('forget a reader’s choices with the account, after which an old link changes nothing', async () => {
    const { database, site, letters, mail, join } = await open();
    const ada = await join('ada');
    await letters.send('morning', morning);
    await site.accounts.forget(ada, { address: '203.0.113.1', userAgent: null });
    expect(await database.db.selectFrom('mail_choices').selectAll().execute()).toEqual([]);
    const token = new URL(mail[0]?.unsubscribe ?? '').searchParams.get('t') ?? '';
    expect([await letters.unsubscribe(token), await letters.resubscribe(token)]).toEqual(['morning', 'morning']);
    expect(await database.db.selectFrom('mail_choices').selectAll().execute()).toEqual([]);
  });
});

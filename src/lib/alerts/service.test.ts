import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { type Push, startPush } from '../../../sandbox/push/push.ts';
import { lifeOf } from '../../../tests/fixtures/dying.ts';
import { type Fixture, fixture, secret, siteUrl } from '../../../tests/world/accounts.ts';
import { onBothEngines } from '../../../tests/world/databases.ts';
import type { AccountsTransaction, Database } from '../database.ts';
import { silent } from '../logging.ts';
import type { Message } from '../mail/model.ts';
import { createNewsletters } from '../newsletters/service.server.ts';
import type { Alert } from './model.ts';
import { createPush } from './onesignal.server.ts';
import { type AlertsOptions, createAlerts, type RunningAlerts } from './service.server.ts';

let vendor: Push;
beforeAll(async () => {
  vendor = await startPush();
});
afterAll(() => vendor.stop());
const mode = (name: string) => fetch(`${vendor.access.url}/mode`, { method: 'PUT', body: name });
const pushed = async (): Promise<Record<string, unknown>[]> => (await fetch(`${vendor.access.url}/sent`)).json();
/** Notifications of one alert. */
const pushesOf = async (id: string) => (await pushed()).filter((each) => each.idempotency_key === id);

const now = Date.parse('2026-11-20T12:00:00Z');
let made = 0;
let queued = 0;
const alertOf = (part: Partial<Alert> = {}): Alert => ({
  id: `00000000-0000-4000-8000-${String(++made).padStart(12, '0')}`,
  text: 'The bridge is open',
  href: '/article/bridge-opens',
  starts: '2026-11-20T12:00:00Z',
  until: '2026-11-20T16:00:00Z',
  mail: true,
  push: true,
  ...part,
});

onBothEngines('an alert', (engines) => {
  let database: Database;
  let site: Fixture;
  let shown: Alert | null;
  let running: RunningAlerts[];
  let mail: Message[];
  let time: number;

  beforeEach(async () => {
    database = await engines.open();
    site = await fixture(database);
    shown = null;
    running = [];
    time = now;
    await mode('ok');
    const letters = newsletters(database);
    for (const name of ['ada', 'ben', 'cleo']) {
      const { session } = await site.join(`${name}@example.com`);
      await letters.choose(session, name === 'cleo' ? ['morning'] : ['breaking']);
    }
    mail = site.mail;
    mail.length = 0;
  });
  afterEach(async () => {
    await Promise.all(running.map((each) => each.stop()));
  });

  const newsletters = (on: Database) => {
    const outbox = {
      // As the outbox does: a message that isn't committed doesn't exist.
      enqueue: async (tx: AccountsTransaction, message: Message) => {
        const key = `mail ${++queued} ${message.to}`;
        await tx.insertInto('limits').values({ key, since: 0, until: 0, count: 0 }).execute();
        mail.push(message);
      },
      nudge: () => {},
      waiting: async () => ({ count: 0, oldest: null }),
    };
    return createNewsletters({ database: on, outbox, secret, siteUrl, now: () => time });
  };
  const push = (key = vendor.access.key) =>
    createPush(
      { ...vendor.access, key, segment: 'Total Subscriptions' },
      { url: siteUrl, name: 'The Sun' },
      () => time,
    );
  /** A process of the site. */
  function start(part: Partial<AlertsOptions> = {}): RunningAlerts {
    let rounds = 0;
    const alerts = createAlerts({
      database,
      newsletters: newsletters(part.database ?? database),
      push: push(),
      shown: () => shown,
      syncedAt: () => `round ${++rounds}`,
      log: silent,
      now: () => time,
      everyMs: 10,
      ...part,
    });
    running.push(alerts);
    alerts.start();
    return alerts;
  }
  /** The addresses that got mail, once for each message. */
  async function addresses(): Promise<string[]> {
    const rows = await database.db.selectFrom('limits').select('key').where('key', 'like', 'mail %').execute();
    return rows.map(({ key }) => key.split(' ')[2] ?? '').toSorted();
  }
  const forgetMail = () => database.db.deleteFrom('limits').where('key', 'like', 'mail %').execute();
  const stateOf = async (alerts: RunningAlerts, id: string) => {
    const { mail: mailed, push: sent } = await alerts.report(id);
    return [mailed.state, mailed.readers, sent.state];
  };

  it('is sent once by email to each reader who asked for it, and once as a push notification', async () => {
    const alert = alertOf();
    const alerts = start();
    shown = alert;
    alerts.check();
    await vi.waitFor(async () => expect(await stateOf(alerts, alert.id)).toEqual(['sent', 2, 'sent']));
    expect(await addresses()).toEqual(['ada@example.com', 'ben@example.com']);
    expect(mail[0]).toMatchObject({
      kind: 'newsletter',
      letter: 'Breaking News',
      slug: 'breaking',
      alert: { id: alert.id, starts: alert.starts },
      minutes: 60,
      stories: [{ title: 'The bridge is open', path: '/article/bridge-opens' }],
      unsubscribe: expect.stringMatching(/\/account\/unsubscribe\?t=/),
    });
    expect(await pushesOf(alert.id)).toEqual([
      expect.objectContaining({
        contents: { en: 'The bridge is open' },
        web_url: `${siteUrl}/article/bridge-opens`,
        ttl: 4 * 3600,
        included_segments: ['Total Subscriptions'],
      }),
    ]);
  });

  it('is sent once when four processes check it repeatedly', async () => {
    const alert = alertOf();
    shown = alert;
    const processes = Array.from({ length: 4 }, () => start());
    for (const each of [...processes, ...processes]) each.check();
    for (const each of processes)
      await vi.waitFor(async () => expect(await stateOf(each, alert.id)).toEqual(['sent', 2, 'sent']));
    const late = start();
    late.check();
    await vi.waitFor(async () => expect(await stateOf(late, alert.id)).toEqual(['sent', 2, 'sent']));
    expect(await addresses()).toEqual(['ada@example.com', 'ben@example.com']);
    expect(await pushesOf(alert.id)).toHaveLength(1);
  });

  it('is sent once even if the process dies at any step', { timeout: 120_000 }, async () => {
    for (let last = 1; ; last++) {
      const alert = alertOf();
      shown = alert;
      await forgetMail();
      const life = lifeOf(last);
      const mortal = start({ database: life.database(database) });
      mortal.check();
      await vi.waitFor(async () =>
        expect(life.dead || (await stateOf(mortal, alert.id)).join() === 'sent,2,sent').toBe(true),
      );
      const survived = !life.dead;
      await mortal.stop();
      // The time after which a dead process loses its claim.
      time += 61_000;
      const next = start();
      next.check();
      await vi.waitFor(async () => expect(await stateOf(next, alert.id)).toEqual(['sent', 2, 'sent']));
      await next.stop();
      expect(await addresses()).toEqual(['ada@example.com', 'ben@example.com']);
      expect(await pushesOf(alert.id)).toHaveLength(1);
      if (survived) break;
    }
  });

  it('is requested again when the push service’s response is lost, and pushed once', async () => {
    const alert = alertOf({ mail: false });
    await mode('lost');
    const alerts = start();
    shown = alert;
    alerts.check();
    await vi.waitFor(async () =>
      expect((await alerts.report(alert.id)).push).toMatchObject({
        state: 'sending',
        detail: expect.stringMatching(/./),
      }),
    );
    await mode('down');
    time += 10_000;
    await vi.waitFor(async () => expect((await alerts.report(alert.id)).push.detail).toBe('Service Unavailable'));
    await mode('ok');
    time += 61_000;
    await vi.waitFor(async () => expect(await stateOf(alerts, alert.id)).toEqual(['none', null, 'sent']));
    expect(await pushesOf(alert.id)).toHaveLength(1);
  });

  it('whose push was never confirmed is reported as unclear, and not sent again after it is withdrawn', async () => {
    const alert = alertOf({ mail: false });
    await mode('lost');
    const alerts = start();
    shown = alert;
    alerts.check();
    await vi.waitFor(async () => expect((await alerts.report(alert.id)).push.detail).not.toBe(''));
    shown = null;
    await mode('ok');
    time += 61_000;
    alerts.check();
    expect((await alerts.report(alert.id)).push).toMatchObject({ state: 'unclear' });
    expect(await pushesOf(alert.id)).toHaveLength(1);
  });

  it('whose push was never confirmed is also unclear when it is withdrawn during a check', async () => {
    const alert = alertOf({ mail: false });
    await mode('lost');
    let withdraws = false;
    const now = () => {
      // A check asks for the time after it has seen the alert.
      if (withdraws) shown = null;
      return time;
    };
    const alerts = start({ now });
    shown = alert;
    alerts.check();
    await vi.waitFor(async () => expect((await alerts.report(alert.id)).push.detail).not.toBe(''));
    await mode('ok');
    time += 61_000;
    withdraws = true;
    await vi.waitFor(() => expect(shown).toBeNull());
    await alerts.stop();
    expect((await alerts.report(alert.id)).push).toMatchObject({ state: 'unclear' });
  });

  it.each([
    ['a wrong key', { key: 'wrong-key' }, 'ok', /ONESIGNAL_API_KEY/],
    ['no subscribed browsers', {}, 'empty', /not subscribed/],
  ])(
    'is refused by the push service with %s, and the report gives the reason',
    async (_why, { key }: { key?: string }, how, words) => {
      const alert = alertOf({ mail: false });
      await mode(how);
      const alerts = start({ push: push(key) });
      shown = alert;
      alerts.check();
      await vi.waitFor(async () =>
        expect((await alerts.report(alert.id)).push).toMatchObject({
          state: 'refused',
          detail: expect.stringMatching(words),
        }),
      );
      await mode('ok');
      time += 61_000;
      alerts.check();
      expect(await pushesOf(alert.id)).toHaveLength(0);
    },
  );

  it('that is withdrawn while emails go out is reported as stopped after one reader', async () => {
    const alert = alertOf({ push: false });
    const letters = newsletters(database);
    let asked = 0;
    shown = alert;
    const alerts = start({
      newsletters: {
        ...letters,
        sendAlert: (id, issue, isWanted) =>
          letters.sendAlert(id, issue, () => ++asked <= 1 && isWanted(), { batch: 1 }),
      },
    });
    await vi.waitFor(async () => expect(asked).toBeGreaterThan(1));
    shown = null;
    expect((await alerts.report(alert.id)).mail).toMatchObject({ state: 'stopped', readers: 1 });
    expect(await addresses()).toHaveLength(1);
  });

  it('has its own push report, unaffected by the alert before or after it', async () => {
    const [first, second] = [alertOf({ mail: false }), alertOf({ mail: false })];
    await mode('empty');
    const alerts = start();
    const pushOf = async ({ id }: Alert) => (await alerts.report(id)).push;
    shown = first;
    await vi.waitFor(async () => expect(await pushOf(first)).toMatchObject({ state: 'refused' }));
    const before = await pushOf(first);
    await mode('down');
    shown = second;
    await vi.waitFor(async () =>
      expect(await pushOf(second)).toMatchObject({ state: 'sending', detail: expect.stringMatching(/./) }),
    );
    expect(await pushOf(first)).toEqual(before);
    await mode('ok');
    time += 61_000;
    await vi.waitFor(async () => expect(await pushOf(second)).toMatchObject({ state: 'sent', detail: '' }));
    expect(await pushOf(first)).toEqual(before);
  });

  it('that is withdrawn reaches no further readers until it is shown again', async () => {
    const alert = alertOf({ push: false });
    const letters = newsletters(database);
    let withdraws = true;
    shown = alert;
    const alerts = start({
      newsletters: {
        ...letters,
        sendAlert: (id, issue, isWanted, options) =>
          letters.sendAlert(id, issue, isWanted, {
            ...options,
            batch: 1,
            onProgress: () => {
              if (withdraws) shown = null;
            },
          }),
      },
    });
    await vi.waitFor(async () => expect(await stateOf(alerts, alert.id)).toEqual(['stopped', 1, 'none']));
    expect(await addresses()).toHaveLength(1);
    withdraws = false;
    shown = alert;
    await vi.waitFor(async () => expect(await stateOf(alerts, alert.id)).toEqual(['sent', 2, 'none']));
    expect(await addresses()).toEqual(['ada@example.com', 'ben@example.com']);
  });

  it('about another site links to our home page in its email, dated in the newspaper’s time zone', async () => {
    const alert = alertOf({ push: false, href: 'https://other.example/live', starts: '2026-11-21T02:00:00Z' });
    const alerts = start();
    shown = alert;
    alerts.check();
    await vi.waitFor(async () => expect(await stateOf(alerts, alert.id)).toEqual(['sent', 2, 'none']));
    expect(mail[0]).toMatchObject({ day: 'Friday, November 20, 2026', stories: [{ path: '/' }] });
  });

  it('is not pushed again by a process that starts after the push service has responded', async () => {
    const alert = alertOf({ mail: false });
    let asked = 0;
    const counted = (sendPush: ReturnType<typeof push>) => (each: Alert) => {
      asked++;
      return sendPush(each);
    };
    shown = alert;
    for (const [how, state] of [
      ['empty', 'refused'],
      ['ok', 'refused'],
    ] as const) {
      await mode(how);
      const alerts = start({ push: counted(push()) });
      alerts.check();
      await vi.waitFor(async () => expect((await alerts.report(alert.id)).push.state).toBe(state));
      // `stop` waits for the running check.
      await alerts.stop();
      time += 61_000;
    }
    expect(asked).toBe(1);
  });

  it('is not sent until WordPress has confirmed it since the start', async () => {
    const alert = alertOf();
    // A round that ended before this process started, in this process or in another one of the cluster.
    let syncedAt = '2026-11-21T11:00:00.000Z';
    shown = alert;
    const alerts = start({ syncedAt: () => syncedAt });
    alerts.check();
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(await stateOf(alerts, alert.id)).toEqual(['none', null, 'none']);
    syncedAt = '2026-11-21T12:00:00.000Z';
    await vi.waitFor(async () => expect(await stateOf(alerts, alert.id)).toEqual(['sent', 2, 'sent']));
  });

  it('is sent only through the channels that the editor chose and the site has', async () => {
    const alert = alertOf({ mail: false, push: false });
    shown = alert;
    const alerts = start({ push: null, newsletters: null });
    alerts.check();
    expect(await stateOf(alerts, alert.id)).toEqual(['off', null, 'off']);
    const both = start();
    both.check();
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(await stateOf(both, alert.id)).toEqual(['none', null, 'none']);
    expect(await addresses()).toEqual([]);
  });
});

it('an unreadable push response counts as refused for 400 and 404, as unclear for 409, 429 and 5xx', async () => {
  const statuses = [500, 502, 429, 409, 400, 404];
  const kinds: string[] = [];
  for (const status of statuses) {
    vi.stubGlobal('fetch', async () => new Response('<html>', { status }));
    kinds.push(
      (await createPush({ ...vendor.access, segment: 'x' }, { url: siteUrl, name: 'The Sun' })(alertOf())).kind,
    );
  }
  vi.unstubAllGlobals();
  expect(kinds).toEqual(['unclear', 'unclear', 'unclear', 'unclear', 'refused', 'refused']);
});

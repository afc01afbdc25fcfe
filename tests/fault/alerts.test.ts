/** An alert on real processes: serving workers, two nodes on one PostgreSQL, webhooks twice and out of order, `kill -9` at any moment. */
import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Mailbox, startMailbox } from '../../sandbox/mailbox/mailbox.ts';
import type { StoredMessage } from '../../sandbox/mailbox/store.ts';
import { type Push, startPush } from '../../sandbox/push/push.ts';
import { sendingMs } from '../../src/lib/alerts/service.server.ts';
import { leaseMs } from '../../src/lib/jobs/queue.server.ts';
import { Browser } from '../fixtures/account-site.ts';
import { openStream, type Stream } from '../fixtures/event-stream.ts';
import { liveFields } from '../fixtures/live-story.ts';
import { type Answer, type Paper, ready, startPaper, until, webhookRequest } from '../fixtures/paper.ts';
import { firstOf, workersOf } from '../fixtures/workers.ts';
import { type SharedPostgres, sharedPostgres } from '../world/shared-databases.ts';

const alertOf = (text: string, part: object = {}) => ({
  id: randomUUID(),
  text,
  link: '/article/story-1',
  starts: new Date(Date.now() - 1000).toISOString().replace(/\.\d+/, ''),
  until: new Date(Date.now() + 3_600_000).toISOString().replace(/\.\d+/, ''),
  mail: false,
  push: false,
  ...part,
});
type Wire = ReturnType<typeof alertOf>;

const hook = (event: 'publish' | 'unpublish', { id }: Wire) => ({ event, type: 'alerts', id: 1, slug: id });
const paths = ['/article/story-1', '/', '/latest', '/about', '/search?q=story', '/no-such-page'];

interface Report {
  readonly shown: string | null;
  readonly mail: { readonly state: string; readonly readers: number | null };
  readonly push: { readonly state: string };
}

/** Reports as the plugin does. */
async function report(paper: Paper, alert: Wire): Promise<Report> {
  const request = webhookRequest({ event: 'test', type: 'alerts', id: 1, slug: alert.id });
  return JSON.parse((await paper.ask('/api/v1/alerts/report', request)).text) as Report;
}

describe('an alert on serving workers', () => {
  const count = 3;
  let paper: Paper;
  beforeAll(async () => {
    paper = await startPaper({ WORKERS: String(count) });
    await ready(paper);
    const serving = (): number => paper.output().split('A worker serves cached pages').length - 1;
    await until(() => serving() >= count - 1, paper.output);
  });
  afterAll(() => paper?.close());

  /** Requests over separate connections, which the supervisor spreads over the workers. */
  const askAll = (path: string, headers: Record<string, string> = {}): Promise<Answer[]> =>
    Promise.all(
      Array.from({ length: 3 * count }, () => paper.ask(path, { headers: { connection: 'close', ...headers } })),
    );
  const texts = async (path: string) => [...new Set((await askAll(path)).map(({ text }) => text))];

  it('is on every worker’s pages when the webhook is answered, in every encoding, and removed as quickly', async () => {
    const before = new Map<string, string[]>();
    const beganReading = performance.now();
    for (const path of paths) before.set(path, await texts(path));
    const readingMs = performance.now() - beganReading;
    const plain = await paper.ask('/article/story-1', { headers: { 'accept-encoding': 'br' } });
    const renders = await paper.metric('broadsheet_renders_total');

    const alert = alertOf('The bridge is open');
    paper.wordpress.alert = alert;
    const began = performance.now();
    expect((await paper.deliver(hook('publish', alert))).status).toBe(200);
    for (const encoding of ['br', 'gzip', 'identity']) {
      const answers = await askAll('/article/story-1', { 'accept-encoding': encoding });
      expect(answers.filter(({ text }) => !text.includes('The bridge is open'))).toEqual([]);
      expect(new Set(answers.map(({ headers }) => headers.etag)).size).toBe(1);
    }
    const ms = performance.now() - began;
    // Only the fragment was rendered. On an idle machine this takes 0.1 s, on a busy one longer, as the requests before.
    expect((await paper.metric('broadsheet_renders_total')) - renders).toBeLessThanOrEqual(1);
    expect(ms).toBeLessThan(Math.max(10_000, 10 * readingMs));
    for (const path of paths) for (const text of await texts(path)) expect(text.split('data-alert=')).toHaveLength(2);

    const shown = await paper.ask('/article/story-1', { headers: { 'accept-encoding': 'br' } });
    const ask = (etag: unknown) =>
      paper.ask('/article/story-1', { headers: { 'accept-encoding': 'br', 'if-none-match': String(etag) } });
    expect(shown.headers['content-security-policy']).toMatch(/script-src [^;]*'sha256-/);
    expect((await ask(plain.headers.etag)).status).toBe(200);
    expect((await ask(shown.headers.etag)).status).toBe(304);

    paper.wordpress.alert = null;
    expect((await paper.deliver(hook('unpublish', alert))).status).toBe(200);
    for (const path of ['/article/story-1', '/', '/latest', '/about'])
      expect(await texts(path)).toEqual(before.get(path));
    expect((await ask(shown.headers.etag)).status).toBe(200);
    expect((await ask(plain.headers.etag)).status).toBe(304);
  });

  it('stays on the pages while a killed writer restarts, and a restarted worker shows it too', async () => {
    const alert = alertOf('Still open');
    paper.wordpress.alert = alert;
    expect((await paper.deliver(hook('publish', alert))).status).toBe(200);
    await askAll('/article/story-1');
    const { writer, serving } = workersOf(paper.site()?.pid);
    process.kill(firstOf(writer), 'SIGKILL');
    await until(() => !workersOf(paper.site()?.pid).writer.includes(firstOf(writer)));
    for (const text of await texts('/article/story-1')) expect(text).toContain('Still open');
    process.kill(firstOf(serving), 'SIGKILL');
    await until(() => {
      const now = workersOf(paper.site()?.pid);
      return now.writer.length === 1 && now.serving.length === count - 1 && !now.serving.includes(firstOf(serving));
    });
    await until(async () => (await texts('/readyz')).every((text) => text.includes('"ready":true')), paper.output);
    for (const text of await texts('/article/story-1')) expect(text).toContain('Still open');
  });

  it('reaches a live story’s open pages on all workers, and stays there when the writer is killed', async () => {
    paper.edit(2, liveFields());
    expect((await paper.deliver({ event: 'update', type: 'articles', id: 2, slug: 'story-2' })).status).toBe(200);
    const alert = alertOf('The count is over');
    const streams: Stream[] = [];
    const ended = new Set<Stream>();
    // Connections are spread over the workers, which learn of a live story one after another.
    await until(async () => {
      const stream = await openStream(paper.port(), '/live/2');
      if (stream.status !== 200) return false;
      streams.push(stream);
      void stream.ended.then(() => ended.add(stream));
      return streams.length === 3 * count;
    }, paper.output);
    const told = (what: (data: string) => boolean) =>
      until(() => {
        const open = streams.filter((stream) => !ended.has(stream));
        return open.every(({ events }) => what(events.findLast(({ name }) => name === 'alert')?.data ?? ''));
      }, paper.output);
    paper.wordpress.alert = alert;
    expect((await paper.deliver(hook('publish', alert))).status).toBe(200);
    await told((data) => data.includes('The count is over'));

    const { writer } = workersOf(paper.site()?.pid);
    process.kill(firstOf(writer), 'SIGKILL');
    await until(() => {
      const now = workersOf(paper.site()?.pid).writer;
      return now.length === 1 && now[0] !== writer[0];
    });
    await until(async () => (await texts('/readyz')).every((text) => text.includes('"ready":true')), paper.output);
    // The writer's own streams have ended with it; a browser reconnects.
    const lasting = streams.filter((stream) => !ended.has(stream));
    expect(lasting.length).toBeGreaterThan(0);
    const events = () => lasting.map((stream) => stream.events.filter(({ name }) => name === 'alert').length);
    const before = events();

    paper.wordpress.alert = null;
    expect((await paper.deliver(hook('unpublish', alert))).status).toBe(200);
    await told((data) => data === '-');
    // It was sent once, by the withdrawal.
    expect(events()).toEqual(before.map((each) => each + 1));
    expect((await paper.ask('/fragments/alert')).text.trim()).toBe('');
    const { headers, status } = await paper.ask('/fragments/alert');
    expect(status).toBe(200);
    const again = await paper.ask('/fragments/alert', { headers: { 'if-none-match': String(headers.etag) } });
    expect(again.status).toBe(304);
    for (const stream of streams) stream.close();
  });

  it('has a delivery report that only WordPress’s signed requests can read', async () => {
    const question = { event: 'test', type: 'alerts', id: 1, slug: randomUUID() };
    const ask = (...given: Parameters<typeof webhookRequest>) =>
      paper.ask('/api/v1/alerts/report', webhookRequest(...given));
    expect(JSON.parse((await ask(question)).text)).toMatchObject({
      ok: true,
      mail: { state: 'off' },
      push: { state: 'off' },
    });
    const answers = [
      ask(question, { secret: 'another plugin’s' }),
      ask(question, { timestamp: Math.floor(Date.now() / 1000) - 600 }),
      ask({ ...question, type: 'articles' }),
      ask({}, { body: '{' }),
      ask({}, { body: JSON.stringify({ ...question, slug: 'x'.repeat(5000) }) }),
      paper.ask('/api/v1/alerts/report'),
    ];
    expect((await Promise.all(answers)).map(({ status }) => status)).toEqual([401, 412, 422, 422, 413, 405]);
  });

  it('disappears at its end time on all workers', async () => {
    const alert = alertOf('Soon over', { until: new Date(Date.now() + 10_000).toISOString().replace(/\.\d+/, '') });
    paper.wordpress.alert = alert;
    expect((await paper.deliver(hook('publish', alert))).status).toBe(200);
    for (const text of await texts('/article/story-1')) expect(text).toContain('data-alert=');
    await until(
      async () => (await texts('/article/story-1')).every((text) => !text.includes('data-alert=')),
      paper.output,
    );
  });
});

/** Milliseconds after which a job counts as abandoned: a living node takes less than one second. */
const abandonedMs = 15_000;
/** Expires leases on emails and pushes that are older than {@link abandonedMs}, as if time had passed. */
async function endLeases(database: pg.Client): Promise<void> {
  const now = Date.now();
  const jobs = 'update jobs set due = $1 where claim is not null and ended is null and due > $1 and due <= $2';
  await database.query(jobs, [now, now + leaseMs - abandonedMs]);
  const pushes = "update alert_pushes set due = $1 where state = 'waiting' and due > $1 and due <= $2";
  await database.query(pushes, [now, now + sendingMs - abandonedMs]);
}

describe('an alert on two nodes', () => {
  let cluster: SharedPostgres;
  let databaseUrl: string;
  let mailbox: Mailbox;
  let push: Push;
  const papers: Paper[] = [];
  const readers = ['ada@example.com', 'ben@example.com', 'cleo@example.com'];

  beforeAll(async () => {
    [cluster, mailbox, push] = await Promise.all([sharedPostgres(), startMailbox(), startPush()]);
    databaseUrl = await cluster.database('without tables');
    const env = {
      DATABASE_URL: databaseUrl,
      ACCOUNTS_SECRET: 'a secret that both nodes have, long enough',
      TRUSTED_PROXIES: '1',
      SMTP_URL: mailbox.access.smtpUrl,
      MAIL_FROM: 'The Sun <paper@paper.example>',
      EMAIL_DNS_CHECK: 'off',
      ONESIGNAL_APP_ID: push.access.appId,
      ONESIGNAL_API_KEY: push.access.key,
      ONESIGNAL_API_URL: push.access.url,
    };
    const newsroom = await startPaper(env);
    papers.push(newsroom, await startPaper({ ...env, WORDPRESS_URL: newsroom.wordpressUrl }));
    for (const email of readers) await join(email);
  });
  afterAll(async () => {
    await Promise.all(papers.map((paper) => paper.close()));
    await Promise.all([cluster?.removeDatabases(), mailbox?.stop(), push?.stop()]);
  });

  const first = (): Paper => papers[0] as Paper;
  const messages = async (query: Record<string, string>) =>
    (await fetch(`${mailbox.access.url}/api/messages?${new URLSearchParams(query)}`)).json();

  async function join(email: string): Promise<void> {
    const browser = new Browser(first().port());
    const identifiers = { email_address: email };
    await browser.post('/blaize/token-exchange', { identifiers, action: 'register', redirect: '/' });
    const { links } = (await messages({ to: email, wait: '20000' })) as { links: string[] };
    const link = links.find((each) => each.includes('/blaize/token-exchange')) ?? '';
    await browser.submit('/account/link', { token: new URL(link).searchParams.get('token') ?? '' });
    const saved = await browser.ask('/api/v1/me/newsletters', { method: 'PUT', json: { choices: ['breaking'] } });
    expect(saved.status).toBe(200);
  }

  /** `Message-ID`s of the emails with this text, by reader. */
  const mailed = (words: string) =>
    Promise.all(
      readers.map(async (to) => {
        const { messages: all } = (await messages({ to })) as { messages: StoredMessage[] };
        return all
          .filter(({ subject }) => subject === `Breaking News: ${words}`)
          .map(({ headers }) => headers.find(({ name }) => name === 'Message-ID')?.value);
      }),
    );
  /** Numbers of emails with this text, by reader. */
  const mailedTimes = async (words: string) => (await mailed(words)).map((ids) => ids.length);
  const pushedTimes = async ({ id }: Wire): Promise<number> => {
    const sent = (await (await fetch(`${push.access.url}/sent`)).json()) as { idempotency_key: string }[];
    return sent.filter((each) => each.idempotency_key === id).length;
  };
  const pages = () => Promise.all(papers.map(async (paper) => (await paper.ask('/article/story-1')).text));

  it('appears on both and is sent once, though webhooks come twice, to each node, and out of order', async () => {
    const alert = alertOf('Two nodes', { mail: true, push: true });
    first().wordpress.alert = alert;
    const delivery = randomUUID();
    const answers = await Promise.all([
      ...papers.map((paper) => paper.deliver(hook('publish', alert), { delivery })),
      ...papers.map((paper) => paper.deliver(hook('publish', alert))),
      first().deliver(hook('unpublish', alert)),
    ]);
    expect(answers.some(({ status }) => status === 200)).toBe(true);
    await until(async () => (await pages()).every((text) => text.includes('Two nodes')), first().output);
    await until(async () => {
      const { mail, push: sent } = await report(first(), alert);
      return mail.state === 'sent' && sent.state === 'sent';
    }, first().output);
    await until(async () => (await mailedTimes('Two nodes')).join() === '1,1,1', first().output);
    expect(await pushedTimes(alert)).toBe(1);
    for (const paper of papers)
      expect(await report(paper, alert)).toMatchObject({
        shown: alert.id,
        mail: { readers: 3 },
        push: { state: 'sent' },
      });
  });

  it('is sent once when a node is killed between showing the banner and sending', async () => {
    const alert = alertOf('After the kill', { mail: true, push: true });
    first().wordpress.alert = alert;
    const [killed = first(), left = first()] = papers;
    const shown = async (): Promise<boolean> => (await pages()).some((text) => text.includes('After the kill'));
    void killed.deliver(hook('publish', alert)).catch(() => {});
    await until(shown, left.output);
    await killed.kill('SIGKILL');
    await until(async () => (await left.deliver(hook('publish', alert))).status === 200, left.output);
    await killed.start();
    // Jobs that the killed node had begun are due again when their lease ends; the test doesn't wait that long.
    const client = new pg.Client(databaseUrl);
    await client.connect();
    // A mail whose node is killed before it has stored the mail server's answer arrives again, as the same message.
    const messagesOf = async () => (await mailed('After the kill')).map((ids) => new Set(ids).size);
    const sent = async (): Promise<boolean> => {
      const inMail = (await messagesOf()).join() === '1,1,1';
      if (inMail && (await report(left, alert)).push.state === 'sent') return true;
      await endLeases(client);
      return false;
    };
    await until(sent, left.output, leaseMs + 60_000).finally(() => client.end());
    expect([await messagesOf(), await pushedTimes(alert)]).toEqual([[1, 1, 1], 1]);
  });

  it('disappears from both soon after it is withdrawn', async () => {
    const alert = first().wordpress.alert as Wire;
    first().wordpress.alert = null;
    await until(
      async () => (await (papers[1] as Paper).deliver(hook('unpublish', alert))).status === 200,
      first().output,
    );
    await until(async () => (await pages()).every((text) => !text.includes('data-alert=')), first().output);
  });
});

/** Webhooks between processes: several broadcasts in this one, on a real PostgreSQL. */
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { fakeWordPress, type Json, wirePost, wireSection } from '../../../tests/fixtures/wordpress.ts';
import { type Place, prepare } from '../../../tests/world/databases.ts';
import { openContent } from '../../content/content.server.ts';
import type { Content, WebhookAnswer, WebhookRequest } from '../../content/service.ts';
import { silent } from '../../lib/logging.ts';
import { createWebhookBroadcast, type WebhookBroadcast, type WebhookBroadcastOptions } from './webhook-broadcast.ts';

const engines = prepare('postgres', { ownServer: true });
const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  await Promise.all(stops.splice(0).map((stop) => stop()));
});

const hook = (name: string, headers: Record<string, string> = {}): WebhookRequest => ({
  headers: { 'x-newsroom-delivery': name, 'x-newsroom-timestamp': '1', cookie: 'mine=1', ...headers },
  rawBody: Buffer.from(`{"é":"${name}\\u0000"}`),
});
const delivery = ({ headers }: WebhookRequest): string => String(headers['x-newsroom-delivery']);
const ok: WebhookAnswer = { status: 200, body: { ok: true } };

/** A content that finds everything good and new. */
const takes =
  (answer: WebhookAnswer | Promise<WebhookAnswer>): Content['receive'] =>
  async (_, taken) => {
    taken?.();
    return answer;
  };

interface Member {
  readonly place: Place;
  readonly relay: WebhookBroadcast;
  /** What its content was given by the channel or from outside, in that order of arrival. */
  readonly got: WebhookRequest[];
  readonly names: () => string[];
  readonly look: ReturnType<typeof vi.fn>;
  readonly said: string[];
  /** How many have told it that they listen from now on. */
  readonly greeted: () => number;
}

/** One process: a relay with a content that takes everything, unless `receive` says otherwise. */
async function member(
  place: Place,
  receive: Content['receive'] = takes(ok),
  options: Partial<WebhookBroadcastOptions> = {},
): Promise<Member> {
  const database = await engines.open({ ...place, patienceMs: 500 });
  const got: WebhookRequest[] = [];
  const said: string[] = [];
  const look = vi.fn<() => void>();
  let greeted = 0;
  const keep = (_: object, message: string): void => void said.push(message);
  const content: Pick<Content, 'receive' | 'look'> = {
    look,
    receive(request, taken) {
      got.push(request);
      return receive(request, taken);
    },
  };
  const { databaseUrl } = place;
  const relay = createWebhookBroadcast({
    content,
    db: database.db,
    url: databaseUrl ?? '',
    log: { ...silent, warn: keep, debug: () => void greeted++ },
    ...options,
  });
  stops.push(() => relay.stop());
  return { place, relay, got, look, said, greeted: () => greeted, names: () => got.map(delivery) };
}

/** A way to a port of this machine on which, when it is silenced, nothing comes through any more and nothing is closed. */
async function wayTo(port: number): Promise<{ readonly port: number; silence(): void }> {
  const sockets: Socket[] = [];
  let open: Socket[] = [];
  const server = createServer((from) => {
    const on = connect(port, '127.0.0.1');
    sockets.push(from, on);
    open.push(from, on);
    for (const socket of [from, on]) socket.on('error', () => {});
    from.pipe(on).pipe(from);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  stops.push(async () => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return {
    port: (server.address() as AddressInfo).port,
    silence() {
      for (const socket of open) socket.unpipe().pause();
      open = [];
    },
  };
}

const started: Member[] = [];
afterEach(() => void started.splice(0));

/** Starts it and waits until it hears the others, and all that listen already know. */
async function listening(one: Member): Promise<Member> {
  const others = started.filter(
    ({ place, relay }) => place.databaseUrl === one.place.databaseUrl && relay.stats().listening,
  );
  const before = others.map((other) => other.greeted());
  started.push(one);
  one.relay.start();
  await vi.waitFor(() => expect(one.relay.stats().listening).toBe(true));
  await vi.waitFor(() => expect(others.map((other) => other.greeted())).toEqual(before.map((count) => count + 1)));
  return one;
}

const three = async (place: Place): Promise<[Member, Member, Member]> => [
  await listening(await member(place)),
  await listening(await member(place)),
  await listening(await member(place)),
];

describe('a webhook that one process takes', () => {
  it('reaches each of the others once, as it came, and goes no further', async () => {
    const [a, b, c] = await three(await engines.place());
    await a.relay.receive(hook('first'));
    await vi.waitFor(() => expect([b.names(), c.names()]).toEqual([['first'], ['first']]));
    await b.relay.receive(hook('second'));
    await vi.waitFor(() => expect([a, b, c].map((one) => one.names())).toEqual(Array(3).fill(['first', 'second'])));
    const [{ headers, rawBody } = hook('')] = c.got;
    expect(Buffer.from(rawBody)).toEqual(hook('first').rawBody);
    expect(headers).toEqual({ 'x-newsroom-delivery': 'first', 'x-newsroom-timestamp': '1' });
    expect([a, b, c].map(({ relay }) => relay.stats())).toEqual([
      { sent: 1, received: 1, waiting: 0, listening: true },
      { sent: 1, received: 1, waiting: 0, listening: true },
      { sent: 0, received: 2, waiting: 0, listening: true },
    ]);
  });

  it('is sent before this process renders its own pages', async () => {
    const place = await engines.place();
    const made = Promise.withResolvers<WebhookAnswer>();
    const a = await listening(await member(place, takes(made.promise)));
    const b = await listening(await member(place));
    const answer = a.relay.receive(hook('slow'));
    await vi.waitFor(() => expect(b.names()).toEqual(['slow']));
    made.resolve(ok);
    expect(await answer).toBe(ok);
  });

  it('is sent when it was accepted, and not when it was refused', async () => {
    const place = await engines.place();
    const a = await listening(
      await member(place, async (request, taken) => {
        if (delivery(request) !== 'good') return { status: Number(delivery(request)), body: {} };
        taken?.();
        return ok;
      }),
    );
    const b = await listening(await member(place));
    for (const name of ['401', '409', '422', '503', 'good']) await a.relay.receive(hook(name));
    await vi.waitFor(() => expect(b.names()).toEqual(['good']));
  });

  it('has the others ask WordPress when it is too large for the channel', async () => {
    const [a, b] = await three(await engines.place());
    await vi.waitFor(() => expect(b.look).toHaveBeenCalledTimes(1));
    await a.relay.receive({ ...hook('large'), rawBody: Buffer.alloc(6000, 'x') });
    await vi.waitFor(() => expect(b.look).toHaveBeenCalledTimes(2));
    await a.relay.receive({ ...hook('just fits'), rawBody: Buffer.alloc(5500, 'x') });
    await vi.waitFor(() => expect(b.names()).toEqual(['just fits']));
  });

  it('is tried again where it could not be done, by whom it was told to as well', async () => {
    const place = await engines.place();
    const secondTime = (): Content['receive'] => {
      let times = 0;
      return (request, taken) => takes(times++ === 0 ? { status: 503, body: {} } : ok)(request, taken);
    };
    const [a, b] = [
      await listening(await member(place, secondTime())),
      await listening(await member(place, secondTime())),
    ];
    expect((await a.relay.receive(hook('withdrawn'))).status).toBe(503);
    await vi.waitFor(() => expect([a.names(), b.names()]).toEqual(Array(2).fill(['withdrawn', 'withdrawn'])));
    expect([a, b].map(({ relay }) => relay.stats().sent)).toEqual([1, 0]);
  });

  it('is looked for again where it could not be brought to the pages', async () => {
    const place = await engines.place();
    const failing = takes({ status: 503, body: {} });
    const [a, b] = [await listening(await member(place, failing)), await listening(await member(place, failing))];
    await vi.waitFor(() => expect(b.look).toHaveBeenCalledTimes(1));
    expect((await a.relay.receive(hook('unlucky'))).status).toBe(503);
    // The plugin's next try may come to a process that knows it already.
    await vi.waitFor(() => expect([a, b].map(({ look }) => look.mock.calls.length)).toEqual([2, 2]));
  });

  it('stays within the schema of the site', async () => {
    const place = await engines.place();
    await engines.cluster().run('create schema other', place.databaseUrl ?? '');
    const other = { ...place, databaseUrl: `${place.databaseUrl}?options=-csearch_path%3Dother` };
    const [a, b] = await three(place);
    const [c, d] = await three(other);
    await a.relay.receive(hook('ours'));
    await vi.waitFor(() => expect(b.names()).toEqual(['ours']));
    await c.relay.receive(hook('theirs'));
    await vi.waitFor(() => expect(d.names()).toEqual(['theirs']));
    await a.relay.receive(hook('ours too'));
    await vi.waitFor(() => expect(b.names()).toEqual(['ours', 'ours too']));
    expect([a.names(), c.names(), d.names()]).toEqual([['ours', 'ours too'], ['theirs'], ['theirs']]);
  });
});

describe('a process that did not hear', () => {
  it('is told what the others took meanwhile, and asks WordPress', async () => {
    const place = await engines.place();
    const a = await listening(await member(place));
    await a.relay.receive(hook('before'));
    await vi.waitFor(() => expect(a.relay.stats().sent).toBe(1));
    const c = await listening(await member(place));
    const b = await listening(await member(place));
    await vi.waitFor(() => expect([b.names(), b.look.mock.calls.length]).toEqual([['before'], 1]));
    // The answer goes to the sender, and a second time to no one.
    await a.relay.receive(hook('after'));
    await vi.waitFor(() => expect(c.names()).toEqual(['before', 'after']));
  });

  it('hears again after its connection was ended', async () => {
    const place = await engines.place();
    const [a, b, c] = await three(place);
    await vi.waitFor(() => expect(b.look).toHaveBeenCalledTimes(1));
    const ended = 'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and';
    await engines.cluster().run(`${ended} pid <> pg_backend_pid()`, place.databaseUrl ?? '');
    await vi.waitFor(() => expect([a, b, c].map(({ said }) => said.length > 0)).toEqual([true, true, true]));
    await a.relay.receive(hook('meanwhile'));
    await vi.waitFor(() =>
      expect([b.names().includes('meanwhile'), c.names().includes('meanwhile')]).toEqual([true, true]),
    );
    await vi.waitFor(() => expect([a, b, c].every(({ relay }) => relay.stats().listening)).toBe(true));
    expect(b.look.mock.calls.length).toBeGreaterThan(1);
    await b.relay.receive(hook('afterwards'));
    await vi.waitFor(() =>
      expect([a.names().includes('afterwards'), c.names().includes('afterwards')]).toEqual([true, true]),
    );
  });

  it('notices that its connection leads nowhere', async () => {
    const place = await engines.place();
    const to = new URL(place.databaseUrl ?? '');
    const way = await wayTo(Number(to.port));
    to.port = String(way.port);
    const a = await listening(await member(place));
    const b = await listening(await member(place, takes(ok), { url: to.href, beatMs: 20, patienceMs: 2000 }));
    way.silence();
    await a.relay.receive(hook('unheard'));
    await vi.waitFor(() => expect(b.said).toContain("Messages of other processes don't arrive; reconnecting"));
    await vi.waitFor(() => expect(b.names()).toEqual(['unheard']));
  });

  it('costs a webhook nothing while PostgreSQL is away, and catches up', async () => {
    const place = await engines.place();
    const [a, b] = await three(place);
    await engines.cluster().stop();
    try {
      for (const name of ['1', '2', '3']) expect(await a.relay.receive(hook(name))).toBe(ok);
      await vi.waitFor(() => expect(a.said).toHaveLength(2));
      expect(a.relay.stats()).toMatchObject({ waiting: 3, listening: false });
    } finally {
      await engines.cluster().start();
    }
    await vi.waitFor(() => expect(new Set(b.names())).toEqual(new Set(['1', '2', '3'])));
    // One line each, however often it is retried.
    expect([...a.said].sort()).toEqual([
      "Messages of other processes don't arrive; reconnecting",
      "Webhooks can't be sent to the other processes; retrying",
    ]);
  });

  it('may have been stopped in the meantime', async () => {
    const place = await engines.place();
    const [a, b, c] = await three(place);
    await b.relay.stop();
    expect(b.relay.stats().listening).toBe(false);
    await a.relay.receive(hook('late'));
    await vi.waitFor(() => expect(c.names()).toEqual(['late']));
    expect(b.names()).toEqual([]);
    // PostgreSQL is unavailable: that does not delay the stop.
    await engines.cluster().stop();
    try {
      await a.relay.receive(hook('never'));
      await a.relay.stop();
    } finally {
      await engines.cluster().start();
    }
    expect(a.relay.stats()).toMatchObject({ waiting: 1, listening: false });
  });
});

it('verifies what another process sends as if WordPress had sent it', async () => {
  const place = await engines.place();
  const wordpress = fakeWordPress();
  const secret = 'a shared secret';
  wordpress.put('categories', { id: 3, ...wireSection(3, 'politics', 1) });
  wordpress.put('articles', { id: 7, ...wirePost({ id: 7, slug: 'a-7', category: [{ id: 3 }] }) });
  const open = async (own: string): Promise<Content> => {
    const content = openContent({
      file: ':memory:',
      wordpress: { url: wordpress.url },
      siteUrl: 'https://sun.example',
      secret: own,
      frameHosts: [],
      measure: async () => null,
      log: silent,
      pollSeconds: 3600,
      threads: false,
      fetch: wordpress.fetch,
    });
    await content.syncNow();
    stops.push(() => content.stop());
    return content;
  };
  const contents = [await open(secret), await open(secret), await open('another secret')] as const;
  const answers: number[][] = [[], [], []];
  const members: Member[] = [];
  for (const [at, content] of contents.entries()) {
    const receive: Content['receive'] = async (request, taken) => {
      const answer = await content.receive(request, taken);
      answers[at]?.push(answer.status);
      return answer;
    };
    members.push(await listening(await member(place, receive)));
  }
  const [a, b, c] = members;
  const titles = (): (string | undefined)[] => contents.map((content) => content.reader().article('a-7')?.title);
  const correct = (title: string): Json =>
    wordpress.put('articles', { ...wordpress.store.articles.get(7), id: 7, title: { rendered: title } });
  const body = JSON.stringify({
    event: 'update',
    type: 'articles',
    id: 7,
    slug: 'a-7',
    previous_slug: null,
    status: 'publish',
    modified: '',
  });
  const signed = (name: string, key = secret): WebhookRequest => {
    const stamp = String(Math.floor(Date.now() / 1000));
    const signature = `sha256=${createHmac('sha256', key).update(`${stamp}.${name}.${body}`).digest('hex')}`;
    const headers = { 'x-newsroom-timestamp': stamp, 'x-newsroom-delivery': name, 'x-newsroom-signature': signature };
    return { headers, rawBody: Buffer.from(body) };
  };
  correct('Corrected');
  expect((await a?.relay.receive(signed('delivery-1', 'a third')))?.status).toBe(401);
  expect((await a?.relay.receive(signed('delivery-1')))?.status).toBe(200);
  await vi.waitFor(() => expect(answers).toEqual([[401, 200], [200], [401]]));
  // The third is told to ask WordPress instead, and says what is wrong.
  expect(titles()).toEqual(['Corrected', 'Corrected', 'Headline 7']);
  expect(c?.look.mock.calls.length).toBe(2);
  expect(c?.said).toEqual(["A webhook from another process wasn't accepted; WordPress is polled instead"]);
  // The same delivery again, now at another process: it has been there.
  expect((await b?.relay.receive(signed('delivery-1')))?.status).toBe(409);
});

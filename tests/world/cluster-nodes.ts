/** Nodes of a cluster in one process, for tests: each with a content store of its own, on one WordPress and one PostgreSQL. */
import { createHmac, randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import { openContent } from '../../src/content/content.server.ts';
import type { Content, ContentChange, WebhookRequest } from '../../src/content/service.ts';
import { silent } from '../../src/lib/logging.ts';
import type { QuoteProvider } from '../../src/lib/ticker/model.ts';
import { createTicker, type RunningTicker } from '../../src/lib/ticker/ticker.server.ts';
import { publication } from '../../src/publication.ts';
import { createChangeFeed } from '../../src/server/change-feed.ts';
import { type Cluster, createCluster } from '../../src/server/cluster/cluster.ts';
import { openClusterLog } from '../../src/server/cluster/cluster-log.ts';
import { createSharedQuotes } from '../../src/server/cluster/shared-value.ts';
import { fakeWordPress, type Json, wirePost, wireSection } from '../fixtures/wordpress.ts';
import type { Engines, Place } from './databases.ts';

const noQuotes: QuoteProvider = { quotes: async () => new Map() };
const stops: (() => Promise<unknown>)[] = [];

/** Stops every node of a test. */
export async function stopNodes(): Promise<void> {
  await Promise.all(stops.splice(0).map((stop) => stop()));
}

const secret = 'a shared secret';

/** A WordPress whose requests are counted. */
export function newsroom(articles = 3) {
  const wordpress = fakeWordPress();
  wordpress.put('categories', { id: 3, ...wireSection(3, 'politics', 1) });
  const put = (id: number, change: Json = {}): void => {
    wordpress.put('articles', { id, ...wirePost({ id, slug: `a-${id}`, category: [{ id: 3 }], ...change }) });
  };
  for (let id = 1; id <= articles; id++) put(id);
  let requests: string[] = [];
  const fetch: typeof globalThis.fetch = (input, init) => {
    requests.push(new URL(String(input)).pathname);
    return wordpress.fetch(input, init);
  };
  return {
    ...wordpress,
    put,
    fetch,
    /** Requests since the last call. */
    requests() {
      const made = requests;
      requests = [];
      return made;
    },
  };
}

type Newsroom = ReturnType<typeof newsroom>;

/** A webhook as the plugin signs it. */
export function webhook(id: number, event = 'update', more: object = {}): WebhookRequest {
  const rawBody = JSON.stringify({ event, type: 'articles', id, slug: `a-${id}`, status: 'publish', ...more });
  const timestamp = String(Math.floor(Date.now() / 1000));
  const delivery = randomUUID();
  const signature = createHmac('sha256', secret).update(`${timestamp}.${delivery}.`).update(rawBody).digest('hex');
  return {
    headers: {
      'x-newsroom-timestamp': timestamp,
      'x-newsroom-delivery': delivery,
      'x-newsroom-signature': `sha256=${signature}`,
    },
    rawBody,
  };
}

export interface Node {
  readonly content: Content;
  readonly cluster: Cluster;
  readonly changes: ContentChange[];
  readonly title: (id: number) => string | undefined;
  /** The market prices on this node. */
  readonly ticker: RunningTicker;
  readonly stop: () => Promise<void>;
}

interface NodeOptions {
  readonly room?: Newsroom;
  /** This node's own access to WordPress (default: the room's). */
  readonly fetch?: typeof globalThis.fetch;
  /** Address of PostgreSQL, if it differs from the place's. */
  readonly databaseUrl?: string | null;
  /** Address of the listening connection, if it differs. */
  readonly listenUrl?: string;
  /** This node's clock, epoch milliseconds. */
  readonly now?: () => number;
  readonly goneMs?: number;
  readonly provider?: QuoteProvider;
  readonly webhookMs?: number;
  /** Resolves when the pages that show a change are rendered (default: at once). */
  readonly rendered?: () => Promise<void>;
  /** Version of the content log (default 1). */
  readonly version?: number;
}

/** @param options with the PostgreSQL */
export async function openNode(engines: Engines, options: NodeOptions & Place): Promise<Node> {
  const { room = newsroom(), goneMs = 1000, webhookMs = 3000, version = 1, now, databaseUrl } = options;
  const { db } = await engines.open({ ...options, timeoutMs: 5000 });
  const seen: ContentChange[] = [];
  const changes = createChangeFeed();
  changes.follow({
    async changed(change) {
      seen.push(change);
      await options.rendered?.();
      return change.paths ?? [];
    },
  });
  const clusterLog = openClusterLog({ db, version, log: silent, goneMs });
  const content = openContent({
    file: ':memory:',
    wordpress: { url: room.url },
    siteUrl: 'https://sun.example',
    secret,
    frameHosts: [],
    measure: async () => null,
    log: silent,
    pollSeconds: 3600,
    threads: false,
    fetch: options.fetch ?? room.fetch,
    onChange: changes.publish,
    contentLog: clusterLog.appender,
    leads: clusterLog.leads,
    now,
  });
  const listenUrl = options.listenUrl ?? databaseUrl ?? '';
  const cluster = createCluster({
    clusterLog,
    listenUrl,
    content,
    changes,
    log: silent,
    beatMs: 50,
    webhookMs,
    onLead: () => ticker.lead(),
    onWanted: () => ticker.wanted(),
  });
  const ticker = createTicker({
    provider: options.provider ?? noQuotes,
    rules: publication.ticker,
    log: silent,
    shared: createSharedQuotes(clusterLog, cluster, content),
    now,
  });
  let stopping: Promise<void> | undefined;
  const stop = (): Promise<void> => {
    ticker.stop();
    stopping ??= cluster.stop().then(() => content.stop());
    return stopping;
  };
  stops.push(stop);
  content.start();
  cluster.start();
  ticker.start();
  return { content, cluster, changes: seen, ticker, stop, title: (id) => content.reader().article(`a-${id}`)?.title };
}

/** Whether a node has the whole archive. */
export const isComplete = ({ content }: Node): boolean =>
  content.status().complete && content.status().syncedAt !== null;

/** Nodes that have the whole archive, one of them with the lease. @param of options of each node, by its number */
export async function openNodes(
  engines: Engines,
  count: number,
  options: {
    readonly room?: Newsroom;
    readonly place?: Place;
    readonly of?: (at: number, place: Place) => NodeOptions;
  } = {},
): Promise<{ all: [Node, Node, ...Node[]]; place: Place; room: Newsroom }> {
  const { room = newsroom(), place = await engines.migratedPlace(), of } = options;
  const all: Node[] = [];
  for (let at = 0; at < count; at++) all.push(await openNode(engines, { ...place, room, ...of?.(at, place) }));
  await expect.poll(() => all.map(isComplete)).toEqual(all.map(() => true));
  // The first round of the sync ends with a poll, whose entries the followers apply later.
  await expect.poll(() => holders(all).map(({ content }) => content.status().phase)).toEqual(['following']);
  await expect.poll(() => new Set(all.map(({ content }) => content.followed.revision())).size).toBe(1);
  room.requests();
  return { all: all as [Node, Node, ...Node[]], place, room };
}

export const holders = (all: readonly Node[]): Node[] => all.filter(({ cluster }) => cluster.node.epoch !== null);

/** A node without the lease. */
export function follower(all: readonly Node[]): Node {
  const found = all.find(({ cluster }) => cluster.node.epoch === null);
  if (!found) throw new Error('Every node has the lease.');
  return found;
}

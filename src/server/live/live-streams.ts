/**
 * The event streams of live stories: one connection for each open page. An event is one buffer that is written to every connection, in
 * batches, so that pages are served in between. A reader who reconnects gets the events since the last one that arrived, if they are still
 * in memory; otherwise an event that tells the page to fetch itself again (from the cache).
 */
import type { ServerResponse } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { isLevelRaised } from '../../lib/access/model.ts';
import { isFree } from '../../lib/article/model.ts';
import type { LiveStory } from '../../lib/content/model.ts';
import { blockOf, networkOf } from '../../lib/http/network.ts';
import { createOpenCounts, type OpenCounts } from '../../lib/http/open-counts.ts';
import { noAlert, streamEvents } from '../../lib/live/schema.ts';
import { mayRead } from '../../press/store/stored-page.ts';
import type { Exchange, StoredPages } from '../http/server-options.ts';
import { eventText, type Frame, frameOf, heartbeat, retryText, withId } from './frames.ts';
import type { LiveSink } from './live-feed.ts';

export interface LiveStreamsOptions {
  /** Decides who may follow a restricted story. */
  readonly pages: Pick<StoredPages, 'access' | 'passes'>;
  /** Headers of every response. */
  readonly always: Readonly<Record<string, string>>;
  /** Most connections; further ones are refused, and their pages fetch themselves again from time to time. */
  readonly mostConnections: number;
  /** Most connections of one address, an IPv6 /64 (default 200); an IPv6 /48 may have ten times as many. */
  readonly mostOfAddress?: number;
  /** Milliseconds between two heartbeats (default 30,000). */
  readonly heartbeatMs?: number;
  /** Bytes that may wait for a slow reader (default 512 kB); the connection is closed then. */
  readonly mostWaiting?: number;
  /** Milliseconds after which a reader of a restricted story connects again, and proves access again (default 300,000). */
  readonly accessMs?: number;
}

export interface LiveStreamsStats {
  readonly open: number;
  readonly refused: number;
  /** Connections closed because their readers were too slow. */
  readonly dropped: number;
}

export interface LiveStreams extends LiveSink {
  /** Answers a request for a stream. @param address of the client. @returns `false` for any other request */
  answer(exchange: Exchange, address: string): boolean;
  /** Shows an alert's banner in open pages, replacing the previous one. @param html `null`: there is no alert */
  alert(html: string | null): void;
  stats(): LiveStreamsStats;
  /** Ends every stream; browsers connect again to the next process. */
  close(): void;
}

interface Reader {
  readonly outgoing: ServerResponse;
  /** Networks that its connection counts for. */
  readonly networks: readonly string[];
  readonly openedAt: number;
  /** Number of the last event that was written. */
  sent: number;
}

interface Sent {
  readonly number: number;
  readonly frame: Frame;
  /** The story's state after this event. */
  readonly state: string;
}

/** One story with its readers. */
interface Channel {
  story: LiveStory;
  readonly readers: Set<Reader>;
  /** The last events. */
  readonly recent: Sent[];
  /** The story's state before these events. */
  base: string;
  number: number;
  isWriting: boolean;
}

/** Most events kept for readers who reconnect, and most bytes of them. */
const mostRecent = 200;
const mostRecentBytes = 2 * 1024 * 1024;
/** Connections that are written to before other work gets its turn. */
const batchSize = 200;
/** Milliseconds within which the readers of lost connections reconnect, each at a random time. */
const reconnectWithin = { fromMs: 500, overMs: 4000 };

interface State extends Required<LiveStreamsOptions> {
  readonly channels: Map<number, Channel>;
  readonly ofNetwork: OpenCounts;
  /** The alert that pages show: its id, `null` without one, and its event. */
  alert: { readonly id: string | null; readonly frame: Frame };
  open: number;
  refused: number;
  dropped: number;
  isClosed: boolean;
}

export function createLiveStreams(options: LiveStreamsOptions): LiveStreams {
  const state: State = {
    mostOfAddress: 200,
    heartbeatMs: 30_000,
    mostWaiting: 512 * 1024,
    accessMs: 300_000,
    ...options,
    channels: new Map(),
    ofNetwork: createOpenCounts(),
    alert: alertOf(null),
    open: 0,
    refused: 0,
    dropped: 0,
    isClosed: false,
  };
  const timer = setInterval(() => void beat(state), state.heartbeatMs).unref();
  return {
    stories: (stories) => setStories(state, stories),
    send: (story, events) => send(state, story, events),
    alert: (html) => setAlert(state, html),
    answer: (exchange, address) => answer(state, exchange, address),
    stats: () => ({ open: state.open, refused: state.refused, dropped: state.dropped }),
    close() {
      clearInterval(timer);
      state.isClosed = true;
      for (const { readers } of state.channels.values()) for (const { outgoing } of readers) outgoing.end();
    },
  };
}

function setStories(state: State, stories: readonly LiveStory[]): void {
  const live = new Set(stories.map(({ id }) => id));
  for (const [id, channel] of state.channels) {
    if (live.has(id)) continue;
    state.channels.delete(id);
    void write(state, channel, frameOf(eventText(streamEvents.end, '1'))).then(() => {
      for (const { outgoing } of channel.readers) outgoing.end();
    });
  }
  for (const story of stories) {
    const channel = channelOf(state, story);
    if (channel.story.state !== story.state) send(state, story, eventText(streamEvents.sync, story.state));
    else updateStory(channel, story);
  }
}

const alertOf = (html: string | null): State['alert'] => ({
  id: /data-alert="([^"]*)"/.exec(html ?? '')?.[1] ?? null,
  frame: frameOf(eventText(streamEvents.alert, html ?? noAlert)),
});

function setAlert(state: State, html: string | null): void {
  const next = alertOf(html);
  if (next.id === state.alert.id) return;
  state.alert = next;
  for (const channel of state.channels.values()) void write(state, channel, next.frame);
}

function channelOf({ channels }: State, story: LiveStory): Channel {
  let channel = channels.get(story.id);
  if (!channel) {
    channel = { story, readers: new Set(), recent: [], base: story.state, number: 0, isWriting: false };
    channels.set(story.id, channel);
  }
  return channel;
}

/**
 * Applies changes of a story's data. If the story is for fewer readers now, its followers must have their access checked again.
 */
function updateStory(channel: Channel, story: LiveStory): void {
  const isStricter = isLevelRaised(channel.story.access, story.access);
  channel.story = story;
  if (!isStricter) return;
  channel.recent.length = 0;
  channel.base = story.state;
  for (const { outgoing } of channel.readers) outgoing.end();
}

function send(state: State, story: LiveStory, events: string): void {
  const channel = channelOf(state, story);
  updateStory(channel, story);
  const frame = frameOf(withId(events, story.state));
  channel.recent.push({ number: ++channel.number, frame, state: story.state });
  forgetOld(channel);
  void writeRecent(state, channel);
}

function forgetOld(channel: Channel): void {
  const { recent } = channel;
  let bytes = recent.reduce((sum, { frame }) => sum + frame.chunk.byteLength, 0);
  while (recent.length > mostRecent || (bytes > mostRecentBytes && recent.length > 1)) {
    const oldest = recent.shift();
    bytes -= oldest?.frame.chunk.byteLength ?? 0;
    channel.base = oldest?.state ?? channel.base;
  }
}

/** Writes to each reader the events that the reader lacks, in batches; one loop for a story at a time. */
async function writeRecent(state: State, channel: Channel): Promise<void> {
  if (channel.isWriting) return;
  channel.isWriting = true;
  try {
    for (let upTo = -1; upTo !== channel.number; ) {
      upTo = channel.number;
      let written = 0;
      for (const reader of channel.readers) {
        writeMissing(state, channel, reader);
        if (++written % batchSize === 0) await nextTurn();
      }
    }
  } finally {
    channel.isWriting = false;
  }
}

function writeMissing(state: State, { recent, number }: Channel, reader: Reader): void {
  const first = recent[0]?.number ?? number + 1;
  // The reader lacks an event that is no longer in memory.
  if (reader.sent < first - 1) {
    drop(state, reader);
    return;
  }
  for (const one of recent) if (one.number > reader.sent) writeTo(state, reader, one.frame);
  reader.sent = number;
}

function writeTo(state: State, reader: Reader, frame: Frame): void {
  const { outgoing } = reader;
  const { socket } = outgoing;
  if (!socket || outgoing.writableEnded || socket.destroyed) return;
  if (socket.writableLength > state.mostWaiting) drop(state, reader);
  // Written after the response's head; the response itself writes nothing before its end.
  else socket.write(outgoing.chunkedEncoding ? frame.chunk : frame.plain);
}

/** Closes the connection of a reader who is too slow; the browser reconnects and gets the missing events. */
function drop(state: State, { outgoing }: Reader): void {
  state.dropped++;
  outgoing.destroy();
}

async function write(state: State, { readers }: Channel, frame: Frame): Promise<void> {
  let written = 0;
  for (const reader of readers) {
    writeTo(state, reader, frame);
    if (++written % batchSize === 0) await nextTurn();
  }
}

async function beat(state: State): Promise<void> {
  const clock = performance.now();
  for (const channel of [...state.channels.values()]) {
    if (!isFree(channel.story.access)) {
      for (const { outgoing, openedAt } of channel.readers) if (clock - openedAt > state.accessMs) outgoing.end();
    }
    await write(state, channel, heartbeat);
  }
}

const streamAddress = /^\/live\/([1-9]\d{0,14})(?:\?(.*))?$/;

function answer(state: State, exchange: Exchange, address: string): boolean {
  const { incoming } = exchange;
  const [whole, id, query] = streamAddress.exec(incoming.url ?? '') ?? [];
  if (whole === undefined || incoming.method !== 'GET') return false;
  const channel = state.channels.get(Number(id));
  const networks = networksOf(address);
  // After this status a browser doesn't reconnect.
  if (!channel) refuse(state, exchange, 204);
  else if (!mayFollow(state, channel, incoming.headers.cookie)) refuse(state, exchange, 403);
  else if (isFull(state, networks) || exchange.outgoing.socket === null) refuse(state, exchange, 503);
  else {
    // A browser that reconnects sends the id of its last event; at the first connection the page's state is in the address.
    const page = new URLSearchParams(query);
    const last = incoming.headers['last-event-id'] ?? page.get('since');
    const reader = follow(state, channel, exchange, networks, String(last));
    // An alert may have appeared or ended while the page was open or cached.
    if (page.get('alert') !== state.alert.id) writeTo(state, reader, state.alert.frame);
  }
  return true;
}

function mayFollow({ pages }: State, { story }: Channel, cookie: string | undefined): boolean {
  const { access, path } = story;
  if (isFree(access)) return true;
  const level = access === 'registered' ? 'registered' : 'subscriber';
  return mayRead(level, pages.access.levelFor(cookie)) || (pages.passes?.opens(cookie, path) ?? false);
}

/** The networks that one caller may have: its household's, and for IPv6 the largest of a connection, with ten times the connections. */
const networksOf = (address: string): readonly string[] => {
  const block = blockOf(address);
  return block === null ? [networkOf(address)] : [networkOf(address), block];
};

function isFull(
  { open, mostConnections, ofNetwork, mostOfAddress, isClosed }: State,
  networks: readonly string[],
): boolean {
  const isOver = (network: string, at: number): boolean => ofNetwork.of(network) >= mostOfAddress * (at === 0 ? 1 : 10);
  return isClosed || open >= mostConnections || networks.some(isOver);
}

function refuse(state: State, { outgoing }: Exchange, status: number): void {
  if (status === 503) state.refused++;
  const headers = { ...state.always, 'cache-control': 'no-store', ...(status === 503 && { 'retry-after': '30' }) };
  outgoing.writeHead(status, headers).end();
}

function follow(
  state: State,
  channel: Channel,
  { outgoing }: Exchange,
  networks: readonly string[],
  since: string,
): Reader {
  const reader: Reader = { outgoing, networks, openedAt: performance.now(), sent: channel.number };
  outgoing.writeHead(200, {
    ...state.always,
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-store',
    // Otherwise nginx would buffer the events.
    'x-accel-buffering': 'no',
  });
  outgoing.flushHeaders();
  const { recent, base, story } = channel;
  const known = recent.findLastIndex((one) => one.state === since);
  const first = known >= 0 ? recent[known + 1]?.number : since === base ? recent[0]?.number : undefined;
  const retry = retryText(Math.round(reconnectWithin.fromMs + Math.random() * reconnectWithin.overMs));
  const isCurrent = since === story.state;
  const opening = isCurrent || first !== undefined ? '' : eventText(streamEvents.sync, story.state);
  writeTo(state, reader, frameOf(retry + (first === undefined || isCurrent ? withId(opening, story.state) : '')));
  if (first !== undefined && !isCurrent) {
    reader.sent = first - 1;
    writeMissing(state, channel, reader);
  }
  channel.readers.add(reader);
  state.open++;
  for (const network of networks) state.ofNetwork.add(network);
  outgoing.once('close', () => leave(state, channel, reader));
  return reader;
}

function leave(state: State, { readers }: Channel, reader: Reader): void {
  readers.delete(reader);
  state.open--;
  for (const network of reader.networks) state.ofNetwork.remove(network);
}

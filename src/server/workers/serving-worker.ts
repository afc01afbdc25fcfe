/**
 * A serving worker: answers requests for cached pages and files itself, and passes everything else on to the writer. It has no
 * database and no renderer. The supervisor starts it (supervisor.ts).
 */
import { repeat } from '../../lib/jobs/tasks.ts';
import type { Logger } from '../../lib/logging.ts';
import { createEncoder, type Encoder } from '../../press/cache/compressor.server.ts';
import type { KeyOf } from '../../press/delivery/cache-key.ts';
import { openSharedStore, type SharedStorePages } from '../../press/shared-store-pages.server.ts';
import { nameOf } from '../../press/store/stored-page.ts';
import { type Config, parseConfig } from '../config/config.ts';
import { openDataDir } from '../data-dir.ts';
import { sendFile } from '../http/answer.ts';
import { answerFromCacheSoon } from '../http/cached-pages.ts';
import { clientAddressOf } from '../http/client-address.ts';
import { createCrawlers } from '../http/crawlers.ts';
import { createHttpServer, createServerCounts } from '../http/http-server.ts';
import { requestIds } from '../http/request-id.ts';
import { securityHeaders } from '../http/security-headers.ts';
import { retryAfter, sendText } from '../http/send.ts';
import type { Exchange, HttpServer, ServerState } from '../http/server-options.ts';
import { openSharedDictionary, type SharedDictionary } from '../http/shared-dictionary.ts';
import { shutDown } from '../http/shutdown.ts';
import { openStatics, type Statics } from '../http/static-files.ts';
import { createLiveStreams, type LiveStreams } from '../live/live-streams.ts';
import { createLog } from '../logging.ts';
import { createMetrics, type Metrics } from '../operators/metrics.ts';
import { alertInsertion, headlineChoices } from '../press/insertions.ts';
import { pageKeys, readRedirects } from '../press/page-keys.ts';
import { pageHeaders } from '../press/render-page.ts';
import { openReaderCookies, type ReaderCookies } from '../secrets.ts';
import { createForwarder, type Forwarder, WriterUnavailable } from './forward.ts';
import { innerSocket, listenInside } from './inner-socket.ts';
import type { FromServing, Opening, ToServing } from './messages.ts';

/** Milliseconds between two reports of the pages' reads. */
const readsEveryMs = 30_000;

interface State {
  readonly config: Config;
  readonly statics: Statics;
  readonly dictionary: SharedDictionary | null;
  /** Compresses pages with a banner. */
  readonly encoder: Encoder;
  readonly log: Logger;
  readonly forwarder: Forwarder;
  readonly metrics: Metrics;
  readonly send: (message: FromServing) => void;
  readonly streams: LiveStreams;
  /** The data of the running writer. */
  opening: Opening | null;
  pages: SharedStorePages | null;
  isReady: boolean;
  /** Whether the store is to be trusted; else the writer answers. */
  isStored: boolean;
}

export interface ServingWorker {
  /** Resolves when the worker has received the writer's address. */
  readonly server: Promise<HttpServer>;
  receive(message: ToServing): void;
  stop(): Promise<void>;
}

/**
 * Starts the worker.
 *
 * @param dist folder of the build
 * @param send sends to the supervisor
 */
export function startServingWorker(
  env: Readonly<Record<string, string | undefined>>,
  dist: string,
  send: (message: FromServing) => void,
): ServingWorker {
  const config = parseConfig(env);
  const log = createLog(config.logLevel);
  openDataDir(config.dataDir, log);
  const counts = createServerCounts();
  const statics = openStatics(`${dist}client`);
  const cookies = openReaderCookies(config);
  const state: State = {
    config,
    statics,
    dictionary: openSharedDictionary(statics, config, log),
    encoder: createEncoder(log),
    log,
    forwarder: createForwarder({
      socket: () => state.opening?.socket ?? null,
      clientAddress: clientAddressOf(config.trustedProxies),
    }),
    metrics: createMetrics({ server: () => counts, live: () => state.streams.stats() }, log),
    send,
    streams: createLiveStreams({
      pages: cookies,
      always: securityHeaders(config).always,
      mostConnections: config.liveConnections,
    }),
    opening: null,
    pages: null,
    isReady: false,
    isStored: false,
  };
  const reads = repeat(readsEveryMs, async () => state.pages?.flushReads());
  const opened = Promise.withResolvers<void>();
  /** Whether there is a server, or will be; also after the writer has gone. */
  let isOpen = false;
  const server = opened.promise.then(async () => {
    const made = createServer(state, counts, cookies);
    await listenInside(made, innerSocket(config.dataDir));
    return made;
  });
  send({ kind: 'joined' });
  return {
    server,
    receive(message) {
      receive(state, message);
      if (message.kind !== 'open') return;
      isOpen = true;
      opened.resolve();
    },
    async stop() {
      await reads.stop();
      state.streams.close();
      if (isOpen && !(await shutDown(await server))) {
        log.warn({}, "Connections that didn't end in time were closed");
      }
      closePages(state);
      await state.dictionary?.close();
      await state.encoder.close();
      state.forwarder.close();
    },
  };
}

function receive(state: State, message: ToServing): void {
  switch (message.kind) {
    case 'open':
      open(state, message);
      state.streams.stories(message.live);
      // A writer that has just started may not have its banner yet; it sends a message if there is none.
      if (message.banner !== null) state.streams.alert(message.banner);
      break;
    case 'replaced':
      state.isReady = message.isReady;
      state.isStored = message.isStored;
      if (message.names !== 'all') state.pages?.forget(message.names);
      // The store's file itself may have been replaced.
      else if (state.opening) open(state, { ...state.opening, ...message, kind: 'open' });
      state.send({ kind: 'done', number: message.number });
      break;
    case 'banner':
      if (state.opening) state.opening = { ...state.opening, banner: message.html };
      insertBanner(state);
      state.streams.alert(message.html);
      state.send({ kind: 'done', number: message.number });
      break;
    case 'live-stories':
      state.streams.stories(message.stories);
      break;
    case 'live-events':
      state.streams.send(message.story, message.events);
      break;
    case 'measure':
      void state.metrics.json().then((metrics) => state.send({ kind: 'metrics', number: message.number, metrics }));
      break;
    case 'writer-gone':
      // A writer that ended may have replaced pages without a message; a store that it couldn't write stays untrusted.
      if (state.opening) open(state, { ...state.opening, isReady: state.isReady, isStored: state.isStored });
      state.opening = null;
      break;
    case 'stop':
      break;
  }
}

/** Forgets every page, and opens the store again. */
function open(state: State, opening: Opening): void {
  const { config, dictionary, encoder, log } = state;
  closePages(state);
  state.opening = opening;
  state.isReady = opening.isReady;
  state.isStored = opening.isStored;
  try {
    state.pages = openSharedStore({
      file: opening.file,
      build: opening.build,
      memoryBytes: config.pressMemoryBytes,
      headersOf: pageHeaders(securityHeaders(config), config, dictionary?.link),
      dictionary,
      encode: encoder.encode,
      choices: headlineChoices,
      log,
      addReads(reads) {
        const counted = [...reads.values()].map(({ ref, count }) => [nameOf(ref.key, ref.variant), count] as const);
        state.send({ kind: 'reads', reads: counted });
      },
    });
    insertBanner(state);
  } catch (error) {
    log.warn({ err: error }, "The page store can't be read; the writer answers every request");
  }
}

function insertBanner({ opening, pages }: State): void {
  const html = opening?.banner ?? null;
  pages?.insert(html === null ? null : alertInsertion(html));
}

function closePages(state: State): void {
  state.pages?.flushReads();
  state.pages?.close();
  state.pages = null;
}

function createServer(state: State, counts: ReturnType<typeof createServerCounts>, cookies: ReaderCookies): HttpServer {
  const { config, statics, log, metrics } = state;
  const usable = (): SharedStorePages | null => (state.isStored ? state.pages : null);
  return createHttpServer({
    siteUrl: config.siteUrl,
    statics,
    security: securityHeaders(config),
    pages: {
      press: {
        peek: (key, variant) => usable()?.peek(key, variant),
        peekFull: (page) => usable()?.peekFull(page),
        encoded: (page, wanted) => usable()?.encoded(page, wanted),
        shown: (page, cookie) => state.pages?.shown(page, cookie) ?? page,
        withDictionary: (page, available, coding) => usable()?.withDictionary(page, available, coding) ?? null,
        get: async () => onlyTheWriter(),
      },
      keyOf: plainKeys(config),
      ...cookies,
    },
    streams: state.streams,
    // Never called: a reader whose access cookie must be renewed is passed on.
    renewAccess: () => null,
    crawlers: config.crawlers ? createCrawlers({ ...config.crawlers, log }) : undefined,
    clientAddress: clientAddressOf(config.trustedProxies),
    requestId: requestIds(config.trustedProxies),
    respond: (server, exchange) => respond(state, server, exchange),
    render: onlyTheWriter,
    locals: onlyTheWriter,
    readiness: onlyTheWriter,
    counts,
    answered: metrics.answered,
    editionReady: () => state.isReady,
    logsResponses: config.logLevel === 'debug',
    log,
  });
}

function onlyTheWriter(): never {
  throw new WriterUnavailable('Only the writer renders pages.');
}

/** Keys of addresses that are in normal form. The writer decides about addresses that depend on the content. */
function plainKeys(config: Config): KeyOf {
  const keyOf = pageKeys(onlyTheWriter, config.redirectsFile ? readRedirects(config.redirectsFile) : []);
  return (method, target) => {
    try {
      return keyOf(method, target);
    } catch (error) {
      if (error instanceof WriterUnavailable) return { kind: 'uncached', path: target, target };
      throw error;
    }
  };
}

/** Answers a request that the cache didn't: with a file, or with the writer's response. */
async function respond(state: State, server: ServerState, exchange: Exchange): Promise<void> {
  const { incoming, outgoing } = exchange;
  const [path = ''] = (incoming.url ?? '').split('?', 1);
  // The page is here, and need not wait for the writer.
  if (await answerFromCacheSoon(server, exchange)) return;
  if (sendFile(server, exchange, path)) return;
  exchange.forwarded = true;
  try {
    await state.forwarder.forward(incoming, outgoing, exchange.requestId);
  } catch (error) {
    if (!(error instanceof WriterUnavailable) || outgoing.destroyed || outgoing.headersSent) throw error;
    const sentence = 'The site is starting again. Try again in a few seconds.';
    sendText(server, exchange, 503, sentence, { 'retry-after': retryAfter, connection: 'close' });
  }
}

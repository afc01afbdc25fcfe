/** Options of the HTTP server, and the state that its parts share. */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Tenant } from '../../lib/accounts/zephr.server.ts';
import type { RestrictedLevel } from '../../lib/content/model.ts';
import type { Logger } from '../../lib/logging.ts';
import type { Insertion } from '../../press/cache/insertions.server.ts';
import type { AccessCookie, PassCookie } from '../../press/delivery/access-cookie.ts';
import type { KeyOf } from '../../press/delivery/cache-key.ts';
import type { Press } from '../../press/press.server.ts';
import type { RequestKind, ServerCounts } from '../operators/metrics.ts';
import type { Tracing } from '../tracing/tracing.ts';
import type { CopyGate } from './copy-gate.ts';
import type { Crawlers } from './crawlers.ts';
import type { RenderPage } from './page-renderer.ts';
import type { SecurityHeaders } from './security-headers.ts';
import type { StaticAnswer, Statics } from './static-files.ts';

export interface RenewedAccess {
  /** The reader's access level; `null`: only public content. */
  readonly level: RestrictedLevel | null;
  /** Complete `Set-Cookie` values, for responses to this reader only. */
  readonly cookies: readonly string[];
}

/**
 * @param header the request's `Cookie` header
 * @param needed level of what is requested: the cookies are sent only to readers who have it
 * @returns `null` where the header holds no session
 */
export type RenewAccess = (header: string | undefined, needed: RestrictedLevel) => Promise<RenewedAccess> | null;

/** The press as the HTTP server uses it. */
export interface StoredPages {
  readonly press: Pick<Press, 'peek' | 'peekFull' | 'get' | 'encoded' | 'withDictionary' | 'shown'>;
  readonly keyOf: KeyOf;
  readonly access: Pick<AccessCookie, 'levelFor'>;
  /** Checks passes for single pages that were given away. */
  readonly passes?: Pick<PassCookie, 'opens'>;
}

/** Inserts content into a page, see `Insertion` of the press. */
export type PageInsertion = Pick<Insertion, 'into' | 'policy'>;

/** The routes `/-/…` and `/metrics`. */
export interface OperatorRoutes {
  /** @returns `false` when the address is left to the pages */
  answer(
    incoming: IncomingMessage,
    outgoing: ServerResponse,
    url: URL,
    readBody: () => Promise<string>,
  ): Promise<boolean>;
  /** Data for the operators' page; `undefined` for callers who may not see it. */
  view(incoming: IncomingMessage, url: URL): Promise<App.Locals['operators']>;
}

export interface HttpServerOptions {
  /** Public origin, without a trailing slash. */
  readonly siteUrl: string;
  readonly statics: Statics;
  readonly security: SecurityHeaders;
  readonly render: RenderPage;
  /** Stored pages; without them every page is rendered for each reader. */
  readonly pages?: StoredPages;
  readonly operators?: OperatorRoutes | undefined;
  /** Asks the accounts for a new access cookie, for a page whose variant depends on one. */
  readonly renewAccess?: RenewAccess | undefined;
  /** The insertion that every page shows at present, for pages that are rendered for one reader; `null`: none. */
  readonly insertion?: (() => PageInsertion | null) | undefined;
  /** Search engines that may read restricted articles. */
  readonly crawlers?: Crawlers | undefined;
  /** A Zephr tenant that has the accounts. */
  readonly tenant?: Pick<Tenant, 'owns' | 'pass'> | undefined;
  /** Network address of the client; that of the connection by default. */
  readonly clientAddress?: (incoming: IncomingMessage) => string;
  /** The id of a request; a new one by default. */
  readonly requestId?: (incoming: IncomingMessage) => string;
  /** Called with the duration in milliseconds of each request that wasn't answered directly from the cache. */
  readonly answered?: (kind: RequestKind, ms: number) => void;
  /** Answers requests for event streams. */
  readonly streams?: { answer(exchange: Exchange, address: string): boolean } | undefined;
  /** Answers requests that the cache doesn't (default: `answer` of answer.ts). */
  readonly respond?: (state: ServerState, exchange: Exchange) => Promise<void>;
  /** A hashed file of an earlier build. */
  readonly earlierFile?: (pathname: string, headers: IncomingMessage['headers']) => Promise<StaticAnswer | null>;
  /** Fixed texts by path, such as the key file of IndexNow. */
  readonly fixedTexts?: ReadonlyMap<string, string>;
  /** Whether every response is logged, at the level `debug`. */
  readonly logsResponses?: boolean;
  /** Records a span for each request; see `Tracing.request`. */
  readonly spans?: Tracing['request'] | undefined;
  /** What a request gets as `Astro.locals`. */
  readonly locals: () => App.Locals;
  /** Whether there is an edition to serve. */
  readonly editionReady: () => boolean;
  /** What readers get while the archive is being copied. */
  readonly copyGate?: CopyGate;
  /** Whether changes of the cluster don't reach this node at present, so that it may show withdrawn content. */
  readonly missesChanges?: (() => boolean) | undefined;
  /** Whether this node could have changes of the cluster that it doesn't show yet; not while it can't reach PostgreSQL. */
  readonly isBehind?: (() => boolean) | undefined;
  /** Fields of `/readyz` in addition to `ready`. */
  readonly readiness: () => Readonly<Record<string, unknown>>;
  readonly log: Logger;
  /** Where responses are counted; by default the server's own counts. */
  readonly counts?: ServerState['counts'];
  /** Bounds on slow clients, milliseconds. */
  readonly timeouts?: {
    readonly headersMs?: number;
    readonly requestMs?: number;
    /** Time after which a connection with an open request is closed if neither side has sent anything. */
    readonly inactiveMs?: number;
    readonly checkEveryMs?: number;
  };
}

export interface HttpServer extends Server {
  readonly counts: ServerCounts;
}

/** State of one server, handed to the functions that answer. */
export interface ServerState {
  readonly options: HttpServerOptions;
  readonly counts: { -readonly [name in keyof ServerCounts]: ServerCounts[name] };
  readonly addressOf: (incoming: IncomingMessage) => string;
}

/** One request and its response. */
export interface Exchange {
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse;
  /** Set once it is known that the cache doesn't answer. */
  requestId?: string;
  /** Whether the cache answered at once. */
  hit?: boolean;
  /** Whether it had to wait for a render of the press. */
  missed?: boolean;
  /** Whether another process answers and measures it. */
  forwarded?: boolean;
}

/** The content service as the composition root and routes see it; `content.server.ts` makes one. */
import type { Article, ContentReader, Crossword, DocumentType, StaticPage, Video } from '../lib/content/model.ts';
import type { Logger } from '../lib/logging.ts';
import type { LookUpAnswer } from './sync/lookup.server.ts';
import type { WordPressProblem } from './wire/problems.ts';

export interface ContentOptions {
  /** Path of the content store's file, or `:memory:`. */
  readonly file: string;
  /** `null`: no WordPress; whatever the content store holds is served and nothing is synced. */
  readonly wordpress: { readonly url: string; readonly user?: string; readonly password?: string } | null;
  /** Public address of the site, no trailing slash. */
  readonly siteUrl: string;
  /** Shared with the newsroom plugin; without it webhooks and previews are refused. */
  readonly secret?: string;
  /** Hosts whose frames articles and crosswords may embed, `host` or `host:port`. */
  readonly frameHosts: readonly string[];
  /** Hosts beside WordPress's own from which audio and video may come, `host` or `host:port`. */
  readonly mediaHosts?: readonly string[];
  /** Measures a picture whose markup does not say its size; `null` when that is impossible. */
  measure(url: string): Promise<{ width: number; height: number } | null>;
  readonly log: Logger;
  /** Seconds between two reconciling polls. */
  readonly pollSeconds: number;
  readonly fetch?: typeof globalThis.fetch;
  /** Epoch milliseconds. */
  readonly now?: () => number;
  /** Called after every commit that changed something. What it resolves to, when a list of paths, is what a webhook's answer names. */
  readonly onChange?: (change: ContentChange) => unknown;
  /** Whether what the listener has been told outlives this process (default: always). While it does not, `replay` will tell it again. */
  readonly isKept?: (() => boolean) | undefined;
  /** Sanitize and search in threads of their own (default), so that rendering never waits; `false` in tests. */
  readonly threads?: boolean;
}

export interface ContentChange {
  readonly tags: ReadonlySet<string>;
  /** Documents that left the paper: their pages must stop being served at once. */
  readonly withdrawn: readonly { readonly type: DocumentType; readonly slug: string }[];
  /** Tags that pages carry which show a withdrawn document whole. */
  readonly withdrawnTags?: readonly string[];
  /** Documents that the content store did not hold before; a first synchronisation names all of them. */
  readonly published?: readonly { readonly type: DocumentType; readonly slug: string }[];
  /** Paths of the site that most likely show the change; for logs and the webhook's answer, not for correctness. */
  readonly paths?: readonly string[];
}

export type SyncPhase = 'off' | 'starting' | 'backfill' | 'following' | 'waiting' | 'stopped';

export interface TypeProgress {
  readonly done: number;
  /** As WordPress said at the last answer. */
  readonly total: number;
  readonly complete: boolean;
}

export interface SyncStatus {
  /** An edition can be shown: sections and the newest documents of every type are in. */
  readonly ready: boolean;
  /** The first copy of everything is done. */
  readonly complete: boolean;
  readonly phase: SyncPhase;
  readonly progress: Readonly<Record<string, TypeProgress>>;
  /** Estimated seconds until the back-fill is done, `null` when it is done or cannot be told. */
  readonly secondsLeft: number | null;
  /** Last time WordPress was found in step, UTC. */
  readonly syncedAt: string | null;
  /** What keeps sync from going on, in words for the operator; `null` when nothing does. */
  readonly problem: string | null;
  /** Causes that are known by name, each with its remedy; some leave sync going (credentials, a clock, uploads on another host). */
  readonly problems: readonly WordPressProblem[];
  /** Documents set aside because they do not fit. */
  readonly rejected: number;
  /** Whether WordPress hands over restricted bodies; `null` while unknown. */
  readonly credentials: boolean | null;
  /** Bytes of the content store on disk. */
  readonly bytes: number;
}

export interface SyncReport {
  readonly ok: boolean;
  /** Documents written, taken out, set aside. */
  readonly stored: number;
  readonly withdrawn: number;
  readonly rejected: number;
  readonly ms: number;
  readonly problem: string | null;
}

export interface WebhookRequest {
  /** Names in lower case, as `node:http` gives them. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** The body's bytes as they came; a signature does not survive parsing. */
  readonly rawBody: Uint8Array | string;
}

export interface WebhookAnswer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: object;
}

export type PreviewDocument =
  | { readonly type: 'articles'; readonly article: Article }
  | { readonly type: 'video'; readonly video: Video }
  | { readonly type: 'crosswords'; readonly crossword: Crossword }
  | { readonly type: 'pages'; readonly page: StaticPage };

export interface PreviewAnswer {
  /** 200, or 400 malformed, 401 bad signature, 404 no such document, 410 expired, 502/503 WordPress, 501 no credentials. */
  readonly status: number;
  readonly document?: PreviewDocument;
  readonly error?: string;
}

export interface Content {
  /** A reader for one request. */
  reader(): ContentReader;
  /**
   * Tells the listener again of changes that it may not have heard to the end when the process stopped. To be called before
   * anything is served; `start` does so otherwise.
   */
  replay(): void;
  /** Grows with every write to the content store, so that what was made of it before can be told from what is made now. */
  revision(): number;
  /** Begins to sync in the background; returns at once. */
  start(): void;
  /** Stops sync and closes the content store. */
  stop(): Promise<void>;
  /** One full reconciliation now: back-fill what is missing, poll, walk all ids. */
  syncNow(): Promise<SyncReport>;
  /** Has the poll come at once instead of at its time, unless WordPress has to be left alone. Any number of calls are one or two polls. */
  look(): void;
  /** @param taken called once what came was found good and new, before anything is done about it */
  receive(request: WebhookRequest, taken?: () => void): Promise<WebhookAnswer>;
  /** Webhooks refused since the start, by reason. */
  refused(): Readonly<Record<string, number>>;
  preview(params: URLSearchParams): Promise<PreviewAnswer>;
  status(): SyncStatus;
  /** Whether the first copy of a type is done: what is not in the content store then does not exist. */
  isComplete(type: DocumentType | 'comments'): boolean;
  /**
   * Fetches a document that the first copy has not come to, within bounds.
   *
   * @param client network address of the caller
   */
  lookUp(type: DocumentType, slug: string, client: string): Promise<LookUpAnswer>;
}

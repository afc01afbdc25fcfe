/** The content service as the composition root and routes see it; `content.server.ts` creates one. */
import type { Article, Crossword, DocumentType, StaticPage, Video } from '../lib/content/model.ts';
import type { ContentReader } from '../lib/content/reader.ts';
import type { FrontSlot } from '../lib/fronts/model.ts';
import type { Logger } from '../lib/logging.ts';
import type { EntryAhead, FetchTarget } from './store/ahead-of-log.server.ts';
import type { CopiedType } from './store/content-store.server.ts';
import type { ContentEntry } from './store/entries.server.ts';
import type { LookUpAnswer } from './sync/lookup.server.ts';
import type { WordPressProblem } from './wire/fetch.server.ts';

export interface ContentOptions {
  /** Path of the content store's file, or `:memory:`. */
  readonly file: string;
  /** Whether a file of another version or another WordPress is replaced (default). */
  readonly upgrades?: boolean | undefined;
  /** `null`: no WordPress; the site serves the content store as it is and syncs nothing. */
  readonly wordpress: {
    readonly url: string;
    readonly user?: string;
    readonly password?: string;
    /** Wait before a request's first retry in milliseconds; default: the client's own. */
    readonly backOffMs?: number;
  } | null;
  /** Public address of the site, without a trailing slash. */
  readonly siteUrl: string;
  /** Secret shared with the newsroom plugin; without it, webhooks and previews are refused. */
  readonly secret?: string;
  /** Hosts whose frames articles and crosswords may embed, `host` or `host:port`. */
  readonly frameHosts: readonly string[];
  /** Hosts other than WordPress that audio and video may come from, `host` or `host:port`. */
  readonly mediaHosts?: readonly string[];
  /** Measures a picture whose markup doesn't state its size; `null` when that is impossible. */
  measure(url: string): Promise<{ width: number; height: number } | null>;
  readonly log: Logger;
  /** Seconds between two reconciling polls. */
  readonly pollSeconds: number;
  readonly fetch?: typeof globalThis.fetch;
  /** Epoch milliseconds. */
  readonly now?: () => number;
  /** Called after every commit that changed something. If it resolves to a list of paths, the response to the webhook names them. */
  readonly onChange?: (change: ContentChange) => unknown;
  /** Whether the listener's record of changes survives this process (default: always). While it doesn't, `replay` repeats the changes. */
  readonly isDurable?: (() => boolean) | undefined;
  /** The content log of a cluster: sync's entries go into it, and come back through {@link Content.followed}. Without one they are applied at once. */
  readonly contentLog?: ContentLogAppender | undefined;
  /** Whether this process syncs with WordPress at present (default: always); when it begins to, call {@link Content.pollNow}. */
  readonly leads?: (() => boolean) | undefined;
  /** Sanitize and search in threads of their own (default), so that rendering never waits; `false` in tests. */
  readonly threads?: boolean;
}

/** Writes to the content log of a cluster. */
export interface ContentLogAppender {
  /**
   * Appends entries, and waits until this node has applied them.
   *
   * @param tags that they change
   * @param ahead what this node has applied ahead of the log, see {@link Content.withdrawMissed}; appended before the entries
   * @returns resolves to the paths that are fresh on this node
   * @throws Error when another node syncs now, or the log can't be reached
   */
  append(
    entries: readonly ContentEntry[],
    tags: ReadonlySet<string>,
    ahead?: readonly EntryAhead[],
  ): Promise<{ readonly refreshed: Promise<readonly string[]> }>;
}

/** Small values that the content log holds in addition to the content. */
export interface SharedValues {
  read(key: string): string | null;
  /** @param tags of the pages that show it @throws Error when another node syncs now, or the log can't be reached */
  write(key: string, value: string, tags: readonly string[]): Promise<void>;
}

/** The content store of a node that follows the content log of its cluster. */
export interface FollowedStore {
  /** Revision of the content log in the store; 0 if it has applied nothing of the log. */
  revision(): number;
  /** Empties the store unless it follows this log already. */
  followLog(log: string): void;
  /** A time on the scale of `Fetched.at`, later than that of every request so far. */
  fetchTime(): number;
  /**
   * Applies the next entries. Withdrawn content is gone when this returns.
   *
   * @param tags further tags that changed up to this revision
   * @returns resolves to the paths that are fresh
   * @throws Error at once, when they can't be written
   */
  apply(entries: readonly ContentEntry[], revision: number, tags: ReadonlySet<string>): Promise<readonly string[]>;
  /** What the store has withdrawn ahead of the log. */
  ahead(): readonly FetchTarget[];
}

export interface ContentChange {
  readonly tags: ReadonlySet<string>;
  /** Withdrawn documents: their pages must stop being served at once. */
  readonly withdrawn: readonly { readonly type: DocumentType; readonly slug: string }[];
  /** Tags of the pages that show the whole of a withdrawn document. */
  readonly withdrawnTags?: readonly string[];
  /** Documents that are new in the content store; the first sync lists all of them. */
  readonly published?: readonly { readonly type: DocumentType; readonly slug: string }[];
  /** Only this process has the change, as one made at its start: no other node purges the CDN for it. */
  readonly isOwn?: boolean;
  /** Paths of the site that most likely show the change: for logs and the response to the webhook, not for correctness. */
  readonly paths?: readonly string[];
}

export type SyncPhase = 'off' | 'starting' | 'backfill' | 'following' | 'waiting' | 'stopped';

export interface TypeProgress {
  readonly done: number;
  /** The number that WordPress reported last. */
  readonly total: number;
  readonly complete: boolean;
}

export interface SyncStatus {
  /** An edition can be shown: the sections and the newest documents of every type are stored. */
  readonly ready: boolean;
  /** The first copy of everything is done. */
  readonly complete: boolean;
  readonly phase: SyncPhase;
  readonly progress: Readonly<Record<string, TypeProgress>>;
  /** Estimated seconds until the back-fill is done; `null` when it is done or the time is unknown. */
  readonly secondsLeft: number | null;
  /** When the content store last matched WordPress, UTC. */
  readonly syncedAt: string | null;
  /** Why sync has stopped, in words for the operator; `null` while it works. */
  readonly problem: string | null;
  /** Known causes of trouble, each with its remedy; sync continues with some of them (credentials, a clock, uploads on another host). */
  readonly problems: readonly WordPressProblem[];
  /** Documents that failed validation. */
  readonly rejected: number;
  /** Whether WordPress sends restricted bodies; `null` while unknown. */
  readonly credentials: boolean | null;
  /** Bytes of the content store on disk. */
  readonly bytes: number;
}

export interface SyncReport {
  readonly ok: boolean;
  /** Counts of documents: stored, withdrawn, rejected. */
  readonly stored: number;
  readonly withdrawn: number;
  readonly rejected: number;
  readonly ms: number;
  readonly problem: string | null;
}

export interface WebhookRequest {
  /** Header names in lower case, as in `node:http`. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** The body's bytes as received: the signature covers them, and parsing would change them. */
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
  | { readonly type: 'pages'; readonly page: StaticPage }
  /** A front's draft: the slots that count now, and the path of its page. */
  | { readonly type: 'fronts'; readonly key: string; readonly path: string; readonly slots: readonly FrontSlot[] };

export interface PreviewAnswer {
  /** 200, or 400 malformed, 401 bad signature, 404 not found, 410 expired, 422 invalid document, 501 no credentials, 502 WordPress failed. */
  readonly status: number;
  readonly document?: PreviewDocument;
  /** The document has a password, so the site doesn't show it to readers. */
  readonly isProtected?: boolean;
  readonly error?: string;
}

export interface Content {
  /** A reader for one request. */
  reader(): ContentReader;
  /**
   * Repeats to the listener the changes that it may not have processed when the process stopped. Call it before the server starts to
   * serve; otherwise `start` does it.
   */
  replay(): void;
  /** Grows with every write to the content store: shows whether a cached result is out of date. */
  revision(): number;
  /** Starts to sync in the background; returns at once. */
  start(): void;
  /** Stops sync and closes the content store. */
  stop(): Promise<void>;
  /** One full reconciliation now: fetch what is missing, poll, and walk all ids. */
  syncNow(): Promise<SyncReport>;
  /** Runs the poll now instead of at its time, unless WordPress needs a rest. Many calls cause one or two polls. */
  pollNow(): void;
  /**
   * @param onAccepted called once the webhook was found valid and new, before it has any effect
   * @param isTimeChecked another node has compared the webhook's time with its own clock
   */
  receive(request: WebhookRequest, onAccepted?: () => void, isTimeChecked?: boolean): Promise<WebhookAnswer>;
  /** Why a webhook would be refused; `null` if it is valid and new. */
  verify(request: WebhookRequest): WebhookAnswer | null;
  /**
   * On a node that can't read the content log: asks WordPress what changed, and withdraws documents and comments that aren't published any
   * more, documents that are no longer free, and sections that are gone. The content store keeps its revision, so that the log's later
   * entries count.
   *
   * @param seconds how far back, by WordPress's clock
   * @returns resolves to how much it withdrew
   * @throws SyncProblem when WordPress can't be read
   */
  withdrawMissed(seconds: number, signal: AbortSignal): Promise<number>;
  /** Fetches one document or comment, or the sections, again and stores it. @throws Error when WordPress or the content log can't be reached */
  refresh(type: FetchTarget['type'], id: number): Promise<unknown>;
  /** Values that all nodes of a cluster have, such as market prices. */
  readonly shared: SharedValues;
  /** The content store as a follower of the content log. */
  readonly followed: FollowedStore;
  /** Refused webhooks since the start, by reason. */
  refused(): Readonly<Record<string, number>>;
  preview(params: URLSearchParams): Promise<PreviewAnswer>;
  status(): SyncStatus;
  /** Whether the first copy of a type is complete, so that a document that isn't in the content store doesn't exist. */
  isComplete(type: CopiedType): boolean;
  /**
   * Fetches a document that the first copy hasn't reached, within limits.
   *
   * @param client network address of the caller
   */
  lookUp(type: DocumentType, slug: string, client: string): Promise<LookUpAnswer>;
}

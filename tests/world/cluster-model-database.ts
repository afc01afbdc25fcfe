/** The PostgreSQL of the model of the cluster (cluster-model.ts), and the rules that a test may break. */

export const documents = [1, 2] as const;
/** The documents that each page shows; its tags have the same names. */
export const pages = { '/one': [1], '/two': [2], '/': [1, 2] } as const;
export type Page = keyof typeof pages;
export const pageNames = Object.keys(pages) as Page[];
export const tagsOf: Record<Page, readonly string[]> = {
  '/one': ['article:1'],
  '/two': ['article:2'],
  '/': ['latest'],
};

/** A document as WordPress shows it; `null`: withdrawn. */
export interface Version {
  readonly number: number;
  readonly gone: boolean;
}
export interface Stored extends Version {
  /** `Fetched.at` of the request that brought it. */
  readonly at: number;
  /** `Fetched.clock`: WordPress's clock, seconds. */
  readonly clock: number;
}
export interface Logged extends Stored {
  readonly revision: number;
}
export type Shown = Readonly<Record<number, number>>;

/** Rules that a test may break. */
export const rules = [
  'an append names its epoch',
  'a new holder reads the log to its end first',
  'documents fetched before a takeover are not appended',
  'later fetches have later times',
  'a page of an older revision is not stored',
  'a changed tag makes a page invalid',
  'a render that a change overtakes is repeated',
  'nodes read the log even without a message',
  'a holder that hangs is cut off',
  'the owner of the lock is cut off',
  'nodes use PostgreSQL’s clock',
  'a node that cannot write gives up the lease',
  'only a node that has reported counts as connected',
  'after a disconnection a node reads the log before it counts as connected',
  'a withdrawal waits for every connected node',
  'a node takes no page of newer content than its own',
  'a node’s own withdrawal has the time of the stored version',
  'a node that is ahead of the log shares no pages',
  'a node that is ahead of the log asks the holder',
  'a holder first appends its own withdrawals',
  'WordPress’s answers from before a withdrawal are ignored',
] as const;
export type Rule = (typeof rules)[number];

/** Milliseconds, as in node.ts and cluster.ts. */
export const goneMs = 5000;
export const staleMs = 2 * goneMs;
const renderMs = 4000;

export interface PageRow {
  revision: number;
  shown: Shown | null;
  claimed: number;
  claim: string | null;
  claimEnds: number;
}

/** PostgreSQL's side: each method is one statement. */
export class ModelDatabase {
  now = 0;
  epoch = 0;
  revision = 0;
  /** Monotonic time of `renewed`, and the session in the column `pid`. */
  renewed = 0;
  pid: number | null = null;
  /** The session that owns the advisory lock. */
  lock: number | null = null;
  readonly entries = new Map<number, Logged>();
  readonly tags = new Map<string, number>();
  readonly rows = new Map<Page, PageRow>();
  readonly nodes = new Map<string, { readonly seen: number; readonly applied: number }>();
  readonly broken: ReadonlySet<Rule>;

  constructor(broken: ReadonlySet<Rule> = new Set()) {
    this.broken = broken;
  }

  holds(rule: Rule): boolean {
    return !this.broken.has(rule);
  }

  tick(ms: number): void {
    this.now += ms;
  }

  /** content-log.ts, `append`. @returns the revision, `null`: `LeaseLost` */
  append(entries: readonly (readonly [number, Stored])[], tags: Iterable<string>, epoch: number | null): number | null {
    if (epoch !== null && epoch !== this.epoch && this.holds('an append names its epoch')) return null;
    this.revision++;
    for (const [id, stored] of entries) this.entries.set(id, { ...stored, revision: this.revision });
    for (const tag of tags) this.tags.set(tag, this.revision);
    return this.revision;
  }

  /** content-log.ts, `read`. */
  read(after: number): { revision: number; entries: (readonly [number, Logged])[]; tags: string[] } {
    const newer = <Key, Value>(map: Map<Key, Value>, at: (value: Value) => number) =>
      [...map].filter(([, value]) => at(value) > after);
    return {
      revision: this.revision,
      entries: newer(this.entries, ({ revision }) => revision),
      tags: newer(this.tags, (revision) => revision).map(([tag]) => tag),
    };
  }

  /** A row has its page's tags once its first page is stored. */
  private changedSince(page: Page, row: PageRow, than: number): boolean {
    return ['site', ...(row.shown === null ? [] : tagsOf[page])].some((tag) => (this.tags.get(tag) ?? 0) > than);
  }

  /** shared-pages.ts, `claim`. */
  claim(page: Page, node: string, revision: number): 'got' | 'wait' | Shown {
    const row = this.rows.get(page);
    const claimed = { claimed: revision, claim: node, claimEnds: this.now + renderMs };
    if (!row) {
      this.rows.set(page, { revision: -1, shown: null, ...claimed });
      return 'got';
    }
    const isOutdated = this.holds('a changed tag makes a page invalid') && this.changedSince(page, row, row.revision);
    const isFree =
      row.claim === null ||
      row.claimEnds < this.now ||
      (row.claimed < revision && this.changedSince(page, row, row.claimed));
    if (isFree && (row.shown === null || (isOutdated && !this.changedSince(page, row, revision)))) {
      Object.assign(row, claimed);
      return 'got';
    }
    const isNewer = row.revision > revision && this.holds('a node takes no page of newer content than its own');
    return row.shown !== null && !isOutdated && !isNewer ? row.shown : 'wait';
  }

  /** shared-pages.ts, `give`. */
  give(page: Page, node: string, revision: number, shown: Shown): void {
    const row = this.rows.get(page);
    if (!row || (row.revision > revision && this.holds('a page of an older revision is not stored'))) return;
    Object.assign(row, { revision, shown });
    if (row.claim === node) row.claim = null;
  }

  /** node.ts, `writeReport`. */
  report(node: string, applied: number): void {
    this.nodes.set(node, { seen: this.now, applied });
  }

  /** node.ts, `waitForAllNodes`. */
  everywhere(revision: number): boolean {
    if (!this.holds('a withdrawal waits for every connected node')) return true;
    const seen = [...this.nodes.values()].filter(({ seen: at }) => at > this.now - goneMs);
    return seen.every(({ applied }) => applied >= revision);
  }

  endSession(session: number | null): void {
    if (session !== null && this.lock === session) this.lock = null;
  }
}

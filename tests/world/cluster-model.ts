/**
 * A model of the cluster (src/server/cluster): WordPress, PostgreSQL and the nodes as a small state machine, one step at a time. Each
 * rule names the code that it follows. `simulation.test.ts` plays random steps on it, compares its PostgreSQL with the real one, and
 * breaks one rule after the other to show that the checks notice it.
 */

export const documents = [1, 2] as const;
/** What each page shows; its tags are the same names. */
export const pages = { '/one': [1], '/two': [2], '/': [1, 2] } as const;
export type Page = keyof typeof pages;
const pageNames = Object.keys(pages) as Page[];
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
interface Stored extends Version {
  /** `Fetched.at` of the request that brought it. */
  readonly at: number;
}
interface Logged extends Stored {
  readonly revision: number;
}
type Shown = Readonly<Record<number, number>>;

/** Rules that a test may break. */
export type Rule =
  | 'an append names its epoch'
  | 'a new holder reads the log to its end first'
  | 'what was fetched before the takeover is not appended'
  | 'later fetches have later times'
  | 'a page of an older revision is not stored'
  | 'a changed tag makes a page invalid'
  | 'a render that a change overtakes is repeated'
  | 'nodes look without a message'
  | 'a holder that stands still is cut off'
  | 'the owner of the lock is cut off'
  | 'PostgreSQL has the clock'
  | 'a node that cannot write gives up the lease'
  | 'only a node that has reported hears'
  | 'a withdrawal waits for every node that hears';

/** Milliseconds, as in node.ts and cluster.ts. */
const goneMs = 5000;
const staleMs = 2 * goneMs;
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

  /** A row has its page's tags from the first page on. */
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
    return row.shown !== null && !isOutdated ? row.shown : 'wait';
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

  /** node.ts, `everywhere`. */
  everywhere(revision: number): boolean {
    if (!this.holds('a withdrawal waits for every node that hears')) return true;
    const seen = [...this.nodes.values()].filter(({ seen: at }) => at > this.now - goneMs);
    return seen.every(({ applied }) => applied >= revision);
  }

  endSession(session: number | null): void {
    if (session !== null && this.lock === session) this.lock = null;
  }
}

/** A render under way (run-job.ts): taken from another node, or claimed here. */
interface Render {
  readonly page: Page;
  readonly revision: number;
  readonly shown: Shown;
  readonly claimed: boolean;
  overtaken: boolean;
}

/** An append of this node: the document is fetched, then the statement is sent, then it runs. */
interface Commit {
  readonly node: ModelNode;
  readonly id: number;
  readonly stored: Stored;
  readonly tags: ReadonlySet<string>;
  readonly epoch: number;
}

export interface ModelNode {
  readonly name: string;
  /** Its clock is wrong by so much. */
  readonly skew: number;
  state: 'up' | 'asleep' | 'dead';
  cut: boolean;
  /** Its disk is full: it can't write its content store. */
  full: boolean;
  session: number | null;
  hasLock: boolean;
  epoch: number | null;
  /** cluster.ts: the epoch for which this node has read the log to its end, and the time of its first fetch after that. */
  lead: { readonly epoch: number; readonly since: number } | null;
  lastAt: number;
  revision: number;
  store: Map<number, Stored>;
  /** Pages that readers get; `stale` ones are rendered again. */
  cache: Map<Page, { shown: Shown; stale: boolean }>;
  reading: { began: number; batch: ReturnType<ModelDatabase['read']> } | null;
  /** Time of the last read that found nothing, and of the last one that PostgreSQL knows of. */
  caughtUp: number;
  heard: number;
  fetched: { id: number; stored: Stored } | null;
  sent: Commit | null;
  /** Revision of its last append; until that has come back, it appends nothing further. */
  appended: number;
  renders: Render[];
}

/** Thrown when a promise is broken. */
export class Broken extends Error {}

const never = Number.NEGATIVE_INFINITY;

export class ModelCluster {
  readonly db: ModelDatabase;
  readonly wordpress = new Map<number, Version>(documents.map((id) => [id, { number: 1, gone: false }]));
  readonly nodes: readonly ModelNode[];
  /** Withdrawals whose webhook was answered, by document: the revision of the log. */
  private readonly answered = new Map<number, number>();
  private readonly withdrawnAt = new Map<number, number>();
  /** Statements on their way to PostgreSQL; they arrive even if their node has died. */
  private readonly flights: Commit[] = [];
  private sessions = 0;

  constructor(skews: readonly number[], broken: ReadonlySet<Rule> = new Set()) {
    this.db = new ModelDatabase(broken);
    this.nodes = skews.map((skew, at) => this.newNode(`node ${at}`, skew));
  }

  private newNode(name: string, skew: number): ModelNode {
    return {
      name,
      skew,
      state: 'up',
      cut: false,
      full: false,
      session: null,
      hasLock: false,
      epoch: null,
      lead: null,
      lastAt: 0,
      revision: 0,
      store: new Map(),
      cache: new Map(),
      reading: null,
      caughtUp: never,
      heard: never,
      fetched: null,
      sent: null,
      appended: 0,
      renders: [],
    };
  }

  private runs = (node: ModelNode): boolean => node.state === 'up';
  private reaches = (node: ModelNode): boolean => node.state === 'up' && !node.cut;

  /** node.ts, `hears`. */
  hears(node: ModelNode): boolean {
    if (!this.runs(node)) return false;
    const at = this.db.holds('only a node that has reported hears') ? node.heard : node.caughtUp;
    return this.db.now - at < goneMs;
  }

  edit(id: number, gone: boolean): void {
    const { number } = this.wordpress.get(id) as Version;
    this.wordpress.set(id, { number: number + 1, gone });
  }

  tick(ms: number): void {
    this.db.tick(ms);
  }

  kill(node: ModelNode): void {
    this.db.endSession(node.session);
    // Its data folder stays: the content store, and the pages.
    const { name, skew, cut, full, revision, store, cache } = node;
    Object.assign(node, this.newNode(name, skew), { state: 'dead', cut, full, revision, store, cache });
    node.lastAt = Math.max(0, ...[...store.values()].map(({ at }) => at));
  }

  start(node: ModelNode): void {
    if (node.state === 'dead') node.state = 'up';
  }

  /** PostgreSQL ends the session of a node, which notices it at its next beat. */
  drop(node: ModelNode): void {
    this.db.endSession(node.session);
    node.session = null;
  }

  /** listen.ts: a lost connection ends the lease (`lease.lost`). */
  private noticeLoss(node: ModelNode): void {
    if (node.session !== null || !node.hasLock) return;
    node.hasLock = false;
    node.epoch = null;
    node.lead = null;
  }

  /** lease.ts, `hold`: one statement a step, because a node may stand still between two. */
  beat(node: ModelNode): void {
    if (!this.reaches(node)) return;
    const { db } = this;
    this.noticeLoss(node);
    node.session ??= ++this.sessions;
    const now = this.clockOf(node);
    if (node.full && !this.hears(node) && db.holds('a node that cannot write gives up the lease')) {
      db.endSession(node.session);
      node.hasLock = false;
      node.epoch = null;
      node.lead = null;
    } else if (node.epoch !== null) {
      if (db.epoch === node.epoch) db.renewed = now;
      else {
        node.epoch = null;
        node.lead = null;
      }
    } else if (node.hasLock) {
      // The second statement of `take`.
      db.epoch++;
      db.renewed = now;
      db.pid = node.session;
      node.epoch = db.epoch;
    } else if (db.lock === null) {
      db.lock = node.session;
      node.hasLock = true;
    } else this.endStaleHolder(now);
  }

  private endStaleHolder(now: number): void {
    const { db } = this;
    if (db.renewed >= now - staleMs || !db.holds('a holder that stands still is cut off')) return;
    db.renewed = now;
    const pid = db.holds('the owner of the lock is cut off') ? db.lock : db.pid;
    const holder = this.nodes.find(({ session }) => session !== null && session === pid);
    if (holder) this.drop(holder);
  }

  /** channel.ts, `databaseNow`. */
  private clockOf({ skew }: ModelNode): number {
    return this.db.now + (this.db.holds('PostgreSQL has the clock') ? 0 : skew);
  }

  /** node.ts, `readLog`: the statement runs. */
  read(node: ModelNode): void {
    if (!this.reaches(node) || node.reading) return;
    node.reading = { began: this.db.now, batch: this.db.read(node.revision) };
  }

  /** node.ts, `apply`, and cluster.ts, `followerOf`: its answer is here. */
  apply(node: ModelNode): void {
    if (!this.runs(node) || !node.reading) return;
    const { began, batch } = node.reading;
    node.reading = null;
    if (batch.revision === node.revision) {
      node.caughtUp = began;
      return;
    }
    if (node.full) return;
    const changed = new Set(batch.tags);
    const withdrawn = new Set<string>();
    for (const [id, logged] of batch.entries) {
      if (this.db.holds('later fetches have later times')) node.lastAt = Math.max(node.lastAt, logged.at);
      const before = node.store.get(id);
      for (const tag of put(node.store, id, logged)) changed.add(tag);
      if (before && !before.gone && node.store.get(id)?.gone) withdrawn.add(`article:${id}`);
    }
    node.revision = batch.revision;
    // press/cache/invalidation.ts: what is withdrawn is removed, what is stale is rendered again.
    for (const [page, cached] of [...node.cache]) {
      if (tagsOf[page].some((tag) => withdrawn.has(tag))) node.cache.delete(page);
      else if (tagsOf[page].some((tag) => changed.has(tag))) cached.stale = true;
    }
    for (const render of node.renders) if (tagsOf[render.page].some((tag) => changed.has(tag))) render.overtaken = true;
  }

  /** node.ts, `report`. */
  report(node: ModelNode): void {
    if (!this.reaches(node) || (node.full && node.revision < this.db.revision)) return;
    const { caughtUp } = node;
    this.db.report(node.name, node.revision);
    node.heard = caughtUp;
  }

  /** cluster.ts, `takeOver`: nothing is fetched before the new holder has read the log to its end. */
  takeOver(node: ModelNode): void {
    if (!this.reaches(node) || node.epoch === null || node.lead?.epoch === node.epoch) return;
    if (node.revision < this.db.revision && this.db.holds('a new holder reads the log to its end first')) return;
    node.lead = { epoch: node.epoch, since: this.nextAt(node) };
  }

  /** client.server.ts, `once`. */
  private nextAt(node: ModelNode): number {
    node.lastAt = Math.max(this.db.now + node.skew, node.lastAt + 1);
    return node.lastAt;
  }

  /** refresh.server.ts, `document`; one fetch of a document at a time. WordPress has a network of its own. */
  fetch(node: ModelNode, id: number): void {
    if (!this.runs(node) || node.fetched || node.sent || !node.lead || node.lead.epoch !== node.epoch) return;
    node.fetched = { id, stored: { ...(this.wordpress.get(id) as Version), at: this.nextAt(node) } };
  }

  /** poll.server.ts: what differs is fetched. */
  poll(node: ModelNode): void {
    const differing = documents.find((id) => {
      const [ours, theirs] = [node.store.get(id), this.wordpress.get(id) as Version];
      return ours ? ours.gone !== theirs.gone || (!theirs.gone && ours.number !== theirs.number) : !theirs.gone;
    });
    if (differing !== undefined) this.fetch(node, differing);
  }

  /** apply.server.ts, `commit`: the tags come from a preview; the statement is on its way then. */
  send(node: ModelNode): void {
    if (!this.runs(node) || !node.fetched || node.sent || node.revision < node.appended) return;
    const { id, stored } = node.fetched;
    const { lead, epoch } = node;
    node.fetched = null;
    if (epoch === null || lead?.epoch !== epoch) return;
    if (stored.at < lead.since && this.db.holds('what was fetched before the takeover is not appended')) return;
    node.sent = { node, id, stored, tags: put(new Map(node.store), id, stored), epoch };
    this.flights.push(node.sent);
  }

  /** The oldest statement on its way runs, whatever its node does meanwhile; or it is lost, or its answer is. */
  run(fate: 'runs' | 'is lost' | 'is not answered', flight = this.flights[0]): void {
    if (!flight) return;
    this.flights.splice(this.flights.indexOf(flight), 1);
    const { node, id, stored, tags, epoch } = flight;
    const before = this.db.entries.get(id);
    const revision = fate === 'is lost' ? null : this.db.append([[id, stored]], tags, epoch);
    if (node.sent === flight) {
      node.sent = null;
      if (revision !== null && fate === 'runs') node.appended = revision;
      // cluster.ts, `append`: after a failure the log's end isn't known.
      else if (this.db.holds('a new holder reads the log to its end first')) node.lead = null;
    }
    if (revision === null) return;
    if (before && before.number > stored.number)
      throw new Broken(`Version ${stored.number} of ${id} replaces ${before.number} in the log`);
    if (stored.gone && !before?.gone) this.withdrawnAt.set(id, this.db.now);
    this.answered.delete(id);
  }

  /** cluster.ts, `receiveAsHolder`: the webhook of a withdrawal is answered. */
  answer(node: ModelNode): void {
    if (!this.reaches(node) || node.epoch === null) return;
    for (const [id, { gone, revision }] of this.db.entries) {
      if (gone && node.revision >= revision && this.db.everywhere(revision)) this.answered.set(id, revision);
    }
  }

  /** run-job.ts, `renderOnce`, and shared-pages.ts, `take`. */
  want(node: ModelNode, page: Page): void {
    if (!this.runs(node) || node.renders.some((render) => render.page === page)) return;
    const { revision } = node;
    const own = Object.fromEntries(pages[page].map((id) => [id, visible(node.store.get(id))]));
    if (node.cut) {
      node.renders.push({ page, revision, shown: own, claimed: false, overtaken: false });
      return;
    }
    const outcome = this.db.claim(page, node.name, revision);
    if (outcome === 'wait') return;
    if (outcome !== 'got') this.mustBeLatest(page, outcome);
    const claimed = outcome === 'got';
    node.renders.push({ page, revision, shown: claimed ? own : outcome, claimed, overtaken: false });
  }

  private mustBeLatest(page: Page, shown: Shown): void {
    for (const id of pages[page]) {
      const latest = visible(this.db.entries.get(id));
      if (shown[id] !== latest)
        throw new Broken(`${page} counts as valid with version ${shown[id]} of ${id}, not ${latest}`);
    }
  }

  /** run-job.ts, `renderUntilCurrent`, and shared-pages.ts, `give`. */
  finish(node: ModelNode): void {
    if (!this.runs(node)) return;
    const render = node.renders.shift();
    if (!render) return;
    const { page, revision, shown, claimed, overtaken } = render;
    if (claimed && !node.cut) {
      const before = this.db.rows.get(page)?.revision ?? -1;
      this.db.give(page, node.name, revision, shown);
      const after = this.db.rows.get(page)?.revision ?? -1;
      if (after < before) throw new Broken(`${page} of revision ${after} replaces that of ${before}`);
    }
    if (overtaken && this.db.holds('a render that a change overtakes is repeated')) return;
    node.cache.set(page, { shown, stale: false });
  }

  /** No node that hears shows what is withdrawn: at all after five seconds, nor once its webhook is answered. */
  check(): void {
    for (const node of this.nodes) {
      if (!this.hears(node)) continue;
      for (const [page, { shown }] of node.cache) {
        for (const id of pages[page]) {
          const entry = this.db.entries.get(id);
          // The list keeps the old bytes until the new ones are there; a story's own page goes at once.
          if (!entry?.gone || shown[id] === 0 || pages[page].length > 1) continue;
          const old = this.db.now - (this.withdrawnAt.get(id) ?? this.db.now) > goneMs;
          if (old || this.answered.has(id))
            throw new Broken(`${node.name} hears and shows ${page}, which is withdrawn`);
        }
      }
    }
  }

  /** The node that leads, if it can write. */
  get leader(): ModelNode | undefined {
    return this.nodes.find((node) => this.reaches(node) && node.epoch === this.db.epoch && node.lead !== null);
  }

  /** An edit that the leader begins to publish. @param upTo how far it gets */
  publish(id: number, gone: boolean, upTo: 'fetched' | 'sent' | 'done'): void {
    this.edit(id, gone);
    const { leader } = this;
    if (!leader) return;
    this.fetch(leader, id);
    if (upTo !== 'fetched') this.send(leader);
    if (upTo === 'done' && leader.sent) this.run('runs', leader.sent);
  }

  /** A node looks into the log. */
  follow(node: ModelNode): void {
    for (let turn = 0; turn < 2; turn++) {
      this.read(node);
      this.apply(node);
    }
    this.report(node);
  }

  /** A node renders its outdated pages. */
  serve(node: ModelNode): void {
    for (const page of pageNames) if (node.cache.get(page)?.stale !== false) this.want(node, page);
    while (this.runs(node) && node.renders.length > 0) this.finish(node);
  }

  /** What nodes do in a second. */
  second(nodes: readonly ModelNode[]): void {
    this.tick(1000);
    for (const node of nodes) {
      this.beat(node);
      if (this.db.holds('nodes look without a message')) this.follow(node);
      this.takeOver(node);
      this.poll(node);
      this.send(node);
      if (node.sent) this.run('runs', node.sent);
    }
    if (this.leader) this.answer(this.leader);
  }

  /** The lock's owner loses its session, and a node gets the lock. */
  handOver(node: ModelNode): void {
    const owner = this.nodes.find(({ session }) => session !== null && session === this.db.lock);
    if (owner) this.drop(owner);
    for (let turn = 0; turn < 2; turn++) this.beat(node);
  }

  /** Faults end: what is dead starts, what is cut is joined. What sleeps goes on sleeping, and full disks stay full. @throws Broken */
  settle(): void {
    for (const node of this.nodes) {
      node.cut = false;
      this.start(node);
    }
    for (let second = 0; second < 40 && this.outdated() !== null; second++) {
      this.second(this.nodes);
      for (const node of this.nodes) this.serve(node);
      this.check();
    }
    const outdated = this.outdated();
    if (outdated !== null) throw new Broken(outdated);
  }

  /** What a node that is awake lacks; `null`: all show what WordPress has. */
  private outdated(): string | null {
    const able = this.nodes.filter((node) => this.runs(node) && !node.full);
    for (const node of able) {
      if (node.revision !== this.db.revision) return `${node.name} stays at revision ${node.revision}`;
      if (!this.hears(node)) return `${node.name} doesn't hear`;
      for (const id of documents) {
        const [ours, theirs] = [visible(node.store.get(id)), visible(this.wordpress.get(id))];
        if (ours !== theirs) return `${node.name} has version ${ours} of ${id}, WordPress has ${theirs}`;
      }
      for (const page of pageNames) {
        for (const id of pages[page]) {
          const [ours, theirs] = [node.cache.get(page)?.shown[id], visible(this.wordpress.get(id))];
          if (ours !== theirs) return `${node.name} shows version ${ours} of ${id} on ${page}, not ${theirs}`;
        }
      }
    }
    return null;
  }
}

/** Number of the version that a page shows; 0: none. */
const visible = (version: Version | undefined): number => (version === undefined || version.gone ? 0 : version.number);

/** write.server.ts, `storeDocument` and `withdrawDocument`. @returns tags that change */
function put(store: Map<number, Stored>, id: number, given: Stored): ReadonlySet<string> {
  const before = store.get(id);
  const isNewer = before && !before.gone && !given.gone && given.number > before.number;
  if (before && before.at > given.at && !isNewer) return new Set();
  store.set(id, given);
  return visible(before) === visible(given) ? new Set() : new Set([`article:${id}`, 'latest']);
}

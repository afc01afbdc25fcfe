/**
 * A model of the cluster (src/server/cluster): WordPress, PostgreSQL and the nodes as a small state machine, one step at a time. Each
 * rule names the code that it models. `simulation.test.ts` plays random steps on it, compares its PostgreSQL with the real one, and
 * breaks one rule after another to show that the checks notice it.
 */
import {
  documents,
  goneMs,
  ModelDatabase,
  type Page,
  pageNames,
  pages,
  type Rule,
  type Shown,
  type Stored,
  staleMs,
  tagsOf,
  type Version,
} from './cluster-model-database.ts';
import { type Commit, type ModelNode, newNode, put, visible } from './cluster-model-node.ts';

/** Thrown when a promise is broken. */
export class Broken extends Error {}

export class ModelCluster {
  readonly db: ModelDatabase;
  readonly wordpress = new Map<number, Version>(documents.map((id) => [id, { number: 1, gone: false }]));
  readonly nodes: readonly ModelNode[];
  /** Withdrawals whose webhook was answered, by document: the revision of the log. */
  private readonly answered = new Map<number, number>();
  private readonly withdrawnAt = new Map<number, number>();
  /** The last withdrawal of each document in WordPress, and its number. */
  private readonly withdrawals = new Map<number, number>();
  private lastWithdrawal = 0;
  /** Statements in transit to PostgreSQL; they arrive even if their node has died. */
  private readonly flights: Commit[] = [];
  private sessions = 0;

  constructor(skews: readonly number[], broken: ReadonlySet<Rule> = new Set()) {
    this.db = new ModelDatabase(broken);
    this.nodes = skews.map((skew, at) => newNode(`node ${at}`, skew));
  }

  private runs = (node: ModelNode): boolean => node.state === 'up';
  private reaches = (node: ModelNode): boolean => node.state === 'up' && !node.cut;

  /** node.ts, `isConnected`. */
  isConnected(node: ModelNode): boolean {
    if (!this.runs(node)) return false;
    const at = this.db.holds('only a node that has reported counts as connected') ? node.connectedAt : node.caughtUp;
    return this.db.now - at < goneMs;
  }

  edit(id: number, gone: boolean): void {
    this.change(id, (this.wordpress.get(id) as Version).number + 1, gone);
  }

  /** Withdraws a document, or publishes it again unchanged: without a later `modified`. */
  turn(id: number, gone: boolean): void {
    this.change(id, (this.wordpress.get(id) as Version).number, gone);
  }

  private change(id: number, number: number, gone: boolean): void {
    if (gone && !this.wordpress.get(id)?.gone) this.withdrawals.set(id, ++this.lastWithdrawal);
    this.wordpress.set(id, { number, gone });
  }

  tick(ms: number): void {
    this.db.tick(ms);
  }

  kill(node: ModelNode): void {
    this.db.endSession(node.session);
    // It keeps its data folder: the content store and the pages.
    const { name, skew, cut, full, revision, store, ahead, told, cache } = node;
    const kept = { cut, full, revision, store, ahead, told, cache };
    Object.assign(node, newNode(name, skew), { state: 'dead', ...kept });
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

  /** lease.ts, `hold`: one statement per step, because a node may freeze between two. */
  beat(node: ModelNode): void {
    if (!this.reaches(node)) return;
    const { db } = this;
    this.noticeLoss(node);
    node.session ??= ++this.sessions;
    const now = this.clockOf(node);
    if (node.full && !this.isConnected(node) && db.holds('a node that cannot write gives up the lease')) {
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
    if (db.renewed >= now - staleMs || !db.holds('a holder that hangs is cut off')) return;
    db.renewed = now;
    const pid = db.holds('the owner of the lock is cut off') ? db.lock : db.pid;
    const holder = this.nodes.find(({ session }) => session !== null && session === pid);
    if (holder) this.drop(holder);
  }

  /** channel.ts, `databaseNow`. */
  private clockOf({ skew }: ModelNode): number {
    return this.db.now + (this.db.holds('nodes use PostgreSQL’s clock') ? 0 : skew);
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
    node.readAt = this.db.now;
    if (batch.revision === node.revision) {
      node.caughtUp = began;
      return;
    }
    if (node.full) return;
    const changed = new Set(batch.tags);
    const withdrawn = new Set<string>();
    for (const [id, logged] of batch.entries) {
      if (this.db.holds('later fetches have later times')) node.lastAt = Math.max(node.lastAt, logged.at);
      if (!this.counts(node, id, logged)) continue;
      node.ahead.delete(id);
      const before = node.store.get(id);
      for (const tag of put(node.store, id, logged)) changed.add(tag);
      if (before && !before.gone && node.store.get(id)?.gone) withdrawn.add(`article:${id}`);
    }
    node.revision = batch.revision;
    this.invalidate(node, changed, withdrawn);
  }

  /** ahead-of-log.server.ts, `chooseEntries`. */
  private counts(node: ModelNode, id: number, { clock }: Stored): boolean {
    const ahead = node.ahead.get(id);
    if (ahead?.clock === clock) node.ahead.set(id, { ...ahead, isDoubtful: true });
    return !ahead || clock > ahead.clock || !this.db.holds('WordPress’s answers from before a withdrawal are ignored');
  }

  /** press/cache/invalidation.ts: what is withdrawn is removed, what is stale is rendered again. */
  private invalidate(node: ModelNode, changed: ReadonlySet<string>, withdrawn: ReadonlySet<string>): void {
    const isIn = (page: Page, tags: ReadonlySet<string>) =>
      tags.has('site') || tagsOf[page].some((tag) => tags.has(tag));
    for (const [page, cached] of [...node.cache]) {
      if (isIn(page, withdrawn)) node.cache.delete(page);
      else if (isIn(page, changed)) cached.stale = true;
    }
    for (const render of node.renders) if (isIn(render.page, changed)) render.overtaken = true;
  }

  /** missed-withdrawals.ts, and withdraw-missed.server.ts: a node that is cut off asks WordPress what was withdrawn. */
  ask(node: ModelNode): void {
    const isCutOff = !this.isConnected(node) && this.db.now - node.readAt >= goneMs;
    if (!this.runs(node) || !isCutOff || node.full) return;
    for (const id of documents) {
      const [stored, present] = [node.store.get(id), this.wordpress.get(id) as Version];
      // What it withdrew before is withdrawn again, with the time of a later answer.
      if (!stored || !present.gone || (stored.gone && !node.ahead.has(id))) continue;
      node.told.set(id, this.lastWithdrawal);
      const askedAt = this.nextAt(node);
      const at = this.db.holds('a node’s own withdrawal has the time of the stored version') ? stored.at : askedAt;
      const entry = { ...present, at, clock: this.seconds() };
      const tags = put(node.store, id, entry);
      node.ahead.set(id, { ...entry, askedAt, isDoubtful: false });
      this.invalidate(node, tags, new Set([`article:${id}`]));
    }
  }

  /** missed-withdrawals.ts, `remind`: the holder fetches documents again that the log still has unwithdrawn. */
  remind(node: ModelNode): void {
    const [id] = node.ahead.keys();
    if (!this.reaches(node) || !this.isConnected(node) || id === undefined || !this.leader) return;
    if (this.db.holds('a node that is ahead of the log asks the holder')) this.fetch(this.leader, id);
  }

  /** WordPress's clock. */
  private seconds(): number {
    return Math.floor(this.db.now / 1000);
  }

  /** node.ts, `report`. */
  report(node: ModelNode): void {
    const { caughtUp } = node;
    if (!this.reaches(node) || caughtUp === Number.NEGATIVE_INFINITY) return;
    if (node.full && node.revision < this.db.revision) return;
    this.db.report(node.name, node.revision);
    if (this.db.now - node.reportedAt >= goneMs) node.listedSince = this.db.now;
    node.reportedAt = this.db.now;
    const isRead =
      caughtUp >= node.listedSince ||
      !this.db.holds('after a disconnection a node reads the log before it counts as connected');
    if (isRead) node.connectedAt = caughtUp;
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

  /** refresh.server.ts, `document`; one fetch of a document at a time. WordPress is on a separate network. */
  fetch(node: ModelNode, id: number): void {
    if (!this.runs(node) || node.fetched || node.sent || !node.lead || node.lead.epoch !== node.epoch) return;
    const at = this.nextAt(node);
    node.fetched = { id, stored: { ...(this.wordpress.get(id) as Version), at, clock: this.seconds() } };
  }

  /** poll.server.ts: what differs is fetched. */
  poll(node: ModelNode): void {
    const differing = documents.find((id) => {
      const [ours, theirs] = [node.store.get(id), this.wordpress.get(id) as Version];
      return ours ? ours.gone !== theirs.gone || (!theirs.gone && ours.number !== theirs.number) : !theirs.gone;
    });
    if (differing !== undefined) this.fetch(node, differing);
  }

  /** apply.server.ts, `commit`: the tags come from a preview; then the statement is in transit. */
  send(node: ModelNode): void {
    if (!this.runs(node) || !node.fetched || node.sent || node.revision < node.appended) return;
    const { id, stored } = node.fetched;
    const { lead, epoch } = node;
    node.fetched = null;
    if (epoch === null || lead?.epoch !== epoch) return;
    if (stored.at < lead.since && this.db.holds('documents fetched before a takeover are not appended')) return;
    const entries = this.withAhead(node, id, stored, lead.since);
    const tags = new Set<string>();
    const preview = new Map(node.store);
    for (const [each, entry] of entries) for (const tag of put(preview, each, entry)) tags.add(tag);
    if (node.ahead.size > 0 && this.db.holds('a holder first appends its own withdrawals')) tags.add('site');
    node.sent = { node, entries, tags, epoch };
    this.flights.push(node.sent);
  }

  /** ahead-of-log.server.ts, `withEntriesAhead`, and cluster-log.ts, `datedFrom`. */
  private withAhead(
    node: ModelNode,
    id: number,
    stored: Stored,
    since: number,
  ): readonly (readonly [number, Stored])[] {
    const own = node.ahead.get(id);
    const dated = own ? { ...stored, clock: Math.max(stored.clock, own.clock + 1) } : stored;
    const entries = own && stored.at < own.askedAt ? [] : [[id, dated] as const];
    if (!this.db.holds('a holder first appends its own withdrawals')) return entries;
    const ahead = [...node.ahead].flatMap(([each, { askedAt, isDoubtful, ...entry }]) =>
      isDoubtful ? [] : [[each, { ...entry, at: Math.max(since, askedAt), clock: entry.clock + 1 }] as const],
    );
    return [...ahead, ...entries];
  }

  /** The oldest statement in transit runs, whatever its node does in the meantime; or it is lost, or its answer is. */
  run(outcome: 'runs' | 'is lost' | 'is not answered', flight = this.flights[0]): void {
    if (!flight) return;
    this.flights.splice(this.flights.indexOf(flight), 1);
    const { node, entries, tags, epoch } = flight;
    const before = new Map(this.db.entries);
    const revision = outcome === 'is lost' ? null : this.db.append(entries, tags, epoch);
    if (node.sent === flight) {
      node.sent = null;
      if (revision !== null && outcome === 'runs') node.appended = revision;
      // cluster-log.ts, `append`: after a failure the end of the log isn't known.
      else if (this.db.holds('a new holder reads the log to its end first')) node.lead = null;
    }
    if (revision === null) return;
    for (const id of new Set(entries.map(([each]) => each))) {
      const [older, newer] = [before.get(id), this.db.entries.get(id) as Stored];
      if (older && older.number > newer.number)
        throw new Broken(`Version ${newer.number} of ${id} replaces ${older.number} in the log`);
      if (newer.gone && !older?.gone) this.withdrawnAt.set(id, this.db.now);
      this.answered.delete(id);
    }
  }

  /** webhooks.ts, `receiveAsHolder`: the webhook of a withdrawal is answered. */
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
    const isAhead = node.ahead.size > 0 && this.db.holds('a node that is ahead of the log shares no pages');
    if (node.cut || isAhead) {
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

  /**
   * No connected node shows a withdrawn document more than five seconds later, or once its webhook is answered. Nor does a node,
   * connected or not, to which WordPress has reported the withdrawal.
   */
  check(): void {
    for (const node of this.nodes) {
      this.checkTold(node);
      if (!this.isConnected(node)) continue;
      for (const [page, { shown }] of node.cache) {
        for (const id of pages[page]) {
          const entry = this.db.entries.get(id);
          // A list keeps the old bytes until the new ones are rendered; a story's own page is removed at once.
          if (!entry?.gone || shown[id] === 0 || pages[page].length > 1) continue;
          const old = this.db.now - (this.withdrawnAt.get(id) ?? this.db.now) > goneMs;
          if (old || this.answered.has(id))
            throw new Broken(`${node.name} is connected and shows ${page}, which is withdrawn`);
        }
      }
    }
  }

  private checkTold(node: ModelNode): void {
    for (const [id, told] of node.told) {
      if (!this.runs(node) || !this.wordpress.get(id)?.gone || told < (this.withdrawals.get(id) ?? 0)) continue;
      for (const [page, { shown }] of node.cache) {
        if (shown[id] && pages[page].length === 1)
          throw new Broken(`${node.name} was told by WordPress that ${id} is withdrawn, and shows ${page}`);
      }
    }
  }

  /** The node with the lease, if it can write. */
  get leader(): ModelNode | undefined {
    return this.nodes.find((node) => this.reaches(node) && node.epoch === this.db.epoch && node.lead !== null);
  }

  /** Publishes an edit on the leading node. @param upTo how far it gets */
  publish(id: number, gone: boolean, upTo: 'fetched' | 'sent' | 'done'): void {
    this.edit(id, gone);
    const { leader } = this;
    if (!leader) return;
    this.fetch(leader, id);
    if (upTo !== 'fetched') this.send(leader);
    if (upTo === 'done' && leader.sent) this.run('runs', leader.sent);
  }

  /** A node reads the log. */
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

  /** What nodes do each second. */
  second(nodes: readonly ModelNode[]): void {
    this.tick(1000);
    for (const node of nodes) {
      this.beat(node);
      if (this.db.holds('nodes read the log even without a message')) this.follow(node);
      this.takeOver(node);
      this.ask(node);
      this.remind(node);
      this.poll(node);
      this.send(node);
      if (node.sent) this.run('runs', node.sent);
    }
    if (this.leader) this.answer(this.leader);
  }

  /** A single node is cut off for so long that it asks WordPress. */
  beCutOff(node: ModelNode): void {
    node.cut = true;
    for (let ms = 0; ms < goneMs; ms += 1000) this.second(this.nodes.filter((each) => each !== node));
    this.ask(node);
  }

  /** The lock's owner loses its session, and a node gets the lock. */
  handOver(node: ModelNode): void {
    const owner = this.nodes.find(({ session }) => session !== null && session === this.db.lock);
    if (owner) this.drop(owner);
    for (let turn = 0; turn < 2; turn++) this.beat(node);
  }

  /**
   * Ends faults: dead nodes start, and cut-off nodes are connected. Sleeping nodes stay asleep, and full disks stay full. @throws
   * Broken
   */
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

  /** What an awake node lacks; `null`: all nodes show what WordPress has. */
  private outdated(): string | null {
    const able = this.nodes.filter((node) => this.runs(node) && !node.full);
    for (const node of able) {
      if (node.revision !== this.db.revision) return `${node.name} stays at revision ${node.revision}`;
      if (!this.isConnected(node)) return `${node.name} isn’t connected`;
      if (node.ahead.size > 0) return `${node.name} stays ahead of the log`;
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

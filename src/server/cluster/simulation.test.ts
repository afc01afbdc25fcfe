/**
 * The cluster under random orders of events: nodes that are killed, stand still, are cut off and have wrong clocks, messages and answers
 * that are lost or late. The rules are those of a model (tests/world/cluster-model.ts); its PostgreSQL is compared with the real one, and
 * each rule is broken once to show that the checks notice it.
 */
import fc from 'fast-check';
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import {
  Broken,
  documents,
  ModelCluster,
  ModelDatabase,
  type ModelNode,
  type Page,
  pages,
  type Rule,
  tagsOf,
} from '../../../tests/world/cluster-model.ts';
import { prepare } from '../../../tests/world/databases.ts';
import { runs } from '../../../tests/world/runs.ts';
import type { Queries } from '../../lib/database.ts';
import { silent } from '../../lib/logging.ts';
import type { SharedPage } from '../../press/scheduler/page-share.ts';
import { nameOf } from '../../press/store/stored-page.ts';
import { LeaseLost, openContentLog, tagKind } from './content-log.ts';
import { createSharedPages } from './shared-pages.ts';

const hour = 3_600_000;
const pageNames = Object.keys(pages) as Page[];
const at = fc.nat(2);
const id = fc.constantFrom(...documents);
const upTo = fc.constantFrom('fetched' as const, 'sent' as const, 'done' as const);
const page = fc.constantFrom(...pageNames);
const only = <Name extends string>(...names: Name[]) => fc.record({ do: fc.constantFrom(...names), node: at });

const step = fc.oneof(
  // Each by itself, so that anything can come between.
  { weight: 2, arbitrary: fc.record({ do: fc.constant('edit' as const), id, gone: fc.boolean() }) },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant('tick' as const), ms: fc.constantFrom(1, 500, 1000, 4000, 11_000) }),
  },
  { weight: 3, arbitrary: only('kill', 'sleep', 'wake', 'start', 'cut', 'join', 'drop', 'fill', 'free') },
  { weight: 8, arbitrary: only('beat', 'read', 'apply', 'report', 'take over', 'poll', 'send', 'answer', 'finish') },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('run' as const),
      fate: fc.constantFrom('runs', 'runs', 'is lost', 'is not answered'),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('fetch' as const), node: at, id }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('want' as const), node: at, page }) },
  // Several at once, as they come without trouble.
  { weight: 6, arbitrary: only('follow', 'serve', 'second without', 'follow and be cut') },
  { weight: 4, arbitrary: only('hand over') },
  { weight: 8, arbitrary: fc.record({ do: fc.constant('publish' as const), id, gone: fc.boolean(), upTo }) },
);
type Step = typeof step extends fc.Arbitrary<infer Each> ? Each : never;

/** Steps that a method of the model plays under the same name. */
const methods = {
  kill: 'kill',
  start: 'start',
  drop: 'drop',
  beat: 'beat',
  read: 'read',
  apply: 'apply',
  report: 'report',
  'take over': 'takeOver',
  poll: 'poll',
  send: 'send',
  answer: 'answer',
  finish: 'finish',
  follow: 'follow',
  serve: 'serve',
  'hand over': 'handOver',
} as const;

function play(cluster: ModelCluster, one: Step): void {
  if (one.do === 'edit') cluster.edit(one.id, one.gone);
  else if (one.do === 'publish') cluster.publish(one.id, one.gone, one.upTo);
  else if (one.do === 'tick') cluster.tick(one.ms);
  else if (one.do === 'run') cluster.run(one.fate);
  else playOn(cluster, cluster.nodes[one.node] as ModelNode, one);
}

function playOn(cluster: ModelCluster, node: ModelNode, one: Extract<Step, { readonly node: number }>): void {
  if (one.do === 'fetch') cluster.fetch(node, one.id);
  else if (one.do === 'want') cluster.want(node, one.page);
  else if (one.do === 'second without') cluster.second(cluster.nodes.filter((each) => each !== node));
  else if (one.do === 'sleep') {
    if (node.state === 'up') node.state = 'asleep';
  } else if (one.do === 'wake') {
    if (node.state === 'asleep') node.state = 'up';
  } else if (one.do === 'cut' || one.do === 'join') node.cut = one.do === 'cut';
  else if (one.do === 'fill' || one.do === 'free') node.full = one.do === 'fill';
  else if (one.do === 'follow and be cut') {
    cluster.read(node);
    cluster.apply(node);
    node.cut = true;
  } else cluster[methods[one.do]](node);
}

const stories = fc.record({
  skews: fc.array(fc.constantFrom(0, hour, -hour), { minLength: 3, maxLength: 3 }),
  // Some begin with a cluster at work.
  settled: fc.boolean(),
  steps: fc.array(step, { minLength: 5, maxLength: 80 }),
});

const property = (broken: readonly Rule[]) =>
  fc.property(stories, ({ skews, settled, steps }) => {
    const cluster = new ModelCluster(skews, new Set(broken));
    if (settled) cluster.settle();
    for (const one of steps) {
      play(cluster, one);
      cluster.check();
    }
    cluster.settle();
  });

describe('in every order of events', () => {
  it('all nodes reach the end of the log, one holder writes, and readers get no outdated page', () => {
    fc.assert(property([]), { numRuns: runs(5000, 1_000_000), interruptAfterTimeLimit: runs(20_000, 1_800_000) });
  });

  it.each<Rule>([
    'an append names its epoch',
    'a new holder reads the log to its end first',
    'what was fetched before the takeover is not appended',
    'later fetches have later times',
    'a page of an older revision is not stored',
    'a changed tag makes a page invalid',
    'a render that a change overtakes is repeated',
    'nodes look without a message',
    'a holder that stands still is cut off',
    'the owner of the lock is cut off',
    'PostgreSQL has the clock',
    'a node that cannot write gives up the lease',
    'only a node that has reported hears',
    'a withdrawal waits for every node that hears',
  ])('a promise breaks without the rule: %s', (rule) => {
    // A seed that finds all of them in a few thousand runs.
    const found = fc.check(property([rule]), { numRuns: 100_000, endOnFailure: true, seed: 8 });
    expect(found.errorInstance).toBeInstanceOf(Broken);
  });
});

describe('the PostgreSQL of the model', () => {
  const engines = prepare('postgres');
  const ask = fc.oneof(
    {
      weight: 4,
      arbitrary: fc.record({
        do: fc.constant('append' as const),
        ids: fc.uniqueArray(id),
        tags: fc.uniqueArray(fc.constantFrom('article:1', 'article:2', 'latest', 'site'), { maxLength: 2 }),
        epoch: fc.constantFrom('present', 'former', 'none'),
      }),
    },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('take over' as const) }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('end claims' as const) }) },
    { weight: 8, arbitrary: fc.record({ do: fc.constant('claim' as const), page, node: at, behind: fc.nat(2) }) },
    { weight: 5, arbitrary: fc.record({ do: fc.constant('give' as const), which: fc.nat(3) }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constant('read' as const), behind: fc.nat(4) }) },
  );
  type Ask = typeof ask extends fc.Arbitrary<infer Each> ? Each : never;

  const sharedPage = (key: Page, number: number): SharedPage => ({
    page: {
      key,
      variant: 'public',
      version: 0,
      build: 'b',
      status: 200,
      headers: {},
      access: null,
      hash: String(number),
      size: 1,
      tags: tagsOf[key],
      etags: { br: '"br"', gzip: '"gz"' },
      renderedAt: 1,
      renderMs: 1,
      asOf: null,
    },
    bodies: {},
  });

  /** One question of a node for a page, without the wait for another node. */
  async function claim(db: Queries, key: Page, node: string, revision: number) {
    let asked = 0;
    const share = createSharedPages({
      db,
      version: 1,
      build: 'b',
      node,
      log: silent,
      revision() {
        if (++asked > 1) throw new Error('It has to wait.');
        return revision;
      },
      everything: 'site',
      renderMs: hour,
      answerMs: hour,
    });
    const taking = share.take({ key, variant: 'public' });
    await sql`select 1`.execute(db);
    share.announced(nameOf(key, 'public'));
    const ticket = await taking;
    if (ticket.shared) return { outcome: { 0: Number(ticket.shared.page.hash) }, ticket };
    return { outcome: share.stats().alone > 0 ? 'wait' : 'got', ticket };
  }

  async function compare(db: Queries, asks: readonly Ask[]): Promise<void> {
    for (const table of ['content_entries', 'content_log', 'shared_pages'])
      await sql`delete from ${sql.table(table)}`.execute(db);
    const log = openContentLog({ db, version: 1 });
    const model = new ModelDatabase();
    const renders: { key: Page; node: string; revision: number; give: (page: SharedPage) => void }[] = [];
    expect(await log.revision()).toBe(0);
    for (const [number, one] of asks.entries()) {
      if (one.do === 'append') {
        const epoch = { present: model.epoch, former: model.epoch - 1, none: null }[one.epoch];
        const stored = { number, gone: false, at: number };
        const expected = model.append(
          one.ids.map((each) => [each, stored] as const),
          one.tags,
          epoch,
        );
        const entries = [
          ...one.ids.map((each) => ({ kind: 'document', id: String(each), payload: JSON.stringify(number) })),
          ...one.tags.map((tag) => ({ kind: tagKind, id: tag, payload: null })),
        ];
        const appending = log.append(entries, epoch);
        if (expected === null) await expect(appending).rejects.toThrow(LeaseLost);
        else expect(await appending).toBe(expected);
      } else if (one.do === 'take over') {
        model.epoch++;
        await sql`update content_log set epoch = epoch + 1`.execute(db);
      } else if (one.do === 'end claims') {
        model.tick(2 * hour);
        await sql`update shared_pages set claim_ends = 0`.execute(db);
      } else if (one.do === 'claim') {
        const [node, revision] = [`node ${one.node}`, Math.max(0, model.revision - one.behind)];
        const { outcome, ticket } = await claim(db, one.page, node, revision);
        expect(outcome).toEqual(model.claim(one.page, node, revision));
        if (outcome === 'got') renders.push({ key: one.page, node, revision, give: ticket.give });
      } else if (one.do === 'give') {
        const [render] = renders.splice(one.which, 1);
        if (!render) continue;
        model.give(render.key, render.node, render.revision, { 0: number });
        render.give(sharedPage(render.key, number));
        await sql`select 1`.execute(db);
      } else {
        const after = Math.max(0, model.revision - one.behind);
        const { entries, tags } = model.read(after);
        const expected = [
          ...entries.map(([each, { revision }]) => `document ${each} ${revision}`),
          ...tags.map((tag) => `tag ${tag} ${model.tags.get(tag)}`),
        ];
        const real = (await log.read(after)).entries.map((entry) => `${entry.kind} ${entry.id} ${entry.revision}`);
        expect(real.sort()).toEqual(expected.sort());
      }
    }
  }

  it('does what the real one does', async () => {
    const { databaseUrl } = await engines.migratedPlace();
    // One connection: what is asked for first is done first.
    const { db } = await engines.open({ dataDir: '', databaseUrl, connections: 1 });
    const property = fc.asyncProperty(fc.array(ask, { minLength: 5, maxLength: 40 }), (asks) => compare(db, asks));
    await fc.assert(property, { numRuns: runs(25, 2000), interruptAfterTimeLimit: runs(20_000, 1_800_000) });
  });
});

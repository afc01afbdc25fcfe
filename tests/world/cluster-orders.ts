/** Random orders of events for the model of the cluster (cluster-model.ts), and the promises that must hold in each of them. */
import fc from 'fast-check';
import { ModelCluster } from './cluster-model.ts';
import { documents, pageNames, type Rule } from './cluster-model-database.ts';
import type { ModelNode } from './cluster-model-node.ts';

const hour = 3_600_000;
/** Number of a node. */
export const at = fc.nat(2);
export const id = fc.constantFrom(...documents);
const upTo = fc.constantFrom('fetched' as const, 'sent' as const, 'done' as const);
export const page = fc.constantFrom(...pageNames);
const only = <Name extends string>(...names: Name[]) => fc.record({ do: fc.constantFrom(...names), node: at });

const step = fc.oneof(
  // Separate steps, so that anything can happen between them.
  { weight: 2, arbitrary: fc.record({ do: fc.constant('edit' as const), id, gone: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('turn' as const), id, gone: fc.boolean() }) },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant('tick' as const), ms: fc.constantFrom(1, 500, 1000, 4000, 11_000) }),
  },
  { weight: 3, arbitrary: only('kill', 'sleep', 'wake', 'start', 'cut', 'join', 'drop', 'fill', 'free') },
  { weight: 8, arbitrary: only('beat', 'read', 'apply', 'report', 'take over', 'poll', 'send', 'answer', 'finish') },
  { weight: 2, arbitrary: only('ask', 'remind') },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('run' as const),
      outcome: fc.constantFrom('runs', 'runs', 'is lost', 'is not answered'),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('fetch' as const), node: at, id }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('want' as const), node: at, page }) },
  // Several steps at once, as they happen without trouble.
  { weight: 6, arbitrary: only('follow', 'serve', 'second without', 'follow and be cut', 'be cut off') },
  { weight: 4, arbitrary: only('hand over') },
  { weight: 8, arbitrary: fc.record({ do: fc.constant('publish' as const), id, gone: fc.boolean(), upTo }) },
);
export type Step = typeof step extends fc.Arbitrary<infer Each> ? Each : never;

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
  ask: 'ask',
  remind: 'remind',
  answer: 'answer',
  finish: 'finish',
  follow: 'follow',
  serve: 'serve',
  'hand over': 'handOver',
  'be cut off': 'beCutOff',
} as const;

/** Plays one step. */
function play(cluster: ModelCluster, one: Step): void {
  if (one.do === 'edit') cluster.edit(one.id, one.gone);
  else if (one.do === 'turn') cluster.turn(one.id, one.gone);
  else if (one.do === 'publish') cluster.publish(one.id, one.gone, one.upTo);
  else if (one.do === 'tick') cluster.tick(one.ms);
  else if (one.do === 'run') cluster.run(one.outcome);
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

const stories: fc.Arbitrary<Order> = fc.record({
  skews: fc.array(fc.constantFrom(0, hour, -hour), { minLength: 3, maxLength: 3 }),
  // Some start with a cluster at rest.
  settled: fc.boolean(),
  steps: fc.array(step, { minLength: 5, maxLength: 80 }),
});

export interface Order {
  /** The nodes' clock errors, milliseconds. */
  readonly skews: readonly number[];
  readonly settled: boolean;
  readonly steps: readonly Step[];
}

/** Plays an order to its end. @throws Broken */
export function playOrder({ skews, settled, steps }: Order, broken: readonly Rule[] = []): void {
  const cluster = new ModelCluster(skews, new Set(broken));
  if (settled) cluster.settle();
  for (const one of steps) {
    play(cluster, one);
    cluster.check();
  }
  cluster.settle();
}

/** The property that every order keeps the promises. */
export const property = (broken: readonly Rule[] = []) => fc.property(stories, (order) => playOrder(order, broken));

/**
 * `npm run bench:cluster`: measures the work that a cluster must do only once, and what readers and editors notice during faults. The
 * nodes are processes with a data folder each, on one PostgreSQL and one WordPress. Fails when a bound is broken; the bounds are
 * printed.
 *
 *     -- --only once     [--nodes 4,8] [--edits 25] [--articles 500]
 *     -- --only kills    [--kills 6]              kill -9 of one node after the other, under load
 *     -- --only outage   [--outage-seconds 15]    PostgreSQL stops and comes back, under load
 *     -- --only deploy   [--deploys 2]            releases of all nodes, one after the other, under load
 *
 * The faults need as many nodes as the first number of `--nodes`.
 */
import { parseArgs } from 'node:util';
import { ensureBuilt } from '../scripts/build.ts';
import { runDeploys, runKills, runOutage } from './cluster/faults.ts';
import { runOnce } from './cluster/once.ts';
import { wholeFlag } from './support/figures.ts';

/** @returns the exit code */
export async function run(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      only: { type: 'string', multiple: true },
      nodes: { type: 'string', default: '4,8' },
      edits: { type: 'string', default: '25' },
      articles: { type: 'string', default: '500' },
      kills: { type: 'string', default: '6' },
      'outage-seconds': { type: 'string', default: '15' },
      deploys: { type: 'string', default: '2' },
    },
  });
  const whole = (name: 'edits' | 'articles' | 'kills' | 'outage-seconds' | 'deploys'): number =>
    wholeFlag(name, values[name], 1);
  const sizes = values.nodes.split(',').map((text) => wholeFlag('nodes', text, 2));
  const [size = 4] = sizes;
  const parts: Record<string, () => Promise<boolean>> = {
    once: () => runOnce(sizes, whole('edits'), whole('articles')),
    kills: () => runKills(size, whole('kills')),
    outage: () => runOutage(size, whole('outage-seconds')),
    deploy: () => runDeploys(size, whole('deploys')),
  };
  const wanted = values.only ?? Object.keys(parts);
  for (const name of wanted)
    if (!parts[name]) throw new Error(`--only ${name}: there are ${Object.keys(parts).join(', ')}.`);
  await ensureBuilt();
  let good = true;
  for (const name of wanted) good = ((await parts[name]?.()) ?? false) && good;
  return good ? 0 : 1;
}

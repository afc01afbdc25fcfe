/**
 * What access costs: the decision function by itself, and the access check when a stored page is served, which may add at most a
 * twentieth to the page's cost. A free article and one with a paywall are served with the same bytes, to the same request with the
 * same cookies. Each way and its base are loaded in the order base, way, way, base, so that drift (clock speed, neighbors) affects
 * both equally; each round's ratio compares requests per second of processor time. One pair compares the base with itself: it shows
 * the noise of the machine.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { decide, type Facts, meterStates, subjects } from '../../src/lib/access/decide.ts';
import { load, type Measured, startServer } from '../press/contenders.ts';
import { count, median, printTable } from '../support/figures.ts';
import { endAll } from '../support/processes.ts';

const rounds = 11;
const seconds = 1;
/** Share of a stored page's cost that the check may add. */
const bound = 0.05;

/** Microseconds of one decision, over every combination of facts. */
export function measureDecision(): number {
  const flags = [false, true];
  const all: Facts[] = subjects.flatMap((subject) =>
    meterStates.flatMap((meter) =>
      Array.from({ length: 32 }, (_, bits) => ({
        subject,
        meter,
        authenticated: flags[bits & 1] ?? false,
        paying: flags[(bits >> 1) & 1] ?? false,
        promotion: flags[(bits >> 2) & 1] ?? false,
        timed: flags[(bits >> 3) & 1] ?? false,
        gift: flags[(bits >> 4) & 1] ?? false,
      })),
    ),
  );
  const times: number[] = [];
  let opened = 0;
  for (let round = 0; round < 50; round++) {
    const began = performance.now();
    for (let turn = 0; turn < 100; turn++)
      for (const facts of all) if (decide(facts).outcome.body === 'whole') opened++;
    times.push(((performance.now() - began) * 1000) / (all.length * 100));
  }
  if (opened === 0) throw new Error('Nothing was open.');
  return median(times);
}

interface RequestCase {
  readonly name: string;
  readonly path: string;
  readonly server: 'plain' | 'crawlers';
  readonly headers: (answer: { access: string; gift: string }) => readonly string[];
}

const browser = 'User-Agent: Mozilla/5.0 (X11; Linux x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/150.0.0.0';
const [free, restricted] = ['/article/free-one', '/article/paid-one'];
const anonymous = () => [];
const subscriber: RequestCase['headers'] = ({ access }) => [`Cookie: visitor=member; ${access}`];
const gift: RequestCase['headers'] = ({ gift }) => [`Cookie: ${gift}`];
const anonymousFree: RequestCase = { name: 'anonymous, free', path: free, server: 'plain', headers: anonymous };
/** Each measured case with its base: the same request for a page without an access level, so that only the check differs. */
const pairs: readonly { readonly base: RequestCase; readonly way: RequestCase }[] = [
  { base: anonymousFree, way: { ...anonymousFree, name: 'the same again (noise)' } },
  { base: anonymousFree, way: { ...anonymousFree, name: 'anonymous, restricted', path: restricted } },
  {
    base: { name: 'a subscriber, free', path: free, server: 'plain', headers: subscriber },
    way: { name: 'a subscriber, restricted', path: restricted, server: 'plain', headers: subscriber },
  },
  {
    base: { name: 'a gift, free', path: free, server: 'plain', headers: gift },
    way: { name: 'a gift, restricted', path: restricted, server: 'plain', headers: gift },
  },
  { base: anonymousFree, way: { ...anonymousFree, name: 'anonymous, free, crawlers looked for', server: 'crawlers' } },
  {
    base: anonymousFree,
    way: { ...anonymousFree, name: 'anonymous, restricted, crawlers looked for', path: restricted, server: 'crawlers' },
  },
];

/** Prints its table. @returns whether every bound holds */
export async function benchAccess(): Promise<boolean> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-access-'));
  try {
    console.log(`One decision: ${measureDecision().toFixed(3)} µs\n`);
    const script = join(import.meta.dirname, 'access-server.ts');
    const start = (kind: RequestCase['server']) =>
      startServer<{ port: number; access: string; gift: string }>(script, [join(folder, kind), kind]);
    const servers = { plain: await start('plain'), crawlers: await start('crawlers') };
    const file = ({ name, path, headers, server }: RequestCase): string => {
      const asked = join(folder, `${name}.txt`);
      const all = [path, 'Accept-Encoding: gzip', browser, ...headers(servers[server].ready)];
      writeFileSync(asked, `${all.join('\t')}\n`);
      return asked;
    };
    const measure = async (way: RequestCase): Promise<Measured> => {
      const measured = await load(servers[way.server], file(way), seconds);
      if (measured.wrong > 0) throw new Error(`${way.name}: ${measured.wrong} wrong answers.`);
      return measured;
    };
    const results = pairs.map(({ base, way }) => ({ base, way, added: [] as number[], bases: [] as Measured[] }));
    const ways = pairs.map(() => [] as Measured[]);
    for (let round = -1; round < rounds; round++) {
      for (const [index, { base, way, added, bases }] of results.entries()) {
        const before = await measure(base);
        const [first, second] = [await measure(way), await measure(way)];
        const after = await measure(base);
        // The first round warms up.
        if (round < 0) continue;
        const cost = (a: Measured, b: Measured): number => 1 / a.perCore + 1 / b.perCore;
        added.push(cost(first, second) / cost(before, after) - 1);
        bases.push(before, after);
        ways[index]?.push(first, second);
      }
    }
    const rate = (all: readonly Measured[]): string => count(Math.round(median(all.map(({ perCore }) => perCore))));
    const percent = (share: number): string => `${(share * 100).toFixed(1)} %`;
    const quartile = (values: readonly number[], part: number): number =>
      values.toSorted((a, b) => a - b)[Math.floor((values.length - 1) * part)] ?? Number.NaN;
    printTable([
      ['A stored 26 kB article', 'per core', 'held against', 'per core', 'added', 'quartiles'],
      ...results.map(({ base, way, added, bases }, index) => [
        ...[way.name, rate(ways[index] ?? []), base.name, rate(bases), percent(median(added))],
        `${percent(quartile(added, 0.25))} to ${percent(quartile(added, 0.75))}`,
      ]),
    ]);
    const over = results.filter(({ added }) => !(median(added) <= bound));
    for (const { way } of over) console.log(`FAIL  ${way.name} costs more than ${bound * 100} % more`);
    if (over.length === 0) console.log(`pass  the access check adds at most ${bound * 100} %`);
    return over.length === 0;
  } finally {
    endAll();
    rmSync(folder, { recursive: true, force: true });
  }
}

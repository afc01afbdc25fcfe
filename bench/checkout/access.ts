/**
 * What access costs: the decision function by itself, and the access check on the way of a stored page, which must not cost
 * readers more than a twentieth. The same bytes are served for a free article and for one with a wall, to the same request with the
 * same cookies; contenders take turns, and ratios are taken within each round from the requests per second of processor time.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { decide, type Facts, meterStates, subjects } from '../../src/lib/access/decide.ts';
import { load, type Measured, startServer, stopAll } from '../press/contenders.ts';
import { count, printTable } from '../support/figures.ts';

const rounds = 9;
const seconds = 1;
/** Share of a stored page's cost that the check may add. */
const bound = 0.05;

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN;

/** Microseconds of one decision, over every combination of facts. */
export function measureDecision(): number {
  const flags = [false, true];
  const all: Facts[] = subjects.flatMap((subject) =>
    meterStates.flatMap((meter) =>
      Array.from({ length: 32 }, (_, bits) => ({
        ...{ subject, meter, authenticated: flags[bits & 1] ?? false, paying: flags[(bits >> 1) & 1] ?? false },
        ...{ promotion: flags[(bits >> 2) & 1] ?? false, timed: flags[(bits >> 3) & 1] ?? false },
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

interface Way {
  readonly name: string;
  readonly path: string;
  readonly server: 'plain' | 'crawlers';
  readonly headers: (said: { access: string; gift: string }) => readonly string[];
  /** What it is held against: the same request for a page without a level, so that the check alone is between them. */
  readonly base?: string;
}

const browser = 'User-Agent: Mozilla/5.0 (X11; Linux x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/150.0.0.0';
const [free, walled] = ['/article/free-one', '/article/paid-one'];
const nobody = () => [];
const subscriber: Way['headers'] = ({ access }) => [`Cookie: visitor=member; ${access}`];
const gift: Way['headers'] = ({ gift }) => [`Cookie: ${gift}`];
const ways: readonly Way[] = [
  { name: 'nobody, a free article', path: free, server: 'plain', headers: nobody },
  { name: 'nobody, a walled one', path: walled, server: 'plain', headers: nobody, base: 'nobody, a free article' },
  { name: 'a subscriber, a free article', path: free, server: 'plain', headers: subscriber },
  {
    ...{ name: 'a subscriber, a walled one', path: walled, server: 'plain', headers: subscriber },
    base: 'a subscriber, a free article',
  },
  { name: 'a gift, a free article', path: free, server: 'plain', headers: gift },
  {
    ...{ name: 'a gift, the walled one', path: walled, server: 'plain', headers: gift },
    base: 'a gift, a free article',
  },
  {
    ...{ name: 'nobody, free, crawlers looked for', path: free, server: 'crawlers', headers: nobody },
    base: 'nobody, a free article',
  },
  {
    ...{ name: 'nobody, walled, crawlers looked for', path: walled, server: 'crawlers', headers: nobody },
    base: 'nobody, a free article',
  },
];

/** Prints its table. @returns whether every bound holds */
export async function benchAccess(): Promise<boolean> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-access-'));
  try {
    console.log(`One decision: ${measureDecision().toFixed(3)} µs\n`);
    const script = join(import.meta.dirname, 'access-server.ts');
    const start = (kind: Way['server']) =>
      startServer<{ port: number; access: string; gift: string }>(script, [join(folder, kind), kind]);
    const servers = { plain: await start('plain'), crawlers: await start('crawlers') };
    const results = new Map<Way, Measured[]>(ways.map((way) => [way, []]));
    const file = (path: string): string => {
      const name = join(folder, `${path.replaceAll('/', '-')}.txt`);
      writeFileSync(name, `${path}\n`);
      return name;
    };
    for (let round = -1; round < rounds; round++) {
      for (const way of ways) {
        const server = servers[way.server];
        const headers = ['Accept-Encoding: gzip', browser, ...way.headers(server.said)];
        const measured = await load(server, file(way.path), seconds, headers);
        if (measured.wrong > 0) throw new Error(`${way.name}: ${measured.wrong} wrong answers.`);
        // The first round warms up.
        if (round >= 0) results.get(way)?.push(measured);
      }
    }
    const of = (name: string | undefined): readonly Measured[] =>
      [...results].find(([way]) => way.name === name)?.[1] ?? [];
    const added = (way: Way): number =>
      median(of(way.name).map(({ perCore }, round) => (of(way.base)[round]?.perCore ?? Number.NaN) / perCore - 1));
    printTable([
      ['A stored 26 kB article', 'requests/s', 'per core', 'added'],
      ...ways.map((way) => [
        way.name,
        count(Math.round(median((results.get(way) ?? []).map(({ rate }) => rate)))),
        count(Math.round(median((results.get(way) ?? []).map(({ perCore }) => perCore)))),
        way.base === undefined ? '' : `${(added(way) * 100).toFixed(1)} %`,
      ]),
    ]);
    const over = ways.filter((way) => way.base !== undefined && !(added(way) <= bound));
    for (const way of over) console.log(`FAIL  ${way.name} costs more than ${bound * 100} % more`);
    if (over.length === 0) console.log(`pass  the access check adds at most ${bound * 100} %`);
    return over.length === 0;
  } finally {
    stopAll();
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * Part of `npm run bench:tools`: search over HTTP on the built site, one query after another, nearly all of them different. After
 * each query `/healthz` is requested, which costs nothing: its time is the machine's share. At the end `/healthz` is requested while
 * eight connections send the most expensive queries without a pause: its time is how long pages wait for searches. Bound: p99 of the
 * mix.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { randomNumbers } from '../../sandbox/random.ts';
import { siteFlags } from '../../scripts/setup/node.mjs';
import { searchAnswer } from '../../src/lib/search/model.ts';
import { sectionSlugs, word } from '../content/synthetic.ts';
import { count, ms, percentile, printTable } from '../support/figures.ts';
import { type Ask, asker, textOf } from '../support/http.ts';
import { start } from '../support/processes.ts';

/** Milliseconds, at `at` articles. */
const bound = { p99: 20, at: 50_000 };
const questions = 2000;
const idleRow = '(no search at all)';
const floodRow = '(the same, in a flood of searches)';
const flood = { connections: 8, seconds: 5 };
const warm = 100;

type Pick = (next: (limit: number) => number) => Record<string, string>;

const common: (any: (limit: number) => number) => string = (any) => word(20 + any(380));
const usual: (any: (limit: number) => number) => string = (any) => word(400 + any(4000));
const rare: (any: (limit: number) => number) => string = (any) => word(5000 + any(15_000));
/** A typo: two letters swapped. */
const swapLetters = (text: string): string => `${text.slice(0, 2)}${text.charAt(3)}${text.charAt(2)}${text.slice(4)}`;

/** The kinds of query, and how many of a hundred each has. */
const mix: readonly (readonly [name: string, share: number, pick: Pick])[] = [
  ['common word', 15, (any) => ({ q: common(any) })],
  ['usual word', 15, (any) => ({ q: usual(any) })],
  ['rare word', 10, (any) => ({ q: rare(any) })],
  ['two words', 15, (any) => ({ q: `${common(any)} ${usual(any)}` })],
  ['headline', 5, (any) => ({ q: [common(any), usual(any), word(any(10)), common(any), usual(any)].join(' ') })],
  ['beginning', 20, (any) => ({ q: usual(any).slice(0, 3 + any(4)) })],
  ['mistyped', 8, (any) => ({ q: swapLetters(rare(any)) })],
  ['in a section', 5, (any) => ({ q: common(any), section: sectionSlugs[any(10)] ?? '' })],
  [
    'in a month',
    3,
    (any) => {
      const month = `2024-0${1 + any(9)}`;
      return { q: common(any), from: `${month}-01`, to: `${month}-28` };
    },
  ],
  ['further page', 3, (any) => ({ q: common(any), page: String(2 + any(9)) })],
  ['quoted', 1, (any) => ({ q: `"${common(any)} ${common(any)}"` })],
];

interface Taken {
  readonly name: string;
  readonly ms: number;
  readonly found: number;
}

async function fill(articles: number, file: string): Promise<void> {
  const module = join(import.meta.dirname, 'search-fill.ts');
  const args = ['--disable-warning=ExperimentalWarning', module, String(articles), file];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'inherit', 'inherit'] });
  const [code] = (await once(child, 'exit')) as [number | null];
  if (code !== 0) throw new Error('The content store could not be filled.');
}

async function measureMix(ask: Ask): Promise<Taken[]> {
  const next = randomNumbers(17);
  const any = (limit: number): number => Math.floor(next() * limit);
  const deck = mix.flatMap(([name, share, pick]) => Array.from({ length: share }, () => ({ name, pick })));
  const taken: Taken[] = [];
  for (let turn = 0; turn < warm + questions; turn++) {
    const { name, pick } = deck[any(deck.length)] ?? deck[0] ?? { name: '', pick: () => ({ q: '' }) };
    const asked = pick(any);
    const path = `/api/v1/articles/search?${new URLSearchParams(asked)}`;
    // Each query comes from a different reader, as behind a proxy: a single reader would be over the limit.
    const headers = { 'x-forwarded-for': `10.0.${turn >> 8}.${turn & 255}` };
    const began = performance.now();
    const answer = await ask(path, { headers });
    const took = performance.now() - began;
    if (answer.status !== 200) throw new Error(`${path} was answered ${answer.status}: ${textOf(answer)}`);
    const { nbHits } = searchAnswer.parse(JSON.parse(textOf(answer)));
    const idle = performance.now();
    await ask('/healthz');
    if (turn < warm) continue;
    taken.push({ name, ms: took, found: nbHits }, { name: idleRow, ms: performance.now() - idle, found: 0 });
  }
  return taken;
}

/** Requests `/healthz` again and again while others search for twelve words that a third of all stories have. */
async function measureInFlood(port: number, ask: Ask): Promise<Taken[]> {
  const others = asker(port, flood.connections);
  const next = randomNumbers(23);
  const any = (limit: number): number => Math.floor(next() * limit);
  const end = performance.now() + flood.seconds * 1000;
  const searchExpensively = async (): Promise<void> => {
    while (performance.now() < end) {
      const q = Array.from({ length: 12 }, () => word(20 + any(14))).join(' ');
      const headers = { 'x-forwarded-for': `10.${1 + any(200)}.${any(256)}.${any(256)}` };
      await others.ask(`/api/v1/articles/search?${new URLSearchParams({ q, limit: '20' })}`, { headers });
    }
  };
  const taken: Taken[] = [];
  const requestHealth = async (): Promise<void> => {
    while (performance.now() < end) {
      const began = performance.now();
      await ask('/healthz');
      taken.push({ name: floodRow, ms: performance.now() - began, found: 0 });
      await setTimeout(2);
    }
  };
  await Promise.all([requestHealth(), ...Array.from({ length: flood.connections }, searchExpensively)]);
  others.close();
  return taken;
}

async function measureOne(articles: number): Promise<Taken[]> {
  const folder = mkdtempSync(join(tmpdir(), 'search-bench-'));
  try {
    await fill(articles, join(folder, 'content.sqlite'));
    const env = { NODE_ENV: 'production', PORT: '0', DATA_DIR: folder, LOG_LEVEL: 'info', TRUSTED_PROXIES: '1' };
    const site = start([...siteFlags, 'src/server/main.ts'], env);
    const port = Number((await site.waitForOutput(/"port":(\d+)/u))[1]);
    const { ask, close } = asker(port, 1);
    try {
      return [...(await measureMix(ask)), ...(await measureInFlood(port, ask))];
    } finally {
      close();
      await site.stop();
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * @param articles sizes of the archive to be measured
 * @returns whether the bound holds
 */
export async function benchSearch(articles: readonly number[]): Promise<boolean> {
  const results: { articles: number; taken: Taken[]; idle: Taken[]; pressed: Taken[] }[] = [];
  for (const size of articles) {
    const all = await measureOne(size);
    const [idle, pressed] = [idleRow, floodRow].map((name) => all.filter((one) => one.name === name)) as [
      Taken[],
      Taken[],
    ];
    const taken = all.filter(({ name }) => name !== idleRow && name !== floodRow);
    results.push({ articles: size, taken, idle, pressed });
  }
  console.log(`\nSearch: ${count(questions)} questions by HTTP, one after the other; milliseconds p50 / p99`);
  const cell = (taken: readonly Taken[]): string => {
    const times = taken.map((one) => one.ms);
    return `${ms(percentile(times, 0.5))} / ${ms(percentile(times, 0.99))}`;
  };
  printTable([
    ['', ...results.map((result) => `${count(result.articles)} articles`)],
    ...mix.map(([name]) => [name, ...results.map(({ taken }) => cell(taken.filter((one) => one.name === name)))]),
    ['all', ...results.map(({ taken }) => cell(taken))],
    [idleRow, ...results.map(({ idle }) => cell(idle))],
    [floodRow, ...results.map(({ pressed }) => cell(pressed))],
    [
      'found anything',
      ...results.map(
        ({ taken }) => `${Math.round((taken.filter(({ found }) => found > 0).length / taken.length) * 100)} %`,
      ),
    ],
  ]);
  let good = true;
  for (const { articles: size, taken } of results) {
    if (size > bound.at) continue;
    const p99 = percentile(
      taken.map((one) => one.ms),
      0.99,
    );
    const holds = p99 <= bound.p99;
    good &&= holds;
    console.log(`${count(size)} articles: p99 ${ms(p99)} ms, bound ${bound.p99} ms: ${holds ? 'pass' : 'FAIL'}`);
  }
  return good;
}

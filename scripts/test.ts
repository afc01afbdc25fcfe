/**
 * `npm test`: runs every check of the project and prints the total on the last line. `npm test -- unit browser` runs only these parts,
 * `npm test -- unit src/lib/comments` only matching files of a part.
 */
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { ensureSandbox } from '../sandbox/setup.mjs';
import { offerDatabases } from '../tests/world/shared-databases.ts';
import { offerSandbox, startWorld, type World } from '../tests/world/world.ts';
import { type Browser, browserVariable, ensureBrowser } from './browser.ts';
import { ensureBuilt } from './build.ts';
import { violations } from './import-rules.ts';
import { ensureJava } from './java.ts';
import { Stop } from './setup/explain.mjs';
import { root } from './setup/places.mjs';
import { startChild } from './setup/processes.mjs';
import { duration, step } from './setup/steps.mjs';
import {
  type Counts,
  countCheck,
  countPlaywright,
  countVitest,
  failureOfOutput,
  failuresOfPlaywright,
  failuresOfVitest,
  judge,
  sentence,
  sum,
} from './tally.ts';
import { openStamps, type Stamps } from './test-stamps.ts';

const reports = join(root, 'var', 'test', 'reports');
const bin = (...path: string[]): string => join(root, 'node_modules', ...path);

/** What a part of `npm test` gets for its run. */
interface Run {
  /** The part runs test files whose paths contain one of these words; empty: all files. */
  readonly filters: readonly string[];
  /** Prints a line of output. */
  readonly print: (line: string) => void;
  /** Takes the names and messages of failed tests. */
  readonly fail: (failures: readonly string[]) => void;
  /** Builds the site unless it is built. */
  readonly built: () => Promise<void>;
  /** The sandbox's WordPress with the site connected to it; the first call starts them. */
  readonly world: () => Promise<World>;
  /** The browser for the tests; the first call may download it. */
  readonly browser: () => Promise<Browser>;
}

type Part = (run: Run) => Promise<Counts>;

const parts: Record<string, Part> = {
  lint: async (run) =>
    countCheck(
      (await tool(run, 'biome', [bin('@biomejs', 'biome', 'bin', 'biome'), 'check', '--max-diagnostics=50', '.'])) ===
        0,
    ),
  // Astro's checker takes a minute longer for all .ts files than the native compiler, so it gets only the .astro files; it also writes
  // the types of Astro's modules, which both need.
  types: async (run) => {
    const config = join('scripts', 'tsconfig.astro.json');
    const pages = await tool(run, 'astro check', [bin('astro', 'bin', 'astro.mjs'), 'check', '--tsconfig', config]);
    const code = await tool(run, 'tsc', [bin('typescript-7', 'bin', 'tsc'), '--noEmit']);
    return countCheck(pages === 0 && code === 0);
  },
  imports: async (run) => {
    const found = await violations();
    for (const { rule, from, to } of found) run.print(`  ${rule}: ${from} → ${to}`);
    return countCheck(found.length === 0);
  },
  unused: async (run) => countCheck((await tool(run, 'knip', [bin('knip', 'bin', 'knip.js'), '--no-progress'])) === 0),
  unit: (run) => vitest('unit', run),
  plugin: (run) => vitest('plugin', run),
  fault: async (run) => {
    await run.built();
    return vitest('fault', run);
  },
  contract: async (run) => {
    await run.built();
    return vitest('contract', run);
  },
  browser: async (run) => {
    await run.world();
    process.env[browserVariable] = JSON.stringify(await run.browser());
    return playwright(run);
  },
};

/**
 * The stages of a run: lines of a stage run in parallel, the parts within a line one after another. Fault tests wait for processes nearly
 * half of their time, so they run while the other line uses the cores, and unit tests, which rarely wait, come after them. Browser tests
 * measure how long readers wait, so they run alone at the end.
 */
const stages: readonly (readonly (readonly string[])[])[] = [
  [
    ['fault', 'unit'],
    ['lint', 'imports', 'types', 'unused', 'plugin', 'contract'],
  ],
  [['browser']],
];

export async function run(args: readonly string[]): Promise<number> {
  const { wanted, filters, all } = parse(args);
  process.env.ASTRO_TELEMETRY_DISABLED = '1';
  rmSync(reports, { recursive: true, force: true });
  mkdirSync(reports, { recursive: true });

  // Types and import rules read the sandbox's packages, and several parts start its WordPress.
  await step('Setting up the sandbox for the tests', (progress) =>
    ensureSandbox({
      root,
      onProgress: ({ progress: note, done, total }: { progress: string; done?: number; total?: number }) =>
        progress(total ? `${note}: ${done} of ${total}` : note),
    }),
  );
  const removeDatabases = await offerDatabases();
  let building: Promise<void> | undefined;
  const built = (): Promise<void> => {
    building ??= ensureBuilt();
    return building;
  };
  // Contract tests need only the sandbox.
  const withSite = wanted.length === 0 || wanted.includes('browser');
  let starting: Promise<World> | undefined;
  const world = (): Promise<World> => {
    starting ??= built().then(() =>
      step(
        withSite ? 'Starting WordPress and the site for the tests' : 'Starting WordPress for the tests',
        (progress) => startWorld({ withSite, progress }),
      ),
    );
    return starting;
  };
  let fetching: Promise<Browser> | undefined;
  const browser = (): Promise<Browser> => {
    fetching ??= ensureBrowser(process.env);
    return fetching;
  };
  // Downloads take minutes on a new machine, so they begin with the first parts; a failure is shown by the part that needs them.
  if (withSite)
    void browser()
      .then(() => (filters.length === 0 ? ensureJava(process.env) : null))
      .catch(() => {});
  const endOffer = await offerSandbox(world);
  // Parts that were named always run; in continuous integration, all parts do.
  const stamps = wanted.length > 0 || all || process.env.CI ? null : openStamps();
  const results = new Map<string, Counts>();
  const failures: string[] = [];
  for (const stage of stages) {
    const lines = stage
      .map((names) => names.filter((name) => wanted.length === 0 || wanted.includes(name)))
      .filter((names) => names.length > 0);
    await Promise.all(
      lines.map(async (names) => {
        for (const name of names) {
          const result = await runPart(name, { filters, built, world, browser, live: lines.length === 1, stamps });
          results.set(name, result.counts);
          failures.push(...result.failures);
        }
      }),
    );
  }
  endOffer();
  await starting?.then(
    (running) => running.stop(),
    () => {},
  );
  await removeDatabases();

  // Repeated at the end, for logs of which only the tail is kept.
  for (const failure of failures) console.log(`\nFailed: ${failure}`);
  const total = sum([...results.values()]);
  console.log(`\n${[...results].map(([name, counts]) => `${name.padEnd(10)} ${sentence(counts)}`).join('\n')}\n`);
  console.log(sentence(total));
  return total.failed > 0 || total.passed === 0 ? 1 : 0;
}

/** @throws Stop when the arguments name no part */
function parse(args: readonly string[]): { wanted: string[]; filters: string[]; all: boolean } {
  const words = args.filter((word) => word !== '--all');
  const wanted = words.filter((word) => Object.hasOwn(parts, word));
  const filters = words.filter((word) => !Object.hasOwn(parts, word));
  if (filters.length > 0 && wanted.length === 0) {
    const names = Object.keys(parts).join(', ');
    throw new Stop(
      `There is no part ${filters.join(', ')}. Name one of ${names}; words after it choose its test files.`,
    );
  }
  return { wanted, filters, all: words.length < args.length };
}

interface PartOptions extends Pick<Run, 'filters' | 'built' | 'world' | 'browser'> {
  /** Print output immediately; otherwise at the end of the part, because other parts run at the same time. */
  readonly live: boolean;
  /** Parts that passed before with the same files; `null`: run in any case. */
  readonly stamps: Stamps | null;
}

async function runPart(
  name: string,
  { filters, built, world, browser, live, stamps }: PartOptions,
): Promise<{ counts: Counts; failures: readonly string[] }> {
  const before = stamps?.passed(name);
  if (before) {
    console.log(
      `\n── ${name}: ${sentence(before)} before, and no file has changed since; "npm test -- --all" runs it again`,
    );
    return { counts: before, failures: [] };
  }
  console.log(live ? `\n── ${name}` : `── ${name} begins`);
  const began = Date.now();
  const output: string[] = [];
  const failures: string[] = [];
  const print = (line: string): void => {
    output.push(line);
    if (live) console.log(line);
  };
  let counts: Counts;
  try {
    const part = parts[name] as Part;
    counts = await part({ filters, print, built, world, browser, fail: (found) => void failures.push(...found) });
  } catch (error) {
    print(String(error instanceof Stop ? error.message : (error as Error).stack));
    counts = countCheck(false);
  }
  if (counts.failed > 0 && failures.length === 0) failures.push(failureOfOutput(name, output));
  if (!live) console.log(`\n── ${name}\n${output.join('\n')}`);
  console.log(`── ${name}: ${sentence(counts)} (${duration(Date.now() - began)})`);
  if (counts.failed === 0) stamps?.keep(name, counts);
  return { counts, failures };
}

/** Runs a tool, its output passed on, and returns its exit code. */
async function tool(
  { print }: Run,
  name: string,
  args: readonly string[],
  env: Record<string, string> = {},
): Promise<number> {
  const began = Date.now();
  const child = startChild(process.execPath, [...args], {
    cwd: root,
    env: { ...process.env, ...(process.stdout.isTTY && { FORCE_COLOR: '1' }), ...env },
    onLine: print,
    onErrorLine: print,
  });
  const { code, signal } = await child.ended;
  print(`   ${name}: ${code === 0 ? 'ok' : `failed (${signal ?? code})`}, ${duration(Date.now() - began)}`);
  return code ?? 1;
}

async function vitest(project: string, run: Run): Promise<Counts> {
  const report = join(reports, `${project}.json`);
  const code = await tool(run, 'vitest', [
    ...[bin('vitest', 'vitest.mjs'), 'run', '--project', project, ...run.filters],
    ...['--reporter=default', '--reporter=json', `--outputFile.json=${report}`],
  ]);
  run.fail(read(report, failuresOfVitest) ?? []);
  return judge(code, read(report, countVitest));
}

async function playwright(run: Run): Promise<Counts> {
  const report = join(reports, 'browser.json');
  const args = [bin('@playwright', 'test', 'cli.js'), 'test', '--reporter=list,json', ...run.filters];
  const code = await tool(run, 'playwright', args, { PLAYWRIGHT_JSON_OUTPUT_NAME: report });
  run.fail(read(report, failuresOfPlaywright) ?? []);
  return judge(code, read(report, countPlaywright));
}

function read<Report, Read>(file: string, count: (report: Report) => Read): Read | null {
  return existsSync(file) ? count(JSON.parse(readFileSync(file, 'utf8')) as Report) : null;
}

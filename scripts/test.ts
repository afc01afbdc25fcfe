/**
 * `npm test`: every check of the house, and the sum of all of them on the last line. `npm test -- unit browser` runs the
 * named parts alone.
 */
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { ensureSandbox } from '../sandbox/setup.mjs';
import { startWorld, type World } from '../tests/world/world.ts';
import { browserVariable, ensureBrowser } from './browser.ts';
import { violations } from './import-rules.ts';
import { Stop } from './setup/explain.mjs';
import { root } from './setup/places.mjs';
import { startChild } from './setup/processes.mjs';
import { duration, step } from './setup/steps.mjs';
import {
  type Counts,
  countCheck,
  countPlaywright,
  countVitest,
  failuresOfPlaywright,
  failuresOfVitest,
  judge,
  sentence,
  sum,
} from './tally.ts';

const reports = join(root, 'var', 'test', 'reports');
/** What failed in this run, in order. */
const failures: string[] = [];
const bin = (...path: string[]): string => join(root, 'node_modules', ...path);

/** Parts in the order in which they run: cheap ones first. */
const parts: Record<string, (world: () => Promise<World>) => Promise<Counts>> = {
  lint: async () =>
    countCheck(
      (await tool('biome', [bin('@biomejs', 'biome', 'bin', 'biome'), 'check', '--max-diagnostics=50', '.'])) === 0,
    ),
  types: async () => {
    const codes = await Promise.all([
      tool('astro check', [bin('astro', 'bin', 'astro.mjs'), 'check']),
      tool('tsc', [bin('typescript', 'bin', 'tsc'), '--noEmit']),
    ]);
    return sum(codes.map((code) => countCheck(code === 0)));
  },
  imports: async () => {
    const found = await violations();
    for (const { rule, from, to } of found) console.error(`  ${rule}: ${from} → ${to}`);
    return countCheck(found.length === 0);
  },
  unused: async () => countCheck((await tool('knip', [bin('knip', 'bin', 'knip.js'), '--no-progress'])) === 0),
  unit: () => vitest('unit'),
  fault: async () => {
    // Fault tests start the built site.
    const { ensureBuilt } = await import('./build.ts');
    await ensureBuilt();
    return vitest('fault');
  },
  contract: async (world) => {
    await world();
    return vitest('contract');
  },
  plugin: () => vitest('plugin'),
  browser: async (world) => {
    await world();
    process.env[browserVariable] = JSON.stringify(await ensureBrowser(process.env));
    return playwright();
  },
};

export async function run(wanted: readonly string[]): Promise<number> {
  const unknown = wanted.filter((name) => !Object.hasOwn(parts, name));
  if (unknown.length > 0)
    throw new Stop(`There is no part ${unknown.join(', ')}; the parts are ${Object.keys(parts).join(', ')}.`);
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

  let starting: Promise<World> | undefined;
  const world = (): Promise<World> => {
    starting ??= step('Starting WordPress and the site for the tests', (progress) =>
      startWorld({ withSite: true, progress }),
    );
    return starting;
  };
  const results: [name: string, counts: Counts][] = [];
  for (const [name, check] of Object.entries(parts)) {
    if (wanted.length > 0 && !wanted.includes(name)) continue;
    console.log(`\n── ${name}`);
    const began = Date.now();
    const told = failures.length;
    let counts: Counts;
    try {
      counts = await check(world);
    } catch (error) {
      console.error(error instanceof Stop ? error.message : error);
      counts = countCheck(false);
    }
    if (counts.failed > 0 && failures.length === told) failures.push(`${name} › its output above says why`);
    results.push([name, counts]);
    console.log(`── ${name}: ${sentence(counts)} (${duration(Date.now() - began)})`);
  }
  await starting?.then(
    (running) => running.stop(),
    () => {},
  );

  // At the end, too: the log of a whole run is long, and where only its tail is kept this is what is needed.
  for (const failure of failures) console.log(`\nFailed: ${failure}`);
  const total = sum(results.map(([, counts]) => counts));
  console.log(`\n${results.map(([name, counts]) => `${name.padEnd(10)} ${sentence(counts)}`).join('\n')}\n`);
  console.log(sentence(total));
  return total.failed > 0 || total.passed === 0 ? 1 : 0;
}

/** Runs a tool, its output passed on, and returns its exit code. */
async function tool(name: string, args: readonly string[], env: Record<string, string> = {}): Promise<number> {
  const began = Date.now();
  const child = startChild(process.execPath, [...args], {
    cwd: root,
    env: { ...process.env, ...(process.stdout.isTTY && { FORCE_COLOR: '1' }), ...env },
    onLine: (line) => console.log(line),
    onErrorLine: (line) => console.error(line),
  });
  const { code, signal } = await child.ended;
  console.log(`   ${name}: ${code === 0 ? 'ok' : `failed (${signal ?? code})`}, ${duration(Date.now() - began)}`);
  return code ?? 1;
}

async function vitest(project: string): Promise<Counts> {
  const report = join(reports, `${project}.json`);
  const code = await tool('vitest', [
    ...[bin('vitest', 'vitest.mjs'), 'run', '--project', project],
    ...['--reporter=default', '--reporter=json', `--outputFile.json=${report}`],
  ]);
  failures.push(...(read(report, failuresOfVitest) ?? []));
  return judge(code, read(report, countVitest));
}

async function playwright(): Promise<Counts> {
  const report = join(reports, 'browser.json');
  const code = await tool('playwright', [bin('@playwright', 'test', 'cli.js'), 'test', '--reporter=list,json'], {
    PLAYWRIGHT_JSON_OUTPUT_NAME: report,
  });
  failures.push(...(read(report, failuresOfPlaywright) ?? []));
  return judge(code, read(report, countPlaywright));
}

function read<Report, Read>(file: string, count: (report: Report) => Read): Read | null {
  return existsSync(file) ? count(JSON.parse(readFileSync(file, 'utf8')) as Report) : null;
}

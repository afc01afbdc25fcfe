/** Finds or downloads Java for the HTML checker of the browser tests. */
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { installWithApt } from './apt.ts';
import { Stop } from './setup/explain.mjs';
import { runCommand } from './setup/npm.mjs';
import { root } from './setup/places.mjs';
import { step } from './setup/steps.mjs';

type Environment = Readonly<Record<string, string | undefined>>;

/** The oldest that the checker runs on. */
const oldestRelease = 11;

/** Where Java may be installed: `JAVA_HOME`, the PATH, and Debian's usual place. */
export function candidates(env: Environment, exists: (path: string) => boolean = existsSync): string[] {
  const folders = [env.JAVA_HOME && join(env.JAVA_HOME, 'bin'), ...(env.PATH ?? '').split(delimiter), '/usr/bin'];
  return folders
    .filter(Boolean)
    .map((folder) => join(String(folder), 'java'))
    .filter((path) => exists(path));
}

/** The major version of Java from the output of `java -version`; `null` if it isn't a version. */
export function releaseOf(output: string): number | null {
  const [, major, minor] = /version "(\d+)(?:\.(\d+))?/.exec(output) ?? [];
  if (major === undefined) return null;
  // Before 9, versions were numbered 1.7, 1.8.
  return Number(major === '1' ? minor : major);
}

/**
 * Finds Java or downloads it: Debian's package if this runs as root, otherwise what the checker's own package downloads.
 *
 * @throws Stop with what to install
 */
export async function ensureJava(env: Environment): Promise<string> {
  const found = await firstThatRuns(candidates(env));
  if (found) return found;
  return step('Fetching a Java for the HTML checker', async () => {
    if (await installWithApt(['default-jre-headless'])) {
      const installed = await firstThatRuns(candidates({}));
      if (installed) return installed;
    }
    const downloaded = await downloadedByChecker();
    if (downloaded && (await runs(downloaded))) return downloaded;
    throw new Stop(
      `The HTML checker needs Java, and no working one was found. Install Java ${oldestRelease} or newer (Debian: apt-get install default-jre-headless; macOS: brew install temurin), or set JAVA_HOME, and run the same command again.`,
    );
  });
}

async function firstThatRuns(paths: readonly string[]): Promise<string | null> {
  for (const path of paths) if (await runs(path)) return path;
  return null;
}

async function runs(path: string): Promise<boolean> {
  try {
    const { code, output } = await runCommand(path, ['-version'], { cwd: root, timeoutMs: 20_000 });
    return code === 0 && (releaseOf(output) ?? 0) >= oldestRelease;
  } catch {
    return false;
  }
}

/** The checker's package downloads a Temurin for machines without Java. */
async function downloadedByChecker(): Promise<string | null> {
  // @ts-expect-error It has no types.
  const { resolveJava } = (await import('vnu-jar/vnu-java-downloader.js')) as { resolveJava(): Promise<string> };
  return resolveJava().catch(() => null);
}

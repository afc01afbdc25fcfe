/** The sandbox as `npm start`, `npm run dev` and the tests start it: a child that says in JSON lines how far it is. */
import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { WordPressAccess } from '../sandbox/start.ts';
import type { Environment } from './settings.ts';
import { Stop } from './setup/explain.mjs';
import { root } from './setup/places.mjs';
import { startChild } from './setup/processes.mjs';

export type { WordPressAccess };

export interface SandboxChild {
  /** Resolves when WordPress answers and the edition is imported; rejects with what to do. */
  ready(progress: (note: string) => void): Promise<WordPressAccess>;
  /** Resolves when the child has ended, for whatever reason. */
  readonly ended: Promise<{ code: number | null; signal: string | null }>;
  stop(): Promise<void>;
}

interface Line {
  readonly progress?: string;
  readonly done?: number;
  readonly total?: number;
  readonly ready?: boolean;
  readonly wordpress?: WordPressAccess;
  readonly error?: string;
  readonly hint?: string;
}

/** Starts the sandbox over a data folder; the demo edition is imported into an empty one. */
export function startSandbox(options: {
  readonly data: string;
  readonly port: number;
  readonly siteUrl: string;
  readonly log: string;
  readonly env: Environment;
}): SandboxChild {
  let note = 'starting';
  let report: ((note: string) => void) | undefined;
  const answer = Promise.withResolvers<WordPressAccess>();
  // A sandbox that fails while something else is awaited must not end this process with a stack.
  answer.promise.catch(() => {});

  mkdirSync(join(options.log, '..'), { recursive: true });
  writeFileSync(options.log, '');
  const keep = (line: string) => appendFileSync(options.log, `${line}\n`);
  const child = startChild(
    process.execPath,
    [
      join(root, 'sandbox', 'main.ts'),
      ...['--data', options.data],
      ...['--port', String(options.port)],
      ...['--site-url', options.siteUrl],
    ],
    {
      cwd: root,
      env: options.env,
      onLine(text) {
        const line = parse(text);
        if (!line) return keep(text);
        if (line.progress) {
          note = `${line.progress}${line.done === undefined ? '' : ` ${line.done}${line.total ? ` of ${line.total}` : ''}`}`;
          keep(note);
          report?.(note);
        }
        if (line.error) answer.reject(new Stop(`${line.error} ${line.hint ?? ''}`.trim()));
        if (line.ready && line.wordpress) answer.resolve(line.wordpress);
      },
      onErrorLine: keep,
    },
  );
  void child.ended.then(({ code, signal }) => {
    const tail = child.tail();
    answer.reject(
      new Stop(
        `${tail ? `${tail}\n` : ''}The sandbox ended (${signal ?? code}) before it was ready. Its log: ${options.log}`,
      ),
    );
  });
  return {
    ready(progress) {
      report = progress;
      progress(note);
      return answer.promise;
    },
    ended: child.ended,
    stop: child.stop,
  };
}

function parse(text: string): Line | null {
  if (!text.startsWith('{')) return null;
  try {
    return JSON.parse(text) as Line;
  } catch {
    return null;
  }
}

/** The settings that make a site read this sandbox. */
export function sandboxEnvironment(access: WordPressAccess, env: Environment): Environment {
  return {
    WORDPRESS_URL: access.url,
    WORDPRESS_USER: access.siteUser,
    WORDPRESS_APP_PASSWORD: access.siteApplicationPassword,
    NEWSROOM_SECRET: access.secret,
    // The crosswords of the demo edition are played on the sandbox's own host.
    FRAME_HOSTS: [env.FRAME_HOSTS, new URL(access.url).host].filter(Boolean).join(','),
  };
}

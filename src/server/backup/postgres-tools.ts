/** PostgreSQL's own programs, `pg_dump` and `pg_restore`, found on the PATH. */
import { spawn } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

export interface PostgresTools {
  /** Runs a program on the database. @throws Error with what the program reported */
  run(program: 'pg_dump' | 'pg_restore', args: readonly string[], url?: string): Promise<void>;
}

/**
 * Finds both programs and compares their version with the server's.
 *
 * @param server major version of the server
 * @param path folders of programs, as in the environment variable PATH
 * @throws Error with what to install
 */
export async function findTools(server: number, path: string): Promise<PostgresTools> {
  const found = { pg_dump: find('pg_dump', path), pg_restore: find('pg_restore', path) };
  for (const [name, program] of Object.entries(found)) {
    if (program === null) throw new Error(`${name} isn't on the PATH. ${advice(server)}`);
    const text = await output(program, ['--version']);
    const major = Number(/\(PostgreSQL\) (\d+)/.exec(text)?.[1]);
    if (!(major >= server)) {
      throw new Error(
        `${name} is version ${major || text.trim()}, but the server is version ${server}. ${advice(server)}`,
      );
    }
    // From 17 on they set a parameter that older servers don't know.
    if (name === 'pg_restore' && major >= 17 && server < 17) {
      throw new Error(`pg_restore ${major} can't restore into a server of version ${server}. ${advice(server)}`);
    }
  }
  return {
    async run(program, args, url) {
      const connection = url === undefined ? { args: [], env: {} } : connectionOf(url);
      await output(found[program] ?? program, [...connection.args, ...args], connection.env);
    },
  };
}

const advice = (server: number): string =>
  `Install PostgreSQL's client programs of version ${server} (Debian and Ubuntu: apt install postgresql-client-${server}; ` +
  `Alpine: apk add postgresql${server}-client; macOS: brew install postgresql@${server}) and put them on the PATH.`;

function find(program: string, path: string): string | null {
  for (const folder of path.split(delimiter).filter(Boolean)) {
    try {
      const file = join(folder, program);
      accessSync(file, constants.X_OK);
      return file;
    } catch {
      // The program isn't in this folder.
    }
  }
  return null;
}

/** The address without the password, which other users of the machine would see in the list of processes. */
function connectionOf(text: string): { args: string[]; env: Record<string, string> } {
  const url = new URL(text);
  const password = decodeURIComponent(url.password);
  url.password = '';
  // Parameters and values that only the site's own driver knows; for these programs "require" doesn't check the certificate.
  const mode = url.searchParams.get('sslmode');
  if (mode === 'no-verify' || (mode === null && url.searchParams.get('ssl') === 'true')) {
    url.searchParams.set('sslmode', 'require');
  }
  for (const name of ['ssl', 'uselibpqcompat']) url.searchParams.delete(name);
  return { args: ['--dbname', url.href], env: { ...(password && { PGPASSWORD: password }) } };
}

/** Runs a program to its end. @returns its standard output */
async function output(program: string, args: readonly string[], env: Record<string, string> = {}): Promise<string> {
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, ...env } });
  let text = '';
  let problem = '';
  child.stdout.setEncoding('utf8').on('data', (part: string) => {
    text = (text + part).slice(0, 4000);
  });
  child.stderr.setEncoding('utf8').on('data', (part: string) => {
    problem = (problem + part).slice(-2000);
  });
  const code = await new Promise<number | null>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', resolve);
  });
  if (code !== 0) throw new Error(`${program} failed (exit code ${code}): ${problem.trim()}`);
  return text;
}

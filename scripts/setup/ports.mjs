/** Checks whether a port is free, and finds free ones. */
import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';
import { Stop } from './explain.mjs';

/**
 * Whether a port can be listened on.
 *
 * @param {number} port
 * @param {string} host
 * @returns {Promise<NodeJS.ErrnoException | null>} the error when it cannot
 */
export function portError(port, host) {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', (error) => resolve(error));
    server.listen({ port, host, exclusive: true }, () => server.close(() => resolve(null)));
  });
}

/**
 * Stops with a list of every port and folder that cannot be used, and the settings that choose others.
 *
 * @param {object} needed
 * @param {string} needed.command how the user has called it
 * @param {{port: number, host: string, setting: string, purpose: string}[]} needed.ports
 * @param {{path: string, free: boolean, setting: string, purpose: string}} [needed.folder]
 */
export async function requireFree({ command, ports, folder }) {
  /** @type {string[]} */
  const problems = [];
  /** @type {string[]} */
  const others = [];
  for (const { port, host, setting, purpose } of ports) {
    const error = await portError(port, host);
    if (error?.code === 'EADDRINUSE') {
      problems.push(`Port ${port}, for ${purpose}, is in use.`);
      others.push(`${setting}=${await nextFree(port, host)}`);
    } else if (error?.code === 'EACCES') {
      problems.push(
        `This user isn't allowed to use port ${port}, for ${purpose}. Set ${setting} to a port above 1023.`,
      );
    } else if (error) {
      problems.push(
        `Port ${port} on ${host}, for ${purpose}, can't be used (${error.message}). Change ${setting}, or HOST.`,
      );
    }
  }
  if (folder && !folder.free) {
    problems.push(`The folder ${folder.path}, for ${folder.purpose}, is in use.`);
    others.push(`${folder.setting}=var/second`);
  }
  if (others.length > 0) {
    problems.push(
      `Stop what uses ${others.length > 1 ? 'them' : 'it'} (perhaps an earlier start), or choose ${others.length > 1 ? 'others' : 'another'}:`,
      `  ${others.join(' ')} ${command}`,
    );
  }
  if (problems.length > 0) throw new Stop(problems.join('\n'));
}

/**
 * The next free port in steps of ten.
 *
 * @param {number} port
 * @param {string} host
 */
async function nextFree(port, host) {
  for (let other = port + 10; other < 65_536; other += 10) if (!(await portError(other, host))) return other;
  return freePort();
}

/**
 * A free port below the range for outgoing connections, one of which could take it before the caller listens.
 *
 * @returns {Promise<number>}
 * @throws Error when none of a hundred is free
 */
export async function freePort() {
  let trouble = null;
  for (let tries = 0; tries < 100; tries++) {
    const port = randomInt(11_000, 32_000);
    trouble = await portError(port, '127.0.0.1');
    if (!trouble) return port;
  }
  throw trouble;
}

/** Ports: whether one is free, and which are. */
import { createServer } from 'node:net';
import { Stop } from './explain.mjs';

/**
 * Whether a port can be listened on.
 *
 * @param {number} port
 * @param {string} host
 * @returns {Promise<NodeJS.ErrnoException | null>} the error when it cannot
 */
export function portTrouble(port, host) {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', (error) => resolve(error));
    server.listen({ port, host, exclusive: true }, () => server.close(() => resolve(null)));
  });
}

/**
 * Stops with a list of every port that cannot be used and the setting that changes it.
 *
 * @param {{port: number, host: string, setting: string, purpose: string}[]} needed
 */
export async function requirePorts(needed) {
  /** @type {string[]} */
  const problems = [];
  for (const { port, host, setting, purpose } of needed) {
    const error = await portTrouble(port, host);
    if (error?.code === 'EADDRINUSE') {
      problems.push(
        `Port ${port}, for ${purpose}, is in use. Stop what uses it (perhaps an earlier start), or choose another: ${setting}=${port + 10} npm start`,
      );
    } else if (error?.code === 'EACCES') {
      problems.push(
        `Port ${port}, for ${purpose}, may not be used by this user. Choose one above 1023 with ${setting}.`,
      );
    } else if (error) {
      problems.push(
        `Port ${port} on ${host}, for ${purpose}, cannot be used (${error.message}). Change ${setting}, or HOST.`,
      );
    }
  }
  if (problems.length > 0) throw new Stop(problems.join('\n'));
}

/**
 * A port that is free at this moment.
 *
 * @returns {Promise<number>}
 */
export function freePort() {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
      server.close(() => resolve(port));
    });
  });
}

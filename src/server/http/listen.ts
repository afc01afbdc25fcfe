/** Opens the port of the site. */
import { once } from 'node:events';
import { createServer, type Server } from 'node:net';

/**
 * Connections that may wait to be accepted; if there are more, a client retries only after a second or more. Systems allow at most 4,096.
 */
const backlog = 4096;

interface ListenAddress {
  readonly port: number;
  readonly host: string;
}

/** @throws Error that names the setting to change */
export function listen(server: Server, { port, host }: ListenAddress): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const sentences: Record<string, string> = {
        EADDRINUSE: `PORT: port ${port} is in use on ${host}. Set PORT to a free one, or stop the process that uses it.`,
        EACCES: `PORT: this user may not use port ${port}. Set PORT to one above 1023.`,
        EADDRNOTAVAIL: `HOST: ${host} isn't an address of this machine. Set HOST to one that is, such as 127.0.0.1 or 0.0.0.0.`,
      };
      if (error.syscall === 'getaddrinfo') {
        const sentence = `HOST: ${host} has no address. Set HOST to an address of this machine, such as 127.0.0.1 or 0.0.0.0.`;
        return reject(new Error(sentence, { cause: error }));
      }
      reject(new Error(sentences[error.code ?? ''] ?? `The site can't listen: ${error.message}`, { cause: error }));
    });
    server.listen({ port, host, backlog }, () => resolve());
  });
}

/** @throws Error that names the setting to change, where the port can't be opened at this moment */
export async function requirePort(place: ListenAddress): Promise<void> {
  const probe = createServer((socket) => socket.destroy());
  await listen(probe, place);
  await once(probe.close(), 'close');
}

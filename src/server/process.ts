/** The site as a process: it listens on a port, and stops on signals and with its parent. */
import type { Server } from 'node:http';

interface Stoppable {
  readonly port: number;
  stop(): Promise<void>;
}

/** Listens, or says which setting to change. */
export function listen(server: Server, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const sentences: Record<string, string> = {
        EADDRINUSE: `PORT: port ${port} is in use on ${host}. Set PORT to a free one, or stop the process that uses it.`,
        EACCES: `PORT: this user may not use port ${port}. Set PORT to one above 1023.`,
        EADDRNOTAVAIL: `HOST: ${host} isn't an address of this machine. Set HOST to one that is, such as 127.0.0.1 or 0.0.0.0.`,
      };
      reject(new Error(sentences[error.code ?? ''] ?? `The site can't listen: ${error.message}`, { cause: error }));
    });
    server.listen(port, host, () => resolve());
  });
}

/** Runs the site as this process until it is told to stop. */
export async function runUntilStopped(start: () => Promise<Stoppable>): Promise<void> {
  let site: Stoppable | undefined;
  const stop = (exitCode: number): void => {
    // Told to stop while it still starts, the site has nothing in flight.
    (site?.stop() ?? Promise.resolve()).then(
      () => process.exit(exitCode),
      (error: unknown) => {
        console.error(error);
        process.exit(1);
      },
    );
  };
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => stop(0));
  // Started as a child, the site must not outlive its parent, however that ends.
  if (process.connected) process.on('disconnect', () => stop(0));
  process.on('uncaughtException', (error) => {
    console.error(error);
    stop(1);
  });
  try {
    site = await start();
  } catch (error) {
    const { message, cause } = error as Error;
    console.error(cause ? `${message}\n  (${cause})` : message);
    process.exit(1);
  }
  process.send?.({ listening: site.port });
}

/** Stopping a server without breaking off what is being answered. */
import type { Server } from 'node:http';

/**
 * Takes no new connections, lets what is in flight finish, and then, or after the bound, closes every connection.
 *
 * @param boundMs longest wait, milliseconds
 * @returns whether everything finished within the bound
 */
export async function shutDown(server: Server, boundMs = 10_000): Promise<boolean> {
  let inTime = true;
  await new Promise<void>((resolve) => {
    const timer = setTimeout(() => {
      inTime = false;
      server.closeAllConnections();
    }, boundMs);
    // Connections that idle between two requests would keep the server open.
    const idle = setInterval(() => server.closeIdleConnections(), 50);
    server.close(() => {
      clearTimeout(timer);
      clearInterval(idle);
      resolve();
    });
    server.closeIdleConnections();
  });
  return inTime;
}

/** A TCP proxy in front of a server: it delays data, or stops all data while the connections stay open. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export interface SlowProxy {
  readonly port: number;
  /** Milliseconds by which each packet is delayed, in each direction; from now on. */
  delay(ms: number): void;
  /** Stops all data, as a network that loses every packet. */
  freeze(): void;
  /** Stops all data of the present connections; new connections work, as after a failover to another server. */
  freezePresent(): void;
  /** The delayed data arrives now. */
  thaw(): void;
  close(): void;
}

/** @param target port on this machine */
export async function startSlowProxy(target: number): Promise<SlowProxy> {
  const sockets = new Set<Socket>();
  const frozen = new Set<Socket>();
  let held: (() => void)[] | null = null;
  let delayMs = 0;

  function pass(from: Socket, to: Socket): void {
    // Each packet is sent after the previous one, even if the delay changes.
    let last: Promise<unknown> = Promise.resolve();
    const send = (act: () => void): void => {
      const late = new Promise((resolve) => setTimeout(resolve, delayMs));
      last = Promise.all([last, late]).then(() => {
        if (frozen.has(from)) return;
        if (held) held.push(act);
        else act();
      });
    };
    sockets.add(from);
    from.on('data', (bytes) => send(() => to.write(bytes)));
    from.on('end', () => send(() => to.end()));
    from.on('error', () => to.destroy());
    from.on('close', () => sockets.delete(from));
  }

  const server = createServer((client) => {
    const upstream = connect(target, '127.0.0.1');
    pass(client, upstream);
    pass(upstream, client);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    delay(ms) {
      delayMs = ms;
    },
    freeze() {
      held ??= [];
    },
    freezePresent() {
      for (const socket of sockets) frozen.add(socket);
    },
    thaw() {
      const acts = held ?? [];
      held = null;
      for (const act of acts) act();
    },
    close() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

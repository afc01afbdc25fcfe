/** The site's side of the webhook: an HTTP server that checks and records deliveries. */
import { createHmac } from 'node:crypto';
import http from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Delivery {
  readonly path: string;
  readonly id: string;
  readonly timestamp: number;
  readonly signature: string;
  readonly raw: string;
  // biome-ignore lint/suspicious/noExplicitAny: the tests name what they expect of it.
  readonly body: any;
  readonly at: number;
}

export interface Reply {
  readonly status: number;
  readonly body?: unknown;
  readonly headers?: Record<string, string>;
}

export class Receiver {
  readonly deliveries: Delivery[] = [];
  /** The response to a delivery; may take its time. */
  reply: (delivery: Delivery) => Reply | Promise<Reply> = () => ({
    status: 200,
    body: { ok: true, refreshed: ['/', '/latest'], ms: 7 },
  });
  #server: http.Server | undefined;
  #port = 0;
  #changed = new Set<() => void>();

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  /** Listens, always on the same port. Does nothing if it is listening already. */
  async open(): Promise<void> {
    if (this.#server) return;
    const server = http.createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', async () => {
        const raw = Buffer.concat(chunks).toString('utf8');
        const header = (name: string) => String(request.headers[name] ?? '');
        const delivery: Delivery = {
          path: `${request.method} ${request.url}`,
          id: header('x-newsroom-delivery'),
          timestamp: Number(header('x-newsroom-timestamp')),
          signature: header('x-newsroom-signature'),
          raw,
          body: JSON.parse(raw),
          at: Date.now(),
        };
        this.deliveries.push(delivery);
        for (const wake of this.#changed) wake();
        const failed = (error: unknown): Reply => ({ status: 500, body: { error: String(error) } });
        const { status, body = {}, headers = {} } = await Promise.resolve(delivery).then(this.reply).catch(failed);
        response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
      });
    });
    await new Promise<void>((resolve) => server.listen(this.#port, '127.0.0.1', resolve));
    this.#port = (server.address() as AddressInfo).port;
    this.#server = server;
  }

  /** Stops listening: connections are refused from now on. */
  async close(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    server?.closeAllConnections();
    if (server) await new Promise((resolve) => server.close(resolve));
  }

  /** Deletes the recorded deliveries. */
  clear(): void {
    this.deliveries.length = 0;
  }

  /** Waits for a matching delivery. */
  async find(fits: (body: Delivery['body']) => boolean, milliseconds = 180_000): Promise<Delivery> {
    const until = Date.now() + milliseconds;
    for (;;) {
      const found = this.deliveries.find((delivery) => fits(delivery.body));
      if (found) return found;
      const left = until - Date.now();
      if (left <= 0)
        throw new Error(`No such delivery among ${JSON.stringify(this.deliveries.map(({ body }) => body))}`);
      await new Promise<void>((resolve) => {
        const wake = () => {
          clearTimeout(timer);
          this.#changed.delete(wake);
          resolve();
        };
        const timer = setTimeout(wake, left);
        this.#changed.add(wake);
      });
    }
  }
}

/** The signature that a delivery must carry (docs/content-api.md, "Webhook"). */
export function sign(secret: string, { timestamp, id, raw }: Pick<Delivery, 'timestamp' | 'id' | 'raw'>): string {
  return `sha256=${createHmac('sha256', secret).update(`${timestamp}.${id}.${raw}`).digest('hex')}`;
}

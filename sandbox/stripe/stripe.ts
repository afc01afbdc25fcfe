/**
 * The sandbox's Stripe over HTTP: the API below `/v1`, the script for browsers at `/stripe.js`, a stand-in for the Dashboard, and
 * the calls of tests and of the Dashboard below `/_sandbox` (controls.ts).
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { getResponse } from 'msw';
import { BodyTooLarge, portInUse, readBody } from '../web.ts';
import { browserFiles } from './browser.ts';
import { controls, type RequestHandler } from './controls.ts';
import { handlersByResource } from './handlers.ts';
import { hostedInvoices } from './hosted.ts';
import { keys } from './keys.ts';
import { dashboardPage } from './page.ts';
import { openState, type StateOptions, type StripeState, unknownPath } from './state.ts';
import { makeWebhooks, type Webhooks } from './webhooks.ts';

export interface StripeAccess {
  /** Base address of the API. */
  readonly apiUrl: string;
  /** Address of the stand-in for Stripe.js. */
  readonly scriptUrl: string;
  /** Address of the stand-in for the Dashboard. */
  readonly url: string;
  readonly secretKey: string;
  readonly publishableKey: string;
  readonly webhookSecret: string;
}

export interface RunningStripe {
  readonly access: StripeAccess;
  readonly state: StripeState;
  /** `null` without a site. */
  readonly webhooks: Webhooks | null;
  stop(): Promise<void>;
}

export interface StripeOptions {
  /** Address of the newspaper's site, which gets the events; without it no events are sent. */
  readonly siteUrl?: string;
  /** 0 chooses a free one. */
  readonly port?: number;
  /** Folder in which everything is stored between starts. */
  readonly folder?: string | undefined;
  readonly systemTime?: StateOptions['systemTime'];
}

/**
 * Starts it on 127.0.0.1.
 * @throws {SetupError} when the port is in use
 */
export async function startStripe({ siteUrl, port = 0, folder, systemTime }: StripeOptions): Promise<RunningStripe> {
  const webhookUrl = siteUrl && `${siteUrl}/api/v1/stripe/webhook`;
  const file = folder && path.join(folder, 'stripe.sqlite');
  const state = openState({ file, webhookUrl, ...(systemTime && { systemTime }) });
  const webhooks = webhookUrl ? makeWebhooks(state.account, { url: webhookUrl, secret: keys.webhook }) : null;
  const endpoints: Endpoints = {
    api: handlersByResource(state),
    others: [controls(state, webhooks), browserFiles(state), hostedInvoices(state), dashboardPage(state, webhooks)],
  };
  const server = createServer((request, response) => {
    serve(endpoints, request, response).catch((error: unknown) => {
      if (error instanceof BodyTooLarge) {
        response.writeHead(413).end();
        return;
      }
      process.stderr.write(`Stripe: ${request.method} ${request.url?.split('?')[0]}: ${String(error)}\n`);
      if (response.headersSent) response.destroy();
      else response.writeHead(500).end();
    });
  });
  // By default a connection closes after 5 seconds without a request, which a client of the same busy process may learn too late.
  server.keepAliveTimeout = 60_000;
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      state.close();
      reject(portInUse(error, port, "the sandbox's Stripe", 'SANDBOX_STRIPE_PORT'));
    });
    server.listen(port, '127.0.0.1', resolve);
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  state.account.setAddress(url);
  return {
    state,
    webhooks,
    access: accessAt(url),
    async stop() {
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      });
      await webhooks?.stop();
      state.close();
    },
  };
}

const accessAt = (url: string): StripeAccess => ({
  apiUrl: url,
  scriptUrl: `${url}/stripe.js`,
  url: `${url}/`,
  secretKey: keys.secret,
  publishableKey: keys.publishable,
  webhookSecret: keys.webhook,
});

interface Endpoints {
  /** Handlers of the API, by path. */
  readonly api: ReturnType<typeof handlersByResource>;
  readonly others: readonly RequestHandler[];
}

async function serve(endpoints: Endpoints, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const startedAt = performance.now();
  const cors = allowOrigin(request);
  if (request.method === 'OPTIONS') {
    response.writeHead(204, cors).end();
    return;
  }
  const answer = await answerTo(endpoints, request);
  // A fault closes the connection.
  if (answer.type === 'error') {
    response.destroy();
    return;
  }
  const bytes = Buffer.from(await answer.arrayBuffer());
  response.writeHead(answer.status, {
    ...Object.fromEntries(answer.headers),
    ...cors,
    'content-length': bytes.length,
    'x-sandbox-ms': (performance.now() - startedAt).toFixed(2),
  });
  response.end(request.method === 'HEAD' ? undefined : bytes);
}

async function answerTo({ api, others }: Endpoints, incoming: IncomingMessage): Promise<Response> {
  const { method = 'GET' } = incoming;
  const url = new URL(incoming.url ?? '/', 'http://127.0.0.1');
  const body = method === 'GET' || method === 'HEAD' ? null : await readBody(incoming);
  const request = new Request(url, { method, headers: headersOf(incoming), body });
  if (url.pathname.startsWith('/v1/')) {
    return (await getResponse([...api(url.pathname)], request)) ?? unknownPathResponse(method, url.pathname);
  }
  for (const handler of others) {
    const answer = await handler(request, url);
    if (answer) return answer;
  }
  return new Response('Not found.\n', { status: 404 });
}

function unknownPathResponse(method: string, pathname: string): Response {
  const { status, body } = unknownPath(method, pathname);
  return Response.json({ error: body }, { status });
}

/** Browsers call from the site's origin with the publishable key, which isn't secret. */
const allowOrigin = (request: IncomingMessage): Record<string, string> =>
  request.headers.origin === undefined
    ? {}
    : {
        'access-control-allow-origin': '*',
        // Tests add headers to their browsers' requests, which are sent to every origin.
        'access-control-allow-headers':
          request.headers['access-control-request-headers'] ??
          'authorization, content-type, idempotency-key, stripe-version',
        'access-control-allow-methods': 'GET, POST, DELETE, PUT',
        'access-control-expose-headers': 'request-id',
        'access-control-max-age': '600',
      };

function headersOf(request: IncomingMessage): Headers {
  const headers = new Headers();
  for (const [name, value] of Object.entries(request.headers)) {
    if (name === 'connection' || name === 'content-length' || name === 'transfer-encoding' || name.startsWith(':'))
      continue;
    if (value !== undefined) headers.set(name, String(value));
  }
  return headers;
}

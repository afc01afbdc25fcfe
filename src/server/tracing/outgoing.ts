/**
 * Records calls to other services as spans, through Node's diagnostics channels: `fetch`, undici and `node:http`, whatever library makes
 * the call. Calls get no `traceparent` header, because the services belong to other companies.
 */
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { ClientRequest, IncomingMessage } from 'node:http';
import { type Attributes, type Span, SpanKind, SpanStatusCode, type Tracer } from '@opentelemetry/api';

interface UndiciRequest {
  readonly origin?: string | URL | null;
  readonly method: string;
  readonly path: string;
}

type Listener = (message: unknown) => void;

/** @returns ends it */
export function followOutgoing(tracer: Tracer): () => void {
  const spans = new WeakMap<object, Span>();
  const begin = (request: object, method: string, url: URL | null): void => {
    if (url)
      spans.set(request, tracer.startSpan(method, { kind: SpanKind.CLIENT, attributes: attributesOf(method, url) }));
  };
  const status = (request: object, code: number): void => {
    const span = spans.get(request);
    span?.setAttribute('http.response.status_code', code);
    if (code >= 400) span?.setStatus({ code: SpanStatusCode.ERROR });
  };
  const end = (request: object, error?: unknown): void => {
    const span = spans.get(request);
    if (error !== undefined) {
      span?.setAttribute('error.type', error instanceof Error ? error.name : 'error');
      span?.setStatus({ code: SpanStatusCode.ERROR });
    }
    span?.end();
    spans.delete(request);
  };
  const listeners: Readonly<Record<string, Listener>> = {
    'undici:request:create': (message) => {
      const { request } = message as { request: UndiciRequest };
      begin(request, request.method, URL.parse(request.path, String(request.origin ?? '')));
    },
    'undici:request:headers': (message) => {
      const { request, response } = message as { request: UndiciRequest; response: { statusCode: number } };
      status(request, response.statusCode);
    },
    'undici:request:trailers': (message) => end((message as { request: UndiciRequest }).request),
    'undici:request:error': (message) => {
      const { request, error } = message as { request: UndiciRequest; error: unknown };
      end(request, error);
    },
    'http.client.request.start': (message) => {
      const { request } = message as { request: ClientRequest };
      begin(
        request,
        request.method,
        URL.parse(request.path, `${request.protocol}//${request.getHeader('host') ?? request.host}`),
      );
    },
    'http.client.response.finish': (message) => {
      const { request, response } = message as { request: ClientRequest; response: IncomingMessage };
      status(request, response.statusCode ?? 0);
      end(request);
    },
    'http.client.request.error': (message) => {
      const { request, error } = message as { request: ClientRequest; error: unknown };
      end(request, error);
    },
  };
  for (const [channel, listener] of Object.entries(listeners)) subscribe(channel, listener);
  return () => {
    for (const [channel, listener] of Object.entries(listeners)) unsubscribe(channel, listener);
  };
}

function attributesOf(method: string, { hostname, port, protocol, pathname }: URL): Attributes {
  const usual = protocol === 'https:' ? 443 : 80;
  return {
    'http.request.method': method,
    'server.address': hostname,
    'server.port': port === '' ? usual : Number(port),
    'url.template': templateOf(pathname),
  };
}

/** The path with a placeholder for each part that may be an id, a name or a key. */
export const templateOf = (path: string): string =>
  path
    .split('/')
    .map((part) => (part === '' || /^(?:v\d+|[a-z]+(?:[_-][a-z]+)*(?:\.json)?)$/.test(part) ? part : '{id}'))
    .join('/');

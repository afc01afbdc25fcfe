/**
 * Traces by OpenTelemetry's SDK, exported by OTLP over HTTP. Imported only when the OTEL_ settings name a collector. Spans wait in a
 * limited queue and are dropped when it is full, so a slow or unavailable collector never delays a request.
 */
import {
  type Attributes,
  type Context,
  context,
  DiagLogLevel,
  diag,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import { defaultResource, resourceFromAttributes } from '@opentelemetry/resources';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  type Sampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import type { LogEvent } from 'kysely';
import { withTimeLimit } from '../../lib/jobs/tasks.ts';
import type { Logger } from '../../lib/logging.ts';
import { setTracer } from '../../lib/tracing.ts';
import type { TracingConfig } from '../config/tracing.ts';
import { isFromProxy, type TrustedProxies } from '../http/client-address.ts';
import type { Exchange } from '../http/server-options.ts';
import { followOutgoing } from './outgoing.ts';
import { routeOf } from './routes.ts';

export interface Tracing {
  /** Answers a request within a span, which ends with the response. @param kindOf called when it has ended */
  request(exchange: Exchange, kindOf: (exchange: Exchange) => string, respond: () => void): void;
  /** Exports waiting spans, within a time limit, and ends. */
  stop(): Promise<void>;
}

/** Milliseconds that a stop waits for the collector. */
const stopMs = 3000;
const warnEveryMs = 60_000;

export async function startTracing(config: TracingConfig, trusted: TrustedProxies, log: Logger): Promise<Tracing> {
  reportProblems(log);
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  const { batch } = config;
  const processor = new BatchSpanProcessor({
    exporter: await openExporter(config),
    scheduledDelayMillis: batch.delayMs,
    maxQueueSize: batch.mostQueued,
    maxExportBatchSize: batch.mostExported,
    exportTimeoutMillis: batch.exportMs,
  });
  const named = resourceFromAttributes({ ...config.resource, 'service.name': config.serviceName });
  const provider = new TracerProvider({
    resource: defaultResource().merge(named),
    sampler: samplerOf(config),
    spanProcessors: [processor],
  });
  const tracer = provider.getTracer('broadsheet');
  const unfollow = followOutgoing(tracer);
  setTracer({
    inSpan: (name, attributes, work) =>
      inSpan(tracer, name, attributes, (span) => work({ set: (more) => span.setAttributes(more) })),
    query: (event) => queryOf(tracer, event),
  });
  const parentOf = config.followsParents ? parents(trusted) : () => context.active();
  return {
    request: (exchange, kindOf, respond) => request(tracer, exchange, parentOf(exchange), kindOf, respond),
    async stop() {
      setTracer(null);
      unfollow();
      await withTimeLimit(
        stopMs,
        provider.shutdown().catch(() => {}),
        () => {},
      );
    },
  };
}

async function openExporter({ protocol, url, headers, timeoutMs, compressed }: TracingConfig) {
  const { OTLPTraceExporter } =
    protocol === 'http/json'
      ? await import('@opentelemetry/exporter-trace-otlp-http')
      : await import('@opentelemetry/exporter-trace-otlp-proto');
  type Options = NonNullable<ConstructorParameters<typeof OTLPTraceExporter>[0]>;
  // The type is in a package that the site doesn't install; it has only these two values.
  const compression = (compressed ? 'gzip' : 'none') as NonNullable<Options['compression']>;
  return new OTLPTraceExporter({ url, headers, timeoutMillis: timeoutMs, compression });
}

function samplerOf({ sampler, ratio }: TracingConfig): Sampler {
  const [, parentBased, name] = /^(parentbased_)?(\w+)$/.exec(sampler) ?? [];
  const root =
    name === 'always_off'
      ? new AlwaysOffSampler()
      : name === 'traceidratio'
        ? new TraceIdRatioBasedSampler(ratio)
        : new AlwaysOnSampler();
  return parentBased ? new ParentBasedSampler({ root }) : root;
}

/** Logs problems that the SDK reports, such as a collector that doesn't respond, at most once a minute. */
function reportProblems(log: Logger): void {
  let warnedAt = Number.NEGATIVE_INFINITY;
  const warn = (message: string): void => {
    if (performance.now() - warnedAt < warnEveryMs) return;
    warnedAt = performance.now();
    log.warn({ problem: message.slice(0, 300) }, "Traces don't reach the collector (OTEL_EXPORTER_OTLP_ENDPOINT)");
  };
  const nothing = (): void => {};
  const logger = { error: warn, warn, info: nothing, debug: nothing, verbose: nothing };
  diag.setLogger(logger, { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true });
}

/** The span of the caller, by the `traceparent` of a trusted proxy. */
function parents(trusted: TrustedProxies): (exchange: Exchange) => Context {
  const isTrusted = isFromProxy(trusted);
  const propagator = new W3CTraceContextPropagator();
  const getter = {
    get: (headers: Exchange['incoming']['headers'], name: string) => headers[name],
    keys: (headers: Exchange['incoming']['headers']) => Object.keys(headers),
  };
  return ({ incoming }) =>
    incoming.headers.traceparent !== undefined && isTrusted(incoming)
      ? propagator.extract(context.active(), incoming.headers, getter)
      : context.active();
}

function inSpan<T>(tracer: Tracer, name: string, attributes: Attributes, work: (span: Span) => Promise<T>): Promise<T> {
  return tracer.startActiveSpan(name, { attributes }, async (span) => {
    try {
      return await work(span);
    } catch (error) {
      failed(span, error);
      throw error;
    } finally {
      span.end();
    }
  });
}

/** Only the error's name: its message may name a reader. */
function failed(span: Span, error: unknown): void {
  span.setAttribute('error.type', error instanceof Error ? error.name : 'error');
  span.setStatus({ code: SpanStatusCode.ERROR });
}

const methods = /^(?:GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS|TRACE|CONNECT)$/;

function request(
  tracer: Tracer,
  exchange: Exchange,
  parent: Context,
  kindOf: (exchange: Exchange) => string,
  respond: () => void,
): void {
  const { incoming, outgoing } = exchange;
  const [path = ''] = (incoming.url ?? '').split('?', 1);
  // Load balancers request these constantly.
  if (path === '/healthz' || path === '/readyz') {
    respond();
    return;
  }
  const route = routeOf(path);
  const method = methods.test(incoming.method ?? '') ? (incoming.method ?? '') : '_OTHER';
  const attributes: Attributes = { 'http.request.method': method };
  if (route !== null) attributes['http.route'] = route;
  const name = route === null ? method : `${method} ${route}`;
  const span = tracer.startSpan(name, { kind: SpanKind.SERVER, attributes }, parent);
  outgoing.once('close', () => {
    const { statusCode } = outgoing;
    span.setAttributes({
      'http.response.status_code': statusCode,
      'broadsheet.kind': kindOf(exchange),
      'broadsheet.cache': exchange.hit ? 'hit' : exchange.missed ? 'miss' : 'none',
    });
    if (exchange.requestId !== undefined) span.setAttribute('broadsheet.request_id', exchange.requestId);
    if (!outgoing.writableFinished) span.setAttribute('error.type', 'closed');
    if (statusCode >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
    span.end();
  });
  context.with(trace.setSpan(parent, span), respond);
}

/**
 * Records a query that has just ended: the kind of statement and the duration, never its text or values. Queries of background loops, which
 * have no span around them, are left out.
 */
function queryOf(tracer: Tracer, event: LogEvent): void {
  if (!trace.getActiveSpan()?.isRecording()) return;
  const operation = operationOf(event);
  const ended = Date.now();
  const startTime = ended - event.queryDurationMillis;
  const attributes = { 'db.operation.name': operation };
  const span = tracer.startSpan(`db ${operation}`, { kind: SpanKind.CLIENT, startTime, attributes });
  if (event.level === 'error') {
    span.setAttribute('error.type', event.error instanceof Error ? event.error.name : 'error');
    span.setStatus({ code: SpanStatusCode.ERROR });
  }
  span.end(ended);
}

/** Such as `SELECT`. */
function operationOf({ query }: LogEvent): string {
  const [, kind] = /^(Select|Insert|Update|Delete)QueryNode$/.exec(query.query.kind) ?? [];
  return (kind ?? /^\s*([a-z]+)/i.exec(query.sql)?.[1] ?? 'QUERY').toUpperCase();
}

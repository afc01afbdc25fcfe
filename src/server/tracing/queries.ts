/** Queries as spans: which kind of statement, and for how long. Never its text or its values. */
import { SpanKind, SpanStatusCode, type Tracer, trace } from '@opentelemetry/api';
import type { LogEvent } from 'kysely';

/** Records a query that has just ended. Queries of background loops, which have no span around them, are left out. */
export function queryOf(tracer: Tracer, event: LogEvent): void {
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

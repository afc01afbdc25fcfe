/**
 * Interface for tracing. Without a tracer, work runs unchanged; the server sets one if the OTEL_ settings say so (src/server/tracing).
 * Names and attributes contain no personal data: no addresses, no query strings, no cookies, no ids of readers.
 */
import type { LogEvent } from 'kysely';

export type SpanAttributes = Readonly<Record<string, string | number | boolean>>;

export interface OpenSpan {
  set(attributes: SpanAttributes): void;
}

export interface Tracer {
  inSpan<T>(name: string, attributes: SpanAttributes, work: (span: OpenSpan) => Promise<T>): Promise<T>;
  /** Records a query that has just ended, as part of the span in which it ran. */
  query(event: LogEvent): void;
}

let tracer: Tracer | null = null;
const ignored: OpenSpan = { set() {} };

/** Called once, before the services are created. @param next `null`: from now on nothing is recorded */
export function setTracer(next: Tracer | null): void {
  tracer = next;
}

/** Runs work as a span. The work begins before this returns. */
export const inSpan = <T>(
  name: string,
  attributes: SpanAttributes,
  work: (span: OpenSpan) => Promise<T>,
): Promise<T> => (tracer === null ? work(ignored) : tracer.inSpan(name, attributes, work));

/** The listener for the queries of a database; `undefined`, which costs nothing, without a tracer. */
export const queryListener = (): ((event: LogEvent) => void) | undefined => tracer?.query;

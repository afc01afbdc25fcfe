/**
 * The time of the job queue. Nodes of a cluster compare leases and due times with the clock of their database, because their own clocks may
 * differ by minutes.
 */
import { type RawBuilder, sql } from 'kysely';
import type { Engine } from '../database.ts';

export interface QueueClock {
  /** The present, epoch milliseconds, as an expression. */
  readonly present: RawBuilder<number>;
  /** Converts a time of this node's clock to an SQL expression with the same distance from the present. */
  at(time: number): RawBuilder<number>;
  /** Converts a stored time to this node's clock. @param present the value that the same query returned */
  toLocal(stored: unknown, present: unknown): number;
}

/** The database's clock, read once in each statement. SQLite's is the machine's. */
const databaseClocks: Readonly<Record<Engine, RawBuilder<number>>> = {
  postgres: sql<number>`(extract(epoch from statement_timestamp()) * 1000)::bigint`,
  sqlite: sql<number>`cast(round(unixepoch('subsec') * 1000) as integer)`,
};

/** Reads the clock. @param now this node's clock; tests pass their own, which then also decides the time of the queue */
export function queueClock(engine: Engine, now: () => number): () => QueueClock {
  const shared = now === Date.now ? databaseClocks[engine] : null;
  return () => {
    const here = now();
    const present = shared ?? sql<number>`cast(${here} as bigint)`;
    return {
      present,
      at: (time) => sql<number>`${present} + cast(${time - here} as bigint)`,
      toLocal: (stored, then) => Number(stored) - Number(then) + here,
    };
  };
}

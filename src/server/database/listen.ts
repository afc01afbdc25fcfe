/** Hears what is said on a channel of PostgreSQL, over a connection of its own that is made again whenever it breaks. */
import { setTimeout as timer } from 'node:timers/promises';
import { backOff } from '../../lib/jobs/retry.ts';
import type { Logger } from '../../lib/logging.ts';
import { openClient, told } from './postgres.ts';

export interface ListenOptions {
  readonly url: string;
  /** SQL that gives the channel's name. */
  readonly channel: string;
  readonly log: Logger;
  /** Milliseconds between two signs of life that are asked for; 15,000 unless given. */
  readonly beatMs?: number | undefined;
  /** Longest wait for an answer, in milliseconds; 5000 unless given. */
  readonly patienceMs?: number | undefined;
  heard(payload: string): void;
  /** Called each time that listening has begun: what was said before it was not heard. */
  begun(): void;
}

export interface Listening {
  /** Whether something said now would be heard. */
  on(): boolean;
  /** Hears nothing more from now on; resolves when the connection has ended, within two seconds. */
  stop(): Promise<void>;
}

/** Milliseconds. */
const times = { firstWait: 200, longestWait: 5000, steady: 10_000, goodbye: 1000 };

/** Begins to listen; a PostgreSQL that is away is asked again until it answers. */
export function listen(options: ListenOptions): Listening {
  const { url, channel, log, heard, begun, beatMs = 15_000, patienceMs = 5000 } = options;
  const stopping = new AbortController();
  const { signal } = stopping;
  let on = false;
  let missed = false;

  const pause = (ms: number, until: AbortSignal): Promise<void> =>
    timer(ms, undefined, { signal: until, ref: false }).catch(() => {});

  /** One connection, until it breaks (then it throws) or is no longer wanted. */
  async function hold(): Promise<void> {
    const client = openClient(url, patienceMs);
    const over = new AbortController();
    const end = (): void => over.abort();
    const leave = async (): Promise<void> => {
      end();
      await Promise.race([client.end().catch(() => {}), timer(times.goodbye, undefined, { ref: false })]);
      client.connection.stream.destroy();
    };
    signal.addEventListener('abort', leave, { once: true });
    client.on('error', end);
    client.on('end', end);
    client.on('notification', ({ payload }) => {
      if (!signal.aborted) heard(payload ?? '');
    });
    try {
      await client.connect();
      const { rows } = await client.query<{ name: string }>(`select ${channel} as name`);
      await client.query(`listen ${client.escapeIdentifier(rows[0]?.name ?? '')}`);
      on = true;
      if (missed) log.info({}, 'Other processes are heard again');
      missed = false;
      begun();
      while (!over.signal.aborted) {
        await pause(beatMs, over.signal);
        // A server, or a way to it, that went away without a word says nothing else either.
        if (!over.signal.aborted) await client.query('select 1');
      }
      throw new Error('Connection ended');
    } finally {
      on = false;
      signal.removeEventListener('abort', leave);
      await leave();
    }
  }

  async function follow(): Promise<void> {
    for (let failures = 0; !signal.aborted; ) {
      const began = performance.now();
      try {
        await hold();
      } catch (error) {
        if (signal.aborted) return;
        const problem = told(error);
        if (!missed)
          log.warn({ problem: (problem as Error).message }, 'Other processes are not heard; it is tried again');
        missed = true;
      }
      if (performance.now() - began > times.steady) failures = 0;
      await pause(backOff(++failures, times.firstWait, times.longestWait), signal);
    }
  }

  const following = follow();
  return {
    on: () => on,
    async stop() {
      stopping.abort();
      await Promise.race([following, timer(2 * times.goodbye, undefined, { ref: false })]);
    },
  };
}

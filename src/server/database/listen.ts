/** Listens on a PostgreSQL channel over a connection of its own, which is replaced when it breaks. */
import { setTimeout as timer } from 'node:timers/promises';
import { backOff } from '../../lib/jobs/tasks.ts';
import type { Logger } from '../../lib/logging.ts';
import { openClient, told } from './postgres.ts';

export interface ListenOptions {
  readonly url: string;
  /** SQL that gives the channel's name. */
  readonly channel: string;
  readonly log: Logger;
  /** Milliseconds between two checks of the connection; 15,000 unless given. */
  readonly beatMs?: number | undefined;
  /** Longest wait for a response, in milliseconds; 5000 unless given. */
  readonly patienceMs?: number | undefined;
  onMessage(payload: string): void;
  /** Called each time that listening starts; messages sent before were missed. */
  onConnect(): void;
}

export interface Listening {
  /** Whether a message sent at present would arrive. */
  on(): boolean;
  /** Accepts no more messages; resolves when the connection has ended, within two seconds. */
  stop(): Promise<void>;
}

/** Milliseconds. */
const times = { firstWait: 200, longestWait: 5000, steady: 10_000, goodbye: 1000 };

/** Starts to listen; while PostgreSQL is down it reconnects with back-off. */
export function listen(options: ListenOptions): Listening {
  const { url, channel, log, onMessage, onConnect, beatMs = 15_000, patienceMs = 5000 } = options;
  const stopping = new AbortController();
  const { signal } = stopping;
  let on = false;
  let missed = false;

  const pause = (ms: number, until: AbortSignal): Promise<void> =>
    timer(ms, undefined, { signal: until, ref: false }).catch(() => {});

  /** Uses one connection until it breaks (then it throws) or is no longer needed. */
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
      if (!signal.aborted) onMessage(payload ?? '');
    });
    try {
      await client.connect();
      const { rows } = await client.query<{ name: string }>(`select ${channel} as name`);
      await client.query(`listen ${client.escapeIdentifier(rows[0]?.name ?? '')}`);
      on = true;
      if (missed) log.info({}, 'Messages of other processes arrive again');
      missed = false;
      onConnect();
      while (!over.signal.aborted) {
        await pause(beatMs, over.signal);
        // A connection can be lost without being closed.
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
          log.warn({ problem: (problem as Error).message }, "Messages of other processes don't arrive; reconnecting");
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

/** Listens on a PostgreSQL channel over a separate connection, which is replaced if it breaks. */
import { setTimeout as timer } from 'node:timers/promises';
import type { Client } from 'pg';
import { backOff } from '../../lib/jobs/tasks.ts';
import { createFailureLog, type FailureLog, type Logger } from '../../lib/logging.ts';
import { asUnavailable, openClient } from './postgres.ts';

export interface ListenOptions {
  readonly url: string;
  /** SQL that gives the channel's name. */
  readonly channel: string;
  readonly log: Logger;
  /** Milliseconds between two checks of the connection. */
  readonly beatMs: number;
  onMessage(payload: string): void;
  /** Called each time that listening starts; messages sent before were missed. */
  onConnect(): void;
  /**
   * Work for each check of the connection, on the connection, including the one at its start; if it throws, the connection is
   * replaced.
   */
  onBeat(session: Pick<Client, 'query'>): Promise<unknown>;
  /** Called when the connection is gone. */
  onDisconnect(): void;
}

export interface Listening {
  /** Accepts no more messages; resolves when the connection has ended, within two seconds. */
  stop(): Promise<void>;
}

/** Longest wait for a response, in milliseconds. */
const timeoutMs = 5000;
/** Milliseconds: the waits before reconnecting, after which a connection counts as steady, and for its orderly end. */
const times = { firstWait: 200, longestWait: 5000, steady: 10_000, close: 1000 };

interface ListenState extends ListenOptions {
  readonly stopping: AbortSignal;
  readonly connection: FailureLog;
}

/** Starts to listen; while PostgreSQL is down it reconnects with back-off. */
export function listen(options: ListenOptions): Listening {
  const stopping = new AbortController();
  const connection = createFailureLog(options.log, 'Messages of other processes arrive again');
  const state: ListenState = { ...options, stopping: stopping.signal, connection };
  const listening = keepListening(state);
  return {
    async stop() {
      stopping.abort();
      await Promise.race([listening, timer(2 * times.close, undefined, { ref: false })]);
    },
  };
}

const pause = (ms: number, until: AbortSignal): Promise<void> =>
  timer(ms, undefined, { signal: until, ref: false }).catch(() => {});

async function keepListening(state: ListenState): Promise<void> {
  for (let failures = 0; !state.stopping.aborted; ) {
    const began = performance.now();
    try {
      await useConnection(state);
    } catch (error) {
      if (state.stopping.aborted) return;
      const problem = (asUnavailable(error) as Error).message;
      state.connection.failed({ problem }, "Messages of other processes don't arrive; reconnecting");
    }
    if (performance.now() - began > times.steady) failures = 0;
    await pause(backOff(++failures, times.firstWait, times.longestWait), state.stopping);
  }
}

/** Listens on one connection until it breaks (then it throws) or `stop` is called. */
async function useConnection(state: ListenState): Promise<void> {
  const { url, channel, stopping, onMessage, onConnect, beatMs } = state;
  const client = openClient(url, timeoutMs);
  const over = new AbortController();
  const end = (): void => over.abort();
  const leave = async (): Promise<void> => {
    end();
    await Promise.race([client.end().catch(() => {}), timer(times.close, undefined, { ref: false })]);
    client.connection.stream.destroy();
  };
  stopping.addEventListener('abort', leave, { once: true });
  client.on('error', end);
  client.on('end', end);
  client.on('notification', ({ payload }) => {
    if (!stopping.aborted) onMessage(payload ?? '');
  });
  try {
    await client.connect();
    const { rows } = await client.query<{ name: string }>(`select ${channel} as name`);
    await client.query(`listen ${client.escapeIdentifier(rows[0]?.name ?? '')}`);
    state.connection.worked();
    onConnect();
    while (!over.signal.aborted) {
      // A connection can be lost without being closed, so it is checked.
      await state.onBeat(client);
      await pause(beatMs, over.signal);
    }
    throw new Error('Connection ended');
  } finally {
    state.onDisconnect();
    stopping.removeEventListener('abort', leave);
    await leave();
  }
}

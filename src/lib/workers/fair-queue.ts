/**
 * A bounded queue that is fair to its clients: a few jobs run at a time, and waiting clients take turns, so that a client with many
 * jobs delays another one by a single job and not by all.
 */

/** The queue is full, for this client or in total. */
export class QueueFull extends Error {
  override readonly name = 'QueueFull';
}

export interface FairQueueOptions {
  /** Jobs that run at once. */
  readonly atOnce: number;
  /** Jobs of one client that run at once; fewer than all of them leave room for others. */
  readonly perClient: number;
  /** Jobs of one client that may wait. */
  readonly waitingPerClient: number;
  /** Jobs that may wait altogether. */
  readonly waiting: number;
}

export interface FairQueue {
  /** Runs a job when it is the client's turn. @throws QueueFull immediately, if too many jobs are waiting */
  run<T>(client: string, job: () => Promise<T>): Promise<T>;
  /** Jobs that wait. */
  readonly length: number;
}

interface Client {
  running: number;
  readonly waiting: (() => void)[];
}

/** Makes an empty queue. */
export function createFairQueue(options: FairQueueOptions): FairQueue {
  /** Clients with jobs, in the order of their turns. */
  const clients = new Map<string, Client>();
  let running = 0;
  let waiting = 0;

  /** Starts as many jobs as possible: each time the next client in turn that has a job and is below its limit. */
  function startNext(): void {
    while (running < options.atOnce) {
      const next = [...clients].find(([, client]) => client.waiting.length > 0 && client.running < options.perClient);
      if (!next) return;
      const [, client] = next;
      client.running++;
      running++;
      waiting--;
      client.waiting.shift()?.();
    }
  }

  function ended(name: string, client: Client): void {
    client.running--;
    running--;
    // A client that had its turn moves behind the waiting ones.
    clients.delete(name);
    if (client.running > 0 || client.waiting.length > 0) clients.set(name, client);
    startNext();
  }

  return {
    get length() {
      return waiting;
    },
    async run(name, job) {
      const client = clients.get(name) ?? { running: 0, waiting: [] };
      if (client.waiting.length >= options.waitingPerClient || waiting >= options.waiting) throw new QueueFull();
      clients.set(name, client);
      await new Promise<void>((resolve) => {
        client.waiting.push(resolve);
        waiting++;
        startNext();
      });
      try {
        return await job();
      } finally {
        ended(name, client);
      }
    },
  };
}

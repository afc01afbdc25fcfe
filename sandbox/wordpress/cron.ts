/** Drives WordPress's own task list; WordPress would otherwise call itself on visits, which slows down the visitor. */

export interface CronDriver {
  /** Runs the task list as soon as possible; several wishes at once make one run. */
  soon(): void;
  /** Runs the task list and resolves when it has ended. */
  now(): Promise<void>;
  /** Begins running the task list at an interval, so that scheduled posts appear. */
  every(milliseconds: number): void;
  stop(): Promise<void>;
}

/** @param runTasks asks WordPress to run what is due */
export function driveCron(runTasks: () => Promise<unknown>): CronDriver {
  let running: Promise<void> | undefined;
  let again = false;
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;

  const loop = async () => {
    do {
      again = false;
      try {
        await runTasks();
      } catch (error) {
        process.stderr.write(`WordPress's task list: ${error instanceof Error ? error.message : String(error)}\n`);
      }
    } while (again && !stopped);
    running = undefined;
  };
  const now = () => {
    if (stopped) return Promise.resolve();
    if (running) again = true;
    else running = loop();
    return running ?? Promise.resolve();
  };
  return {
    now,
    soon: () => void setImmediate(() => void now()),
    every(milliseconds) {
      clearInterval(timer);
      timer = setInterval(() => void now(), milliseconds);
      timer.unref();
    },
    async stop() {
      stopped = true;
      clearInterval(timer);
      await running;
    },
  };
}

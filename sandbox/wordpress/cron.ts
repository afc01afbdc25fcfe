/** Runs WordPress's scheduled tasks; WordPress would otherwise call itself on visits, which slows down the visitor. */

import fs from 'node:fs';

export interface CronDriver {
  /** Runs the tasks as soon as possible; simultaneous calls cause one run. */
  runSoon(): void;
  /** Runs the tasks and resolves when they have ended. */
  run(): Promise<void>;
  /** Runs due tasks, resolves, and checks again at an interval, so that scheduled posts appear. */
  runEvery(milliseconds: number): Promise<void>;
  stop(): Promise<void>;
}

/**
 * Whether a task is due, by the file that WordPress writes (mu-plugins/next-task.php). Without the file, a task may be due.
 *
 * @param now milliseconds since 1970
 */
export function isTaskDue(nextTaskFile: string, now = Date.now()): boolean {
  let text: string;
  try {
    text = fs.readFileSync(nextTaskFile, 'utf8').trim();
  } catch {
    return true;
  }
  if (text === 'none') return false;
  return !/^\d+$/.test(text) || Number(text) * 1000 <= now;
}

/**
 * @param runTasks asks WordPress to run what is due
 * @param isDue checks without PHP whether a run at the interval is needed
 */
export function makeCronDriver(runTasks: () => Promise<unknown>, isDue: () => boolean = () => true): CronDriver {
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
    run: now,
    runSoon: () => void setImmediate(() => void now()),
    async runEvery(milliseconds) {
      clearInterval(timer);
      timer = setInterval(() => isDue() && void now(), milliseconds);
      timer.unref();
      if (isDue()) await now();
    },
    async stop() {
      stopped = true;
      clearInterval(timer);
      await running;
    },
  };
}

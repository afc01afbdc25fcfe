/** Processes of a bench: each has one job, so that the work of one isn't counted as another's. They end with the bench. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';

const children = new Map<ChildProcess, NodeJS.Signals>();

/** Ends every process of the bench that is still running. */
export function endAll(): void {
  for (const [child, signal] of children) child.kill(signal);
}
process.once('exit', endAll);

// Without a listener a signal would end the bench and leave its processes behind.
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
  if (process.listenerCount(signal) === 0) process.once(signal, () => process.exit(1));
}

/** Ends a process with the bench, also one that Ctrl-C doesn't reach. @param signal for nginx SIGTERM, so that it ends its workers */
export function endWithBench(child: ChildProcess, signal: NodeJS.Signals = 'SIGKILL'): void {
  children.set(child, signal);
  child.once('exit', () => children.delete(child));
}

export interface Helper {
  /** Sends a message and waits for the process's answer. @throws when the process has ended */
  ask<T>(message: object): Promise<T>;
  stop(): Promise<void>;
}

export interface Started {
  readonly child: ChildProcess;
  /** What it has written so far. */
  readonly output: () => string;
  /** Waits until it has written something. @throws Error with its last output if it ends first or takes too long */
  waitForOutput(what: RegExp, withinMs?: number): Promise<RegExpExecArray>;
  stop(): Promise<void>;
}

/** Stops a process as an operator would, and waits for its end. */
async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, 'exit');
  child.kill('SIGTERM');
  await exit;
}

/** The first line that a process prints, which is JSON. @throws when it ends without one */
export async function firstJsonLine<T>(child: ChildProcess): Promise<T> {
  let text = '';
  child.stdout?.setEncoding('utf8');
  for await (const chunk of child.stdout ?? []) {
    text += chunk;
    if (text.includes('\n')) return JSON.parse(text.slice(0, text.indexOf('\n'))) as T;
  }
  throw new Error('A process of the bench ended without a word.');
}

const flags = ['--disable-warning=ExperimentalWarning'];

/** Starts a module that answers messages, see {@link serve}. */
export function helper(module: string, args: readonly string[]): Helper {
  const child = spawn(process.execPath, [...flags, module, ...args], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  endWithBench(child);
  const open = new Map<number, { resolve: (value: never) => void; reject: (error: Error) => void }>();
  let last = 0;
  child.on('message', ({ number, answer, problem }: { number: number; answer: never; problem?: string }) => {
    const asked = open.get(number);
    open.delete(number);
    if (problem === undefined) asked?.resolve(answer);
    else asked?.reject(new Error(problem));
  });
  child.once('exit', () => {
    for (const { reject } of open.values()) reject(new Error(`${module} ended before it had answered.`));
  });
  return {
    ask: (message) =>
      new Promise((resolve, reject) => {
        if (!child.connected) return reject(new Error(`${module} has ended.`));
        open.set(++last, { resolve, reject });
        child.send({ number: last, message });
      }),
    stop: () => end(child),
  };
}

/** The other side of {@link helper}: answers each message of the process that started this one, and ends with it. */
export function serve<T>(answer: (message: T) => unknown): void {
  process.on('message', async ({ number, message }: { number: number; message: T }) => {
    try {
      process.send?.({ number, answer: await answer(message) });
    } catch (error) {
      process.send?.({ number, problem: String(error) });
    }
  });
  process.once('disconnect', () => process.exit(0));
}

/** Starts a program of the product with these settings and no others. Compiled code is kept, as by `npm run`. */
export function start(args: readonly string[], env: Readonly<Record<string, string>>): Started {
  const child = spawn(process.execPath, args, {
    env: { PATH: process.env.PATH ?? '', NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  endWithBench(child);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output = (output + text).slice(-200_000);
    });
  }
  return {
    child,
    output: () => output,
    waitForOutput: (what, withinMs = 600_000) =>
      new Promise((resolve, reject) => {
        const done = (work: () => void): void => {
          clearTimeout(timer);
          child.stdout.off('data', look);
          child.off('close', ended);
          work();
        };
        const fail = (why: string): void => done(() => reject(new Error(`${why}\n${output.slice(-2000)}`)));
        const look = (): void => {
          const found = what.exec(output);
          if (found) done(() => resolve(found));
        };
        const ended = (): void => fail('The process ended early.');
        const timer = setTimeout(() => fail(`${what} did not appear within ${withinMs} ms.`), withinMs);
        child.stdout.on('data', look);
        child.once('close', ended);
        look();
      }),
    stop: () => end(child),
  };
}

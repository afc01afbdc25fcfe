/** Child processes that never outlive this one. */
import { spawn } from 'node:child_process';
import { onStop } from './lifetime.mjs';

/** Milliseconds that a child has to stop by itself; longer than the site takes to finish its requests. */
const defaultTimeoutMs = 15_000;

/**
 * @typedef {object} Child
 * @property {number} pid
 * @property {Promise<{code: number | null, signal: string | null}>} ended
 * @property {() => Promise<void>} stop asks it to stop, waits, and ends its process group if it does not
 * @property {() => string} tail the last lines that it wrote on standard error
 */

/**
 * Starts a child in a process group of its own, so that Ctrl-C reaches it through this process alone and in order. Its standard input and
 * an IPC channel stay open while this process lives, so it notices even a `kill -9`.
 *
 * @param {string} command
 * @param {string[]} args
 * @param {{cwd: string, env: Record<string, string | undefined>, onLine?: (line: string) => void, onErrorLine?: (line: string) => void, onMessage?: (message: any) => void, timeoutMs?: number}} options
 * @returns {Child}
 */
export function startChild(command, args, options) {
  const child = spawn(command, args, {
    cwd: options.cwd,
    env: { NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE, ...options.env },
    detached: true,
    stdio: ['pipe', 'pipe', 'pipe', 'ipc'],
  });
  /** @type {string[]} */
  const tail = [];
  eachLine(child.stdout, (line) => options.onLine?.(line));
  eachLine(child.stderr, (line) => {
    tail.push(line);
    if (tail.length > 40) tail.shift();
    options.onErrorLine?.(line);
  });
  if (options.onMessage) child.on('message', options.onMessage);
  child.stdin?.on('error', () => {});

  /** @type {Promise<{code: number | null, signal: string | null}>} */
  const ended = new Promise((resolve) => {
    child.once('error', (error) => {
      tail.push(error.message);
      resolve({ code: 1, signal: null });
    });
    child.once('exit', (code, signal) => resolve({ code, signal }));
  });
  const running = () => child.exitCode === null && child.signalCode === null && child.pid !== undefined;
  const killGroup = () => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
    } catch {
      // The group has already ended.
    }
  };
  const stop = async () => {
    if (running()) child.kill('SIGTERM');
    /** @type {NodeJS.Timeout | undefined} */
    let timer;
    const late = new Promise((resolve) => {
      timer = setTimeout(resolve, options.timeoutMs ?? defaultTimeoutMs);
    });
    await Promise.race([ended, late]);
    clearTimeout(timer);
    // Also ends processes that the child started and left running.
    killGroup();
    await ended;
  };
  const forget = onStop((hard) => (hard ? killGroup() : stop()));
  void ended.then(() => {
    killGroup();
    forget();
  });
  return { pid: child.pid ?? -1, ended, stop, tail: () => tail.join('\n') };
}

/**
 * @param {import('node:stream').Readable | null} stream
 * @param {(line: string) => void} take
 */
function eachLine(stream, take) {
  let rest = '';
  stream?.setEncoding('utf8');
  stream?.on('data', (/** @type {string} */ text) => {
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) if (line !== '') take(line);
  });
  stream?.on('end', () => {
    if (rest !== '') take(rest);
  });
}

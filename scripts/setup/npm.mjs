/** Runs npm (the one that started this process, else the one on the PATH) and other commands. */
import { spawn } from 'node:child_process';
import { Stop, whatToDo } from './explain.mjs';
import { onStop } from './lifetime.mjs';

/**
 * Runs npm and waits. Its output is shown only if it fails.
 *
 * @param {string[]} args
 * @param {{cwd: string, env?: Record<string, string | undefined>, onSpawn?: (pid: number) => void}} options
 */
export async function npm(args, options) {
  const own = process.env.npm_execpath;
  // pnpm and yarn set the same variable; only npm understands `ci`.
  const [command, ...first] = own && /npm-cli\.js$/.test(own) ? [process.execPath, own] : ['npm'];
  const { code, output } = await runCommand(/** @type {string} */ (command), [...first, ...args], options);
  if (code === 0) return;
  const lines = output
    .split('\n')
    .filter((line) => !/npm (?:warn|notice)|^npm error\s*$|complete log of this run/i.test(line));
  // Long usage texts hide the error, which npm prints first.
  const usage = lines.findIndex((line) => /^npm error (?:Clean install a project|Usage:)/.test(line));
  const shown = (usage > 0 ? lines.slice(0, usage) : lines).filter((line) => line.trim() !== '');
  const tail = shown.length > 25 ? [...shown.slice(0, 15), '…', ...shown.slice(-9)].join('\n') : shown.join('\n');
  const advice = whatToDo(output) ?? "Read npm's message above, fix the problem and run the same command again.";
  throw new Stop(`${tail}\n\nnpm ${args[0]} failed. ${advice}`);
}

/**
 * Runs a command to its end and collects what it prints.
 *
 * @param {string} command
 * @param {string[]} args
 * @param {{cwd: string, env?: Record<string, string | undefined>, onLine?: (line: string) => void, onSpawn?: (pid: number) => void, timeoutMs?: number}} options
 * @returns {Promise<{code: number, output: string}>}
 */
export function runCommand(command, args, options) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      cwd: options.cwd,
      env: options.env ?? process.env,
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: options.timeoutMs,
    });
    let output = '';
    let rest = '';
    /** @param {Buffer} chunk */
    const take = (chunk) => {
      const text = chunk.toString();
      // Of a long output only the end is kept.
      output = (output + text).slice(-200_000);
      const lines = (rest + text).split('\n');
      rest = lines.pop() ?? '';
      if (options.onLine) for (const line of lines) options.onLine(line);
    };
    child.stdout.on('data', take);
    child.stderr.on('data', take);
    if (child.pid !== undefined) options.onSpawn?.(child.pid);
    // npm tidies up when it gets a signal to stop; until then nothing else may touch its folder.
    const closed = new Promise((done) => child.once('close', done));
    const forget = onStop(() => {
      child.kill('SIGTERM');
      return closed;
    });
    child.on('error', (error) => {
      forget();
      const missing = /** @type {NodeJS.ErrnoException} */ (error).code === 'ENOENT';
      reject(
        missing
          ? new Stop(`"${command}" was not found. Install it (npm comes with Node) and run the same command again.`)
          : error,
      );
    });
    child.on('close', (code, signal) => {
      forget();
      resolve({ code: code ?? 1, output: signal ? `${output}\n(ended by ${signal})` : output });
    });
  });
}

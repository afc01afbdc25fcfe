/** Processes that a command starts end with it, however it ends, and no other processes do. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterEach, expect, it } from 'vitest';

const command = fileURLToPath(new URL('./fixtures/command.mjs', import.meta.url));
const strangers: ChildProcess[] = [];
afterEach(() => {
  for (const stranger of strangers.splice(0)) stranger.kill('SIGKILL');
});

const alive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

/** Starts a command that has two children, one of which has a child of its own; resolves with their ids. */
async function start(
  env: Record<string, string> = {},
): Promise<{ parent: ChildProcess; pids: number[]; output: () => string }> {
  const parent = spawn(process.execPath, [command], {
    env: { ...process.env, npm_lifecycle_event: '', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [parent.stdout, parent.stderr]) {
    stream.on('data', (data) => {
      output += data;
    });
  }
  await expect.poll(() => output.match(/pid \d+/g)?.length, { timeout: 60_000 }).toBe(3);
  return { parent, pids: [...output.matchAll(/pid (\d+)/g)].map((match) => Number(match[1])), output: () => output };
}

const gone = (pids: number[]): Promise<void> => expect.poll(() => pids.filter(alive), { timeout: 60_000 }).toEqual([]);

it.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)(
  'a command stops all its child processes on %s and exits with 0',
  async (signal) => {
    const stranger = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)']);
    strangers.push(stranger);
    const { parent, pids, output } = await start();
    expect(pids.every(alive)).toBe(true);
    const exit = once(parent, 'exit');
    parent.kill(signal);
    // npm repeats the signal of the terminal.
    parent.kill(signal);
    expect(await exit).toEqual([0, null]);
    await gone(pids);
    await expect.poll(output).toContain('stopped in order');
    expect(alive(stranger.pid as number)).toBe(true);
  },
);

it('a command that is killed outright leaves no child processes behind', async () => {
  const { parent, pids } = await start();
  parent.kill('SIGKILL');
  await gone(pids);
});

it('a command stops its other child processes and fails when one ends unexpectedly', async () => {
  const { parent, pids, output } = await start();
  const exit = once(parent, 'exit');
  process.kill(pids[0] as number, 'SIGKILL');
  expect(await exit).toEqual([1, null]);
  await gone(pids);
  await expect.poll(output).toContain('ended unexpectedly');
});

it('a command ends a child process that ignores the stop signal, and exits with 0', async () => {
  const { parent, pids } = await start({ STUBBORN: '1' });
  parent.kill('SIGTERM');
  await expect.poll(() => parent.exitCode, { timeout: 60_000, interval: 200 }).toBe(0);
  await gone(pids);
});

it('a command ends when the shell between npm and it is gone', async () => {
  const shell = spawn('sh', ['-c', `"${process.execPath}" "${command}"; true`], {
    env: { ...process.env, npm_lifecycle_event: 'start' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  shell.stdout.on('data', (data) => {
    output += data;
  });
  await expect.poll(() => output.match(/pid \d+/g)?.length, { timeout: 60_000 }).toBe(3);
  const pids = [...output.matchAll(/pid (\d+)/g)].map((match) => Number(match[1]));
  shell.kill('SIGTERM');
  await gone(pids);
});

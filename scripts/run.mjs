/**
 * Entry point of the commands: `npm start` and the others call `node scripts/run.mjs <command>`. It runs on any Node from 18
 * with built-in modules only: finds or downloads a suitable Node, runs itself again with it, installs the packages of
 * package-lock.json, and starts the command.
 */
import { spawn } from 'node:child_process';
import module from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { explain } from './setup/explain.mjs';
import { install } from './setup/install.mjs';
import { listenForSignals, onStop } from './setup/lifetime.mjs';
import { ensureNode, isFit, withNode } from './setup/node.mjs';
import { downloads, root } from './setup/places.mjs';

/** The module of each command. */
const commands = {
  start: './start.ts',
  serve: './serve.ts',
  dev: './dev.ts',
  test: './test.ts',
  build: './build.ts',
  press: './press.ts',
  newsletter: './newsletter.ts',
  support: './support.ts',
  backup: './backup.ts',
  restore: './restore.ts',
  'move-to-postgres': './move-to-postgres.ts',
  verify: './verify.ts',
  prove: './prove.ts',
  'stripe:offer': './stripe-offer.ts',
  'stripe:schema': '../sandbox/stripe/schema/generate.ts',
  'sandbox:reset': './sandbox-reset.ts',
  'bench:accounts': '../bench/accounts.ts',
  'bench:adopt': '../bench/adopt.ts',
  'bench:backup': '../bench/backup.ts',
  'bench:cache': '../bench/cache.ts',
  'bench:checkout': '../bench/checkout.ts',
  'bench:cluster': '../bench/cluster.ts',
  'bench:content': '../bench/content.ts',
  'bench:headlines': '../bench/headlines.ts',
  'bench:live': '../bench/live.ts',
  'bench:pages': '../bench/pages.ts',
  'bench:publish': '../bench/publish.ts',
  'bench:render': '../bench/render.ts',
  'bench:press': '../bench/press.ts',
  'bench:tools': '../bench/tools.ts',
  'bench:workers': '../bench/workers.ts',
};

const [command = '', ...rest] = process.argv.slice(2);

async function main() {
  if (!Object.hasOwn(commands, command)) {
    console.error(`Usage: node scripts/run.mjs ${Object.keys(commands).join(' | ')}`);
    return 2;
  }
  process.chdir(root);
  listenForSignals();
  // Commands report their time from this moment, including the restart with another Node.
  process.env.BROADSHEET_BEGAN ??= String(Date.now());
  if (!isFit(process.version)) return runWith(await ensureNode());
  // npm and everything it starts must use this Node too, whichever is first on the PATH.
  Object.assign(process.env, withNode(process.execPath, process.env));
  // Half of a start is spent on compiling: this process and its children cache compiled code.
  process.env.NODE_COMPILE_CACHE ??= join(downloads, 'compile-cache');
  module.enableCompileCache(process.env.NODE_COMPILE_CACHE);
  await install();
  const { run } = await import(commands[/** @type {keyof typeof commands} */ (command)]);
  return (await run(rest)) ?? 0;
}

/**
 * Runs this file with another Node and passes on signals and its exit code. The IPC channel tells the child when this process
 * has ended, for any reason.
 *
 * @param {string} node path of the executable
 * @returns {Promise<number>}
 */
async function runWith(node) {
  const child = spawn(node, [...process.execArgv, fileURLToPath(import.meta.url), command, ...rest], {
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
    env: withNode(node, process.env),
  });
  /** @type {Promise<number>} */
  const ended = new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('exit', (code) => resolve(code ?? 1));
  });
  onStop((hard) => {
    // The child gets time to stop cleanly; `hard` is for when this process is already exiting.
    if (child.exitCode === null) child.kill(hard ? 'SIGKILL' : 'SIGTERM');
    return ended;
  });
  return ended;
}

main().then(
  (code) => {
    process.exitCode = code;
    // An open IPC channel to the parent would keep this process alive. Closing it here must not be taken for the end of the
    // parent.
    process.removeAllListeners('disconnect');
    if (process.connected) process.disconnect();
  },
  (error) => {
    console.error(`\n${explain(error)}`);
    process.exit(1);
  },
);

/**
 * The sandbox as a separate process:
 *
 *     node sandbox/main.ts --data var/sandbox --port 8881 --mailbox-port 8882 --stripe-port 8883 \
 *       --site-url http://127.0.0.1:4321 [--edition demo|tests|none]
 *
 * Prints one JSON object per line: `{"progress", "done"?, "total"?}` while it works, `{"ready": true, "wordpress": {…},
 * "mailbox": {…}, …}` once, `{"error", "hint"}` before it ends with 1. Stops on SIGTERM, SIGINT, and when the parent that holds its standard
 * input or IPC channel goes away.
 */
import fs from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { editionKinds } from './edition/model.ts';
import { ensureSandbox } from './setup.mjs';

const root = path.resolve(import.meta.dirname, '..');
const print = (line: unknown) => process.stdout.write(`${JSON.stringify(line)}\n`);

async function main() {
  const { values } = parseArgs({
    options: {
      data: { type: 'string', default: path.join(root, 'var', 'sandbox') },
      port: { type: 'string', default: '8881' },
      'mailbox-port': { type: 'string', default: '8882' },
      'stripe-port': { type: 'string', default: '8883' },
      'site-url': { type: 'string', default: 'http://127.0.0.1:4321' },
      edition: { type: 'string', default: 'demo' },
    },
  });
  const data = path.resolve(values.data);
  const edition = editionKinds.find((kind) => kind === values.edition);
  if (!edition) throw new Error(`--edition: ${values.edition} is not one of ${editionKinds.join(', ')}`);
  await ensureSandbox({ root, onProgress: print });
  // Not imported earlier, because the packages that it loads have just been installed.
  const { startSandbox } = await import('./start.ts');

  let stop: (() => Promise<void>) | undefined;
  let ending = false;
  const end = () => {
    if (ending) return;
    ending = true;
    (stop?.() ?? Promise.resolve()).then(
      () => process.exit(0),
      (error: unknown) => fail(error),
    );
  };
  process.on('SIGTERM', end);
  process.on('SIGINT', end);
  process.on('disconnect', end);
  // Only a pipe means that a parent will close it; a terminal or /dev/null does not.
  const input = fs.fstatSync(0);
  if (input.isFIFO() || input.isSocket()) {
    process.stdin.resume();
    process.stdin.on('end', end);
    process.stdin.on('error', end);
  }

  const sandbox = await startSandbox({
    root,
    data,
    port: Number(values.port),
    mailboxPort: Number(values['mailbox-port']),
    stripePort: Number(values['stripe-port']),
    siteUrl: values['site-url'].replace(/\/+$/, ''),
    edition,
    onProgress: print,
  });
  stop = sandbox.stop;
  print({ ready: true, ...sandbox.access });
}

function fail(error: unknown): never {
  const { message, hint, stack } = error as Error & { hint?: string };
  if (!hint) process.stderr.write(`${stack ?? String(error)}\n`);
  fs.writeSync(
    1,
    `${JSON.stringify({ error: message ?? String(error), hint: hint ?? 'The lines above say more.' })}\n`,
  );
  process.exit(1);
}

main().catch(fail);

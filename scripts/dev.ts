/** `npm run dev`: `astro dev` with hot reload, against the same content as `npm start`. */
import { join } from 'node:path';
import { portsOfSandbox, type SandboxAccess, sandboxEnvironment, startSandbox } from './sandbox.ts';
import { checkSettings, readSettings, sandboxPorts } from './settings.ts';
import { endsWhenAsked, isStopping, stopAll } from './setup/lifetime.mjs';
import { root } from './setup/places.mjs';
import { requirePorts } from './setup/ports.mjs';
import { startChild } from './setup/processes.mjs';
import { step } from './setup/steps.mjs';

export async function run(args: readonly string[] = []): Promise<number> {
  const env = readSettings();
  const config = checkSettings(env);
  const ports = sandboxPorts(env);
  const ownWordPress = config.wordpress !== null;
  const dataDir = env.DATA_DIR?.trim() || (ownWordPress ? 'var/site' : 'var/demo');
  await requirePorts([
    { port: config.port, host: config.host, setting: 'PORT', purpose: 'the site' },
    ...(ownWordPress ? [] : portsOfSandbox(ports)),
  ]);
  const sandbox = ownWordPress
    ? null
    : startSandbox({
        data: join(root, 'var', 'sandbox'),
        ports,
        siteUrl: config.siteUrl,
        log: join(root, dataDir, 'logs', 'sandbox.log'),
        env,
      });
  const access: SandboxAccess | null = sandbox
    ? await step('Setting up WordPress', (progress) => sandbox.ready(progress))
    : null;
  if (access) {
    const { adminUrl, adminUser, adminPassword } = access.wordpress;
    console.log(`  Newsroom   ${adminUrl}   user ${adminUser}, password ${adminPassword}`);
    console.log(`  Mailbox    ${access.mailbox.url}   every mail that the paper sends`);
  }

  const astro = startChild(
    process.execPath,
    [
      ...['--import', new URL('./setup/end-with-parent.mjs', import.meta.url).href],
      ...[join(root, 'node_modules', 'astro', 'bin', 'astro.mjs'), 'dev'],
      ...['--host', config.host, '--port', String(config.port), ...args],
    ],
    {
      cwd: root,
      env: {
        ...env,
        NODE_ENV: 'development',
        DATA_DIR: dataDir,
        LOG_LEVEL: env.LOG_LEVEL ?? 'warn',
        ASTRO_TELEMETRY_DISABLED: '1',
        ...(access && sandboxEnvironment(access, env)),
      },
      onLine: (line) => console.log(line),
      onErrorLine: (line) => console.error(line),
    },
  );
  endsWhenAsked();
  await Promise.race([astro.ended, ...(sandbox ? [sandbox.ended] : [])]);
  if (isStopping()) return new Promise<number>(() => {});
  console.error('\nA part of the development server ended by itself; stopping the rest.');
  return stopAll(1);
}

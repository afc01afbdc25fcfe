/** `npm run dev`: `astro dev` with hot reload, against the same content as `npm start`. */
import { join } from 'node:path';
import { prepareSite } from './local-site.ts';
import type { SandboxAccess } from './sandbox.ts';
import { isStopping, stopAll, treatInterruptAsNormal } from './setup/lifetime.mjs';
import { root } from './setup/places.mjs';
import { startChild } from './setup/processes.mjs';
import { step } from './setup/steps.mjs';

export async function run(args: readonly string[] = []): Promise<number> {
  const { env, config, sandbox, siteSettings } = await prepareSite('npm run dev');
  const access: SandboxAccess | null = sandbox
    ? await step('Setting up WordPress', (progress) => sandbox.ready(progress))
    : null;
  if (access) {
    const { adminUrl, adminUser, adminPassword } = access.wordpress;
    console.log(`  Newsroom   ${adminUrl}   user ${adminUser}, password ${adminPassword}`);
    console.log(`  Mailbox    ${access.mailbox.url}   every mail that the site sends`);
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
        ...siteSettings(access),
        NODE_ENV: 'development',
        LOG_LEVEL: env.LOG_LEVEL ?? 'warn',
        ASTRO_TELEMETRY_DISABLED: '1',
      },
      onLine: (line) => console.log(line),
      onErrorLine: (line) => console.error(line),
    },
  );
  treatInterruptAsNormal();
  await Promise.race([astro.ended, ...(sandbox ? [sandbox.ended] : [])]);
  if (isStopping()) return new Promise<number>(() => {});
  console.error('\nA process of the development server ended unexpectedly; stopping the others.');
  return stopAll(1);
}

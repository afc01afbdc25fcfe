/** `npm run verify` as an operator runs it, against the sandbox: every configured service passes, and a wrong setting is named. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { type SandboxAccess, sandboxEnvironment } from '../../scripts/sandbox.ts';
import { root } from '../../scripts/setup/places.mjs';
import { askForSandbox, sandboxMs } from '../world/world.ts';

let siteUrl = '';
let sandbox: SandboxAccess;
beforeAll(async () => {
  sandbox = await askForSandbox();
  // The address that the sandbox's plugin was given.
  const status = await fetch(`${sandbox.wordpress.url}/wp-json/newsroom/v1/status`);
  siteUrl = ((await status.json()) as { site_url: string }).site_url;
}, sandboxMs);

function verify(only: string, changes: Record<string, string> = {}): Promise<{ code: number; text: string }> {
  const env = { PATH: process.env.PATH, HOME: process.env.HOME, SITE_URL: siteUrl };
  Object.assign(env, sandboxEnvironment(sandbox, {}), changes);
  const args = [join(root, 'scripts', 'run.mjs'), 'verify', '--only', only];
  return new Promise((resolve) => {
    execFile(process.execPath, args, { cwd: root, env }, (error, stdout, stderr) =>
      resolve({ code: Number(error?.code ?? 0), text: `${stdout}${stderr}` }),
    );
  });
}

it('npm run verify passes all services of the sandbox with working settings', async () => {
  const { code, text } = await verify('wordpress,mail,google,facebook,verifier,ticker');
  expect(text).not.toContain('failed  ');
  expect(text).toContain('version 1.');
  expect(text).toMatch(/\n13 ok, 0 failed, 0 skipped\n$/);
  expect(code).toBe(0);
});

it('npm run verify reports a wrong application password and a wrong app secret, without printing them', async () => {
  const { code, text } = await verify('wordpress,google', {
    WORDPRESS_APP_PASSWORD: 'abcd efgh ijkl mnop',
    GOOGLE_CLIENT_SECRET: 'GOCSPX-wrong',
  });
  expect(code).toBe(1);
  expect(text.match(/^failed /gm)).toHaveLength(2);
  expect(text).toContain('invalid_client');
  expect(text).not.toMatch(/abcd efgh|GOCSPX-wrong/);
});

it('npm run verify lists the checks that it skips when nothing is configured', async () => {
  const settings = Object.keys(sandboxEnvironment(sandbox, {}));
  const none = Object.fromEntries(settings.map((name) => [name, '']));
  const { code, text } = await verify(
    'wordpress,mail,google,facebook,algolia,cdn,verifier,ticker,zephr,tags,stripe',
    none,
  );
  expect(code).toBe(0);
  expect(text).toMatch(/\n0 ok, 0 failed, \d\d skipped\n$/);
  expect(text).toContain('set STRIPE_SECRET_KEY');
});

it('npm run verify names the known services when asked for an unknown one', async () => {
  const { code, text } = await verify('paypal');
  expect(code).toBe(1);
  expect(text).toContain('There is no service paypal; the services are wordpress, mail,');
});

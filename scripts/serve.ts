/** `npm run serve`: production. The site in this process; no sandbox, ever. Features without credentials are off, and the log names them. */
import { ensureBuilt } from './build.ts';
import { checkSettings, readSettings } from './settings.ts';
import { throwAsStop } from './setup/explain.mjs';
import { onStop, stopAll, treatInterruptAsNormal } from './setup/lifetime.mjs';

export async function run(): Promise<number> {
  // Set before any module is loaded that reads it, such as React.
  process.env.NODE_ENV = 'production';
  const env = readSettings();
  checkSettings(env);
  await ensureBuilt();
  const { startSite } = await import('../src/server/main.ts');
  const site = await startSite(env).catch(throwAsStop);
  onStop((hard) => (hard ? undefined : site.stop()));
  treatInterruptAsNormal();
  process.on('uncaughtException', (error) => {
    console.error(error);
    void stopAll(1);
  });
  return new Promise<number>(() => {});
}

/** Global set-up of the contract tests: a WordPress, unless `npm test` has started one. */
import { startWorld, wordpressVariable } from './world.ts';

export default async function setup(): Promise<(() => Promise<void>) | undefined> {
  if (process.env[wordpressVariable]) return undefined;
  const world = await startWorld({ withSite: false, progress: (note) => console.log(note) });
  return world.stop;
}

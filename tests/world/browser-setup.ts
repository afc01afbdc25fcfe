/** Global set-up of the browser tests: a site with an edition, unless `npm test` has started one. */
import { siteVariable, startWorld } from './world.ts';

export default async function setup(): Promise<(() => Promise<void>) | undefined> {
  if (process.env[siteVariable]) return undefined;
  const world = await startWorld({ withSite: true, progress: (note) => console.log(note) });
  return world.stop;
}

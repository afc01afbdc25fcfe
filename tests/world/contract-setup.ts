/** Global set-up of the contract tests: the sandbox for the tests that ask for it, unless `npm test` provides one. */
import { ensureBuilt } from '../../scripts/build.ts';
import { offerSandbox, startWorld, type World } from './world.ts';

export default async function setup(): Promise<() => Promise<void>> {
  // Contract tests start their own sites, several at a time, so none of them may build.
  await ensureBuilt();
  let starting: Promise<World> | undefined;
  const end = await offerSandbox(() => {
    starting ??= startWorld({ withSite: false, progress: (note) => console.log(note) });
    return starting;
  });
  return async () => {
    end();
    await (await starting)?.stop();
  };
}

/** Sets up the worker that keeps the last stories to be read without a network (docs/decisions/0021). */

/** What this page is made of, as far as the worker keeps such things. */
const files = (): string[] =>
  performance
    .getEntriesByType('resource')
    .map(({ name }) => name)
    .filter((name) => name.startsWith(`${location.origin}/_assets/`) || name.startsWith(`${location.origin}/image?`));

export async function keepStories(): Promise<void> {
  const { serviceWorker } = navigator;
  await serviceWorker.register('/sw.js');
  // The story with which the worker came was loaded without it.
  if (serviceWorker.controller) return;
  const { active } = await serviceWorker.ready;
  active?.postMessage({ keep: location.href, files: files() });
}

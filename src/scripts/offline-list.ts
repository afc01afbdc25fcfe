/** Lists the stories that this browser keeps, the newest first, from what the service worker has stored (client/story-worker.ts). */
import { forgetStories, keptStories } from '../lib/article/leaving.ts';

const list = document.querySelector<HTMLElement>('[data-kept]');
const none = document.querySelector<HTMLElement>('[data-kept-none]');
const clear = document.querySelector<HTMLButtonElement>('[data-kept-clear]');

/** One story: its headline and who wrote it, out of the page as it was kept. */
async function item(request: Request, cache: Cache): Promise<HTMLElement | null> {
  const page = new DOMParser().parseFromString((await (await cache.match(request))?.text()) ?? '', 'text/html');
  const title = page.querySelector('h1')?.textContent?.trim();
  if (!title) return null;
  const entry = document.createElement('li');
  const link = document.createElement('a');
  link.href = new URL(request.url).pathname;
  link.textContent = title;
  const by = document.createElement('p');
  by.textContent = page.querySelector('.credits [rel="author"]')?.textContent ?? '';
  const heading = document.createElement('h3');
  heading.append(link);
  entry.append(heading, by);
  return entry;
}

async function show(): Promise<void> {
  if (!list || !none || !clear) return;
  const entries: HTMLElement[] = [];
  // Asked for first: to open what is not there would make it.
  if ('caches' in window && (await caches.has(keptStories))) {
    const cache = await caches.open(keptStories);
    const found = await Promise.all((await cache.keys()).toReversed().map((request) => item(request, cache)));
    entries.push(...found.filter((entry) => entry !== null));
  }
  list.replaceChildren(...entries);
  none.hidden = entries.length > 0;
  clear.hidden = entries.length === 0;
}

clear?.addEventListener('click', async () => {
  await forgetStories();
  await show();
  none?.focus();
});
void show();

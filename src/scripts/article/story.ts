/**
 * The page's story, for the scripts that work on it: its data, whether it is saved, when it counts as read, and the status line of its
 * tools.
 */

import { toolMessages } from '../../lib/article/tools.ts';
import { isSaved, noteReading } from '../../lib/saved/client.ts';

export interface Story {
  readonly id: number;
  readonly title: string;
  /** Its address without a query. */
  readonly url: string;
}

const toolbar = () => document.querySelector<HTMLElement>('[data-tools]');

export function storyOf(): Story {
  const { tools = '', title = '' } = toolbar()?.dataset ?? {};
  return { id: Number(tools), title, url: location.origin + location.pathname };
}

/** Shows a message below the tools; screen readers announce it. */
export function showStatus(message: string): void {
  const status = toolbar()?.querySelector<HTMLElement>('[role="status"]');
  if (status) status.textContent = message;
}

/** How often the page has shown whether the story is saved. */
let timesShown = 0;

/** Shows whether the story is saved. */
export function showSaved(saved: boolean): void {
  timesShown++;
  for (const button of document.querySelectorAll<HTMLButtonElement>('[data-tool="save"]')) {
    button.ariaPressed = String(saved);
    button.dataset.saved = saved ? 'yes' : 'no';
    const label = button.querySelector('span');
    if (label) label.textContent = saved ? toolMessages.isSaved : toolMessages.save;
  }
}

/** Milliseconds that a story must be on the screen to count as read. */
const readAfter = 15_000;

/** Resolves when the page has been visible for this long in total; hidden time doesn't count. */
function visibleFor(ms: number): Promise<void> {
  return new Promise((resolve) => {
    let left = ms;
    let since = performance.now();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const check = (): void => {
      clearTimeout(timer);
      if (document.visibilityState === 'visible') {
        since = performance.now();
        timer = setTimeout(() => {
          document.removeEventListener('visibilitychange', check);
          resolve();
        }, left);
      } else left -= performance.now() - since;
    };
    document.addEventListener('visibilitychange', check);
    check();
  });
}

/** Resolves when the reader has scrolled to an element. */
const reached = (element: Element): Promise<void> =>
  new Promise((resolve) => {
    const watch = new IntersectionObserver((entries) => {
      // A reader who entered the page below the middle has passed it.
      if (!entries.some((entry) => entry.isIntersecting || entry.boundingClientRect.bottom < 0)) return;
      watch.disconnect();
      resolve();
    });
    watch.observe(element);
  });

/**
 * For a signed-in reader: shows whether the story is saved, and adds it to the history once it was visible for a while and scrolled to its
 * middle. A story that ends at the paywall isn't added.
 */
export function followReader(): void {
  const { id } = storyOf();
  const before = timesShown;
  isSaved(id).then((answer) => {
    // The reader may have saved or removed the story since the request, and the answer may be older than that.
    if (answer.ok && timesShown === before) showSaved(answer.value.saved);
  });
  const blocks = document.querySelectorAll('.story .prose:not([data-cut]) > *');
  const middle = blocks[Math.floor(blocks.length / 2)];
  if (middle) Promise.all([reached(middle), visibleFor(readAfter)]).then(() => noteReading(id));
}

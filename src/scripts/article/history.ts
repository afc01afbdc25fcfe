/**
 * For readers who are signed in: whether the story is saved, and, once it has really been read, a note of it in their history. Read
 * is what has been on the screen for a while and down to its middle; a story that ends at its wall has not been.
 */
import { isSaved, noteReading } from '../../lib/saved/client.ts';
import { showSaved, storyOf } from './bar.ts';

/** Milliseconds for which a story is on the screen at least. */
const aWhile = 15_000;

const { id } = storyOf();
isSaved(id).then((answer) => {
  if (answer.ok) showSaved(answer.value.saved);
});

/** Resolves when the page has been seen for so long, whatever the reader did meanwhile. */
function seenFor(ms: number): Promise<void> {
  return new Promise((resolve) => {
    let left = ms;
    let since = performance.now();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const look = (): void => {
      clearTimeout(timer);
      if (document.visibilityState === 'visible') {
        since = performance.now();
        timer = setTimeout(() => {
          document.removeEventListener('visibilitychange', look);
          resolve();
        }, left);
      } else left -= performance.now() - since;
    };
    document.addEventListener('visibilitychange', look);
    look();
  });
}

/** Resolves when the reader has come as far as an element. */
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

const blocks = document.querySelectorAll('.story .prose:not([data-cut]) > *');
const middle = blocks[Math.floor(blocks.length / 2)];
if (middle) Promise.all([reached(middle), seenFor(aWhile)]).then(() => noteReading(id));

/**
 * Counts that an article is being read (spec section 7): loaded when somebody begins to scroll, and counted when the page has then
 * been looked at for some seconds. A browser counts each article once (`trackedArticles`, spec section 3). Whatever fails is
 * silently ignored (spec section 8).
 */
import './article/reading.ts';
import { parseTracked, withTracked } from '../lib/most-read/tracked.ts';

/** Local storage key (spec section 3). */
const name = 'trackedArticles';
/** Seconds that a page must be visible. */
const enough = 5;

function tracked(): readonly number[] {
  try {
    return parseTracked(localStorage.getItem(name));
  } catch {
    return [];
  }
}

async function count(article: number, section: string | undefined): Promise<void> {
  const query = section ? `?categoryId=${section}` : '';
  try {
    const path = `/api/v1/articles/popular/increment/${article}${query}`;
    const { ok } = await fetch(path, { method: 'POST', keepalive: true });
    if (ok) localStorage.setItem(name, JSON.stringify(withTracked(tracked(), article)));
  } catch {
    // Failed to increment article popularity: nobody needs to know.
  }
}

const { id = '', section } = document.querySelector<HTMLElement>('.story')?.dataset ?? {};
const article = Number(id);
if (article > 0 && !tracked().includes(article)) {
  let seconds = 0;
  const timer = setInterval(() => {
    if (document.visibilityState === 'visible') seconds++;
    if (seconds < enough) return;
    clearInterval(timer);
    // Another tab may have counted it meanwhile.
    if (!tracked().includes(article)) void count(article, section);
  }, 1000);
}

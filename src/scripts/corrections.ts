/**
 * Notifies signed-in readers, once, that a story in their history was corrected. `session-page.ts` asks the server, and loads this script
 * if there is something to show. Further pages show the notice again until it has been visible for some seconds or was dismissed.
 */
import './corrections.css';
import type { SeenBody, UnseenAnswer, UnseenStory } from '../lib/corrections/schema.ts';
import { ask } from '../lib/http/ask.ts';
import { isBusy } from '../stores/ui.ts';

/** Texts of the notice. Not in `schema.ts`, which every page loads, because the notice is rarely shown. */
const noticeWords = {
  heading: (stories: readonly Pick<UnseenStory, 'kind'>[]): string => {
    const kinds = new Set(stories.map(({ kind }) => kind));
    const done = kinds.size > 1 ? 'corrected or clarified' : kinds.has('clarification') ? 'clarified' : 'corrected';
    return stories.length === 1 ? `A story you read was ${done}` : `Stories you read were ${done}`;
  },
  dismiss: 'Dismiss',
} as const;

/** Milliseconds in sight after which the reader counts as notified. */
const inSightMs = 8000;
/** Addresses on the site, passed in by the caller: importing them here would create another file of a few bytes. */
interface Addresses {
  /** Where the browser reports that the reader was notified. */
  readonly path: string;
  /** Id of the notes on a story's page. */
  readonly anchor: string;
}

function link({ slug, title }: UnseenStory, anchorId: string): HTMLLIElement {
  const item = document.createElement('li');
  const anchor = document.createElement('a');
  anchor.href = `/article/${slug}#${anchorId}`;
  anchor.dir = 'auto';
  anchor.textContent = title || 'Untitled';
  item.append(anchor);
  return item;
}

function show(stories: readonly UnseenStory[], anchor: string, onSeen: () => void): void {
  const notice = document.createElement('aside');
  notice.className = 'correction-notice';
  notice.setAttribute('aria-label', noticeWords.heading(stories));
  const text = document.createElement('div');
  text.setAttribute('role', 'status');
  const heading = document.createElement('p');
  heading.textContent = `${noticeWords.heading(stories)}:`;
  const list = document.createElement('ul');
  list.append(...stories.map((story) => link(story, anchor)));
  const dismiss = document.createElement('button');
  dismiss.type = 'button';
  dismiss.className = 'button button-plain';
  dismiss.textContent = noticeWords.dismiss;
  dismiss.addEventListener('click', () => {
    // Otherwise the focus would be lost with it.
    if (notice.contains(document.activeElement)) document.getElementById('main')?.focus({ preventScroll: true });
    notice.remove();
    onSeen();
  });
  notice.addEventListener('keydown', (event) => {
    if (event.key === 'Escape') dismiss.click();
  });
  list.addEventListener('click', onSeen);
  notice.append(text, dismiss);
  // Before the skip link, so that keyboard users reach it first; the status is inserted empty and filled afterward, so that it
  // is announced.
  document.body.prepend(notice);
  text.append(heading, list);
}

/**
 * Shows the notice, and reports to the site that it was shown.
 *
 * @param setDue whether the next page asks again
 */
export function showNotice(
  { stories, until }: UnseenAnswer,
  { path, anchor }: Addresses,
  setDue: (due: boolean) => void,
): void {
  setDue(true);
  if (until === null || isBusy()) return;
  let isSeen = false;
  const onSeen = (): void => {
    if (isSeen) return;
    isSeen = true;
    setDue(false);
    void ask(path, { body: { until } satisfies SeenBody, keepalive: true });
  };
  show(stories, anchor, onSeen);
  // A hidden tab doesn't count.
  const inAWhile = (): unknown => setTimeout(() => (document.hidden ? whenSeen() : onSeen()), inSightMs);
  const whenSeen = (): void => document.addEventListener('visibilitychange', inAWhile, { once: true });
  inAWhile();
}

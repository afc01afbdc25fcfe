/**
 * Keeps an open page of a live story up to date. New entries wait behind a button, "3 new updates", unless they belong below the visible
 * part; changes and withdrawals are applied at once, without moving the text that is being read. The stream is closed while the page is
 * hidden.
 */
import { followingEnded, newUpdates, streamEvents, streamPath } from '../../lib/live/schema.ts';
import {
  changeInPlace,
  entriesIn,
  isAbove,
  isOfLaterPage,
  type Lists,
  listsOf,
  parseEntry,
  placeEntry,
  shownEntry,
  takeOverKeyEvents,
  topOf,
  updateKeyEvents,
} from './entries.ts';

/**
 * Milliseconds between two attempts to connect if there is no stream: at least the first number, plus a random time of up to
 * the second.
 */
const reconnectAfterMs = 30_000;
const reconnectSpreadMs = 30_000;
/** Fetches of a page that is being rendered again, and milliseconds before the second of them; each further one waits longer. */
const mostFetches = 5;
const fetchAgainMs = 700;

interface Following {
  readonly lists: Lists;
  readonly story: number;
  /** Entries that wait for the button, by number. */
  readonly waiting: Map<string, HTMLElement>;
  readonly news: HTMLElement;
  readonly button: HTMLButtonElement;
  readonly status: HTMLElement;
  stream: EventSource | null;
  timer: ReturnType<typeof setTimeout> | undefined;
  /** Number of the latest update from the page; an earlier one that is still running stops. */
  latestUpdate: number;
  /** Whether the page must still get the state that a sync event named; it may be rendered a moment later. */
  isBehind: boolean;
  isOver: boolean;
}

/** Follows the page's story, if it is live. */
export function follow(): void {
  const lists = listsOf(document);
  if (!lists) return;
  const news = document.createElement('div');
  news.className = 'live-news print-hidden';
  news.hidden = true;
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'button';
  news.append(button);
  const status = document.createElement('p');
  status.className = 'visually-hidden';
  status.setAttribute('role', 'status');
  lists.section.prepend(news, status);
  const page: Following = {
    lists,
    story: Number(lists.section.dataset.live),
    waiting: new Map(),
    news,
    button,
    status,
    stream: null,
    timer: undefined,
    latestUpdate: 0,
    isBehind: false,
    isOver: false,
  };
  button.addEventListener('click', () => showWaiting(page));
  const seen = (): void => (document.hidden ? pause(page) : connect(page));
  document.addEventListener('visibilitychange', seen);
  // An open connection would keep the page out of the back-forward cache.
  addEventListener('pagehide', () => pause(page));
  addEventListener('pageshow', ({ persisted }) => persisted && seen());
  seen();
}

function pause(page: Following): void {
  clearTimeout(page.timer);
  page.stream?.close();
  page.stream = null;
}

function connect(page: Following): void {
  if (page.stream || page.isOver) return;
  clearTimeout(page.timer);
  const { lists } = page;
  const { state = '' } = lists.section.dataset;
  const alert = document.querySelector<HTMLElement>('.alert')?.dataset.alert;
  const query = new URLSearchParams({ since: state, ...(alert !== undefined && { alert }) });
  const stream = new EventSource(`${streamPath(page.story)}?${query}`);
  page.stream = stream;
  const on = (name: string, act: (data: string) => void): void =>
    stream.addEventListener(name, (event: MessageEvent<string>) => {
      if (page.stream !== stream) return;
      act(event.data);
      // If the connection is lost for good, the next one continues from here.
      if (event.lastEventId !== '') lists.section.dataset.state = event.lastEventId;
    });
  on(streamEvents.entry, (html) => {
    const entry = parseEntry(html);
    if (entry) take(page, entry);
  });
  on(streamEvents.gone, (id) => remove(page, id));
  on(streamEvents.sync, (state) => {
    lists.section.dataset.state = state;
    page.isBehind = true;
    void updateFromPage(page);
  });
  on(streamEvents.end, () => end(page));
  on(streamEvents.alert, (html) => void import('../alert.ts').then(({ showAlert }) => showAlert(html)).catch(() => {}));
  stream.addEventListener('error', () => {
    // The browser connects again by itself, unless the server refuses.
    if (page.stream !== stream || stream.readyState !== EventSource.CLOSED) return;
    pause(page);
    void updateFromPage(page);
    connectLater(page);
  });
}

function connectLater(page: Following): void {
  page.timer = setTimeout(() => connect(page), reconnectAfterMs + Math.random() * reconnectSpreadMs);
}

/** Shows an entry, or lets it wait for the button; nothing happens if the page already shows this version. */
function take(page: Following, entry: HTMLElement): void {
  const { lists, waiting } = page;
  const { entry: id = '', version } = entry.dataset;
  const shown = shownEntry(lists, id);
  if (shown?.dataset.version === version || waiting.get(id)?.dataset.version === version) return;
  updateTime(page, entry);
  if (shown) {
    changeInPlace(lists, shown, () => {
      updateKeyEvents(lists, id, entry);
      placeEntry(lists, entry);
    });
    return;
  }
  if (isOfLaterPage(lists, entry)) {
    changeInPlace(lists, null, () => updateKeyEvents(lists, id, entry));
    return;
  }
  if ('first' in lists.section.dataset && !waiting.has(id) && topOf(lists, entry) > innerHeight) {
    updateKeyEvents(lists, id, entry);
    placeEntry(lists, entry);
    page.status.textContent = newUpdates(1);
    return;
  }
  waiting.set(id, entry);
  showCount(page);
}

function remove(page: Following, id: string): void {
  const { lists, waiting } = page;
  if (waiting.delete(id)) showCount(page);
  const shown = shownEntry(lists, id);
  changeInPlace(lists, shown, () => {
    updateKeyEvents(lists, id, null);
    shown?.remove();
  });
}

/** Shows how many entries wait; the button is above the page and moves nothing. */
function showCount({ waiting, news, button, status }: Following): void {
  const words = waiting.size > 0 ? newUpdates(waiting.size) : '';
  news.hidden = words === '';
  button.textContent = words;
  if (status.textContent !== words) status.textContent = words;
}

function showWaiting(page: Following): void {
  const { lists, waiting } = page;
  // A further page has other entries: the newest are on the first.
  if (!('first' in lists.section.dataset)) {
    location.assign(`${location.pathname.replace(/\/live$/, '')}#live`);
    return;
  }
  for (const [id, entry] of waiting) {
    updateKeyEvents(lists, id, entry);
    placeEntry(lists, entry);
  }
  const [newest] = [...waiting.values()].sort((a, b) => (isAbove(a, b) ? -1 : 1));
  waiting.clear();
  showCount(page);
  if (!newest) return;
  newest.tabIndex = -1;
  newest.focus({ preventScroll: true });
  const isCalm = matchMedia('(prefers-reduced-motion: reduce)').matches;
  newest.scrollIntoView({ block: 'start', behavior: isCalm ? 'instant' : 'smooth' });
}

function updateTime({ lists }: Following, entry: HTMLElement): void {
  const time = lists.section.querySelector<HTMLTimeElement>('[data-live-updated]');
  const own = entry.querySelector<HTMLTimeElement>('.entry-when time');
  if (!time || !own || time.dateTime >= own.dateTime) return;
  time.dateTime = own.dateTime;
  time.textContent = own.textContent;
}

/** Fetches the page again (from the cache) and updates the entries from it. */
async function updateFromPage(page: Following): Promise<void> {
  const update = ++page.latestUpdate;
  for (let times = 1; times <= mostFetches && update === page.latestUpdate; times++) {
    const found = await fetchLists();
    if (update !== page.latestUpdate) return;
    if (found === 'over') return end(page);
    if (found === 'closed') return close(page);
    // Further events may have arrived in the meantime; then a page with this exact state may never be rendered.
    const isCurrent = found?.section.dataset.state === page.lists.section.dataset.state;
    if (found && (!page.isBehind || isCurrent || times === mostFetches)) {
      page.isBehind = false;
      return takeOver(page, found);
    }
    await new Promise((resolve) => setTimeout(resolve, fetchAgainMs * times));
  }
  if (update !== page.latestUpdate || page.isOver) return;
  if (!page.isBehind) return;
  // Without a state the next stream begins with another sync event.
  page.lists.section.dataset.state = '';
  if (!page.stream) return;
  pause(page);
  connectLater(page);
}

/**
 * @returns `over`: the story is no longer live; `closed`: this reader may no longer follow it, for example because a gift has expired;
 *   `null`: the page can't be fetched
 */
async function fetchLists(): Promise<Lists | 'over' | 'closed' | null> {
  try {
    const response = await fetch(location.pathname + location.search, { cache: 'no-cache' });
    // A CDN's rate limit or bot check says nothing about the story.
    if (!response.ok && response.status !== 404 && response.status !== 410) return null;
    const fetched = new DOMParser().parseFromString(await response.text(), 'text/html');
    return listsOf(fetched) ?? (fetched.querySelector('.paywall[data-level]') ? 'closed' : 'over');
  } catch {
    return null;
  }
}

/** Updates the entries from a newer version of the same page. */
function takeOver(page: Following, found: Lists): void {
  const { lists } = page;
  const now = entriesIn(found.section);
  const ids = new Set(now.map(({ dataset }) => dataset.entry ?? ''));
  for (const entry of now) {
    const own = document.importNode(entry, true);
    take(page, own);
  }
  // Entries that are missing there were removed, or have moved to the next page.
  const last = found.story.lastElementChild as HTMLElement | null;
  const isFull = found.section.querySelector('[rel=next]') !== null;
  for (const entry of [...entriesIn(lists.section), ...page.waiting.values()]) {
    const { entry: id = '' } = entry.dataset;
    const isBeyond =
      isFull && !('pinned' in entry.dataset) && last !== null && String(entry.dataset.at) <= String(last.dataset.at);
    if (!ids.has(id) && !isBeyond) remove(page, id);
  }
  changeInPlace(lists, null, () => takeOverKeyEvents(lists, found, page.waiting));
  const { state } = found.section.dataset;
  if (state !== undefined) lists.section.dataset.state = state;
}

/** This reader may no longer follow the story: the page stays unchanged, with a note. */
function close(page: Following): void {
  page.isOver = true;
  pause(page);
  const note = document.createElement('p');
  note.className = 'live-ended';
  note.textContent = followingEnded;
  const { section } = page.lists;
  changeInPlace(page.lists, null, () => section.querySelector('.live-head')?.after(note));
  page.status.textContent = followingEnded;
}

/** The story is no longer live: the page stays unchanged, with a note. */
function end(page: Following): void {
  page.isOver = true;
  pause(page);
  const { section } = page.lists;
  changeInPlace(page.lists, null, () => {
    for (const badge of document.querySelectorAll('.live-badge')) badge.remove();
    const ended = section.querySelector<HTMLElement>('[data-live-ended]');
    if (ended) ended.hidden = false;
    page.status.textContent = ended?.textContent ?? '';
  });
}

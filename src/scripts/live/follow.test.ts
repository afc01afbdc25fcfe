// @vitest-environment jsdom
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { follow } from './follow.ts';

/** A stream that the test writes to. */
class FakeStream extends EventTarget {
  static readonly CLOSED = 2;
  static readonly all: FakeStream[] = [];
  readyState = 1;
  readonly url: string;
  constructor(url: string) {
    super();
    this.url = url;
    FakeStream.all.push(this);
  }
  close(): void {
    this.readyState = FakeStream.CLOSED;
  }
  say(type: string, data: string, lastEventId = ''): void {
    this.dispatchEvent(Object.assign(new Event(type), { data, lastEventId }));
  }
  refuse(): void {
    this.readyState = FakeStream.CLOSED;
    this.dispatchEvent(new Event('error'));
  }
}

interface Part {
  readonly version?: string;
  readonly minute?: number;
  readonly pinned?: boolean;
  readonly key?: boolean;
  readonly words?: string;
  readonly title?: string;
}
const entry = (
  id: number,
  { version = 'v1', minute = id, pinned, key, words = `Words ${id}`, title = words }: Part = {},
): string =>
  `<article class="entry" id="entry-${id}" data-entry="${id}" data-version="${version}" data-at="2026-11-25T11:${String(minute).padStart(2, '0')}:00Z"${pinned ? ' data-pinned' : ''}${key ? ' data-key' : ''}><p class="entry-when"><a href="/article/a/live/${id}"><time datetime="2026-11-25T11:${String(minute).padStart(2, '0')}:00Z">11:${minute}</time></a></p>${title && `<h3 class="entry-title">${title}</h3>`}<div class="prose"><p>${words}</p></div></article>`;

interface Page {
  readonly state?: string;
  readonly first?: boolean;
  readonly entries?: readonly string[];
  readonly pinned?: readonly string[];
  readonly next?: boolean;
  /** Numbers of entries that are key events. */
  readonly keys?: readonly number[];
}
const page = ({
  state = 's1',
  first = true,
  entries = [entry(12), entry(11)],
  pinned = [],
  next = false,
  keys = [],
}: Page = {}) =>
  `<section class="live" data-live="7" data-state="${state}"${first ? ' data-first' : ''}><div class="live-head"><span class="live-badge">Live</span><time data-live-updated datetime="2026-11-25T11:12:00Z">11:12</time></div><p data-live-ended hidden>Live coverage has ended.</p>${first ? `<nav data-live-keys${keys.length > 0 ? '' : ' hidden'}><ol>${keys.map((id) => `<li data-key-event="${id}"><a>Key ${id}</a></li>`).join('')}</ol></nav><div data-live-list="pinned">${pinned.join('')}</div>` : ''}<div data-live-list="story">${entries.join('')}</div>${next ? '<a rel="next" href="?page=2">Older</a>' : ''}</section>`;

/** The position of the list in the window; jsdom has no layout. */
let listTop = -100;
let pages: string[] = [];
let fetched: string[] = [];
let hidden = false;
/** Page listeners that a test added. */
const left: (() => void)[] = [];

beforeEach(() => {
  listTop = -100;
  pages = [];
  fetched = [];
  hidden = false;
  FakeStream.all.length = 0;
  vi.useFakeTimers();
  for (const target of [document, window]) {
    const add = target.addEventListener.bind(target);
    vi.spyOn(target, 'addEventListener').mockImplementation(
      (type: string, listener: EventListenerOrEventListenerObject) => {
        add(type, listener);
        left.push(() => target.removeEventListener(type, listener));
      },
    );
  }
  vi.stubGlobal('EventSource', FakeStream);
  vi.stubGlobal('CSS', { escape: (text: string) => text });
  vi.stubGlobal('matchMedia', () => ({ matches: true }));
  vi.stubGlobal('fetch', async (url: string) => {
    fetched.push(url);
    const next = pages.length > 1 ? pages.shift() : pages[0];
    return next === undefined ? new Response('', { status: 503 }) : new Response(next);
  });
  vi.spyOn(document, 'hidden', 'get').mockImplementation(() => hidden);
  vi.spyOn(Element.prototype, 'getBoundingClientRect').mockImplementation(
    () => ({ top: listTop, height: 10 }) as DOMRect,
  );
  Element.prototype.scrollIntoView = vi.fn();
});
afterEach(() => {
  for (const leave of left.splice(0)) leave();
  vi.useRealTimers();
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
});

function open(shown: Page = {}): FakeStream {
  document.body.innerHTML = page(shown);
  follow();
  return stream();
}
const stream = (): FakeStream => FakeStream.all.at(-1) as FakeStream;
const ids = (list = 'story') =>
  [...document.querySelectorAll<HTMLElement>(`[data-live-list="${list}"] > [data-entry]`)].map(
    ({ dataset }) => dataset.entry,
  );
const button = () => document.querySelector<HTMLButtonElement>('.live-news button') as HTMLButtonElement;
const isOffered = () => document.querySelector<HTMLElement>('.live-news')?.hidden === false;
const spoken = () => document.querySelector('[role=status]')?.textContent;

it('new live entries wait behind the button, each once and in order', () => {
  const live = open();
  expect(live.url).toBe('/live/7?since=s1');
  live.say('entry', entry(13), 's2');
  live.say('entry', entry(14), 's3');
  live.say('entry', entry(14), 's3');
  expect([ids(), button().textContent, spoken(), isOffered()]).toEqual([
    ['12', '11'],
    '2 new updates',
    '2 new updates',
    true,
  ]);
  button().click();
  expect([ids(), isOffered(), spoken()]).toEqual([['14', '13', '12', '11'], false, '']);
  expect(document.activeElement?.id).toBe('entry-14');
  live.say('entry', entry(14), 's3');
  expect(isOffered()).toBe(false);
});

it('new live entries below the visible area appear at once and are announced', () => {
  listTop = 5000;
  const live = open();
  live.say('entry', entry(13, { key: true }), 's2');
  expect([ids(), isOffered(), spoken()]).toEqual([['13', '12', '11'], false, '1 new update']);
  expect(document.querySelector('[data-live-keys] a')?.getAttribute('href')).toBe('/article/a/live/13');
  expect(document.querySelector<HTMLTimeElement>('[data-live-updated]')?.dateTime).toBe('2026-11-25T11:13:00Z');
});

it('a changed live entry replaces the old one, and a withdrawn one is removed, even while it waits', () => {
  const live = open();
  live.say('entry', entry(11, { version: 'v2', words: 'Corrected' }), 's2');
  expect([ids(), document.querySelector('#entry-11 h3')?.textContent]).toEqual([['12', '11'], 'Corrected']);
  live.say('gone', '12', 's3');
  live.say('entry', entry(13), 's4');
  live.say('gone', '13', 's5');
  live.say('gone', '999', 's6');
  expect([ids(), isOffered()]).toEqual([['11'], false]);
});

it('a live entry moves when pinned or unpinned, and is listed as a key event only while it is one', () => {
  const live = open();
  live.say('entry', entry(11, { version: 'v2', pinned: true, key: true }), 's2');
  expect([ids(), ids('pinned'), document.querySelectorAll('[data-key-event]').length]).toEqual([['12'], ['11'], 1]);
  live.say('entry', entry(11, { version: 'v3' }), 's3');
  expect([ids(), ids('pinned')]).toEqual([['12', '11'], []]);
  expect(document.querySelector<HTMLElement>('[data-live-keys]')?.hidden).toBe(true);
});

it('markup that is not a live entry is ignored, as is an entry that belongs on a later page', () => {
  const live = open({ next: true });
  live.say('entry', '<p onclick="x">No entry</p>', 's2');
  live.say('entry', entry(1), 's3');
  expect([ids(), isOffered()]).toEqual([['12', '11'], false]);
});

it('the live stream closes while the page is hidden or left, and resumes from the last state', () => {
  const live = open();
  live.say('entry', entry(13), 's2');
  hidden = true;
  document.dispatchEvent(new Event('visibilitychange'));
  expect([live.readyState, FakeStream.all.length]).toEqual([2, 1]);
  live.say('entry', entry(14), 's3');
  hidden = false;
  document.dispatchEvent(new Event('visibilitychange'));
  expect([FakeStream.all.length, stream().url, button().textContent]).toEqual([2, '/live/7?since=s2', '1 new update']);
  dispatchEvent(new Event('pagehide'));
  expect(stream().readyState).toBe(2);
  dispatchEvent(Object.assign(new Event('pageshow'), { persisted: true }));
  expect([FakeStream.all.length, stream().url]).toEqual([3, '/live/7?since=s2']);
});

it('on a sync event, the live page fetches itself and applies new, changed, and removed entries', async () => {
  pages = [page({ state: 's9', entries: [entry(14), entry(12, { version: 'v2', words: 'Changed' })] })];
  const live = open();
  live.say('sync', 's9', 's9');
  await vi.waitFor(() => expect(button().textContent).toBe('1 new update'));
  expect([ids(), document.querySelector('#entry-12 h3')?.textContent, fetched.length]).toEqual([['12'], 'Changed', 1]);
  button().click();
  expect(ids()).toEqual(['14', '12']);
});

it('after a sync event, the live page is fetched again until it has the new state', async () => {
  pages = [page(), page(), page({ state: 's2', entries: [entry(13), entry(12), entry(11)] })];
  const live = open();
  live.say('sync', 's2', 's2');
  await vi.advanceTimersByTimeAsync(10_000);
  expect([fetched.length, button().textContent]).toEqual([3, '1 new update']);
});

it('a live page that could not be fetched after a sync event gets the missed entries from a later stream', async () => {
  const live = open();
  live.say('sync', 's2', 's2');
  // The stream is refused, too, while the site restarts.
  await vi.advanceTimersByTimeAsync(1000);
  live.refuse();
  await vi.advanceTimersByTimeAsync(75_000);
  expect([FakeStream.all.length, stream().url]).toEqual([2, '/live/7?since=']);
  stream().say('sync', 's3', 's3');
  await vi.advanceTimersByTimeAsync(75_000);
  expect([FakeStream.all.length, stream().url]).toEqual([3, '/live/7?since=']);
  pages = [page({ state: 's3', entries: [entry(13), entry(12), entry(11)] })];
  stream().say('sync', 's3', 's3');
  await vi.waitFor(() => expect(button().textContent).toBe('1 new update'));
});

it('a key event that arrives by the stream has the title that the page would give it', () => {
  const live = open();
  const long = `${'Many words '.repeat(8)}are cut`;
  live.say('entry', entry(11, { version: 'v2', key: true, title: '', words: long }), 's2');
  live.say('entry', entry(12, { version: 'v2', key: true, title: '', words: embed }), 's3');
  expect(keyEvents()).toEqual(['Watch on YouTube', `${'Many words '.repeat(7).trim()}…`]);
  live.say('entry', entry(12, { version: 'v3', key: true, title: '', words: '' }), 's4');
  expect(keyEvents()[0]).toBe('Update');
});

it('the text that is read stays in place when a changed live entry becomes a key event', () => {
  const scrollBy = vi.fn();
  vi.stubGlobal('scrollBy', scrollBy);
  vi.spyOn(Element.prototype, 'getBoundingClientRect').mockImplementation(
    () => ({ top: 100 + 30 * keyEvents().length, height: 10 }) as DOMRect,
  );
  const live = open();
  live.say('entry', entry(11, { version: 'v2', key: true }), 's2');
  expect(scrollBy).toHaveBeenCalledExactlyOnceWith({ top: 30, behavior: 'instant' });
  live.say('gone', '11', 's3');
  expect(scrollBy).toHaveBeenLastCalledWith({ top: -30, behavior: 'instant' });
});

it('a pinned live entry that is missing from the fetched page is removed, however old it is', async () => {
  pages = [page({ state: 's2', entries: [entry(14), entry(13)], next: true })];
  const live = open({ pinned: [entry(3, { pinned: true })], next: true });
  live.say('sync', 's2', 's2');
  await vi.waitFor(() => expect(isOffered()).toBe(true));
  expect([ids(), ids('pinned')]).toEqual([['12', '11'], []]);
});

const keyEvents = () => [...document.querySelectorAll('[data-key-event] a')].map(({ textContent }) => textContent);

it('a key event on a later page is corrected and withdrawn in the list of key events', () => {
  const live = open({ next: true, keys: [3, 2] });
  live.say('entry', entry(3, { version: 'v2', key: true, words: 'Corrected' }), 's2');
  live.say('gone', '2', 's3');
  expect([ids(), keyEvents()]).toEqual([['12', '11'], ['Corrected']]);
});

it('on a sync event, the list of key events is updated, except for entries that still wait', async () => {
  pages = [
    page({ state: 's2', entries: [entry(14, { key: true }), entry(12), entry(11)], next: true, keys: [14, 11, 3] }),
  ];
  const live = open({ next: true, keys: [3, 2] });
  live.say('sync', 's2', 's2');
  await vi.waitFor(() => expect(isOffered()).toBe(true));
  expect(keyEvents()).toEqual(['Key 11', 'Key 3']);
  button().click();
  expect(keyEvents()).toHaveLength(3);
});

it.each([403, 429])('a status %i from a CDN does not end the live coverage on the page', async (status) => {
  vi.stubGlobal('fetch', async () => new Response('<p>Checking your browser</p>', { status }));
  open().refuse();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(document.querySelector<HTMLElement>('[data-live-ended]')?.hidden).toBe(true);
  expect(FakeStream.all).toHaveLength(2);
});

it('live entries that have moved to the next page stay on the open page', async () => {
  pages = [page({ state: 's2', entries: [entry(14), entry(13)], next: true })];
  const live = open();
  live.say('sync', 's2', 's2');
  await vi.waitFor(() => expect(isOffered()).toBe(true));
  expect(ids()).toEqual(['12', '11']);
});

it('when the live stream is refused, the page fetches itself and later tries the stream again', async () => {
  pages = [page({ state: 's2', entries: [entry(13), entry(12), entry(11)] })];
  open().refuse();
  await vi.waitFor(() => expect(button().textContent).toBe('1 new update'));
  expect(FakeStream.all).toHaveLength(1);
  await vi.advanceTimersByTimeAsync(60_000);
  expect([FakeStream.all.length, stream().url]).toEqual([2, '/live/7?since=s2']);
});

it('a live story that has ended is no longer followed', async () => {
  open().say('end', '1');
  expect([document.querySelector('.live-badge'), spoken()]).toEqual([null, 'Live coverage has ended.']);
  document.dispatchEvent(new Event('visibilitychange'));
  await vi.advanceTimersByTimeAsync(120_000);
  expect(FakeStream.all).toHaveLength(1);
});

it('on a later page of a live story, the button for new entries leads to the first page', () => {
  const assign = vi.fn();
  vi.stubGlobal('location', { pathname: '/article/a/live', search: '?page=2', assign });
  const live = open({ first: false });
  listTop = 5000;
  live.say('entry', entry(30), 's2');
  expect([ids(), button().textContent]).toEqual([['12', '11'], '1 new update']);
  button().click();
  expect(assign).toHaveBeenCalledWith('/article/a#live');
});

const embed =
  '<figure class="embed" data-embed-src="https://www.youtube-nocookie.com/embed/x" data-embed-provider="YouTube" data-embed-title="The vote"><a href="https://www.youtube.com/watch?v=x">Watch on YouTube</a></figure>';
const loads = (id: number) => [...document.querySelectorAll<HTMLElement>(`#entry-${id} .embed-load`)];

it('embeds in new, changed, and waiting live entries load only on a click', async () => {
  const live = open();
  live.say('entry', entry(13, { words: embed }), 's2');
  live.say('entry', entry(12, { version: 'v2', words: embed }), 's3');
  expect([loads(12).map(({ textContent }) => textContent), document.querySelector('iframe')]).toEqual([
    ['Play the video from YouTube', 'Play the video from YouTube'],
    null,
  ]);
  button().click();
  expect(loads(13)).toHaveLength(2);
  loads(13)[0]?.click();
  expect(document.querySelectorAll('#entry-13 iframe')).toHaveLength(1);
  expect(document.querySelector('iframe')?.title).toBe('The vote');
  // A page that is fetched again has placeholders, too.
  pages = [
    page({
      state: 's9',
      entries: [entry(14, { words: embed }), entry(13, { words: embed }), entry(12, { version: 'v2' }), entry(11)],
    }),
  ];
  live.say('sync', 's9', 's9');
  await vi.waitFor(() => expect(isOffered()).toBe(true));
  button().click();
  expect(loads(14)).toHaveLength(2);
});

it('a reader who loses access keeps the live page and is asked to open it again', async () => {
  pages = ['<main><section class="paywall" data-level="subscriber"></section></main>'];
  open().refuse();
  await vi.waitFor(() => expect(spoken()).toContain('open it again'));
  expect(document.querySelector('.live-badge')).not.toBeNull();
  expect(document.querySelector<HTMLElement>('[data-live-ended]')?.hidden).toBe(true);
  expect([ids(), document.body.textContent?.split('open it again').length]).toEqual([['12', '11'], 3]);
  await vi.advanceTimersByTimeAsync(120_000);
  expect(FakeStream.all).toHaveLength(1);
});

it('the live stream adds and removes an alert, and sends the id of the shown alert when it reconnects', async () => {
  document.body.innerHTML = `<a class="skip-link" href="#main">Skip</a><main id="main">${page()}</main>`;
  follow();
  const alert = `<section class="alert" data-alert="a" data-until="${Date.now() + 60_000}"><details open><summary></summary><p><b>Breaking</b>The bridge</p></details></section>`;
  stream().say('alert', alert);
  await vi.waitFor(() => expect(document.querySelector('.skip-link + .alert')).not.toBeNull());
  hidden = true;
  document.dispatchEvent(new Event('visibilitychange'));
  hidden = false;
  document.dispatchEvent(new Event('visibilitychange'));
  expect(stream().url).toBe('/live/7?since=s1&alert=a');
  stream().say('alert', '-');
  await vi.waitFor(() => expect(document.querySelector('.alert')).toBeNull());
});

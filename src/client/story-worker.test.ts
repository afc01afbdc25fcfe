/** The worker as it is sent to browsers, in a world of maps: a network, caches, and events. */
import { createContext, runInContext } from 'node:vm';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { workerText } from './integrations.ts';

const site = 'https://paper.example';
const at = (path: string): string => site + path;

class FakeCache {
  readonly kept = new Map<string, Response>();
  static key(request: string | { url: string }): string {
    return new URL(typeof request === 'string' ? request : request.url, site).href;
  }
  async match(request: string | { url: string }) {
    return this.kept.get(FakeCache.key(request))?.clone();
  }
  async put(request: string | { url: string }, answer: Response) {
    this.kept.set(FakeCache.key(request), answer);
  }
  async delete(request: string | { url: string }) {
    return this.kept.delete(FakeCache.key(request));
  }
  async keys() {
    return [...this.kept.keys()].map((url) => ({ url }));
  }
}

/** Looked up at each call, so that a test's clock takes effect. */
const clock = { now: () => Date.now() };
const later = (act: (value: undefined) => void, ms: number) => setTimeout(act, ms);

/** Pages by path; a missing path has no answer at all. */
type Network = Map<string, (path: string) => Response | Promise<Response>>;

const html =
  (text: string, init: ResponseInit = {}, redirected = false, type = 'basic') =>
  (): Response => {
    const answer = new Response(`<html lang="en">${text}</html>`, {
      headers: { 'content-type': 'text/html; charset=utf-8' },
      ...init,
    });
    // Values that only a browser's own fetch can set.
    Object.defineProperties(answer, { type: { value: type }, redirected: { value: redirected } });
    answer.clone = () => html(text, init, redirected, type)();
    return answer;
  };

/** The page for readers without a network, whose script imports a second one, which imports a third. */
const shell = '<link href="/_assets/a.css"><script type="module" src="/_assets/list.js"></script>Without a network';
const shellFiles = {
  'a.css': 'p{}',
  'list.js': 'import{t as e}from"./part-1.x_Y.js";e()',
  'part-1.x_Y.js': 'import"./deep.js";export{e as t}',
  'deep.js': 'var from="a word"',
};

function start(settings = { build: 'one', stories: 3, days: 14 }, stores = new Map<string, FakeCache>()) {
  const listeners = new Map<string, (event: unknown) => void>();
  const network: Network = new Map([['/offline', html(shell)]]);
  for (const [name, code] of Object.entries(shellFiles)) network.set(`/_assets/${name}`, () => new Response(code));
  const asked: string[] = [];
  /** A disk that is full or damaged. */
  const broken = { yes: false };
  const caches = {
    async open(name: string) {
      if (broken.yes) throw new Error('Unexpected internal error');
      const found = stores.get(name) ?? new FakeCache();
      stores.set(name, found);
      return found;
    },
    keys: async () => [...stores.keys()],
    delete: async (name: string) => stores.delete(name),
    has: async (name: string) => stores.has(name),
  };
  const self = {
    location: { origin: site },
    registration: { navigationPreload: { enable: async () => {} }, unregister: vi.fn(async () => true) },
    clients: { claim: async () => {} },
    skipWaiting: async () => {},
    addEventListener: (name: string, act: (event: unknown) => void) => listeners.set(name, act),
  };
  const fetch = async (request: string | { url: string }) => {
    const { pathname } = new URL(FakeCache.key(request));
    asked.push(pathname);
    const answer = network.get(pathname);
    if (!answer) throw new TypeError('Failed to fetch');
    return answer(pathname);
  };
  runInContext(
    workerText(settings),
    createContext({ self, caches, fetch, URL, Headers, Response, Date: clock, setTimeout: later }),
  );

  async function fire(name: string, event: object): Promise<Response | undefined> {
    const works: Promise<unknown>[] = [];
    let answer: Promise<Response> | undefined;
    listeners.get(name)?.({
      preloadResponse: Promise.resolve(undefined),
      waitUntil: (work: Promise<unknown>) => void works.push(work),
      respondWith(given: Promise<Response>) {
        answer = given;
      },
      ...event,
    });
    const got = await answer;
    // A browser only notes what fails behind an answer; a worker that can't be installed never starts.
    if (name === 'fetch') await Promise.allSettled(works);
    else await Promise.all(works);
    return got;
  }
  const request = (path: string, more: object = {}) =>
    fire('fetch', {
      request: { url: at(path), method: 'GET', mode: 'cors', referrer: '', headers: new Headers(), ...more },
    });
  const open = (path: string) => request(path, { mode: 'navigate' });
  const stories = () => [...(stores.get('broadsheet-stories')?.kept.keys() ?? [])].map((url) => new URL(url).pathname);
  return { fire, request, open, stories, network, asked, stores, self, broken };
}

let worker: ReturnType<typeof start>;
beforeEach(async () => {
  vi.useRealTimers();
  worker = start();
  await worker.fire('install', {});
  await worker.fire('activate', {});
});

describe('the offline service worker', () => {
  it('serves the offline page with its styles and scripts when there is no network', async () => {
    worker.network.clear();
    expect(await (await worker.open('/section/politics'))?.text()).toContain('Without a network');
    for (const [name, code] of Object.entries(shellFiles)) {
      expect(await (await worker.request(`/_assets/${name}`))?.text(), name).toBe(code);
    }
  });

  it('stores the last three stories, whatever query their links had, and marks stored ones as offline', async () => {
    for (const name of ['a', 'b', 'c', 'a', 'd']) {
      worker.network.set(`/article/${name}`, html(`Story ${name}`));
      expect(await (await worker.open(`/article/${name}?utm_source=x`))?.text()).toBe(
        `<html lang="en">Story ${name}</html>`,
      );
    }
    expect(worker.stories()).toEqual(['/article/c', '/article/a', '/article/d']);
    worker.network.clear();
    expect(await (await worker.open('/article/a'))?.text()).toBe('<html data-offline lang="en">Story a</html>');
    expect(await (await worker.open('/article/b'))?.text()).toContain('Without a network');
  });

  it('leaves prefetches to the network, and stores nothing from them', async () => {
    worker.network.set('/article/a', html('Story a'));
    const ahead = { mode: 'navigate', headers: new Headers({ 'sec-purpose': 'prefetch' }) };
    expect(await worker.request('/article/a', ahead)).toBeUndefined();
    expect(worker.stories()).toEqual([]);
    await worker.open('/article/a');
    expect(worker.stories()).toEqual(['/article/a']);
  });

  it('stores up to 30 pictures of stories that were read, and none of prerendered ones', async () => {
    const ahead = { referrer: at('/article/b'), headers: new Headers({ 'sec-purpose': 'prefetch;prerender' }) };
    const pictures = () =>
      [...(worker.stores.get('broadsheet-pictures')?.kept.keys() ?? [])].map((url) => new URL(url).search);
    worker.network.set('/image', () => new Response('picture'));
    await worker.request('/image?url=read&w=640', { referrer: at('/article/a') });
    expect(await worker.request('/image?url=ahead&w=640', ahead)).toBeUndefined();
    expect(pictures()).toEqual(['?url=read&w=640']);

    // Once they are read, their pages refer to them; the oldest ones are deleted.
    worker.network.set('/article/b', html('Story b'));
    const files = Array.from({ length: 30 }, (_, index) => at(`/image?url=${index}&w=640`));
    await worker.fire('message', { data: { keep: at('/article/b'), files } });
    expect(pictures()).toHaveLength(30);
    expect(pictures()).not.toContain('?url=read&w=640');
  });

  it('stores the pictures of a story even if one of its other files can’t be fetched', async () => {
    worker.network.set('/article/b', html('Story b'));
    worker.network.set('/image', () => new Response('picture'));
    const files = [at('/_assets/gone.js'), at('/image?url=one&w=640')];
    await worker.fire('message', { data: { keep: at('/article/b'), files } });
    expect(worker.stores.get('broadsheet-pictures')?.kept.size).toBe(1);
  });

  it('shows a stored story when the network takes four seconds or the site answers 503', async () => {
    worker.network.set('/article/a', html('Story a'));
    await worker.open('/article/a');
    worker.network.set('/article/a', html('Broken', { status: 503 }));
    expect(await (await worker.open('/article/a'))?.text()).toContain('data-offline');
    vi.useFakeTimers();
    let answer: (response: Response) => void = () => {};
    worker.network.set(
      '/article/a',
      () =>
        new Promise((resolve) => {
          answer = resolve;
        }),
    );
    let shown: Response | undefined;
    const opened = worker.open('/article/a').then((got) => {
      shown = got;
    });
    await vi.advanceTimersByTimeAsync(4000);
    answer(html('Story a, corrected')());
    await opened;
    expect(await shown?.text()).toContain('data-offline');
    // The answer that came too late this time is there the next time.
    worker.network.clear();
    expect(await (await worker.open('/article/a'))?.text()).toContain('corrected');
  });

  it('stores no lists, API calls, account pages, errors or redirected pages', async () => {
    worker.network.set('/article/moved', html('Moved', {}, true));
    worker.network.set('/article/broken', html('Broken', { status: 500 }));
    for (const path of ['/', '/dashboard/saved', '/article/a/comments', '/search'])
      worker.network.set(path, html(path));
    for (const path of worker.network.keys()) if (path !== '/offline') await worker.open(path);
    expect(worker.stories()).toEqual([]);
    const before = worker.asked.length;
    expect(await worker.request('/api/v1/me/saved')).toBeUndefined();
    expect(await worker.request('/image?url=x&w=640', { referrer: at('/section/politics') })).toBeUndefined();
    expect(worker.asked.length).toBe(before);
  });

  it('deletes a story after 14 days, even without a new build', async () => {
    vi.useFakeTimers({ now: Date.parse('2026-11-01T12:00:00Z'), toFake: ['Date'] });
    worker.network.set('/article/a', html('Story a'));
    await worker.open('/article/a');
    vi.setSystemTime(Date.parse('2026-11-08T12:00:00Z'));
    worker.network.set('/article/b', html('Story b'));
    await worker.open('/article/b');
    vi.setSystemTime(Date.parse('2026-11-15T12:00:01Z'));
    worker.network.clear();
    expect(await (await worker.open('/article/b'))?.text()).toContain('Story b');
    expect(await (await worker.open('/article/a'))?.text()).toContain('Without a network');
    expect(worker.stories()).toEqual(['/article/b']);
    vi.setSystemTime(Date.parse('2026-11-23T12:00:00Z'));
    // The list of stored stories is made from what is stored.
    await worker.open('/offline');
    expect(worker.stories()).toEqual([]);
  });

  it('deletes a story whose address now redirects', async () => {
    worker.network.set('/article/a', html('Story a'));
    await worker.open('/article/a');
    worker.network.set('/article/a', html('', {}, false, 'opaqueredirect'));
    await worker.open('/article/a');
    expect(worker.stories()).toEqual([]);
  });

  it('passes responses through when the browser can’t store anything', async () => {
    worker.network.set('/article/a', html('Story a'));
    worker.network.set('/image', () => new Response('picture'));
    worker.broken.yes = true;
    expect(await (await worker.open('/article/a'))?.text()).toContain('Story a');
    expect(await (await worker.open('/offline'))?.text()).toContain('Without a network');
    expect(await (await worker.request('/_assets/a.css'))?.text()).toBe('p{}');
    const picture = await worker.request('/image?url=p&w=640', { referrer: at('/article/a') });
    expect(await picture?.text()).toBe('picture');
  });

  it('deletes a story that now answers 410', async () => {
    worker.network.set('/article/a', html('Story a'));
    await worker.open('/article/a');
    worker.network.set('/article/a', html('Gone', { status: 410 }));
    expect(await (await worker.open('/article/a'))?.status).toBe(410);
    expect(worker.stories()).toEqual([]);
  });

  it.each([
    ['POST', '/blaize/logout'],
    ['POST', '/blaize/login'],
    ['POST', '/blaize/forget-me'],
    ['POST', '/account/sign-out'],
    ['POST', '/account/link'],
    ['POST', '/account/delete'],
  ])('deletes stories and pictures at %s %s', async (method, path) => {
    worker.network.set('/article/a', html('Story a'));
    worker.network.set('/image', () => new Response('picture'));
    await worker.open('/article/a');
    await worker.request('/image?url=p&w=640', { referrer: at('/article/a') });
    expect([worker.stories().length, worker.stores.get('broadsheet-pictures')?.kept.size]).toEqual([1, 1]);
    await worker.request(path, { method });
    expect([worker.stories().length, worker.stores.get('broadsheet-pictures')?.kept.size ?? 0]).toEqual([0, 0]);
  });

  it('deletes all stories when a social sign-in returns or a page sends a “forget” message', async () => {
    worker.network.set('/article/a', html('Story a'));
    worker.network.set('/blaize/oauth/google/callback', html('Back'));
    await worker.open('/article/a');
    await worker.open('/blaize/oauth/google/callback');
    expect(worker.stories()).toEqual([]);
    await worker.open('/article/a');
    await worker.fire('message', { data: { forget: true } });
    expect(worker.stories()).toEqual([]);
    for (const nonsense of [null, 'forget', 7, { keep: 'https://evil.example/article/a' }, { keep: at('/dashboard') }])
      await worker.fire('message', { data: nonsense });
    expect(worker.stories()).toEqual([]);
  });

  it('does not store a page that was still loading when the reader signed out', async () => {
    let answer: (response: Response) => void = () => {};
    worker.network.set(
      '/article/a',
      () =>
        new Promise((resolve) => {
          answer = resolve;
        }),
    );
    const opened = worker.open('/article/a');
    await vi.waitFor(() => expect(worker.asked).toContain('/article/a'));
    await worker.request('/account/sign-out', { method: 'POST' });
    answer(html('Story a, whole')());
    await opened;
    expect(worker.stories()).toEqual([]);
  });

  it('shows a stored picture of another width when the requested one is missing', async () => {
    worker.network.set('/image', () => new Response('picture'));
    const referrer = at('/article/a');
    await worker.request('/image?url=p&w=640&q=75', { referrer });
    worker.network.delete('/image');
    expect(await (await worker.request('/image?url=p&w=828&q=75', { referrer }))?.text()).toBe('picture');
    await expect(worker.request('/image?url=other&w=640&q=75', { referrer })).rejects.toThrow('Failed to fetch');
  });

  it('keeps the stories of the previous build, and deletes its offline page', async () => {
    worker.network.set('/article/a', html('Story a'));
    await worker.open('/article/a');
    const next = start({ build: 'two', stories: 3, days: 14 }, worker.stores);
    await next.fire('install', {});
    expect([...next.stores.keys()]).toEqual(expect.arrayContaining(['broadsheet-shell-one', 'broadsheet-shell-two']));
    await next.fire('activate', {});
    expect(next.stores.has('broadsheet-shell-one')).toBe(false);
    expect(next.stories()).toEqual(['/article/a']);
  });

  it('keeps the offline page’s styles and scripts, however many other files are stored', async () => {
    for (let file = 0; file < 500; file++) {
      worker.network.set(`/_assets/${file}.js`, () => new Response('0'));
      await worker.request(`/_assets/${file}.js`);
    }
    const next = start({ build: 'two', stories: 3, days: 14 }, worker.stores);
    await next.fire('install', {});
    await next.fire('activate', {});
    expect(worker.stores.get('broadsheet-assets')?.kept.size).toBe(404);
    next.network.clear();
    for (const [name, code] of Object.entries(shellFiles)) {
      expect(await (await next.request(`/_assets/${name}`))?.text(), name).toBe(code);
    }
  });

  it('is not installed when the offline page can’t be fetched', async () => {
    const other = start();
    other.network.set('/offline', html('Broken', { status: 500 }));
    await expect(other.fire('install', {})).rejects.toThrow('/offline answered 500');
  });

  it('deletes everything and unregisters when no story may be stored', async () => {
    worker.network.set('/article/a', html('Story a'));
    await worker.open('/article/a');
    const last = start({ build: 'three', stories: 0, days: 0 }, worker.stores);
    await last.fire('activate', {});
    expect(last.stores.size).toBe(0);
    expect(last.self.registration.unregister).toHaveBeenCalledOnce();
  });
});

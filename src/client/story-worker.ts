/**
 * The service worker: readers can read their last stories again without a network, as they saw them
 * (docs/decisions/0021). `integrations.ts` makes `/sw.js` of this file without its types, so it imports nothing.
 *
 * It stores no API response and no other page. Signing in or out empties it.
 */

/** The build writes these settings at the start of the file. */
declare const settings: { readonly build: string; readonly stories: number; readonly days: number };

/** Events of a service worker, which the DOM's types don't have. */
interface ExtendableEvent extends Event {
  waitUntil(work: Promise<unknown>): void;
}
interface FetchEvent extends ExtendableEvent {
  readonly request: Request;
  readonly preloadResponse: Promise<Response | undefined>;
  respondWith(answer: Promise<Response>): void;
}
interface ExtendableMessageEvent extends ExtendableEvent {
  readonly data: unknown;
}
interface Scope {
  readonly location: { readonly origin: string };
  readonly registration: { readonly navigationPreload?: { enable(): Promise<void> } };
  readonly clients: { claim(): Promise<void> };
  skipWaiting(): Promise<void>;
  addEventListener(name: 'install' | 'activate', act: (event: ExtendableEvent) => void): void;
  addEventListener(name: 'fetch', act: (event: FetchEvent) => void): void;
  addEventListener(name: 'message', act: (event: ExtendableMessageEvent) => void): void;
}

const scope = self as unknown as Scope;
const shellName = `broadsheet-shell-${settings.build}`;
const assetsName = 'broadsheet-assets';
/** These two hold what a reader saw. They are emptied when another reader may use the browser. */
const storiesName = 'broadsheet-stories';
const picturesName = 'broadsheet-pictures';

const offlinePage = '/offline';
/** Milliseconds to wait for the network before a stored story is shown. */
const networkTimeoutMs = 4000;
const mostAssets = 400;
const mostPictures = settings.stories * 10;
const keptAt = 'x-kept-at';

/** Calls that sign in or out. */
const signInOrOut =
  /^\/(?:blaize\/(?:login|logout|register|forget-me)|account\/(?:sign-out|code|link|social|delete)|api\/zephr-create)$/;
const socialReturn = /^\/blaize\/oauth\/[^/]+\/callback$/;

/** Counts sign-ins and sign-outs: a request that began before one of them is not stored after it. */
let signInChanges = 0;

/** Storage can fail, for example on a full disk. Everything then comes from the network. */
const attempt = <T>(work: Promise<T>): Promise<T | undefined> => work.catch(() => undefined);

/**
 * Whether the page is only prefetched or prerendered, and not read yet. When the reader opens it, the page sends a message with
 * its pictures.
 */
const isPrefetch = ({ headers }: Request): boolean => headers.get('sec-purpose')?.startsWith('prefetch') === true;

const isStory = (path: string): boolean => /^\/article\/[^/]+$/.test(path);
/** The key of a story: its address without a query. */
const keyOf = (url: URL): string => url.origin + url.pathname;

scope.addEventListener('install', (event) => event.waitUntil(install()));
scope.addEventListener('activate', (event) => event.waitUntil(activate()));
scope.addEventListener('message', (event) => event.waitUntil(receive(event.data)));

scope.addEventListener('fetch', (event) => {
  const { request } = event;
  const url = new URL(request.url);
  if (url.origin !== scope.location.origin) return;
  if (request.method !== 'GET') {
    if (signInOrOut.test(url.pathname)) event.waitUntil(forget());
    return;
  }
  if (request.mode === 'navigate') {
    if (isPrefetch(request)) return;
    if (socialReturn.test(url.pathname)) event.waitUntil(forget());
    event.respondWith(navigate(event, url));
    // Dictionaries aren't stored here: the browser keeps the pages' shared dictionary by itself.
  } else if (url.pathname.startsWith('/_assets/') && !url.pathname.endsWith('.dict')) event.respondWith(asset(event));
  else if (url.pathname === '/image' && isStory(pathOf(request.referrer)) && !isPrefetch(request))
    event.respondWith(picture(event, url));
});

/** Stores the page that is shown when there is no network, and its files. */
async function install(): Promise<void> {
  const answer = await fetch(offlinePage, { cache: 'reload', credentials: 'omit' });
  if (!answer.ok) throw new Error(`${offlinePage} answered ${answer.status}`);
  const copy = answer.clone();
  await (await caches.open(shellName)).put(offlinePage, answer);
  await keepAssets(filesOf(await copy.text()));
  // This worker serves the files of every build, so it can also take over pages of an earlier build.
  await scope.skipWaiting();
}

const filesOf = (html: string): string[] =>
  [...html.matchAll(/(?:href|src)="(\/_assets\/[^"]+)"/g)].map((match) => match[1] as string);

const shell = async (): Promise<string> =>
  (await (await (await caches.open(shellName)).match(offlinePage))?.text()) ?? '';

async function activate(): Promise<void> {
  const others = (await caches.keys()).filter((name) => name.startsWith('broadsheet-shell-') && name !== shellName);
  await Promise.all(others.map((name) => caches.delete(name)));
  const own = filesOf(await shell());
  await trim(await caches.open(assetsName), mostAssets, (await attempt(keepAssets(own))) ?? own);
  await dropOld();
  await scope.registration.navigationPreload?.enable();
  await scope.clients.claim();
}

/** Pages come from the network. If it fails or takes too long, a stored story is shown. */
async function navigate(event: FetchEvent, url: URL): Promise<Response> {
  const changesBefore = signInChanges;
  const story = isStory(url.pathname);
  const fresh = (async () => {
    const answer = (await event.preloadResponse) ?? (await fetch(event.request));
    return { answer, copy: story ? answer.clone() : null };
  })();
  event.waitUntil(
    fresh.then(
      ({ copy }) => (copy ? storeStory(url, copy, changesBefore) : undefined),
      () => {},
    ),
  );
  if (url.pathname === offlinePage) await attempt(dropOld());
  const kept = story ? await attempt(keptStory(url)) : undefined;
  try {
    const first = await (kept ? Promise.race([fresh, wait(networkTimeoutMs)]) : fresh);
    if (first && (first.answer.status < 500 || !kept)) return first.answer;
  } catch {
    // No network.
  }
  if (kept) return markAsStored(kept);
  await attempt(dropOld());
  return (await attempt(offline())) ?? Response.error();
}

const offline = async (): Promise<Response | undefined> => (await caches.open(shellName)).match(offlinePage);

/** The stored story, unless it is too old. */
async function keptStory(url: URL): Promise<Response | undefined> {
  const kept = await (await caches.open(storiesName)).match(keyOf(url));
  return kept && !isOld(kept) ? kept : undefined;
}

/** Stores a story, and removes one that is withdrawn or has moved. */
async function storeStory(url: URL, answer: Response, changesBefore: number): Promise<void> {
  if (changesBefore !== signInChanges) return;
  const stories = await caches.open(storiesName);
  if (answer.status === 404 || answer.status === 410 || answer.type === 'opaqueredirect') {
    await stories.delete(keyOf(url));
    return;
  }
  const html = answer.headers.get('content-type')?.startsWith('text/html') ?? false;
  if (answer.status !== 200 || answer.redirected || answer.type !== 'basic' || !html) return;
  const headers = new Headers(answer.headers);
  headers.set(keptAt, String(Date.now()));
  // The body is already decompressed.
  for (const name of ['content-encoding', 'content-length']) headers.delete(name);
  const body = await answer.blob();
  if (changesBefore !== signInChanges) return;
  // Deleted first, so that the keys are in the order of reading.
  await stories.delete(keyOf(url));
  await stories.put(keyOf(url), new Response(body, { headers }));
  await dropOld();
  await trim(stories, settings.stories);
  if (changesBefore !== signInChanges) await forget();
}

/** Marks a stored story so that the page can say that it is stored. */
async function markAsStored(kept: Response): Promise<Response> {
  const html = await kept.text();
  return new Response(html.replace('<html ', '<html data-offline '), { headers: kept.headers });
}

/** A file's name contains the hash of its content, so a stored file never changes. */
async function asset(event: FetchEvent): Promise<Response> {
  const assets = await attempt(caches.open(assetsName));
  const kept = assets && (await attempt(assets.match(event.request, { ignoreVary: true })));
  if (kept) return kept;
  const answer = await fetch(event.request);
  if (assets && answer.ok) event.waitUntil(attempt(assets.put(event.request, answer.clone())));
  return answer;
}

/** Pictures come from the network, else from storage, in any width. */
async function picture(event: FetchEvent, url: URL): Promise<Response> {
  const changesBefore = signInChanges;
  const pictures = await attempt(caches.open(picturesName));
  try {
    const answer = await fetch(event.request);
    if (pictures && answer.ok && changesBefore === signInChanges) {
      const copy = answer.clone();
      event.waitUntil(attempt(pictures.put(event.request, copy).then(() => trim(pictures, mostPictures))));
    }
    return answer;
  } catch (error) {
    if (!pictures) throw error;
    const exact = await pictures.match(event.request, { ignoreVary: true });
    if (exact) return exact;
    const wanted = url.searchParams.get('url');
    for (const request of await pictures.keys()) {
      const other = new URL(request.url).searchParams.get('url') === wanted && (await pictures.match(request));
      if (other) return other;
    }
    throw error;
  }
}

/** Messages of a page: the reader signed in or out, or a list of files that the page loaded before this worker was active. */
async function receive(message: unknown): Promise<void> {
  const { forget: gone, keep, files } = Object(message) as { forget?: unknown; keep?: unknown; files?: unknown };
  if (gone === true) return forget();
  const url = ownAddress(keep);
  if (!url || !isStory(url.pathname)) return;
  const changesBefore = signInChanges;
  await storeStory(url, await fetch(keyOf(url)), changesBefore);
  const own = (Array.isArray(files) ? files : []).map(ownAddress).filter((one) => one !== null);
  const assets = own.filter(({ pathname }) => pathname.startsWith('/_assets/')).map(({ pathname }) => pathname);
  await attempt(keepAssets(assets));
  const pictures = await caches.open(picturesName);
  for (const { href } of own.filter(({ pathname }) => pathname === '/image').slice(0, mostPictures)) {
    const answer = await fetch(href).catch(() => null);
    if (answer?.ok && changesBefore === signInChanges) await pictures.put(href, answer);
  }
  await trim(pictures, mostPictures);
  if (changesBefore !== signInChanges) await forget();
}

/** Stores files and their imports. @returns all of them */
async function keepAssets(paths: readonly string[]): Promise<string[]> {
  const assets = await caches.open(assetsName);
  const all = new Set(paths);
  for (let next = paths; next.length > 0; ) {
    const found = await Promise.all(
      next.map(async (path) => {
        let answer = await assets.match(path, { ignoreVary: true });
        if (!answer) {
          answer = await fetch(path);
          if (answer.ok) await assets.put(path, answer.clone());
        }
        return answer.ok && path.endsWith('.js') ? importsOf(await answer.text()) : [];
      }),
    );
    next = [...new Set(found.flat())].filter((path) => !all.has(path));
    for (const path of next) all.add(path);
  }
  return [...all];
}

/** Static imports of a built script, which name files in its folder. */
const importsOf = (code: string): string[] =>
  [...code.matchAll(/\b(?:from|import)\s*["'`]\.\/([\w.-]+\.js)["'`]/g)].map(([, name]) => `/_assets/${name}`);

async function forget(): Promise<void> {
  signInChanges++;
  await Promise.all([caches.delete(storiesName), caches.delete(picturesName)]);
}

async function dropOld(): Promise<void> {
  const stories = await caches.open(storiesName);
  for (const request of await stories.keys()) {
    const kept = await stories.match(request);
    if (kept && isOld(kept)) await stories.delete(request);
  }
}

const isOld = ({ headers }: Response): boolean =>
  Number(headers.get(keptAt) ?? 0) < Date.now() - settings.days * 86_400_000;

/** Removes the oldest files, except those that are needed. */
async function trim(cache: Cache, most: number, needed: readonly string[] = []): Promise<void> {
  const keys = await cache.keys();
  const oldest = keys.slice(0, Math.max(0, keys.length - most)).filter(({ url }) => !needed.includes(pathOf(url)));
  await Promise.all(oldest.map((key) => cache.delete(key)));
}

function ownAddress(text: unknown): URL | null {
  if (typeof text !== 'string' || !URL.canParse(text)) return null;
  const url = new URL(text);
  return url.origin === scope.location.origin ? url : null;
}

const pathOf = (address: string): string => (URL.canParse(address) ? new URL(address).pathname : '');
const wait = (ms: number): Promise<undefined> => new Promise((resolve) => setTimeout(resolve, ms, undefined));

// Makes this file a module for the compiler; the build removes the line.
export {};

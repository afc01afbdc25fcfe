/**
 * A browser that prerenders. Chromium doesn't prerender while a debugger is attached directly to a page, as Playwright is. So these tests
 * attach to the tab, over the browser's own protocol, and see its pages: the shown one and the prerendered ones.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { browserFromEnvironment } from '../../scripts/browser.ts';

interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly sessionId?: string;
  readonly params?: Readonly<Record<string, unknown>>;
  readonly result?: Readonly<Record<string, unknown>>;
  readonly error?: { readonly message: string };
}

/** A request that a page of the tab has made. */
interface Requested {
  readonly method: string;
  readonly url: string;
  /** Whether the page was only prerendered when it made the request. */
  readonly ahead: boolean;
}

export interface Tab {
  /** What the pages of this tab have requested so far. */
  readonly requests: readonly Requested[];
  goto(url: string): Promise<void>;
  /** The value of an expression in the page that is shown; promises are awaited. */
  evaluate<Value>(expression: string): Promise<Value>;
  /** As {@link Tab.evaluate}, in the page that is prerendered. @throws Error when there is none */
  evaluateAhead<Value>(expression: string): Promise<Value>;
  /** As {@link Tab.until}, in the page that is prerendered. */
  untilAhead(expression: string): Promise<void>;
  setCookies(
    cookies: readonly { readonly name: string; readonly value: string; readonly url: string }[],
  ): Promise<void>;
  /** Moves the pointer to the first element that the selector finds. */
  hover(selector: string): Promise<void>;
  /** Clicks at the pointer's position. @param pressMs how long the button is held, milliseconds (default 0) */
  click(pressMs?: number): Promise<void>;
  scroll(pixels: number): Promise<void>;
  /** Waits until an expression is true in the page that is shown. @throws Error after a minute */
  until(expression: string): Promise<void>;
  /**
   * Waits until the browser has prerendered the page of an address, whose link the pointer is on. If the link was hovered before the
   * speculation rules had arrived, the browser ignored it, so the pointer leaves and comes back until the browser begins.
   *
   * @throws Error when it has not within a minute
   */
  prerendered(url: string): Promise<void>;
  close(): Promise<void>;
}

/** Commands of the browser's protocol that each page of a tab gets first, e.g. a slow network. */
export type Commands = readonly (readonly [method: string, parameters: object])[];

export interface PrerenderingBrowser {
  /** A tab with cookies of its own. @param headers sent with each request of its pages */
  open(headers: Readonly<Record<string, string>>, commands?: Commands): Promise<Tab>;
  close(): Promise<void>;
}

type Send = (method: string, params?: object, sessionId?: string) => Promise<Readonly<Record<string, unknown>>>;

const timeoutMs = 60_000;
/** How often the pointer comes back to a link that isn't prerendered yet. */
const hoverAgainMs = 1000;

/** Repeats a check until it succeeds. @throws Error that says what was waited for */
async function wait(what: () => string, holds: () => boolean | Promise<boolean>): Promise<void> {
  const end = Date.now() + timeoutMs;
  while (!(await holds())) {
    if (Date.now() > end) throw new Error(`Timed out waiting for: ${what()}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** Address of the debugger, which the browser prints. */
async function debuggerOf({ stderr }: ChildProcess): Promise<string> {
  if (!stderr) throw new Error('The browser has no output.');
  for await (const line of createInterface({ input: stderr })) {
    const found = /DevTools listening on (ws:\S+)/u.exec(line)?.[1];
    if (!found) continue;
    // Later output is dropped once this loop has paused it: a full pipe would stop the browser, and an unread one keeps this process from
    // ending.
    setImmediate(() => stderr.resume());
    return found;
  }
  throw new Error('The browser has ended before it could be reached.');
}

/** A command that the browser has not answered yet. */
interface Waiting {
  readonly sessionId: string | undefined;
  readonly answer: (answer: Message) => void;
}

/** A connection to the browser; `hear` is called with each event. */
async function connect(url: string, hear: (event: Message) => void): Promise<Send> {
  const socket = new WebSocket(url);
  await once(socket, 'open');
  const waiting = new Map<number, Waiting>();
  let last = 0;
  /** Fails the waiting commands of a session, or all, which the browser won't answer anymore. */
  const giveUp = (message: string, sessionId?: unknown): void => {
    for (const each of waiting.values()) {
      if (sessionId === undefined || each.sessionId === sessionId) each.answer({ error: { message } });
    }
  };
  socket.addEventListener('close', () => giveUp('The browser has closed the connection.'));
  socket.addEventListener('message', ({ data }) => {
    const message = JSON.parse(String(data)) as Message;
    if (message.id !== undefined) return waiting.get(message.id)?.answer(message);
    if (message.method === 'Target.detachedFromTarget') giveUp('The page has gone.', message.params?.sessionId);
    hear(message);
  });
  const send: Send = async (method, params = {}, sessionId) => {
    const id = ++last;
    let timer: NodeJS.Timeout | undefined;
    const { error, result } = await new Promise<Message>((answer) => {
      waiting.set(id, { sessionId, answer });
      timer = setTimeout(() => answer({ error: { message: `No answer within ${timeoutMs} ms.` } }), timeoutMs);
      // A closed connection silently drops commands.
      if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify({ id, method, params, sessionId }));
      else answer({ error: { message: 'The connection is closed.' } });
    });
    clearTimeout(timer);
    waiting.delete(id);
    if (error) throw new Error(`${method}: ${error.message}`);
    return result ?? {};
  };
  return send;
}

/** A page of a tab: the one that is shown, or a prerendered one. */
interface Attached {
  readonly session: string;
  ahead: boolean;
}

export async function startPrerenderingBrowser(): Promise<PrerenderingBrowser> {
  const { path, args } = browserFromEnvironment(process.env);
  const { chromium } = await import('@playwright/test');
  const profile = mkdtempSync(join(tmpdir(), 'prerendering-'));
  const own = ['--headless', '--remote-debugging-port=0', `--user-data-dir=${profile}`, '--window-size=1280,900'];
  const child = spawn(path ?? chromium.executablePath(), [...args, ...own], { stdio: ['ignore', 'ignore', 'pipe'] });
  const listeners = new Set<(event: Message) => void>();
  const send = await connect(await debuggerOf(child), (event) => {
    for (const listener of listeners) listener(event);
  });
  return {
    open: (headers, commands = []) => openTab(send, headers, commands, (listener) => listeners.add(listener)),
    async close() {
      const ended = once(child, 'close');
      // A signal would end only the script with which some packages start the browser, not the browser itself.
      await send('Browser.close').catch(() => {});
      await ended;
      rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

async function openTab(
  send: Send,
  headers: Readonly<Record<string, string>>,
  commands: Commands,
  listen: (listener: (event: Message) => void) => void,
): Promise<Tab> {
  const { browserContextId } = await send('Target.createBrowserContext');
  const { targetId } = await send('Target.createTarget', { url: 'about:blank', forTab: true, browserContextId });
  const pages: Attached[] = [];
  const requests: Requested[] = [];
  const statuses = new Map<string, string>();
  let tab = '';
  const attach = async (session: string): Promise<void> => {
    // All at once, requests first, because the page is already loading.
    await Promise.all([
      send('Network.enable', {}, session),
      send('Network.setExtraHTTPHeaders', { headers }, session),
      send('Page.enable', {}, session),
      send('Preload.enable', {}, session),
      ...commands.map(([method, parameters]) => send(method, parameters, session)),
    ]);
  };
  listen(({ method, sessionId, params }) => {
    const page = pages.find(({ session }) => session === sessionId);
    if (method === 'Target.attachedToTarget' && sessionId === tab) {
      const { targetInfo } = params as { targetInfo: { type: string; subtype?: string } };
      const session = String(params?.sessionId);
      pages.push({ session, ahead: targetInfo.subtype === 'prerender' });
      void attach(session).catch(() => {});
    } else if (page && method === 'Network.requestWillBeSent') {
      const { request } = params as { request: { method: string; url: string } };
      requests.push({ method: request.method, url: request.url, ahead: page.ahead });
    } else if (method === 'Preload.prerenderStatusUpdated') {
      const { key, status } = params as { key: { url: string }; status: string };
      statuses.set(key.url, status);
    } else if (method === 'Target.detachedFromTarget' && sessionId === tab) {
      const at = pages.findIndex(({ session }) => session === params?.sessionId);
      if (at >= 0) pages.splice(at, 1);
      // The shown page has gone, and a prerendered one is shown in its place.
      const [first] = pages;
      if (pages.length === 1 && first) first.ahead = false;
    }
  });
  ({ sessionId: tab } = (await send('Target.attachToTarget', { targetId, flatten: true })) as { sessionId: string });
  await send('Target.setAutoAttach', { autoAttach: true, flatten: true, waitForDebuggerOnStart: false }, tab);
  await wait(
    () => 'the tab has a page',
    () => pages.length > 0,
  );
  const close = async (): Promise<void> => void (await send('Target.disposeBrowserContext', { browserContextId }));
  return tabOf(send, pages, requests, statuses, close);
}

function tabOf(
  send: Send,
  pages: readonly Attached[],
  requests: readonly Requested[],
  statuses: ReadonlyMap<string, string>,
  close: () => Promise<void>,
): Tab {
  const shown = (): string => (pages.find(({ ahead }) => !ahead) ?? pages[0])?.session ?? '';
  const evaluateIn = async <Value>(session: string, expression: string): Promise<Value> => {
    const parameters = { expression, returnByValue: true, awaitPromise: true };
    const { result, exceptionDetails } = await send('Runtime.evaluate', parameters, session);
    if (exceptionDetails) throw new Error(`${expression}: ${JSON.stringify(exceptionDetails)}`);
    return (result as { value: Value }).value;
  };
  let pointer = { x: 0, y: 0 };
  const mouse = (type: string, more: object = {}) =>
    send('Input.dispatchMouseEvent', { type, ...pointer, ...more }, shown());
  const tab: Tab = {
    requests,
    close,
    async goto(url) {
      await send('Page.navigate', { url }, shown());
      await tab.until(`location.href === ${JSON.stringify(url)} && document.readyState === 'complete'`);
    },
    evaluate: (expression) => evaluateIn(shown(), expression),
    async evaluateAhead(expression) {
      const page = pages.find(({ ahead }) => ahead);
      if (!page) throw new Error('No page is prerendered.');
      return evaluateIn(page.session, expression);
    },
    setCookies: async (cookies) => void (await send('Network.setCookies', { cookies }, shown())),
    async hover(selector) {
      const find = `document.querySelector(${JSON.stringify(selector)})`;
      const middle = `(() => {
        const link = ${find};
        link.scrollIntoView({ block: 'center', behavior: 'instant' });
        const { left, top, width, height } = link.getBoundingClientRect();
        return { x: left + Math.min(width / 2, 40), y: top + height / 2 };
      })()`;
      await tab.until(`${find} !== null`);
      pointer = await tab.evaluate(middle);
      await mouse('mouseMoved');
    },
    async click(pressMs = 0) {
      await mouse('mousePressed', { button: 'left', clickCount: 1 });
      if (pressMs > 0) await new Promise((done) => setTimeout(done, pressMs));
      await mouse('mouseReleased', { button: 'left', clickCount: 1 });
    },
    async scroll(pixels) {
      pointer = { x: 400, y: 400 };
      await mouse('mouseWheel', { deltaX: 0, deltaY: pixels });
    },
    until: (expression) =>
      // A page may disappear while it is asked.
      wait(
        () => expression,
        () => tab.evaluate<boolean>(`Boolean(${expression})`).catch(() => false),
      ),
    untilAhead: (expression) =>
      wait(
        () => expression,
        () => tab.evaluateAhead<boolean>(`Boolean(${expression})`).catch(() => false),
      ),
    prerendered(url) {
      let hoveredAt = Date.now();
      return wait(
        () => `${url} is prerendered; it is ${statuses.get(url)}`,
        async () => {
          const status = statuses.get(url);
          const isIdle = status === undefined || status === 'NotTriggered';
          if (isIdle && Date.now() - hoveredAt > hoverAgainMs) {
            await mouse('mouseMoved', { x: 0, y: 0 });
            await mouse('mouseMoved');
            hoveredAt = Date.now();
          }
          return status === 'Ready';
        },
      );
    },
  };
  return tab;
}

/** Helpers of the press's own tests: a small newspaper whose pages show numbered content. */
import { mkdtempSync, rmSync } from 'node:fs';
import { type IncomingHttpHeaders, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Encoding } from '../lib/http/negotiation.server.ts';
import { type Logger, silent } from '../lib/logging.ts';
import { encode } from './cache/compressor.server.ts';
import { openPress, type Press, type PressOptions } from './press.server.ts';
import type { Rendering } from './scheduler/render.server.ts';
import { openStore, type PageStore, type StoreOptions } from './store/page-store.server.ts';
import type { Bodies, StoredPage, Variant } from './store/stored-page.ts';

/** A folder that the returned function deletes. */
export function tempDir(): { dir: string; remove: () => void } {
  const dir = mkdtempSync(join(tmpdir(), 'press-'));
  return { dir, remove: () => rmSync(dir, { recursive: true, force: true }) };
}

/** A log that keeps its lines. */
export function keepLog(): { log: Logger; lines: { level: string; message: string; context: object }[] } {
  const lines: { level: string; message: string; context: object }[] = [];
  const keep = (level: string) => (context: object, message: string) => void lines.push({ level, message, context });
  return { lines, log: { debug: () => {}, info: keep('info'), warn: keep('warn'), error: keep('error') } };
}

export const html = (text: string): Rendering => ({
  status: 200,
  headers: { 'content-type': 'text/html; charset=utf-8' },
  body: Buffer.from(text),
  tags: [],
  storable: true,
});

export interface TestPress {
  readonly press: Press;
  readonly store: PageStore;
  close(): Promise<void>;
}

/** A press with a store of its own. */
export function press(
  dir: string,
  options: Partial<PressOptions> & Pick<PressOptions, 'render'>,
  storeOptions: Partial<StoreOptions> = {},
): TestPress {
  const store = openStore({
    file: join(dir, 'pages.sqlite'),
    build: 'one',
    log: options.log ?? silent,
    ...storeOptions,
  });
  const opened = openPress({
    store,
    memoryBytes: 8 * 1024 * 1024,
    log: silent,
    retry: { baseMs: 5, capMs: 40 },
    ...options,
  });
  return {
    press: opened,
    store,
    async close() {
      await opened.close();
      store.close();
    },
  };
}

/** The text of a page. */
export function textOf(press: Press, entry: Parameters<Press['encoded']>[0]): string {
  const ready = press.encoded(entry, ['identity']);
  if (!ready) throw new Error('The page was replaced while it was read.');
  return ready.body.toString();
}

/** The text of a page as a reader gets it; it is looked up again if its rendering was replaced. */
export async function readText(press: Press, key: string, variant: Variant = 'public'): Promise<string> {
  for (let attempt = 0; attempt < 5; attempt++) {
    const ready = press.encoded(await press.get(key, variant), ['identity']);
    if (ready) return ready.body.toString();
  }
  throw new Error('The page was replaced repeatedly.');
}

/** Waits for a condition; the limit only ends a wait for one that never comes. */
export async function until(condition: () => boolean, ms = 60_000): Promise<void> {
  const end = performance.now() + ms;
  while (!condition()) {
    if (performance.now() > end) throw new Error('The condition did not become true in time.');
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}

/** A promise with its handles. */
export const deferred = (): PromiseWithResolvers<void> => Promise.withResolvers<void>();

/** A made-up page, for tests of the store. */
export async function pageOf(
  key: string,
  text: string,
  tags: readonly string[] = [],
): Promise<{ page: StoredPage; bodies: Bodies; etags: Partial<Record<Encoding, string>> }> {
  const body = Buffer.from(text);
  const { bodies, etags } = encode(body, 'text/html');
  const page: StoredPage = {
    key,
    variant: 'public',
    version: 0,
    build: 'one',
    status: 200,
    headers: { 'content-type': 'text/html' },
    access: null,
    hash: text,
    size: body.byteLength,
    tags: [...tags].sort(),
    renderedAt: 1000,
    renderMs: 1.5,
    asOf: null,
    etags,
  };
  return { page, bodies, etags };
}

/** What a server has sent. */
export interface Answered {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** The bytes as received, perhaps compressed. */
  readonly body: Buffer;
}

/** Sends a request to a server of a test; unlike `fetch`, it decompresses nothing. */
export function askServer(
  server: Server,
  path: string,
  headers: Readonly<Record<string, string | string[]>>,
  method = 'GET',
): Promise<Answered> {
  return new Promise((resolve, reject) => {
    const { port } = server.address() as AddressInfo;
    const asking = request({ port, host: '127.0.0.1', path, method, headers: { ...headers } }, (answer) => {
      const chunks: Buffer[] = [];
      answer.on('data', (chunk: Buffer) => chunks.push(chunk));
      answer.on('end', () =>
        resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body: Buffer.concat(chunks) }),
      );
    });
    asking.on('error', reject);
    asking.end();
  });
}

/** The folder of the test that runs, and the presses in it. */
export let folder: ReturnType<typeof tempDir>;
export const opened: TestPress[] = [];

export function openFolder(): void {
  folder = tempDir();
  opened.length = 0;
}

export async function closeAll(): Promise<void> {
  for (const fixture of opened) await fixture.close();
  folder.remove();
}

/** A press in the test's folder, closed after the test. */
export function start(render: PressOptions['render'], options: Partial<PressOptions> = {}): TestPress {
  const fixture = press(folder.dir, { render, ...options });
  opened.push(fixture);
  return fixture;
}

/** Content by tag; a page shows the content of all its tags. */
export function paper(pages: Record<string, string[]>) {
  const content: Record<string, number> = {};
  const renders: string[] = [];
  let running = 0;
  let hold: Promise<void> | null = null;
  let broken: string | null = null;
  return {
    content,
    renders,
    hold: (promise: Promise<void> | null) => {
      hold = promise;
    },
    breakDown: (cause: string | null) => {
      broken = cause;
    },
    get running() {
      return running;
    },
    async render(key: string, variant: Variant): Promise<Rendering> {
      renders.push(variant === 'full' ? `${key} full` : key);
      running++;
      try {
        const tags = pages[key];
        const text = `${key} ${variant} ${(tags ?? []).map((tag) => `${tag}=${content[tag] ?? 0}`).join(' ')}`;
        await hold;
        if (broken) throw new Error(broken);
        if (!tags) return { ...html('not found'), status: 404 };
        return { ...html(text.padEnd(2000, '.')), tags };
      } finally {
        running--;
      }
    },
  };
}

/** The text of a page without its padding. */
export const read = async (fixture: TestPress, key: string, variant: Variant = 'public'): Promise<string> =>
  textOf(fixture.press, await fixture.press.get(key, variant)).replace(/\.*$/, '');

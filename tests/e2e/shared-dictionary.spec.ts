/**
 * The shared dictionary in a real browser: fetched while the browser is idle, and used for the next page (docs/decisions/0035).
 */
import { createHash } from 'node:crypto';
import { expect, type Page, test } from '@playwright/test';
import { isOfTest } from '../world/newsroom.ts';

interface OpenedDocument {
  readonly path: string;
  readonly encoding: string | undefined;
  /** Of the body, as sent. */
  readonly bytes: number;
  /** The HTML, decompressed by the browser. */
  html(): Promise<string>;
}

/** Opens pages, and reports what came over the wire. */
async function opener(page: Page): Promise<(path: string) => Promise<OpenedDocument | undefined>> {
  const session = await page.context().newCDPSession(page);
  await session.send('Network.enable');
  const documents: OpenedDocument[] = [];
  session.on('Network.responseReceived', ({ requestId, type, response }) => {
    if (type !== 'Document') return;
    const headers = new Map(Object.entries(response.headers).map(([name, value]) => [name.toLowerCase(), value]));
    documents.push({
      path: new URL(response.url).pathname,
      encoding: headers.get('content-encoding'),
      bytes: Number(headers.get('content-length')),
      html: async () => (await session.send('Network.getResponseBody', { requestId })).body,
    });
  });
  return async (path) => {
    await page.goto(path);
    return documents.findLast((document) => document.path === path);
  };
}

/** On a busy machine it takes seconds to open a page. */
const polling = { intervals: [500, 1000, 2000], timeout: 120_000 };

/** A story of the usual length, which no other test changes. */
const next = '/article/fire-lookouts-return-to-the-towers';

test('a second page arrives compressed with the shared dictionary and decodes to the same HTML', async ({
  page,
  request,
}) => {
  const open = await opener(page);
  const fetched = page.waitForResponse((response) => response.url().endsWith('.dict'));
  const front = await open('/');
  expect(front?.encoding).toBe('br');
  expect((await fetched).headers()['use-as-dictionary']).toBe('match="/*", match-dest=("document")');
  await (await fetched).finished();
  // On a busy machine the first reader may get a page before it is compressed with the dictionary, and the browser would keep that
  // response.
  const available = `:${createHash('sha256')
    .update(await (await request.get((await fetched).url())).body())
    .digest('base64')}:`;
  const headers = { 'accept-encoding': 'br, dcb, dcz', 'available-dictionary': available };
  const compressed = (path: string) =>
    expect.poll(async () => (await request.head(path, { headers })).headers()['content-encoding'], polling).toBe('dcb');

  // The browser stores the dictionary a moment later without reporting it, and keeps stories that it fetched before. So each attempt
  // opens another story.
  const html = (await front?.html()) ?? '';
  const stories = new Set([...html.matchAll(/href="(\/article\/[\w-]+)"/g)].map(([, path = '']) => path));
  stories.delete(next);
  const others = [...stories].filter((path) => !isOfTest(path)).values();
  const another = async () => {
    const path = others.next().value ?? '';
    await compressed(path);
    return (await open(path))?.encoding;
  };
  await expect.poll(another, polling).toBe('dcb');

  await compressed(next);
  const story = await open(next);
  expect(story?.encoding).toBe('dcb');
  const usual = await request.get(next, { headers: { 'accept-encoding': 'br' } });
  expect(usual.headers()['content-encoding']).toBe('br');
  expect(story?.bytes).toBeLessThanOrEqual(3000);
  expect(await story?.html()).toBe(await usual.text());
  await expect(page.locator('h1')).toBeVisible();
});

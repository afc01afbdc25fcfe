/** A picture that is deleted or replaced in WordPress disappears at once from every node, whichever node gets the webhook. */
import sharp from 'sharp';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Paper, startPaper, until } from '../fixtures/paper.ts';
import { type SharedPostgres, sharedPostgres } from '../world/shared-databases.ts';

const photo = (background: string): Promise<Buffer> =>
  sharp({ create: { width: 800, height: 450, channels: 3, background } })
    .jpeg()
    .toBuffer();

let cluster: SharedPostgres;
const papers: Paper[] = [];
/** The file at the picture's address in WordPress, and since when. */
let file: { readonly bytes: Buffer; readonly since: Date } | null = null;
let asked = 0;

beforeAll(async () => {
  cluster = await sharedPostgres();
  const env = {
    DATABASE_URL: await cluster.database('without tables'),
    ACCOUNTS_SECRET: 'a secret that both nodes have, long enough',
    CDN_HEADERS: 'on',
  };
  const newsroom = await startPaper(env);
  newsroom.wordpress.intercept = ({ url }) => {
    if (!url.includes('/wp-content/uploads/')) return null;
    asked++;
    if (!file) return new Response('', { status: 404 });
    return new Response(new Uint8Array(file.bytes), {
      headers: { 'content-type': 'image/jpeg', 'last-modified': file.since.toUTCString() },
    });
  };
  papers.push(newsroom, await startPaper({ ...env, WORDPRESS_URL: newsroom.wordpressUrl }));
});
afterAll(async () => {
  await Promise.all(papers.map((paper) => paper.close()));
  await cluster?.removeDatabases();
});

const first = (): Paper => papers[0] as Paper;
const second = (): Paper => papers[1] as Paper;
const address = (name: string) => `${first().wordpressUrl}/wp-content/uploads/${name}.jpg`;
const ask = (paper: Paper, name: string) =>
  paper.ask(`/image?url=${encodeURIComponent(address(name))}&width=640`, { headers: { accept: 'image/webp' } });
const tell = (paper: Paper, event: string, name: string) =>
  paper.deliver({ event, type: 'media', id: 900, slug: '', addresses: [address(name)] });

describe('a picture cached by both nodes', () => {
  beforeEach(async () => {
    file = { bytes: await photo('#c93'), since: new Date(Date.now() - 86_400_000) };
  });

  it.each([
    ['the node that syncs', first],
    ['the other node', second],
  ])('answers 404 on both after it is deleted and %s gets the webhook', async (_, hears) => {
    const name = `gone-${hears.name}`;
    for (const paper of papers) expect((await ask(paper, name)).status).toBe(200);
    file = null;
    for (const paper of papers) expect((await ask(paper, name)).status, 'before anyone has said so').toBe(200);
    expect((await tell(hears(), 'delete', name)).status).toBe(200);
    for (const paper of papers) await until(async () => (await ask(paper, name)).status === 404, paper.output);
  });

  it('is new on both after it is replaced and one gets the webhook', async () => {
    const before = await Promise.all(papers.map((paper) => ask(paper, 'replaced')));
    file = { bytes: await photo('#339'), since: new Date() };
    expect((await tell(second(), 'update', 'replaced')).status).toBe(200);
    for (const [index, paper] of papers.entries()) {
      const etag = before[index]?.headers.etag;
      await until(async () => (await ask(paper, 'replaced')).headers.etag !== etag, paper.output);
    }
  });

  it('is made again on neither when its file is unchanged, and has its own cache tag for the CDN', async () => {
    const made = () => Promise.all(papers.map((paper) => paper.metric('broadsheet_images_made_total')));
    const before = await Promise.all(papers.map((paper) => ask(paper, 'same')));
    for (const { headers } of before) expect(headers['cache-tag']).toMatch(/^picture:[\da-f]{64},pictures$/);
    const madeBefore = await made();
    asked = 0;
    expect((await tell(first(), 'update', 'same')).status).toBe(200);
    for (const [index, paper] of papers.entries()) {
      // Each node asks WordPress once whether the file has changed.
      await until(async () => {
        expect((await ask(paper, 'same')).headers.etag).toBe(before[index]?.headers.etag);
        return asked > index;
      }, paper.output);
      expect(asked).toBe(index + 1);
    }
    expect(await made()).toEqual(madeBefore);
  });
});

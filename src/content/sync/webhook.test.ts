import { createHash, createHmac } from 'node:crypto';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import {
  type FakeWordPress,
  fakeWordPress,
  type Json,
  restError,
  wireComment,
  wirePost,
  wireSection,
} from '../../../tests/fixtures/wordpress.ts';
import { silent } from '../../lib/logging.ts';
import { openContent } from '../content.server.ts';
import type { Content, ContentChange, WebhookAnswer } from '../service.ts';

const secret = 'a shared secret';
let wordpress: FakeWordPress;
let content: Content;
let changes: ContentChange[];
let now: number;
let deliveries = 0;

const hmac = (text: string): string => createHmac('sha256', secret).update(text).digest('hex');
const hook = (part: Json = {}): Json => ({
  event: 'update',
  type: 'articles',
  id: 7,
  slug: 'a-7',
  previous_slug: null,
  status: 'publish',
  modified: '2026-11-20T12:00:00Z',
  ...part,
});

/** Deliveries that were accepted as valid and new. */
let taken: number;
let errors: unknown[];
let logged: { message: string; context: Record<string, unknown> }[];

function deliver(body: Json | string, headers: Record<string, string> = {}): Promise<WebhookAnswer> {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const timestamp = headers['x-newsroom-timestamp'] ?? String(Math.floor(now / 1000));
  const delivery = headers['x-newsroom-delivery'] ?? `delivery-${++deliveries}`;
  return content.receive(
    {
      headers: {
        'x-newsroom-timestamp': timestamp,
        'x-newsroom-delivery': delivery,
        'x-newsroom-signature': `sha256=${hmac(`${timestamp}.${delivery}.${text}`)}`,
        ...headers,
      },
      rawBody: Buffer.from(text),
    },
    () => void taken++,
  );
}

beforeEach(async () => {
  wordpress = fakeWordPress();
  changes = [];
  taken = 0;
  logged = [];
  errors = [];
  now = Date.UTC(2026, 10, 21, 12);
  wordpress.put('categories', { id: 3, ...wireSection(3, 'politics', 1) });
  for (let id = 1; id <= 9; id++)
    wordpress.put('articles', { id, ...wirePost({ id, slug: `a-${id}`, category: [{ id: 3 }] }) });
  content = open();
  await content.syncNow();
  changes = [];
  wordpress.requests.length = 0;
});
afterEach(() => content.stop());

function open(): Content {
  const keep = (context: object, message: string): void =>
    void logged.push({ message, context: context as Record<string, unknown> });
  return openContent({
    file: ':memory:',
    wordpress: { url: wordpress.url, user: 'u', password: 'p' },
    siteUrl: 'https://sun.example',
    secret,
    frameHosts: [],
    measure: async () => null,
    log: { ...silent, warn: keep, error: (context) => void errors.push((context as { error?: string }).error) },
    pollSeconds: 3600,
    fetch: wordpress.fetch,
    now: () => now,
    threads: false,
    onChange: (change) => void changes.push(change),
  });
}

const edit = (id: number, part: Json): Json =>
  wordpress.put('articles', { ...wordpress.store.articles.get(id), id, ...part });

describe('a webhook', () => {
  it('refreshes only its document, with one request to WordPress', async () => {
    edit(7, { title: { rendered: 'Corrected' } });
    const answer = await deliver(hook());
    expect(answer).toMatchObject({ status: 200, body: { ok: true, refreshed: ['/article/a-7', '/'] } });
    expect(content.reader().article('a-7')?.title).toBe('Corrected');
    expect(wordpress.requests).toEqual(['/wp/v2/articles/7']);
  });

  it('invalidates deleted or replaced pictures without a request to WordPress', async () => {
    const file = `${wordpress.url}/wp-content/uploads/a%20b.jpg`;
    const media = { type: 'media', id: 900, event: 'delete', slug: '', status: 'trash' };
    const answer = await deliver(hook({ ...media, addresses: [`${file}?x=1#top`, file, 'nonsense'] }));
    expect(answer).toMatchObject({ status: 200, body: { ok: true } });
    const digest = createHash('sha256').update(file).digest('hex');
    expect(changes.map(({ tags }) => [...tags])).toEqual([[`picture:${digest}`]]);
    expect(wordpress.requests).toEqual([]);
    expect((await deliver(hook({ ...media, id: 0, event: 'update' }))).status).toBe(200);
    expect([...(changes[1]?.tags ?? [])]).toEqual(['pictures']);
    expect((await deliver(hook({ ...media, addresses: [7] }))).status).toBe(422);
  });

  it('starts a poll at once when too many documents changed to be named', async () => {
    content.start();
    await expect.poll(() => content.status().phase).toBe('following');
    const modified_gmt = new Date(Date.now() + 60_000).toISOString().slice(0, 19);
    edit(7, { title: { rendered: 'Imported' }, modified_gmt });
    expect((await deliver(hook({ event: 'test', type: 'site', id: 0, slug: '' }))).status).toBe(200);
    expect((await deliver(hook({ event: 'update', type: 'site', id: 0, slug: '' }))).status).toBe(200);
    await expect.poll(() => content.reader().article('a-7')?.title).toBe('Imported');
  });

  it('changes nothing and gets 401 when its signature is missing or wrong', async () => {
    edit(7, { title: { rendered: 'Corrected' } });
    const body = JSON.stringify(hook());
    const stamp = String(Math.floor(now / 1000));
    const id = { 'x-newsroom-delivery': 'delivery-x' };
    const by = (key: string, text: string) => createHmac('sha256', key).update(text).digest('hex');
    const bad: Record<string, string>[] = [
      { 'x-newsroom-signature': '' },
      { 'x-newsroom-signature': `sha256=${'0'.repeat(64)}` },
      { ...id, 'x-newsroom-signature': by(secret, `${stamp}.delivery-x.${body}`) },
      { ...id, 'x-newsroom-signature': `sha256=${by(secret, `${stamp}.delivery-x.${body} `)}` },
      { ...id, 'x-newsroom-signature': `sha256=${by('other', `${stamp}.delivery-x.${body}`)}` },
      { 'x-newsroom-timestamp': 'now' },
    ];
    for (const headers of bad) expect((await deliver(body, headers)).status).toBe(401);
    expect(wordpress.requests).toEqual([]);
    expect(changes).toEqual([]);
    expect(taken).toBe(0);
  });

  it('is refused when it is over 300 seconds early or late, malformed or a duplicate', async () => {
    expect(await deliver(hook(), { 'x-newsroom-timestamp': String(now / 1000 - 301) })).toMatchObject({
      status: 412,
      body: { reason: 'clock', ahead: -301, error: "WordPress's clock is 301 seconds behind the site's" },
    });
    expect(await deliver(hook(), { 'x-newsroom-timestamp': String(now / 1000 + 301) })).toMatchObject({
      status: 412,
      body: { reason: 'clock', ahead: 301 },
    });
    expect((await deliver('{"event":')).status).toBe(422);
    expect(await deliver(hook({ type: 'users' }))).toMatchObject({
      status: 422,
      body: { error: expect.stringContaining('type') },
    });
    expect((await deliver(hook(), { 'x-newsroom-delivery': 'x y' })).status).toBe(422);
    expect(wordpress.requests).toEqual([]);
    expect(taken).toBe(0);
    expect((await deliver(hook(), { 'x-newsroom-delivery': 'the-same-one' })).status).toBe(200);
    now += 120_000;
    expect(await deliver(hook(), { 'x-newsroom-delivery': 'the-same-one' })).toMatchObject({
      status: 409,
      body: { reason: 'duplicate' },
    });
    const twice = await Promise.all([1, 2].map(() => deliver(hook(), { 'x-newsroom-delivery': 'twice-at-once' })));
    expect(twice.map(({ status }) => status).sort()).toEqual([200, 409]);
    expect(taken).toBe(2);
  });

  it('is accepted late if another node found it recent, and then refused as a duplicate for 15 minutes', async () => {
    const timestamp = String(Math.floor(now / 1000));
    const body = JSON.stringify(hook());
    const handOver = (isRecent: boolean) =>
      content.receive(
        {
          headers: {
            'x-newsroom-timestamp': timestamp,
            'x-newsroom-delivery': 'handed-over',
            'x-newsroom-signature': `sha256=${hmac(`${timestamp}.handed-over.${body}`)}`,
          },
          rawBody: Buffer.from(body),
        },
        undefined,
        isRecent,
      );
    now += 400_000;
    expect((await handOver(false)).status).toBe(412);
    expect((await handOver(true)).status).toBe(200);
    now += 899_000;
    expect((await handOver(true)).status).toBe(409);
    // After that time, a repeated delivery is processed again, and remembered again.
    now += 1000;
    expect([(await handOver(true)).status, (await handOver(true)).status]).toEqual([200, 409]);
  });

  it('cannot be replayed under another delivery id', async () => {
    const timestamp = String(Math.floor(now / 1000));
    const body = JSON.stringify(hook());
    const seen = `sha256=${hmac(`${timestamp}.delivery-1.${body}`)}`;
    const send = (id: string) =>
      deliver(body, { 'x-newsroom-timestamp': timestamp, 'x-newsroom-delivery': id, 'x-newsroom-signature': seen });
    expect((await send('delivery-1')).status).toBe(200);
    const again = Array.from({ length: 20 }, (_, index) => `replayed-${index}`);
    for (const id of again) expect(await send(id)).toMatchObject({ status: 401, body: { reason: 'signature' } });
    // A delivery dated as far ahead as allowed is remembered as long as its signature is valid.
    const ahead = String(Number(timestamp) + 300);
    const dated = { 'x-newsroom-timestamp': ahead, 'x-newsroom-delivery': 'delivery-ahead' };
    expect((await deliver(body, dated)).status).toBe(200);
    now += 600_000;
    expect(await deliver(body, dated)).toMatchObject({ status: 409, body: { reason: 'duplicate' } });
    expect(taken).toBe(2);
  });

  it('signed by an older plugin gets 401 with advice to update the plugin', async () => {
    const timestamp = String(Math.floor(now / 1000));
    const old = { 'x-newsroom-signature': `sha256=${hmac(`${timestamp}.${JSON.stringify(hook())}`)}` };
    expect(await deliver(hook(), old)).toMatchObject({
      status: 401,
      body: { reason: 'outdated-plugin', error: expect.stringContaining('update the newsroom plugin') },
    });
  });

  it('that is refused is counted and logged, without its sender’s address or its signature', async () => {
    await deliver(hook(), { 'x-newsroom-signature': 'sha256=secret-guess', 'x-forwarded-for': '203.0.113.9' });
    for (let index = 0; index < 5; index++) await deliver(hook(), { 'x-newsroom-signature': 'sha256=guess' });
    await deliver(hook(), { 'x-newsroom-timestamp': String(now / 1000 - 3600) });
    await deliver('{"event":');
    expect(content.refused()).toMatchObject({ signature: 6, clock: 1, body: 1, duplicate: 0, 'outdated-plugin': 0 });
    const lines = () => logged.filter(({ message }) => message === 'content: webhook refused');
    expect(lines().map(({ context }) => [context.reason, context.status, context.refused])).toEqual([
      ['signature', 401, 1],
      ['clock', 412, 1],
      ['body', 422, 1],
    ]);
    now += 61_000;
    await deliver(hook(), { 'x-newsroom-signature': 'sha256=guess' });
    expect(lines().at(-1)?.context).toMatchObject({ reason: 'signature', refused: 6 });
    expect(JSON.stringify(logged)).not.toMatch(/203\.0\.113\.9|secret-guess/u);
  });

  it('may be delivered again after WordPress could not be read', async () => {
    wordpress.intercept = () => restError(503, 'maintenance');
    const answer = await deliver(hook(), { 'x-newsroom-delivery': 'again-please' });
    expect(answer).toMatchObject({ status: 503, headers: { 'Retry-After': expect.any(String) } });
    wordpress.intercept = null;
    expect((await deliver(hook(), { 'x-newsroom-delivery': 'again-please' })).status).toBe(200);
  });

  it('gets 503 when it cannot be stored, and may be delivered again', async () => {
    edit(7, { title: { rendered: 'Corrected' } });
    const exec = vi.spyOn(DatabaseSync.prototype, 'exec').mockImplementation(() => {
      throw Object.assign(new Error('database or disk is full'), { errcode: 13 });
    });
    onTestFinished(() => exec.mockRestore());
    const id = { 'x-newsroom-delivery': 'no-room-for-it' };
    expect(await deliver(hook(), id)).toMatchObject({ status: 503, body: { reason: 'storage' } });
    expect(content.refused()).toMatchObject({ storage: 1, wordpress: 0 });
    expect(errors).toEqual([expect.stringContaining("The disk can't be written (database or disk is full)")]);
    exec.mockRestore();
    expect((await deliver(hook(), id)).status).toBe(200);
    expect(content.reader().article('a-7')?.title).toBe('Corrected');
  });

  it('gets Retry-After 60 while WordPress is in maintenance mode, even if WordPress says 600', async () => {
    wordpress.intercept = () => new Response('Briefly unavailable', { status: 503, headers: { 'Retry-After': '600' } });
    expect(await deliver(hook())).toMatchObject({ status: 503, headers: { 'Retry-After': '60' } });
  });

  it('withdraws an unpublished or deleted article at once, and shows a republished one again', async () => {
    edit(7, { status: 'draft' });
    expect((await deliver(hook({ event: 'unpublish', status: 'draft' }))).status).toBe(200);
    expect(changes.at(-1)?.withdrawn).toEqual([{ type: 'articles', slug: 'a-7' }]);
    expect(content.reader().resolveSlug('articles', 'a-7')).toEqual({ kind: 'gone' });
    edit(7, { status: 'publish' });
    await deliver(hook({ event: 'publish' }));
    expect(content.reader().article('a-7')?.id).toBe(7);
    wordpress.remove('articles', 7);
    await deliver(hook({ event: 'delete', slug: 'a-7__trashed' }));
    expect(content.reader().resolveSlug('articles', 'a-7')).toEqual({ kind: 'gone' });
  });

  it('withdraws a deleted article that the new content store has not copied yet, since its page may be cached', async () => {
    await content.stop();
    content = open();
    wordpress.remove('articles', 7);
    expect((await deliver(hook({ event: 'delete' }))).status).toBe(200);
    expect(changes.map(({ withdrawnTags }) => withdrawnTags)).toEqual([['article:7']]);
    await content.syncNow();
    changes = [];
    wordpress.put('articles', { id: 99, ...wirePost({ id: 99 }) });
    wordpress.remove('articles', 99);
    await deliver(hook({ event: 'delete', id: 99 }));
    expect(changes).toEqual([]);
  });

  it('redirects a former slug that the content store never saw', async () => {
    wordpress.put('articles', { id: 70, ...wirePost({ id: 70, slug: 'now' }) });
    await deliver(hook({ event: 'slug', id: 70, slug: 'now', previous_slug: 'then' }));
    expect(content.reader().resolveSlug('articles', 'then')).toEqual({ kind: 'moved', slug: 'now' });
    // A "not found" page that was stored for the former address is removed.
    expect(changes.flatMap(({ tags }) => [...tags])).toContain('slug:articles:then');
  });

  it('ends with the latest version when 20 deliveries overlap', async () => {
    let version = 0;
    const rounds = Array.from({ length: 20 }, () => {
      edit(7, {
        title: { rendered: `Version ${++version}` },
        modified_gmt: `2026-11-21T12:00:${String(version).padStart(2, '0')}`,
      });
      return deliver(hook({ modified: 'whatever' }));
    });
    const answers = await Promise.all(rounds);
    expect(answers.every(({ status }) => status === 200)).toBe(true);
    expect(content.reader().article('a-7')?.title).toBe('Version 20');
  });

  it('updates sections, menus, authors and comments; a test webhook refreshes nothing', async () => {
    wordpress.put('categories', { id: 3, ...wireSection(3, 'politics', 1), name: 'Power' });
    wordpress.menus = [{ location: 'footer', items: [{ title: 'A', url: '/about' }] }];
    wordpress.put('comments', { id: 1, ...wireComment({ id: 1, post: 7 }) });
    wordpress.put('authors', { id: 9000, ...wirePost({ id: 9000, slug: 'ada', title: { rendered: 'Ada' } }) });
    await deliver(hook({ event: 'term', type: 'categories', id: 3 }));
    await deliver(hook({ event: 'menu', type: 'menus', id: 0 }));
    await deliver(hook({ event: 'comment', type: 'comments', id: 1 }));
    await deliver(hook({ event: 'author', type: 'authors', id: 9000 }));
    expect(await deliver(hook({ event: 'test', type: 'site', id: 0 }))).toMatchObject({
      status: 200,
      body: { refreshed: [] },
    });
    const reader = content.reader();
    expect([
      reader.section('politics')?.name,
      reader.menu('footer')[0]?.title,
      reader.comments(7, {}).total,
      reader.author('ada')?.name,
    ]).toEqual(['Power', 'A', 1, 'Ada']);
    wordpress.put('comments', { id: 1, ...wireComment({ id: 1, post: 7, status: 'spam' }) });
    await deliver(hook({ event: 'comment', type: 'comments', id: 1 }));
    expect(content.reader().comments(7, {}).total).toBe(0);
  });
});

describe('a preview', () => {
  const link = (part: Record<string, string> = {}): URLSearchParams => {
    const expires = String(Math.floor(now / 1000) + 600);
    const params = { type: 'articles', id: '7', expires, ...part };
    return new URLSearchParams({
      ...params,
      signature: part.signature ?? hmac(`preview.${params.type}.${params.id}.${params.expires}`),
    });
  };

  it('shows the draft as it would look, and stores nothing', async () => {
    edit(7, {
      status: 'draft',
      slug: '',
      date_gmt: null,
      title: { rendered: 'Draft' },
      content: { rendered: '<p>New<script>x</script></p>' },
    });
    const { status, document } = await content.preview(link());
    expect(status).toBe(200);
    expect(document).toMatchObject({
      type: 'articles',
      article: { title: 'Draft', bodyHtml: '<p>New</p>', section: { slug: 'politics' } },
    });
    expect(content.reader().article('a-7')?.title).toBe('Headline 7');
    expect(changes).toEqual([]);
  });

  it('shows the newest autosave', async () => {
    wordpress.intercept = (request) =>
      request.url.endsWith('/articles/7/autosaves')
        ? Response.json([
            { modified_gmt: '2026-11-20T13:00:00', title: { rendered: 'Older' } },
            {
              modified_gmt: '2026-11-20T14:00:00',
              title: { rendered: 'Newest' },
              content: { rendered: '<p>Saved</p>' },
              meta: {
                newsroom_corrections: [
                  { kind: 'clarification', text: 'Not saved yet.' },
                  { kind: 'correction', date: '2026-11-20T13:30:00Z', text: 'It <b>was</b>.' },
                ],
              },
            },
          ])
        : null;
    expect((await content.preview(link())).document).toMatchObject({
      article: {
        title: 'Newest',
        bodyHtml: '<p>Saved</p>',
        corrections: [
          { kind: 'clarification', date: expect.stringMatching(/^\d{4}-/), html: 'Not saved yet.' },
          { kind: 'correction', date: '2026-11-20T13:30:00Z', html: 'It was.' },
        ],
      },
    });
  });

  it('shows the byline of the autosave, with author names from the content store', async () => {
    for (const [id, name] of [
      [9001, 'Ada'],
      [9002, 'Ben'],
    ] as const) {
      wordpress.put('authors', { id, ...wirePost({ id, slug: name.toLowerCase(), title: { rendered: name } }) });
      await content.refresh('authors', id);
    }
    let meta: Json = {};
    wordpress.intercept = (request) =>
      request.url.endsWith('/articles/7/autosaves')
        ? Response.json([{ modified_gmt: '2026-11-20T14:00:00', meta }])
        : null;
    const shown = async () => {
      const { document } = await content.preview(link());
      return document?.type === 'articles' ? document.article.byline : null;
    };
    meta = {
      newsroom_authors: [9002, 9001, 9009],
      newsroom_contributors: [],
      newsroom_agency: 'AP',
      newsroom_agency_url: '',
    };
    expect(await shown()).toMatchObject({
      authors: [{ name: 'Ben' }, { name: 'Ada' }],
      agency: { name: 'AP', url: '' },
    });
    meta = { newsroom_authors: [], newsroom_author: 9001, newsroom_contributors: [9002], newsroom_agency: '' };
    expect(await shown()).toMatchObject({ authors: [{ name: 'Ada' }], contributors: [{ name: 'Ben' }], agency: null });
    meta = { newsroom_authors: [], newsroom_author: 0, newsroom_contributors: [], newsroom_agency: '' };
    const before = wordpress.store.articles.get(7) as Json & { id: number };
    const own = { byline: { authors: [9001], contributors: [], agency: null }, acf: { author: 9001 } };
    wordpress.put('articles', { ...before, ...own });
    // Another plugin manages the byline: the article's own lists were empty before, too.
    expect(await shown()).toMatchObject({ authors: [{ name: 'Ada' }] });
    wordpress.put('articles', { ...before, ...own, meta: { newsroom_authors: [9001] } });
    expect(await shown()).toMatchObject({ authors: [], contributors: [] });
  });

  it('requires a valid signature, and is refused when its link has expired or expires too late', async () => {
    expect((await content.preview(link({ signature: '0'.repeat(64) }))).status).toBe(401);
    expect((await content.preview(link({ expires: String(Math.floor(now / 1000) - 1) }))).status).toBe(410);
    expect((await content.preview(link({ expires: String(Math.floor(now / 1000) + 86_400) }))).status).toBe(410);
    expect((await content.preview(link({ type: 'users' }))).status).toBe(400);
    expect((await content.preview(new URLSearchParams())).status).toBe(400);
    expect(wordpress.requests).toEqual([]);
    expect((await content.preview(link({ id: '99999' }))).status).toBe(404);
  });
});

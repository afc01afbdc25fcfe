import { createHash, createHmac } from 'node:crypto';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { type Json, restError, wireComment, wirePost, wireSection } from '../../../tests/fixtures/wordpress.ts';
import {
  changes,
  clock,
  content,
  edit,
  errors,
  hmac,
  logged,
  open,
  openWithStories,
  pictures,
  secret,
  wordpress,
} from '../../../tests/world/webhooks.ts';
import type { WebhookAnswer } from '../service.ts';

let deliveries = 0;
/** Deliveries that were accepted as valid and new. */
let taken: number;

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

function deliver(body: Json | string, headers: Record<string, string> = {}): Promise<WebhookAnswer> {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const timestamp = headers['x-newsroom-timestamp'] ?? String(Math.floor(clock.now / 1000));
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
  taken = 0;
  await openWithStories();
});
afterEach(() => content.stop());

describe('a webhook', () => {
  it('refreshes only its document, with one request to WordPress', async () => {
    edit(7, { title: { rendered: 'Corrected' } });
    const answer = await deliver(hook());
    expect(answer).toMatchObject({ status: 200, body: { ok: true, refreshed: ['/article/a-7', '/'] } });
    expect(content.reader().article('a-7')?.title).toBe('Corrected');
    expect(wordpress.requests).toEqual(['/wp/v2/articles/7']);
  });

  it.each([
    ['about', true, ['/about']],
    ['top-stories-2', true, ['/']],
    ['our-cafeteria', false, []],
  ])('about the page "%s" says whether the site shows it', async (slug, shown, refreshed) => {
    wordpress.put('pages', { id: 600, ...wirePost({ id: 600, slug, acf: {} }) });
    const answer = await deliver(hook({ event: 'publish', type: 'pages', id: 600, slug }));
    expect(answer).toMatchObject({ status: 200, body: { ok: true, shown, refreshed } });
  });

  it('about a document that the site can’t read names the field, until it is corrected', async () => {
    const article = { id: 7, ...wirePost({ id: 7, slug: 'a-story', acf: {} }) };
    wordpress.put('articles', { ...article, slug: 5 });
    const invalid = { field: 'slug', problem: 'expected a text' };
    expect(await deliver(hook({ type: 'articles', id: 7 }))).toMatchObject({
      status: 200,
      body: { ok: true, invalid },
    });
    wordpress.put('articles', article);
    expect((await deliver(hook({ type: 'articles', id: 7 }))).body).not.toHaveProperty('invalid');
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

  it('makes a story that shows a replaced picture get its new size', async () => {
    const file = `${wordpress.url}/wp-content/uploads/a.jpg`;
    const save = async (text: string) => {
      edit(7, { content: { rendered: `<p>${text}</p><img src="${file}?ver=2" alt="">`, protected: false } });
      await deliver(hook());
      return /width="(\d+)"/.exec(content.reader().article('a-7')?.bodyHtml ?? '')?.[1];
    };
    pictures.set(`${file}?ver=2`, { width: 640, height: 480 });
    expect(await save('One.')).toBe('640');
    pictures.set(`${file}?ver=2`, { width: 800, height: 600 });
    expect(await save('Two.')).toBe('640');
    await deliver(hook({ type: 'media', id: 900, event: 'update', slug: '', addresses: [file] }));
    expect(await save('Three.')).toBe('800');
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
    const stamp = String(Math.floor(clock.now / 1000));
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
    expect(await deliver(hook(), { 'x-newsroom-timestamp': String(clock.now / 1000 - 301) })).toMatchObject({
      status: 412,
      body: { reason: 'clock', ahead: -301, error: "WordPress's clock is 301 seconds behind the site's" },
    });
    expect(await deliver(hook(), { 'x-newsroom-timestamp': String(clock.now / 1000 + 301) })).toMatchObject({
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
    clock.now += 120_000;
    expect(await deliver(hook(), { 'x-newsroom-delivery': 'the-same-one' })).toMatchObject({
      status: 409,
      body: { reason: 'duplicate' },
    });
    const twice = await Promise.all([1, 2].map(() => deliver(hook(), { 'x-newsroom-delivery': 'twice-at-once' })));
    expect(twice.map(({ status }) => status).sort()).toEqual([200, 409]);
    expect(taken).toBe(2);
  });

  it('is accepted late if another node found it recent, and then refused as a duplicate for 15 minutes', async () => {
    const timestamp = String(Math.floor(clock.now / 1000));
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
    clock.now += 400_000;
    expect((await handOver(false)).status).toBe(412);
    expect((await handOver(true)).status).toBe(200);
    clock.now += 899_000;
    expect((await handOver(true)).status).toBe(409);
    // After that time, a repeated delivery is processed again, and remembered again.
    clock.now += 1000;
    expect([(await handOver(true)).status, (await handOver(true)).status]).toEqual([200, 409]);
  });

  it('cannot be replayed under another delivery id', async () => {
    const timestamp = String(Math.floor(clock.now / 1000));
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
    clock.now += 600_000;
    expect(await deliver(body, dated)).toMatchObject({ status: 409, body: { reason: 'duplicate' } });
    expect(taken).toBe(2);
  });

  it('signed by an older plugin gets 401 with advice to update the plugin', async () => {
    const timestamp = String(Math.floor(clock.now / 1000));
    const old = { 'x-newsroom-signature': `sha256=${hmac(`${timestamp}.${JSON.stringify(hook())}`)}` };
    expect(await deliver(hook(), old)).toMatchObject({
      status: 401,
      body: { reason: 'outdated-plugin', error: expect.stringContaining('update the newsroom plugin') },
    });
  });

  it('that is refused is counted and logged, without its sender’s address or its signature', async () => {
    await deliver(hook(), { 'x-newsroom-signature': 'sha256=secret-guess', 'x-forwarded-for': '203.0.113.9' });
    for (let index = 0; index < 5; index++) await deliver(hook(), { 'x-newsroom-signature': 'sha256=guess' });
    await deliver(hook(), { 'x-newsroom-timestamp': String(clock.now / 1000 - 3600) });
    await deliver('{"event":');
    expect(content.refused()).toMatchObject({ signature: 6, clock: 1, body: 1, duplicate: 0, 'outdated-plugin': 0 });
    const lines = () => logged.filter(({ message }) => message === 'content: webhook refused');
    expect(lines().map(({ context }) => [context.reason, context.status, context.refused])).toEqual([
      ['signature', 401, 1],
      ['clock', 412, 1],
      ['body', 422, 1],
    ]);
    clock.now += 61_000;
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
    open();
    wordpress.remove('articles', 7);
    expect((await deliver(hook({ event: 'delete' }))).status).toBe(200);
    expect(changes.map(({ withdrawnTags }) => withdrawnTags)).toEqual([['article:7']]);
    await content.syncNow();
    changes.length = 0;
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

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { restError, wireComment, wirePost } from '../../../tests/fixtures/wordpress.ts';
import {
  clock,
  content,
  date,
  fillWordPress,
  logged,
  put,
  start,
  total,
  wordpress,
} from '../../../tests/world/sync.ts';
import { silent } from '../../lib/logging.ts';

/** A content store that has copied 70 stories, with the cursor of a version without keys. */
async function olderCopy(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'sync-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, 'content.sqlite');
  const key = encodeURIComponent(date(61));
  wordpress.intercept = ({ url }) => (url.includes(`after_key=${key}`) ? restError(403, 'closed') : null);
  start({ file });
  await content.syncNow();
  await content.stop();
  wordpress.intercept = null;
  const db = new DatabaseSync(file);
  db.exec("UPDATE cursors SET value = json_remove(value, '$.key')");
  db.close();
  return file;
}

beforeEach(fillWordPress);
afterEach(() => content.stop());

describe('the first copy of WordPress’s content', () => {
  it('opens no edition that lacks types because the site was stopped', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'sync-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    let stopped: Promise<void> | undefined;
    start({
      file: join(folder, 'content.sqlite'),
      onChange: () => {
        stopped ??= content.stop();
      },
    });
    content.start();
    await vi.waitFor(() => expect(stopped).toBeDefined());
    await stopped;
    start({ file: join(folder, 'content.sqlite') });
    expect(content.reader().edition().ready).toBe(false);
  });

  it('brings everything, newest first, and reports when the edition is ready', async () => {
    wordpress.put('video', { id: 700, ...wirePost({ id: 700 }) });
    wordpress.put('pages', { id: 600, ...wirePost({ id: 600, slug: 'about' }) });
    wordpress.put('pages', {
      id: 601,
      ...wirePost({ id: 601, slug: 'top-stories-2', acf: { top_articles: [2, 130] } }),
    });
    wordpress.put('comments', { id: 1, ...wireComment({ id: 1, post: 130 }) });
    let atReady = -1;
    start({
      onChange: ({ tags: changed }) => {
        if (changed.has('site')) atReady = total();
      },
    });
    expect(content.reader().edition().ready).toBe(false);
    const report = await content.syncNow();
    expect(report).toMatchObject({ ok: true, rejected: 0, problem: null });
    expect(total()).toBe(130);
    // Ready after the first page of articles and the front page's stories, before everything is copied.
    expect(atReady).toBe(21);
    const reader = content.reader();
    expect(reader.topStories().ids).toEqual([2, 130]);
    expect(reader.page('top-stories-2')).toBeNull();
    expect([reader.page('about')?.id, reader.videos({}).total, reader.comments(130, {}).total]).toEqual([600, 1, 1]);
    expect(content.status()).toMatchObject({
      ready: true,
      phase: 'following',
      rejected: 0,
      progress: { articles: { done: 130, total: 130, complete: true } },
    });
  });

  it('sets aside an invalid document and retries it when it changes', async () => {
    put(50, { access: 'gold' });
    start();
    expect(await content.syncNow()).toMatchObject({ ok: true, rejected: 1 });
    expect(total()).toBe(129);
    expect(logged[0]).toEqual({
      message: 'content: document rejected as invalid',
      context: {
        url: `${wordpress.url}/wp-json/wp/v2/articles/50`,
        field: 'access',
        value: '"gold"',
        problem: 'expected access: default, free, registered or subscriber',
      },
    });
    expect(await content.syncNow()).toMatchObject({ rejected: 0 });
    put(50, { access: 'free', modified_gmt: '2026-11-21T11:00:00' });
    expect(await content.syncNow()).toMatchObject({ stored: 1, rejected: 0 });
    expect(content.status().rejected).toBe(0);
  });

  it('sets aside a story with a body over 2,000,000 characters', async () => {
    put(50, { content: { rendered: 'x'.repeat(2_000_001) } });
    start();
    expect(await content.syncNow()).toMatchObject({ ok: true, rejected: 1 });
    expect(logged[0]?.context.problem).toBe('the body has 2000001 characters, 2000000 is the limit');
    expect(total()).toBe(129);
  });

  it('retries an invalid document after an hour, even with an unchanged modification date', async () => {
    put(50, { access: 'gold' });
    start();
    await content.syncNow();
    wordpress.store.articles.set(50, { ...wordpress.store.articles.get(50), access: 'free' });
    await content.syncNow();
    expect(total()).toBe(129);
    clock.now += 3_700_000;
    await content.syncNow();
    expect(total()).toBe(130);
  });

  /** Requests for pages of whole articles. */
  const pages = (): URLSearchParams[] =>
    wordpress.requests
      .filter((path) => path.startsWith('/wp/v2/articles?') && !/_fields|include/u.test(path))
      .map((path) => new URL(path, wordpress.url).searchParams);

  it('skips and repeats no story when stories are published and withdrawn between two pages', async () => {
    for (const id of [60, 61, 62]) put(id, { date_gmt: date(60), modified_gmt: date(60) });
    let done = false;
    wordpress.intercept = ({ url }) => {
      if (!done && /articles\?.*after_key/u.test(url)) {
        done = true;
        for (let id = 111; id <= 130; id++) wordpress.remove('articles', id);
        for (let id = 131; id <= 135; id++) put(id);
      }
      return null;
    };
    start();
    expect(await content.syncNow()).toMatchObject({ ok: true, stored: 135, withdrawn: 20 });
    const stories = content.reader().articles({ limit: 200 }).items;
    expect(stories.map(({ id }) => id).toSorted((a, b) => a - b)).toEqual([
      ...Array.from({ length: 110 }, (_, at) => 1 + at),
      ...[131, 132, 133, 134, 135],
    ]);
    // 20 stories, then 50, 50 and the last 10.
    expect(pages().map((query) => query.has('after_key'))).toEqual([false, true, true, true]);
    expect(new Set(pages().map((query) => query.get('after_key'))).size).toBe(4);
  });

  it('resumes at its key after WordPress was down, even if stories were withdrawn in between', async () => {
    wordpress.intercept = ({ url }) => (url.includes(`after_key=${encodeURIComponent(date(61))}`) ? failing() : null);
    const failing = (): Response => new Response('down', { status: 503, headers: { 'Retry-After': '60' } });
    start();
    expect(await content.syncNow()).toMatchObject({ ok: false });
    expect(total()).toBe(70);
    wordpress.intercept = null;
    wordpress.requests.length = 0;
    for (let id = 90; id <= 130; id++) wordpress.remove('articles', id);
    expect(await content.syncNow()).toMatchObject({ ok: true, withdrawn: 41 });
    expect(pages().map((query) => query.get('after_key'))).toEqual([`${date(61)},61`, `${date(11)},11`]);
    expect(total()).toBe(89);
    expect(content.status().progress.articles).toEqual({ done: 130, total: 130, complete: true });
  });

  it('resumes by offset from a cursor of an older version, then continues by key', async () => {
    const old = await olderCopy();
    wordpress.requests.length = 0;
    start({ file: old });
    expect(await content.syncNow()).toMatchObject({ ok: true, stored: 60 });
    expect(pages().map((query) => [query.get('offset'), query.get('after_key')])).toEqual([
      ['70', null],
      [null, `${date(11)},11`],
    ]);
    expect(total()).toBe(130);
  });

  it('pages by offset with one extra request when the plugin knows no keys, and logs that it needs an update', async () => {
    wordpress.pagesByKey = false;
    start();
    expect(await content.syncNow()).toMatchObject({ ok: true, stored: 130 });
    expect(pages().map((query) => query.get('offset'))).toEqual(['0', null, '20', '70', '120']);
    expect(logged.map(({ message }) => message)).toEqual([expect.stringContaining('update the newsroom plugin')]);
  });

  it('skips a single document that makes WordPress fail', async () => {
    wordpress.intercept = (request) => {
      const url = new URL(request.url);
      if (!url.pathname.endsWith('/articles') || url.searchParams.has('_fields'))
        return url.pathname.endsWith('/articles/70') ? restError(500, 'broken') : null;
      const include = url.searchParams.get('include')?.split(',') ?? [];
      const size = Number(url.searchParams.get('per_page'));
      const key = url.searchParams.get('after_key');
      const offset = key ? 131 - Number(key.split(',')[1]) : Number(url.searchParams.get('offset'));
      const holds = include.length > 0 ? include.includes('70') : offset <= 60 && 60 < offset + size;
      return holds ? restError(500, 'broken') : null;
    };
    start();
    const report = await content.syncNow();
    expect(report.ok).toBe(true);
    expect(total()).toBe(129);
    expect(content.status().rejected).toBe(1);
    expect(content.reader().article('a-70')).toBeNull();
  });
});

describe('the sync when WordPress fails', () => {
  it('keeps every story when WordPress returns errors, HTML or empty lists', async () => {
    start();
    await content.syncNow();
    for (const answer of [
      () => restError(401, 'incorrect_password'),
      () => restError(404, 'rest_no_route'),
      () => new Response('<html>Down</html>', { status: 404, headers: { 'Content-Type': 'text/html' } }),
      () => restError(403, 'rest_disabled'),
    ]) {
      wordpress.intercept = (request) => (request.url.includes('/articles') ? answer() : null);
      expect((await content.syncNow()).ok).toBe(false);
      expect(total()).toBe(130);
    }
    // Lists that come back empty, with every document still there.
    wordpress.intercept = (request) =>
      /\/articles\?/u.test(request.url) && !request.url.includes('include=')
        ? Response.json([], { headers: { 'X-WP-Total': '0' } })
        : null;
    await content.syncNow();
    expect(total()).toBe(130);
  });

  it('deletes no section and ends no copy when WordPress’s answer has no body', async () => {
    const hollow = (path: string) => {
      const answer = () => new Response(null, { headers: { 'Content-Type': 'application/json' } });
      wordpress.intercept = ({ url }) => (url.includes(path) ? answer() : null);
    };
    start();
    hollow('/articles?');
    expect(await content.syncNow()).toMatchObject({ ok: false, problem: expect.stringContaining('empty body') });
    expect(content.status().progress.articles).toMatchObject({ complete: false });
    wordpress.intercept = null;
    await content.syncNow();
    expect(total()).toBe(130);
    hollow('/categories?');
    expect(await content.syncNow()).toMatchObject({ ok: false });
    expect(content.reader().section('politics')?.id).toBe(3);
  });

  it('stops reading a caption file that is over 100 kB', async () => {
    let sent = 0;
    const chunk = Buffer.alloc(20_000, 'WEBVTT ');
    wordpress.intercept = ({ url }) => {
      if (!url.endsWith('/film.vtt')) return null;
      const pull = (body: ReadableStreamDefaultController): void => {
        if (sent++ < 100) body.enqueue(chunk);
        else body.close();
      };
      return new Response(new ReadableStream({ pull }));
    };
    const uploads = `${wordpress.url}/wp-content/uploads`;
    put(131, {
      content: {
        rendered: `<video src="${uploads}/film.mp4"><track src="${uploads}/film.vtt"></video>`,
        protected: false,
      },
    });
    start();
    await content.syncNow();
    expect(content.reader().article('a-131')?.bodyHtml).toContain('film.mp4');
    expect(sent).toBeGreaterThan(0);
    expect(sent).toBeLessThan(10);
    expect(logged[0]?.message).toMatch(/^content: captions omitted: not WebVTT, or more than 100 kB/u);
  });

  it('reports which plugin to install when it is missing', async () => {
    wordpress.intercept = () => restError(404, 'rest_no_route');
    start();
    expect((await content.syncNow()).problem).toContain('install and activate wordpress/newsroom');
  });

  it('recovers by itself when WordPress is down at the first start', async () => {
    let down = true;
    wordpress.intercept = () => (down ? Promise.reject(new TypeError('fetch failed')) : null);
    let ready: () => void = () => {};
    const becameReady = new Promise<void>((resolve) => {
      ready = resolve;
    });
    const failed = new Promise<void>((resolve) => {
      start({
        onChange: ({ tags: changed }) => {
          if (changed.has('site')) ready();
        },
        log: { ...silent, error: () => resolve() },
        now: Date.now,
      });
    });
    content.start();
    await failed;
    expect(content.status()).toMatchObject({ ready: false, phase: 'waiting' });
    expect(content.status().problem).toContain('no answer');
    down = false;
    await becameReady;
    expect(content.status().ready).toBe(true);
  });

  it('reports no problem any more once another process syncs', async () => {
    let leads = true;
    wordpress.intercept = () => restError(503, 'busy');
    start({ leads: () => leads });
    content.start();
    await vi.waitFor(() => expect(content.status().problem).not.toBeNull());
    leads = false;
    await vi.waitFor(() => expect(content.status()).toMatchObject({ phase: 'following', problem: null }), 5000);
  });

  it.each(['600', '99999999'])(
    'asks WordPress again after about a minute, even if it says to wait %s seconds',
    async (seconds) => {
      vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
      onTestFinished(() => void vi.useRealTimers());
      const answer = { status: 503, headers: { 'Retry-After': seconds } };
      wordpress.intercept = () => new Response('Briefly unavailable for scheduled maintenance.', answer);
      start();
      content.start();
      const failed = (): void => expect(content.status().phase).toBe('waiting');
      await vi.waitFor(failed);
      const asked = wordpress.requests.length;
      await vi.advanceTimersByTimeAsync(50_000);
      expect(wordpress.requests).toHaveLength(asked);
      wordpress.intercept = null;
      await vi.advanceTimersByTimeAsync(11_000);
      await vi.waitFor(() => expect(content.status().ready).toBe(true));
    },
  );

  it('fetches truncated stories again once WordPress accepts the credentials', async () => {
    put(7, { restricted: true, access: 'subscriber', content: { rendered: '<p>Opening.</p>' } });
    wordpress.status = { ...wordpress.status, credentials: false };
    start();
    await content.syncNow();
    expect(logged.some(({ message }) => message.includes('does not accept the credentials'))).toBe(true);
    put(7, { restricted: false, access: 'subscriber', content: { rendered: '<p>The whole.</p>' } });
    wordpress.status = { ...wordpress.status, credentials: true };
    await content.syncNow();
    expect(content.reader().article('a-7')?.bodyHtml).toBe('<p>The whole.</p>');
  });

  it('fetches truncated stories again in the next round if WordPress failed in between', async () => {
    put(7, { restricted: true, access: 'subscriber', content: { rendered: '<p>Opening.</p>' } });
    wordpress.status = { ...wordpress.status, credentials: false };
    start();
    await content.syncNow();
    put(7, { restricted: false, access: 'subscriber', content: { rendered: '<p>The whole.</p>' } });
    wordpress.status = { ...wordpress.status, credentials: true };
    wordpress.intercept = ({ url }) => (url.includes('include=7') ? restError(403, 'closed') : null);
    expect(await content.syncNow()).toMatchObject({ ok: false });
    wordpress.intercept = null;
    await content.syncNow();
    expect(content.reader().article('a-7')?.bodyHtml).toBe('<p>The whole.</p>');
  });
});

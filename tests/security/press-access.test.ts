/** Stored pages show paid text only to a valid access cookie, and change only for a valid webhook. */
import { createHmac, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createAccessCookie } from '../../src/press/delivery/access-cookie.ts';
import type { Json } from '../fixtures/wordpress.ts';
import { type Answer, ask, key, room, secret, startSite, stopSite, wordpress } from '../world/printing-site.ts';

beforeAll(() => startSite());
afterAll(stopSite);

let minute = 0;
function edited(id: number, title?: string): Json & { id: number } {
  const at = new Date(Date.parse('2026-11-20T13:00:00Z') + ++minute * 60_000).toISOString().slice(0, 19);
  const before = wordpress.store.articles.get(id) as Json & { id: number };
  return { ...before, modified: at, modified_gmt: at, ...(title && { title: { rendered: title } }) };
}

function deliver(
  hook: Json,
  change: { timestamp?: number; delivery?: string; secret?: string; signed?: string; signature?: string } = {},
): Promise<Answer> {
  const body = JSON.stringify({
    event: 'update',
    type: 'articles',
    previous_slug: null,
    status: 'publish',
    modified: '2026-11-20T12:00:00Z',
    ...hook,
  });
  const timestamp = String(change.timestamp ?? Math.floor(Date.now() / 1000));
  const delivery = change.delivery ?? randomUUID();
  const hmac = createHmac('sha256', change.secret ?? secret).update(
    `${timestamp}.${delivery}.${change.signed ?? body}`,
  );
  const headers = {
    'content-type': 'application/json',
    'x-newsroom-timestamp': timestamp,
    'x-newsroom-delivery': delivery,
    'x-newsroom-signature': change.signature ?? `sha256=${hmac.digest('hex')}`,
  };
  return ask('/api/v1/revalidate', headers, 'POST', body);
}

describe('the paywall', () => {
  const soon = (): number => Math.floor(Date.now() / 1000) + 600;
  const cookies = createAccessCookie({ name: 'access', keys: [key] });
  const good = cookies.sign('subscriber', soon());
  const otherKey = createAccessCookie({
    name: 'access',
    keys: [{ id: 'k1', secret: 'another-secret-of-32-characters-long' }],
  });
  const unknownId = createAccessCookie({ name: 'access', keys: [{ ...key, id: 'k2' }] });
  const flip = (text: string, at: number): string =>
    `${text.slice(0, at)}${text[at] === 'A' ? 'B' : 'A'}${text.slice(at + 1)}`;

  it('gives the full article only to a valid access cookie, with no-store for CDNs', async () => {
    const full = await ask('/article/story-5', { cookie: `a=b; access=${good}; c=d` });
    expect(full.text).toContain('ENDING-5');
    expect(full.headers['cache-control']).toBe('private, max-age=0, must-revalidate');
    expect(full.headers['cdn-cache-control']).toBe('no-store');
    expect(full.headers['cache-tag']).toBeUndefined();
    const open = await ask('/article/story-5');
    expect(open.text).toContain('Opening.');
    expect(open.text).not.toContain('ENDING-5');
    expect(open.headers['cdn-cache-control']).toContain('max-age=');
    expect(open.headers['cache-tag']).toContain('article:5');
  });

  it.each<[string, string]>([
    ['no cookie', ''],
    ['an empty cookie', 'access='],
    ['signed with another secret', `access=${otherKey.sign('subscriber', soon())}`],
    ['signed with an unknown key ID', `access=${unknownId.sign('subscriber', soon())}`],
    ['expired', `access=${cookies.sign('subscriber', Math.floor(Date.now() / 1000) - 1)}`],
    ['for registered readers only', `access=${cookies.sign('registered', soon())}`],
    ['without its signature', `access=${good.slice(0, good.lastIndexOf('.'))}`],
    ['with an empty signature', `access=${good.slice(0, good.lastIndexOf('.') + 1)}`],
    ['with a changed last character', `access=${flip(good, good.length - 1)}`],
    ['with a changed expiry time', `access=${good.replace(/\.\d+\./, '.99999999999.')}`],
    [
      'for registered readers, changed to subscribers',
      `access=${cookies.sign('registered', soon()).replace('registered', 'subscriber')}`,
    ],
    ['under another name', `xaccess=${good}`],
    ['with a capital letter in its name', `Access=${good}`],
    ['in quotation marks', `access="${good}"`],
    ['percent-encoded', `access=${encodeURIComponent(good).replace('.', '%2e')}`],
    ['only the word “subscriber”', 'access=subscriber'],
    ['8,000 characters long', `access=${'v1.k1.'.padEnd(8000, '9')}`],
  ])('stays closed to an access cookie that is missing or invalid: %s', async (_name, cookie) => {
    // Also rendered again: neither the press nor its stored pages may leak.
    for (const again of [false, true]) {
      if (again) await room.press.refresh(['/article/story-5'], 'test');
      const answer = await ask('/article/story-5', cookie ? { cookie } : {});
      expect(answer.status).toBe(200);
      expect(answer.text).not.toContain('ENDING-5');
      expect(answer.headers['cache-control']).toBe('public, max-age=0, must-revalidate');
    }
  });

  it('is not opened by another header, a parameter or an ETag', async () => {
    const full = await ask('/article/story-5', { cookie: `access=${good}` });
    const etag = String(full.headers.etag);
    const attempts: [string, Record<string, string>][] = [
      ['/article/story-5', { authorization: `Bearer ${good}` }],
      ['/article/story-5', { 'x-access': good }],
      [`/article/story-5?access=${good}`, {}],
      ['/article/story-5?variant=full', {}],
      ['/article/story-5', { 'if-none-match': etag }],
      ['/article/story-5', { 'if-none-match': '*, evil' }],
    ];
    for (const [path, headers] of attempts) {
      const answer = await ask(path, headers);
      expect(answer.status).toBe(200);
      expect(answer.text).not.toContain('ENDING-5');
      expect(answer.headers.etag).not.toBe(etag);
    }
  });

  it('closes at once when an article becomes paid, and opens when it is free again', async () => {
    expect((await ask('/article/story-3')).text).toContain('ENDING-3');
    wordpress.put('articles', { ...edited(3), access: 'subscriber' });
    await deliver({ id: 3, slug: 'story-3' });
    expect((await ask('/article/story-3')).text).not.toContain('ENDING-3');
    wordpress.put('articles', { ...edited(3), access: 'free' });
    await deliver({ id: 3, slug: 'story-3' });
    expect((await ask('/article/story-3')).text).toContain('ENDING-3');
    const withCookie = await ask('/article/story-3', { cookie: `access=${good}` });
    expect(withCookie.headers['cache-control']).toBe('public, max-age=0, must-revalidate');
  });
});

describe('webhooks', () => {
  it('are refused and change nothing if they are forged, stale, repeated or malformed', async () => {
    await ask('/');
    const before = (await ask('/article/story-1')).text;
    wordpress.put('articles', edited(1, 'Never to be seen before it was told'));
    const requests = wordpress.requests.length;
    const hook = { id: 1, slug: 'story-1' };
    const now = Math.floor(Date.now() / 1000);
    expect((await deliver(hook, { secret: 'a-guess-that-is-not-the-secret' })).status).toBe(401);
    expect((await deliver(hook, { signed: JSON.stringify({ ...hook, id: 2 }) })).status).toBe(401);
    for (const signature of ['', 'sha256=', `sha256=${'0'.repeat(64)}`, 'sha1=abc', '{}']) {
      expect((await deliver(hook, { signature })).status).toBe(401);
    }
    expect((await deliver(hook, { timestamp: now - 301 })).status).toBe(412);
    expect((await deliver(hook, { timestamp: now + 400 })).status).toBe(412);
    expect((await deliver({ id: 'one', slug: 'story-1' })).status).toBe(422);
    expect((await deliver({ ...hook, event: 'explode' })).status).toBe(422);
    expect((await ask('/article/story-1')).text).toBe(before);
    expect(wordpress.requests.length).toBe(requests);

    const delivery = randomUUID();
    expect((await deliver(hook, { delivery })).status).toBe(200);
    const renders = room.press.stats().counters.renders;
    expect((await deliver(hook, { delivery })).status).toBe(409);
    expect(room.press.stats().counters.renders).toBe(renders);
  });
});

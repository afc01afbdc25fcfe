import { createHmac } from 'node:crypto';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { contentOf } from '../../../tests/fixtures/open-content.ts';
import { type FakeWordPress, fakeWordPress, wirePost, wireSection } from '../../../tests/fixtures/wordpress.ts';
import { xssPayloads } from '../../../tests/fixtures/xss.ts';
import type { Content, ContentChange } from '../service.ts';

const secret = 'a shared secret';
const id = '3f2a9c1e-5b7d-4e8f-9a0b-1c2d3e4f5a6b';
let wordpress: FakeWordPress;
let content: Content;
let changes: ContentChange[];
let deliveries = 0;

const soon = (hours: number): string => new Date(Date.now() + hours * 3_600_000).toISOString().slice(0, 19);
const wire = (part: object = {}) => ({
  id,
  text: 'The bridge is open',
  link: 'https://sun.example/article/a-1',
  starts: `${soon(-1)}Z`,
  until: `${soon(3)}Z`,
  mail: true,
  push: false,
  ...part,
});

beforeEach(async () => {
  wordpress = fakeWordPress();
  changes = [];
  wordpress.put('categories', { id: 3, ...wireSection(3, 'politics', 1) });
  wordpress.put('articles', { id: 1, ...wirePost({ id: 1, slug: 'a-1', category: [{ id: 3 }] }) });
  content = contentOf(wordpress, {
    secret,
    onChange: (change) => void changes.push(change),
  });
  await content.syncNow();
  changes = [];
});
afterEach(() => content.stop());

function deliver(event: string, delivery = `delivery-${++deliveries}`) {
  const body = JSON.stringify({ event, type: 'alerts', id: 1, slug: id, previous_slug: null, status: 'publish' });
  const timestamp = String(Math.floor(Date.now() / 1000));
  const signature = createHmac('sha256', secret).update(`${timestamp}.${delivery}.${body}`).digest('hex');
  return content.receive({
    headers: {
      'x-newsroom-timestamp': timestamp,
      'x-newsroom-delivery': delivery,
      'x-newsroom-signature': `sha256=${signature}`,
    },
    rawBody: body,
  });
}
const tags = (): string[] => changes.flatMap((change) => [...change.tags]);
const shown = () => content.reader().alert();

it('a webhook publishes an alert and the next one removes it, changing only the tag “alert”', async () => {
  expect(shown()).toBeNull();
  const alert = wire();
  wordpress.alert = alert;
  expect((await deliver('publish')).status).toBe(200);
  expect(shown()).toEqual({
    id,
    text: 'The bridge is open',
    href: '/article/a-1',
    starts: alert.starts,
    until: expect.stringMatching(/Z$/),
    mail: true,
    push: false,
  });
  expect(tags()).toEqual(['alert']);
  wordpress.alert = null;
  expect((await deliver('unpublish')).status).toBe(200);
  expect([shown(), tags()]).toEqual([null, ['alert', 'alert']]);
});

it('the poll finds an alert whose webhook was lost, and changes nothing the second time', async () => {
  wordpress.alert = wire();
  await content.syncNow();
  expect(shown()?.text).toBe('The bridge is open');
  await content.syncNow();
  expect(tags().filter((each) => each === 'alert')).toHaveLength(1);
  wordpress.alert = null;
  await content.syncNow();
  expect(shown()).toBeNull();
});

it('an alert ends in WordPress’s latest state after webhooks that are repeated, late or out of order', async () => {
  wordpress.alert = wire();
  const first = 'delivery-of-the-start';
  expect((await deliver('publish', first)).status).toBe(200);
  wordpress.alert = null;
  await deliver('unpublish');
  expect((await deliver('publish', first)).status).toBe(409);
  await deliver('publish');
  expect(shown()).toBeNull();
  wordpress.alert = wire({ id: id.replace('3f', '4f') });
  await Promise.all([deliver('unpublish'), deliver('publish')]);
  expect(shown()?.id).toBe(id.replace('3f', '4f'));
});

it('an alert is not shown after its end, even if WordPress still sends it', async () => {
  wordpress.alert = wire({ starts: `${soon(-5)}Z`, until: `${soon(-1)}Z` });
  await deliver('publish');
  expect(shown()).toBeNull();
});

it('an alert is one line of plain text of at most 200 characters, and one that is only a script is not shown', async () => {
  const textOf = async (text: string, at = 0): Promise<string | undefined> => {
    wordpress.alert = wire({ id: id.replace(/^.{8}/, String(10_000_000 + at)), text });
    expect((await deliver('publish')).status).toBe(200);
    return shown()?.text;
  };
  expect(await textOf('The <b>bridge</b>\n<p>&amp;\u2028the\u0007 \u202eport</p> ')).toBe('The bridge & the port');
  expect(await textOf('🌉'.repeat(300))).toBe('🌉'.repeat(200));
  for (const [at, payload] of xssPayloads.filter((each) => each.isWellFormed()).entries()) {
    const text = await textOf(`A ${payload} B`, at);
    expect(text, payload).toMatch(/^A/u);
    expect(text, payload).not.toMatch(/[\p{Cc}\u2028\u202a-\u202e\u2066-\u2069]/u);
    // An entity, or a character that HTML forbids, may stand for a "<" of the text.
    if (!/[&\0]/u.test(payload)) expect(text, payload).not.toMatch(/<[a-z/!?]/iu);
  }
  expect(await textOf('<script>alert(1)</script>')).toBeUndefined();
});

it.each([
  ['javascript:alert(1)', null],
  ['data:text/html,<script>', null],
  ['#top', null],
  ['mailto:ada@example.com', null],
  ['', null],
  ['/article/a-1?x=1', '/article/a-1?x=1'],
  ['https://elsewhere.example/x', 'https://elsewhere.example/x'],
  ['https://sun.example/media/film', '/media/film'],
])('the alert link %s becomes %s', async (link, href) => {
  wordpress.alert = wire({ link });
  await deliver('publish');
  expect(shown()).toMatchObject({ href });
});

it.each([
  ['an invalid id', { id: 'x' }],
  ['an id with markup', { id: `${id}"><script>` }],
  ['a text that is not a string', { text: 7 }],
  ['an end that is not a time', { until: 'tomorrow' }],
  ['a string instead of an object', null, 'x'],
])('an alert with %s is refused, and the previous alert stays', async (_why, part, whole?: unknown) => {
  wordpress.alert = wire();
  await deliver('publish');
  wordpress.alert = whole ?? wire(part ?? {});
  expect((await deliver('publish')).status).toBe(200);
  expect(shown()?.id).toBe(id);
});

it('the sync works with an older plugin that has no alerts, and retries the alert after WordPress fails', async () => {
  wordpress.alert = undefined;
  expect((await deliver('publish')).status).toBe(200);
  expect((await content.syncNow()).ok).toBe(true);
  wordpress.alert = wire();
  wordpress.intercept = (request) => (request.url.includes('/alert') ? new Response('broken', { status: 500 }) : null);
  expect((await deliver('publish')).status).toBe(503);
  wordpress.intercept = null;
  await content.syncNow();
  expect(shown()?.id).toBe(id);
});

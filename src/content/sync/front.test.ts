/** Fronts as they come from WordPress: by webhook, by poll, by their times; and their previews. */
import { createHmac } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { contentOf } from '../../../tests/fixtures/open-content.ts';
import {
  type FakeWordPress,
  fakeWordPress,
  type Json,
  json,
  wirePost,
  wireSection,
} from '../../../tests/fixtures/wordpress.ts';
import { homeFront } from '../../lib/fronts/model.ts';
import { silent } from '../../lib/logging.ts';
import type { Content, ContentChange } from '../service.ts';
import { openContentStore } from '../store/content-store.server.ts';
import { createFrontClock } from './front-clock.server.ts';

const secret = 'a shared secret';
let wordpress: FakeWordPress;
let content: Content;
let changes: ContentChange[];
let deliveries = 0;
let modified = Date.parse('2026-11-20T12:00:00Z');

const slot = (story: number, part: Json = {}): Json => ({ kind: 'second', story, ...part });
function front(slots: Json[], part: Json = {}, id = 900, slug: string = homeFront): void {
  modified += 1000;
  const at = new Date(modified).toISOString().slice(0, 19);
  wordpress.put('fronts', {
    ...wirePost({ id, slug, front: { slots, next: null, ...part } }),
    modified_gmt: at,
    modified: at,
    id,
  });
}

function open(): Content {
  return contentOf(wordpress, {
    secret,
    now: () => Date.now(),
    onChange: (change) => void changes.push(change),
  });
}

beforeEach(async () => {
  wordpress = fakeWordPress();
  changes = [];
  wordpress.put('categories', { id: 3, ...wireSection(3, 'politics', 1) });
  for (let id = 1; id <= 4; id++)
    wordpress.put('articles', { id, ...wirePost({ id, slug: `a-${id}`, category: [{ id: 3 }] }) });
  front([slot(1)]);
  content = open();
  await content.syncNow();
  changes = [];
  wordpress.requests.length = 0;
});
afterEach(() => content.stop());

function deliver(event = 'update', delivery = `delivery-${++deliveries}`, id = 900) {
  const body = JSON.stringify({ event, type: 'fronts', id, slug: homeFront, previous_slug: null, status: 'publish' });
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
const shown = (key: string = homeFront) =>
  content
    .reader()
    .front(key)
    .map(({ card }) => card.id);

it('a front comes with the first copy, and a webhook fetches it once and changes one page', async () => {
  expect(shown()).toEqual([1]);
  front([slot(2), slot(3)]);
  expect((await deliver()).status).toBe(200);
  expect([shown(), tags(), changes[0]?.paths]).toEqual([[2, 3], ['front:home'], ['/']]);
  expect(wordpress.requests).toEqual(['/wp/v2/fronts/900']);
});

it('the poll finds a front whose webhook was lost, and changes nothing the second time', async () => {
  front([slot(4)]);
  await content.syncNow();
  expect(shown()).toEqual([4]);
  await content.syncNow();
  expect(tags()).toEqual(['front:home']);
});

it('a front ends in WordPress’s latest state after webhooks that are repeated, late or out of order', async () => {
  front([slot(2)]);
  const first = 'delivery-of-the-first';
  expect((await deliver('update', first)).status).toBe(200);
  front([slot(3)]);
  await deliver();
  expect((await deliver('update', first)).status).toBe(409);
  await deliver('publish');
  expect(shown()).toEqual([3]);
  wordpress.remove('fronts', 900);
  await deliver('delete');
  await deliver('update');
  expect(shown()).toEqual([]);
});

it('the sync completes without fronts when an older plugin has none', async () => {
  await content.stop();
  wordpress.intercept = ({ url }) =>
    url.includes('/fronts') ? json({ code: 'rest_no_route', message: '' }, { status: 404 }) : null;
  content = open();
  expect((await content.syncNow()).ok).toBe(true);
  expect([shown(), content.reader().articles({ limit: 9 }).total, content.status().complete]).toEqual([[], 4, true]);
});

describe('the front’s clock', () => {
  const second = (ahead: number): string => new Date(Date.now() + ahead * 1000).toISOString().slice(0, 19);
  // The clock is stopped while a webhook is handled, however slow the machine is.
  beforeEach(() => vi.useFakeTimers({ toFake: ['Date', 'setTimeout', 'clearTimeout'], now: Date.now() }));
  afterEach(() => vi.useRealTimers());

  it('replaces slots at their times without a request to WordPress', async () => {
    content.start();
    front([slot(1, { until: `${second(2)}Z` }), slot(2, { from: `${second(2)}Z` })]);
    modified = Date.now();
    await deliver();
    expect(shown()).toEqual([1]);
    wordpress.requests.length = 0;
    await vi.advanceTimersByTimeAsync(2000);
    expect(shown()).toEqual([2]);
    expect(tags().filter((each) => each === 'front:home')).toHaveLength(2);
    expect(wordpress.requests.filter((each) => each.includes('fronts/900'))).toEqual([]);
  });

  it('shows the next slots at their scheduled time, even before WordPress publishes them', async () => {
    content.start();
    front([slot(1)], { next: { at: `${second(60)}Z`, slots: [slot(3), slot(4)] } });
    await deliver();
    expect(shown()).toEqual([1]);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(shown()).toEqual([3, 4]);
  });
});

describe('the front’s clock on its own', () => {
  afterEach(() => vi.useRealTimers());

  it('writes each time once, one write at a time, only while its process syncs, and retries failed writes', async () => {
    vi.useFakeTimers({ now: Date.parse('2026-11-25T10:00:00Z') });
    const store = openContentStore({ file: ':memory:', origin: null, log: silent });
    const insert = store.prepare(
      `INSERT INTO documents (id, type, slug, title, excerpt, image, author_id, terms, date, modified, facts, fetched, body_hash)
      VALUES (9, 'fronts', 'home', '', '', NULL, NULL, '[]', '', '2026-11-25T09:00:00Z', ?, 1, '')`,
    );
    const timed = { kind: 'lead', story: 1, headline: '', picture: null, related: [], from: null };
    insert.run(JSON.stringify({ front: { slots: [{ ...timed, until: '2026-11-25T10:10:00Z' }], next: null } }));
    let [leads, fails, writing] = [false, true, 0];
    const write = vi.fn(async (entries: readonly { kind: string }[]) => {
      expect(++writing).toBe(1);
      // The time that the cluster's log takes to report that it is unavailable.
      await new Promise((resolve) => setTimeout(resolve, 5000));
      writing--;
      if (fails) throw new Error('the log is away');
      for (const entry of entries) if ('value' in entry) store.setMeta('front-time', String(entry.value));
      return { stored: 0, withdrawn: 0, rejected: 0, refreshed: [] };
    });
    const clock = createFrontClock({ store, write, log: silent, now: Date.now, leads: () => leads });
    clock.start();
    await vi.advanceTimersByTimeAsync(599_000);
    expect(write).not.toHaveBeenCalled();
    // Another process syncs.
    await vi.advanceTimersByTimeAsync(10_000);
    expect(write).not.toHaveBeenCalled();
    leads = true;
    await vi.advanceTimersByTimeAsync(16_000);
    expect(write.mock.calls.length).toBeGreaterThan(1);
    fails = false;
    await vi.advanceTimersByTimeAsync(14_000);
    const times = write.mock.calls.length;
    expect(write).toHaveBeenLastCalledWith([
      { kind: 'meta', key: 'front-time', value: '2026-11-25T10:10:00Z', tags: ['front:home'] },
    ]);
    await vi.advanceTimersByTimeAsync(3_600_000);
    expect([write.mock.calls.length, vi.getTimerCount()]).toEqual([times, 0]);
    clock.stop();
    store.close();
  });
});

describe('a preview of a front', () => {
  const preview = (id: number, type = 'fronts') => {
    const expires = String(Math.floor(Date.now() / 1000) + 300);
    const signature = createHmac('sha256', secret).update(`preview.${type}.${id}.${expires}`).digest('hex');
    return content.preview(new URLSearchParams({ type, id: String(id), expires, signature }));
  };

  it('shows the slots of the draft that are due now, and leads to the front’s path', async () => {
    const later = new Date(Date.now() + 3_600_000).toISOString().slice(0, 19);
    const slots = [slot(3), slot(4, { from: `${later}Z` })];
    wordpress.intercept = ({ url }) =>
      url.endsWith('/fronts/900/draft') ? json({ front: { slots, next: null } }) : null;
    const { status, document } = await preview(900);
    expect([status, document]).toMatchObject([200, { type: 'fronts', key: 'home', path: '/', slots: [{ story: 3 }] }]);
    // Readers see what is published.
    expect(shown()).toEqual([1]);
  });

  it('of a section leads to the section’s path, and responds 404 for a missing section', async () => {
    front([slot(1)], {}, 901, 'section-3');
    front([slot(1)], {}, 902, 'section-77');
    expect((await preview(901)).document).toMatchObject({ key: 'section-3', path: '/section/politics' });
    expect([(await preview(902)).status, (await preview(903)).status]).toEqual([404, 404]);
  });
});

// @vitest-environment jsdom
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { follow } from './comments-page.ts';

const item = (id: number) => `<li id="comment-${id}">${id}</li>`;
const page = (ids: readonly number[], more = '') => `<nav class="comments-sort">
  <a href="/c?sort=replies" data-sort="list">Most replies</a> <a href="/c" data-sort="list">Newest</a></nav>
  <ol id="list">${ids.map(item).join('')}</ol>${more}`;
const further = '<a href="/c?page=2" data-more="list">More comments</a>';

/** Requests, which the test answers when it chooses. */
let asked: Map<string, (html: string) => void>;
/** Breaks the connection of the latest request. */
let refuse: (() => void) | undefined;
const link = (name: string) => [...document.querySelectorAll('a')].find(({ textContent }) => textContent === name);
const click = (name: string) => follow(link(name) as HTMLAnchorElement);
const shown = () => [...document.querySelectorAll('#list > li')].map(({ textContent }) => textContent);

beforeEach(() => {
  asked = new Map();
  document.body.innerHTML = page([3, 2, 1], further);
  vi.stubGlobal(
    'fetch',
    (address: string) =>
      new Promise((resolve, reject) => {
        refuse = () => reject(new TypeError('offline'));
        asked.set(new URL(address).search, (html) => resolve(new Response(html)));
      }),
  );
});
afterEach(() => {
  vi.unstubAllGlobals();
});

it('comments appear in the order requested last, whichever response arrives first', async () => {
  const followed = [click('Most replies'), click('Newest')];
  asked.get('')?.(page([4, 3, 2]));
  await followed[1];
  asked.get('?sort=replies')?.(page([2, 3, 4]));
  await followed[0];
  expect(shown()).toEqual(['4', '3', '2']);
});

it('more comments of the previous order are not added after the order has changed', async () => {
  const followed = [click('More comments'), click('Most replies')];
  asked.get('?sort=replies')?.(page([2, 3, 4], further));
  await followed[1];
  asked.get('?page=2')?.(page([0]));
  await followed[0];
  expect(shown()).toEqual(['2', '3', '4']);
  expect(link('More comments')).toBeDefined();
});

it('more comments requested while the order changes are not added to the new order', async () => {
  const followed = [click('Most replies'), click('More comments')];
  asked.get('?sort=replies')?.(page([2, 3, 4], further));
  await followed[0];
  asked.get('?page=2')?.(page([0]));
  await followed[1];
  expect(shown()).toEqual(['2', '3', '4']);
  expect(link('More comments')).toBeDefined();
});

it('more comments that fail to load after the order has changed do not leave the page', async () => {
  const went = vi.fn();
  vi.stubGlobal('location', { assign: went });
  const followed = [click('Most replies'), click('More comments')];
  asked.get('?sort=replies')?.(page([2, 3, 4], further));
  await followed[0];
  refuse?.();
  await followed[1];
  expect(went).not.toHaveBeenCalled();
});

it('a comments link can be followed again when the browser restores the page', async () => {
  const went = vi.fn();
  vi.stubGlobal('location', { assign: went });
  vi.stubGlobal('fetch', () => Promise.reject(new Error('offline')));
  await click('More comments');
  await click('More comments');
  expect(went).toHaveBeenCalledTimes(2);
});

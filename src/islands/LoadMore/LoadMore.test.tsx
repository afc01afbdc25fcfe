// @vitest-environment jsdom
import { act } from 'react';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { click, type Drawn, draw, named } from '../shared/testing.tsx';
import LoadMore from './LoadMore.island.tsx';

const story = (name: string) => `<li><h3><a href="/article/${name}">${name}</a></h3></li>`;
const list = (...names: string[]) => `<ol id="stories">${names.map(story).join('')}</ol>`;
const shown = () => [...document.querySelectorAll('#stories > li')].map(({ textContent }) => textContent);
const more = () => named<HTMLAnchorElement>('a[rel=next]', /More stories|Loading/);
const went = vi.fn();
let page: Drawn;

beforeEach(async () => {
  document.body.innerHTML = list('d', 'c');
  went.mockReset();
  vi.stubGlobal('location', { assign: went });
  vi.stubGlobal('history', { state: null, replaceState: vi.fn() });
  page = await draw(<LoadMore paging={{ page: 1, pages: 2, previous: null, next: '/latest?page=2' }} />);
});
afterEach(async () => {
  await page.remove();
  document.body.replaceChildren();
  vi.unstubAllGlobals();
});

it('“More stories” skips a story that a newer one has pushed to the next page', async () => {
  vi.stubGlobal('fetch', async () => new Response(list('c', 'b', 'a')));
  await click(more());
  await vi.waitFor(() => expect(shown()).toEqual(['d', 'c', 'b', 'a']));
  expect(document.activeElement?.textContent).toBe('b');
  expect(page.host.querySelector('[role=status]')?.textContent).toBe('2 more stories loaded.');
});

it('“More stories” works again when the browser restores the page after its link was followed', async () => {
  vi.stubGlobal('fetch', () => Promise.reject(new Error('offline')));
  await click(more());
  await vi.waitFor(() => expect(went).toHaveBeenCalledWith('/latest?page=2'));
  await act(async () => {});
  expect(more().ariaDisabled).toBeNull();
  await click(more());
  await vi.waitFor(() => expect(went).toHaveBeenCalledTimes(2));
});

it('a single further story is announced as “1 more loaded.”', async () => {
  vi.stubGlobal('fetch', async () => new Response(list('b')));
  await click(more());
  await vi.waitFor(() => expect(page.host.querySelector('[role=status]')?.textContent).toBe('1 more loaded.'));
});

it('the list says which pages it shows, of how many there are by now', async () => {
  const where = () => page.host.querySelector('nav p')?.textContent;
  expect(where()).toBe('Page 1 of 2');
  const nav = (pages: number, link: string) => `<nav data-load-more="${pages}">${link}</nav>`;
  vi.stubGlobal('fetch', async () => new Response(list('b') + nav(3, '<a rel="next" href="/latest?page=3">More</a>')));
  await click(more());
  await vi.waitFor(() => expect(where()).toBe('Pages 1 to 2 of 3'));
});

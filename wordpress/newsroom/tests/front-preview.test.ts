// @vitest-environment jsdom
/** The preview of the screen "Front", with a stand-in for WordPress's REST API. */
import { expect, it, vi } from 'vitest';
import { button, runScripts } from './editor-script.ts';

it('the preview’s window closes if WordPress doesn’t answer and while a colleague’s version has to be chosen', async () => {
  document.body.innerHTML = '<div id="newsroom-front"></div>';
  const front = { version: 1, slots: [], stories: {}, pictures: {}, draft: null, published: null, scheduled: null };
  const answers: (() => unknown)[] = [];
  const asked: string[] = [];
  const apiFetch = async ({ path }: { path: string }) => {
    const route = path.replace('/newsroom/v1/front/home', '');
    asked.push(route);
    return route === '' ? front : answers.shift()?.();
  };
  Object.assign(window, {
    newsroomFront: { pages: [], kinds: [], page: 'home', zone: 'UTC', headline: 200, rows: 20 },
  });
  const opened = { close: vi.fn(), focus: vi.fn(), location: '' };
  vi.spyOn(window, 'open').mockReturnValue(opened as never);
  const scripts = ['parts', 'order', 'related', 'slot', 'history', 'state'].map((part) => `front-${part}.js`);
  runScripts(['lists.js', ...scripts, 'front.js'], { apiFetch });
  const fail = (error: object) => () => {
    throw error;
  };
  await vi.waitFor(() => button('Preview').click());
  answers.push(fail({ code: 'offline' }));
  await vi.waitFor(() => expect(opened.close).toHaveBeenCalledTimes(1));
  answers.push(() => ({ url: 'http://site.test/preview' }));
  button('Preview').click();
  await vi.waitFor(() => expect(opened.location).toBe('http://site.test/preview'));
  answers.push(fail({ code: 'newsroom_front_conflict', data: { current: front } }));
  button('Preview').click();
  await vi.waitFor(() => expect(opened.close).toHaveBeenCalledTimes(2));
  button('Preview').click();
  await vi.waitFor(() => expect(opened.close).toHaveBeenCalledTimes(3));
  expect(asked).toEqual(['', '/preview', '/preview', '/preview']);
});

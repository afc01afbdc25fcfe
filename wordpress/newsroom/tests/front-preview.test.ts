// @vitest-environment jsdom
/** The preview of the screen "Front", with a stand-in for WordPress's REST API. */
import { expect, it, vi } from 'vitest';
import { button, runScript } from './editor-script.ts';

it('the preview’s window closes if WordPress doesn’t answer and while a colleague’s version has to be chosen', async () => {
  document.body.innerHTML = '<div id="newsroom-front"></div>';
  const front = { version: 1, slots: [], stories: {}, pictures: {}, draft: null, published: null, scheduled: null };
  const answers: (() => unknown)[] = [];
  const asked: string[] = [];
  const ask = async (_page: string, path = '') => {
    asked.push(path);
    return path === '' ? front : answers.shift()?.();
  };
  const nothing = () => null;
  const order = { inPlaces: (slots: unknown) => slots };
  const parts = { ask, Conflict: nothing, control: {}, failed: () => 'Failed.', Notes: nothing, Search: nothing };
  Object.assign(window, { newsroomFront: { order, pages: [], page: 'home', zone: 'UTC', parts } });
  const opened = { close: vi.fn(), focus: vi.fn(), location: '' };
  vi.spyOn(window, 'open').mockReturnValue(opened as never);
  runScript('front.js', { apiFetch: nothing });
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

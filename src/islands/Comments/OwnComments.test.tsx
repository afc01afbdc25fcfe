// @vitest-environment jsdom
import { act } from 'react';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { OwnComment } from '../../lib/comments/schema.ts';
import { button, click, type Drawn, draw, named, submit } from '../shared/testing.tsx';
import { OwnComments } from './OwnComments.tsx';
import { ownComment } from './testing.ts';

const now = Date.parse('2026-11-26T12:00:00Z');
const comment = (change: Partial<OwnComment> = {}): OwnComment => ownComment(now, change);
const fetched = vi.fn<(path: string, init: RequestInit) => Promise<Response>>();
const onChanged = vi.fn();
const onRemoved = vi.fn();
const list = (...comments: OwnComment[]) => (
  <OwnComments comments={comments} onChanged={onChanged} onRemoved={onRemoved} />
);
const area = () => named<HTMLTextAreaElement>('textarea', 'Edit your comment');
const alerts = () => [...document.querySelectorAll('[role=alert]')].map(({ textContent }) => textContent).join('');
let drawn: Drawn;

beforeEach(async () => {
  fetched.mockReset();
  vi.stubGlobal('fetch', fetched);
  vi.useFakeTimers({ now, toFake: ['Date', 'setTimeout', 'clearTimeout'] });
  drawn = await draw(list(comment(), comment({ id: 'two', content: 'Second', changeableUntil: null })));
});
afterEach(async () => {
  await drawn.remove();
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

it('an open comment form keeps its text when the time to edit runs out', async () => {
  await click(button('Edit'));
  area().value = 'Many words, just typed';
  await act(async () => vi.advanceTimersByTime(61_000));
  expect(area().value).toBe('Many words, just typed');
  await click(button('Cancel'));
  expect(document.querySelector('textarea')).toBeNull();
});

it('canceling an edit returns the focus to the Edit button', async () => {
  await click(button('Edit'));
  expect(document.activeElement).toBe(area());
  await click(button('Cancel'));
  expect(document.activeElement).toBe(button('Edit'));
});

it('saving an edited comment returns the focus to the Edit button', async () => {
  fetched.mockImplementation(async () => Response.json({ comment: comment({ content: 'Better' }) }));
  await click(button('Edit'));
  await submit(document.querySelector('form') as HTMLFormElement);
  expect(onChanged).toHaveBeenCalledWith(comment({ content: 'Better' }));
  expect(document.activeElement).toBe(button('Edit'));
});

it('the comment field is read-only while the text is being saved', async () => {
  fetched.mockReturnValue(new Promise(() => {}));
  await click(button('Edit'));
  await submit(document.querySelector('form') as HTMLFormElement);
  expect(area().readOnly).toBe(true);
});

it.each([
  ['a lost connection', () => Promise.reject(new TypeError('offline')), /^We couldn’t reach the server/],
  ['a server error', async () => Response.json({}, { status: 500 }), /^Something went wrong/],
  ['a response without a comment', async () => Response.json(null), /^Something went wrong/],
])('after %s, an edit shows an error that does not claim the text is saved', async (_what, answer, words) => {
  fetched.mockImplementation(answer);
  await click(button('Edit'));
  await submit(document.querySelector('form') as HTMLFormElement);
  expect(alerts()).toMatch(words);
  expect(alerts()).not.toContain('saved here');
});

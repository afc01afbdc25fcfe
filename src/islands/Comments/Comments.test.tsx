// @vitest-environment jsdom
import { afterEach, expect, it, vi } from 'vitest';
import { $commentAct } from '../../stores/ui.ts';
import { button, click, type Drawn, draw } from '../shared/testing.tsx';
import Comments from './Comments.island.tsx';
import { ownComment } from './testing.ts';

const mine = {
  name: 'Ada',
  mayWrite: true,
  reported: [],
  comments: [ownComment(Date.now(), { status: 'waiting' })],
};
let drawn: Drawn;

afterEach(async () => {
  await drawn.remove();
  document.body.replaceChildren();
  vi.unstubAllGlobals();
});

it('after a reader deletes a comment, the focus moves to a message that says so', async () => {
  vi.stubGlobal('fetch', async (_path: string, init?: RequestInit) =>
    init?.method === 'DELETE' ? new Response(null, { status: 204 }) : Response.json(mine),
  );
  drawn = await draw(<Comments article={7} parent={0} longest={3000} />);
  const remove = await vi.waitFor(() => button('Delete'));
  remove.focus();
  await click(remove);
  await vi.waitFor(() => expect(document.querySelector('ol')).toBeNull());
  expect(document.activeElement?.textContent).toBe('Your comment was deleted.');
});

it('a report that could not be sent does not claim that a comment is saved', async () => {
  document.body.innerHTML = '<ol><li id="comment-3"><article><a data-act="report">Report</a></article></li></ol>';
  vi.stubGlobal('fetch', async () => Promise.reject(new TypeError('offline')));
  drawn = await draw(<Comments article={7} parent={0} longest={3000} />);
  $commentAct.set({ act: 'report', id: 3 });
  await click(await vi.waitFor(() => button('Report')));
  const alert = () => document.querySelector('article [role=alert]')?.textContent;
  await vi.waitFor(() => expect(alert()).toMatch(/^We couldn’t reach the server/));
  expect(alert()).not.toContain('saved here');
});

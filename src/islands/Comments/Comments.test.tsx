// @vitest-environment jsdom
import { afterEach, expect, it, vi } from 'vitest';
import { $commentAct } from '../../stores/ui.ts';
import { button, click, type Drawn, draw, named, settle, submit, type } from '../shared/testing.tsx';
import Comments from './Comments.island.tsx';
import { ownComment } from './testing.ts';

const mine = {
  name: 'Ada',
  mayWrite: true,
  reported: [],
  comments: [ownComment(Date.now(), { status: 'waiting' })],
};
let drawn: Drawn;
const text = (label: string) => named<HTMLTextAreaElement>('textarea', label);

afterEach(async () => {
  localStorage.clear();
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

it('posting a comment leaves a half-written reply open, and posting the reply closes it', async () => {
  document.body.innerHTML =
    '<ol><li id="comment-3"><article><a data-act="reply" href="#">Reply</a></article></li></ol>';
  let id = 10;
  vi.stubGlobal('fetch', async (_path: string, init?: RequestInit) =>
    Response.json(init?.method === 'POST' ? { comment: ownComment(Date.now(), { id: `${id++}` }) } : mine),
  );
  drawn = await draw(<Comments article={7} parent={0} longest={3000} />);
  $commentAct.set({ act: 'reply', id: 3 });
  const reply = () => text('Your reply');
  await settle(() => expect(reply()).toBeTruthy());
  await type(reply(), 'Half of');
  await type(text('Your comment'), 'All of it');
  await submit(text('Your comment').form as HTMLFormElement);
  await settle(() => expect(text('Your comment').value).toBe(''));
  expect([reply().value, document.activeElement?.textContent]).toEqual(['Half of', 'Half of']);
  await submit(reply().form as HTMLFormElement);
  await settle(() => expect(document.querySelector('article form')).toBeNull());
  expect(document.activeElement?.textContent).toBe('Reply');
});

it('a comment that was posted while the reader’s own were loading is remembered as waiting', async () => {
  const loading = Promise.withResolvers<Response>();
  const comment = ownComment(Date.now(), { id: 'new', status: 'waiting' });
  vi.stubGlobal('fetch', async (_path: string, init?: RequestInit) =>
    init?.method === 'POST' ? Response.json({ comment }) : loading.promise,
  );
  drawn = await draw(<Comments article={7} parent={0} longest={3000} />);
  await type(text('Your comment'), 'All of it');
  await submit(text('Your comment').form as HTMLFormElement);
  await settle(() => expect(localStorage.getItem('comments-waiting')).toBe('7'));
  loading.resolve(Response.json({ ...mine, comments: [ownComment(Date.now(), { id: 'old' })] }));
  await settle(() => expect(drawn.host.querySelectorAll('ol > li')).toHaveLength(2));
  expect(localStorage.getItem('comments-waiting')).toBe('7');
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

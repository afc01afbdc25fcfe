/**
 * Comments over HTTP on the built site: the calls of the island and the form without a script, with WordPress's side of them in
 * memory. Also what no reader may do or see: change another reader's comments, use other sites' forms, or find addresses in an
 * answer.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { publication } from '../../src/publication.ts';
import { type AccountSite, type Answer, type Browser, startAccountSite } from '../fixtures/account-site.ts';
import { type FakeWordPress, wireComment, wirePost } from '../fixtures/wordpress.ts';
import { formOf } from './fixtures/accounts.ts';

let site: AccountSite;
let wordpress: FakeWordPress;
beforeAll(async () => {
  site = await startAccountSite({
    write(given) {
      wordpress = given;
      wordpress.put('comments', { ...wireComment({ id: 90, post: 1, author_name: 'Ben Early' }), id: 90 });
      const hostile =
        '<p onclick="x()">Read <a href="https://spam.example" rel="follow">this</a><script>alert(1)</script></p>' +
        Array.from({ length: 6 }, (_, at) => `<p><a href="https://spam.example/${at}">offer ${at}</a></p>`).join('');
      wordpress.put('comments', {
        ...wireComment({
          id: 91,
          post: 1,
          parent: 90,
          author_name: '<img src=x onerror=alert(1)>Mal\u202elory',
          content: { rendered: hostile },
        }),
        id: 91,
      });
      // Three conversations of another story: the middle one has the most replies.
      for (const [comment, parent, minute] of [
        [80, 0, 0],
        [81, 0, 1],
        [82, 0, 2],
        [83, 81, 3],
      ] as const)
        wordpress.put('comments', {
          ...wireComment({ id: comment, post: 2, parent, date_gmt: `2026-11-20T13:0${minute}:00` }),
          id: comment,
        });
      wordpress.put('articles', { ...wirePost({ id: 4, slug: 'story-4', category: [2] }), id: 4 });
      const closed = wordpress.store.articles.get(3);
      if (closed) closed.comment_status = 'closed';
    },
  });
});
afterAll(() => site.stop());

let count = 0;
interface Reader {
  readonly browser: Browser;
  readonly email: string;
}
async function reader(): Promise<Reader> {
  const email = `comment-reader-${++count}@example.com`;
  const browser = site.browser();
  await browser.signIn(site, email);
  return { browser, email };
}
const comment = (more: object = {}) => ({
  articleId: 1,
  content: `Thought ${++count}.`,
  name: 'Ada Lovelace',
  draft: `draft-${count}-of-a-reader`,
  ...more,
});
const post = ({ browser }: Reader, more: object = {}) => browser.post('/api/v1/comments', comment(more));
const mine = async ({ browser }: Reader, article = 1) => browser.get(`/api/v1/comments/mine?article=${article}`);
interface Own {
  readonly id: string;
  readonly commentId: number;
  readonly status: string;
  readonly content: string;
}
const own = (answer: Answer) => answer.json<{ comment: Own }>().comment;
/** What an editor decides, as readers see it. */
async function moderate(id: number, status: 'approved' | 'hold' | 'spam' | 'trash'): Promise<void> {
  site.moderation.moderate(id, status);
  await site.content.syncNow();
}
const article = async (path = '/article/story-1') => (await site.browser().get(path)).text;

/** Compared as true or false, because a whole page in a failure message doesn't help. */
const holds = (page: string, ...words: readonly string[]): boolean => words.every((each) => page.includes(each));

describe('a comment sent with JavaScript', () => {
  it('is visible only to its author until an editor approves it, then to every reader', async () => {
    const ada = await reader();
    const answer = await post(ada, { parentId: 90, content: 'Said & done <b>here</b>.' });
    expect(answer.status).toBe(201);
    expect(answer.headers['cache-control']).toBe('no-store');
    const { commentId, id } = own(answer);
    expect(own(answer)).toMatchObject({ status: 'waiting', author: 'Ada Lovelace', parentId: 90 });
    expect((await mine(ada)).json()).toMatchObject({
      name: 'Ada Lovelace',
      mayWrite: true,
      comments: [{ id, status: 'waiting' }],
    });
    expect(holds(await article(), 'Said &amp;')).toBe(false);
    expect((await mine(await reader())).json()).toMatchObject({ comments: [], reported: [] });

    await moderate(commentId, 'approved');
    const page = await article();
    expect(holds(page, `id="comment-${commentId}"`, 'Said &amp; done &lt;b&gt;here&lt;/b&gt;.')).toBe(true);
    expect((await mine(ada)).json()).toMatchObject({ comments: [{ id, status: 'published' }] });
    await moderate(commentId, 'spam');
    expect(holds(await article(), 'Said &amp;')).toBe(false);
  });

  it('never reveals the author’s email or IP address in any answer', async () => {
    const ada = await reader();
    const posted = await post(ada);
    const { id, commentId } = own(posted);
    await moderate(commentId, 'approved');
    const raw = site.moderation.all().find((each) => each.id === commentId);
    expect(raw).toMatchObject({ author_email: ada.email });
    const changed = await ada.browser.ask(`/api/v1/comments/mine/${id}`, {
      method: 'PATCH',
      json: { content: 'Changed.' },
    });
    const answers = [
      ...[posted, changed, await mine(ada), await ada.browser.get('/account/comment?article=1')],
      ...[await post(ada, { content: '' }), await site.browser().get('/article/story-1')],
      ...[
        await site.browser().get('/article/story-1/comments'),
        await site.browser().get('/article/story-1/comments/90'),
      ],
    ];
    for (const { text, status } of answers) {
      expect(status).toBeLessThan(500);
      const told = [ada.email, String(raw?.author_ip), 'author_ip', 'author_email'].filter((each) =>
        text.includes(each),
      );
      expect(told).toEqual([]);
    }
  });

  it('is refused with a status and a message that fit the reason', async () => {
    const ada = await reader();
    const said = comment();
    expect((await ada.browser.post('/api/v1/comments', said)).status).toBe(201);
    for (const [more, status, words] of [
      [{ content: ' ' }, 400, 'Please write something first.'],
      [{ content: 'x'.repeat(3001) }, 400, 'Please shorten your comment by 1 character.'],
      [{ name: 'ada@example.com' }, 400, 'Please enter a name, not an address.'],
      [{ content: said.content }, 409, 'You’ve already posted this comment.'],
      [{ articleId: 3 }, 403, 'Comments on this article are closed.'],
      [{ articleId: 404 }, 404, 'no longer there'],
      [{ articleId: 2, parentId: 90 }, 404, 'no longer there'],
      [{ draft: '../../x' }, 400, 'draft is missing'],
    ] as const) {
      const answer = await post(ada, more);
      expect([answer.status, answer.text], JSON.stringify(more).slice(0, 60)).toEqual([
        status,
        expect.stringContaining(words),
      ]);
    }
    expect((await ada.browser.post('/api/v1/comments', { ...said, content: 'y'.repeat(40_000) })).status).toBe(413);
    expect((await site.browser().post('/api/v1/comments', comment())).status).toBe(401);
    expect((await site.browser().get('/api/v1/comments/mine?article=1')).status).toBe(401);
    expect((await ada.browser.get('/api/v1/comments/mine?article=x')).status).toBe(400);
  });

  it('cannot be seen, changed or deleted by another reader, nor sent by another site', async () => {
    const [ada, mallory] = [await reader(), await reader()];
    const { id, commentId, content } = own(await post(ada));
    const change = (who: Reader, how: object) => who.browser.ask(`/api/v1/comments/mine/${id}`, how);
    expect((await change(mallory, { method: 'PATCH', json: { content: 'Mine.' } })).status).toBe(404);
    expect((await change(mallory, { method: 'DELETE' })).status).toBe(404);
    expect((await mine(mallory)).text).not.toContain(content);
    expect((await mallory.browser.get(`/account/comment?article=1&edit=${id}`)).status).toBe(404);
    const elsewhere = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' };
    for (const [method, path, json] of [
      ['POST', '/api/v1/comments', comment()],
      ['PATCH', `/api/v1/comments/mine/${id}`, { content: 'Theirs.' }],
      ['DELETE', `/api/v1/comments/mine/${id}`, undefined],
      ['POST', '/api/v1/comments/90/report', {}],
    ] as const) {
      expect((await ada.browser.ask(path, { method, json, headers: elsewhere })).status, path).toBe(403);
    }
    const form = { article: '1', content: 'Forged.' };
    expect((await ada.browser.submit('/account/comment', form, { headers: elsewhere })).status).toBe(403);
    expect((await ada.browser.submit('/account/comment', form, { headers: { origin: null } })).status).toBe(403);
    expect(site.moderation.all().find((each) => each.id === commentId)).toMatchObject({ raw: content, status: 'hold' });
  });

  it('can be reported once by each reader, and returns to the editors after three reports', async () => {
    const ada = await reader();
    const { commentId } = own(await post(ada));
    expect((await (await reader()).browser.post(`/api/v1/comments/${commentId}/report`, {})).status).toBe(404);
    await moderate(commentId, 'approved');
    expect((await ada.browser.post(`/api/v1/comments/${commentId}/report`, {})).status).toBe(409);
    const readers = [await reader(), await reader(), await reader()];
    for (const [index, who] of readers.entries()) {
      for (let twice = 0; twice < 2; twice++) {
        expect((await who.browser.post(`/api/v1/comments/${commentId}/report`, {})).status).toBe(200);
      }
      await expect
        .poll(() => site.moderation.all().find((each) => each.id === commentId))
        .toMatchObject({
          reports: index + 1,
          status: index < 2 ? 'approved' : 'hold',
        });
    }
    expect((await mine(readers[0] as Reader)).json()).toMatchObject({ reported: [commentId] });
    expect((await site.browser().post('/api/v1/comments/90/report', {})).status).toBe(401);
  });

  it('gets 503 while WordPress’s answers are lost, and is posted only once when sent again', async () => {
    const ada = await reader();
    const said = comment();
    site.moderation.trouble = 'lost';
    const away = await ada.browser.post('/api/v1/comments', said);
    expect([away.status, away.headers['retry-after']]).toEqual([503, '60']);
    expect(holds(away.text, 'It’s saved here')).toBe(true);
    site.moderation.trouble = 'none';
    const again = await ada.browser.post('/api/v1/comments', said);
    expect(again.status).toBe(201);
    expect(site.moderation.all().filter((each) => each.raw === said.content)).toHaveLength(1);
  });
});

describe('a comment without JavaScript', () => {
  const form = /<form[^>]*action="\/account\/comment"[\s\S]*?<\/form>/;

  it('is written, changed and deleted with forms, and waits for approval', async () => {
    const ada = await reader();
    const hidden = formOf(await article(), form);
    expect(hidden).toMatchObject({ article: '1', parent: '0' });
    // The first time there is no name: the form comes back with the comment's text in it.
    const unnamed = await ada.browser.submit('/account/comment', { ...hidden, content: 'Written <plainly>.' });
    expect(unnamed.status).toBe(422);
    expect(holds(unnamed.text, 'Written &lt;plainly&gt;.')).toBe(true);
    const sent = await ada.browser.submit('/account/comment', {
      ...formOf(unnamed.text, form),
      content: 'Written <plainly>.',
      name: 'Ada',
    });
    expect([sent.status, sent.headers.location]).toEqual([303, '/account/comment?article=1&state=waiting#comments']);
    const shown = await ada.browser.get('/account/comment?article=1&state=waiting');
    expect(shown.headers['cache-control']).toBe('private, no-store');
    expect(holds(shown.text, 'Waiting for approval. Only you can see it.')).toBe(true);
    expect(holds(shown.text, 'Written &lt;plainly&gt;.')).toBe(true);
    const [id] = (await mine(ada)).json<{ comments: Own[] }>().comments.map((each) => each.id);
    const change = await ada.browser.get(`/account/comment?article=1&edit=${id}`);
    const changed = await ada.browser.submit('/account/comment', {
      ...formOf(change.text, form),
      content: 'Rewritten.',
    });
    expect(changed.headers.location).toBe('/account/comment?article=1&state=changed#comments');
    expect(holds((await ada.browser.get('/account/comment?article=1')).text, 'Rewritten.')).toBe(true);
    const removed = await ada.browser.submit('/account/comment', { article: '1', edit: id ?? '', do: 'remove' });
    expect(removed.headers.location).toBe('/account/comment?article=1&state=removed#comments');
    expect(holds((await ada.browser.get('/account/comment?article=1')).text, 'Rewritten.')).toBe(false);
  });

  it('is answered and reported through the links next to it', async () => {
    const ada = await reader();
    const page = await article();
    expect(/href="\/account\/comment\?article=1&(?:amp;|#38;)?parent=90"/.test(page)).toBe(true);
    const answer = await ada.browser.get('/account/comment?article=1&parent=90');
    expect(holds(answer.text, 'Ben Early')).toBe(true);
    const sent = await ada.browser.submit('/account/comment', {
      ...formOf(answer.text, form),
      content: 'I agree.',
      name: 'Ada',
    });
    expect(sent.status).toBe(303);
    expect(site.moderation.all().find((each) => each.raw === 'I agree.')).toMatchObject({ parent: 90 });
    const report = await ada.browser.get('/account/comment?article=1&report=90');
    const reported = await ada.browser.submit('/account/comment', formOf(report.text, form));
    expect(reported.headers.location).toBe('/account/comment?article=1&state=reported#comments');
    expect((await ada.browser.get('/account/comment?article=1&parent=99999')).status).toBe(404);
    const stranger = await site.browser().get('/account/comment?article=1&parent=90');
    expect([stranger.status, stranger.headers.location]).toEqual([
      303,
      '/socialLogin?return=%2Faccount%2Fcomment%3Farticle%3D1%26parent%3D90',
    ]);
  });

  it('is shown in the form again when WordPress is down, or when the reader has been signed out', async () => {
    const ada = await reader();
    const typed = { article: '1', parent: '0', content: 'Kept “words”.', name: 'Ada' };
    site.moderation.trouble = 'down';
    const away = await ada.browser.submit('/account/comment', typed);
    site.moderation.trouble = 'none';
    expect(away.status).toBe(503);
    expect(holds(away.text, 'It’s saved here')).toBe(true);
    expect(formOf(away.text, form)).toMatchObject({ name: 'Ada' });
    expect(holds(away.text, 'Kept “words”.</textarea>')).toBe(true);
    const gone = await site.browser().submit('/account/comment', typed);
    expect(gone.status).toBe(401);
    expect(holds(gone.text, 'Kept “words”.</textarea>')).toBe(true);
    expect(
      (await ada.browser.submit('/account/comment', { ...formOf(away.text, form), content: 'Kept “words”.' })).status,
    ).toBe(303);
    expect(site.moderation.all().filter((each) => each.raw === 'Kept “words”.')).toHaveLength(1);
  });
});

it('a hostile comment runs no script, and its links are limited and marked nofollow', async () => {
  const page = await article('/article/story-1/comments/90');
  expect(holds(page, 'rel="nofollow ugc noopener noreferrer"', 'Mallory')).toBe(true);
  expect(page.match(/href="https:\/\/spam\.example/g)).toHaveLength(publication.comments.links);
  expect(holds(page, '<p>offer 5</p>')).toBe(true);
  expect(/onerror=|alert\(1\)|onclick=|\u202e/.test(page)).toBe(false);
});

it('threads are sorted newest first, oldest first or by replies; an unknown order gets the plain page, with no render', async () => {
  const path = '/article/story-2/comments';
  const threads = (html: string) =>
    [...html.matchAll(/<li class="comment"[^>]*id="comment-(80|81|82)"/g)].map(([, id]) => Number(id));
  const plain = await article(path);
  expect(threads(plain)).toEqual([82, 81, 80]);
  expect(threads(await article(`${path}?sort=oldest`))).toEqual([80, 81, 82]);
  expect(threads(await article(`${path}?sort=replies`))).toEqual([81, 82, 80]);
  const { renders } = site.sitePress.press.stats().counters;
  const unknown = await site.browser().get(`${path}?sort=loudest`);
  expect([unknown.status, unknown.text === plain]).toEqual([200, true]);
  expect(site.sitePress.press.stats().counters.renders).toBe(renders);
});

it('a thread below a story’s former address redirects to the same page of the thread below the present one', async () => {
  const story = wordpress.store.articles.get(4);
  wordpress.put('articles', { ...story, id: 4, slug: 'story-4-renamed', modified_gmt: '2026-11-20T16:00:00' });
  await site.content.syncNow();
  const moved = async (path: string) => {
    const { status, headers } = await site.browser().get(path);
    return [status, headers.location];
  };
  expect(await moved('/article/story-4/comments')).toEqual([301, '/article/story-4-renamed/comments']);
  expect(await moved('/article/story-4/comments/90')).toEqual([301, '/article/story-4-renamed/comments/90']);
  expect(await moved('/article/story-4/comments/90?page=2')).toEqual([
    301,
    '/article/story-4-renamed/comments/90?page=2',
  ]);
  expect((await site.browser().get('/article/story-40/comments/90')).status).toBe(404);
});

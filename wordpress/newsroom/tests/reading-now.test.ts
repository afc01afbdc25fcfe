/** "Reading now": WordPress's request to the site, what it shows of the answer, and its message when there is none. */
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { CallOptions } from './harness.ts';
import { newsroom, receiver, withNewsroom } from './opened.ts';
import { sign } from './receiver.ts';

withNewsroom();

let story = 0;
let draft = 0;

beforeAll(async () => {
  [story, draft] = await newsroom.php(
    `$make = function ( $title, $status ) { return wp_insert_post( wp_slash( array( 'post_type' => 'articles', 'post_title' => $title, 'post_name' => 'read-' . wp_rand(), 'post_status' => $status ) ) ); }; return array( $make( 'Read <b>&</b> "seen" <script>alert(1)</script>', 'publish' ), $make( 'Unseen', 'draft' ) );`,
  );
});

const at = Date.UTC(2026, 10, 25, 9, 30, 15);
const answered = (stories: unknown, part: object = {}) => ({
  status: 200,
  body: {
    ok: true,
    at,
    periods: [5, 30, 60].map((minutes) => ({ minutes, readings: 12, before: 9, stories })),
    ...part,
  },
});
const counted = (id: number, readings: number, before: number) => ({ id, readings, before });

beforeEach(async () => {
  await receiver.open();
  receiver.clear();
  receiver.reply = () => answered([counted(story, 1234, 1230)]);
});

const ask = (query = '', as: CallOptions['as'] | null = 'admin') =>
  newsroom.rest(`/newsroom/v1/reading-now${query}`, { as: as ?? undefined });

it('the reading-now list is requested with a signed request that does not name the user', async () => {
  const { status, headers, json } = await ask();
  expect([status, headers.get('cache-control')]).toEqual([200, expect.stringContaining('no-store')]);
  expect(json).toMatchObject({ problem: false, note: expect.stringMatching(/^Counted at \d\d:30:15\.$/) });
  const [question] = receiver.deliveries;
  if (!question) throw new Error('nothing was asked');
  expect(question.path).toBe('POST /api/v1/articles/popular/now');
  expect(question.signature).toBe(sign(newsroom.secret, question));
  expect(question.body).toMatchObject({ event: 'test', type: 'site', id: 0, slug: 'reading-now' });
});

it('the reading-now list shows readers and trend, with text for screen readers, and escapes headlines', async () => {
  const { html } = (await ask()).json;
  expect(html).toContain('Read &amp; &quot;seen&quot;');
  expect(html).not.toMatch(/<script|<b>/);
  expect(html).toContain('<td>1,234</td>');
  expect(html).toContain('<span aria-hidden="true">▲ 4</span><span class="screen-reader-text">up by 4</span>');
  expect(html).toContain('<strong>12 readers</strong>');
  expect(html).toContain(`href="${receiver.url}/article/read-`);
  receiver.reply = () => answered([counted(story, 2, 5)]);
  expect((await ask()).json.html).toContain('down by 3');
  receiver.reply = () => answered([counted(story, 2, 2)]);
  expect((await ask()).json.html).toContain('same as before');
});

it('the reading-now list omits drafts and unknown stories, and says if it is empty', async () => {
  receiver.reply = () => answered([counted(draft, 9, 0), counted(999_999, 8, 0)]);
  const { html } = (await ask()).json;
  expect(html).toContain('No one started reading a story in this period.');
  expect(html).not.toContain('Unseen');
});

it('the reading-now list shows the requested period, and answers 400 to an invalid period or length', async () => {
  receiver.reply = () => ({
    status: 200,
    body: { ok: true, at, periods: [{ minutes: 30, readings: 77, before: 0, stories: [counted(story, 77, 0)] }] },
  });
  expect((await ask('?minutes=30&most=1')).json.html).toContain('77 readers');
  expect((await ask('?minutes=5')).json.html).toBe('');
  for (const query of ['?minutes=7', '?minutes=x', '?most=0', '?most=5000'])
    expect((await ask(query)).status).toBe(400);
});

it.each([
  ['runs an older version', { status: 404, body: {} }, 'Update the site.'],
  ['refuses the signature', { status: 401, body: { ok: false, reason: 'signature' } }, 'refused the signature'],
  ['can’t count', { status: 503, body: { ok: false } }, 'can’t count readers right now'],
  ['answers with unrelated JSON', { status: 200, body: { hello: 1 } }, 'isn’t from the site'],
  ['answers with wrong types', { status: 200, body: { ok: true, at: 'now', periods: 'none' } }, 'isn’t from the site'],
])('the reading-now list reports a problem if the site %s', async (_what, reply, words) => {
  receiver.reply = () => reply;
  expect((await ask()).json).toMatchObject({ problem: true, html: '', note: expect.stringContaining(words) });
});

it('the reading-now list ignores malformed parts of the site’s response', async () => {
  receiver.reply = () =>
    answered([null, 7, { id: story }, { id: story, readings: '<b>3</b>', before: [] }], { extra: '<script>' });
  const { status, json } = await ask();
  expect([status, json.problem]).toEqual([200, false]);
  expect(json.html).not.toMatch(/<script|<b>/);
});

it('the reading-now list reports that the site is down, and shows counts again when it is back', async () => {
  await receiver.close();
  expect((await ask()).json).toMatchObject({ problem: true, note: expect.stringContaining('isn’t responding') });
  const screen = await newsroom.php(`ob_start(); newsroom_reading_screen(); return ob_get_clean();`);
  expect(screen).toContain('The site isn’t responding.');
  await receiver.open();
  expect((await ask()).json.problem).toBe(false);
});

describe('the reading-now list', () => {
  it('answers 403 to the site’s account and 401 without credentials', async () => {
    expect((await ask('', 'reporter')).status).toBe(200);
    expect((await ask('', 'site')).status).toBe(403);
    expect((await ask('', null)).status).toBe(401);
  });

  it('has no edit links for users who may not edit the story', async () => {
    expect((await ask('', 'admin')).json.html).toContain('data-edit');
    expect((await ask('', 'reporter')).json.html).not.toContain('data-edit');
  });
});

it('the reading-now dashboard widget does not wait for the site, and the full screen needs no script', async () => {
  const widget = await newsroom.php(`ob_start(); newsroom_reading_widget(); return ob_get_clean();`);
  expect(widget).toContain('Loading…');
  expect(receiver.deliveries).toEqual([]);
  const screen = await newsroom.php(
    `$_GET['minutes'] = '60'; ob_start(); newsroom_reading_screen(); return ob_get_clean();`,
  );
  expect(screen).toContain('<td>1,234</td>');
  expect(screen).toMatch(/data-minutes="60" aria-current="true"/);
});

import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { body } from './harness.ts';
import { newsroom, receiver, sentWebhook, withNewsroom } from './opened.ts';
import { sign } from './receiver.ts';
import { untilSent } from './until-sent.ts';

withNewsroom();

const accept = receiver.reply;

beforeAll(async () => {
  await newsroom.pretend({ retry: 1 });
});
afterEach(async () => {
  receiver.reply = accept;
  await receiver.open();
});

/** Saves as an editor does and returns the document. */
async function save(route: string, content: unknown, method = 'POST') {
  const { status, json } = await newsroom.rest(`/wp/v2/${route}`, { as: 'admin', method, body: content });
  expect(status).toBeLessThan(300);
  return json;
}
const publish = (title: string, more = {}) => save('articles', { title, status: 'publish', content: body(), ...more });
const about = (id: number, event?: string) => (payload: { id: number; event: string }) =>
  payload.id === id && (!event || payload.event === event);
/** Events that have arrived for a document, once everything queued has been sent; a repeated delivery counts once. */
async function events(id: number) {
  await idle();
  const about = new Map(
    receiver.deliveries.filter(({ body: payload }) => payload.id === id).map((delivery) => [delivery.id, delivery]),
  );
  return [...about.values()].map(({ body: payload }) => payload.event);
}
const idle = () => untilSent(newsroom);
const row = (id: number) => newsroom.php(`return newsroom_last_delivery( $input[0], $input[1] );`, ['articles', id]);

/** Runs wp-cron until what is read has a value. */
const cronUntil = (read: () => Promise<unknown>, value: unknown) =>
  expect
    .poll(
      async () => {
        await newsroom.cron();
        return read();
      },
      { interval: 300 },
    )
    .toBe(value);

describe('a webhook delivery', () => {
  it('is signed, has the event’s data, and is logged with the site’s response', async () => {
    const begun = Date.now() / 1000;
    const article = await publish('Signed and sealed');
    const delivery = await receiver.find(about(article.id));
    expect(delivery.path).toBe('POST /api/v1/revalidate');
    expect(delivery.signature).toBe(sign(newsroom.secret, delivery));
    expect(delivery.timestamp).toBeGreaterThanOrEqual(Math.floor(begun));
    expect(delivery.timestamp).toBeLessThanOrEqual(Date.now() / 1000);
    expect(delivery.id).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
    expect(delivery.body).toEqual({
      event: 'publish',
      type: 'articles',
      id: article.id,
      slug: 'signed-and-sealed',
      previous_slug: null,
      status: 'publish',
      modified: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
    });
    await idle();
    expect(await row(article.id)).toMatchObject({
      state: 'done',
      status_code: '200',
      tries: '1',
      site_ms: '7',
      refreshed: '["\\/","\\/latest"]',
    });
    const note = await newsroom.rest(`/newsroom/v1/delivery/${article.id}`, { as: 'admin' });
    expect(note.json).toMatchObject({
      state: 'done',
      message: expect.stringMatching(/^Live on the site in [\d,]+ ms\.$/),
    });
    expect((await newsroom.rest(`/newsroom/v1/delivery/${article.id}`)).status).toBe(401);
  });

  it('does not delay the editor’s save', async () => {
    let release = () => {};
    receiver.reply = () =>
      new Promise((resolve) => {
        release = () => resolve({ status: 200, body: { ok: true } });
      });
    const arrived = receiver.find(({ slug }) => slug === 'not-waiting');
    // The save is answered before the site answers: otherwise this would never end.
    const article = await publish('Not waiting');
    expect(article.status).toBe('publish');
    await arrived;
    release();
    await idle();
  });

  it('lets the site read the document before it responds', async () => {
    let read: Promise<unknown> | undefined;
    receiver.reply = async ({ body: payload }) => {
      const answer = await newsroom.rest(`/wp/v2/articles/${payload.id}`, { as: 'site' });
      read = Promise.resolve(answer.json.title.rendered);
      return { status: 200, body: { ok: true } };
    };
    const article = await publish('Read while sending');
    await receiver.find(about(article.id));
    await idle();
    expect(await read).toBe('Read while sending');
  });
});

it.each([
  ['is rendering longer than WordPress waits', 5, 'cURL error 28: Operation timed out after 5001 milliseconds', false],
  ['takes longer than it ever does', 10, 'cURL error 28: Operation timed out after 10001 milliseconds', true],
  ['can’t be reached', 5, 'cURL error 28: Connection timed out after 5001 milliseconds', true],
  ['refuses the connection', 5, 'cURL error 7: Failed to connect to the.sun port 443', true],
])('changes wait for half a minute only after the site was down: it %s', async (_, seconds, error, isDown) => {
  const [down, state] = await newsroom.php(
    `delete_transient( 'newsroom_site_down' );
    add_filter( 'pre_http_request', function () use ( $input ) { return new WP_Error( 'http_request_failed', $input[1] ); } );
    $row = newsroom_enqueue( newsroom_payload( 'update', 'site', 0, '', 'publish' ) );
    newsroom_deliver_row( $row, $input[0] );
    $down = (bool) get_transient( 'newsroom_site_down' );
    global $wpdb;
    $state = $wpdb->get_var( $wpdb->prepare( 'SELECT state FROM ' . newsroom_table() . ' WHERE id = %d', $row ) );
    $wpdb->delete( newsroom_table(), array( 'id' => $row ) );
    delete_transient( 'newsroom_site_down' );
    return array( $down, $state );`,
    [seconds, error],
  );
  expect([down, state]).toEqual([isDown, 'pending']);
});

describe('webhooks for documents', () => {
  it('are sent for each change of an article from publication to deletion', async () => {
    const article = await publish('A life', { status: 'draft' });
    const id = article.id;
    await save(`articles/${id}`, { content: 'More.' });
    await save(`articles/${id}`, { status: 'publish' });
    expect(await events(id)).toEqual(['publish']);
    await save(`articles/${id}`, { title: 'A longer life' });
    expect(await events(id)).toEqual(['publish', 'update']);
    await save(`articles/${id}`, { slug: 'another-life' });
    const moved = await sentWebhook(about(id, 'slug'));
    expect(moved.body).toMatchObject({ slug: 'another-life', previous_slug: 'a-life' });
    expect((await newsroom.rest(`/wp/v2/articles/${id}`)).json.old_slugs).toEqual(['a-life']);
    await save(`articles/${id}`, { status: 'draft' });
    await sentWebhook(about(id, 'unpublish'));
    await save(`articles/${id}`, { slug: 'third-life' });
    await save(`articles/${id}`, { status: 'publish' });
    const again = await sentWebhook((payload) => about(id, 'publish')(payload) && payload.slug === 'third-life');
    expect(again.body.previous_slug).toBe('another-life');
    await save(`articles/${id}`, undefined, 'DELETE');
    expect((await sentWebhook(about(id, 'trash'))).body).toMatchObject({ slug: 'third-life', status: 'trash' });
    await save(`articles/${id}?force=true`, undefined, 'DELETE');
    expect((await sentWebhook(about(id, 'delete'))).body).toMatchObject({ slug: 'third-life', status: 'trash' });
    expect(await events(id)).toEqual(['publish', 'update', 'slug', 'unpublish', 'publish', 'trash', 'delete']);
  });

  it('are sent when a document becomes private or password-protected, and when it is public again', async () => {
    const { id } = await publish('Hidden and found');
    await sentWebhook(about(id, 'publish'));
    await save(`articles/${id}`, { password: 'sesame' });
    expect((await sentWebhook(about(id, 'unpublish'))).body.status).toBe('private');
    await save(`articles/${id}`, { title: 'Still hidden' });
    expect(await events(id)).toEqual(['publish', 'unpublish']);
    await save(`articles/${id}`, { password: '' });
    // A change is merged with one of the same story that hasn't been sent.
    await idle();
    await save(`articles/${id}`, { status: 'private' });
    expect(await events(id)).toEqual(['publish', 'unpublish', 'publish', 'unpublish']);
  });

  it('are sent when only meta or a section changes', async () => {
    const { id } = await publish('Only meta');
    await sentWebhook(about(id, 'publish'));
    const changes = [
      () => save(`articles/${id}`, { meta: { newsroom_access: 'free' } }),
      () => newsroom.php(`update_post_meta( $input, 'newsroom_access', 'registered' ); return 1;`, id),
      () => newsroom.php(`wp_set_object_terms( $input, 'justice', 'category' ); return 1;`, id),
    ];
    for (const change of changes) {
      // A change is merged with one of the same story that hasn't been sent.
      await idle();
      await change();
    }
    expect(await events(id)).toEqual(['publish', 'update', 'update', 'update']);
  });

  it('are not sent for drafts, autosaves and other post types', async () => {
    const draft = await publish('Quiet', { status: 'draft' });
    await save(`articles/${draft.id}/autosaves`, { content: 'x' });
    await save(`articles/${draft.id}`, { meta: { newsroom_access: 'free' } });
    await save(`articles/${draft.id}?force=true`, undefined, 'DELETE');
    const post = await save('posts', { title: 'A blog post', status: 'publish' });
    const article = await publish('Loud');
    await sentWebhook(about(article.id));
    const before = (await events(article.id)).length;
    await save(`articles/${article.id}/autosaves`, { content: 'Unsaved' });
    expect(await events(draft.id)).toEqual([]);
    expect(await events(post.id)).toEqual([]);
    expect(await events(article.id)).toHaveLength(before);
  });

  it('are sent for what another plugin changes while the request ends', async () => {
    const { id } = await publish('Changed at the end');
    await idle();
    receiver.clear();
    await newsroom.php(
      `add_action( 'shutdown', function () use ( $input ) { wp_update_post( array( 'ID' => $input, 'post_title' => 'Changed on shutdown' ) ); }, 20 ); return 1;`,
      id,
    );
    expect(await events(id)).toEqual(['update']);
  });

  it('are sent when a scheduled article goes live', async () => {
    const { id, status } = await publish('Soon', {
      date_gmt: new Date(Date.now() + 3_600_000).toISOString().slice(0, 19),
    });
    expect(status).toBe('future');
    // An hour passes.
    await newsroom.php(
      `global $wpdb;
      $wpdb->update( $wpdb->posts, array( 'post_date' => current_time( 'mysql' ), 'post_date_gmt' => gmdate( 'Y-m-d H:i:s' ) ), array( 'ID' => $input ) );
      clean_post_cache( $input );
      wp_clear_scheduled_hook( 'publish_future_post', array( $input ) );
      wp_schedule_single_event( time() - 1, 'publish_future_post', array( $input ) );
      return 1;`,
      id,
    );
    expect(await events(id)).toEqual([]);
    await newsroom.cron();
    await sentWebhook(about(id));
    expect((await newsroom.rest(`/wp/v2/articles/${id}`)).status).toBe(200);
    expect(await events(id)).toEqual(['publish']);
  });

  it('are sent when a scheduled article goes live, before the next task of wp-cron begins', async () => {
    const { id } = await publish('On time', {
      date_gmt: new Date(Date.now() + 3_600_000).toISOString().slice(0, 19),
    });
    const state = await newsroom.php(
      `define( 'DOING_CRON', true );
      global $wpdb;
      $wpdb->update( $wpdb->posts, array( 'post_date' => current_time( 'mysql' ), 'post_date_gmt' => gmdate( 'Y-m-d H:i:s' ) ), array( 'ID' => $input ) );
      clean_post_cache( $input );
      do_action( 'publish_future_post', $input );
      $row = newsroom_last_delivery( 'articles', $input );
      return $row ? (int) $row->tries : null;`,
      id,
    );
    expect(state).toBe(1);
    expect(await events(id)).toEqual(['publish']);
  });
});

describe('other webhooks', () => {
  it('are sent for authors, pages and videos', async () => {
    const author = await save('authors', { title: 'Cleo', status: 'publish' });
    expect((await sentWebhook(about(author.id))).body).toMatchObject({
      event: 'author',
      type: 'authors',
      slug: 'cleo',
    });
    await save(`authors/${author.id}`, { slug: 'cleo-marsh' });
    expect((await sentWebhook(({ slug }) => slug === 'cleo-marsh')).body).toMatchObject({
      event: 'author',
      previous_slug: 'cleo',
    });
    await save(`authors/${author.id}`, { status: 'draft' });
    await sentWebhook(about(author.id, 'unpublish'));
    const page = await save('pages', { title: 'Terms', status: 'publish' });
    expect((await sentWebhook(about(page.id))).body).toMatchObject({ event: 'publish', type: 'pages' });
    const video = await save('video', { title: 'Reel', status: 'publish' });
    expect((await sentWebhook(about(video.id))).body.type).toBe('video');
  });

  it('are sent when a section is created, renamed, given new settings or deleted', async () => {
    const term = await save('categories', { name: 'Weather' });
    const about = (slug: string, fits = (_: { status: string }) => true) =>
      sentWebhook((payload) => payload.type === 'categories' && payload.slug === slug && fits(payload));
    expect((await about('weather')).body).toMatchObject({ event: 'term', id: term.id, previous_slug: null });
    receiver.clear();
    await save(`categories/${term.id}`, { meta: { newsroom_label: 'Skies' } });
    await about('weather');
    await save(`categories/${term.id}`, { slug: 'skies' });
    expect((await about('skies')).body.previous_slug).toBe('weather');
    const former = async () => (await newsroom.rest(`/wp/v2/categories/${term.id}`)).json.newsroom.former_slugs;
    expect(await former()).toEqual(['weather']);
    await save(`categories/${term.id}`, { slug: 'weather' });
    expect(await former()).toEqual(['skies']);
    await save(`categories/${term.id}`, { slug: 'skies' });
    await save(`categories/${term.id}?force=true`, undefined, 'DELETE');
    expect((await about('skies', ({ status }) => status === 'trash')).body).toMatchObject({
      event: 'term',
      id: term.id,
    });
  });

  it('are sent for menus', async () => {
    const menu = await newsroom.php(
      `$menu = wp_create_nav_menu( 'Foot' ); set_theme_mod( 'nav_menu_locations', array( 'footer' => $menu ) ); return $menu;`,
    );
    expect((await sentWebhook(({ type }) => type === 'menus')).body).toMatchObject({ event: 'menu', id: menu });
  });

  it('are sent for menu items that a program adds, changes or deletes', async () => {
    const menu = await newsroom.php(`return wp_create_nav_menu( 'Items' );`);
    const add = `wp_update_nav_menu_item( $input[0], $input[1], array( 'menu-item-title' => 'About', 'menu-item-url' => '/about', 'menu-item-status' => 'publish' ) )`;
    let item = 0;
    for (const change of [add, add, `(bool) wp_delete_post( $input[1], true )`]) {
      await idle();
      receiver.clear();
      const answer = await newsroom.php(`return ${change};`, [menu, item]);
      item = typeof answer === 'number' ? answer : 0;
      await idle();
      expect(receiver.deliveries.map(({ body: { type, id } }) => [type, id])).toEqual([['menus', menu]]);
    }
    receiver.clear();
    // An item that isn't in a menu yet.
    await newsroom.php(`return wp_update_nav_menu_item( 0, 0, array( 'menu-item-title' => 'Loose' ) );`);
    await idle();
    expect(receiver.deliveries).toEqual([]);
  });

  it('are sent for the first menu that is assigned in a theme', async () => {
    const menu = await newsroom.php(`$menu = wp_create_nav_menu( 'First' ); remove_theme_mods(); return $menu;`);
    await idle();
    receiver.clear();
    await newsroom.php(`set_theme_mod( 'nav_menu_locations', array( 'footer' => $input ) ); return 1;`, menu);
    await idle();
    expect(receiver.deliveries.map(({ body: { type, id } }) => [type, id])).toEqual([['menus', menu]]);
  });

  it('are sent for both types when a document changes its type', async () => {
    const { id } = await publish('Once an article');
    await idle();
    receiver.clear();
    await newsroom.php(`return wp_update_post( array( 'ID' => $input, 'post_type' => 'video' ) );`, id);
    await idle();
    const sent = () => receiver.deliveries.map(({ body: { event, type, status } }) => [event, type, status]);
    expect(sent()).toEqual([
      ['delete', 'articles', 'trash'],
      ['publish', 'video', 'publish'],
    ]);
    receiver.clear();
    await newsroom.php(`return wp_update_post( array( 'ID' => $input, 'post_type' => 'post' ) );`, id);
    await idle();
    expect(sent()).toEqual([['delete', 'video', 'trash']]);
  });

  it('are sent for comments that readers see, but not for comments awaiting approval', async () => {
    const article = await publish('Discussed');
    const write = async () =>
      (
        await newsroom.rest('/wp/v2/comments', {
          as: 'site',
          method: 'POST',
          body: {
            post: article.id,
            author_name: 'Reader',
            author_email: 'reader@example.com',
            content: `Thought ${crypto.randomUUID()}`,
          },
        })
      ).json;
    const comment = await write();
    expect(comment.status).toBe('hold');
    const of = (status: string) =>
      sentWebhook((payload) => payload.type === 'comments' && payload.id === comment.id && payload.status === status);
    await idle();
    expect(receiver.deliveries.some(({ body: payload }) => payload.type === 'comments')).toBe(false);
    await save(`comments/${comment.id}`, { status: 'approved' });
    expect((await of('publish')).body).toMatchObject({ event: 'comment', slug: '', post: article.id });
    receiver.clear();
    await save(`comments/${comment.id}`, { content: 'Better words' });
    await of('publish');
    await save(`comments/${comment.id}`, { status: 'hold' });
    await of('trash');
    receiver.clear();
    await save(`comments/${comment.id}`, { status: 'approved' });
    await of('publish');
    await save(`comments/${comment.id}?force=true`, undefined, 'DELETE');
    await of('trash');
  });
});

describe('a webhook that the site does not accept', () => {
  it('is sent again until the site accepts it, with the same ID and a new signature', async () => {
    // A webhook of an earlier test would take one of the refusals.
    await idle();
    receiver.clear();
    let refusals = 2;
    receiver.reply = () =>
      refusals-- > 0 ? { status: 503, headers: { 'retry-after': '1' } } : { status: 200, body: { ok: true } };
    const { id } = await publish('Stubborn');
    await receiver.find(about(id));
    await cronUntil(async () => (await row(id)).state, 'done');
    const tries = receiver.deliveries.filter(({ body: payload }) => payload.id === id);
    expect(tries).toHaveLength(3);
    expect(new Set(tries.map((each) => each.id)).size).toBe(1);
    expect(new Set(tries.map((each) => each.timestamp)).size).toBe(3);
    for (const each of tries) expect(each.signature).toBe(sign(newsroom.secret, each));
  });

  it('is merged with later ones of its document while the site is down, without losing a withdrawal', async () => {
    await idle();
    receiver.clear();
    const kept = await publish('Kept');
    const gone = await publish('Gone');
    await events(gone.id);
    receiver.clear();
    await receiver.close();
    const spent: number[] = [];
    const timed = async (...given: Parameters<typeof save>) => {
      const begun = Date.now();
      await save(...given);
      spent.push(Date.now() - begun);
    };
    for (const title of ['Kept 1', 'Kept 2', 'Kept 3']) await timed(`articles/${kept.id}`, { title });
    await timed(`articles/${kept.id}`, { slug: 'kept-elsewhere' });
    await timed(`articles/${kept.id}`, { title: 'Kept 4' });
    await timed(`articles/${gone.id}`, { title: 'Going' });
    await timed(`articles/${gone.id}`, undefined, 'DELETE');
    await timed(`articles/${gone.id}?force=true`, undefined, 'DELETE');
    // Here WordPress waits a minute for a site (support/newsroom-tests).
    expect(Math.max(...spent), 'saving does not wait for a dead site').toBeLessThan(60_000);
    // One of the two deliveries may be in progress now, and will fail and be queued again.
    await expect
      .poll(
        () =>
          newsroom.php(
            `global $wpdb; return $wpdb->get_results( 'SELECT object_id, event, state FROM ' . newsroom_table() . " WHERE state IN ( 'pending', 'sending' ) ORDER BY object_id" );`,
          ),
        { interval: 100 },
      )
      .toEqual([
        { object_id: String(kept.id), event: 'slug', state: 'pending' },
        { object_id: String(gone.id), event: 'delete', state: 'pending' },
      ]);
    const note = await newsroom.rest(`/newsroom/v1/delivery/${kept.id}`, { as: 'admin' });
    expect(note.json.message).toMatch(/WordPress will try again/);
    await receiver.open();
    await cronUntil(async () => receiver.deliveries.length, 2);
    await idle();
    const byId = Object.fromEntries(receiver.deliveries.map(({ body: payload }) => [payload.id, payload]));
    expect(byId[kept.id]).toMatchObject({ event: 'slug', slug: 'kept-elsewhere', previous_slug: 'kept' });
    expect(byId[gone.id]).toMatchObject({ event: 'delete', slug: 'gone' });
  });

  it('is logged as a duplicate, a wrong clock or an outdated plugin, as the site’s response says', async () => {
    receiver.reply = () => ({ status: 409, body: { ok: false, reason: 'duplicate', error: 'known' } });
    const known = await publish('Known already');
    await idle();
    expect(await row(known.id)).toMatchObject({
      state: 'done',
      status_code: '409',
      error: expect.stringContaining('already has this change'),
    });
    let refused = 0;
    receiver.reply = () =>
      ++refused > 2 ? accept({} as never) : { status: 412, body: { ok: false, reason: 'clock', ahead: 3600 } };
    const early = await publish('Too early');
    await expect.poll(async () => (await row(early.id)).error).toContain('clock is 1 hour ahead');
    await cronUntil(async () => (await row(early.id)).state, 'done');
    expect(await row(early.id)).toMatchObject({ status_code: '200', tries: '3' });
    // A proxy in between may answer 409 as well, without having delivered anything.
    await newsroom.pretend({ give_up: -1 });
    receiver.reply = () => ({ status: 409 });
    const lost = await publish('Lost on the way');
    await idle();
    expect(await row(lost.id)).toMatchObject({ state: 'failed', status_code: '409' });
    receiver.reply = () => ({ status: 412, body: { ok: false, reason: 'clock', ahead: -900 } });
    const late = await publish('Too late');
    await idle();
    expect((await row(late.id)).error).toMatch(/clock is 15 min\w+ behind/);
    receiver.reply = () => ({ status: 401, body: { ok: false, reason: 'outdated-plugin' } });
    const old = await publish('From an older plugin');
    await idle();
    expect((await row(old.id)).error).toContain('Update the plugin');
    const screen = await newsroom.php(`ob_start(); newsroom_print_log(); return ob_get_clean();`);
    for (const words of ['already has this change', ' behind the site’s', 'Update the plugin'])
      expect(screen).toContain(words);
    await newsroom.pretend({ retry: 1 });
  });

  it('has a reason that fits a test, too, which isn’t sent again', async () => {
    const reasons = await newsroom.php(
      `return array( newsroom_explain_status( 503 ), newsroom_explain_status( 503, 'storage' ), newsroom_explain_status( 503, 'wordpress' ), newsroom_explain_status( 412, 'clock', 60 ), newsroom_explain_status( 412, 'clock', -60 ) );`,
    );
    expect(reasons.filter((reason: string) => reason.includes('try again'))).toEqual([]);
  });

  it('is dropped at once after 422, and after other errors when the time limit is reached', async () => {
    receiver.reply = () => ({ status: 422 });
    const malformed = await publish('Malformed');
    await idle();
    expect(await row(malformed.id)).toMatchObject({ state: 'failed', tries: '1' });
    const noteOf = async (id: number) =>
      (await newsroom.rest(`/newsroom/v1/delivery/${id}`, { as: 'admin' })).json.message;
    expect(await noteOf(malformed.id)).toMatch(/^The site refused the change: /);
    await newsroom.pretend({ give_up: -1 });
    receiver.reply = () => ({ status: 401 });
    const refused = await publish('Refused');
    await idle();
    expect(await row(refused.id)).toMatchObject({ state: 'failed', error: expect.stringContaining('NEWSROOM_SECRET') });
    expect(await noteOf(refused.id)).toMatch(
      /^The site didn’t get the change within a day, so WordPress stopped trying: /,
    );
    await newsroom.pretend({ retry: 1 });
  });

  it('fails if another server answers with 200', async () => {
    await newsroom.pretend({ give_up: -1 });
    receiver.reply = () => ({ status: 200, body: 'hello' });
    const { id } = await publish('Mistaken');
    await idle();
    expect(await row(id)).toMatchObject({ state: 'failed', status_code: '200' });
    await newsroom.pretend({ retry: 1 });
  });

  it('waits longer and a random time before each retry', async () => {
    await newsroom.pretend({});
    const delays = await newsroom.php(
      `return array_map( function ( $tries ) { return array_map( function () use ( $tries ) { return newsroom_retry_delay( $tries ); }, range( 1, 40 ) ); }, range( 1, 14 ) );`,
    );
    await newsroom.pretend({ retry: 1 });
    const middle = [15, 30, 60, 120, 240, 480, 960, 1920, 3840, 7680, 15360, 21600, 21600, 21600];
    delays.forEach((some: number[], index: number) => {
      const expected = middle[index] ?? 0;
      expect(Math.min(...some)).toBeGreaterThanOrEqual(Math.floor(expected * 0.8));
      expect(Math.max(...some)).toBeLessThanOrEqual(Math.ceil(expected * 1.2));
      expect(new Set(some).size).toBeGreaterThan(1);
    });
    expect(await newsroom.php(`return newsroom_retry_delay( 1, 600 );`)).toBe(600);
  });
});

describe('the list of changes', () => {
  const changes = (query: string, as?: 'site' | 'admin' | 'reporter') =>
    newsroom.rest(`/newsroom/v1/changes?${query}`, { as });

  it('has recent and waiting changes in order', async () => {
    await idle();
    const old = await publish('Long ago');
    const gone = await publish('Soon gone');
    await save(`articles/${gone.id}`, { status: 'draft' });
    await idle();
    const waits = await newsroom.php(
      `global $wpdb; add_filter( 'newsroom_webhooks_enabled', '__return_false' ); $wpdb->update( newsroom_table(), array( 'created_ms' => 1, 'tried_at' => 1 ), array( 'object_id' => $input ) ); $id = newsroom_enqueue( newsroom_payload( 'update', 'video', 900, 'film', 'publish' ) ); newsroom_update_row( $id, array( 'created_ms' => 1, 'next_at' => time() + 3600 ) ); return $id;`,
      old.id,
    );
    const { status, json } = await changes('seconds=600', 'site');
    expect(status).toBe(200);
    expect(json.filter(({ id }: { id: number }) => id === old.id)).toEqual([]);
    const last = json.filter(({ id, event }: { id: number; event: string }) => id === gone.id && event === 'unpublish');
    const delivery = expect.stringMatching(/^[0-9a-f-]{36}$/);
    expect(last).toEqual([
      { row: expect.any(Number), delivery, event: 'unpublish', type: 'articles', id: gone.id, slug: 'soon-gone' },
    ]);
    expect(json.at(-1)).toEqual({ row: waits, delivery, event: 'update', type: 'video', id: 900, slug: 'film' });
    const rows = json.map(({ row: each }: { row: number }) => each);
    expect(rows).toEqual(rows.toSorted((a: number, b: number) => a - b));
    expect(
      (await changes(`seconds=600&after=${last[0].row}`, 'site')).json.map((each: { row: number }) => each.row),
    ).toEqual(rows.filter((each: number) => each > last[0].row));
    await newsroom.php(`newsroom_update_row( $input, array( 'state' => 'done' ) ); return 1;`, waits);
    expect((await changes(`seconds=600&after=${waits - 1}`, 'site')).json).toEqual([]);
    await newsroom.php(`newsroom_update_row( $input, array( 'tried_at' => time() ) ); return 1;`, waits);
    expect((await changes(`seconds=600&after=${waits - 1}`, 'site')).json).toHaveLength(1);
    expect((await changes(`seconds=1&after=${waits}`, 'site')).json).toEqual([]);
  });

  it('has at most 100 rows in one response', async () => {
    const first = await newsroom.php(
      `add_filter( 'newsroom_webhooks_enabled', '__return_false' ); $ids = array(); for ( $i = 0; $i < 103; $i++ ) { $ids[] = newsroom_enqueue( newsroom_payload( 'update', 'articles', 800000 + $i, 's', 'publish' ) ); newsroom_update_row( end( $ids ), array( 'state' => 'done' ) ); } return $ids[0];`,
    );
    const page = (await changes(`seconds=600&after=${first - 1}`, 'site')).json;
    expect(page).toHaveLength(100);
    expect((await changes(`seconds=600&after=${page.at(-1).row}`, 'site')).json).toHaveLength(3);
  });

  it('answers only the site’s account and administrators, and answers 400 to invalid parameters', async () => {
    expect((await changes('seconds=60')).status).toBe(401);
    expect((await changes('seconds=60', 'reporter')).status).toBe(403);
    expect((await changes('seconds=60', 'admin')).status).toBe(200);
    for (const query of [
      '',
      'seconds=0',
      'seconds=-5',
      'seconds=x',
      'seconds=604801',
      'seconds=60&after=-1',
      "seconds=60&after=1'",
    ])
      expect((await changes(query, 'site')).status, query).toBe(400);
  });
});

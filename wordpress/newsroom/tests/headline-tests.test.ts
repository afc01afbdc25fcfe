/** Headline tests of an article: over REST, in the classic editor's box, in the API, in the list, and how they end. */
import { beforeEach, describe, expect, it } from 'vitest';
import { xssPayloads } from '../../../tests/fixtures/xss.ts';
import type { CallOptions } from './harness.ts';
import { boxOf, newsroom, receiver, sentWebhook, submitBoxes, withNewsroom } from './opened.ts';
import { untilSent } from './until-sent.ts';

withNewsroom();

let article = 0;

const reports: Record<string, object> = {};
/** Ids of the tests that the site was asked about. */
const asked = () =>
  receiver.deliveries.filter(({ path }) => path.includes('/headline-tests/')).map(({ body }) => body.slug);

beforeEach(async () => {
  await receiver.open();
  for (const name of Object.keys(reports)) delete reports[name];
  receiver.reply = ({ path, body }) => {
    if (!path.includes('/headline-tests/')) return { status: 200, body: { ok: true, refreshed: [], ms: 7 } };
    const report = reports[body.id];
    return report ? { status: 200, body: { ok: true, ...report } } : { status: 404, body: { ok: false } };
  };
  article = await newsroom.php(
    `${siteIsUp} wp_unschedule_hook( 'newsroom_headline_tests' ); foreach ( newsroom_tested_stories() as $id ) { delete_post_meta( $id, 'newsroom_headline_test' ); } return wp_insert_post( array( 'post_type' => 'articles', 'post_title' => 'Own & only', 'post_status' => 'publish' ) );`,
  );
  receiver.clear();
});

const variant = (headline: string, image = 0) => ({ headline, image });
const save = (test: unknown, as: CallOptions['as'] | null = 'admin', more: object = {}) =>
  newsroom.rest(`/wp/v2/articles/${article}`, {
    as: as ?? undefined,
    method: 'POST',
    body: { ...more, meta: { newsroom_headline_test: test } },
  });
const running = (variants: object[] = [variant('Second')], part: object = {}) =>
  save({ state: 'running', variants, ...part });
const shown = async () => (await newsroom.rest(`/wp/v2/articles/${article}`)).json;
const field = () => newsroom.php(`wp_cache_flush(); return newsroom_headline_test_of( $input );`, article);
/** On a busy machine, a delivery of the saves before may have timed out: for half a minute the plugin would then ask nothing. */
const siteIsUp = `delete_transient( 'newsroom_site_down' );`;
const check = () => newsroom.php(`${siteIsUp} newsroom_check_headline_tests(); return 1;`);
const report = (part: object) => {
  reports[article] = {
    readers: 'consent',
    state: 'running',
    winner: null,
    readings: [100, 200],
    certainty: [0, 0.5],
    ended: null,
    ...part,
  };
};
const won = (winner: number) => report({ state: 'won', winner, ended: '2026-11-25T13:00:00Z' });

describe('a headline test over REST', () => {
  it('is null until it starts, lists its headlines while it runs, and is null after it stops', async () => {
    expect((await shown()).headline_test).toBeNull();
    await save({ state: 'off', variants: [variant('Second')] });
    expect((await shown()).headline_test).toBeNull();
    const saved = await running([variant('Second'), variant('Third')]);
    expect(saved.status, saved.text).toBe(200);
    const { headline_test: test, title } = await shown();
    expect(test).toEqual({
      id: expect.stringMatching(/^[0-9a-f]{16}$/),
      state: 'running',
      started: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
      others: [
        { headline: 'Second', image: null },
        { headline: 'Third', image: null },
      ],
    });
    expect(title.rendered).toContain('Own');
    await save({ ...(await field()), state: 'ended' });
    expect((await shown()).headline_test).toBeNull();
    expect(await field()).toMatchObject({ state: 'ended', reason: 'editor', winner: -1 });
  });

  it('shows everyone only the headlines that cards show: not before it starts, and without readings after it ends', async () => {
    const everyone = async () => (await newsroom.rest(`/wp/v2/articles/${article}`)).text;
    await save({ state: 'off', variants: [variant('Prepared words')] });
    const prepared = [await everyone(), (await newsroom.rest('/wp/v2/articles?per_page=100&_fields=meta')).text];
    await running([variant('Prepared words')]);
    expect(await everyone()).toContain('Prepared words');
    await save({ ...(await field()), state: 'ended', readings: [4711, 4712] });
    const ended = [await everyone(), (await newsroom.rest(`/wp/v2/articles/${article}`, { as: 'reporter' })).text];
    for (const text of [...prepared, ...ended]) {
      expect(text).toContain('meta');
      expect(text).not.toMatch(/Prepared words|471[12]|newsroom_headline_test/);
    }
    const { meta } = (await newsroom.rest(`/wp/v2/articles/${article}?context=edit`, { as: 'admin' })).json;
    expect(meta.newsroom_headline_test).toMatchObject({
      variants: [variant('Prepared words')],
      readings: [4711, 4712],
    });
  });

  it('gets a new ID when one of its headlines or their pictures changes, but not when the text changes', async () => {
    const change = (body: object) => newsroom.rest(`/wp/v2/articles/${article}`, { as: 'admin', method: 'POST', body });
    const picture = () =>
      newsroom.php(
        `$id = wp_insert_attachment( array( 'post_title' => 'p', 'post_mime_type' => 'image/jpeg' ), 'p.jpg', $input ); set_post_thumbnail( $input, $id ); return $id;`,
        article,
      );
    const idNow = async () => (await shown()).headline_test.id;
    await running();
    const first = await idNow();
    await change({ content: 'Other words' });
    await picture();
    expect(await idNow()).toBe(first);
    await change({ title: 'Own, corrected' });
    const second = await idNow();
    await save({ ...(await field()), variants: [variant('Second!', await picture())] });
    const third = await idNow();
    await picture();
    expect(new Set([first, second, third, await idNow()]).size).toBe(4);
  });

  it('sends a webhook when it starts and when it stops', async () => {
    for (const state of ['running', 'off']) {
      receiver.clear();
      await save({ state, variants: [variant('Second')] });
      await sentWebhook(({ id, event }) => id === article && event === 'update');
    }
  });

  it('of a draft starts when the story is published', async () => {
    await newsroom.rest(`/wp/v2/articles/${article}`, { as: 'admin', method: 'POST', body: { status: 'draft' } });
    await save({ state: 'running', variants: [variant('Second')], started: '2020-01-01T00:00:00Z' });
    await newsroom.rest(`/wp/v2/articles/${article}`, { as: 'admin', method: 'POST', body: { status: 'publish' } });
    const { started } = (await shown()).headline_test;
    expect(Math.abs(Date.parse(started) - Date.now())).toBeLessThan(120_000);
  });
});

describe('input for a headline test', () => {
  it.each([
    ['a headline that is too long', { variants: [variant('x'.repeat(201))] }, '200 characters'],
    ['four other headlines', { variants: ['a', 'b', 'c', 'd'].map((each) => variant(each)) }, 'at most 3 items'],
    ['an unknown state', { state: 'paused' }, 'is not one of'],
    ['text instead of a list of headlines', { variants: 'x' }, 'is not of type'],
    ['an unknown field', { id: 'x' }, 'is not a valid property'],
    ['text instead of a test', 'x', 'is not of type'],
  ])('is refused with a message: %s', async (_what, part, words) => {
    const { status, text } = await save(typeof part === 'string' ? part : { state: 'running', variants: [], ...part });
    expect([status, text]).toEqual([400, expect.stringContaining(words)]);
  });

  it('with empty or repeated headlines loses them, and a test without other headlines does not run', async () => {
    await running([variant('  '), variant('Second'), variant('Second')]);
    expect((await shown()).headline_test.others).toEqual([{ headline: 'Second', image: null }]);
    await running([variant(' <em> </em>')]);
    expect((await shown()).headline_test).toBeNull();
  });

  it('is stored as plain text on one line', async () => {
    const payloads = xssPayloads.filter((payload) => payload.isWellFormed() && payload.length < 150);
    const groups = Array.from({ length: Math.ceil(payloads.length / 3) }, (_, at) =>
      payloads.slice(at * 3, at * 3 + 3).map((payload) => variant(`A ${payload} B`)),
    );
    // WordPress makes 25 saves in one request, which takes as long as a few separate ones.
    const stories: number[] = await newsroom.php(
      `$ids = array(); for ( $at = 0; $at < 25; $at++ ) { $ids[] = wp_insert_post( array( 'post_type' => 'articles', 'post_title' => 'Own', 'post_status' => 'publish' ) ); } return $ids;`,
    );
    const left = [...groups];
    while (left.length > 0) {
      const some = left.splice(0, stories.length);
      const requests = some.map((variants, at) => ({
        path: `/wp/v2/articles/${stories[at]}`,
        method: 'POST',
        body: { meta: { newsroom_headline_test: { state: 'running', variants } } },
      }));
      const saved = await newsroom.rest('/batch/v1', { as: 'admin', method: 'POST', body: { requests } });
      expect(saved.json.responses, saved.text).toHaveLength(some.length);
      for (const { status, body } of saved.json.responses) expect(status, JSON.stringify(body)).toBe(200);
      const changed = stories.slice(0, some.length);
      const { json } = await newsroom.rest(`/wp/v2/articles?per_page=25&include=${changed.join()}`);
      expect(json.map(({ id }: { id: number }) => id).toSorted((a: number, b: number) => a - b)).toEqual(changed);
      for (const { id, headline_test: test } of json) {
        expect(test.others.length, JSON.stringify(some[stories.indexOf(id)])).toBeGreaterThan(0);
        for (const { headline } of test.others) {
          expect(headline).not.toMatch(/[\r\n\t]/);
          expect(headline.length).toBeLessThanOrEqual(200);
        }
      }
    }
  });

  it('is refused from users who may not edit the story', async () => {
    await running();
    for (const as of ['reporter', 'site', null] as const) {
      expect([401, 403], String(as)).toContain((await save({ state: 'off' }, as)).status);
      const question = { as: as ?? undefined };
      expect([401, 403]).toContain((await newsroom.rest(`/newsroom/v1/headline-test/${article}`, question)).status);
    }
    expect((await shown()).headline_test.state).toBe('running');
  });

  it('that other code wrote to the meta is cleaned when it is read', async () => {
    await newsroom.php(
      `global $wpdb; update_post_meta( $input, 'newsroom_headline_test', array( 'variants' => array() ) ); $wpdb->update( $wpdb->postmeta, array( 'meta_value' => serialize( array( 'state' => 'running', 'started' => 'yesterday', 'winner' => array(), 'readings' => 'x', 'variants' => array( 'junk', array( 'headline' => array() ), (object) array( 'headline' => '<b onclick="x">Odd</b><script>alert(1)</script>', 'image' => 'x' ) ) ) ) ), array( 'post_id' => $input, 'meta_key' => 'newsroom_headline_test' ) ); wp_cache_flush(); return 1;`,
      article,
    );
    expect((await shown()).headline_test).toMatchObject({
      state: 'running',
      others: [{ headline: 'Odd', image: null }],
    });
  });
});

describe('a headline test in autosaves and revisions', () => {
  it('is not started by an autosave, and gets its headlines back with a restored revision', async () => {
    await save({ state: 'off', variants: [variant('First version')] });
    await newsroom.rest(`/wp/v2/articles/${article}/autosaves`, {
      as: 'admin',
      method: 'POST',
      body: { content: 'New', meta: { newsroom_headline_test: { state: 'running', variants: [variant('Draft')] } } },
    });
    expect((await shown()).headline_test).toBeNull();
    await save({ state: 'off', variants: [variant('Second version')] }, 'admin', { content: 'Newer' });
    const restored = await newsroom.php(
      `foreach ( wp_get_post_revisions( $input ) as $version ) { $test = get_post_meta( $version->ID, 'newsroom_headline_test', true ); if ( ! wp_is_post_autosave( $version ) && ! empty( $test['variants'] ) && 'First version' === $test['variants'][0]['headline'] ) { return (bool) wp_restore_post_revision( $version->ID ); } } return false;`,
      article,
    );
    expect(restored).toBe(true);
    expect((await field()).variants).toEqual([variant('First version')]);
  });
});

describe('the result of a headline test', () => {
  it('is requested from the site with a signed request for the story and the test', async () => {
    await running();
    const { id } = (await shown()).headline_test;
    report({});
    receiver.clear();
    await check();
    const [question] = receiver.deliveries.filter(({ path }) => path.includes('/headline-tests/'));
    expect(question).toMatchObject({
      path: 'POST /api/v1/headline-tests/report',
      signature: expect.stringMatching(/^sha256=[0-9a-f]{64}$/),
      body: { type: 'headline-tests', id: article, slug: id },
    });
    expect(await field()).toMatchObject({ state: 'running' });
  });

  it('makes the winner the story’s headline once, in one change', async () => {
    receiver.clear();
    await running([variant('Tom & Jerry’s 5 < 6')]);
    await sentWebhook(({ id, event }) => id === article && event === 'update');
    won(1);
    receiver.clear();
    await check();
    const { title, headline_test: test } = await shown();
    expect([title.rendered, test]).toEqual(['Tom &amp; Jerry’s 5 &lt; 6', null]);
    expect(await field()).toMatchObject({
      state: 'ended',
      winner: 1,
      reason: 'site',
      own: 'Own & only',
      readings: [100, 200],
      ended: '2026-11-25T13:00:00Z',
    });
    const versions = () => newsroom.php(`return count( wp_get_post_revisions( $input ) );`, article);
    const before = await versions();
    await check();
    await check();
    expect(await versions()).toBe(before);
    const told = receiver.deliveries.filter(({ body }) => body.id === article && body.event === 'update');
    expect(told.length).toBeLessThanOrEqual(1);
  });

  it('keeps a text that an editor saves while the site is asked', async () => {
    await running();
    won(1);
    // Another process's save, as far as this one can see it: in the database.
    await newsroom.php(
      `add_filter( 'http_response', function ( $response, $args, $url ) use ( $input ) { global $wpdb; if ( strpos( $url, '/headline-tests/' ) ) { $wpdb->update( $wpdb->posts, array( 'post_content' => 'Saved meanwhile' ), array( 'ID' => $input ) ); } return $response; }, 10, 3 ); newsroom_check_headline_tests(); return 1;`,
      article,
    );
    expect(await field()).toMatchObject({ state: 'ended', winner: 1 });
    expect(await newsroom.php(`return get_post( $input )->post_content;`, article)).toBe('Saved meanwhile');
  });

  it('leaves the story’s own headline if it won or there is no winner', async () => {
    for (const [part, reason] of [
      [{ state: 'won', winner: 0 }, 'site'],
      [{ state: 'undecided', winner: null }, 'time'],
    ] as const) {
      await running();
      report({ ...part, ended: '2026-11-25T13:00:00Z' });
      await check();
      expect((await shown()).title.rendered).toBe('Own &#038; only');
      expect(await field()).toMatchObject({ state: 'ended', winner: part.winner ?? -1, reason });
      await save({ state: 'off', variants: [] });
    }
  });

  it('changes only cards if the editor chose to keep the story’s headline', async () => {
    await running([variant('Second'), variant('Third')], { story: false });
    won(2);
    await check();
    const { title, headline_test: test } = await shown();
    expect(title.rendered).toBe('Own &#038; only');
    expect(test).toMatchObject({ state: 'won', others: [{ headline: 'Third', image: null }] });
  });

  it('is ignored if it is invalid or for earlier headlines', async () => {
    await running();
    const old = (await shown()).headline_test.id;
    await save({ ...(await field()), variants: [variant('Another')] });
    const ended = await newsroom.php(
      `return newsroom_end_headline_test( $input[0], $input[1], 1, array( 1, 2 ), '2026-11-25T13:00:00Z' );`,
      [article, old],
    );
    expect(ended).toBe(false);
    for (const part of [{ state: 'won', winner: 7 }, { state: 'x' }, { readings: 'x' }, { state: null }]) {
      await save({ ...(await field()), state: 'running', variants: [variant('Another')] });
      report({ ended: '2026-11-25T13:00:00Z', ...part });
      await check();
      expect((await shown()).title.rendered).toBe('Own &#038; only');
    }
  });

  it('is requested again later if the site is down or does not know the test yet', async () => {
    await running();
    await check();
    expect(await field()).toMatchObject({ state: 'running' });
    await receiver.close();
    await check();
    expect(await field()).toMatchObject({ state: 'running' });
  });

  it('is checked by one wp-cron task while a test runs, and by none afterwards', async () => {
    const planned = () =>
      newsroom.php(
        `$found = 0; foreach ( (array) _get_cron_array() as $hooks ) { $found += is_array( $hooks ) && isset( $hooks['newsroom_headline_tests'] ) ? 1 : 0; } return $found;`,
      );
    const removeTask = async () => {
      // A request that is still delivering saves WordPress's tasks as it read them, which would bring a removed one back.
      await untilSent(newsroom);
      await newsroom.php(`wp_unschedule_hook( 'newsroom_headline_tests' ); return 1;`);
    };
    await removeTask();
    expect(await planned()).toBe(0);
    await running();
    await running();
    expect(await planned()).toBe(1);
    // The hourly task replaces an event that was lost.
    await removeTask();
    await newsroom.php(`do_action( 'newsroom_deliver', 0 ); return 1;`);
    expect(await planned()).toBe(1);
    won(1);
    await removeTask();
    await check();
    expect(await planned()).toBe(0);
  });
});

describe('the status of a headline test', () => {
  const read = async () => (await newsroom.rest(`/newsroom/v1/headline-test/${article}`, { as: 'admin' })).json;
  const cell = () =>
    newsroom.php(`ob_start(); newsroom_article_column( 'newsroom_test', $input ); return ob_get_clean();`, article);

  it('is shown in the editor and in the list of articles', async () => {
    expect(await cell()).toContain('No test');
    await running();
    expect(await read()).toMatchObject({ report: null, message: 'Running. The site has no numbers yet.' });
    report({ readings: [10, 20], certainty: [0, 0.4] });
    expect(await read()).toMatchObject({
      report: { readings: [10, 20], certainty: [0, 0.4] },
      message: 'Running. No winner yet.',
    });
    expect(await cell()).toContain('Running');
    report({ readers: 'off' });
    expect((await read()).message).toContain('HEADLINE_TESTS');
    won(1);
    expect(await read()).toMatchObject({ test: { state: 'ended', winner: 1 }, message: 'B won on November 25, 2026.' });
    expect(await cell()).toBe('B won on November 25, 2026.');
    expect(asked().length).toBeGreaterThan(0);
  });

  it('has a column in the list of articles', async () => {
    const columns = await newsroom.php(`return newsroom_article_columns( array( 'title' => 'Title' ) );`);
    expect(columns).toMatchObject({ newsroom_test: 'Test' });
  });
});

describe('a headline test in the classic editor', () => {
  const box = () => boxOf(article, 'newsroom_headline_test_box');
  const post = (test: unknown) => submitBoxes(article, { newsroom_headline_test: test });

  it('is saved, started and stopped, and its headlines are stored unchanged', async () => {
    await post({
      state: 'running',
      story: '0',
      variants: [{ headline: 'It’s "so" & not < so', image: '0' }, { headline: '' }],
    });
    expect(await field()).toMatchObject({
      state: 'running',
      story: false,
      variants: [variant('It’s "so" & not < so')],
    });
    const html = await box();
    expect(html).toContain('value="It’s &quot;so&quot; &amp; not &lt; so"');
    expect(html).toContain('<option value="running" selected');
    await post({ ...(await field()), state: 'ended', story: '0' });
    expect(await field()).toMatchObject({ state: 'ended', reason: 'editor' });
    const { started } = await field();
    await post({ ...(await field()), state: 'running', started: '2020-01-01T00:00:00Z', story: '0' });
    expect(Date.parse((await field()).started)).toBeGreaterThanOrEqual(Date.parse(started));
  });
});

it('applying the winner in wp-cron does not filter the story’s HTML', async () => {
  const embed = '<!-- wp:html --><iframe src="https://maps.example/embed"></iframe><!-- /wp:html -->';
  await newsroom.rest(`/wp/v2/articles/${article}`, { as: 'admin', method: 'POST', body: { content: embed } });
  await running();
  won(1);
  const stored = await newsroom.php(
    `wp_set_current_user( 0 );
    newsroom_check_headline_tests();
    $filtered = has_filter( 'content_save_pre', 'wp_filter_post_kses' );
    $post = get_post( $input );
    return array( $post->post_title, $post->post_content, false !== $filtered );`,
    article,
  );
  expect(stored).toEqual(['Second', embed, true]);
});

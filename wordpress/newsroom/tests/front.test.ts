/** Fronts: drafts of two editors, publishing and scheduling, the history, permissions, and webhooks to the site. */
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { xssPayloads } from '../../../tests/fixtures/xss.ts';
import type { CallOptions } from './harness.ts';
import { newsroom, receiver, withNewsroom } from './opened.ts';

withNewsroom();

let stories: number[] = [];
let section = 0;

beforeAll(async () => {
  const made = await newsroom.php(`
    update_option( 'timezone_string', 'America/New_York' );
    $section = get_terms( array( 'taxonomy' => 'category', 'slug' => 'politics', 'hide_empty' => false ) );
    $ids = array();
    foreach ( range( 1, 5 ) as $n ) { $ids[] = wp_insert_post( array( 'post_type' => 'articles', 'post_title' => "Story $n", 'post_name' => "story-$n", 'post_status' => 'publish' ) ); }
    return array( 'ids' => $ids, 'section' => $section[0]->term_id );
  `);
  stories = made.ids;
  section = made.section;
});
beforeEach(async () => {
  await newsroom.php(`
    global $wpdb;
    $wpdb->query( 'DELETE FROM ' . newsroom_front_table() );
    foreach ( get_posts( array( 'post_type' => 'front', 'post_status' => 'any', 'numberposts' => -1 ) ) as $post ) { wp_delete_post( $post->ID, true ); }
    wp_unschedule_hook( 'newsroom_front_due' );
    return 1;`);
  await newsroom.php(
    `global $wpdb; $wpdb->query( 'DELETE FROM ' . newsroom_table() ); delete_transient( 'newsroom_site_down' ); return 1;`,
  );
  receiver.clear();
});

type Part = Record<string, unknown>;
const slot = (at: number, part: Part = {}): Part => ({
  id: `slot-${at}`,
  kind: 'second',
  story: stories[at - 1],
  headline: '',
  picture: 0,
  from: '',
  until: '',
  related: [],
  ...part,
});
const call = (path: string, body?: unknown, options: CallOptions = {}) =>
  newsroom.rest(`/newsroom/v1/front/${path}`, {
    as: 'admin',
    method: body === undefined ? 'GET' : 'POST',
    body,
    ...options,
  });
const save = (slots: unknown, version: number, part: Part = {}, page = 'home') =>
  call(`${page}/draft`, { slots, version, ...part });
const publish = (version: number, page = 'home') => call(`${page}/publish`, { version });
const wire = async (as: CallOptions['as'] = 'site') => {
  const { json } = await newsroom.rest('/wp/v2/fronts', { as });
  return json;
};
const shownStories = async (as?: CallOptions['as']) =>
  (await wire(as))[0]?.front.slots.map(({ story }: { story: number }) => story) ?? null;
const told = () => receiver.deliveries.map(({ body }) => [body.event, body.type, body.slug]);
const history = async () => (await call('home/history')).json.fronts as { row: number; state: string; slots: number }[];

it('a draft front is not in the API until it is published, and then one webhook announces it', async () => {
  const saved = await save([slot(2, { kind: 'lead', headline: 'For <b>this</b> place' }), slot(1)], 0);
  expect(saved.status).toBe(200);
  expect(saved.json).toMatchObject({
    version: 1,
    changed: true,
    published: null,
    slots: [{ headline: 'For this place' }, {}],
  });
  expect([await wire(), told()]).toEqual([[], []]);
  const published = await publish(1);
  expect(published.json).toMatchObject({ version: 2, changed: false, published: { by: 'The Editor', slots: 2 } });
  await expect.poll(told).toEqual([['publish', 'fronts', 'home']]);
  expect(await wire()).toMatchObject([
    {
      slug: 'home',
      status: 'publish',
      content: { rendered: '', protected: false },
      front: {
        next: null,
        slots: [
          {
            kind: 'lead',
            story: stories[1],
            headline: 'For this place',
            picture: null,
            from: null,
            until: null,
            related: [],
            after: null,
          },
          { kind: 'second', story: stories[0], headline: '' },
        ],
      },
    },
  ]);
  await save([slot(3)], 2);
  expect([await shownStories(), (await publish(3)).status, await shownStories()]).toEqual([
    [stories[1], stories[0]],
    200,
    [stories[2]],
  ]);
  await expect.poll(() => told().at(-1)).toEqual(['update', 'fronts', 'home']);
});

it('the home page and each section have their own front, and other pages answer 404', async () => {
  await save([slot(1)], 0, {}, `section-${section}`);
  await publish(1, `section-${section}`);
  expect((await wire()).map(({ slug }: { slug: string }) => slug)).toEqual([`section-${section}`]);
  expect((await call('home')).json).toMatchObject({ version: 0, slots: [] });
  for (const page of ['section-999999', 'about', 'section-0', 'home%27'])
    expect((await save([slot(1)], 0, {}, page)).status, page).toBe(404);
  expect((await publish(0, 'section-999999')).status).toBe(404);
});

it('the second of two editors who save the same version gets 409 with the current draft', async () => {
  await save([slot(1)], 0);
  expect((await save([slot(2)], 1)).json.version).toBe(2);
  const late = await save([slot(3)], 1);
  expect([late.status, late.json.code]).toEqual([409, 'newsroom_front_conflict']);
  expect(late.json.data.current).toMatchObject({
    version: 2,
    slots: [{ story: stories[1] }],
    draft: { by: 'The Editor' },
  });
  expect([(await publish(1)).status, await wire()]).toEqual([409, []]);
  const mine = await save([slot(3)], 1, { over: true });
  expect(mine.json).toMatchObject({ version: 3, slots: [{ story: stories[2] }] });
  expect(await history()).toMatchObject([{ state: 'kept', slots: 1 }]);
  // At the same moment one of them is first.
  const both = await Promise.all([save([slot(4)], 3), save([slot(5)], 3)]);
  expect(both.map(({ status }) => status).sort()).toEqual([200, 409]);
});

it('publishing twice at once publishes one front, and saving an unchanged draft makes no new version', async () => {
  await save([slot(1)], 0);
  expect((await save([slot(1)], 1)).json.version).toBe(1);
  const both = await Promise.all([publish(1), publish(1)]);
  expect(both.map(({ status }) => status).sort()).toEqual([200, 409]);
  expect((await history()).length).toBe(1);
  // Another process may have answered before it sent the webhook.
  await expect.poll(told).toHaveLength(1);
});

it('a scheduled front is published at its time in the newspaper’s zone, and only the site sees it before', async () => {
  await save([slot(1)], 0);
  await publish(1);
  await save([slot(2)], 2);
  // No clock is set back or forward at noon.
  const { local, utc } = await newsroom.php(
    `$at = new DateTimeImmutable( 'tomorrow 12:00', wp_timezone() ); return array( 'local' => $at->format( 'Y-m-d\\TH:i' ), 'utc' => gmdate( 'Y-m-d\\TH:i:00\\Z', $at->getTimestamp() ) );`,
  );
  expect((await call('home/schedule', { version: 3, at: local })).json.scheduled).toMatchObject({ slots: 1 });
  expect((await wire())[0].front).toMatchObject({ next: { at: utc, slots: [{ story: stories[1] }] } });
  for (const as of [undefined, 'reporter'] as const)
    expect((await newsroom.rest('/wp/v2/fronts', { as })).json[0].front.next).toBeNull();
  // Later changes of the draft don't affect it.
  await save([slot(5)], 3);
  await newsroom.php(
    `global $wpdb; $wpdb->query( 'UPDATE ' . newsroom_front_table() . " SET at = at - 172800 WHERE state = 'scheduled'" ); do_action( 'newsroom_front_due' ); return 1;`,
  );
  expect([await shownStories(), (await wire())[0].front.next]).toEqual([[stories[0]], null]);
  // A front that was published after its time stays in place.
  expect((await history()).map(({ state }) => state)).toEqual(['published', 'published']);
});

it('wp-cron publishes a front that is due, and a later publish replaces it', async () => {
  await save([slot(1)], 0);
  await publish(1);
  await save([slot(2)], 2);
  await newsroom.php(`$made = newsroom_schedule_front( 'home', 3, time() + 60 ); return true === $made;`);
  await newsroom.php(
    `global $wpdb; $wpdb->query( 'UPDATE ' . newsroom_front_table() . " SET at = at - 59 WHERE state = 'scheduled'" ); $wpdb->query( 'UPDATE ' . newsroom_front_table() . " SET at = at - 600 WHERE state = 'published'" ); return wp_next_scheduled( 'newsroom_front_due', array( 'home' ) ) > 0;`,
  );
  await expect
    .poll(
      async () =>
        (await newsroom.php(
          `do_action( 'newsroom_front_due', 'home' ); return newsroom_front_row( 'home', 'scheduled' );`,
        )) === null,
    )
    .toBe(true);
  expect(await shownStories()).toEqual([stories[1]]);
  expect((await call('home')).json.published).toMatchObject({ by: 'The Editor' });
  await save([slot(3)], 3);
  await publish(4);
  expect(await shownStories()).toEqual([stories[2]]);
});

it('scheduling refuses a past or invalid time with 400, and an editor can cancel a schedule', async () => {
  await save([slot(1)], 0);
  for (const at of ['2020-01-01T00:00', 'tomorrow', '', '2030-02-30T10:00', '2030-01-01T10:00:00Z'])
    expect((await call('home/schedule', { version: 1, at })).status, at).toBe(400);
  expect((await call('home/schedule', { version: 7, at: '2099-01-01T10:00' })).status).toBe(409);
  expect((await call('home/schedule', { version: 1, at: '2099-01-01T10:00' })).status).toBe(200);
  expect((await call('home/schedule', { version: 1, at: '2099-01-02T10:00' })).status).toBe(200);
  expect(
    await newsroom.php(
      `return count( array_filter( _get_cron_array(), function ( $hooks ) { return isset( $hooks['newsroom_front_due'] ); } ) );`,
    ),
  ).toBe(1);
  expect((await call('home/schedule', undefined, { method: 'DELETE' })).json.scheduled).toBeNull();
  expect((await wire())[0].front.next).toBeNull();
  // The database keeps the front of a colleague who schedules at the same moment.
  const second = await newsroom.php(
    `add_filter( 'query', function ( $sql ) { return 0 === strpos( $sql, 'INSERT IGNORE' ) ? 'UPDATE ' . newsroom_front_table() . ' SET at = at WHERE 1 = 0' : $sql; } ); $done = newsroom_schedule_front( 'home', 1, time() + 600 ); return is_wp_error( $done ) ? $done->get_error_code() : $done;`,
  );
  expect(second).toBe('newsroom_front_failed');
});

it('slot times are in the newspaper’s time zone, across daylight saving changes', async () => {
  await save(
    [slot(1, { from: '2026-07-01T06:00', until: '2026-12-01T06:00' }), slot(2, { from: '2027-03-14T02:30' })],
    0,
  );
  await publish(1);
  expect((await wire())[0].front.slots).toMatchObject([
    { from: '2026-07-01T10:00:00Z', until: '2026-12-01T11:00:00Z' },
    { from: '2027-03-14T07:30:00Z' },
  ]);
});

it('the history describes every front and restores it as a draft or at once', async () => {
  await save([slot(1, { kind: 'lead' }), slot(2), slot(3)], 0);
  await publish(1);
  await save([slot(3, { kind: 'lead', headline: 'New words' }), slot(1), slot(4)], 2);
  await publish(3);
  await save([slot(5)], 4);
  const [, first] = await history();
  const { json } = await call(`home/history/${first?.row}`);
  expect(json.lines).toEqual(['Lead: Story 1', 'Second: Story 2', 'Second: Story 3']);
  expect(json.differences).toEqual([
    '“Story 4” was removed.',
    '“Story 1” changed from Second to Lead.',
    '“Story 2” was added (Second, place 2).',
    '“Story 3” moved from place 1 to place 3.',
    '“Story 3” changed from Lead to Second.',
    'The headline “New words” is now “Story 3”.',
  ]);
  const restored = await call(`home/history/${first?.row}`, { version: 5 });
  expect(restored.json).toMatchObject({ version: 6, changed: true, slots: [{ story: stories[0] }, {}, {}] });
  expect(await shownStories()).toEqual([stories[2], stories[0], stories[3]]);
  // The previous draft is in the history, too.
  expect((await history()).map(({ state }) => state)).toEqual(expect.arrayContaining(['kept']));
  expect((await call(`home/history/${first?.row}`, { version: 6, publish: true })).status).toBe(200);
  expect(await shownStories()).toEqual([stories[0], stories[1], stories[2]]);
  expect((await call(`home/history/${first?.row}`, { version: 1 })).status).toBe(409);
  expect([
    (await call('home/history/999999')).status,
    (await call(`section-${section}/history/${first?.row}`)).status,
  ]).toEqual([404, 404]);
});

it('a package keeps its place on the page, and one that was saved without a place goes after the second stories', async () => {
  const slots = [slot(1, { kind: 'lead', after: 'start' }), slot(2, { kind: 'package', after: 'lead' })];
  const saved = await save([...slots, slot(3, { kind: 'package', after: 'row-20' }), slot(4, { kind: 'package' })], 0);
  const placesOf = (given: Part[]) => given.map(({ after }) => after);
  expect(placesOf(saved.json.slots)).toEqual(['', 'lead', 'row-20', 'seconds']);
  await publish(1);
  expect(placesOf((await wire())[0].front.slots)).toEqual([null, 'lead', 'row-20', 'seconds']);
  const moved = [slot(1, { kind: 'lead' }), slot(2, { kind: 'package', after: 'start' })];
  await save([...moved, slot(3, { kind: 'package', after: 'row-3' }), slot(4, { kind: 'package' })], 2);
  await publish(3);
  const [, first] = await history();
  expect((await call(`home/history/${first?.row}`)).json.differences).toEqual([
    '“Story 2” is now between the lead and the seconds.',
    '“Story 3” is now after automatic row 20.',
  ]);

  // As a version of the plugin without places has stored it.
  const { after: _after, ...old } = slot(5, { kind: 'package', after: '' });
  await newsroom.php(
    `global $wpdb; $wpdb->query( 'DELETE FROM ' . newsroom_front_table() ); foreach ( array( 'draft', 'published' ) as $state ) { newsroom_insert_front( 'home', $state, $input, time(), 'draft' === $state ? 1 : 0 ); } return 1;`,
    [old],
  );
  const state = (await call('home')).json;
  expect([placesOf(state.slots), state.changed]).toEqual([['seconds'], false]);
  expect((await save(state.slots, 1)).json).toMatchObject({ version: 1, changed: false });
  expect(placesOf((await wire())[0].front.slots)).toEqual(['seconds']);
  const [only] = await history();
  expect((await call(`home/history/${only?.row}`)).json.differences).toEqual([]);
});

it('related headlines keep the editors’ order, and the history reports a changed order', async () => {
  const links = [
    { story: stories[1], url: '', title: '' },
    { story: 0, url: 'https://a.example/', title: 'Elsewhere' },
    { story: stories[2], url: '', title: 'Third' },
  ];
  await save([slot(1, { kind: 'package', related: links })], 0);
  await publish(1);
  const reordered = links.toReversed();
  await save([slot(1, { kind: 'package', related: reordered })], 2);
  await publish(3);
  expect((await wire())[0].front.slots[0].related).toEqual(reordered);
  const [, first] = await history();
  expect((await call(`home/history/${first?.row}`)).json.differences).toEqual([
    '“Story 1” has different related headlines.',
  ]);
});

it('every front of the past 90 days can be restored, even with 2,400 of them', async () => {
  const oldest = await newsroom.php(
    `global $wpdb;
    $slots = newsroom_clean_slots( $input );
    $wpdb->query( 'BEGIN' );
    for ( $hour = 0; $hour < 2400; $hour++ ) { newsroom_insert_front( 'home', 'published', array( array( 'headline' => "Hour $hour" ) + $slots[0] ), time() - $hour * HOUR_IN_SECONDS ); }
    newsroom_insert_front( 'home', 'published', array( array( 'headline' => 'Shown when the history begins' ) + $slots[0] ), time() - 140 * DAY_IN_SECONDS );
    newsroom_insert_front( 'home', 'published', array( array( 'headline' => 'Older' ) + $slots[0] ), time() - 200 * DAY_IN_SECONDS );
    $wpdb->query( 'COMMIT' );
    return 1;`,
    [slot(1)],
  );
  expect(oldest).toBe(1);
  await save([slot(2)], 0);
  await publish(1);
  const { total, rows } = await newsroom.php(
    `global $wpdb; $table = newsroom_front_table(); return array( 'total' => (int) $wpdb->get_var( "SELECT COUNT(*) FROM $table WHERE state = 'published'" ), 'rows' => $wpdb->get_col( "SELECT id FROM $table WHERE state = 'published' ORDER BY at LIMIT 2" ) );`,
  );
  expect(total).toBeGreaterThanOrEqual(2400);
  const first = await call(`home/history/${rows[0]}`);
  expect(first.json.lines).toEqual(['Second: Shown when the history begins']);
  const past = await call('home/history?skip=2000');
  expect([past.status, past.json.fronts.length]).toEqual([200, 20]);
  expect((await call(`home/history/${rows[1]}`, { version: 2, publish: true })).status).toBe(200);
  expect((await wire())[0].front.slots[0].headline).toMatch(/^Hour 239\d$/);
});

it('a deleted story stays in its slot until an editor removes it', async () => {
  await save([slot(1), slot(2, { story: 987654 })], 0);
  const state = (await call('home')).json;
  expect(state.stories[987654]).toEqual({ title: 'Story 987654 (deleted)', state: 'gone' });
  expect(state.stories[stories[0] ?? 0]).toEqual({ title: 'Story 1', state: '' });
  await publish(1);
  expect(await shownStories()).toEqual([stories[0], 987654]);
});

describe('a draft front is refused with a message', () => {
  it.each([
    ['text instead of a list', 'x', 'list of slots'],
    ['an object instead of a list', { a: 1 }, 'list of slots'],
    ['a slot without a story', [{ kind: 'lead' }], 'a kind and a story'],
    ['a story ID that is a string', [{ kind: 'lead', story: '1' }], 'a kind and a story'],
    ['an unknown kind', [{ kind: 'banner', story: 1 }], 'a kind and a story'],
    ['a headline that is too long', [{ kind: 'lead', story: 1, headline: 'x'.repeat(201) }], '200 characters'],
    ['an invalid time', [{ kind: 'lead', story: 1, from: 'now' }], 'date and time'],
    [
      'an end time before the start time',
      [{ kind: 'lead', story: 1, from: '2026-11-25T10:00', until: '2026-11-25T09:00' }],
      'ends before it begins',
    ],
    [
      'a javascript: link',
      [{ kind: 'package', story: 1, related: [{ url: 'javascript:alert(1)', title: 'x' }] }],
      'web address',
    ],
    [
      'a data: link',
      [{ kind: 'package', story: 1, related: [{ url: 'data:text/html,x', title: 'x' }] }],
      'web address',
    ],
    [
      'a link without a scheme',
      [{ kind: 'package', story: 1, related: [{ url: '//evil.example', title: 'x' }] }],
      'web address',
    ],
    ['an unknown position', [{ kind: 'package', story: 1, after: 'end' }], 'can go before the lead'],
    ['a position after row 21', [{ kind: 'package', story: 1, after: 'row-21' }], 'can go before the lead'],
    ['a position after row 0', [{ kind: 'package', story: 1, after: 'row-0' }], 'can go before the lead'],
    ['a list as the position', [{ kind: 'package', story: 1, after: ['lead'] }], 'can go before the lead'],
    ['a position with markup', [{ kind: 'package', story: 1, after: 'lead\n<script>' }], 'can go before the lead'],
    ['a link without text', [{ kind: 'package', story: 1, related: [{ url: 'https://a.example' }] }], 'needs text'],
  ])('for these slots: %s', async (_what, slots, words) => {
    const { status, json } = await save(slots, 0);
    expect([status, json.message]).toEqual([400, expect.stringContaining(words)]);
    expect((await call('home')).json.version).toBe(0);
  });

  it('if it has over 60 slots or a slot has over 12 related headlines', async () => {
    const many = Array.from({ length: 1000 }, () => slot(1));
    expect((await save(many, 0)).json.message).toContain('60 stories');
    const related = Array.from({ length: 100 }, () => ({ story: stories[0], url: '', title: '' }));
    expect((await save([slot(1, { kind: 'package', related })], 0)).json.message).toContain('12 related');
  });
});

it('a draft front keeps only single-line text and plain IDs from hostile input', async () => {
  let version = 0;
  for (const payload of xssPayloads.filter((each) => each.isWellFormed()).slice(0, 12)) {
    const words = `A ${payload} B`.slice(0, 190);
    const { json, status } = await save(
      [
        slot(1, {
          id: payload,
          kind: 'package',
          headline: words,
          picture: 999999,
          related: [{ story: stories[1], title: words }],
        }),
      ],
      version,
    );
    expect(status).toBe(200);
    version = json.version;
    const [made] = json.slots;
    expect(made.id).toMatch(/^[\w-]{1,40}$/);
    expect(made.picture).toBe(0);
    for (const text of [made.headline, made.related[0].title]) expect(text).not.toMatch(/[\n\r]/);
  }
});

describe('permissions for fronts', () => {
  const calls = [
    ['GET', 'home'],
    ['POST', 'home/draft'],
    ['POST', 'home/publish'],
    ['POST', 'home/schedule'],
    ['DELETE', 'home/schedule'],
    ['GET', 'home/history'],
    ['GET', 'home/history/1'],
    ['POST', 'home/history/1'],
    ['POST', 'home/preview'],
  ] as const;

  it.each([
    ['a reporter', 'reporter'],
    ['the site’s account', 'site'],
    ['a caller without credentials', undefined],
  ] as const)('every call answers 401 or 403 to %s', async (_who, as) => {
    for (const [method, path] of calls) {
      const body = method === 'POST' ? { version: 0, slots: [], at: '2099-01-01T10:00' } : undefined;
      const { status } = await call(path, body, { as, method });
      expect([401, 403], `${method} ${path}`).toContain(status);
    }
    expect((await wire('admin')).length).toBe(0);
  });

  it('an editor may save and publish a front, and sees how it was sent to the site', async () => {
    expect((await call('home/draft', { version: 0, slots: [slot(2)] }, { as: 'editor' })).status).toBe(200);
    expect((await call('home/publish', { version: 1 }, { as: 'editor' })).status).toBe(200);
    const [front] = await wire();
    expect(front.front.slots).toMatchObject([{ story: stories[1] }]);
    const delivery = (as: CallOptions['as']) => newsroom.rest(`/newsroom/v1/delivery/${front.id}`, { as });
    expect((await delivery('editor')).json.delivery).toEqual(expect.any(String));
    expect((await delivery('reporter')).status).toBe(403);
  });

  it('the posts that store fronts cannot be created, renamed or deleted over REST', async () => {
    await save([slot(1)], 0);
    await publish(1);
    const [front] = await wire();
    const address = `/wp/v2/fronts/${front.id}`;
    const body = { title: 'x', slug: 'other', status: 'publish' };
    for (const as of ['admin', 'editor', 'reporter', 'site', undefined] as const) {
      for (const write of ['POST /wp/v2/fronts', `POST ${address}`, `DELETE ${address}?force=true`]) {
        const [method, route = ''] = write.split(' ');
        const { status } = await newsroom.rest(route, { as, method, body });
        expect(status, `${as} ${write}`).toBe(as ? 403 : 401);
      }
    }
    expect(await wire()).toEqual([front]);
  });

  it('a wrong or missing nonce saves nothing', async () => {
    const cookie = await newsroom.signIn('admin');
    for (const nonce of ['wrong', '']) {
      const { status } = await newsroom.get('/wp-json/newsroom/v1/front/home/draft', {
        method: 'POST',
        headers: { cookie, 'content-type': 'application/json', ...(nonce && { 'x-wp-nonce': nonce }) },
        body: JSON.stringify({ version: 0, slots: [slot(1)] }),
      });
      expect([401, 403]).toContain(status);
    }
    expect((await call('home')).json.version).toBe(0);
  });
});

it('a preview of a draft front has a signed URL on the site, and only the site’s account may read the draft', async () => {
  await save([slot(4)], 0);
  const { url } = (await call('home/preview', {})).json;
  const { pathname, searchParams } = new URL(url);
  expect([url.startsWith(receiver.url), pathname, searchParams.get('type')]).toEqual([true, '/preview', 'fronts']);
  expect(searchParams.get('widths')).toBe('both');
  const id = searchParams.get('id');
  expect((await newsroom.rest(`/wp/v2/fronts/${id}`, { as: 'site' })).json).toMatchObject({
    slug: 'home',
    status: 'draft',
  });
  expect((await newsroom.rest(`/newsroom/v1/fronts/${id}/draft`, { as: 'site' })).json.front.slots).toMatchObject([
    { story: stories[3] },
  ]);
  for (const as of ['reporter', undefined] as const)
    expect([401, 403]).toContain((await newsroom.rest(`/newsroom/v1/fronts/${id}/draft`, { as })).status);
  expect((await newsroom.rest(`/newsroom/v1/fronts/${stories[0]}/draft`, { as: 'site' })).status).toBe(404);
  expect(told()).toEqual([]);
});

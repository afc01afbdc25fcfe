/**
 * Live coverage in a real WordPress: the state of a story, its entries over REST, who may read and write them, and the webhooks to the
 * site.
 */
import { beforeEach, describe, expect, it } from 'vitest';
import type { CallOptions } from './harness.ts';
import { boxOf, newsroom, receiver, sentWebhook, submitBoxes, withNewsroom } from './opened.ts';
import { untilSent } from './until-sent.ts';

withNewsroom();

let story = 0;

beforeEach(async () => {
  story = await makeStory('free');
});

const makeStory = (access: string): Promise<number> =>
  newsroom.php(
    `return wp_insert_post( array( 'post_type' => 'articles', 'post_title' => 'Vote', 'post_status' => 'publish', 'post_content' => 'x', 'meta_input' => array( 'newsroom_access' => $input ) ) );`,
    access,
  );
const saveStory = (meta: object, as: CallOptions['as'] = 'admin') =>
  newsroom.rest(`/wp/v2/articles/${story}`, { as, method: 'POST', body: { meta } });
const write = (part: object = {}, as: CallOptions['as'] | null = 'admin') =>
  newsroom.rest('/wp/v2/live-entries', {
    as: as ?? undefined,
    method: 'POST',
    body: {
      title: 'News',
      content: '<!-- wp:paragraph --><p>Words of the entry.</p><!-- /wp:paragraph -->',
      status: 'publish',
      meta: { newsroom_story: story },
      ...part,
    },
  });
const live = async () => (await newsroom.rest(`/wp/v2/articles/${story}`)).json.live;

describe('a live story', () => {
  it('has the times when it started and ended, and can start again', async () => {
    expect(await live()).toBeNull();
    await saveStory({ newsroom_live: 'live' });
    const begun = await live();
    expect(begun).toEqual({
      state: 'live',
      started: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
      ended: null,
    });
    expect(Math.abs(Date.parse(begun.started) - Date.now())).toBeLessThan(120_000);
    await saveStory({ newsroom_live: 'ended' });
    expect(await live()).toEqual({ state: 'ended', started: begun.started, ended: expect.stringMatching(/Z$/) });
    await saveStory({ newsroom_live: 'live' });
    expect(await live()).toEqual(begun);
    await saveStory({ newsroom_live: '' });
    expect(await live()).toBeNull();
  });

  it('accepts no other state, and is changed only by users who may edit the story', async () => {
    await saveStory({ newsroom_live: 'paused' });
    expect(await live()).toBeNull();
    for (const as of ['reporter', 'site'] as const) {
      expect([401, 403], as).toContain((await saveStory({ newsroom_live: 'live' }, as)).status);
    }
    expect(await live()).toBeNull();
  });

  it('stays ended when it is saved in an editor that was opened before, or an earlier revision is restored', async () => {
    await saveStory({ newsroom_live: 'live' });
    await newsroom.rest(`/wp/v2/articles/${story}`, { as: 'admin', method: 'POST', body: { content: 'While live' } });
    const opened = await newsroom.rest(`/wp/v2/articles/${story}?context=edit`, { as: 'admin' });
    expect(Object.keys(opened.json.meta)).not.toContain('newsroom_live');
    const box = await boxOf(story, 'newsroom_live_control');
    const before = /name="newsroom_live_before" value="(\w*)"/.exec(box)?.[1];
    expect(before).toBe('live');
    const saveBox = (fields: Record<string, string | undefined>) => submitBoxes(story, fields);
    await saveStory({ newsroom_live: 'ended' });
    await newsroom.rest(`/wp/v2/articles/${story}`, { as: 'admin', method: 'POST', body: { content: 'After' } });
    await saveBox({ newsroom_live: before, newsroom_live_before: before });
    expect(await live()).toMatchObject({ state: 'ended' });
    const restored = await newsroom.php(
      `foreach ( wp_get_post_revisions( $input ) as $version ) { if ( 'While live' === $version->post_content ) { return (bool) wp_restore_post_revision( $version->ID ); } } return false;`,
      story,
    );
    expect(restored).toBe(true);
    expect(await live()).toMatchObject({ state: 'ended' });
    await saveBox({ newsroom_live: 'live', newsroom_live_before: 'ended' });
    expect(await live()).toMatchObject({ state: 'live' });
  });

  it('sends a webhook when it starts and ends', async () => {
    for (const state of ['live', 'ended']) {
      receiver.clear();
      await saveStory({ newsroom_live: state });
      await sentWebhook(({ id, type, event }) => id === story && type === 'articles' && event === 'update');
    }
  });
});

describe('a live entry', () => {
  it('sends a webhook when it is published, changed, pinned and withdrawn', async () => {
    const heard = async (id: number, event: string) => {
      await sentWebhook((hook) => hook.id === id && hook.type === 'live-entries' && hook.event === event);
      receiver.clear();
    };
    receiver.clear();
    const { json, status, text } = await write({ meta: { newsroom_story: story, newsroom_key_event: true } });
    expect(status, text).toBe(201);
    expect(json.entry).toEqual({ story, pinned: false, key_event: true });
    expect(json.link).toBe(`${newsroom.siteUrl}/article/vote${json.link.match(/vote([\w-]*)\//)[1]}/live/${json.id}`);
    await heard(json.id, 'publish');
    await newsroom.rest(`/wp/v2/live-entries/${json.id}`, {
      as: 'admin',
      method: 'POST',
      body: { content: 'Other words' },
    });
    await heard(json.id, 'update');
    await newsroom.rest(`/wp/v2/live-entries/${json.id}`, {
      as: 'admin',
      method: 'POST',
      body: { meta: { newsroom_pinned: true } },
    });
    await heard(json.id, 'update');
    const read = await newsroom.rest(`/wp/v2/live-entries/${json.id}`);
    expect([read.json.entry.pinned, read.json.content.rendered.trim()]).toEqual([true, '<p>Other words</p>']);
    await newsroom.rest(`/wp/v2/live-entries/${json.id}`, { as: 'admin', method: 'DELETE' });
    await heard(json.id, 'trash');
    expect((await newsroom.rest(`/wp/v2/live-entries/${json.id}`)).status).toBe(401);
  });

  it('stays withdrawn if a colleague who still has it open saves it, until it is restored from the trash', async () => {
    const { json } = await write({});
    const address = `/wp/v2/live-entries/${json.id}`;
    await newsroom.rest(address, { as: 'admin', method: 'DELETE' });
    for (const body of [
      { content: 'Later', status: 'publish' },
      { status: 'draft' },
      { meta: { newsroom_pinned: true } },
    ]) {
      const refused = await newsroom.rest(address, { as: 'editor', method: 'POST', body });
      expect([refused.status, refused.json.code]).toEqual([409, 'newsroom_entry_withdrawn']);
    }
    const status = await newsroom.php(`wp_untrash_post( $input ); return get_post_status( $input );`, json.id);
    expect(status).not.toBe('trash');
    const saved = await newsroom.rest(address, { as: 'admin', method: 'POST', body: { content: 'Later' } });
    expect([saved.status, saved.json.content.raw]).toEqual([200, 'Later']);
  });

  it('is in no list and sends no webhook while it is a draft, and readers may not read it', async () => {
    const { json, status } = await write({ status: 'draft' });
    expect(status).toBe(201);
    const address = `/wp/v2/live-entries/${json.id}`;
    await newsroom.rest(address, { as: 'admin', method: 'POST', body: { content: 'Other words' } });
    expect((await newsroom.rest(address)).status).toBe(401);
    for (const as of [undefined, 'site'] as const)
      expect((await newsroom.rest(`/wp/v2/live-entries?story=${story}`, { as })).json, String(as)).toEqual([]);
    // Otherwise a webhook that waits would be merged with that of the publication.
    await untilSent(newsroom);
    await newsroom.rest(address, { as: 'admin', method: 'POST', body: { status: 'publish' } });
    await sentWebhook(({ id, event }) => id === json.id && event === 'publish');
    const own = receiver.deliveries.filter(({ body }) => body.id === json.id);
    expect(new Set(own.map(({ body }) => body.event))).toEqual(new Set(['publish']));
  });

  it('can have an empty headline', async () => {
    const { json, status } = await write({ title: '' });
    expect([status, json.title.rendered]).toEqual([201, '']);
  });

  it.each([
    ['no story', () => ({})],
    ['a story that does not exist', () => ({ newsroom_story: 999_999 })],
    ['an entry in place of a story', (entry: number) => ({ newsroom_story: entry })],
    ['an invalid story ID', () => ({ newsroom_story: 'x' })],
  ])('with %s is refused with 400 and a message about newsroom_story', async (_what, metaFor) => {
    const entry = (await write()).json.id;
    const count = () => newsroom.php(`return array_sum( (array) wp_count_posts( 'live-entry' ) );`);
    const before = await count();
    const { status, json } = await write({ meta: metaFor(entry) });
    expect([status, json.message]).toEqual([400, 'newsroom_story must be the ID of a story that you can edit.']);
    expect(await count()).toBe(before);
  });

  it('is published by an editor, by an author only for the author’s own story, and by no other account', async () => {
    const ids = async () =>
      (await newsroom.rest(`/wp/v2/live-entries?story=${story}`)).json.map(({ id }: { id: number }) => id);
    for (const [as, refused] of [
      ['reporter', 403],
      ['site', 403],
      [null, 401],
    ] as const)
      expect((await write({}, as)).status, String(as)).toBe(refused);
    expect(await ids()).toEqual([]);
    const { status, json } = await write({}, 'editor');
    expect([status, await ids()]).toEqual([201, [json.id]]);
    const author = await newsroom.php(
      `$id = wp_insert_user( array( 'user_login' => 'analyst', 'user_pass' => wp_generate_password(), 'role' => 'author' ) );
      return array( 'own' => wp_insert_post( array( 'post_type' => 'articles', 'post_title' => 'Own', 'post_status' => 'publish', 'post_author' => $id ) ), 'password' => WP_Application_Passwords::create_new_application_password( $id, array( 'name' => 'Tests' ) )[0] );`,
    );
    const asAuthor = async (meta: object): Promise<number> => {
      const authorization = `Basic ${Buffer.from(`analyst:${author.password}`).toString('base64')}`;
      const headers = { authorization, 'content-type': 'application/json' };
      const body = JSON.stringify({ content: 'Words', status: 'publish', meta });
      return (await newsroom.get('/wp-json/wp/v2/live-entries', { method: 'POST', headers, body })).status;
    };
    expect(await asAuthor({ newsroom_story: author.own })).toBe(201);
    expect([await asAuthor({ newsroom_story: story }), await ids()]).toEqual([400, [json.id]]);
  });

  it('is added to a story only through REST, and not through XML-RPC', async () => {
    await newsroom.php(
      `return wp_insert_user( array( 'user_login' => 'columnist', 'user_pass' => 'columnist', 'role' => 'author' ) );`,
    );
    const text = (value: string) => `<value><string>${value}</string></value>`;
    const struct = (members: Record<string, string>) =>
      `<value><struct>${Object.entries(members)
        .map(([name, value]) => `<member><name>${name}</name>${value}</member>`)
        .join('')}</struct></value>`;
    const field = struct({ key: text('newsroom_story'), value: text(String(story)) });
    const entry = struct({
      post_type: text('live-entry'),
      post_status: text('publish'),
      post_title: text('Uninvited'),
      post_content: text('Words'),
      custom_fields: `<value><array><data>${field}</data></array></value>`,
    });
    const params = [text('1'), text('columnist'), text('columnist'), entry].map((each) => `<param>${each}</param>`);
    const { text: answer } = await newsroom.get('/xmlrpc.php', {
      method: 'POST',
      headers: { 'content-type': 'text/xml' },
      body: `<methodCall><methodName>wp.newPost</methodName><params>${params.join('')}</params></methodCall>`,
    });
    const [, id] = /<string>(\d+)<\/string>/.exec(answer) ?? [];
    expect(Number(id), answer).toBeGreaterThan(0);
    expect((await newsroom.rest(`/wp/v2/live-entries?story=${story}`, { as: 'site' })).json).toEqual([]);
    expect((await newsroom.rest(`/wp/v2/live-entries/${id}`, { as: 'site' })).json.entry.story).toBe(0);
  });

  it('is in the list of its story, newest first', async () => {
    const [one, two] = [
      await write({ date_gmt: '2026-11-01T10:00:00' }),
      await write({ date_gmt: '2026-11-01T11:00:00' }),
    ];
    const other = await makeStory('free');
    await write({ meta: { newsroom_story: other } });
    const { json } = await newsroom.rest(`/wp/v2/live-entries?story=${story}&orderby=date&order=desc`);
    expect(json.map(({ id }: { id: number }) => id)).toEqual([two.json.id, one.json.id]);
  });

  it('can have an author from the site', async () => {
    const author = await newsroom.php(
      `return wp_insert_post( array( 'post_type' => 'authors', 'post_title' => 'Ada Byline', 'post_name' => 'ada-byline', 'post_status' => 'publish' ) );`,
    );
    const { json } = await write({ meta: { newsroom_story: story, newsroom_author: author } });
    expect(json.acf.author).toMatchObject({ id: author, name: 'Ada Byline', slug: 'ada-byline' });
  });
});

describe('live entries of a restricted story', () => {
  const shown = async (id: number, as?: CallOptions['as']) =>
    (await newsroom.rest(`/wp/v2/live-entries/${id}`, { as })).json.content.rendered;

  it('show their text to the site’s account, and not to readers and reporters', async () => {
    story = await makeStory('subscriber');
    const { json } = await write({ content: 'UNREVEALED words' });
    expect(await shown(json.id)).not.toContain('UNREVEALED');
    expect(await shown(json.id, 'reporter')).not.toContain('UNREVEALED');
    expect(await shown(json.id, 'site')).toContain('UNREVEALED');
    const list = await newsroom.rest(`/wp/v2/live-entries?story=${story}`);
    expect(list.text).not.toContain('UNREVEALED');
    for (const address of [
      `/?p=${json.id}`,
      `/?post_type=live-entry&p=${json.id}`,
      '/?s=UNREVEALED',
      '/?feed=rss2&post_type=live-entry',
    ]) {
      expect((await newsroom.get(address)).text, address).not.toMatch(/UNREVEALED words/);
    }
    const found = await newsroom.rest('/wp/v2/search?search=UNREVEALED');
    expect(found.json).toEqual([]);
  });

  const secret = {
    title: 'Hush headline',
    slug: 'hush-slug',
    content: '<!-- wp:paragraph --><p>Hush words of the entry.</p><!-- /wp:paragraph -->',
  };
  const writeSecret = async () =>
    (
      await write({
        ...secret,
        meta: { newsroom_story: story, newsroom_key_event: true, newsroom_pinned: true, footnotes: '[{"id":"hush"}]' },
      })
    ).json.id;

  it('reveal no text or field to readers and reporters, and everything to the site, editors and administrators', async () => {
    story = await makeStory('subscriber');
    const id = await writeSecret();
    await newsroom.rest(`/wp/v2/live-entries/${id}`, { as: 'admin', method: 'POST', body: { slug: 'hush-again' } });
    for (const as of [undefined, 'reporter'] as const) {
      for (const query of [
        '',
        '?_embed=1',
        '?context=embed',
        '?_fields=title,slug,link,meta,entry,old_slugs,yoast_head',
      ])
        expect((await newsroom.rest(`/wp/v2/live-entries/${id}${query}`, { as })).text, query).not.toMatch(/hush/i);
      const { json } = await newsroom.rest(`/wp/v2/live-entries/${id}`, { as });
      expect(json).toMatchObject({
        id,
        slug: String(id),
        link: '',
        title: { rendered: '' },
        content: { rendered: '' },
        meta: {},
        acf: {},
        old_slugs: [],
        entry: { story, pinned: false, key_event: false },
      });
      expect(Object.keys(json._links).sort()).toEqual(['about', 'collection', 'self']);
      for (const part of ['revisions', 'autosaves'])
        expect([401, 403], part).toContain((await newsroom.rest(`/wp/v2/live-entries/${id}/${part}`, { as })).status);
    }
    for (const address of [
      `/?p=${id}`,
      `/?post_type=live-entry&p=${id}`,
      `/?post_type=live-entry&name=hush-again`,
      '/?s=hush',
      '/?s=hush&post_type=live-entry',
      '/?feed=rss2&post_type=live-entry',
      `/wp-json/oembed/1.0/embed?url=${encodeURIComponent(`${newsroom.url}/?post_type=live-entry&p=${id}`)}`,
    ]) {
      expect((await newsroom.get(address)).text, address).not.toMatch(/hush (?:headline|words)/i);
    }
    const whole = {
      slug: 'hush-again',
      link: expect.stringMatching(new RegExp(`/live/${id}$`)),
      title: { rendered: 'Hush headline' },
      content: { rendered: expect.stringContaining('Hush words') },
      meta: { footnotes: expect.stringContaining('hush') },
      old_slugs: ['hush-slug'],
      entry: { story, pinned: true, key_event: true },
    };
    for (const as of ['site', 'editor', 'admin'] as const) {
      expect((await newsroom.rest(`/wp/v2/live-entries/${id}`, { as })).json, as).toMatchObject(whole);
      expect((await newsroom.rest(`/wp/v2/live-entries?story=${story}`, { as })).json, as).toMatchObject([whole]);
    }
  });

  it.each([
    ['for subscribers', 'subscriber', ''],
    ['restricted by its series', 'default', 'series'],
    ['restricted by a rule', 'default', 'rule'],
    ['that is not published', 'free', 'draft'],
  ])(
    'cannot be found by search or sorted by readers and reporters if the story is one %s',
    async (_which, access, closed) => {
      const open = await makeStory('free');
      story = open;
      const shownEntry = await writeSecret();
      story = await makeStory(access);
      const id = await writeSecret();
      const other = (await write({ title: 'Aaa', slug: 'aaa' })).json.id;
      await newsroom.php(
        `if ( 'series' === $input[1] ) { update_post_meta( $input[0], 'newsroom_series', wp_insert_post( array( 'post_type' => 'podcasts', 'post_title' => 'S', 'post_status' => 'draft', 'meta_input' => array( 'newsroom_series_access' => 'subscriber' ) ) ) ); }
      if ( 'draft' === $input[1] ) { wp_update_post( array( 'ID' => $input[0], 'post_status' => 'draft' ) ); }
      return 1;`,
        [story, closed],
      );
      if (closed === 'rule') await newsroom.pretend({ effective: 'subscriber' });
      try {
        const ids = async (query: string, as?: CallOptions['as']) =>
          (await newsroom.rest(`/wp/v2/live-entries?${query}`, { as })).json.map((each: { id: number }) => each.id);
        for (const query of [
          '',
          'search=hush',
          'search=words+of+the',
          'search=-hush',
          'search=hush&search_columns=post_title',
          'search=hush&search_columns=post_content',
          'search=hush+words&orderby=relevance',
          'slug=hush-slug',
          'slug=hush-slug-2',
          'orderby=title',
          'orderby=slug&order=asc',
        ]) {
          expect(await ids(`story=${story}&${query}`), query).toEqual([]);
          expect(await ids(`story=${story}&${query}`, 'reporter'), query).toEqual([]);
        }
        for (const as of ['site', 'admin'] as const) {
          expect(await ids(`story=${story}&search=hush+words`, as)).toEqual([id]);
          expect(await ids(`story=${story}&orderby=title&order=asc`, as)).toEqual([other, id]);
        }
        expect(await ids('search=hush+words&per_page=100')).toContain(shownEntry);
        // Queries that skip WordPress's filters don't bypass the check.
        const found = await newsroom.php(
          `wp_set_current_user( 0 ); $find = function ( $words ) use ( $input ) { return wp_list_pluck( get_posts( array( 'post_type' => 'live-entry', 's' => $words, 'numberposts' => 100, 'include' => $input ) ), 'ID' ); }; return array( $find( 'headline' ), $find( 'words' ) );`,
          [shownEntry, id],
        );
        expect(found).toEqual([[shownEntry], [shownEntry]]);
      } finally {
        await newsroom.pretend({});
      }
    },
  );

  it('are hidden again when their story is unpublished', async () => {
    const { json } = await write({ content: 'EARLY words' });
    expect(await shown(json.id)).toContain('EARLY');
    await newsroom.rest(`/wp/v2/articles/${story}`, { as: 'admin', method: 'POST', body: { status: 'draft' } });
    expect(await shown(json.id)).not.toContain('EARLY');
  });
});

it('the list of articles marks live stories and links to their live screen', async () => {
  await saveStory({ newsroom_live: 'live' });
  const html = await newsroom.php(
    `ob_start(); newsroom_article_column( 'newsroom_live', $input ); newsroom_article_column( 'date', $input ); return ob_get_clean();`,
    story,
  );
  expect(html).toContain(`page=newsroom-live&#038;story=${story}`);
  expect(html.match(/>Live</g)).toHaveLength(1);
  const columns = await newsroom.php(
    `return array_keys( newsroom_article_columns( array( 'title' => 'T', 'date' => 'D' ) ) );`,
  );
  expect([columns.at(0), ...columns.slice(-2)]).toEqual(['title', 'newsroom_live', 'date']);
});

it('the live screen opens for editors, and not for a reporter who may not edit the story', async () => {
  await saveStory({ newsroom_live: 'live' });
  const screen = (user: string) =>
    newsroom.php(
      `$_GET['story'] = $input[0]; wp_set_current_user( get_user_by( 'login', $input[1] )->ID ); ob_start(); newsroom_live_screen(); return ob_get_clean();`,
      [story, user],
    );
  expect(await screen('section-editor')).toContain('id="newsroom-live"');
  expect(await screen('reporter')).not.toContain('id="newsroom-live"');
});

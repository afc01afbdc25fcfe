/** Versions of stories: every way of publishing makes one, no other save does, and editors compare and restore them. */
import { beforeEach, describe, expect, it } from 'vitest';
import { xssPayloads } from '../../../tests/fixtures/xss.ts';
import { body, type CallOptions } from './harness.ts';
import { newsroom, receiver, sentWebhook, withNewsroom } from './opened.ts';
import { untilSent } from './until-sent.ts';

withNewsroom();

let article = 0;

interface Version {
  id: number;
  number: number;
  editor: string;
  what: string;
  made: string;
}

const paragraphs = (...texts: string[]) =>
  texts.map((text) => `<!-- wp:paragraph -->\n<p>${text}</p>\n<!-- /wp:paragraph -->`).join('\n\n');
const save = (part: object, as: CallOptions['as'] = 'admin', id = article) =>
  newsroom.rest(`/wp/v2/articles/${id}`, { as, method: 'POST', body: part });
const create = async (part: object): Promise<number> =>
  (await newsroom.rest('/wp/v2/articles', { as: 'admin', method: 'POST', body: part })).json.id;
const asked = (id = article, as: CallOptions['as'] | null = 'admin') =>
  newsroom.rest(`/newsroom/v1/versions/${id}`, { as: as ?? undefined });
const versions = async (id = article): Promise<Version[]> => (await asked(id)).json.versions;
/** The headlines of the versions, newest first. */
const words = async (id = article) => (await versions(id)).map(({ what }) => what);
/** The contents of the newest versions, newest first. */
const held = (id = article): Promise<{ title: string; content: string; excerpt: string }[]> =>
  newsroom.php(
    `return array_map( function ( $row ) use ( $input ) { return newsroom_version_content( newsroom_version( $input, $row->id ) )['story']; }, newsroom_list_versions( $input, newsroom_count_versions( $input ), 1000 ) );`,
    id,
  );
/** The versions screen as a user sees it. */
const screen = (query: object, user = 1, id = article): Promise<string> =>
  newsroom.php(
    `wp_set_current_user( $input['user'] ); $_GET = array_map( 'strval', $input['query'] ); ob_start(); newsroom_version_screen(); return ob_get_clean();`,
    { user, query: { story: id, ...query } },
  );

beforeEach(async () => {
  article = await create({
    title: 'The Bridge',
    status: 'publish',
    excerpt: 'It opens.',
    content: paragraphs('It opens on Monday.', 'Nothing else is known.', 'More follows.'),
  });
});

describe('a version of a story is saved', () => {
  it('when the story is first published, with the editor and the time', async () => {
    const [first, ...more] = await versions();
    expect(more).toEqual([]);
    expect(first).toMatchObject({ number: 1, what: 'First published', editor: 'The Editor' });
    expect(Math.abs(Date.parse(first?.made ?? '') - Date.now())).toBeLessThan(120_000);
  });

  it('once per save, with a list of what changed', async () => {
    const picture = await newsroom.php(
      `return wp_insert_attachment( array( 'post_mime_type' => 'image/png', 'post_title' => 'Span', 'post_status' => 'inherit', 'post_excerpt' => 'The span' ), 'span.png' );`,
    );
    const author = await newsroom.php(
      `return wp_insert_post( array( 'post_type' => 'authors', 'post_title' => 'Ada Moss', 'post_status' => 'publish' ) );`,
    );
    const section = await newsroom.php(`return wp_insert_term( 'City ' . wp_rand(), 'category' )['term_id'];`);
    const note = { kind: 'correction', date: '2026-11-25T13:00:00Z', text: 'It was Monday.' };
    const saved = await save({
      title: 'The Bridge Opens',
      excerpt: 'On Tuesday.',
      content: paragraphs('It opens on Tuesday.', 'Nothing else is known.', 'More follows.', 'A toll is due.'),
      featured_media: picture,
      categories: [section],
      meta: { newsroom_access: 'subscriber', newsroom_authors: [author], newsroom_corrections: [note] },
    });
    expect(saved.status, saved.text).toBe(200);
    expect(await words()).toEqual([
      'Headline, Summary, Byline, 2 paragraphs, Picture, Who may read it, Corrections, Sections',
      'First published',
    ]);
  });

  it.each([
    ['a quick edit', `edit_post( array( 'post_ID' => $input, 'post_type' => 'articles', 'post_title' => 'Quick', 'post_status' => 'publish', 'post_view' => 'list', 'content' => get_post( $input )->post_content, 'excerpt' => get_post( $input )->post_excerpt ) );`, 'Headline'],
    ['a bulk edit', `bulk_edit_posts( array( 'post_type' => 'articles', 'post' => array( $input ), 'post_category' => array( wp_insert_term( 'Bulk ' . wp_rand(), 'category' )['term_id'] ), '_status' => 'publish', 'post_status' => -1 ) );`, 'Sections'],
    ['an update by PHP code', `wp_update_post( array( 'ID' => $input, 'post_title' => 'Program' ) );`, 'Headline'],
    ['a change of one field', `update_post_meta( $input, 'newsroom_access', 'registered' );`, 'Who may read it'],
    ['a new picture', `$id = wp_insert_attachment( array( 'post_mime_type' => 'image/png', 'post_title' => 'x', 'post_status' => 'inherit' ), 'x.png' ); set_post_thumbnail( $input, $id );`, 'Picture'],
  ])('after this kind of change: %s', async (_way, code, what) => {
    await newsroom.php(`require_once ABSPATH . 'wp-admin/includes/admin.php'; ${code} return 1;`, article);
    expect(await words()).toEqual([what, 'First published']);
  }); // biome-ignore format: one line for each way

  it('after a change by WP-CLI, which it names as the editor', async () => {
    await newsroom.php(
      `define( 'WP_CLI', true ); wp_set_current_user( 0 ); wp_update_post( array( 'ID' => $input, 'post_title' => 'Shell' ) ); return 1;`,
      article,
    );
    expect((await versions())[0]).toMatchObject({ what: 'Headline', editor: 'WP-CLI' });
  });

  it('when a scheduled story goes live, and not before', async () => {
    const later = await newsroom.php(
      `return wp_insert_post( array( 'post_type' => 'articles', 'post_title' => 'Later', 'post_status' => 'future', 'post_date' => wp_date( 'Y-m-d H:i:s', time() + 3600 ), 'post_content' => 'Later.' ) );`,
    );
    expect(await versions(later)).toEqual([]);
    await newsroom.php(
      `global $wpdb; $wpdb->update( $wpdb->posts, array( 'post_date' => wp_date( 'Y-m-d H:i:s', time() - 60 ), 'post_date_gmt' => gmdate( 'Y-m-d H:i:s', time() - 60 ) ), array( 'ID' => $input ) ); clean_post_cache( $input ); wp_clear_scheduled_hook( 'publish_future_post', array( $input ) ); wp_schedule_single_event( time() - 1, 'publish_future_post', array( $input ) ); return 1;`,
      later,
    );
    await newsroom.cron();
    await expect.poll(() => versions(later), { timeout: 60_000 }).toMatchObject([
      { what: 'First published', editor: 'WordPress, on schedule' },
    ]); // biome-ignore format: short
  });

  it('when the story is unpublished, as readers last saw it, and when it is published again', async () => {
    await save({ status: 'draft', title: 'Never seen' });
    await save({ title: 'Still a draft' });
    expect(await words()).toEqual(['Removed from the site', 'First published']);
    expect((await held()).map(({ title }) => title)).toEqual(['The Bridge', 'The Bridge']);
    await save({ status: 'publish' });
    await save({ title: 'Seen' });
    expect(await words()).toEqual([
      'Headline',
      'Published again: Headline',
      'Removed from the site',
      'First published',
    ]);
    await save({ password: 'secret' });
    expect((await words())[0]).toBe('Removed from the site');
  });

  it('for live entries and videos, too', async () => {
    for (const type of ['live-entries', 'video']) {
      const made = await newsroom.rest(`/wp/v2/${type}`, { as: 'admin', method: 'POST', body: { title: 'One', status: 'publish', meta: type === 'live-entries' ? { newsroom_story: article } : {} } }); // biome-ignore format: one line says it
      expect(made.status, made.text).toBe(201);
      await newsroom.rest(`/wp/v2/${type}/${made.json.id}`, { as: 'admin', method: 'POST', body: { title: 'Two' } });
      expect(await words(made.json.id)).toEqual(['Headline', 'First published']);
    }
  });

  it('before the next change if the story has no versions yet or was changed in the database', async () => {
    await newsroom.php(`newsroom_delete_versions( $input ); return 1;`, article);
    await save({ title: 'New' });
    expect(await words()).toEqual(['Headline', 'Saved when versions began']);
    expect((await held()).map(({ title }) => title)).toEqual(['New', 'The Bridge']);
    // A process that was killed before it recorded its version leaves the same state.
    await newsroom.php(
      `global $wpdb; $wpdb->update( $wpdb->posts, array( 'post_title' => 'Behind the back' ), array( 'ID' => $input ) ); clean_post_cache( $input ); return 1;`,
      article,
    );
    await save({ title: 'Newest' });
    expect(await words()).toEqual([
      'Headline',
      'Changed outside the editors: Headline',
      'Headline',
      'Saved when versions began',
    ]);
    expect((await held()).map(({ title }) => title)).toEqual(['Newest', 'Behind the back', 'New', 'The Bridge']);
  });

  it('once when the block editor sends meta boxes in a separate request after the story', async () => {
    await save({ title: 'Both' });
    const boxes = (user: number) =>
      newsroom.php(
        `wp_set_current_user( $input[1] ); $_REQUEST['meta-box-loader'] = '1'; update_post_meta( $input[0], 'newsroom_access', 1 === $input[1] ? 'subscriber' : 'registered' ); return 1;`,
        [article, user],
      );
    await boxes(1);
    expect(await words()).toEqual(['Headline, Who may read it', 'First published']);
    const other = await newsroom.php(
      `return wp_insert_user( array( 'user_login' => 'other' . wp_rand(), 'user_pass' => 'x', 'role' => 'editor' ) );`,
    );
    await boxes(other);
    expect(await words()).toEqual(['Who may read it', 'Headline, Who may read it', 'First published']);
  });
});

describe('no version of a story is saved', () => {
  it('for drafts, autosaves and saves that change nothing', async () => {
    const draft = await create({ title: 'Draft', status: 'draft' });
    await save({ title: 'Another draft' }, 'admin', draft);
    expect(await versions(draft)).toEqual([]);
    await newsroom.rest(`/wp/v2/articles/${article}/autosaves`, {
      as: 'admin',
      method: 'POST',
      body: { title: 'Auto' },
    });
    await save({ title: 'The Bridge' });
    await newsroom.php(`wp_update_post( array( 'ID' => $input ) ); return 1;`, article);
    expect(await words()).toEqual(['First published']);
  });
});

describe('stored versions of a story', () => {
  it('are kept if revisions are off and deleted', async () => {
    await newsroom.php(
      `add_filter( 'wp_revisions_to_keep', '__return_zero' ); wp_update_post( array( 'ID' => $input, 'post_title' => 'Without revisions' ) ); foreach ( wp_get_post_revisions( $input ) as $revision ) { wp_delete_post_revision( $revision ); } return 1;`,
      article,
    );
    expect((await held()).map(({ title }) => title)).toEqual(['Without revisions', 'The Bridge']);
  });

  it('share one stored copy of a text, which is kept exactly', async () => {
    const odd = paragraphs(
      `It’s "so" \\ <em>not</em> 😀 ${'x'.repeat(800)}`,
      '<a href="https://a.example/?a=1&amp;b=2">A</a>',
    );
    await save({ content: odd });
    for (const title of ['One', 'Two', 'Three']) await save({ title });
    const stored = await newsroom.php(
      `global $wpdb; return (int) $wpdb->get_var( 'SELECT COUNT(*) FROM ' . newsroom_version_text_table() . " WHERE post_id = $input" );`,
      article,
    );
    expect(stored).toBe(1);
    const now = await newsroom.php(`return get_post( $input )->post_content;`, article);
    expect((await held()).slice(0, 4).map(({ content }) => content)).toEqual([now, now, now, now]);
  });

  it('are deleted when the story is permanently deleted, but not when it is trashed', async () => {
    await save({ content: body() });
    await newsroom.php(`wp_trash_post( $input ); return 1;`, article);
    expect(await newsroom.php(`return newsroom_count_versions( $input );`, article)).toBe(3);
    const left = await newsroom.php(
      `wp_delete_post( $input, true ); global $wpdb; return array( newsroom_count_versions( $input ), (int) $wpdb->get_var( 'SELECT COUNT(*) FROM ' . newsroom_version_text_table() . " WHERE post_id = $input" ) );`,
      article,
    );
    expect(left).toEqual([0, 0]);
  });
});

describe('a comparison of two versions', () => {
  const compare = async (view: string, more: object = {}) => {
    const [to, from] = await versions();
    return screen({ from: from?.id, to: to?.id, view, ...more });
  };

  it('marks deleted and inserted words, side by side and inline', async () => {
    await save({
      title: 'The Bridge Is Open',
      content: paragraphs('It opens on Tuesday.', 'Nothing else is known.', 'More follows.', 'A toll is due.'),
    });
    const side = await compare('side');
    expect(side).toContain('It opens on <del>Monday</del>.');
    expect(side).toContain('It opens on <ins>Tuesday</ins>.');
    expect(side).toContain('<ins>A toll is due.</ins>');
    expect(side).toContain('Unchanged: </span>More follows.');
    expect(side).toContain('The same in both: Summary');
    const inline = await compare('inline');
    expect(inline).toContain('It opens on <del>Monday</del><ins>Tuesday</ins>.');
    expect(inline).toContain('The Bridge<ins> Is Open</ins>');
    // Whatever the order of the choice, the older version is on the left.
    const [to, from] = await versions();
    const swapped = await screen({ from: to?.id, to: from?.id, view: 'side' });
    expect(swapped).toContain('<h2 id="newsroom-comparison">Version 1 and version 2</h2>');
    expect(swapped).toContain('It opens on <del>Monday</del>.');
  });

  it('reports a change of layout only, and shows changed links', async () => {
    await save({ content: paragraphs('It opens on Monday.', 'Nothing else is known.', 'More follows.').replace('wp:paragraph', 'wp:paragraph {"className":"x"}') }); // biome-ignore format: one line says it
    expect((await words())[0]).toBe('Layout of the text');
    expect(await compare('side')).toContain('The text is the same. The layout or settings differ.');
    await save({ content: paragraphs('It opens on <a href="https://a.example/">Monday</a>.', 'Nothing else is known.', 'More follows.') }); // biome-ignore format: one line says it
    expect((await words())[0]).toBe('1 paragraph');
    expect(await compare('inline')).toContain('a.example');
  });

  it('shows the paragraphs around a change in a long text, or the whole text', async () => {
    await save({ content: body() });
    await save({ content: body().replace('Paragraph 7 tells', 'Paragraph 7 told') });
    const changes = await compare('side');
    expect([changes.includes('Paragraph 6 '), changes.includes('Paragraph 2 ')]).toEqual([true, false]);
    expect(changes).toContain('Unchanged lines are left out.');
    expect(await compare('side', { whole: 1 })).toContain('Paragraph 2 ');
  });

  it('shows markup and scripts as text', async () => {
    // Versions don't depend on WordPress's own revisions; without revisions a save takes half as long.
    await newsroom.php(
      `add_filter( 'wp_revisions_to_keep', '__return_zero' ); foreach ( $input[1] as $payload ) { wp_update_post( wp_slash( array( 'ID' => $input[0], 'post_title' => 'A ' . $payload . ' B', 'post_excerpt' => $payload, 'post_content' => '<p>x ' . $payload . '</p>' ) ) ); update_post_meta( $input[0], 'newsroom_agency', wp_slash( $payload ) ); newsroom_keep_version( get_post( $input[0] ), 'update' ); } return 1;`,
      [article, xssPayloads.filter((each) => each.isWellFormed() && each.length < 1000)],
    );
    const count = await newsroom.php(`return newsroom_count_versions( $input );`, article);
    expect(count).toBeGreaterThan(20);
    const ids: number[] = await newsroom.php(
      `return array_map( 'intval', wp_list_pluck( newsroom_list_versions( $input, 0, 1000 ), 'id' ) );`,
      article,
    );
    const known =
      'a|br|button|caption|del|div|form|h1|h2|h3|input|ins|nav|p|span|strong|table|tbody|td|th|thead|time|tr';
    const shown = await newsroom.php(
      `$out = ''; foreach ( array_slice( $input[1], 0, -1 ) as $at => $id ) { $_GET = array( 'story' => (string) $input[0], 'from' => (string) $input[1][ $at + 1 ], 'to' => (string) $id, 'view' => $at % 2 ? 'inline' : 'side', 'whole' => '1' ); ob_start(); newsroom_print_comparison( get_post( $input[0] ) ); $out .= ob_get_clean(); } return $out;`,
      [article, ids],
    );
    expect(shown.length).toBeGreaterThan(20_000);
    expect(shown.match(new RegExp(`<(?!/?(?:${known})[\\s>]).{0,40}`, 'i'))).toBeNull();
    expect(shown.match(/<[^>]*\son\w+\s*=/i)).toBeNull();
    expect(await screen({})).not.toMatch(/<script|<img|<svg|<iframe/i);
  });

  it('lists 1,000 versions in pages of 50, and keeps the selection across pages', async () => {
    // In one transaction, because PHP may run for 30 seconds only.
    await newsroom.php(
      `global $wpdb; $row = newsroom_last_version( $input ); $wpdb->query( 'START TRANSACTION' ); for ( $n = 0; $n < 999; $n++ ) { $wpdb->insert( newsroom_version_table(), array( 'post_id' => $input, 'made_at' => $row->made_at + $n, 'user_id' => 1, 'event' => 'update', 'fingerprint' => "f$n", 'changed' => '{"title":1}', 'content' => $row->content ) ); } $wpdb->query( 'COMMIT' ); return 1;`,
      article,
    );
    const [newest] = await versions();
    expect(newest?.number).toBe(1000);
    const first = await screen({});
    expect(first).toContain('Page 1 of 20');
    expect(first.match(/<tr><td class="newsroom-versions-choice">/g)).toHaveLength(50);
    const last = await screen({ paged: 20, to: newest?.id });
    expect(last).toContain('First published');
    expect(last).toContain('aria-label="To version 1,000" checked');
    expect(last).not.toContain('newsroom-comparison');
  });
});

describe('access to versions', () => {
  it('is refused to readers, the site’s account and reporters who may not edit the story', async () => {
    expect((await asked(article, null)).status).toBe(401);
    expect((await asked(article, 'site')).status).toBe(403);
    expect((await asked(article, 'reporter')).status).toBe(403);
    const reporter = await newsroom.php(`return get_user_by( 'login', 'reporter' )->ID;`);
    expect(await screen({}, reporter)).toBe('');
    const page = await newsroom.get(`/wp-admin/admin.php?page=newsroom-versions&story=${article}`, {
      redirect: 'manual',
    });
    expect(page.status).toBe(302);
  });

  it('does not include versions of another story', async () => {
    const other = await create({ title: 'Other', status: 'publish', content: 'A secret.' });
    const [theirs] = await versions(other);
    const [own] = await versions();
    const shown = await screen({ from: own?.id, to: theirs?.id });
    expect(shown).toContain('This story doesn’t have these versions.');
    expect(shown).not.toContain('A secret.');
    const restored = await newsroom.php(
      `$_GET = array( 'newsroom_version' => (string) $input[1] ); return newsroom_version_to_restore( get_post( $input[0] ) );`,
      [article, theirs?.id],
    );
    expect(restored).toBeNull();
  });

  it('is not offered in the article’s REST response or webhook', async () => {
    const before = await newsroom.rest(`/wp/v2/articles/${article}`, { as: 'site' });
    // A change before the first delivery would be merged with it.
    await untilSent(newsroom);
    receiver.clear();
    await save({ title: 'Told' });
    const { body: told } = await sentWebhook(({ id, event }) => id === article && event === 'update');
    expect(JSON.stringify([before.json, told])).not.toMatch(/version(?!.{0,20}history|-history)/i);
  });
});

describe('restoring a version', () => {
  /** What the editor is filled with. */
  const attributes = (id = 0) =>
    newsroom.php(
      `return newsroom_version_attributes( get_post( $input[0] ), newsroom_version_content( newsroom_version( $input[0], $input[1] ) ) );`,
      [article, id],
    );

  it('fills the editor with what is edited with the text, and saves nothing until the editor saves', async () => {
    const author = await newsroom.php(
      `return wp_insert_post( array( 'post_type' => 'authors', 'post_title' => 'Ada', 'post_status' => 'publish' ) );`,
    );
    const note = { kind: 'clarification', date: '2026-11-25T13:00:00Z', text: 'As meant.' };
    await save({ meta: { newsroom_access: 'subscriber', newsroom_author: author, newsroom_authors: [author], newsroom_corrections: [note] } }); // biome-ignore format: one line says it
    const [full] = await held();
    await save({ title: 'Rewritten', content: paragraphs('All new.'), meta: { newsroom_author: 0, newsroom_authors: [], newsroom_corrections: [] } }); // biome-ignore format: one line says it
    const given = await newsroom.php(
      `$row = newsroom_list_versions( $input, 0, 1, 1 )[0]; return newsroom_version_attributes( get_post( $input ), newsroom_version_content( newsroom_version( $input, $row->id ) ) );`,
      article,
    );
    expect((await held())[0]?.title).toBe('Rewritten');
    const saved = await save(given);
    expect(saved.status, saved.text).toBe(200);
    expect((await held())[0]).toEqual(full);
    expect((await words())[0]).toBe('Headline, Byline, 3 paragraphs, Corrections');
  });

  it('does not change a headline test, which a comparison shows', async () => {
    const saved = await save({
      meta: { newsroom_headline_test: { state: 'running', variants: [{ headline: 'A <b>Bridge</b>', image: 0 }] } },
    });
    expect(saved.status, saved.text).toBe(200);
    expect((await words())[0]).toBe('Headline test');
    const [to, from] = await versions();
    expect(Object.keys((await attributes(from?.id)).meta)).not.toContain('newsroom_headline_test');
    expect(await screen({ from: from?.id, to: to?.id })).toMatch(/<h3>Headline test<\/h3>.*A .*Bridge/s);
  });

  it('keeps the present picture if that of the version was deleted, and removes it if the version had none', async () => {
    const upload = () =>
      newsroom.php(
        `return wp_insert_attachment( array( 'post_mime_type' => 'image/png', 'post_title' => 'x', 'post_status' => 'inherit' ), 'x.png' );`,
      );
    const [first, second] = [await upload(), await upload()];
    await save({ featured_media: first });
    await save({ featured_media: second });
    await newsroom.php(`return (bool) wp_delete_attachment( $input, true );`, first);
    const [, deleted, none] = await versions();
    expect(await attributes(deleted?.id)).not.toHaveProperty('featured_media');
    expect(await attributes(none?.id)).toMatchObject({ featured_media: 0 });
    const shown = (id = 0) =>
      newsroom.php(
        `require_once ABSPATH . 'wp-admin/includes/admin.php'; add_filter( 'use_block_editor_for_post', '__return_false' ); $_GET = array( 'post' => (string) $input[0], 'newsroom_version' => (string) $input[1] ); newsroom_version_in_form(); return (int) get_post_thumbnail_id( $input[0] );`,
        [article, id],
      );
    expect([await shown(deleted?.id), await shown(none?.id)]).toEqual([second, 0]);
  });

  it('does not change whether live coverage is running or has ended', async () => {
    await save({ meta: { newsroom_live: 'live' } });
    await save({ title: 'After', meta: { newsroom_live: 'ended' } });
    const kept = await versions();
    expect(kept.map(({ what }) => what)).toEqual(['Headline, Live coverage', 'Live coverage', 'First published']);
    for (const { id } of kept) expect(Object.keys((await attributes(id)).meta)).not.toContain('newsroom_live');
    await save(await attributes(kept.at(-1)?.id));
    expect(await newsroom.php(`return newsroom_live_of( $input )['state'];`, article)).toBe('ended');
  });

  it('does not change who may read the story, by a version or a revision', async () => {
    const series = await newsroom.php(
      `return wp_insert_post( array( 'post_type' => 'podcasts', 'post_title' => 'Paid', 'post_status' => 'publish', 'meta_input' => array( 'newsroom_series_access' => 'subscriber' ) ) );`,
    );
    const level = () => newsroom.php(`return newsroom_level_of( get_post( $input ) );`, article);
    const restoreFirst = () =>
      newsroom.php(`return (bool) wp_restore_post_revision( end( wp_get_post_revisions( $input ) )->ID );`, article);
    await save({ title: 'Of no series' });
    await save({ title: 'An episode', meta: { newsroom_series: series } });
    for (const { id } of await versions())
      for (const key of ['newsroom_access', 'newsroom_series'])
        expect(Object.keys((await attributes(id)).meta)).not.toContain(key);
    await save(await attributes((await versions()).at(-1)?.id));
    expect(await level()).toBe('subscriber');
    expect(await restoreFirst()).toBe(true);
    expect([await level(), (await held())[0]?.title]).toEqual(['subscriber', 'Of no series']);
    // The site may have a rule for a section.
    expect(await attributes((await versions()).at(-1)?.id)).not.toHaveProperty('categories');
    await save({ title: 'Of its own', meta: { newsroom_series: 0, newsroom_access: 'subscriber' } });
    expect(await restoreFirst()).toBe(true);
    expect(await level()).toBe('subscriber');
  });

  it('fills the classic editor’s form and does not change the stored story', async () => {
    await save({ title: 'Rewritten', meta: { newsroom_access: 'subscriber' } });
    const old = (await versions()).at(-1);
    const [title, access, stored] = await newsroom.php(
      `require_once ABSPATH . 'wp-admin/includes/admin.php'; add_filter( 'use_block_editor_for_post', '__return_false' ); $_GET = array( 'post' => (string) $input[0], 'newsroom_version' => (string) $input[1] ); newsroom_version_in_form(); global $wpdb; return array( get_post( $input[0], OBJECT, 'edit' )->post_title, newsroom_access_of( get_post( $input[0] ) ), $wpdb->get_var( "SELECT post_title FROM {$wpdb->posts} WHERE ID = {$input[0]}" ) );`,
      [article, old?.id],
    );
    expect([title, access, stored]).toEqual(['The Bridge', 'subscriber', 'Rewritten']);
    expect(await words()).toEqual(['Headline, Who may read it', 'First published']);
  });
});

it('an editor’s name in versions can be exported, and is erased on request or with the account', async () => {
  const user = await newsroom.php(
    `$id = wp_insert_user( array( 'user_login' => 'cy', 'user_pass' => 'x', 'user_email' => 'cy@newsroom.invalid', 'display_name' => 'Cy Park', 'role' => 'editor' ) ); wp_set_current_user( $id ); wp_update_post( array( 'ID' => $input, 'post_title' => 'By Cy' ) ); return $id;`,
    article,
  );
  expect((await versions())[0]).toMatchObject({ editor: 'Cy Park', what: 'Headline' });
  const exported = await newsroom.php(`return newsroom_export_versions( 'cy@newsroom.invalid' );`);
  expect(exported).toMatchObject({ done: true, data: [{ data: [{ value: 'By Cy' }, {}] }] });
  const erased = await newsroom.php(
    `return call_user_func( newsroom_add_erasers( array() )['newsroom-versions']['callback'], 'cy@newsroom.invalid' );`,
  );
  expect(erased).toMatchObject({ items_removed: 1, done: true });
  expect((await versions())[0]).toMatchObject({ editor: '', what: 'Headline' });
  await newsroom.php(
    `wp_set_current_user( $input[1] ); wp_update_post( array( 'ID' => $input[0], 'post_title' => 'Cy again' ) ); return 1;`,
    [article, user],
  );
  await newsroom.php(
    `require_once ABSPATH . 'wp-admin/includes/user.php'; wp_delete_user( $input, 1 ); return 1;`,
    user,
  );
  expect((await versions())[0]).toMatchObject({ editor: '', what: 'Headline' });
});

/** The site is told about changes that no editor saves, and about those in the hour that occurs twice. */
import { beforeEach, expect, it } from 'vitest';
import { newsroom, receiver, withNewsroom } from './opened.ts';
import { untilSent } from './until-sent.ts';

withNewsroom();

beforeEach(() => receiver.clear());

const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const insert = (type: string, title: string): Promise<number> =>
  newsroom.php(
    `return wp_insert_post( array( 'post_type' => $input[0], 'post_title' => $input[1], 'post_status' => 'publish' ) );`,
    [type, title],
  );

it('deleting a picture sends a webhook for it and for every document that showed it', async () => {
  const [story, author] = [await insert('articles', 'With a picture'), await insert('authors', 'With a portrait')];
  const picture = await newsroom.php(
    `$upload = wp_upload_bits( 'gone.png', null, base64_decode( $input['png'] ) );
    $picture = wp_insert_attachment( array( 'post_mime_type' => 'image/png', 'post_title' => 'Gone', 'post_status' => 'inherit' ), $upload['file'] );
    foreach ( $input['on'] as $id ) { set_post_thumbnail( $id, $picture ); }
    return $picture;`,
    { png, on: [story, author] },
  );
  await untilSent(newsroom);
  const image = async () => (await newsroom.rest(`/wp/v2/articles/${story}`)).json.image;
  expect(await image()).toMatchObject({ id: picture });
  receiver.clear();
  expect((await newsroom.rest(`/wp/v2/media/${picture}?force=true`, { as: 'admin', method: 'DELETE' })).status).toBe(
    200,
  );
  await untilSent(newsroom);
  expect(receiver.deliveries.map(({ body }) => `${body.event} ${body.id}`).toSorted()).toEqual(
    [`delete ${picture}`, `update ${story}`, `author ${author}`].toSorted(),
  );
  expect(await image()).toBeNull();
});

it('deleting a picture sends webhooks for the headline test and the scheduled front that use it', async () => {
  const story = await insert('articles', 'Tested');
  const picture = await newsroom.php(
    `$upload = wp_upload_bits( 'tested.png', null, base64_decode( $input['png'] ) );
    $picture = wp_insert_attachment( array( 'post_mime_type' => 'image/png', 'post_title' => 'Tested', 'post_status' => 'inherit' ), $upload['file'] );
    update_post_meta( $input['story'], 'newsroom_headline_test', array( 'state' => 'running', 'variants' => array( array( 'headline' => 'Another', 'image' => $picture ) ) ) );
    $slots = newsroom_clean_slots( array( array( 'kind' => 'lead', 'story' => $input['story'], 'picture' => $picture ) ) );
    newsroom_insert_front( 'home', 'scheduled', $slots, time() + HOUR_IN_SECONDS );
    newsroom_announce_front( 'home' );
    return $picture;`,
    { png, story },
  );
  await untilSent(newsroom);
  const shown = async () => (await newsroom.rest(`/wp/v2/articles/${story}`)).json.headline_test.others[0].image;
  expect(await shown()).toMatchObject({ id: picture });
  receiver.clear();
  expect((await newsroom.rest(`/wp/v2/media/${picture}?force=true`, { as: 'admin', method: 'DELETE' })).status).toBe(
    200,
  );
  await untilSent(newsroom);
  expect(await shown()).toBeNull();
  expect(receiver.deliveries.map(({ body }) => `${body.type} ${body.slug}`).toSorted()).toEqual([
    'articles tested',
    'fronts home',
    'media ',
  ]);
});

it('a change on another site of a multisite network does not touch the story with the same ID', async () => {
  const story = await insert('articles', 'Of this site');
  await untilSent(newsroom);
  receiver.clear();
  const [before, after] = await newsroom.php(
    `global $wpdb;
    $wpdb->update( $wpdb->posts, array( 'post_modified_gmt' => '2026-01-02 03:04:05' ), array( 'ID' => $input ) );
    clean_post_cache( $input );
    $before = get_post( $input )->post_modified_gmt;
    // As switch_to_blog() does; the story is used as the post with the same ID there.
    $GLOBALS['blog_id'] = 2;
    newsroom_touch( $input );
    $GLOBALS['blog_id'] = 1;
    newsroom_flush_all();
    clean_post_cache( $input );
    return array( $before, get_post( $input )->post_modified_gmt );`,
    story,
  );
  expect(after).toBe(before);
  await untilSent(newsroom);
  expect(receiver.deliveries).toEqual([]);
});

it('removing a story’s section with a bulk tool or on the command line sends an update webhook', async () => {
  const story = await insert('articles', 'Filed twice');
  await newsroom.php(`return wp_set_object_terms( $input, array( 'justice', 'politics' ), 'category' );`, story);
  await untilSent(newsroom);
  receiver.clear();
  const slugs = async () =>
    (await newsroom.rest(`/wp/v2/articles/${story}`)).json.category.map(({ slug }: { slug: string }) => slug);
  expect(await slugs()).toEqual(['politics', 'justice']);
  await newsroom.php(`return wp_remove_object_terms( $input, 'justice', 'category' );`, story);
  expect(await slugs()).toEqual(['politics']);
  await untilSent(newsroom);
  expect(receiver.deliveries.map(({ body }) => `${body.event} ${body.id}`)).toEqual([`update ${story}`]);
  // A deleted story loses its sections, too, which causes no further event.
  receiver.clear();
  await newsroom.php(`return (bool) wp_delete_post( $input, true );`, story);
  await untilSent(newsroom);
  expect(receiver.deliveries.map(({ body }) => `${body.event} ${body.id}`)).toEqual([`delete ${story}`]);
});

it('modified_after and modified_before handle the repeated hour at the end of daylight saving time', async () => {
  const story = await insert('articles', 'Changed at night');
  // New York's clocks went from 2 a.m. back to 1 a.m. at 06:00 UTC.
  await newsroom.php(
    `global $wpdb; $wpdb->query( "UPDATE {$wpdb->posts} SET post_modified = '2025-11-02 00:00:00', post_modified_gmt = '2025-11-02 04:00:00'" );
    $wpdb->update( $wpdb->posts, array( 'post_modified' => '2025-11-02 01:10:00', 'post_modified_gmt' => '2025-11-02 06:10:00' ), array( 'ID' => $input ) );
    wp_cache_flush(); return wp_timezone_string();`,
    story,
  );
  const found = async (query: string) =>
    (await newsroom.rest(`/wp/v2/articles?${query}`)).json.map(({ id }: { id: number }) => id);
  expect(await found('modified_after=2025-11-02T05:50:00Z')).toEqual([story]);
  expect(await found('modified_after=2025-11-02T06:20:00Z')).toEqual([]);
  expect(await found('modified_before=2025-11-02T05:50:00Z')).not.toContain(story);
  // The hour that spring leaves out, read as UTC, is an hour as any other.
  expect(await found('modified_after=2025-03-09T02:30:00Z&modified_before=2025-11-02T06:10:01Z')).toContain(story);
  // Without a zone it is WordPress's local time.
  expect(await found('modified_after=2025-11-02T01:05:00')).toEqual([story]);
});

it('a change of a synced pattern sends webhooks for the documents that show it, also inside another pattern', async () => {
  const write = (post_type: string, post_content: string): Promise<number> =>
    newsroom.php(`return wp_insert_post( array( 'post_title' => 'Contact', 'post_status' => 'publish' ) + $input );`, {
      post_type,
      post_content,
    });
  const refers = (id: number | string) => `<!-- wp:block {"ref":${id}} /-->`;
  const inner = await write('wp_block', '<!-- wp:paragraph --><p>Call us.</p><!-- /wp:paragraph -->');
  const outer = await write('wp_block', refers(inner));
  const shows = [await write('articles', refers(inner)), await write('page', `${refers(outer)} ${refers(inner)}`)];
  await write('articles', refers(`${inner}7`));
  await untilSent(newsroom);
  const changes: readonly [string, string][] = [
    [`wp_update_post( array( 'ID' => $input, 'post_content' => 'Write to us.' ) );`, 'Write to us.'],
    [`wp_trash_post( $input );`, ''],
  ];
  for (const [change, words] of changes) {
    receiver.clear();
    await newsroom.php(`${change} return 1;`, inner);
    await untilSent(newsroom);
    expect(receiver.deliveries.map(({ body }) => [body.event, body.id]).toSorted()).toEqual(
      shows.map((id) => ['update', id]).toSorted(),
    );
    const { json } = await newsroom.rest(`/wp/v2/articles/${shows[0]}`);
    expect(json.content.rendered.replace(/<[^>]*>/g, '').trim()).toBe(words);
  }
});

it('the field "edited" is when the words of a story last changed, whatever else the site must fetch again', async () => {
  const dates = `return array( newsroom_edited( $input['id'] ), get_post_field( 'post_modified_gmt', $input['id'] ) );`;
  const story = await insert('articles', 'Edited at eight');
  const [published, modified] = await newsroom.php(
    `global $wpdb;
    $wpdb->update( $wpdb->posts, array( 'post_date' => '2026-11-20 03:00:00', 'post_date_gmt' => '2026-11-20 08:00:00', 'post_modified' => '2026-11-20 03:00:00', 'post_modified_gmt' => '2026-11-20 08:00:00' ), array( 'ID' => $input['id'] ) );
    newsroom_clear_post_cache( $input['id'] );
    delete_post_meta( $input['id'], '_newsroom_edited' );
    ${dates}`,
    { id: story },
  );
  expect([published, modified]).toEqual(['2026-11-20T08:00:00', '2026-11-20 08:00:00']);
  for (const change of [
    // The end of a headline test, and of a bulk edit.
    `wp_update_post( array( 'ID' => $input['id'] ) );`,
    `newsroom_touch( $input['id'] ); newsroom_stamp_touched();`,
    `update_post_meta( $input['id'], 'newsroom_access', 'subscriber' ); newsroom_stamp_touched();`,
    // The block editor stores an empty list with each article that has none.
    `add_post_meta( $input['id'], 'newsroom_corrections', array() ); newsroom_stamp_touched();`,
  ]) {
    const [edited, now] = await newsroom.php(`${change} ${dates}`, { id: story });
    expect(edited).toBe(published);
    expect(now > modified).toBe(true);
  }
  const rest = async () => (await newsroom.rest(`/wp/v2/articles/${story}`)).json;
  expect((await rest()).edited).toBe(published);
  await newsroom.php(`return wp_update_post( array( 'ID' => $input['id'], 'post_content' => 'More.' ) );`, {
    id: story,
  });
  const { edited, modified_gmt } = await rest();
  expect(edited).toBe(modified_gmt);
  const draft = await newsroom.php(
    `return wp_insert_post( array( 'post_type' => 'articles', 'post_title' => 'Draft' ) );`,
  );
  expect((await newsroom.rest(`/wp/v2/articles/${draft}`, { as: 'site' })).json.edited).toBeNull();
});

it('a correction counts as an edit', async () => {
  const story = await insert('articles', 'Corrected');
  const edited = await newsroom.php(
    `add_post_meta( $input['id'], '_newsroom_edited', '2026-11-20 08:00:00' );
    update_post_meta( $input['id'], 'newsroom_corrections', array( array( 'kind' => 'correction', 'date' => '2026-11-21T08:00:00Z', 'text' => 'It was red.' ) ) );
    newsroom_stamp_touched();
    return newsroom_edited( $input['id'] );`,
    { id: story },
  );
  expect(Date.now() - Date.parse(`${edited}Z`)).toBeLessThan(3_600_000);
});

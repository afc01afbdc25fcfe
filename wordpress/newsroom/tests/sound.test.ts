/**
 * The sound of an article and its series: over REST, in the classic editor's box, in revisions, in the API, and that paid audio stays
 * closed.
 */
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { xssPayloads } from '../../../tests/fixtures/xss.ts';
import { type Answer, body, type CallOptions } from './harness.ts';
import { boxOf, newsroom, receiver, sentWebhook, submitBoxes, withNewsroom } from './opened.ts';

withNewsroom();

let article = 0;
let audio = 0;
let series = 0;

beforeAll(async () => {
  // An upload like those of the media library: eight seconds of silence.
  audio = await newsroom.php(`
    require_once ABSPATH . 'wp-admin/includes/image.php'; require_once ABSPATH . 'wp-admin/includes/file.php'; require_once ABSPATH . 'wp-admin/includes/media.php';
    $data = str_repeat( chr( 128 ), 64000 );
    $wav  = 'RIFF' . pack( 'V', 36 + strlen( $data ) ) . 'WAVEfmt ' . pack( 'VvvVVvv', 16, 1, 1, 8000, 8000, 1, 8 ) . 'data' . pack( 'V', strlen( $data ) ) . $data;
    $file = wp_tempnam( 'talk.wav' );
    file_put_contents( $file, $wav );
    return media_handle_sideload( array( 'name' => 'Talk.wav', 'tmp_name' => $file ), 0 );`);
  expect(audio).toBeGreaterThan(0);
});
beforeEach(async () => {
  [article, series] = await newsroom.php(
    `return array(
      wp_insert_post( array( 'post_type' => 'articles', 'post_title' => 'Spoken', 'post_status' => 'publish', 'post_content' => $input ) ),
      wp_insert_post( array( 'post_type' => 'podcasts', 'post_title' => 'How It Works', 'post_status' => 'publish', 'post_content' => 'One question.' ) ),
    );`,
    body(),
  );
});

const save = (meta: Record<string, unknown>, as: CallOptions['as'] | null = 'admin', id = article): Promise<Answer> =>
  newsroom.rest(`/wp/v2/articles/${id}`, { as: as ?? undefined, method: 'POST', body: { meta } });
const saveSeries = (meta: Record<string, unknown>, as: CallOptions['as'] = 'admin'): Promise<Answer> =>
  newsroom.rest(`/wp/v2/podcasts/${series}`, { as, method: 'POST', body: { meta } });
const story = async (as?: CallOptions['as']) => (await newsroom.rest(`/wp/v2/articles/${article}`, { as })).json;

describe('a story’s recording over REST', () => {
  it('is null at first, and then has bytes, seconds, media type, chapters, transcript and series', async () => {
    expect((await story()).sound).toBeNull();
    const meta = {
      newsroom_audio: audio,
      newsroom_series: series,
      newsroom_episode_title: 'The Vote',
      newsroom_chapters: '1:05 Second\n0:00 First\nno time\n1:02:03 Third',
      newsroom_transcript: 'One.\n\nTwo.',
    };
    const saved = await save(meta);
    expect(saved.status, saved.text).toBe(200);
    expect((await story()).sound).toEqual({
      audio: {
        url: expect.stringMatching(/\/Talk-[a-z\d]{20}\.wav$/),
        type: expect.stringMatching(/^audio\/(?:x-)?wav$/),
        bytes: 64_044,
        seconds: 8,
      },
      title: 'The Vote',
      chapters: [
        { start: 0, title: 'First' },
        { start: 65, title: 'Second' },
        { start: 3723, title: 'Third' },
      ],
      transcript: 'One.\n\nTwo.',
      series,
    });
  });

  it('sends a webhook when it, its chapters or its file’s metadata change', async () => {
    const told = async () => {
      await sentWebhook(({ id, event }) => id === article && event === 'update');
      receiver.clear();
    };
    receiver.clear();
    await save({ newsroom_audio: audio });
    await told();
    await save({ newsroom_chapters: '0:00 A' });
    await told();
    await newsroom.php(
      `wp_update_attachment_metadata( $input, array_merge( wp_get_attachment_metadata( $input ), array( 'length' => 9 ) ) ); newsroom_flush_changes(); return 1;`,
      audio,
    );
    await told();
    expect((await story()).sound.audio.seconds).toBe(9);
  });

  it('is refused from users who may not edit the story, and with 400 if a field has the wrong type', async () => {
    expect((await save({ newsroom_audio: audio }, null)).status).toBe(401);
    expect((await save({ newsroom_audio: audio }, 'reporter')).status).toBe(403);
    expect((await save({ newsroom_audio: audio }, 'site')).status).toBe(403);
    for (const meta of [
      { newsroom_audio: 'x' },
      { newsroom_chapters: 7 },
      { newsroom_transcript: [] },
      { newsroom_series: {} },
    ])
      expect((await save(meta)).status, JSON.stringify(meta)).toBe(400);
    expect((await story()).sound).toBeNull();
  });

  it('has no HTML elements in its transcript', async () => {
    const payloads = xssPayloads.filter((each) => each.isWellFormed());
    const all = payloads.join('\n\n');
    const saved = await save({ newsroom_audio: audio, newsroom_episode_title: all, newsroom_transcript: all });
    expect(saved.status, saved.text).toBe(200);
    // Titles are plain text, in which markup characters are just characters.
    const { transcript } = (await story()).sound;
    expect(transcript).not.toMatch(/<(?:script|img|svg|iframe|a|body|object|embed|style)\b[^>]*>/i);
  });

  it('is null if its file is deleted or is not audio', async () => {
    const picture = await newsroom.php(
      `return wp_insert_attachment( array( 'post_mime_type' => 'image/jpeg', 'post_title' => 'p' ), 'p.jpg' );`,
    );
    for (const id of [picture, 999_999, series]) {
      await save({ newsroom_audio: id });
      expect((await story()).sound, String(id)).toBeNull();
    }
  });

  it('is restored with an earlier revision', async () => {
    const revise = (content: string, meta: Record<string, unknown>) =>
      newsroom.rest(`/wp/v2/articles/${article}`, { as: 'admin', method: 'POST', body: { content, meta } });
    await revise('First.', { newsroom_audio: audio, newsroom_chapters: '0:00 A' });
    await revise('Second.', { newsroom_audio: 0, newsroom_chapters: '' });
    expect((await story()).sound).toBeNull();
    const { json } = await newsroom.rest(`/wp/v2/articles/${article}/revisions?context=edit`, { as: 'admin' });
    const earlier = json.find((each: { content: { raw: string } }) => each.content.raw === 'First.');
    expect(earlier.sound.chapters).toEqual([{ start: 0, title: 'A' }]);
    expect(await newsroom.php(`return (bool) wp_restore_post_revision( $input );`, earlier.id)).toBe(true);
    expect((await story()).sound.chapters).toEqual([{ start: 0, title: 'A' }]);
  });
});

describe('a subscriber story’s recording', () => {
  const fields = {
    newsroom_access: 'subscriber',
    newsroom_chapters: '0:00 heliotrope',
    newsroom_transcript: 'heliotrope',
  };

  it('shows its title and length to everyone, and its address to the site and editors, but not to reporters', async () => {
    await save({ ...fields, newsroom_audio: audio, newsroom_episode_title: 'The Vote' });
    const { url, ...length } = (await story('site')).sound.audio;
    expect(url).toMatch(/Talk-/);
    expect(length).toMatchObject({ bytes: 64_044, seconds: expect.any(Number) });
    const whole = { audio: { ...length, url }, chapters: [{ title: 'heliotrope' }], transcript: 'heliotrope' };
    for (const as of ['site', 'editor', 'admin'] as const) expect((await story(as)).sound, as).toMatchObject(whole);
    const answer = await newsroom.rest(`/wp/v2/articles/${article}`);
    for (const { sound } of [answer.json, await story('reporter')]) {
      expect(sound).toMatchObject({ title: 'The Vote', chapters: [], transcript: '' });
      expect(sound.audio).toEqual({ ...length, url: null });
    }
    // With any kind of request.
    const ways = [
      answer.text,
      (await newsroom.rest('/wp/v2/articles?per_page=100')).text,
      (await newsroom.rest('/wp/v2/media?per_page=100')).text,
      (await newsroom.rest(`/wp/v2/media/${audio}`)).text,
      (await newsroom.rest('/wp/v2/search?search=Talk&per_page=100')).text,
      (await newsroom.get(`/?attachment_id=${audio}`, { redirect: 'manual' })).headers.get('location') ?? '',
      (await newsroom.get(`/?attachment_id=${audio}`)).text,
      (await newsroom.get(`/?attachment_id=${audio}&embed=true`)).text,
      (await newsroom.get('/?feed=rss2&post_type=articles')).text,
    ];
    for (const [at, text] of ways.entries()) {
      expect(text, `way ${at}`).not.toContain(new URL(url).pathname);
      expect(text, `way ${at}`).not.toContain('heliotrope');
    }
    // Not letter by letter, either: WordPress searches file names, too.
    const letters = /Talk-([a-z\d]{20})/.exec(url)?.[1]?.slice(0, 6);
    const found = async (as?: CallOptions['as']) =>
      (await newsroom.rest(`/wp/v2/media?search=${letters}`, { as })).json.map(({ id }: { id: number }) => id);
    expect(await found()).toEqual([]);
    expect(await found('reporter')).toEqual([]);
    expect((await newsroom.rest('/wp/v2/media?search=Talk')).json).toHaveLength(1);
    for (const as of ['editor', 'admin'] as const) {
      expect(await found(as), as).toEqual([audio]);
      expect((await newsroom.rest(`/wp/v2/media/${audio}`, { as })).json.source_url, as).toBe(url);
    }
  });

  it('is not an enclosure in WordPress’s own feeds', async () => {
    const address = `${newsroom.url}/wp-content/uploads/2026/11/in-the-text.mp3`;
    await newsroom.php(
      `update_post_meta( $input[0], 'newsroom_access', 'subscriber' ); add_post_meta( $input[0], 'enclosure', $input[1] . "\\n9\\naudio/mpeg\\n" ); return 1;`,
      [article, address],
    );
    expect((await newsroom.get('/?feed=rss2&post_type=articles')).text).not.toContain('in-the-text.mp3');
  });
});

describe('a reporter without upload rights', () => {
  const draft = (body: object) =>
    newsroom.rest('/wp/v2/articles', {
      as: 'reporter',
      method: 'POST',
      body: { title: 'Mine', status: 'draft', ...body },
    });
  /** Gives every story with the recording this level. */
  const level = (access: string) =>
    newsroom.php(
      `foreach ( get_posts( array( 'post_type' => 'articles', 'post_status' => 'any', 'numberposts' => -1, 'meta_key' => 'newsroom_audio' ) ) as $each ) { update_post_meta( $each->ID, 'newsroom_access', $input ); } return 1;`,
      access,
    );
  const paid = async () => {
    await save({ newsroom_audio: audio });
    await level('subscriber');
    return new URL((await story('site')).sound.audio.url).pathname;
  };

  it('does not learn the address of a paid recording by choosing it for a story', async () => {
    const address = await paid();
    const chosen = await draft({ meta: { newsroom_audio: audio } });
    expect([chosen.status, chosen.text.includes(address)]).toEqual([403, false]);
    for (const status of ['draft', 'pending']) {
      const { id } = (await draft({ status })).json;
      const saved = await newsroom.rest(`/wp/v2/articles/${id}/autosaves`, {
        as: 'reporter',
        method: 'POST',
        body: { title: 'Mine too', content: 'More', meta: { newsroom_audio: audio } },
      });
      const read = await newsroom.rest(`/wp/v2/articles/${id}/autosaves`, { as: 'site' });
      expect([saved.status, `${saved.text}${read.text}`.includes(address)], status).toEqual([200, false]);
    }
  });

  it('does not learn the address of a paid recording from a playlist, which plays only free ones', async () => {
    const address = await paid();
    const { json } = await draft({ content: `[playlist ids="${audio}"]` });
    const playlist = async (as: CallOptions['as']) =>
      (await newsroom.rest(`/wp/v2/articles/${json.id}`, { as })).json.content.rendered;
    expect([json.content.rendered, await playlist('site')].join()).not.toContain(address);
    await level('free');
    expect(await playlist('reporter')).toContain(address);
  });

  it('can edit a story without losing the recording that an editor chose', async () => {
    const { id } = (await draft({})).json;
    await save({ newsroom_audio: audio }, 'admin', id);
    const meta = { newsroom_audio: audio, newsroom_episode_title: 'Better' };
    expect((await save(meta, 'reporter', id)).status).toBe(200);
    const { sound } = (await newsroom.rest(`/wp/v2/articles/${id}`, { as: 'reporter' })).json;
    expect(sound).toMatchObject({ title: 'Better', audio: { bytes: 64_044 } });
  });
});

it('an uploaded audio file gets a random suffix in its name, and a picture does not', async () => {
  const named = (name: string) =>
    newsroom.php(
      `return apply_filters( 'wp_handle_upload_prefilter', array( 'name' => $input, 'type' => 'audio/mpeg' ) )['name'];`,
      name,
    );
  const [first, second] = [await named('Episode 1.mp3'), await named('Episode 1.mp3')];
  expect(first).toMatch(/^Episode 1-[a-z\d]{20}\.mp3$/);
  expect(first).not.toBe(second);
  expect(await named('Square.png')).toBe('Square.png');
});

it('audio files with the same name have slugs without their random suffixes that differ', async () => {
  const slugs = await newsroom.php(
    `$slugs = array(); foreach ( array( 1, 2 ) as $each ) { $id = wp_insert_attachment( array( 'post_mime_type' => 'audio/mpeg', 'post_title' => 'clip-' . strtolower( wp_generate_password( 20, false ) ) ), "clip-$each.mp3" ); wp_update_post( array( 'ID' => $id, 'post_excerpt' => 'x' ) ); $slugs[] = get_post( $id )->post_name . ' ' . get_post( $id )->post_title; } return $slugs;`,
  );
  expect(slugs).toEqual(['clip clip', 'clip-2 clip']);
});

describe('a podcast series', () => {
  it('has the fields that podcast directories need, and a GUID that does not change', async () => {
    const fields = {
      newsroom_series_author: 'The Sun',
      newsroom_series_email: 'owner@sun.example',
      newsroom_series_language: 'en-US',
      newsroom_series_category: 'News > Politics',
      newsroom_series_explicit: true,
      newsroom_series_access: 'subscriber',
    };
    const saved = await saveSeries(fields);
    expect(saved.status, saved.text).toBe(200);
    const read = async () => (await newsroom.rest(`/wp/v2/podcasts/${series}`)).json.series;
    const first = await read();
    expect(first).toEqual({
      guid: expect.stringMatching(/^[\da-f]{8}-[\da-f]{4}-5[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/),
      language: 'en-US',
      author: 'The Sun',
      email: 'owner@sun.example',
      category: ['News', 'Politics'],
      explicit: true,
      access: 'subscriber',
    });
    await newsroom.rest(`/wp/v2/podcasts/${series}`, {
      as: 'admin',
      method: 'POST',
      body: { slug: 'another-address' },
    });
    expect((await read()).guid).toBe(first.guid);
    expect(await newsroom.php(`return newsroom_uuid5( NEWSROOM_PODCAST_NAMESPACE, 'podnews.net/rss' );`)).toBe(
      '9b024349-ccf0-5f69-a609-6b82873eab3c',
    );
  });

  it('discards an unknown category, language, email address or access level', async () => {
    await saveSeries({
      newsroom_series_category: 'Gossip > Rumors',
      newsroom_series_language: 'english',
      newsroom_series_email: 'x@',
      newsroom_series_access: 'all',
      newsroom_series_guid: '"><script>',
    });
    const { json } = await newsroom.rest(`/wp/v2/podcasts/${series}`);
    expect(json.series).toMatchObject({ category: ['News'], language: '', email: '', access: 'everyone' });
    expect((await saveSeries({ newsroom_series_author: 'x' }, 'reporter')).status).toBe(403);
  });

  it('for subscribers restricts its stories with the default access, updates the site, and leaves free ones open', async () => {
    const open = await newsroom.php(
      `return wp_insert_post( array( 'post_type' => 'articles', 'post_title' => 'Open', 'post_status' => 'publish', 'post_content' => $input, 'meta_input' => array( 'newsroom_access' => 'free' ) ) );`,
      body(),
    );
    await save({ newsroom_audio: audio, newsroom_series: series });
    await save({ newsroom_audio: audio, newsroom_series: series }, 'admin', open);
    receiver.clear();
    await saveSeries({ newsroom_series_access: 'subscriber' });
    await sentWebhook(({ id, event }) => id === article && event === 'update');
    expect(await story()).toMatchObject({ access: 'subscriber', restricted: true, sound: { audio: { url: null } } });
    expect((await newsroom.rest(`/wp/v2/articles/${open}`)).json).toMatchObject({ access: 'free', restricted: false });
    // Editors see the level that they chose.
    expect(await newsroom.php(`return newsroom_access_of( get_post( $input ) );`, article)).toBe('default');
  });

  it('for subscribers hides its restricted stories’ text from searches, but not its free stories’ text', async () => {
    const [level, free, other] = await newsroom.php(
      `$insert = function ( $level, $series ) use ( $input ) { return wp_insert_post( array( 'post_type' => 'articles', 'post_title' => 'Chapter', 'post_status' => 'publish', 'post_content' => $input[0], 'meta_input' => array_filter( array( 'newsroom_access' => $level, 'newsroom_series' => $series ) ) ) ); };
      return array( $insert( 'default', $input[1] ), $insert( 'free', $input[1] ), $insert( '', 0 ) );`,
      [body('heliotrope'), series],
    );
    const found = async (address: string, as?: CallOptions['as']): Promise<number[]> =>
      (await newsroom.rest(address, { as })).json
        .map(({ id }: { id: number }) => id)
        .sort((a: number, b: number) => a - b);
    const searches = [
      '/wp/v2/articles?search=heliotrope',
      '/wp/v2/articles?search=heliotrope&search_columns=post_content',
      '/wp/v2/articles?search=stands+heliotrope&orderby=relevance',
      '/wp/v2/search?search=heliotrope&per_page=100',
    ];
    for (const search of searches) expect(await found(search), search).toEqual([level, free, other]);
    await saveSeries({ newsroom_series_access: 'subscriber' });
    for (const search of searches) {
      expect(await found(search), search).toEqual([free, other]);
      expect(await found(search, 'reporter'), search).toEqual([free, other]);
    }
    const link = async (id: number) => (await newsroom.rest(`/wp/v2/articles/${id}`)).json.link;
    const [openLink, closedLink] = [await link(free), await link(level)];
    for (const query of ['s=heliotrope', 's=stands+heliotrope&sentence=1', 's=stands+heliotrope&orderby=relevance']) {
      const page = (await newsroom.get(`/?${query}&feed=rss2`)).text;
      expect(page, query).toContain(`<link>${openLink}</link>`);
      expect(page, query).not.toContain(`<link>${closedLink}</link>`);
    }
    expect(await found('/wp/v2/articles?search=heliotrope', 'admin')).toEqual([level, free, other]);
    expect(await found('/wp/v2/articles?search=heliotrope', 'site')).toEqual([level, free, other]);
    const skipping = await newsroom.php(
      `wp_set_current_user( 0 ); return wp_list_pluck( get_posts( array( 'post_type' => 'articles', 's' => 'heliotrope', 'orderby' => 'ID', 'order' => 'ASC' ) ), 'ID' );`,
    );
    expect(skipping).toEqual([free, other]);
  });

  it('keeps its paid stories restricted after it is trashed or deleted', async () => {
    await saveSeries({ newsroom_series_access: 'subscriber' });
    await save({ newsroom_audio: audio, newsroom_series: series });
    await newsroom.php(`wp_trash_post( $input ); return 1;`, series);
    expect(await story()).toMatchObject({ access: 'subscriber', restricted: true });
    await newsroom.php(`wp_delete_post( $input, true ); return 1;`, series);
    expect(await story()).toMatchObject({ access: 'subscriber', restricted: true, sound: { series: null } });
  });

  it('sends webhooks when it is published, changed, renamed and unpublished, and links to the site', async () => {
    const write = (body: object, id = '') =>
      newsroom.rest(`/wp/v2/podcasts/${id}`, { as: 'admin', method: 'POST', body });
    const made = (await write({ title: 'New', status: 'publish' })).json;
    const told = async (event: string) =>
      (await sentWebhook((hook) => hook.id === made.id && hook.event === event)).body;
    expect(await told('publish')).toMatchObject({ type: 'podcasts', slug: 'new', status: 'publish' });
    await write({ content: 'Other words.' }, made.id);
    expect(await told('update')).toMatchObject({ slug: 'new', previous_slug: null, status: 'publish' });
    await write({ slug: 'newer' }, made.id);
    expect(await told('slug')).toMatchObject({ slug: 'newer', previous_slug: 'new', status: 'publish' });
    await write({ status: 'draft' }, made.id);
    expect(await told('unpublish')).toMatchObject({ slug: 'newer', status: 'draft' });
    expect((await newsroom.rest(`/wp/v2/podcasts/${made.id}`)).status).toBe(401);
    expect((await newsroom.rest(`/wp/v2/podcasts/${series}`)).json.link).toBe(
      `${receiver.url}/podcast/${(await newsroom.rest(`/wp/v2/podcasts/${series}`)).json.slug}`,
    );
  });
});

describe('the classic editor', () => {
  it('saves a story’s recording as typed, and reports a chapter line without a time', async () => {
    await submitBoxes(article, {
      newsroom_audio: String(audio),
      newsroom_series: String(series),
      newsroom_episode_title: 'It’s "so" & so',
      newsroom_chapters: '0:00 First\r\nno time here\r\n0:30 Second',
      newsroom_transcript: 'Words.',
    });
    expect((await story()).sound).toMatchObject({
      title: 'It’s "so" & so',
      chapters: [{ start: 0 }, { start: 30 }],
      series,
    });
    const html = await boxOf(article, 'newsroom_episode_box');
    expect(html).toContain('This line needs a time and a title: “no time here”.');
    expect(html).toContain('0:00 First\nno time here\n0:30 Second');
    expect(html).toContain(`<option value="${audio}" selected='selected'>`);
    await submitBoxes(article, { newsroom_audio: '0' });
    expect((await story()).sound).toBeNull();
  });

  it('keeps a story in its subscriber series while the series is in the trash', async () => {
    await saveSeries({ newsroom_series_access: 'subscriber' });
    await save({ newsroom_audio: audio, newsroom_series: series });
    await newsroom.php(`wp_trash_post( $input ); return 1;`, series);
    const html = await boxOf(article, 'newsroom_episode_box');
    const chosen = /<option value="(\d+)" selected='selected'>How It Works \(not published\)/.exec(html)?.[1] ?? '0';
    await submitBoxes(article, { newsroom_audio: String(audio), newsroom_series: chosen });
    expect(await story()).toMatchObject({ access: 'subscriber', restricted: true });
  });

  it('saves a podcast series, and reports a missing or unsuitable picture', async () => {
    await submitBoxes(series, {
      newsroom_series_category: 'News > Daily News',
      newsroom_series_access: 'subscriber',
      newsroom_series_explicit: '0',
    });
    const html = await boxOf(series, 'newsroom_series_box');
    expect(html).toContain('square JPEG or PNG picture, 1400 to 3000 pixels wide');
    expect(html).toContain(`<option value="News &gt; Daily News" selected='selected'>`);
    expect((await newsroom.rest(`/wp/v2/podcasts/${series}`)).json.series).toMatchObject({
      category: ['News', 'Daily News'],
      explicit: false,
    });
  });
});

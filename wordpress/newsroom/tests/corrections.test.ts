/** Corrections of an article: over REST, in the classic editor's box, in revisions, and in the API. */
import { beforeEach, describe, expect, it } from 'vitest';
import { xssPayloads } from '../../../tests/fixtures/xss.ts';
import { body, type CallOptions } from './harness.ts';
import { boxOf, newsroom, receiver, sentWebhook, submitBoxes, withNewsroom } from './opened.ts';

withNewsroom();

let article = 0;

beforeEach(async () => {
  article = await newsroom.php(
    `return wp_insert_post( array( 'post_type' => 'articles', 'post_title' => 'Corrected', 'post_status' => 'publish', 'post_content' => $input, 'meta_input' => array( 'newsroom_access' => 'subscriber' ) ) );`,
    body(),
  );
});

const note = (text: string, date = '2026-11-25T13:00:00Z', kind = 'correction') => ({ kind, date, text });
const save = (notes: unknown, as: CallOptions['as'] | null = 'admin') =>
  newsroom.rest(`/wp/v2/articles/${article}`, {
    as: as ?? undefined,
    method: 'POST',
    body: { meta: { newsroom_corrections: notes } },
  });
const shown = async () => (await newsroom.rest(`/wp/v2/articles/${article}`)).json.corrections;

describe('corrections over REST', () => {
  it('are newest first, and visible to every reader even for a subscriber story', async () => {
    expect(await shown()).toEqual([]);
    const older = note('A <a href="https://a.example/">link</a>, <em>this</em> &amp; <strong>that</strong>.');
    const newer = note('Later.', '2026-11-25T18:00:00+01:00', 'clarification');
    expect((await save([older, newer])).status).toBe(200);
    const { json } = await newsroom.rest(`/wp/v2/articles/${article}`);
    expect(json.corrections).toEqual([{ ...newer, date: '2026-11-25T17:00:00Z' }, older]);
    expect([json.restricted, json.content.rendered.includes('unrevealed')]).toEqual([true, false]);
  });

  it('send a webhook when one is added and when one is removed', async () => {
    const told = async () => {
      await sentWebhook(({ id, event }) => id === article && event === 'update');
      receiver.clear();
    };
    receiver.clear();
    await save([note('One.')]);
    await told();
    await save([]);
    await told();
    expect(await shown()).toEqual([]);
  });

  it('remove hostile markup', async () => {
    for (let at = 0; at < xssPayloads.length; at += 20) {
      const notes = xssPayloads
        .slice(at, at + 20)
        // A lone surrogate isn't valid JSON, and the whole request is refused.
        .filter((payload) => payload.length < 1000 && payload.isWellFormed())
        .map((payload) => note(`A ${payload} B`));
      const saved = await save(notes);
      expect(saved.status, saved.text).toBe(200);
      for (const { text } of await shown()) {
        expect(text).not.toMatch(/<(?!\/?(?:a|em|strong)[\s>])/i);
        expect(text).not.toMatch(/<[^>]*\s(?!href=)[\w-]+\s*=/i);
        expect(text).not.toMatch(/href="\s*(?:javascript|data|vbscript):/i);
      }
    }
  });

  it.each([
    ['a correction that is too long', [note('x'.repeat(1501))], 'must be at most 1,500 characters long'],
    ['21 corrections', Array.from({ length: 21 }, () => note('x')), 'at most 20 items'],
    ['an unknown kind', [note('x', undefined, 'update')], 'is not one of'],
    ['an invalid date', [note('x', 'yesterday')], 'Invalid date'],
    ['text instead of a list', 'x', 'is not of type'],
  ])('answer 400 with a message and keep the saved corrections: %s', async (_what, notes, words) => {
    await save([note('Stays.')]);
    const { status, text } = await save(notes);
    expect([status, text]).toEqual([400, expect.stringContaining(words)]);
    expect(await shown()).toEqual([note('Stays.')]);
  });

  it('leave out a correction without text', async () => {
    await save([note('Said.'), note('  <em> </em>')]);
    expect(await shown()).toEqual([note('Said.')]);
  });

  it('are changed only by users who may edit the story', async () => {
    await save([note('Mine.')]);
    for (const as of ['reporter', 'site', null] as const)
      expect([401, 403], String(as)).toContain((await save([note('Theirs.')], as)).status);
    expect(await shown()).toEqual([note('Mine.')]);
  });

  it('are in an autosave without changing the published story, and are restored with an earlier version', async () => {
    await save([note('First.')]);
    const autosave = await newsroom.rest(`/wp/v2/articles/${article}/autosaves`, {
      as: 'admin',
      method: 'POST',
      body: { content: 'New words', meta: { newsroom_corrections: [note('Draft.')] } },
    });
    expect(autosave.json.meta.newsroom_corrections).toEqual([note('Draft.')]);
    expect(await shown()).toEqual([note('First.')]);
    await save([note('Second.')]);
    const restored = await newsroom.php(
      `foreach ( wp_get_post_revisions( $input ) as $version ) { $notes = get_post_meta( $version->ID, 'newsroom_corrections', true ); if ( ! wp_is_post_autosave( $version ) && $notes && 'First.' === $notes[0]['text'] ) { return (bool) wp_restore_post_revision( $version->ID ); } } return false;`,
      article,
    );
    expect(restored).toBe(true);
    expect(await shown()).toEqual([note('First.')]);
  });

  it('without a date are dated when they are saved to the story, but not in an autosave', async () => {
    const { date: _none, ...undated } = note('Undated.');
    const autosave = await newsroom.rest(`/wp/v2/articles/${article}/autosaves`, {
      as: 'admin',
      method: 'POST',
      body: { content: 'New words', meta: { newsroom_corrections: [note('Dated.'), undated] } },
    });
    expect(autosave.json.meta.newsroom_corrections).toEqual([undated, note('Dated.')]);
    const restored = async () => newsroom.php(`return (bool) wp_restore_post_revision( $input );`, autosave.json.id);
    const before = Date.now() - 1000;
    expect(await restored()).toBe(true);
    const [first, second] = await shown();
    expect([first.text, second]).toEqual(['Undated.', note('Dated.')]);
    expect(Date.parse(first.date)).toBeGreaterThanOrEqual(before);
    expect((await save([undated])).json.corrections[0].date).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
  });
});

describe('corrections dated in the future', () => {
  const inMinutes = (minutes: number) => `${new Date(Date.now() + minutes * 60_000).toISOString().slice(0, 19)}Z`;

  it.each([
    ['a date tomorrow', () => inMinutes(24 * 60)],
    ['a date in three minutes', () => inMinutes(3)],
    [
      'a date with an offset instead of Z',
      () => new Date(Date.now() + 5 * 60_000).toISOString().replace('Z', '+00:00'),
    ],
    ['a date in the year 2999', () => '2999-01-01T00:00:00Z'],
  ])('are refused over REST with a message: %s', async (_what, date) => {
    await save([note('Stays.')]);
    const { status, json } = await save([note('Ahead.', date()), note('Fine.')]);
    expect([status, json.code]).toEqual([400, 'newsroom_correction_ahead']);
    expect(json.message).toContain('is dated in the future. Choose the time when the story was corrected.');
    expect(await shown()).toEqual([note('Stays.')]);
  });

  it('are accepted if they are less than a minute ahead', async () => {
    const date = inMinutes(0.3);
    expect((await save([note('Soon.', date)])).status).toBe(200);
    expect(await shown()).toEqual([note('Soon.', date)]);
  });

  it('are refused in a new story, but ignored if they have no text', async () => {
    const make = (text: string) =>
      newsroom.rest('/wp/v2/articles', {
        as: 'admin',
        method: 'POST',
        body: { title: 'New', status: 'draft', meta: { newsroom_corrections: [note(text, '2999-01-01T00:00:00Z')] } },
      });
    expect([(await make('Ahead.')).status, (await make(' ')).status]).toEqual([400, 201]);
  });

  it('that are already stored show the story’s publication time, and the story can be saved', async () => {
    const ahead = { ...note('Stored.'), date: '2999-01-01T00:00:00Z' };
    await save([note('Any.')]);
    // As an older version of the plugin has stored it.
    const saved = await newsroom.php(
      `global $wpdb; $wpdb->update( $wpdb->postmeta, array( 'meta_value' => serialize( array( $input[1] ) ) ), array( 'post_id' => $input[0], 'meta_key' => 'newsroom_corrections' ) ); $wpdb->update( $wpdb->posts, array( 'post_modified_gmt' => '2026-11-24 10:20:30' ), array( 'ID' => $input[0] ) ); wp_cache_flush(); return get_post_meta( $input[0], 'newsroom_corrections', true );`,
      [article, ahead],
    );
    expect(saved).toEqual([ahead]);
    const published = note('Stored.', '2026-11-24T10:20:30Z');
    expect(await shown()).toEqual([published]);
    const edited = await newsroom.rest(`/wp/v2/articles/${article}?context=edit`, { as: 'admin' });
    expect(edited.json.meta.newsroom_corrections).toEqual([published]);
    expect((await save(edited.json.meta.newsroom_corrections)).status).toBe(200);
    expect(await shown()).toEqual([published]);
  });
});

it('invalid correction meta written by other code is cleaned when it is read', async () => {
  await newsroom.php(
    `global $wpdb; update_post_meta( $input, 'newsroom_corrections', array( array( 'text' => 'x' ) ) ); $wpdb->update( $wpdb->postmeta, array( 'meta_value' => serialize( array( 'junk', array( 'kind' => 7, 'date' => '2026-11-25T13:00:00Z', 'text' => '<b onclick="x">Odd</b><script>alert(1)</script>' ), (object) array( 'text' => array() ) ) ) ), array( 'post_id' => $input, 'meta_key' => 'newsroom_corrections' ) ); wp_cache_flush(); return 1;`,
    article,
  );
  expect(await shown()).toEqual([note('Odd')]);
});

describe('corrections in the classic editor', () => {
  const box = () => boxOf(article, 'newsroom_corrections_box');
  const post = (notes: unknown) => submitBoxes(article, { newsroom_corrections: notes });

  it('are shown in WordPress’s time zone, saved unchanged, and removed if their text is emptied', async () => {
    await newsroom.php(`update_option( 'timezone_string', 'America/New_York' ); return 1;`);
    await save([note('It’s "so" &amp; <em>not</em> so.')]);
    const html = await box();
    expect(html).toContain('value="2026-11-25T08:00:00"');
    expect(html).toContain('It’s &quot;so&quot; &amp;amp; &lt;em&gt;not&lt;/em&gt; so.');
    expect(html.match(/<textarea/g)).toHaveLength(2);
    const same = { kind: 'correction', local: '2026-11-25T08:00:00', text: 'It’s "so" &amp; <em>not</em> so.' };
    await post([same, { kind: 'clarification', local: '2026-11-25T09:30', text: 'More.' }]);
    expect(await shown()).toEqual([
      note('More.', '2026-11-25T14:30:00Z', 'clarification'),
      note('It’s "so" &amp; <em>not</em> so.'),
    ]);
    await post([{ ...same, text: ' ' }]);
    expect(await shown()).toEqual([]);
  });

  it('keep their dates when an autosave is restored', async () => {
    await newsroom.php(`update_option( 'timezone_string', 'America/New_York' ); return 1;`);
    const posted = [
      { kind: 'clarification', local: '2026-11-24T09:30:00', text: 'It’s "so" \\ not.' },
      { kind: 'correction', local: '', text: 'New.' },
      { kind: 'correction', local: '', text: '' },
    ];
    const old = note('It’s "so" \\ not.', '2026-11-24T14:30:00Z', 'clarification');
    const autosave = await newsroom.php(
      `require_once ABSPATH . 'wp-admin/includes/post.php'; $_POST = wp_slash( array( 'post_ID' => $input[0], 'post_type' => 'articles', 'post_title' => 'Corrected', 'post_content' => 'New words', 'excerpt' => '', 'newsroom_corrections' => $input[1] ) ); $id = wp_create_post_autosave( $_POST ); $_POST = array(); return $id;`,
      [article, posted],
    );
    const { json } = await newsroom.rest(`/wp/v2/articles/${article}/autosaves/${autosave}?context=edit`, {
      as: 'admin',
    });
    expect(json.meta.newsroom_corrections).toEqual([{ kind: 'correction', text: 'New.' }, old]);
    expect(await newsroom.php(`return (bool) wp_restore_post_revision( $input );`, autosave)).toBe(true);
    const notes = await shown();
    expect(notes).toEqual([note('New.', notes[0].date), old]);
    expect(Math.abs(Date.parse(notes[0].date) - Date.now())).toBeLessThan(120_000);
  });

  it('without a date get the time of saving', async () => {
    await post([{ kind: 'correction', local: '', text: 'Now.' }]);
    const [{ date }] = await shown();
    expect(Math.abs(Date.parse(date) - Date.now())).toBeLessThan(120_000);
  });

  it('with a date in the future get the time of saving, and the box says so', async () => {
    await post([{ kind: 'correction', local: '2999-01-01T09:30', text: 'Ahead.' }]);
    const [{ date }] = await shown();
    expect(Math.abs(Date.parse(date) - Date.now())).toBeLessThan(120_000);
    expect(await box()).toContain('So does a note dated in the future.');
  });
});

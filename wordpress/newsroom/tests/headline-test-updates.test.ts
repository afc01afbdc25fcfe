/** A headline test that has ended, and updates that were made while it was still running. */
import { beforeEach, describe, expect, it } from 'vitest';
import { newsroom, submitBoxes, withNewsroom } from './opened.ts';

withNewsroom();

interface Test {
  readonly state: string;
  readonly started: string;
  readonly ended: string;
  readonly winner: number;
  readonly variants: readonly { headline: string; image: number }[];
}

let article = 0;

const variant = (headline: string) => ({ headline, image: 0 });
const update = (body: object) => newsroom.rest(`/wp/v2/articles/${article}`, { as: 'admin', method: 'POST', body });
const save = (test: object, more: object = {}) => update({ ...more, meta: { newsroom_headline_test: test } });
const field = (): Promise<Test> =>
  newsroom.php(`wp_cache_flush(); return newsroom_headline_test_of( $input );`, article);
/** Ends the test as the site's report does. */
const end = (winner: number) =>
  newsroom.php(
    `$test = newsroom_headline_test_of( $input[0] ); return newsroom_end_headline_test( $input[0], newsroom_headline_test_id( $input[0], $test ), $input[1], array( 10, 20, 30 ), '2026-11-25T13:00:00Z' );`,
    [article, winner],
  );
/** Submits the box of the classic editor. */
const post = (test: object) => submitBoxes(article, { newsroom_headline_test: test });

beforeEach(async () => {
  article = await newsroom.php(
    `return wp_insert_post( array( 'post_type' => 'articles', 'post_title' => 'Own', 'post_status' => 'publish' ) );`,
  );
  await save({ state: 'running', story: false, variants: [variant('Second'), variant('Third')] });
});

describe('an editor that was opened while a headline test ran', () => {
  it('does not restart the ended test in the block editor, which saves what was changed', async () => {
    const opened = await field();
    expect(await end(2)).toBe(true);
    const ended = await field();
    expect(ended).toMatchObject({ state: 'ended', winner: 2 });
    const { status, json } = await update({
      excerpt: 'Corrected.',
      meta: { newsroom_headline_test: opened, newsroom_agency: 'AP' },
    });
    expect(status).toBe(200);
    expect(await field()).toEqual(ended);
    expect(json).toMatchObject({
      excerpt: { raw: 'Corrected.' },
      meta: { newsroom_agency: 'AP', newsroom_headline_test: ended },
    });
  });

  it('does not restart it when another test was prepared or started in the meantime', async () => {
    const opened = { ...(await field()), started: '2026-01-01T00:00:00Z' };
    const next = { state: 'off', story: true, variants: [variant('Fourth')] };
    for (const state of ['off', 'running']) {
      await save({ ...next, state });
      const now = await field();
      expect(now.state).toBe(state);
      await save(opened);
      expect(await field()).toEqual(now);
    }
  });

  it('does not restart it in the classic editor, which saves changed headlines', async () => {
    const opened = { ...(await field()), story: '0' };
    await end(2);
    const ended = await field();
    await post(opened);
    expect(await field()).toEqual(ended);
    await post({ ...opened, variants: [variant('Second'), variant('Third, corrected')] });
    expect(await field()).toEqual({ ...ended, variants: [variant('Second'), variant('Third, corrected')] });
    await post({ ...opened, variants: [variant('Third, corrected')] });
    expect(await field()).toMatchObject({ state: 'ended', winner: 1, variants: [variant('Third, corrected')] });
  });

  it('can stop the test, change its headlines while it runs, and start it again after its end', async () => {
    const opened = await field();
    await save({ ...opened, variants: [variant('Changed')] });
    expect(await field()).toMatchObject({ state: 'running', started: opened.started, variants: [variant('Changed')] });
    await post({ ...(await field()), state: 'ended', story: '0' });
    expect(await field()).toMatchObject({ state: 'ended', winner: -1 });
    await post({ ...(await field()), state: 'running', story: '0' });
    expect(await field()).toMatchObject({ state: 'running', ended: '' });
    await end(1);
    await save({ state: 'running', variants: [variant('New')] });
    expect(await field()).toMatchObject({ state: 'running', variants: [variant('New')] });
  });
});

it('a headline test of a draft starts when the story is published, also in a save that changes another field', async () => {
  await update({ status: 'draft' });
  await save({ state: 'running', variants: [variant('Second')] });
  await newsroom.php(
    `update_post_meta( $input, 'newsroom_headline_test', array( 'started' => '2026-01-01T00:00:00Z' ) + newsroom_headline_test_of( $input ) ); return 1;`,
    article,
  );
  const opened = await field();
  expect(opened.started).toBe('2026-01-01T00:00:00Z');
  await save(opened, { status: 'publish', excerpt: 'New.' });
  const published = await field();
  expect(published.state).toBe('running');
  expect(Date.parse(published.started)).toBeGreaterThan(Date.parse('2026-02-01T00:00:00Z'));
});

it('restoring a revision that was saved while a headline test ran does not restart it', async () => {
  await save({ state: 'running', variants: [variant('Second')] }, { content: 'While running' });
  await update({ content: 'Later' });
  await end(1);
  const ended = await field();
  const restored = await newsroom.php(
    `foreach ( wp_get_post_revisions( $input ) as $version ) { if ( 'While running' === $version->post_content ) { return (bool) wp_restore_post_revision( $version->ID ); } } return false;`,
    article,
  );
  expect(restored).toBe(true);
  expect(await newsroom.php(`return get_post( $input )->post_content;`, article)).toBe('While running');
  expect(await field()).toEqual(ended);
});

/** Bylines of an article: over REST, in the classic editor's box, in revisions, and from other plugins; and the list of articles. */
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { xssPayloads } from '../../../tests/fixtures/xss.ts';
import type { CallOptions } from './harness.ts';
import { boxOf, newsroom, submitBoxes, withNewsroom } from './opened.ts';
import { untilSent } from './until-sent.ts';

withNewsroom();

let ids: Record<string, number>;
let article = 0;

const insert = (title: string, meta: object = {}) =>
  newsroom.php(
    `return wp_insert_post( array( 'post_type' => 'articles', 'post_title' => $input[0], 'post_status' => 'publish', 'post_content' => 'Text', 'meta_input' => $input[1] ) );`,
    [title, meta],
  );

beforeAll(async () => {
  ids = await newsroom.php(`
    $insert = function ( $title, $status = 'publish', $slug = '' ) { return wp_insert_post( array( 'post_type' => 'authors', 'post_title' => $title, 'post_status' => $status, 'post_name' => $slug ) ); };
    $ada    = $insert( 'Ada O&#8217;Vale' );
    $ben    = $insert( 'Ben Lee' );
    $cy     = $insert( 'Cy Park' );
    $hidden = $insert( 'Not Yet Hired', 'draft' );
    $user   = wp_insert_user( array( 'user_login' => 'ben', 'user_pass' => wp_generate_password(), 'user_email' => 'ben@newsroom.invalid', 'user_nicename' => 'b-lee', 'display_name' => 'Ben Lee' ) );
    return compact( 'ada', 'ben', 'cy', 'hidden', 'user' );
  `);
});
beforeEach(async () => {
  article = await insert('By several');
});

const id = (name: string): number => ids[name] ?? 0;
const save = (meta: object, as: CallOptions['as'] | null = 'admin') =>
  newsroom.rest(`/wp/v2/articles/${article}`, { as: as ?? undefined, method: 'POST', body: { meta } });
const read = async () => (await newsroom.rest(`/wp/v2/articles/${article}`)).json;
/** An unpublished author is a bare id. */
type Person = { readonly name: string } | number;
interface Shown {
  readonly authors: readonly Person[];
  readonly contributors: readonly Person[];
  readonly agency: unknown;
}
const namesOf = (people: readonly Person[]) => people.flatMap((each) => (typeof each === 'number' ? [] : [each.name]));
const names = ({ authors, contributors }: Shown) => [namesOf(authors), namesOf(contributors)];
const shown = async () => names((await read()).byline);
/** The webhook of the article's last change, sent or waiting. */
const delivery = async (): Promise<string | undefined> => {
  const { json } = await newsroom.rest('/newsroom/v1/changes?seconds=3600', { as: 'site' });
  const own = (json as { type: string; id: number; delivery: string }[]).filter(
    (change) => change.type === 'articles' && change.id === article,
  );
  return own.at(-1)?.delivery;
};

describe('bylines over REST', () => {
  it('have authors and contributors in order, and an agency', async () => {
    expect((await read()).byline).toEqual({ authors: [], contributors: [], agency: null });
    const saved = await save({
      newsroom_authors: [id('ben'), id('ada')],
      newsroom_contributors: [id('cy')],
      newsroom_agency: ' Associated  Press ',
      newsroom_agency_url: 'https://ap.example/',
    });
    expect(saved.status, saved.text).toBe(200);
    expect(saved.json.meta.newsroom_authors).toEqual([id('ben'), id('ada')]);
    const { byline, acf } = await read();
    expect(names(byline)).toEqual([['Ben Lee', 'Ada O’Vale'], ['Cy Park']]);
    expect(byline.authors[0]).toEqual({ id: id('ben'), name: 'Ben Lee', slug: 'ben-lee', excerpt: '', image: null });
    expect(byline.agency).toEqual({ name: 'Associated Press', url: 'https://ap.example/' });
    // Clients that use the old field get the first author.
    expect(acf.author).toEqual(byline.authors[0]);
  });

  it('use the single-author field if there is no list of authors', async () => {
    await save({ newsroom_author: id('ada') });
    expect(await shown()).toEqual([['Ada O’Vale'], []]);
    await save({ newsroom_authors: [id('ben'), id('cy')] });
    expect(await shown()).toEqual([['Ben Lee', 'Cy Park'], []]);
    await save({ newsroom_authors: [] });
    expect(await shown()).toEqual([['Ada O’Vale'], []]);
  });

  it('name each person once, and no unpublished or deleted author', async () => {
    await save({
      newsroom_authors: [id('ben'), id('hidden'), id('ben'), 999_999, article],
      newsroom_contributors: [id('cy'), id('ben')],
    });
    expect(await shown()).toEqual([['Ben Lee'], ['Cy Park']]);
    const { byline } = await read();
    expect(byline.authors).toEqual([expect.objectContaining({ name: 'Ben Lee' }), id('hidden')]);
    expect(JSON.stringify(await read())).not.toContain('Not Yet Hired');
  });

  it('have the ID of an author who is published later, so that the site can add the name', async () => {
    const late = await newsroom.php(
      `return wp_insert_post( array( 'post_type' => 'authors', 'post_title' => 'Late Comer', 'post_status' => 'draft' ) );`,
    );
    await save({ newsroom_authors: [late], newsroom_contributors: [id('hidden')] });
    expect(await read()).toMatchObject({
      byline: { authors: [late], contributors: [id('hidden')] },
      acf: { author: late },
    });
    await newsroom.rest(`/wp/v2/authors/${late}`, { as: 'admin', method: 'POST', body: { status: 'publish' } });
    expect(await shown()).toEqual([['Late Comer'], []]);
  });

  it('send a new webhook when an author is added, moved or removed', async () => {
    // A change is merged with a waiting one of the same article.
    await untilSent(newsroom);
    const told = [await delivery()];
    for (const newsroom_authors of [[id('ada')], [id('ada'), id('ben')], [id('ben'), id('ada')], []]) {
      await save({ newsroom_authors });
      await untilSent(newsroom);
      told.push(await delivery());
    }
    expect(new Set(told).size).toBe(5);
  });

  it('remove markup from an agency’s name and URLs that are not http', async () => {
    await save({
      newsroom_agency: '<b onclick="x">Odd</b><script>alert(1)</script> Wire',
      newsroom_agency_url: 'data:x',
    });
    expect((await read()).byline.agency).toEqual({ name: 'Odd Wire', url: '' });
    const payloads = xssPayloads.filter((each) => each.isWellFormed());
    const agencies = await newsroom.php(
      `$out = array(); foreach ( $input[1] as $payload ) { update_post_meta( $input[0], 'newsroom_agency', wp_slash( "A $payload" ) ); update_post_meta( $input[0], 'newsroom_agency_url', wp_slash( $payload ) ); $out[] = newsroom_byline_of( $input[0] )['agency']; } return $out;`,
      [article, payloads],
    );
    expect(agencies).toHaveLength(payloads.length);
    for (const [at, agency] of agencies.entries()) {
      // It is text, and the site prints it as text.
      expect([...agency.name].length, payloads[at]).toBeLessThanOrEqual(100);
      expect(agency.url, payloads[at]).toMatch(/^(?:https?:\/\/|$)/);
    }
  });

  it.each([
    ['a thousand authors', { newsroom_authors: Array.from({ length: 1000 }, (_, at) => at + 1) }, 'at most 30 items'],
    ['text instead of a list of authors', { newsroom_authors: 'x' }, 'is not of type'],
    ['a name instead of an author’s ID', { newsroom_contributors: ['Ada'] }, 'is not of type integer'],
    ['an agency name that is too long', { newsroom_agency: 'x'.repeat(101) }, 'at most 100 characters'],
  ])('answer 400 with a message and keep the saved byline: %s', async (_what, meta, words) => {
    await save({ newsroom_authors: [id('ada')], newsroom_agency: 'AP' });
    const { status, text } = await save(meta);
    expect([status, text]).toEqual([400, expect.stringContaining(words)]);
    expect([await shown(), (await read()).byline.agency?.name]).toEqual([[['Ada O’Vale'], []], 'AP']);
  });

  it('are changed only by users who may edit the story', async () => {
    await save({ newsroom_authors: [id('ada')] });
    for (const as of ['reporter', 'site', null] as const)
      expect([401, 403], String(as)).toContain((await save({ newsroom_authors: [id('ben')] }, as)).status);
    expect(await shown()).toEqual([['Ada O’Vale'], []]);
  });

  it('are in an autosave without changing the published story, and are restored with an earlier version', async () => {
    await save({ newsroom_authors: [id('ada')], newsroom_author: id('ada'), newsroom_agency: 'First' });
    const autosave = await newsroom.rest(`/wp/v2/articles/${article}/autosaves`, {
      as: 'admin',
      method: 'POST',
      body: { content: 'New words', meta: { newsroom_authors: [id('ben'), id('cy')], newsroom_agency: 'Draft' } },
    });
    expect(autosave.json.meta).toMatchObject({ newsroom_authors: [id('ben'), id('cy')], newsroom_agency: 'Draft' });
    expect(await shown()).toEqual([['Ada O’Vale'], []]);
    await save({ newsroom_authors: [id('cy')], newsroom_author: id('cy'), newsroom_agency: 'Second' });
    const restored = await newsroom.php(
      `foreach ( wp_get_post_revisions( $input ) as $version ) { if ( ! wp_is_post_autosave( $version ) && 'First' === get_post_meta( $version->ID, 'newsroom_agency', true ) ) { return (bool) wp_restore_post_revision( $version->ID ); } } return false;`,
      article,
    );
    expect(restored).toBe(true);
    expect([await shown(), (await read()).byline.agency?.name]).toEqual([[['Ada O’Vale'], []], 'First']);
  });

  it('let a search by author ID find their stories, for authors and contributors', async () => {
    await save({ newsroom_authors: [id('ben'), id('ada')], newsroom_contributors: [id('cy')] });
    for (const who of ['ben', 'ada', 'cy']) {
      const { json } = await newsroom.rest(`/wp/v2/articles?author_id=${id(who)}&include=${article}&_fields=id`);
      expect(json, who).toEqual([{ id: article }]);
    }
    // A number that only begins like one of these doesn't match.
    expect((await newsroom.rest(`/wp/v2/articles?author_id=${id('ben')}0&_fields=id`)).json).toEqual([]);
  });

  it('show an author’s role as one line of plain text', async () => {
    const role = (newsroom_role: string) =>
      newsroom.rest(`/wp/v2/authors/${id('ada')}`, { as: 'admin', method: 'POST', body: { meta: { newsroom_role } } });
    expect((await role('Economics <b>editor</b>\n&amp; critic')).json.role).toBe('Economics editor & critic');
    expect((await role('x'.repeat(101))).status).toBe(400);
    expect((await role('')).json.role).toBe('');
  });
});

it('invalid byline meta written by other code is ignored when it is read', async () => {
  await newsroom.php(
    `global $wpdb; update_post_meta( $input[0], 'newsroom_authors', array( $input[1] ) ); $wpdb->update( $wpdb->postmeta, array( 'meta_value' => serialize( array( 'junk', -3, array( 'x' ), $input[1], (string) $input[1], 7.9, null ) ) ), array( 'post_id' => $input[0], 'meta_key' => 'newsroom_authors' ) ); wp_cache_flush(); return 1;`,
    [article, id('ben')],
  );
  expect((await shown())[0]).toEqual(['Ben Lee']);
});

describe('bylines in the classic editor', () => {
  const box = () => boxOf(article, 'newsroom_byline_box');
  const post = (fields: object) => submitBoxes(article, fields);
  const listed = async (field: string) =>
    [...(await box()).matchAll(new RegExp(`name="${field}\\[\\]" value="(\\d+)"`, 'g'))].map(([, value]) =>
      Number(value),
    );

  it('show a single author as a list, and save lists in order', async () => {
    await save({ newsroom_author: id('ada') });
    expect(await listed('newsroom_authors')).toEqual([id('ada')]);
    await post({
      newsroom_byline_shown: '1',
      newsroom_authors: [String(id('cy')), String(id('ada'))],
      newsroom_contributors: [String(id('ben'))],
      newsroom_agency: 'A "Wire" \\ Co.',
      newsroom_agency_url: 'javascript:alert(1)',
    });
    expect([await listed('newsroom_authors'), await listed('newsroom_contributors')]).toEqual([
      [id('cy'), id('ada')],
      [id('ben')],
    ]);
    const { byline, meta } = await read();
    expect(names(byline)).toEqual([['Cy Park', 'Ada O’Vale'], ['Ben Lee']]);
    expect(byline.agency).toEqual({ name: 'A "Wire" \\ Co.', url: '' });
    expect(meta.newsroom_author).toBe(id('cy'));
    expect(await box()).toContain('value="A &quot;Wire&quot; \\ Co."');
    // Once emptied, nothing of the former byline comes back.
    await post({ newsroom_byline_shown: '1', newsroom_agency: '' });
    expect((await read()).byline).toEqual({ authors: [], contributors: [], agency: null });
  });

  it('are unchanged by a form without the byline box', async () => {
    await save({ newsroom_authors: [id('ben')], newsroom_author: id('ben') });
    await post({ newsroom_access: 'free' });
    expect(await shown()).toEqual([['Ben Lee'], []]);
  });

  it('mark unpublished and deleted authors', async () => {
    await save({ newsroom_authors: [id('hidden'), 999_999] });
    const html = await box();
    expect(html).toContain('Not Yet Hired (not published)');
    expect(html).toContain('Deleted author (999999)');
  });
});

describe('bylines from other plugins', () => {
  /** Values as ACF stores them: with the reference to their field. */
  const acf = (fields: Record<string, unknown>) =>
    newsroom.php(
      `foreach ( $input[1] as $name => $value ) { update_post_meta( $input[0], $name, $value ); update_post_meta( $input[0], '_' . $name, 'field_' . $name ); } return 1;`,
      [article, fields],
    );

  it('are read from Advanced Custom Fields: one post, several posts, and users', async () => {
    await newsroom.pretend({ acf: {} });
    try {
      await acf({ author: String(id('cy')) });
      expect(await shown()).toEqual([['Cy Park'], []]);
      await acf({
        authors: [String(id('ben')), String(id('hidden')), String(id('ada'))],
        contributors: [String(id('user')), '1'],
      });
      // Ben is an author already, and the administrator has no author document.
      expect(await shown()).toEqual([['Ben Lee', 'Ada O’Vale'], []]);
      await acf({ authors: [String(id('ada'))] });
      expect(await shown()).toEqual([['Ada O’Vale'], ['Ben Lee']]);
      const found = await newsroom.rest(`/wp/v2/articles?author_id=${id('ada')}&include=${article}&_fields=id`);
      expect(found.json).toEqual([{ id: article }]);
      // The story's own list has priority.
      await save({ newsroom_authors: [id('cy')] });
      expect(await shown()).toEqual([['Cy Park'], ['Ben Lee']]);
    } finally {
      await newsroom.pretend({});
    }
  });

  it('use the first 30 of 1,000 entries of an Advanced Custom Fields value, without unknown authors', async () => {
    await newsroom.pretend({ acf: {} });
    const many: number[] = await newsroom.php(
      `add_filter( 'newsroom_webhooks_enabled', '__return_false' ); $ids = array(); for ( $at = 0; $at < 30; $at++ ) { $ids[] = wp_insert_post( array( 'post_type' => 'authors', 'post_title' => "Author $at", 'post_status' => 'publish' ) ); } return $ids;`,
    );
    try {
      const unknown = Array.from({ length: 968 }, (_, at) => at + 500_000);
      await acf({ authors: [id('ben'), 499_999, ...many, ...unknown].map(String) });
      const authors = Array.from({ length: 28 }, (_, at) => `Author ${at}`);
      expect(await shown()).toEqual([['Ben Lee', ...authors], []]);
    } finally {
      await newsroom.pretend({});
    }
  });

  it('are read from Co-Authors Plus in order, matched by slug, linked user, email address or name', async () => {
    await newsroom.pretend({ coauthors: true });
    try {
      await newsroom.php(
        `newsroom_tests_guest_author( 'cy-park', array( 'display_name' => 'Someone Else' ) );
        newsroom_tests_guest_author( 'linked', array( 'display_name' => 'B. L.', 'linked_account' => 'ben' ) );
        newsroom_tests_guest_author( 'mailed', array( 'display_name' => 'B. L.', 'user_email' => 'ben@newsroom.invalid' ) );
        newsroom_tests_guest_author( 'named', array( 'display_name' => 'Ada O&#8217;Vale' ) );
        newsroom_tests_guest_author( 'unknown', array( 'display_name' => 'Una <b>Known</b>' ) );
        return 1;`,
      );
      const by = async (...slugs: string[]) => {
        const before = await delivery();
        await newsroom.php(`newsroom_tests_coauthors( $input[0], $input[1] ); return 1;`, [article, slugs]);
        expect(await delivery()).not.toBe(before);
        return (await shown())[0];
      };
      expect(await by('cy-park', 'b-lee')).toEqual(['Cy Park', 'Ben Lee']);
      // Another order makes another byline.
      expect(await by('b-lee', 'cy-park')).toEqual(['Ben Lee', 'Cy Park']);
      expect(await by('linked', 'named')).toEqual(['Ben Lee', 'Ada O’Vale']);
      expect(await by('mailed', 'linked', 'cy-park')).toEqual(['Ben Lee', 'Cy Park']);
      expect(await by('unknown', 'admin', 'cy-park')).toEqual(['Cy Park']);
      const html = await boxOf(article, 'newsroom_byline_box');
      expect(html).toContain('From Co-Authors Plus: Cy Park. Add an author here to replace this list.');
      expect(html).toContain('because there’s no author with that name: Una Known');
      // The whole list is read with few statements, regardless of its length.
      const statements = await newsroom.php(
        `$make = function () { $id = wp_insert_post( array( 'post_type' => 'articles', 'post_title' => 'x', 'post_status' => 'publish' ) ); newsroom_tests_coauthors( $id, array( 'cy-park', 'b-lee' ) ); return $id; };
        $ids = array(); for ( $at = 0; $at < 20; $at++ ) { $ids[] = $make(); }
        wp_cache_flush(); global $wpdb; newsroom_prime_authors( $ids ); $before = $wpdb->num_queries;
        foreach ( $ids as $id ) { newsroom_byline_of( $id ); } $after = $wpdb->num_queries;
        add_filter( 'newsroom_webhooks_enabled', '__return_false' ); foreach ( $ids as $id ) { wp_delete_post( $id, true ); } return $after - $before;`,
      );
      expect(statements).toBeLessThan(5);
      // The field of one author and the story's own list have priority.
      await save({ newsroom_author: id('ada') });
      expect(await shown()).toEqual([['Ada O’Vale'], []]);
      await save({ newsroom_authors: [id('ben'), id('ada')] });
      expect(await shown()).toEqual([['Ben Lee', 'Ada O’Vale'], []]);
    } finally {
      await newsroom.pretend({});
    }
    // Without the plugin its terms aren't read.
    await save({ newsroom_authors: [], newsroom_author: 0 });
    expect(await shown()).toEqual([[], []]);
  });
});

describe('the list of articles in WordPress', () => {
  let cookie = '';
  beforeAll(async () => {
    cookie = await newsroom.signIn('admin');
  });
  const list = async (query = '') => {
    const { text } = await newsroom.get(`/wp-admin/edit.php?post_type=articles${query}`, { headers: { cookie } });
    const rows = [...text.matchAll(/<tr id="post-(\d+)"[\s\S]*?<\/tr>/g)];
    return { text, rows: new Map(rows.map(([html, number]) => [Number(number), html])) };
  };
  const cell = (html: string | undefined, column: string) =>
    (new RegExp(`<td class='[^']*column-${column}[^']*'[^>]*>([\\s\\S]*?)</td>`).exec(html ?? '')?.[1] ?? '')
      .replace(/<[^>]*>/g, '')
      .trim();

  it('has columns for the byline and the access level', async () => {
    await save({
      newsroom_authors: [id('ben'), id('ada')],
      newsroom_contributors: [id('cy')],
      newsroom_agency: 'A <i>Wire</i> & Co.',
      newsroom_access: 'subscriber',
    });
    const bare = await insert('Bare');
    const { rows } = await list();
    expect(cell(rows.get(article), 'newsroom_byline')).toBe(
      'Ben Lee, Ada O’Vale, A Wire &amp; Co.With reporting by Cy Park',
    );
    expect(cell(rows.get(article), 'newsroom_access')).toBe('Subscribers');
    expect(cell(rows.get(bare), 'newsroom_byline')).toBe('—No byline');
    expect(cell(rows.get(bare), 'newsroom_access')).toBe('Same as the section (default)');
  });

  it('can be filtered by author or contributor, by access level, and by both', async () => {
    await save({ newsroom_contributors: [id('cy')], newsroom_access: 'registered' });
    const other = await insert('Of another', { newsroom_author: id('cy') });
    const plain = await insert('Of none', { newsroom_access: 'registered' });
    const shows = async (query: string) => {
      const { rows } = await list(query);
      return [article, other, plain].map((each) => rows.has(each));
    };
    expect(await shows(`&newsroom_byline=${id('cy')}`)).toEqual([true, true, false]);
    expect(await shows('&newsroom_access=registered')).toEqual([true, false, true]);
    // An article that was never saved with a level follows its section.
    expect(await shows('&newsroom_access=default')).toEqual([false, true, false]);
    expect(await shows(`&newsroom_byline=${id('cy')}&newsroom_access=registered`)).toEqual([true, false, false]);
    const { text } = await list(`&newsroom_byline=${id('cy')}`);
    expect(text).toContain(`<option value="${id('cy')}" selected='selected'>Cy Park</option>`);
  });

  it('ignores invalid filters', async () => {
    const query =
      '&newsroom_byline[]=7&newsroom_access=%3Cscript%3Ealert(1)%3C/script%3E&newsroom_byline=%22%3E%3Cb%3E';
    const { text, rows } = await list(query);
    expect([rows.has(article), text.includes('<script>alert(1)')]).toEqual([true, false]);
  });

  it('reads the authors of all its articles with fewer than five queries', async () => {
    const counted = (most: number) =>
      newsroom.php(
        `wp_cache_flush(); global $wpdb; $ids = get_posts( array( 'post_type' => 'articles', 'fields' => 'ids', 'numberposts' => $input ) ); _prime_post_caches( $ids ); newsroom_prime_authors( $ids );
        $before = $wpdb->num_queries; ob_start(); foreach ( $ids as $id ) { newsroom_article_column( 'newsroom_byline', $id ); newsroom_article_column( 'newsroom_access', $id ); } ob_end_clean(); return array( count( $ids ), $wpdb->num_queries - $before );`,
        most,
      );
    const [rows, statements] = await counted(50);
    expect(rows).toBeGreaterThan(10);
    // Those statements are for authors who are deleted.
    expect(statements).toBeLessThan(5);
  });
});

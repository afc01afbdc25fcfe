import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openContent } from '../../../src/content/content.server.ts';
import { pageKeys } from '../../../src/server/press/page-keys.ts';
import type { Newsroom } from './harness.ts';
import { type OrdinaryWordPress, startOrdinaryWordPress, type Tables } from './ordinary-wordpress.ts';
import { Receiver } from './receiver.ts';
import { untilSent } from './until-sent.ts';

const receiver = new Receiver();
let ordinary: OrdinaryWordPress;
let newsroom: Newsroom;
let ids: Record<string, number>;
let before: Tables;
let cookie = '';
let editorCookie = '';

const tables = () => ordinary.tables();
const run = (options: Record<string, boolean>, first?: string) => ordinary.run(options, first);
const left = async (): Promise<number[]> =>
  (
    await newsroom.php(
      `global $wpdb; return $wpdb->get_col( "SELECT ID FROM {$wpdb->posts} WHERE post_type = 'post' ORDER BY ID" );`,
    )
  ).map(Number);
const article = async (name: string) => {
  const { status, json } = await newsroom.rest(`/wp/v2/articles/${ids[name]}?context=view`, { as: 'site' });
  expect(status, name).toBe(200);
  return json;
};
const difference = () => ordinary.difference(before);
const sections = ({ category }: { category: { slug: string }[] }) => category.map(({ slug }) => slug);

beforeAll(async () => {
  await receiver.open();
  ordinary = await startOrdinaryWordPress(receiver.url);
  ({ newsroom, ids } = ordinary);
  cookie = await newsroom.signIn('admin');
  editorCookie = await newsroom.signIn('editor');
  before = await tables();
});
afterAll(async () => {
  await newsroom?.stop();
  await receiver.close();
});
describe('the dry run of wp newsroom adopt', () => {
  it('reports what it would change, names problems and changes nothing', async () => {
    const { lines, failed } = await run({});
    expect(failed).toBeNull();
    expect(lines.slice(0, 4)).toEqual([
      '53 posts become articles.',
      '4 users become authors.',
      '2 categories become sections: News, 100 % Sport & more.',
      '47 published permalinks are redirected to their articles.',
    ]);
    const named = (code: string) => lines.filter((line) => line.startsWith(`- ${code}: `));
    expect(named('duplicate-slugs')).toEqual([
      expect.stringMatching(new RegExp(`: 2 posts have the same slug as another post.*\\(${ids.same3}, …\\)$`)),
    ]);
    const one: [string, string][] = [
      ['protected', 'protected'],
      ['private', 'private'],
      ['author-deleted', 'orphan'],
      ['long-texts', 'long'],
    ];
    for (const [code, id] of one) {
      expect(named(code), code).toEqual([expect.stringMatching(new RegExp(`: 1 .*\\(${ids[id]}\\)$`))]);
    }
    expect(named('drafts')[0]).toContain('3 drafts');
    expect(named('scheduled')[0]).toContain('1 scheduled post');
    expect(named('trash')[0]).toContain('1 post in the trash');
    expect(named('same-name')[0]).toContain('POLITICS');
    expect(named('no-section')[0]).toContain('Uncategorized');
    expect(named('email-names')).toHaveLength(1);
    expect(named('hidden-authors')).toHaveLength(1);
    expect(named('unknown-shortcodes').map((line) => /\[\w+\]/.exec(line)?.[0])).toEqual(['[old_form]', '[box]']);
    expect(lines).toContain('  /topics/* /category/*');
    expect(lines).toContain('  /category/politics-2 /section/politics');
    expect(await difference()).toEqual([]);
    const bare = await newsroom.php(
      `global $wpdb; $wpdb->delete( $wpdb->term_relationships, array( 'object_id' => $input[0] ) ); $codes = wp_list_pluck( newsroom_adopt_report( newsroom_adopt_read( INF, true ) )['problems'], 'ids', 'code' ); $wpdb->insert( $wpdb->term_relationships, array( 'object_id' => $input[0], 'term_taxonomy_id' => get_term( $input[1] )->term_taxonomy_id ) ); return $codes;`,
      [ids.bare, ids.none],
    );
    expect(bare['no-category']).toEqual([ids.bare]);
    expect(await difference()).toEqual([]);
  });

  it('leaves nothing to undo', async () => {
    expect(await run({ undo: true })).toEqual({ lines: ['There’s nothing to put back.'], failed: null });
  });
});

describe('wp newsroom adopt --yes', () => {
  let after: Tables;
  let told: string[];

  beforeAll(async () => {
    receiver.clear();
    expect((await run({ yes: true })).failed).toBeNull();
    await untilSent(newsroom);
    told = receiver.deliveries.map(({ body }) => `${body.event} ${body.slug}`);
    after = await tables();
  });

  it('adopts every post except those with a password and an empty one', async () => {
    expect(await left()).toEqual([ids.protected, ids.blank]);
  });

  it('changes only the type, slug, byline and former addresses of a post', () => {
    const known = new Set(before.posts?.map(({ ID }) => ID));
    const posts = (rows: Tables) =>
      rows.posts?.filter(({ ID }) => known.has(ID)).map(({ post_type, post_name, ...rest }) => rest);
    expect(posts(after)).toEqual(posts(before));
    const metaIds = new Set(before.postmeta?.map(({ meta_id }) => meta_id));
    expect(after.postmeta?.filter(({ meta_id }) => metaIds.has(meta_id))).toEqual(before.postmeta);
    const added = after.postmeta?.filter(({ meta_id }) => !metaIds.has(meta_id)).map(({ meta_key }) => meta_key);
    expect(new Set(added)).toEqual(
      new Set(['newsroom_author', '_newsroom_former_path', '_newsroom_user', '_wp_old_slug']),
    );
    for (const table of ['users', 'usermeta', 'comments', 'commentmeta', 'terms'])
      expect(after[table], table).toEqual(before[table]);
  });

  it('gives the site the same fields as for any article', async () => {
    const plain = await article('plain');
    expect(plain).toMatchObject({
      slug: 'plain-story',
      date: '2024-01-01T09:00:00',
      excerpt: { rendered: expect.stringContaining('By hand.') },
      acf: { author: { name: 'Ada O’Vale', slug: 'ada', excerpt: 'Writes about rivers.' } },
      old_slugs: ['/2024/01/plain-story'],
      access: 'default',
    });
    expect(plain.tags).toHaveLength(2);
    expect(plain.image.id).toBeGreaterThan(0);
    expect((await newsroom.rest(`/wp/v2/comments?post=${ids.plain}`)).json).toHaveLength(1);
  });

  it('turns top-level categories into sections, after the existing ones', async () => {
    const { json } = await newsroom.rest('/wp/v2/categories?per_page=100');
    const places = Object.fromEntries(
      json.map((term: { slug: string; newsroom: { navigation_position: number | null; home_count: number } }) => [
        term.slug,
        term.newsroom.navigation_position,
      ]),
    );
    expect(places).toMatchObject({
      politics: 4,
      news: 11,
      sport: 12,
      region: null,
      borough: null,
      'politics-2': null,
      empty: null,
      uncategorized: null,
    });
  });

  it('adds a post in a nested category to its top-level section, and updates the section’s count', async () => {
    expect(sections(await article('deep'))).toEqual(['news', 'borough']);
    expect(sections(await article('joined'))).toEqual(['politics', 'culture', 'politics-2']);
    expect(sections(await article('bare'))).toEqual(['uncategorized']);
    const count = (rows: Tables, id: number | undefined) =>
      Number(rows.term_taxonomy?.find((row) => Number(row.term_id) === id)?.count);
    // Only the published one; the draft is counted when it is published.
    expect(count(after, ids.news) - count(before, ids.news)).toBe(1);
    expect(count(after, ids.politics) - count(before, ids.politics)).toBe(1);
    expect(count(after, ids.borough)).toBe(count(before, ids.borough));
  });

  it('creates an author for each user with posts, as a hidden one if no post is public', async () => {
    const { json } = await newsroom.rest('/wp/v2/authors?per_page=100&orderby=slug&order=asc');
    expect(json.map(({ slug }: { slug: string }) => slug)).toEqual(['ada', 'bo', 'cleo']);
    expect((await article('orphan')).acf.author).toBeNull();
    expect((await newsroom.rest(`/wp/v2/authors?slug=drafty`)).json).toEqual([]);
    // The author document that existed before is hers, and her archive's address leads to it.
    expect((await article('sporty')).acf.author).toMatchObject({ id: ids.byline, slug: 'cleo' });
    expect((await newsroom.rest(`/wp/v2/authors/${ids.byline}`)).json.old_slugs).toEqual(['cleo-m']);
  });

  it('keeps a unique slug and the former permalinks for each post, in any script', async () => {
    expect(await article('same2')).toMatchObject({ slug: 'annual-2', old_slugs: ['/2022/05/annual'] });
    expect(await article('same3')).toMatchObject({ slug: 'annual-3', old_slugs: ['/2023/05/annual'] });
    const { slug, old_slugs } = await article('hebrew');
    expect(old_slugs).toEqual([`/2024/01/${slug}`]);
    expect(decodeURIComponent(slug)).toBe('שלום-עולם');
    expect((await article('renamed')).old_slugs.sort()).toEqual([
      expect.stringMatching(/^\/2024\/01\/first-name$/),
      expect.stringMatching(/^\/2024\/01\/second-name$/),
      'first-name',
    ]);
  });

  it('redirects old permalinks that reach WordPress', async () => {
    const location = async (address: string) => {
      const { status, headers } = await newsroom.get(address, { redirect: 'manual' });
      return [status, headers.get('location')];
    };
    const there = `${receiver.url}/article`;
    expect(await location('/2024/01/plain-story/')).toEqual([301, `${there}/plain-story`]);
    expect(await location('/2022/05/annual/')).toEqual([301, `${there}/annual-2`]);
    expect(await location('/2024/01/plain-story/amp/?x=1')).toEqual([301, `${there}/plain-story`]);
    expect(await location(`/2024/01/${encodeURIComponent('שלום-עולם')}/`)).toEqual([
      301,
      `${there}/${encodeURIComponent('שלום-עולם')}`,
    ]);
    expect(await location(`/?p=${ids.plain}`)).toEqual([301, `${there}/plain-story`]);
    expect((await location(`/?p=${ids.draft}`))[0]).toBe(404);
    expect((await location('/2024/01/nothing/'))[0]).toBe(404);
  });

  it('sends webhooks for sections and an author’s former address, but not for each post', () => {
    expect(told).toEqual([expect.stringMatching(/^term /), 'author cleo']);
  });

  it('adopts newer posts when it is run again, and keeps editors’ changes', async () => {
    const late = await newsroom.php(
      `update_term_meta( $input['sport'], 'newsroom_navigation_position', '' ); global $wpdb; $wpdb->update( $wpdb->posts, array( 'post_password' => '' ), array( 'ID' => $input['protected'] ) ); wp_cache_flush(); return 1;`,
      ids,
    );
    expect(late).toBe(1);
    expect((await run({ yes: true })).failed).toBeNull();
    expect(await left()).toEqual([ids.blank]);
    expect((await newsroom.rest(`/wp/v2/categories/${ids.sport}`)).json.newsroom.navigation_position).toBeNull();
  });

  it('is undone exactly with --undo', async () => {
    await newsroom.php(`update_term_meta( $input['sport'], 'newsroom_navigation_position', '12' ); return 1;`, ids);
    const { lines, failed } = await run({ undo: true });
    expect([failed, lines.at(-1)]).toEqual([null, expect.stringMatching(/^Everything was put back in/)]);
    await newsroom.php(
      `global $wpdb; $wpdb->update( $wpdb->posts, array( 'post_password' => 'sesame' ), array( 'ID' => $input['protected'] ) ); return 1;`,
      ids,
    );
    expect(await difference()).toEqual([]);
    expect(await newsroom.php(`return newsroom_has_journal();`)).toBe(false);
    expect((await newsroom.get('/2024/01/plain-story/', { redirect: 'manual' })).status).toBe(200);
  });
});

describe('an interrupted adoption', () => {
  const noWait = `add_filter( 'newsroom_adopt_lock_seconds', '__return_zero' );`;
  /** Ends PHP before the writing statement of this number. */
  const killedAt = (number: number, transactions: boolean) => `${noWait}
    add_filter( 'query', function ( $sql ) {
      static $writes = 0;
      $transaction = preg_match( '/^(START TRANSACTION|COMMIT|ROLLBACK)/', $sql );
      if ( preg_match( '/^\\\\s*(INSERT|UPDATE|DELETE|REPLACE|CREATE|DROP)/i', $sql ) || $transaction ) {
        if ( ++$writes === ${number} ) { remove_all_actions( 'shutdown' ); echo '"killed"'; exit; }
      }
      return $transaction && ! ${transactions} ? 'SELECT 1' : $sql;
    } );`;

  it.each([
    ['with transactions', true],
    ['without transactions', false],
  ])('resumes in a database %s, and can be undone', async (_, transactions) => {
    let kills = 0;
    for (const [task, step] of [
      [{ yes: true }, 13],
      [{ undo: true }, 9],
    ] as const) {
      for (let number = 3; ; number += step) {
        const done = await newsroom.php(
          `add_filter( 'newsroom_adopt_batch_size', function () { return 20; } ); ${killedAt(number, transactions)}
          $failed = newsroom_adopt_command( $input, '__return_null' ); return is_wp_error( $failed ) ? $failed->get_error_message() : 'done';`,
          task,
        );
        if (done === 'done') break;
        expect(done).toBe('killed');
        kills++;
      }
      if ('yes' in task) {
        expect(await left()).toEqual([ids.protected, ids.blank]);
        expect((await article('deep')).old_slugs).toEqual(['/2024/01/deep-story']);
        expect((await article('same3')).slug).toBe('annual-3');
        const twice = await newsroom.php(
          `global $wpdb; return $wpdb->get_results( "SELECT post_id, meta_key, COUNT(*) AS n FROM {$wpdb->postmeta} WHERE meta_key IN ('newsroom_author','_newsroom_former_path','_newsroom_user') GROUP BY post_id, meta_key, meta_value HAVING COUNT(*) > 1" );`,
        );
        expect(twice).toEqual([]);
      }
    }
    expect(kills).toBeGreaterThan(5);
    expect(await difference()).toEqual([]);
  });

  it('can be undone halfway', async () => {
    expect(
      await newsroom.php(`${killedAt(45, true)} newsroom_adopt_command( $input, '__return_null' );`, { yes: true }),
    ).toBe('killed');
    expect(await newsroom.php(`${noWait} return newsroom_adoption()['task'];`)).toBe('adopt');
    expect((await run({ undo: true }, noWait)).failed).toBeNull();
    expect(await difference()).toEqual([]);
  });

  it('blocks a second run while it may still be running', async () => {
    await newsroom.php(`return newsroom_adopt_lock();`);
    expect((await run({ yes: true })).failed).toMatch(
      /^Another run is in progress. If it was stopped, start again in \d+ seconds?\.$/,
    );
    expect(await difference()).toHaveLength(1);
    const lost = await newsroom.php(
      `${noWait} $old = newsroom_adopt_lock(); $new = newsroom_adopt_lock();
      try { newsroom_in_batch( $old, function () { update_option( 'blogname', 'Overtaken' ); } ); return 'written'; } catch ( RuntimeException $error ) { newsroom_adopt_unlock( $new ); return $error->getMessage(); }`,
    );
    expect(lost).toBe('Another run has taken over. Nothing was lost.');
    expect(await difference()).toEqual([]);
  });
});

describe('the site, after an adoption', () => {
  it('copies the adopted articles and redirects old permalinks to them', async () => {
    const account = await newsroom.php(
      `$user = get_users( array( 'role' => 'newsroom_site' ) )[0]; return array( 'user' => $user->user_login, 'password' => WP_Application_Passwords::create_new_application_password( $user->ID, array( 'name' => 'Adopted' ) )[0] );`,
    );
    const content = openContent({
      file: ':memory:',
      wordpress: { url: newsroom.url, ...account },
      siteUrl: receiver.url,
      frameHosts: [],
      pollSeconds: 3600,
      threads: false,
      measure: async () => ({ width: 1600, height: 900 }),
      log: { debug() {}, info() {}, warn() {}, error() {} },
    });
    try {
      // For a site that has been running all along, no post has a new modification date.
      expect(await content.syncNow()).toMatchObject({ ok: true });
      expect(content.reader().articles({}).total).toBe(1);
      await run({ yes: true });
      expect(await content.syncNow()).toMatchObject({ ok: true, rejected: 0 });
      const reader = content.reader();
      expect(reader.articles({}).total).toBe(48);
      expect(reader.sections().map(({ slug }) => slug)).toEqual(expect.arrayContaining(['politics', 'news', 'sport']));
      expect(reader.articles({ section: 'news' }).total).toBe(26);
      expect(reader.article('deep-story')).toMatchObject({
        section: { slug: 'news' },
        byline: { authors: [{ slug: 'bo' }] },
      });
      const story = JSON.stringify(reader.article('plain-story'));
      expect(story).toContain('/article/deep-story#user-content-there');
      expect(story).toContain('/article/goal');
      const keyOf = pageKeys(() => content.reader());
      const goesTo = (address: string) => (keyOf('GET', address) as { location?: string }).location;
      expect(goesTo('/2024/01/plain-story/')).toBe('/article/plain-story');
      expect(goesTo('/2022/05/annual/')).toBe('/article/annual-2');
      expect(goesTo(`/?p=${ids.plain}`)).toBe('/article/plain-story');
      expect(goesTo('/category/news/region/city/borough/')).toBe('/section/news');
    } finally {
      await content.stop();
      await run({ undo: true });
    }
  });
});

describe('editors’ changes after an adoption', () => {
  it('are kept when the adoption is undone', async () => {
    await run({ yes: true });
    const made = await newsroom.php(
      `add_filter( 'newsroom_webhooks_enabled', '__return_false' );
      $ada = get_post( get_post_meta( $input['plain'], 'newsroom_author', true ) );
      $new = wp_insert_post( array( 'post_type' => 'articles', 'post_title' => 'New', 'post_status' => 'publish', 'meta_input' => array( 'newsroom_author' => $ada->ID ) ) );
      wp_update_post( array( 'ID' => $input['same2'], 'post_name' => 'better', 'post_title' => 'Better' ) );
      update_post_meta( $input['deep'], 'newsroom_author', $input['byline'] );
      wp_delete_post( $input['bare'], true );
      return array( 'new' => $new, 'ada' => $ada->ID );`,
      ids,
    );
    await run({ undo: true });
    const now = await newsroom.php(
      `return array( get_post_type( $input['new'] ), get_post_type( $input['ada'] ), get_post_field( 'post_name', $input['same2'] ), get_post_field( 'post_name', $input['same3'] ), get_post_meta( $input['deep'], 'newsroom_author', true ), get_post( $input['bare'] ), newsroom_has_journal() );`,
      { ...ids, ...made },
    );
    expect(now).toEqual(['articles', 'authors', 'better', 'annual', String(ids.byline), null, false]);
  });
});

describe('Tools → Adopt this site', () => {
  const page = 'tools.php?page=newsroom-adopt';
  const call = (address: string, init: RequestInit = {}) =>
    newsroom.get(`/wp-admin/${address}`, { ...init, redirect: 'manual', headers: { cookie } });
  /** Presses the button of a form, and returns the next screen. */
  const press = async (html: string, action: string) => {
    const form = html.split('<form').find((part) => part.includes(`value="${action}"`)) ?? '';
    const fields = [...form.matchAll(/type="hidden" (?:id="\w+" )?name="(\w+)" value="([^"]*)"/g)];
    const body = new URLSearchParams(fields.map(([, name = '', value = '']) => [name, value]));
    const { status, headers } = await call('admin-post.php', { method: 'POST', body });
    expect(status, action).toBe(302);
    return (await call((headers.get('location') ?? '').split('/wp-admin/')[1] ?? '')).text;
  };

  it('answers 403 to an administrator without a nonce and to an editor with one, and 400 to visitors', async () => {
    const [, login = ''] = /wordpress_logged_in_\w+=([^;]+)/.exec(editorCookie) ?? [];
    const asEditor = { headers: { cookie: editorCookie }, redirect: 'manual' } as const;
    expect((await newsroom.get(`/wp-admin/${page}`, asEditor)).status).toBe(403);
    for (const action of ['newsroom_adopt_check', 'newsroom_adopt', 'newsroom_adopt_undo']) {
      const nonce = await newsroom.php(
        `$_COOKIE[ LOGGED_IN_COOKIE ] = $input[1]; wp_set_current_user( get_user_by( 'login', 'section-editor' )->ID ); return wp_create_nonce( $input[0] );`,
        [action, decodeURIComponent(login)],
      );
      const send = (init: RequestInit, fields: Record<string, string> = {}) =>
        newsroom.get('/wp-admin/admin-post.php', {
          ...init,
          method: 'POST',
          redirect: 'manual',
          body: new URLSearchParams({ action, ...fields }),
        });
      const answers = [
        await send({ headers: { cookie } }),
        await send(asEditor, { _wpnonce: nonce }),
        await send({}, { _wpnonce: nonce }),
      ];
      expect(
        answers.map(({ status }) => status),
        action,
      ).toEqual([403, 403, 400]);
    }
    expect(
      await newsroom.php(`return array( newsroom_adoption()['task'], get_option( 'newsroom_adopt_check' ) );`),
    ).toEqual(['', false]);
  });

  it('checks, adopts in steps and undoes the adoption with buttons', async () => {
    await newsroom.pretend({ adopt_step: 0 });
    const there = await left();
    let html = await press((await call(page)).text, 'newsroom_adopt_check');
    for (let step = 0; html.includes('posts read') && step < 20; step++)
      html = await press(html, 'newsroom_adopt_check');
    expect(html).toContain('data-problem="duplicate-slugs"');
    expect(html).toContain('100 % Sport &amp; more');
    html = await press(html, 'newsroom_adopt');
    let steps = 1;
    for (; html.includes('The posts are being adopted') && steps < 40; steps++) {
      expect(html).toMatch(/\d+ of \d+ posts adopted/);
      html = await press(html, 'newsroom_adopt');
    }
    // Each author and each batch is a step.
    expect(steps).toBeGreaterThan(5);
    expect(html).toContain('The posts are now articles.');
    expect(await left()).toEqual([ids.protected, ids.blank]);
    await newsroom.pretend({});
    html = await press(html, 'newsroom_adopt_undo');
    for (let step = 0; html.includes('being put back') && step < 40; step++)
      html = await press(html, 'newsroom_adopt_undo');
    expect(html).toContain('Everything was put back.');
    expect(await left()).toEqual(there);
  });
});

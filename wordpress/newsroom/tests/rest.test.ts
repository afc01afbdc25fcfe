import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { body, type Newsroom, startNewsroom } from './harness.ts';

let newsroom: Newsroom;
let ids: Record<string, number>;

beforeAll(async () => {
  newsroom = await startNewsroom('http://127.0.0.1:9');
  ids = await newsroom.php(
    `
    add_filter( 'newsroom_webhooks_enabled', '__return_false' );
    $insert = function ( $type, $title, $more = array() ) { return wp_insert_post( array( 'post_type' => $type, 'post_title' => $title, 'post_status' => 'publish' ) + $more, true ); };
    require_once ABSPATH . 'wp-admin/includes/image.php';
    $upload  = wp_upload_bits( 'tower.png', null, base64_decode( $input['png'] ) );
    $picture = wp_insert_attachment( array( 'post_mime_type' => 'image/png', 'post_title' => 'Tower', 'post_excerpt' => 'The <em>tower</em> &amp; the river', 'post_status' => 'inherit' ), $upload['file'] );
    wp_update_attachment_metadata( $picture, array( 'width' => 1600, 'height' => 900, 'file' => _wp_relative_upload_path( $upload['file'] ) ) );
    update_post_meta( $picture, '_wp_attachment_image_alt', 'A tower' );
    update_post_meta( $picture, 'newsroom_credit', 'Ada Vale' );
    $author  = $insert( 'authors', 'Ada O&#8217;Vale', array( 'post_excerpt' => 'Writes about <b>rivers</b>.' ) );
    set_post_thumbnail( $author, $picture );
    $hidden  = wp_insert_post( array( 'post_type' => 'authors', 'post_title' => 'Not yet', 'post_status' => 'draft' ) );
    $article = $insert( 'articles', 'First', array( 'post_content' => $input['body'], 'post_date' => '2026-01-02 03:04:05' ) );
    update_post_meta( $article, 'newsroom_author', $author );
    update_post_meta( $article, 'newsroom_access', 'registered' );
    set_post_thumbnail( $article, $picture );
    wp_set_object_terms( $article, array( 'culture', 'politics' ), 'category' );
    $bare    = $insert( 'articles', 'Bare' );
    update_post_meta( $bare, 'newsroom_author', $hidden );
    $video   = $insert( 'video', 'Film', array( 'meta_input' => array( 'newsroom_author' => $author, 'newsroom_video_url' => 'https://www.youtube.com/watch?v=abcdefghijk' ) ) );
    wp_set_object_terms( $video, 'national', 'category' );
    $puzzle  = $insert( 'crosswords', 'Grid', array( 'meta_input' => array( 'newsroom_iframe' => '<iframe src="https://puzzles.example.com/1" onload="alert(1)"></iframe><script>alert(1)</script>' ) ) );
    $top     = $insert( 'page', 'Top', array( 'post_name' => 'top-stories-2', 'meta_input' => array( 'newsroom_top_articles' => array( $bare, $article, $bare, 'x' ), 'newsroom_breaking' => true, 'newsroom_bulleted' => false, 'newsroom_featured_excerpt' => "one\\ntwo" ) ) );
    $about   = $insert( 'page', 'About' );
    $locked  = $insert( 'articles', 'Locked', array( 'post_password' => 'sesame' ) );
    return compact( 'picture', 'author', 'article', 'bare', 'video', 'puzzle', 'top', 'about', 'locked' );
    `,
    {
      png: 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
      body: body(),
    },
  );
});
afterAll(() => newsroom?.stop());

const picture = () => ({
  id: ids.picture,
  url: expect.stringMatching(/^http.*\/tower.*\.png$/),
  alt: 'A tower',
  width: 1600,
  height: 900,
  caption: 'The tower & the river',
  credit: 'Ada Vale',
});
const author = () => ({
  id: ids.author,
  name: 'Ada O’Vale',
  slug: 'ada-ovale',
  excerpt: 'Writes about rivers.',
  image: picture(),
});

describe('documents', () => {
  it('carry author, picture, sections and access', async () => {
    const { json } = await newsroom.rest(`/wp/v2/articles/${ids.article}`);
    expect(json).toMatchObject({
      acf: { author: author() },
      image: picture(),
      access: 'registered',
      restricted: true,
      old_slugs: [],
    });
    expect(json.category).toEqual([
      { id: expect.any(Number), name: 'Politics', slug: 'politics', label: 'Politics', color: 'default' },
      { id: expect.any(Number), name: 'Culture', slug: 'culture', label: 'Arts+', color: 'default' },
    ]);
  });

  it('say so when there is none of it, and never name an author who is not published', async () => {
    const { json } = await newsroom.rest(`/wp/v2/articles/${ids.bare}`);
    expect(json).toMatchObject({
      acf: { author: null },
      image: null,
      category: [],
      access: 'default',
      restricted: false,
    });
  });

  it('carry the fields of their type, cleaned', async () => {
    const video = (await newsroom.rest(`/wp/v2/video/${ids.video}`)).json;
    expect(video.acf).toEqual({ author: author(), video_url: 'https://www.youtube.com/watch?v=abcdefghijk' });
    expect(video.category).toMatchObject([{ slug: 'national' }]);
    const puzzle = (await newsroom.rest(`/wp/v2/crosswords/${ids.puzzle}`)).json;
    expect(puzzle.acf.iframe).toContain('<iframe src="https://puzzles.example.com/1"></iframe>');
    expect(puzzle.acf.iframe).not.toMatch(/script|onload/);
  });

  it('carry the order of the front page', async () => {
    const { json } = await newsroom.rest('/wp/v2/pages?slug=top-stories-2&_fields=acf');
    expect(json).toEqual([
      {
        acf: {
          top_articles: [ids.bare, ids.article],
          breaking: true,
          featured_excerpt: 'one\ntwo',
          bulleted_featured_excerpt: false,
        },
      },
    ]);
    expect((await newsroom.rest(`/wp/v2/pages/${ids.about}?_fields=acf`)).json).toEqual({ acf: {} });
  });

  it('show an author with portrait and biography', async () => {
    const { json } = await newsroom.rest(`/wp/v2/authors/${ids.author}`);
    expect(json).toMatchObject({ slug: 'ada-ovale', image: picture() });
    expect(json.excerpt.rendered).toContain('rivers');
  });

  it('link to the site', async () => {
    const link = async (route: string) => (await newsroom.rest(route)).json.link;
    expect(await link(`/wp/v2/articles/${ids.article}`)).toBe('http://127.0.0.1:9/article/first');
    expect(await link(`/wp/v2/video/${ids.video}`)).toBe('http://127.0.0.1:9/media/film');
    expect(await link(`/wp/v2/authors/${ids.author}`)).toBe('http://127.0.0.1:9/author/ada-ovale');
    expect(await link(`/wp/v2/pages/${ids.about}`)).toBe('http://127.0.0.1:9/about');
  });
});

describe('filters', () => {
  const found = async (query: string, type = 'articles') => {
    const { status, json } = await newsroom.rest(`/wp/v2/${type}?_fields=id&${query}`);
    expect(status).toBe(200);
    return json.map(({ id }: { id: number }) => id);
  };

  it('finds a section by slug and by id', async () => {
    const [culture] = (await newsroom.rest('/wp/v2/categories?slug=culture')).json;
    expect(await found('category=culture')).toEqual([ids.article]);
    expect(await found(`category=${culture.id}`)).toEqual([ids.article]);
    expect(await found('category=nothing-of-the-kind')).toEqual([]);
    expect(await found('category=national', 'video')).toEqual([ids.video]);
    expect(await found(`category=culture&exclude=${ids.article}`)).toEqual([]);
  });

  it('finds an author’s documents', async () => {
    expect(await found(`author_id=${ids.author}`)).toEqual([ids.article]);
    expect(await found(`author_id=${ids.author}`, 'video')).toEqual([ids.video]);
    expect(await found('author_id=999999')).toEqual([]);
    expect((await newsroom.rest('/wp/v2/articles?author_id=nobody')).status).toBe(400);
  });

  it('pages by id', async () => {
    for (const type of ['articles', 'pages', 'authors']) {
      const all = await found('orderby=id&order=asc&per_page=100', type);
      expect(all.length).toBeGreaterThan(type === 'authors' ? 0 : 1);
      const paged: number[] = [];
      for (let last = 0; ; last = paged.at(-1) ?? 0) {
        const page = await found(`orderby=id&order=asc&per_page=1&after_id=${last}`, type);
        if (page.length === 0) break;
        expect(page).toHaveLength(1);
        paged.push(...page);
      }
      expect(paged).toEqual(all);
    }
    expect((await newsroom.rest('/wp/v2/articles?after_id=first')).status).toBe(400);
    expect((await newsroom.rest('/wp/v2/articles?after_id=-1')).status).toBe(400);
  });

  it('sees a backdated article, and changes of meta, terms and image, by modified_after', async () => {
    const changedSince = async (change: string) => {
      await newsroom.php(
        `global $wpdb; $wpdb->query( "UPDATE {$wpdb->posts} SET post_modified = '2026-02-02 00:00:00', post_modified_gmt = '2026-02-02 05:00:00'" ); wp_cache_flush(); return 1;`,
      );
      await newsroom.php(`add_filter( 'newsroom_webhooks_enabled', '__return_false' ); ${change} return 1;`, ids);
      return found('modified_after=2026-02-03T00:00:00');
    };
    expect(await changedSince('')).toEqual([]);
    expect(await changedSince(`update_post_meta( $input['bare'], 'newsroom_access', 'free' );`)).toEqual([ids.bare]);
    expect(await changedSince(`wp_set_object_terms( $input['bare'], 'justice', 'category' );`)).toEqual([ids.bare]);
    expect(await changedSince(`delete_post_thumbnail( $input['article'] );`)).toEqual([ids.article]);
    expect(await changedSince(`set_post_thumbnail( $input['article'], $input['picture'] );`)).toEqual([ids.article]);
    expect(await changedSince(`update_post_meta( $input['picture'], 'newsroom_credit', 'Another' );`)).toEqual([
      ids.article,
    ]);
    expect(
      await changedSince(`wp_update_post( array( 'ID' => $input['picture'], 'post_excerpt' => 'New words' ) );`),
    ).toEqual([ids.article]);
    const added = await changedSince(
      `wp_insert_post( array( 'post_type' => 'articles', 'post_title' => 'Archive', 'post_status' => 'publish', 'post_date' => '2020-01-01 00:00:00' ) );`,
    );
    expect(added).toHaveLength(1);
    expect(
      await changedSince(
        `$id = wp_insert_post( array( 'post_type' => 'articles', 'post_title' => 'Later', 'post_status' => 'future', 'post_date' => gmdate( 'Y-m-d H:i:s', time() + 9000 ) ) ); global $wpdb; $wpdb->update( $wpdb->posts, array( 'post_modified' => '2026-01-01 00:00:00', 'post_modified_gmt' => '2026-01-01 00:00:00' ), array( 'ID' => $id ) ); clean_post_cache( $id ); wp_publish_post( $id );`,
      ),
    ).toHaveLength(1);
  });

  it('leaves password-protected documents to the site’s credentials', async () => {
    expect(await found('per_page=100')).not.toContain(ids.locked);
    expect((await newsroom.rest(`/wp/v2/articles/${ids.locked}`)).status).toBe(401);
    expect((await newsroom.rest(`/wp/v2/articles/${ids.locked}`, { as: 'reporter' })).status).toBe(403);
    expect((await newsroom.rest(`/wp/v2/search?search=Locked`)).json).toEqual([]);
    const { status, json } = await newsroom.rest(`/wp/v2/articles/${ids.locked}`, { as: 'site' });
    expect([status, json.content.protected]).toEqual([200, true]);
  });
});

describe('sections, menus, status', () => {
  it('sets up the ten sections on a WordPress without categories', async () => {
    const { json } = await newsroom.rest('/wp/v2/categories?per_page=100');
    const sections = json
      .filter(
        (term: { newsroom: { navigation_position: number | null } }) => term.newsroom.navigation_position !== null,
      )
      .map(({ slug, newsroom: s }: { slug: string; newsroom: Record<string, unknown> }) => [
        s.navigation_position,
        slug,
        s.label,
        s.home_count,
        s.color,
        s.show_in_media,
      ])
      .sort((a: [number], b: [number]) => a[0] - b[0]);
    expect(sections).toEqual([
      [1, 'editorials', 'Editorials', 5, 'red', false],
      [2, 'national', 'National', 6, 'default', true],
      [3, 'foreign', 'Foreign', 6, 'default', true],
      [4, 'politics', 'Politics', 5, 'default', true],
      [5, 'culture', 'Arts+', 12, 'default', true],
      [6, 'economy', 'Economy', 4, 'default', true],
      [7, 'education', 'Education', 3, 'default', false],
      [8, 'justice', 'Justice', 4, 'default', false],
      [9, 'columnists', 'Columnists', 3, 'default', false],
      [10, 'opinion', 'Opinion', 4, 'red', false],
    ]);
    const other = json.find((term: { slug: string }) => term.slug === 'uncategorized');
    expect(other.newsroom).toMatchObject({
      navigation_position: null,
      home_count: 0,
      color: 'default',
      show_in_media: false,
    });
  });

  it('shows the footer’s menu', async () => {
    expect((await newsroom.rest('/newsroom/v1/menus')).json).toEqual([]);
    await newsroom.php(
      `
      $menu = wp_create_nav_menu( 'Foot' );
      wp_update_nav_menu_item( $menu, 0, array( 'menu-item-title' => 'Q &amp; A', 'menu-item-url' => 'https://example.com/qa', 'menu-item-status' => 'publish' ) );
      wp_update_nav_menu_item( $menu, 0, array( 'menu-item-object' => 'page', 'menu-item-object-id' => $input['about'], 'menu-item-type' => 'post_type', 'menu-item-status' => 'publish' ) );
      set_theme_mod( 'nav_menu_locations', array( 'footer' => $menu ) );
      return 1;`,
      ids,
    );
    expect((await newsroom.rest('/newsroom/v1/menus')).json).toEqual([
      {
        location: 'footer',
        items: [
          { title: 'Q & A', url: 'https://example.com/qa' },
          { title: 'About', url: 'http://127.0.0.1:9/about' },
        ],
      },
    ]);
  });

  it('says what is installed and whether the asker may read everything', async () => {
    const status = async (as?: 'site' | 'admin' | 'reporter') =>
      (await newsroom.rest('/newsroom/v1/status', { as })).json;
    expect(await status()).toEqual({
      plugin: expect.stringMatching(/^\d/),
      wordpress: expect.any(String),
      php: expect.any(String),
      site_url: 'http://127.0.0.1:9',
      time_zone: 'America/New_York',
      credentials: false,
      public: true,
      uploads: expect.stringMatching(/\/wp-content\/uploads$/),
      signed_in: false,
      signs_in: false,
      // What keeps the site from signing in has to be said to whom it could not sign in as.
      problems: [],
    });
    expect((await status('site')).credentials).toBe(true);
    expect((await status('admin')).credentials).toBe(true);
    expect((await status('reporter')).credentials).toBe(false);
  });
});

describe('Advanced Custom Fields', () => {
  it('wins where it has a field, and leaves the rest to the plugin', async () => {
    const other = await newsroom.php(
      `$bo = wp_insert_post( array( 'post_type' => 'authors', 'post_title' => 'Bo', 'post_status' => 'publish' ) );
      $keep = function ( $id, $name, $value ) { update_post_meta( $id, $name, $value ); update_post_meta( $id, '_' . $name, 'field_' . $name ); };
      $keep( $input['article'], 'author', (string) $bo );
      $keep( $input['video'], 'video_url', 'https://youtu.be/zzzzzzzzzzz' );
      $keep( $input['top'], 'top_articles', array( (string) $input['article'] ) );
      $keep( $input['top'], 'breaking', '0' );
      return $bo;`,
      ids,
    );
    await newsroom.pretend({ acf: {} });
    try {
      expect((await newsroom.rest(`/wp/v2/articles/${ids.article}`)).json.acf.author).toMatchObject({
        id: other,
        name: 'Bo',
      });
      expect((await newsroom.rest(`/wp/v2/video/${ids.video}`)).json.acf).toMatchObject({
        author: { id: ids.author },
        video_url: 'https://youtu.be/zzzzzzzzzzz',
      });
      expect((await newsroom.rest(`/wp/v2/pages/${ids.top}`)).json.acf).toEqual({
        top_articles: [ids.article],
        breaking: false,
        featured_excerpt: 'one\ntwo',
        bulleted_featured_excerpt: false,
      });
    } finally {
      await newsroom.pretend({});
    }
    expect((await newsroom.rest(`/wp/v2/articles/${ids.article}`)).json.acf.author).toMatchObject({ id: ids.author });
  });
});

describe('writing', () => {
  it('lets only editors set fields through meta, cleaned', async () => {
    const meta = { newsroom_access: 'everyone!', newsroom_author: ids.bare };
    expect(
      (await newsroom.rest(`/wp/v2/articles/${ids.bare}`, { as: 'reporter', method: 'POST', body: { meta } })).status,
    ).toBe(403);
    expect(
      (await newsroom.rest(`/wp/v2/articles/${ids.bare}`, { as: 'site', method: 'POST', body: { meta } })).status,
    ).toBe(403);
    const saved = await newsroom.rest(`/wp/v2/articles/${ids.bare}`, { as: 'admin', method: 'POST', body: { meta } });
    expect(saved.status).toBe(200);
    expect(saved.json).toMatchObject({ access: 'default', acf: { author: null } });
  });

  it('takes a reader’s comment from the site and refuses it without credentials', async () => {
    const comment = {
      post: ids.article,
      author_name: 'A Reader',
      author_email: 'reader@example.com',
      author_ip: '203.0.113.9',
      content: 'Well said, I think.',
    };
    expect((await newsroom.rest('/wp/v2/comments', { method: 'POST', body: comment })).status).toBe(401);
    expect((await newsroom.rest('/wp/v2/comments', { as: 'reporter', method: 'POST', body: comment })).status).toBe(
      403,
    );
    const { status, json } = await newsroom.rest('/wp/v2/comments', { as: 'site', method: 'POST', body: comment });
    expect([status, json.author, json.author_name, json.status]).toEqual([201, 0, 'A Reader', 'hold']);
  });
});

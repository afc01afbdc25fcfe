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
    return compact( 'picture', 'author', 'hidden', 'article', 'bare', 'video', 'puzzle', 'top', 'about', 'locked' );
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

describe('documents over REST', () => {
  it('have author, picture, sections and access level', async () => {
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

  it('have null or empty values without these, and never name an unpublished author', async () => {
    const { json, text } = await newsroom.rest(`/wp/v2/articles/${ids.bare}`);
    expect(text).not.toContain('Not yet');
    expect(json).toMatchObject({
      // The bare id: the site adds the name once the author is published.
      acf: { author: ids.hidden },
      image: null,
      category: [],
      access: 'default',
      restricted: false,
    });
  });

  it('have the fields of their type, sanitized', async () => {
    const video = (await newsroom.rest(`/wp/v2/video/${ids.video}`)).json;
    expect(video.acf).toEqual({ author: author(), video_url: 'https://www.youtube.com/watch?v=abcdefghijk' });
    expect(video.category).toMatchObject([{ slug: 'national' }]);
    const puzzle = (await newsroom.rest(`/wp/v2/crosswords/${ids.puzzle}`)).json;
    expect(puzzle.acf.iframe).toContain('<iframe src="https://puzzles.example.com/1"></iframe>');
    expect(puzzle.acf.iframe).not.toMatch(/script|onload/);
  });

  it('have the order of the front page’s top stories', async () => {
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

  it('of an author have portrait and biography', async () => {
    const { json } = await newsroom.rest(`/wp/v2/authors/${ids.author}`);
    expect(json).toMatchObject({ slug: 'ada-ovale', image: picture() });
    expect(json.excerpt.rendered).toContain('rivers');
  });

  it('have a link to their page on the site', async () => {
    const link = async (route: string) => (await newsroom.rest(route)).json.link;
    expect(await link(`/wp/v2/articles/${ids.article}`)).toBe('http://127.0.0.1:9/article/first');
    expect(await link(`/wp/v2/video/${ids.video}`)).toBe('http://127.0.0.1:9/media/film');
    expect(await link(`/wp/v2/authors/${ids.author}`)).toBe('http://127.0.0.1:9/author/ada-ovale');
    expect(await link(`/wp/v2/pages/${ids.about}`)).toBe('http://127.0.0.1:9/about');
  });
});

describe('filters of REST lists', () => {
  const found = async (query: string, type = 'articles') => {
    const { status, json } = await newsroom.rest(`/wp/v2/${type}?_fields=id&${query}`);
    expect(status).toBe(200);
    return json.map(({ id }: { id: number }) => id);
  };

  it('find a section’s documents by slug and by ID', async () => {
    const [culture] = (await newsroom.rest('/wp/v2/categories?slug=culture')).json;
    expect(await found('category=culture')).toEqual([ids.article]);
    expect(await found(`category=${culture.id}`)).toEqual([ids.article]);
    expect(await found('category=nothing-of-the-kind')).toEqual([]);
    expect(await found('category=national', 'video')).toEqual([ids.video]);
    expect(await found(`category=culture&exclude=${ids.article}`)).toEqual([]);
  });

  it('find an author’s documents by ID', async () => {
    expect(await found(`author_id=${ids.author}`)).toEqual([ids.article]);
    expect(await found(`author_id=${ids.author}`, 'video')).toEqual([ids.video]);
    expect(await found('author_id=999999')).toEqual([]);
    expect((await newsroom.rest('/wp/v2/articles?author_id=nobody')).status).toBe(400);
  });

  it('find backdated articles and changes to meta, terms and images with modified_after', async () => {
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

  it('omit password-protected documents, which only the site’s account may read', async () => {
    expect(await found('per_page=100')).not.toContain(ids.locked);
    expect((await newsroom.rest(`/wp/v2/articles/${ids.locked}`)).status).toBe(401);
    expect((await newsroom.rest(`/wp/v2/articles/${ids.locked}`, { as: 'reporter' })).status).toBe(403);
    expect((await newsroom.rest(`/wp/v2/search?search=Locked`)).json).toEqual([]);
    const { status, json } = await newsroom.rest(`/wp/v2/articles/${ids.locked}`, { as: 'site' });
    expect([status, json.content.protected]).toEqual([200, true]);
  });

  it('have the whole text of a password-protected document only by its id, for the site’s account', async () => {
    const ends = 'the-protected-end';
    await newsroom.php(`return wp_update_post( array( 'ID' => $input[0], 'post_content' => $input[1] ) );`, [
      ids.locked,
      body(ends),
    ]);
    const read = (query: string) => newsroom.rest(`/wp/v2/articles${query}`, { as: 'site' });
    for (const level of ['free', 'subscriber']) {
      await newsroom.php(`return update_post_meta( $input[0], 'newsroom_access', $input[1] );`, [ids.locked, level]);
      const { content, excerpt } = (await read(`/${ids.locked}`)).json;
      expect(content).toEqual({ rendered: expect.stringContaining(ends), protected: true });
      expect(excerpt.rendered).not.toBe('');
      expect((await read(`?include=${ids.locked}`)).json[0].content).toEqual({ rendered: '', protected: true });
    }
    await newsroom.php(`return delete_post_meta( $input, 'newsroom_access' );`, ids.locked);
  });
});

describe('REST lists paged with after_key', () => {
  const kept: Record<string, number[]> = {};
  type Item = { id: number } & Record<string, string>;

  beforeAll(async () => {
    Object.assign(
      kept,
      await newsroom.php(`
        add_filter( 'newsroom_webhooks_enabled', '__return_false' );
        // Ids in another order than dates, and seconds that several share.
        $dates = array( '2025-03-01 10:00:00', '2025-03-01 10:00:00', '2025-01-01 00:00:00', '2025-03-01 10:00:00', '2025-02-01 00:00:00', '2025-01-01 00:00:00' );
        $made  = array();
        foreach ( array( 'articles', 'video', 'crosswords', 'authors', 'page' ) as $type ) {
          foreach ( $dates as $at => $date ) {
            $made[ $type ][] = wp_insert_post( array( 'post_type' => $type, 'post_title' => "Key $type $at", 'post_status' => 'publish', 'post_date' => $date, 'post_content' => 'x' ) );
          }
        }
        foreach ( $dates as $at => $date ) {
          $made['comment'][] = wp_insert_comment( array( 'comment_post_ID' => $made['articles'][1], 'comment_content' => "Words $at", 'comment_author' => 'Ada', 'comment_approved' => 1, 'comment_date' => $date, 'comment_date_gmt' => $date ) );
        }
        for ( $at = 0; $at < 3; $at++ ) wp_insert_term( "Key $at", 'category' );
        return $made;
      `),
    );
    // The plugin had set them to the present.
    await newsroom.php(
      `global $wpdb; return $wpdb->query( "UPDATE {$wpdb->posts} SET post_modified = post_date, post_modified_gmt = post_date_gmt WHERE post_title LIKE 'Key %'" );`,
    );
  });

  const list = async (path: string, query: string): Promise<{ items: Item[]; total: number }> => {
    const { status, json, headers, text } = await newsroom.rest(`/wp/v2/${path}?${query}`);
    expect(status, `${path}?${query}: ${text}`).toBe(200);
    return { items: json, total: Number(headers.get('x-wp-total')) };
  };

  it.each([
    ['articles', 'date'],
    ['articles', 'modified'],
    ['articles', 'id'],
    ['video', 'date'],
    ['crosswords', 'modified'],
    ['authors', 'date'],
    ['pages', 'id'],
    ['comments', 'date_gmt'],
    ['comments', 'date'],
    ['comments', 'id'],
    ['categories', 'id'],
  ])('of %s by %s return each document once, in order, with the remaining count', async (path, orderby) => {
    for (const order of ['asc', 'desc']) {
      const query = `orderby=${orderby}&order=${order}&_fields=id,${orderby}`;
      const all = await list(path, `${query}&per_page=100`);
      expect(all.items.length).toBeGreaterThan(5);
      const sign = order === 'asc' ? 1 : -1;
      const inOrder = all.items.toSorted((a, b) => {
        const [one, other] = orderby === 'id' ? ['', ''] : [String(a[orderby]), String(b[orderby])];
        return sign * (one < other ? -1 : one > other ? 1 : a.id - b.id);
      });
      expect(all.items).toEqual(inOrder);
      const paged: Item[] = [];
      for (let left = all.total; ; left -= 3) {
        const last = paged.at(-1);
        const key = last ? `&after_key=${orderby === 'id' ? '' : `${last[orderby]},`}${last.id}` : '';
        const page = await list(path, `${query}&per_page=3${key}`);
        expect(page.total).toBe(Math.max(0, left));
        paged.push(...page.items);
        if (page.items.length < 3) break;
      }
      expect(paged).toEqual(all.items);
    }
  });

  it('skip and repeat nothing when documents are added, changed or deleted between two pages', async () => {
    const query =
      'orderby=date&order=desc&_fields=id,date&per_page=3&after=2024-12-31T00:00:00&before=2025-12-31T00:00:00';
    const [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0] = kept.articles ?? [];
    const first = await list('articles', query);
    expect(first.items.map(({ id }) => id)).toEqual([d, b, a]);
    const last = first.items[2] as Item;
    await newsroom.php(
      `add_filter( 'newsroom_webhooks_enabled', '__return_false' );
       wp_trash_post( $input[0] ); wp_delete_post( $input[1], true );
       wp_update_post( array( 'ID' => $input[2], 'post_title' => 'Changed' ) );
       wp_insert_post( array( 'post_type' => 'articles', 'post_title' => 'Newer', 'post_status' => 'publish', 'post_date' => '2025-06-01 00:00:00' ) );
       return 1;`,
      // The key's own document disappears, too.
      [a, d, e],
    );
    const rest = await list('articles', `${query}&after_key=${last.date},${last.id}`);
    expect(rest.items.map(({ id }) => id)).toEqual([e, f, c]);
    expect(rest.total).toBe(3);
    const modified = await list(
      'articles',
      'orderby=modified&order=asc&_fields=id,modified&per_page=100&modified_after=2024-12-31T00:00:00',
    );
    expect(modified.items.map(({ id }) => id).slice(0, 3)).toEqual([c, f, b]);
  });

  it('do not mix up cached comment pages', async () => {
    const pages = await newsroom.php(
      `$ask = function ( $key ) {
         $request = new WP_REST_Request( 'GET', '/wp/v2/comments' );
         $request->set_query_params( array( 'orderby' => 'id', 'order' => 'asc', 'per_page' => 1, 'after_key' => $key ) );
         return rest_do_request( $request )->get_data()[0]['id'];
       };
       return array( $ask( (string) $input[0] ), $ask( (string) $input[1] ), $ask( (string) $input[0] ) );`,
      kept.comment,
    );
    expect(pages).toEqual([kept.comment?.[1], kept.comment?.[2], kept.comment?.[1]]);
  });

  it.each([
    ['articles', 'orderby=id&after_key=first'],
    ['articles', 'orderby=id&after_key=-1'],
    ['articles', 'orderby=id&after_key='],
    ['articles', 'orderby=id&after_key=1.5'],
    ['articles', 'orderby=id&after_key=1%0A'],
    ['articles', 'orderby=id&after_key=1%00'],
    ['articles', 'orderby=id&after_key=1%20OR%201=1'],
    ['articles', 'orderby=id&after_key=9999999999999999999999'],
    ['articles', 'orderby=id&after_key[]=1'],
    ['articles', 'orderby=id&after_key[a]=1'],
    ['articles', 'orderby=id&after_key=2025-01-01T00:00:00,1'],
    ['articles', 'after_key=12'],
    ['articles', 'orderby=date&after_key=12'],
    ['articles', 'orderby=date&after_key=2025-01-01T00:00:00'],
    ['articles', 'orderby=date&after_key=2025-01-01T00:00:00,'],
    ['articles', 'orderby=date&after_key=2025-01-01T00:00:00,-1'],
    ['articles', 'orderby=date&after_key=2025-01-01T00:00:00,1,2'],
    ['articles', 'orderby=date&after_key=2025-01-01,1'],
    ['articles', 'orderby=date&after_key=2025-02-30T00:00:00,1'],
    ['articles', 'orderby=date&after_key=2025-01-01T24:00:00,1'],
    ['articles', 'orderby=date&after_key=2025-01-01T00:00:00Z,1'],
    ['articles', "orderby=date&after_key=2025-01-01T00:00:00'%20OR%20'1'='1,1"],
    ['articles', 'orderby=date&after_key=2025-01-01T00:00:00,1)%20UNION%20SELECT%201--'],
    ['articles', 'orderby=date&after_key=%EF%BC%92025-01-01T00:00:00,1'],
    ['articles', 'orderby=title&after_key=2025-01-01T00:00:00,1'],
    ['articles', 'orderby=date_gmt&after_key=2025-01-01T00:00:00,1'],
    ['articles', 'orderby[]=id&after_key=1'],
    ['pages', 'orderby=menu_order&after_key=1'],
    ['comments', 'orderby=modified&after_key=2025-01-01T00:00:00,1'],
    ['comments', 'orderby=post&after_key=1'],
    ['comments', 'orderby=id&after_key=1;DROP'],
    ['categories', 'after_key=1'],
    ['categories', 'orderby=count&after_key=1'],
    ['categories', 'orderby=id&after_key=x'],
  ])('answer 400 to %s?%s', async (path, query) => {
    const { status, json } = await newsroom.rest(`/wp/v2/${path}?${query}`);
    expect([status, json.code]).toEqual([400, 'rest_invalid_param']);
  });

  it('answer an invalid key with an example of a valid one', async () => {
    const { json } = await newsroom.rest('/wp/v2/articles?orderby=date&after_key=12');
    expect(json.data.params.after_key).toContain('2026-11-20T12:00:00,123');
  });

  it('accept very large and small keys, and show nothing that the unpaged list hides', async () => {
    expect((await list('articles', 'orderby=id&order=asc&after_key=999999999999999999')).items).toEqual([]);
    expect((await list('articles', 'orderby=date&after_key=0001-01-01T00:00:00,1')).items).toEqual([]);
    const { items } = await list('articles', 'orderby=id&order=asc&per_page=100&after_key=0&_fields=id');
    expect(items).toEqual((await list('articles', 'orderby=id&order=asc&per_page=100&_fields=id')).items);
    expect(items.map(({ id }) => id)).not.toContain(ids.locked);
    const further = await list('articles', 'orderby=id&order=asc&per_page=2&after_key=0&offset=2&_fields=id');
    expect(further.items).toEqual(items.slice(2, 4));
  });
});

describe('sections, menus and status over REST', () => {
  it('the ten default sections are created on a WordPress without categories', async () => {
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

  it('the footer menu is listed with plain text and site addresses', async () => {
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

  it('the status has versions and whether the credentials may read everything', async () => {
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
      // Problems that keep the site from signing in must be reported to the site, which isn't signed in.
      problems: [],
    });
    expect((await status('site')).credentials).toBe(true);
    expect((await status('admin')).credentials).toBe(true);
    expect((await status('reporter')).credentials).toBe(false);
  });
});

describe('Advanced Custom Fields', () => {
  it('provides the fields that it has values for, and the plugin provides the others', async () => {
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

describe('writing over REST', () => {
  it('a reporter and the site’s account may not set fields through meta, and invalid values are reset', async () => {
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

  it('a reader’s comment is accepted from the site’s account only', async () => {
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

it('a copy made by Duplicate Post gets no former addresses, notes, coverage or test of the original', async () => {
  const kept = await newsroom.php(
    `return array_values( array_diff( $input, apply_filters( 'duplicate_post_excludelist_filter', array( '_edit_lock' ) ) ) );`,
    [
      '_edit_lock',
      '_newsroom_former_path',
      '_newsroom_live_slug',
      'newsroom_corrections',
      'newsroom_headline_test',
      'newsroom_live',
      'newsroom_access',
    ],
  );
  expect(kept).toEqual(['newsroom_access']);
});

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Answer, body, type CallOptions, type Newsroom, startNewsroom } from './harness.ts';

/** A word at the end of every restricted body, in its footnotes and in its revisions, and nowhere else. */
const CANARY = 'unrevealed';
const OPENING = 'Paragraph 1 tells';

let newsroom: Newsroom;
let ids: Record<string, number>;

beforeAll(async () => {
  newsroom = await startNewsroom('http://127.0.0.1:9');
  ids = await newsroom.php(
    `
    add_filter( 'newsroom_webhooks_enabled', '__return_false' );
    $insert = function ( $title, $level, $content ) { return wp_insert_post( array( 'post_type' => 'articles', 'post_title' => $title, 'post_status' => 'publish', 'post_content' => $content, 'meta_input' => array( 'newsroom_access' => $level ) ) ); };
    $notes   = wp_slash( wp_json_encode( array( array( 'content' => 'A note with unrevealed things', 'id' => 'n1' ) ) ) );
    $paid    = $insert( 'For subscribers', 'subscriber', $input['blocks'] );
    update_post_meta( $paid, 'footnotes', $notes );
    wp_update_post( array( 'ID' => $paid, 'post_content' => wp_slash( $input['blocks'] . "\n<!-- wp:list --><ul><li>unrevealed too</li></ul><!-- /wp:list -->" ) ) );
    $signed  = $insert( 'For readers', 'registered', $input['classic'] );
    $paged   = $insert( 'On two pages', 'subscriber', str_replace( '<!-- wp:paragraph -->', '<!--nextpage--><!-- wp:paragraph -->', $input['blocks'] ) );
    $free    = $insert( 'For all', 'free', $input['blocks'] );
    $default = $insert( 'As the section', 'default', $input['blocks'] );
    $own     = wp_insert_post( array( 'post_type' => 'articles', 'post_title' => 'The reporter’s own', 'post_status' => 'pending', 'post_author' => get_user_by( 'login', 'reporter' )->ID, 'post_content' => $input['blocks'], 'meta_input' => array( 'newsroom_access' => 'subscriber' ) ) );
    $draft   = wp_insert_post( array( 'post_type' => 'articles', 'post_title' => 'Draft', 'post_status' => 'draft', 'post_content' => $input['blocks'] ) );
    $comment = wp_insert_comment( array( 'comment_post_ID' => $paid, 'comment_content' => 'Fine.', 'comment_author' => 'R', 'comment_approved' => 1 ) );
    $listing = wp_insert_post( array( 'post_type' => 'page', 'post_title' => 'Listing', 'post_status' => 'publish', 'post_content' => '<!-- wp:query {"queryId":1,"query":{"perPage":10,"postType":"articles","inherit":false}} --><div class="wp-block-query"><!-- wp:post-template --><!-- wp:post-title /--><!-- wp:post-content /--><!-- wp:post-excerpt /--><!-- /wp:post-template --></div><!-- /wp:query -->' ) );
    return compact( 'paid', 'signed', 'paged', 'free', 'default', 'own', 'draft', 'comment', 'listing' );
    `,
    { blocks: body(CANARY), classic: body(CANARY).replace(/<!--.*?-->|<\/?p>/g, '') },
  );
});
afterAll(() => newsroom?.stop());

/** Every address at which a body, an excerpt made from it or a search in it may leave WordPress. */
const routes = (): [string, string][] => {
  const one = ids.paid;
  const rest = [
    `articles/${one}`,
    `articles/${one}?context=view`,
    `articles/${one}?context=embed`,
    `articles/${one}?context=edit`,
    `articles/${one}?_embed=1`,
    `articles/${one}?excerpt_length=5000`,
    `articles/${one}?_fields=content,excerpt,meta`,
    `articles/${one}?password=x`,
    `articles/${ids.signed}`,
    `articles/${ids.paged}`,
    'articles?per_page=100',
    'articles?per_page=100&context=edit',
    'articles?per_page=100&_embed=1',
    'articles?per_page=100&excerpt_length=5000',
    `articles?slug=for-subscribers`,
    `articles/${one}/revisions`,
    `articles/${one}/autosaves`,
    `comments/${ids.comment}?_embed=1`,
    'comments?_embed=1',
    'search?search=subscribers&_embed=1',
    'search?search=readers&_embed=1&per_page=100',
    'categories?_embed=1',
    `block-renderer/core/post-content?context=edit&post_id=${one}`,
    `pages/${ids.listing}`,
  ];
  return [
    ...rest.map((route): [string, string] => [route, `/wp-json/wp/v2/${route}`]),
    ['a route by query', `/?rest_route=/wp/v2/articles/${one}`],
    ['oEmbed', `/wp-json/oembed/1.0/embed?url=${encodeURIComponent(`${newsroom.url}/?post_type=articles&p=${one}`)}`],
    [
      'oEmbed as XML',
      `/wp-json/oembed/1.0/embed?format=xml&url=${encodeURIComponent(`${newsroom.url}/?post_type=articles&p=${one}`)}`,
    ],
    ['the frame of an oEmbed', '/article/for-subscribers/embed/'],
    ['RSS', '/feed/?post_type=articles'],
    ['RSS 0.92', '/feed/rss/?post_type=articles'],
    ['RDF', '/feed/rdf/?post_type=articles'],
    ['Atom', '/feed/atom/?post_type=articles'],
    ['comments as RSS', '/comments/feed/'],
    ['an article’s comments as RSS', '/article/for-subscribers/feed/'],
    ['the theme', '/article/for-subscribers/'],
    ['the theme, classic text', '/article/for-readers/'],
    ['the theme, second page', '/article/on-two-pages/2/'],
    ['the theme, by id', `/?post_type=articles&p=${one}`],
    ['the theme, all articles', '/?post_type=articles'],
    ['a list in a page', `/?page_id=${ids.listing}`],
    ['a preview', `/?post_type=articles&p=${one}&preview=true`],
    ['a search', '/?s=subscribers&post_type=articles'],
    ['a search as RSS', '/?s=subscribers&feed=rss2'],
  ];
};

const leaks = (answer: Answer) => answer.text.includes(CANARY);

describe('without credentials', () => {
  it('no route reveals a restricted body', async () => {
    const free = await newsroom.php(
      `wp_update_post( array( 'ID' => $input['free'], 'post_status' => 'draft' ) ); wp_update_post( array( 'ID' => $input['default'], 'post_status' => 'draft' ) ); return 1;`,
      ids,
    );
    expect(free).toBe(1);
    const leaking: string[] = [];
    const opened: string[] = [];
    for (const [name, address] of routes()) {
      const answer = await newsroom.get(address);
      expect(answer.status, name).toBeLessThan(500);
      if (leaks(answer)) leaking.push(name);
      if (answer.status === 200 && answer.text.includes(OPENING)) opened.push(name);
    }
    await newsroom.php(`wp_publish_post( $input['free'] ); wp_publish_post( $input['default'] ); return 1;`, ids);
    expect(leaking).toEqual([]);
    // The addresses do find the article: its opening is there for everyone.
    expect(opened).toEqual(
      expect.arrayContaining([
        `articles/${ids.paid}`,
        'RSS',
        'Atom',
        'the theme',
        'a list in a page',
        'articles?per_page=100&_embed=1',
        'the frame of an oEmbed',
      ]),
    );
  });

  it('a search does not reveal which restricted article contains a word', async () => {
    const hits = async (address: string) =>
      (await newsroom.get(address)).json.map(({ id }: { id: number }) => id).sort();
    const open = [ids.free, ids.default].sort();
    expect(await hits(`/wp-json/wp/v2/articles?search=${CANARY}`)).toEqual(open);
    expect(await hits(`/wp-json/wp/v2/articles?search=${CANARY}&search_columns=post_content`)).toEqual(open);
    expect(await hits(`/wp-json/wp/v2/articles?search=${CANARY}&orderby=relevance`)).toEqual(open);
    expect(await hits(`/wp-json/wp/v2/search?search=${CANARY}`)).toEqual(open);
    expect(await hits(`/wp-json/wp/v2/articles?search=${encodeURIComponent("wp_posts.post_content LIKE '%")}`)).toEqual(
      [],
    );
    expect(await hits(`/wp-json/wp/v2/articles?search=subscribers`)).toEqual([ids.paid]);
  });

  it('free articles are returned whole', async () => {
    for (const id of [ids.free, ids.default]) {
      const answer = await newsroom.rest(`/wp/v2/articles/${id}`);
      expect([answer.json.restricted, leaks(answer)]).toEqual([false, true]);
    }
    expect((await newsroom.get('/article/for-all/')).text).toContain(CANARY);
  });

  it('an article with the default access is restricted if its section is', async () => {
    await newsroom.pretend({ effective: 'subscriber' });
    try {
      const answer = await newsroom.rest(`/wp/v2/articles/${ids.default}`);
      expect(answer.json).toMatchObject({ access: 'default', restricted: true });
      expect(leaks(answer)).toBe(false);
      const found = (await newsroom.rest(`/wp/v2/articles?search=${CANARY}`)).json;
      expect(found.map(({ id }: { id: number }) => id)).toEqual([ids.free]);
    } finally {
      await newsroom.pretend({});
    }
  });
});

describe('the excerpt of a restricted article', () => {
  const opening = (content: string): Promise<string> =>
    newsroom.php(
      `return newsroom_opening( new WP_Post( (object) array( 'ID' => 0, 'post_type' => 'articles', 'post_content' => $input ) ) );`,
      content,
    );
  const words = (html: string) =>
    html
      .replace(/<[^>]+>/g, ' ')
      .trim()
      .split(/\s+/).length;
  const many = (count: number, word = 'word') =>
    Array.from({ length: count }, (_, index) => `${word}${index}`).join(' ');

  it('is two paragraphs with their inline markup', async () => {
    const html = await opening(
      `<p>One <em>fine</em> day.</p><p>Two <a href="https://example.com/">links</a>.</p><p>${many(40)}</p>`,
    );
    expect(html).toBe('<p>One <em>fine</em> day.</p>\n\n<p>Two <a href="https://example.com/">links</a>.</p>');
  });

  it('ends after 80 words', async () => {
    expect(words(await opening(`<p>${many(5000)}</p>`))).toBe(80);
    expect(words(await opening(`<p>${many(60)}</p><p>${many(60)}</p><p>${many(900)}</p>`))).toBe(80);
  });

  it('is at most half of the text', async () => {
    expect(words(await opening('<p>Only eight words are in this short text.</p>'))).toBe(4);
    expect(words(await opening(`<p>${many(10)}</p><p>${many(10)}</p>`))).toBe(10);
  });

  it('is limited in length where words have no spaces between them', async () => {
    const html = await opening(`<p>一 二 ${'字'.repeat(20_000)}</p>`);
    expect(html.length).toBeLessThan(700);
  });

  it('contains only paragraphs, including those inside groups', async () => {
    const html = await opening(
      `<!-- wp:image --><figure><img src="x.png"><figcaption>caption</figcaption></figure><!-- /wp:image --><!-- wp:group --><div><!-- wp:paragraph --><p class="x" onclick="y">First<sup data-fn="a" class="fn"><a href="#a">1</a></sup> words.</p><!-- /wp:paragraph --></div><!-- /wp:group --><!-- wp:html --><p>raw secret</p><!-- /wp:html --><!-- wp:paragraph {"direction":"rtl"} --><p>كلمات</p><!-- /wp:paragraph --><!-- wp:paragraph --><p>${many(50)}</p><!-- /wp:paragraph -->`,
    );
    expect(html).toBe('<p>First words.</p>\n\n<p dir="rtl">كلمات</p>');
  });

  it('is plain text if a body has no paragraph', async () => {
    const html = await opening(`<table><tr><td>${many(300)}</td></tr></table>`);
    expect([words(html), html.startsWith('<p>word0')]).toEqual([80, true]);
  });
});

describe('with credentials', () => {
  const whole = async (id: number | undefined, as?: CallOptions['as']) => {
    const answer = await newsroom.rest(`/wp/v2/articles/${id}`, { as });
    return [answer.status, answer.json?.restricted, leaks(answer)];
  };

  it('the site, editors and administrators get full articles, and a reporter only the reporter’s own', async () => {
    for (const as of ['site', 'editor', 'admin'] as const) {
      const { status, json } = await newsroom.rest(`/wp/v2/articles/${ids.paid}`, { as });
      const texts = [json.content.rendered, json.meta.footnotes];
      expect([status, json.restricted, texts], as).toEqual([
        200,
        false,
        texts.map(() => expect.stringContaining(CANARY)),
      ]);
      const found = (await newsroom.rest(`/wp/v2/articles?search=${CANARY}`, { as })).json;
      expect(
        found.map(({ id }: { id: number }) => id),
        as,
      ).toContain(ids.paid);
    }
    expect(await whole(ids.paid, 'reporter')).toEqual([200, true, false]);
    expect(await whole(ids.own, 'reporter')).toEqual([200, false, true]);
  });

  it('a story that lists other articles’ fields reveals no restricted text', async () => {
    const printed = ['newsroom_transcript', 'newsroom_chapters'].map(
      (key) =>
        `<!-- wp:paragraph {"metadata":{"bindings":{"content":{"source":"core/post-meta","args":{"key":"${key}"}}}}} --><p>x</p><!-- /wp:paragraph -->`,
    );
    const each = `<!-- wp:post-title /--><!-- wp:footnotes /-->${printed.join('')}`;
    const content = `<!-- wp:query {"query":{"perPage":100,"postType":"articles","inherit":false}} --><div class="wp-block-query"><!-- wp:post-template -->${each}<!-- /wp:post-template --></div><!-- /wp:query -->`;
    await newsroom.php(
      `update_post_meta( $input[0], 'newsroom_transcript', $input[1] ); return update_post_meta( $input[0], 'newsroom_chapters', '0:00 ' . $input[1] );`,
      [ids.paid, CANARY],
    );
    const body = { title: 'Mine', status: 'draft', content };
    const mine = await newsroom.rest('/wp/v2/articles', { as: 'reporter', method: 'POST', body });
    const seen = await newsroom.rest(`/wp/v2/articles/${mine.json.id}`, { as: 'site' });
    for (const answer of [mine, seen]) {
      expect(answer.json.content.rendered).toContain('For subscribers');
      expect(answer.json.content.rendered).not.toContain(CANARY);
    }
    await newsroom.php(
      `return wp_update_post( array( 'ID' => $input, 'post_content' => '<!-- wp:footnotes /-->' ) );`,
      ids.own,
    );
    await newsroom.php(`return update_post_meta( $input[0], 'footnotes', wp_slash( $input[1] ) );`, [
      ids.own,
      JSON.stringify([{ id: 'own', content: CANARY }]),
    ]);
    expect(await whole(ids.own, 'site')).toEqual([200, false, true]);
  });

  it('responses are marked private and no-store', async () => {
    const { headers } = await newsroom.rest(`/wp/v2/articles/${ids.paid}`, { as: 'site' });
    expect(headers.get('cache-control')).toMatch(/private/);
    expect(headers.get('cache-control')).toMatch(/no-store/);
    expect(headers.get('vary')).toContain('Authorization');
    expect((await newsroom.rest(`/wp/v2/articles/${ids.paid}`)).headers.get('cache-control') ?? '').not.toContain(
      'no-store',
    );
  });

  it('the site reads drafts, autosaves and revisions, and writes nothing', async () => {
    await newsroom.rest(`/wp/v2/articles/${ids.paid}/autosaves`, {
      as: 'admin',
      method: 'POST',
      body: { content: 'Fresher words, still unsaved.' },
    });
    const read = async (route: string) => (await newsroom.rest(`/wp/v2/articles/${route}`, { as: 'site' })).status;
    expect(await read(`${ids.draft}`)).toBe(200);
    expect(await read(`${ids.paid}/revisions`)).toBe(200);
    const autosaves = await newsroom.rest(`/wp/v2/articles/${ids.paid}/autosaves`, { as: 'site' });
    expect(autosaves.json[0].content.rendered).toContain('Fresher words');
    const write = async (method: string, route: string, content?: unknown) =>
      (await newsroom.rest(`/wp/v2/${route}`, { as: 'site', method, body: content })).status;
    expect(await write('POST', `articles/${ids.paid}`, { title: 'Mine now' })).toBe(403);
    expect(await write('POST', `articles/${ids.paid}/autosaves`, { title: 'Mine now' })).toBe(403);
    expect(await write('DELETE', `articles/${ids.draft}`)).toBe(403);
    expect(await write('POST', 'articles', { title: 'Mine' })).toBe(403);
    expect(await write('POST', 'pages', { title: 'Mine' })).toBe(403);
    const overridden = await newsroom.rest(`/wp/v2/articles/${ids.paid}?_method=DELETE`, {
      as: 'site',
      method: 'POST',
    });
    expect(overridden.status).toBe(403);
    expect((await newsroom.rest(`/wp/v2/articles/${ids.draft}`)).status).toBe(401);
  });
});

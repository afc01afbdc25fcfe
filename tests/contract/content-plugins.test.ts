/** The content service against WordPress with other plugins and servers: fields of Advanced Custom Fields, and a lost Authorization header. */
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openContent } from '../../src/content/content.server.ts';
import type { Content } from '../../src/content/service.ts';
import { runChecks } from '../../src/server/verify/checks.ts';
import { wordpressCheck } from '../../src/server/verify/wordpress.ts';
import { type Newsroom, startNewsroom } from '../../wordpress/newsroom/tests/harness.ts';

const siteUrl = 'http://127.0.0.1:9';
let newsroom: Newsroom;
let account: { user: string; password: string };
let ids: Record<string, number>;

beforeAll(async () => {
  newsroom = await startNewsroom(siteUrl);
  account = await newsroom.php(`
    $user = get_users( array( 'role' => 'newsroom_site' ) )[0];
    return array( 'user' => $user->user_login, 'password' => WP_Application_Passwords::create_new_application_password( $user->ID, array( 'name' => 'Contract' ) )[0] );
  `);
  // Values as ACF stores them: each with the reference to its field, ids and flags as text, a repeater as its number of rows.
  ids = await newsroom.php(
    `
    add_filter( 'newsroom_webhooks_enabled', '__return_false' );
    $insert = function ( $type, $title, $fields = array(), $more = array() ) {
      $meta = array();
      foreach ( $fields as $name => $value ) {
        $meta[ $name ]       = $value;
        $meta[ '_' . $name ] = 'field_' . $name;
      }
      return wp_insert_post( $more + array( 'post_type' => $type, 'post_title' => $title, 'post_status' => 'publish', 'meta_input' => $meta ), true );
    };
    $upload = wp_upload_bits( 'hero.png', null, base64_decode( $input ) );
    $hero   = wp_insert_attachment( array( 'post_mime_type' => 'image/png', 'post_title' => 'Hero', 'post_status' => 'inherit' ), $upload['file'] );
    $ada    = $insert( 'authors', 'Ada Vale', array(), array( 'post_excerpt' => 'Writes about rivers.' ) );
    $draft  = $insert( 'authors', 'Not Yet Hired', array(), array( 'post_status' => 'draft' ) );
    $full   = $insert( 'articles', 'Full', array( 'author' => (string) $ada, 'hero' => (string) $hero, 'sources' => '1' ) );
    update_post_meta( $full, 'sources_0_title', 'The record' );
    update_post_meta( $full, 'sources_0_link', 'https://records.example.com/' );
    $hired  = $insert( 'articles', 'Hidden author', array( 'author' => (string) $draft ) );
    $empty  = $insert( 'articles', 'Empty', array( 'author' => '', 'hero' => '', 'sources' => '0' ) );
    $older  = $insert( 'articles', 'Older than ACF' );
    update_post_meta( $older, 'newsroom_author', $ada );
    $video  = $insert( 'video', 'Film', array( 'author' => (string) $ada, 'video_url' => 'https://www.youtube.com/watch?v=abcdefghijk' ) );
    $silent = $insert( 'video', 'No film yet', array( 'author' => '', 'video_url' => '' ) );
    $puzzle = $insert( 'crosswords', 'Grid', array( 'iframe' => "<iframe src=\\"https://puzzles.example.com/1\\">\\n</iframe>" ) );
    $top    = $insert( 'page', 'Top', array( 'top_articles' => array( (string) $empty, (string) $full ), 'breaking' => '1', 'featured_excerpt' => "One\\nTwo", 'bulleted_featured_excerpt' => '0' ), array( 'post_name' => 'top-stories-2' ) );
    return compact( 'ada', 'full', 'hired', 'empty', 'older', 'video', 'silent', 'puzzle', 'top' );
    `,
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  );
});
afterAll(() => newsroom?.stop());

/** Copies everything again. */
async function synced(url = newsroom.url): Promise<Content> {
  const content = openContent({
    file: ':memory:',
    wordpress: { url, ...account },
    siteUrl,
    frameHosts: ['puzzles.example.com'],
    pollSeconds: 3600,
    threads: false,
    measure: async () => ({ width: 1600, height: 900 }),
    log: { debug() {}, info() {}, warn() {}, error() {} },
  });
  expect(await content.syncNow()).toMatchObject({ ok: true, problem: null });
  return content;
}

it.each([
  ['as IDs if they are registered before the newsroom plugin’s', {}],
  ['as IDs if they are registered after the newsroom plugin’s', { last: true }],
  ['as formatted values if they are registered before the newsroom plugin’s', { format: 'standard' }],
  ['as formatted values if they are registered after the newsroom plugin’s', { format: 'standard', last: true }],
])('fields of Advanced Custom Fields are read %s', async (_, acf) => {
  await newsroom.pretend({ acf });
  const content = await synced();
  try {
    expect(content.status().rejected).toBe(0);
    const reader = content.reader();
    const authorOf = (slug: string) => reader.article(slug)?.byline.authors[0]?.name ?? null;
    expect(['full', 'hidden-author', 'empty', 'older-than-acf'].map(authorOf)).toEqual([
      'Ada Vale',
      null,
      null,
      'Ada Vale',
    ]);
    expect(reader.articles({ authorId: ids.ada }).total).toBe(2);
    expect(reader.video('film')).toMatchObject({
      author: { name: 'Ada Vale' },
      video: { providerId: 'abcdefghijk' },
    });
    expect(reader.video('no-film-yet')?.author).toBeNull();
    expect(reader.crossword('grid')?.iframeSrc).toBe('https://puzzles.example.com/1');
    const { featured, others } = reader.topStories();
    expect([featured?.id, others[0]?.id]).toEqual([ids.empty, ids.full]);
    expect(featured).toMatchObject({ breaking: true, bulleted: false });
    expect(featured?.featuredExcerpt).toBe('One\nTwo');
    // The site's data names no unpublished author.
    const raw = await newsroom.rest(`/wp/v2/articles?include[]=${ids.hired}&include[]=${ids.full}&orderby=include`);
    expect(raw.text).not.toContain('Not Yet Hired');
    // The newsroom plugin's fields remain if ACF registers last, as ACF sends them.
    if ('last' in acf) {
      expect(raw.json[1].acf.sources).toEqual([{ title: 'The record', link: 'https://records.example.com/' }]);
      expect(raw.json[1].acf.hero).toEqual(
        'format' in acf ? expect.objectContaining({ width: 1600 }) : expect.any(Number),
      );
    }
  } finally {
    await content.stop();
    await newsroom.pretend({});
  }
});

/** A server in front of WordPress that drops a header, as Apache does before PHP over CGI. */
async function dropping(header: string): Promise<{ url: string; close: () => void }> {
  const server = http.createServer((incoming, outgoing) => {
    const headers = { ...incoming.headers };
    delete headers[header];
    const passed = http.request(new URL(incoming.url ?? '/', newsroom.url), { method: incoming.method, headers });
    passed.on('response', (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
    });
    passed.on('error', () => outgoing.destroy());
    incoming.pipe(passed);
  });
  // By default a connection closes after 5 seconds without a request, which a busy client may learn too late.
  server.keepAliveTimeout = 60_000;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

it('a web server that drops the Authorization header is named as the cause, and public content is still read', async () => {
  const server = await dropping('authorization');
  try {
    const content = await synced(server.url);
    expect(content.status()).toMatchObject({
      ready: true,
      credentials: false,
      problems: expect.arrayContaining([
        { code: 'authorization-lost', message: expect.stringContaining('CGIPassAuth On') },
      ]),
    });
    expect(content.reader().article('full')?.title).toBe('Full');
    await content.stop();
    const version = String((await newsroom.rest('/newsroom/v1/status')).json.plugin);
    const lines = await runChecks([wordpressCheck({ url: server.url, ...account }, siteUrl, version)]);
    expect(lines.find(({ outcome }) => outcome === 'failed')).toMatchObject({
      asks: 'GET /wp-json/newsroom/v1/status',
      remedy: expect.stringContaining('Authorization header'),
    });
    const through = await runChecks([wordpressCheck({ url: newsroom.url, ...account }, siteUrl, version)]);
    expect(through.map(({ outcome }) => outcome)).toEqual(['ok', 'ok', 'ok', 'ok']);
  } finally {
    server.close();
  }
});

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Answer, body, type Newsroom, startNewsroom } from './harness.ts';

/** The end of a body that the plugin itself restricts; the site must get it. */
const WHOLE = 'the-restricted-end';
/** Content that other plugins and WordPress show to signed-in users (support/newsroom-tests/membership.php). */
const SIGNED_IN = /MEMBERS-ONLY|Logged in as|action=logout|_wpnonce|wp-admin\/profile\.php/;

let newsroom: Newsroom;
let ids: Record<string, number>;

const closed = `<!-- wp:shortcode -->[members]Between the tags.[/members]<!-- /wp:shortcode -->
<!-- wp:membership/members --><p>Within the block.</p><!-- /wp:membership/members -->
<!-- wp:shortcode -->[loginout]<!-- /wp:shortcode -->
<!-- wp:loginout /-->
<!-- wp:comments --><div class="wp-block-comments"><!-- wp:post-comments-form /--></div><!-- /wp:comments -->`;

beforeAll(async () => {
  newsroom = await startNewsroom('http://127.0.0.1:9');
  await newsroom.pretend({ membership: true });
  ids = await newsroom.php(
    `
    add_filter( 'newsroom_webhooks_enabled', '__return_false' );
    $insert = function ( $type, $title, $content, $more = array() ) { return wp_insert_post( array_merge( array( 'post_type' => $type, 'post_title' => $title, 'post_status' => 'publish', 'post_content' => $content, 'comment_status' => 'open' ), $more ) ); };
    $paid    = $insert( 'articles', 'For subscribers', $input['paid'] . $input['closed'], array( 'meta_input' => array( 'newsroom_access' => 'subscriber' ) ) );
    $free    = $insert( 'articles', 'For all', $input['closed'] . $input['list'] );
    $marked  = $insert( 'articles', 'Closed by a mark', 'Members read this.', array( 'meta_input' => array( '_members_only' => 1 ) ) );
    $draft   = $insert( 'articles', 'Not yet', $input['closed'], array( 'post_status' => 'draft' ) );
    $page    = $insert( 'page', 'A page', $input['closed'] );
    $author  = $insert( 'authors', 'An author', $input['closed'] );
    $video   = $insert( 'video', 'A video', $input['closed'] );
    $comment = wp_insert_comment( array( 'comment_post_ID' => $free, 'comment_content' => 'Fine.', 'comment_author' => 'R', 'comment_approved' => 1 ) );
    $held    = wp_insert_comment( array( 'comment_post_ID' => $free, 'comment_content' => 'Waits.', 'comment_author' => 'R', 'comment_approved' => 0 ) );
    $menu    = wp_create_nav_menu( 'Main' );
    wp_update_nav_menu_item( $menu, 0, array( 'menu-item-title' => 'Home', 'menu-item-url' => home_url( '/' ), 'menu-item-status' => 'publish' ) );
    set_theme_mod( 'nav_menu_locations', array( 'primary' => $menu ) );
    return compact( 'paid', 'free', 'marked', 'draft', 'page', 'author', 'video', 'comment', 'held' );
    `,
    {
      closed,
      paid: body(WHOLE),
      list: '<!-- wp:query {"queryId":1,"query":{"perPage":10,"postType":"articles","inherit":false}} --><div class="wp-block-query"><!-- wp:post-template --><!-- wp:post-title /--><!-- wp:post-content /--><!-- /wp:post-template --></div><!-- /wp:query -->',
    },
  );
  await newsroom.rest(`/wp/v2/articles/${ids.paid}/autosaves`, {
    as: 'admin',
    method: 'POST',
    body: { content: `${body(WHOLE)}${closed}` },
  });
});
afterAll(() => newsroom?.stop());

/** Every route that the site reads. */
const routes = (): string[] => [
  `/wp/v2/articles/${ids.paid}`,
  `/wp/v2/articles/${ids.free}`,
  `/wp/v2/articles/${ids.marked}`,
  `/wp/v2/articles/${ids.draft}`,
  `/wp/v2/articles/${ids.paid}?_embed=1`,
  `/wp/v2/articles/${ids.paid}/autosaves`,
  `/wp/v2/articles/${ids.paid}/revisions`,
  `/wp/v2/articles?include=${ids.paid},${ids.free},${ids.marked}`,
  `/wp/v2/pages/${ids.page}`,
  '/wp/v2/pages?per_page=100',
  `/wp/v2/authors/${ids.author}`,
  `/wp/v2/video/${ids.video}`,
  `/wp/v2/comments/${ids.comment}`,
  `/wp/v2/comments/${ids.held}`,
  '/wp/v2/comments?per_page=100',
  '/wp/v2/categories?per_page=100',
  '/newsroom/v1/menus',
];

const rendered = (answer: Answer): string => answer.json.content.rendered;

describe.each(['site', 'admin'] as const)('REST responses to the %s account', (as) => {
  it('have nothing that other plugins show only to signed-in WordPress users', async () => {
    const leaking: string[] = [];
    for (const route of routes()) {
      const answer = await newsroom.rest(route, { as });
      expect(answer.status, route).toBe(200);
      const found = SIGNED_IN.exec(answer.text);
      if (found) leaking.push(`${route}: ${answer.text.slice(found.index, found.index + 60)}`);
    }
    expect(leaking).toEqual([]);
  });

  it('have the full text of a restricted article only in that article', async () => {
    const paid = await newsroom.rest(`/wp/v2/articles/${ids.paid}`, { as });
    expect(paid.json.restricted).toBe(false);
    expect(rendered(paid)).toContain(WHOLE);
    expect(rendered(paid)).toContain('Please join us.');
    const [first, second] = (
      await newsroom.rest(`/wp/v2/articles?include=${ids.paid},${ids.free}&orderby=include`, { as })
    ).json;
    expect(first.content.rendered).toContain(WHOLE);
    // A free story that lists other stories shows their openings.
    expect(second.content.rendered).toContain('Paragraph 1 tells');
    expect(second.content.rendered).not.toContain(WHOLE);
    const autosaves = await newsroom.rest(`/wp/v2/articles/${ids.paid}/autosaves`, { as });
    expect(autosaves.json[0].content.rendered).toContain(WHOLE);
  });
});

it('the current WordPress user is the same before and after a REST request', async () => {
  expect((await newsroom.rest('/newsroom/v1/status', { as: 'site' })).json.credentials).toBe(true);
  const answers = await newsroom.php(
    `
    $user = get_user_by( 'login', $input['user'] );
    wp_set_current_user( $user->ID );
    $ask = function ( $route ) { $response = rest_do_request( new WP_REST_Request( 'GET', $route ) ); return array( $response->get_status(), get_current_user_id() ); };
    return array( $user->ID, $ask( '/wp/v2/articles/' . $input['paid'] ), $ask( '/wp/v2/articles/999999' ), $ask( '/wp/v2/articles/' . $input['draft'] ) );
    `,
    { ...ids, user: await siteUser() },
  );
  const [id, ...rest] = answers;
  expect(rest).toEqual([
    [200, id],
    [404, id],
    [200, id],
  ]);
});

it('an editor’s request with context=edit gets the content for signed-in users', async () => {
  const answer = await newsroom.rest(`/wp/v2/articles/${ids.free}?context=edit`, { as: 'admin' });
  expect(rendered(answer)).toContain('MEMBERS-ONLY');
  expect(answer.json.content.raw).toContain('[members]');
});

const siteUser = (): Promise<string> =>
  newsroom.php(`return get_users( array( 'role' => 'newsroom_site', 'fields' => 'user_login' ) )[0];`);

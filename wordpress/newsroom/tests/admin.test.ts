import { createHmac } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { body } from './harness.ts';
import { newsroom, receiver, sentWebhook, withNewsroom } from './opened.ts';

withNewsroom();

let cookie = '';
let ids: Record<string, number>;

beforeAll(async () => {
  cookie = await newsroom.signIn('admin');
  ids = await newsroom.php(
    `add_filter( 'newsroom_webhooks_enabled', '__return_false' );
    $insert  = function ( $type, $title, $status = 'publish', $more = array() ) use ( $input ) { return wp_insert_post( array( 'post_type' => $type, 'post_title' => $title, 'post_status' => $status, 'post_content' => $input ) + $more ); };
    $author  = $insert( 'authors', 'Cleo Marsh' );
    $first   = $insert( 'articles', 'First & foremost' );
    $second  = $insert( 'articles', 'Second' );
    $draft   = $insert( 'articles', 'Draft', 'draft' );
    $video   = $insert( 'video', 'Reel' );
    $puzzle  = $insert( 'crosswords', 'Grid' );
    $top     = $insert( 'page', 'Top', 'publish', array( 'post_name' => 'top-stories-2' ) );
    return compact( 'author', 'first', 'second', 'draft', 'video', 'puzzle', 'top' );`,
    body(),
  );
});

const screen = async (address: string) => {
  const answer = await newsroom.get(`/wp-admin/${address}`, { headers: { cookie }, redirect: 'manual' });
  expect(answer.status, address).toBe(200);
  return answer.text;
};
const submit = (address: string, fields: Record<string, string> | [string, string][]) =>
  newsroom.get(`/wp-admin/${address}`, {
    method: 'POST',
    redirect: 'manual',
    headers: { cookie },
    body: new URLSearchParams(fields),
  });
const field = (html: string, name: string) => new RegExp(`name="${name}" value="([^"]*)"`).exec(html)?.[1] ?? '';
/** The hidden fields of the form on a screen that does this action. */
const action = (html: string, name: string) => {
  const form = html.split('<form').find((part) => part.includes(`value="${name}"`)) ?? '';
  return { action: name, _wpnonce: field(form, '_wpnonce') };
};
const meta = (id: number | undefined, key: string) =>
  newsroom.php(`return get_post_meta( $input[0], $input[1], true );`, [id, key]);

describe('Settings → Newsroom', () => {
  it('lists the problems that keep the site from working with WordPress, as /newsroom/v1/status does', async () => {
    const named = async () => {
      const html = await screen('options-general.php?page=newsroom');
      const shown = [...html.matchAll(/data-problem="([\w-]+)"><p>([^<]*)/g)].map(([, code, text]) => [
        code,
        text ?? '',
      ]);
      const { problems, signs_in } = (await newsroom.rest('/newsroom/v1/status', { as: 'site' })).json;
      expect(problems.map(({ code }: { code: string }) => code)).toEqual(shown.map(([code]) => code));
      expect(signs_in).toBe(true);
      return shown;
    };
    try {
      expect(await named()).toEqual([]);
      await newsroom.pretend({ passwords_off: true, uploads: 'https://cdn.example/files' });
      expect(await named()).toEqual([
        ['passwords-off', expect.stringContaining('security plugin')],
        ['uploads-elsewhere', expect.stringContaining('IMAGE_HOSTS=cdn.example')],
      ]);
      await newsroom.pretend({});
      const plain = await newsroom.php(
        `$before = get_option( 'permalink_structure' ); update_option( 'permalink_structure', '' ); $codes = wp_list_pluck( newsroom_problems(), 'code' ); update_option( 'permalink_structure', $before ); return $codes;`,
      );
      expect(plain).toEqual(['plain-permalinks']);
      const late = await newsroom.php(
        `wp_unschedule_hook( 'newsroom_deliver' ); wp_schedule_event( time() - 2 * DAY_IN_SECONDS, 'hourly', 'newsroom_deliver' ); $codes = wp_list_pluck( newsroom_problems(), 'code' ); wp_unschedule_hook( 'newsroom_deliver' ); wp_schedule_event( time() + HOUR_IN_SECONDS, 'hourly', 'newsroom_deliver' ); return $codes;`,
      );
      expect(late).toEqual(['tasks-late']);
    } finally {
      await newsroom.pretend({});
    }
  });

  const page = 'options-general.php?page=newsroom';

  it('shows the webhook address and secret to administrators only', async () => {
    const html = await screen(page);
    expect(html).toContain(`value="${receiver.url}"`);
    expect(html).toContain(newsroom.secret);
    const stranger = await newsroom.get(`/wp-admin/${page}`, { redirect: 'manual' });
    expect([stranger.status, stranger.text.includes(newsroom.secret)]).toEqual([302, false]);
  });

  it('sends a test webhook and shows whether the site accepted it', async () => {
    receiver.clear();
    const sent = await submit('admin-post.php', action(await screen(page), 'newsroom_test'));
    expect(sent.status).toBe(302);
    expect(receiver.deliveries.map(({ body: payload }) => payload)).toEqual([
      expect.objectContaining({ event: 'test', type: 'site', id: 0 }),
    ]);
    const html = await screen(`${page}&newsroom=test`);
    expect(html).toMatch(/The site responded in [\d,]+ ms and accepted the signature/);
    receiver.reply = () => ({ status: 401 });
    await submit('admin-post.php', action(html, 'newsroom_test'));
    expect(await screen(`${page}&newsroom=test`)).toContain('The test failed: The site refused the signature');
    // A reload shows no result that isn't one.
    expect(await screen(`${page}&newsroom=test`)).not.toContain('notice-error');
  });

  it('lists deliveries and sends one again on request', async () => {
    receiver.reply = () => ({ status: 422 });
    receiver.clear();
    await newsroom.rest(`/wp/v2/articles/${ids.second}`, {
      as: 'admin',
      method: 'POST',
      body: { title: 'Second thoughts' },
    });
    await sentWebhook(({ id }) => id === ids.second);
    await expect.poll(() => screen(page)).toContain('couldn’t read the message');
    receiver.reply = () => ({ status: 200, body: { ok: true, refreshed: ['/article/second'], ms: 12 } });
    const html = await screen(page);
    const part = html.split('<form').find((form) => form.includes('value="newsroom_retry"')) ?? '';
    const { status } = await submit('admin-post.php', {
      ...action(html, 'newsroom_retry'),
      delivery: field(part, 'delivery'),
    });
    expect(status).toBe(302);
    const after = await screen(page);
    expect(after).toContain('/article/second');
    expect(after).toContain('12 ms on the site');
  });

  it('answers 403 to a form without a nonce', async () => {
    receiver.clear();
    expect((await submit('admin-post.php', { action: 'newsroom_test' })).status).toBe(403);
    expect((await submit('admin-post.php', { action: 'newsroom_secret' })).status).toBe(403);
    expect((await submit('admin-post.php', { action: 'newsroom_retry', delivery: '1' })).status).toBe(403);
    expect(receiver.deliveries).toEqual([]);
  });

  it('saves an http address and refuses a javascript: address', async () => {
    const save = async (newsroom_site_url: string) => {
      const html = await screen(page);
      await submit('options.php', {
        option_page: 'newsroom',
        action: 'update',
        _wpnonce: field(html, '_wpnonce'),
        newsroom_site_url,
      });
      return newsroom.php(`return get_option( 'newsroom_site_url' );`);
    };
    expect(await save('https://www.example.com/?x=1')).toBe('https://www.example.com');
    expect(await save('javascript:alert(1)')).toBe('');
    expect(await save(receiver.url)).toBe(receiver.url);
  });

  it('replaces the secret', async () => {
    await submit('admin-post.php', action(await screen(page), 'newsroom_secret'));
    const secret = await newsroom.php(
      `$secret = get_option( 'newsroom_secret' ); update_option( 'newsroom_secret', $input ); return $secret;`,
      newsroom.secret,
    );
    expect(secret).toMatch(/^[0-9a-f]{64}$/);
    expect(secret).not.toBe(newsroom.secret);
  });
});

describe('the plugin’s boxes in the editor', () => {
  /** Saves the boxes of a post as the block editor does, which sends their form to a separate address. */
  const save = async (id: number | undefined, fields: [string, string][], nonce = true) => {
    const html = await screen(`post.php?post=${id}&action=edit`);
    // The front page has the classic editor, whose form is the one that saves.
    const address = /_wpMetaBoxUrl = ("[^"]+")/.exec(html)?.[1] ?? '"/wp-admin/post.php"';
    const form = html.split('metabox-base-form')[1] ?? html.split('<form name="post"')[1] ?? '';
    const { status } = await submit((JSON.parse(address) as string).split('/wp-admin/')[1] ?? '', [
      ['post_ID', String(id)],
      ['post_type', field(form, 'post_type')],
      ['action', 'editpost'],
      ['_wpnonce', field(form, '_wpnonce')],
      ...(nonce ? [['newsroom_fields_nonce', field(html, 'newsroom_fields_nonce')] as [string, string]] : []),
      ...fields,
    ]);
    expect(status).toBe(302);
  };
  const postNonce = async (id: number | undefined) => {
    const html = await screen(`post.php?post=${id}&action=edit`);
    return { html, own: field(html, 'newsroom_fields_nonce') };
  };

  it('show the fields of each post type', async () => {
    const article = (await postNonce(ids.first)).html;
    // The byline of an article has a panel of its own.
    expect(article).not.toContain('name="newsroom_author"');
    expect(article).toContain('window.newsroomByline = {');
    expect(article).toContain('name="newsroom_access" value="subscriber"');
    expect(article).toContain('assets/access.js');
    const video = (await postNonce(ids.video)).html;
    expect(video).toContain('name="newsroom_author"');
    expect(video).toContain('Cleo Marsh');
    expect(video).toContain('name="newsroom_video_url"');
    expect((await postNonce(ids.author)).html).toContain('name="newsroom_role"');
    expect((await postNonce(ids.puzzle)).html).toContain('name="newsroom_iframe"');
    const top = (await postNonce(ids.top)).html;
    expect(top).toContain('data-newsroom-picker');
    expect(top).toContain('picker.js');
    // The block editor would suggest a pattern and collapse the box.
    expect([article, top].map((html) => html.includes('block-editor-page'))).toEqual([true, false]);
  });

  it('save what editors choose, in order and sanitized', async () => {
    await save(ids.first, [
      ['newsroom_author', String(ids.author)],
      ['newsroom_access', 'subscriber'],
    ]);
    expect([await meta(ids.first, 'newsroom_author'), await meta(ids.first, 'newsroom_access')]).toEqual([
      String(ids.author),
      'subscriber',
    ]);
    await save(ids.video, [['newsroom_video_url', 'javascript:alert(1)']]);
    expect(await meta(ids.video, 'newsroom_video_url')).toBe('');
    await save(ids.video, [['newsroom_video_url', 'https://youtu.be/abcdefghijk']]);
    expect(await meta(ids.video, 'newsroom_video_url')).toBe('https://youtu.be/abcdefghijk');
    await save(ids.top, [
      ['newsroom_top_stories_shown', '1'],
      ['newsroom_top_articles[]', String(ids.second)],
      ['newsroom_top_articles[]', String(ids.first)],
      ['newsroom_breaking', '1'],
      ['newsroom_featured_excerpt', 'It’s "here"\r\nand <b>there</b>'],
    ]);
    const { json } = await newsroom.rest(`/wp/v2/pages/${ids.top}`);
    expect(json.acf).toEqual({
      top_articles: [ids.second, ids.first],
      breaking: true,
      featured_excerpt: 'It’s "here"\nand there',
      bulleted_featured_excerpt: false,
    });
    expect((await postNonce(ids.top)).html).toMatch(
      /<input type="hidden" name="newsroom_breaking" value="0"><label><input type="checkbox" name="newsroom_breaking" value="1" checked/,
    );
    await save(ids.top, [
      ['newsroom_top_stories_shown', '1'],
      ['newsroom_breaking', '0'],
    ]);
    expect((await newsroom.rest(`/wp/v2/pages/${ids.top}`)).json.acf).toMatchObject({
      top_articles: [],
      breaking: false,
    });
  });

  it('save the checkboxes of the front page even if Advanced Custom Fields has its stories', async () => {
    // What the form sends without the list of stories.
    await save(ids.top, [['newsroom_breaking', '1']]);
    expect(await meta(ids.top, 'newsroom_breaking')).toBe('1');
    await save(ids.top, [['newsroom_breaking', '0']]);
    expect(await meta(ids.top, 'newsroom_breaking')).toBe('0');
  });

  it('keep the author of a video while the author is in the trash', async () => {
    await newsroom.php(
      `update_post_meta( $input['video'], 'newsroom_author', $input['author'] ); wp_trash_post( $input['author'] ); return 1;`,
      ids,
    );
    const { html } = await postNonce(ids.video);
    await newsroom.php(`wp_untrash_post( $input ); wp_publish_post( $input ); return 1;`, ids.author);
    expect(html).toContain(`<option value="${ids.author}" selected='selected'>Cleo Marsh (not published)</option>`);
  });

  it('save nothing without a nonce', async () => {
    await save(ids.first, [['newsroom_access', 'free']], false);
    expect(await meta(ids.first, 'newsroom_access')).toBe('subscriber');
  });

  it('leave out a field that Advanced Custom Fields provides', async () => {
    await newsroom.php(
      `update_post_meta( $input, 'video_url', 'https://youtu.be/zzzzzzzzzzz' ); update_post_meta( $input, '_video_url', 'field_video_url' ); return 1;`,
      ids.video,
    );
    await newsroom.pretend({ acf: {} });
    const { html } = await postNonce(ids.video);
    await newsroom.pretend({});
    expect(html).not.toContain('name="newsroom_video_url"');
    expect(html).toContain('Advanced Custom Fields');
    expect(html).toContain('name="newsroom_author"');
  });

  it('the credit field of a picture is saved as plain text', async () => {
    const picture = await newsroom.php(
      `return wp_insert_attachment( array( 'post_mime_type' => 'image/png', 'post_title' => 'x' ), 'x.png' );`,
    );
    const html = await screen(`post.php?post=${picture}&action=edit`);
    expect(html).toContain(`attachments[${picture}][newsroom_credit]`);
    const { json } = await newsroom.rest(`/wp/v2/media/${picture}`, {
      as: 'admin',
      method: 'POST',
      body: { meta: { newsroom_credit: '<b>Ada</b> Vale' } },
    });
    expect(json.meta.newsroom_credit).toBe('Ada Vale');
  });
});

describe('the category screens', () => {
  it('show, save and list a section’s settings', async () => {
    const [culture] = (await newsroom.rest('/wp/v2/categories?slug=culture')).json;
    const html = await screen(`term.php?taxonomy=category&tag_ID=${culture.id}`);
    expect(html).toContain('name="newsroom_label" value="Arts+"');
    const fields = {
      action: 'editedtag',
      tag_ID: String(culture.id),
      taxonomy: 'category',
      name: 'Culture',
      slug: 'culture',
      _wpnonce: field(html, '_wpnonce'),
    };
    const settings = {
      newsroom_label: 'Arts & more',
      newsroom_navigation_position: '3',
      newsroom_home_count: '99',
      newsroom_color: 'red',
    };
    await submit('edit-tags.php', { ...fields, ...settings });
    expect((await newsroom.rest(`/wp/v2/categories/${culture.id}`)).json.newsroom.label, 'without the nonce').toBe(
      'Arts+',
    );
    await submit('edit-tags.php', { ...fields, ...settings, newsroom_term_nonce: field(html, 'newsroom_term_nonce') });
    expect((await newsroom.rest(`/wp/v2/categories/${culture.id}`)).json.newsroom).toEqual({
      label: 'Arts & more',
      navigation_position: 3,
      home_count: 50,
      color: 'red',
      show_in_media: false,
      former_slugs: [],
    });
    const list = await screen('edit-tags.php?taxonomy=category');
    expect(list).toContain('Arts &amp; more');
    for (const column of [
      'newsroom_navigation_position',
      'newsroom_home_count',
      'newsroom_color',
      'newsroom_show_in_media',
    ])
      expect(list).toContain(`column-${column}`);
    expect(list).toContain('name="newsroom_term_nonce"');
  });
});

describe('a preview link', () => {
  const check = (link: string, type: string, id: number | undefined) => {
    const url = new URL(link.replaceAll('&#038;', '&').replaceAll('&amp;', '&'));
    const { searchParams: query } = url;
    expect(`${url.origin}${url.pathname}`).toBe(`${receiver.url}/preview`);
    expect([query.get('type'), query.get('id')]).toEqual([type, String(id)]);
    const left = Number(query.get('expires')) - Date.now() / 1000;
    expect(left).toBeGreaterThan(590 - 60);
    expect(left).toBeLessThanOrEqual(600);
    expect(query.get('signature')).toBe(
      createHmac('sha256', newsroom.secret)
        .update(`preview.${type}.${id}.${query.get('expires')}`)
        .digest('hex'),
    );
  };

  it('is signed and leads to the site, for each post type that the site can preview', async () => {
    const link = (id: number | undefined) => newsroom.php(`return get_preview_post_link( $input );`, id);
    check(await link(ids.draft), 'articles', ids.draft);
    check(await link(ids.video), 'video', ids.video);
    check(await link(ids.puzzle), 'crosswords', ids.puzzle);
    check(await link(ids.top), 'pages', ids.top);
    expect(await link(ids.author)).not.toContain('signature');
  });

  it('comes with the autosave of the block editor', async () => {
    const { json } = await newsroom.rest(`/wp/v2/articles/${ids.first}/autosaves`, {
      as: 'admin',
      method: 'POST',
      body: { content: 'New words' },
    });
    check(json.preview_link, 'articles', ids.first);
  });

  it('is not signed for users who may not edit the document', async () => {
    const link = await newsroom.php(
      `wp_set_current_user( get_user_by( 'login', 'reporter' )->ID ); return get_preview_post_link( $input );`,
      ids.draft,
    );
    expect(link).not.toContain('signature');
  });

  it('is where WordPress’s own preview redirects a signed-in editor', async () => {
    const own = await newsroom.get(`/?post_type=articles&p=${ids.draft}&preview=true`, {
      headers: { cookie },
      redirect: 'manual',
    });
    expect(own.status).toBe(302);
    check(own.headers.get('location') ?? '', 'articles', ids.draft);
    expect(
      (await newsroom.get(`/?post_type=articles&p=${ids.draft}&preview=true`, { redirect: 'manual' })).status,
    ).toBe(404);
  });
});

describe('permalinks', () => {
  it('lead to the site for published documents, and to WordPress for drafts', async () => {
    const [first, draft, section, sample] = await newsroom.php(
      `require_once ABSPATH . 'wp-admin/includes/post.php'; return array( get_permalink( $input['first'] ), get_permalink( $input['draft'] ), get_term_link( 'politics', 'category' ), get_sample_permalink( $input['first'] ) );`,
      ids,
    );
    expect(first).toBe(`${receiver.url}/article/first-foremost`);
    expect(draft).toBe(`${newsroom.url}/?post_type=articles&p=${ids.draft}`);
    expect(section).toBe(`${receiver.url}/section/politics`);
    expect(sample).toEqual([`${receiver.url}/article/%pagename%`, 'first-foremost']);
  });

  it('do not make WordPress redirect its own page of an article', async () => {
    const page = await newsroom.get('/article/first-foremost/', { redirect: 'manual' });
    expect([page.status, page.text.includes('First &#038; foremost')]).toEqual([200, true]);
  });

  it('are WordPress’s own if no site address is set', async () => {
    const link = await newsroom.php(
      `add_filter( 'newsroom_site_url', '__return_empty_string' ); return get_permalink( $input );`,
      ids.first,
    );
    expect(link).toBe(`${newsroom.url}/article/first-foremost/`);
  });
});

describe('roles and uninstalling', () => {
  it('the site’s account has its own role, and administrators may read restricted articles, but not editors', async () => {
    const [site, administrator, editor] = await newsroom.php(
      `$caps = function ( $role ) { return array_keys( array_filter( get_role( $role )->capabilities ) ); }; return array( $caps( 'newsroom_site' ), in_array( 'newsroom_read_restricted', $caps( 'administrator' ), true ), in_array( 'newsroom_read_restricted', $caps( 'editor' ), true ) );`,
    );
    expect(site.sort()).toEqual(['moderate_comments', 'newsroom_read_restricted', 'read']);
    expect([administrator, editor]).toEqual([true, false]);
  });

  it('deleting a site of a network deletes all of the plugin’s tables', async () => {
    const kept = await newsroom.php(
      `global $wpdb; $tables = $wpdb->get_col( "SHOW TABLES LIKE '{$wpdb->prefix}newsroom_%'" ); return array( count( $tables ), array_diff( $tables, apply_filters( 'wpmu_drop_tables', array(), 1 ) ) );`,
    );
    expect(kept).toEqual([4, []]);
  });

  it('uninstalling deletes the plugin’s settings, table and role and leaves the content', async () => {
    const left = await newsroom.php(
      `define( 'WP_UNINSTALL_PLUGIN', 'newsroom/newsroom.php' );
      global $wpdb;
      newsroom_comment_lock( 'of-a-request-that-died' );
      require WP_PLUGIN_DIR . '/newsroom/uninstall.php';
      return array(
        'options' => (int) $wpdb->get_var( "SELECT COUNT(*) FROM {$wpdb->options} WHERE option_name IN ( 'newsroom_site_url', 'newsroom_secret', 'newsroom_version' ) OR option_name LIKE 'newsroom_comment_%'" ),
        'table'   => (bool) $wpdb->get_var( "SHOW TABLES LIKE '{$wpdb->prefix}newsroom_deliveries'" ),
        'role'    => null !== get_role( 'newsroom_site' ),
        'task'    => wp_next_scheduled( 'newsroom_deliver' ) || wp_next_scheduled( 'newsroom_forget_commenters' ),
        'access'  => get_post_meta( $input['first'], 'newsroom_access', true ),
      );`,
      ids,
    );
    expect(left).toEqual({ options: 0, table: false, role: false, task: false, access: 'subscriber' });
  });
});

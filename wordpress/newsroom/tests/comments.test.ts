import { createHash } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { body } from './harness.ts';
import { newsroom, withNewsroom } from './opened.ts';

withNewsroom();

let post = 0;

beforeAll(async () => {
  post = await newsroom.php(
    `return wp_insert_post( array( 'post_type' => 'articles', 'post_title' => 'Discussed', 'post_status' => 'publish', 'post_content' => $input, 'comment_status' => 'open' ) );`,
    body(),
  );
});

let number = 0;
const comment = (more = {}) => ({
  post,
  author_name: 'A Reader',
  author_email: 'reader@example.com',
  author_ip: '203.0.113.9',
  content: `Thought number ${++number}.`,
  ...more,
});
const write = (more = {}, as: 'site' | 'reporter' | 'admin' = 'site') =>
  newsroom.rest('/wp/v2/comments', { as, method: 'POST', body: comment(more) });
const approve = (id: number) =>
  newsroom.rest(`/wp/v2/comments/${id}`, { as: 'admin', method: 'POST', body: { status: 'approved' } });
const statusOf = async (id: number) =>
  (await newsroom.rest(`/wp/v2/comments/${id}?context=edit`, { as: 'admin' })).json.status;
const report = (id: number, count: number, as?: 'site' | 'reporter') =>
  newsroom.rest(`/newsroom/v1/comments/${id}/reports`, {
    ...(as && { as }),
    method: 'POST',
    body: { count, hold_at: 3 },
  });

describe('the address of a commenter', () => {
  const email = 'hidden.reader@example.com';
  const hashes = ['sha256', 'md5'].map((name) => createHash(name).update(email).digest('hex'));
  const showAvatars = (on: boolean) => newsroom.php(`return update_option( 'show_avatars', $input );`, on ? '1' : '0');
  const avatar = (id: number) =>
    newsroom.php(`wp_set_current_user( 0 ); return (string) get_avatar( get_comment( $input ) );`, id);

  it('can’t be recovered from a picture’s address in REST or in the theme, also where WordPress shows avatars', async () => {
    await showAvatars(true);
    try {
      const posted = (await write({ author_email: email, newsroom_key: 'without-an-avatar' })).json.id;
      const own = (await write({ author_email: email }, 'admin')).json.id;
      await approve(posted);
      await approve(own);
      const ways = [
        (await newsroom.rest(`/wp/v2/comments?post=${post}&per_page=100`)).text,
        (await newsroom.rest(`/wp/v2/comments/${posted}`)).text,
        (await newsroom.rest(`/wp/v2/comments/${own}`)).text,
        (await newsroom.rest(`/wp/v2/comments/${own}?_fields=author_avatar_urls`)).text,
        (await newsroom.rest(`/wp/v2/comments?post=${post}&per_page=100`, { as: 'reporter' })).text,
        await avatar(posted),
      ];
      expect(ways[0]).toContain(`"id":${posted}`);
      for (const [at, text] of ways.entries()) {
        for (const part of [...hashes, 'gravatar']) expect(text, `way ${at}`).not.toContain(part);
      }
      // Moderators have them.
      const seen = (await newsroom.rest(`/wp/v2/comments/${own}`, { as: 'admin' })).text;
      expect(hashes.some((hash) => seen.includes(hash))).toBe(true);
    } finally {
      await showAvatars(false);
    }
  });
});

describe('Akismet', () => {
  const asked = () =>
    newsroom.php(
      `$asked = get_option( 'newsroom_tests_akismet', array() ); delete_option( 'newsroom_tests_akismet' ); return $asked;`,
    );

  it('checks a comment by the reader’s IP address and browser, and a comment it discards gets 403', async () => {
    await newsroom.pretend({ akismet: true });
    try {
      const reader = { author_ip: '203.0.113.77', author_user_agent: 'Readers Browser/1.0' };
      const sent = await write({ ...reader, newsroom_key: 'seen-by-akismet' });
      expect(sent.status).toBe(201);
      const checks = (await asked()).filter(({ path }: { path: string }) => path === 'comment-check');
      expect(checks).toHaveLength(1);
      for (const check of checks) {
        expect(check).toMatchObject({
          user_ip: reader.author_ip,
          user_agent: reader.author_user_agent,
          comment_author_email: 'reader@example.com',
          permalink: expect.stringContaining('/article/discussed'),
        });
        const server = Object.keys(check).filter((name) => /^(?:HTTP_|REMOTE_|SERVER_|PHP_)/.test(name));
        expect(server).toEqual([]);
      }
      const spam = await write({ ...reader, newsroom_key: 'spam-for-akismet', content: 'akismet-guaranteed-spam' });
      expect(spam.json.status).toBe('spam');
      const dropped = await write({ ...reader, newsroom_key: 'dropped-by-akismet', content: 'discard-me, please' });
      expect([dropped.status, dropped.json.code]).toEqual([403, 'newsroom_comment_discarded']);
      // A comment written in WordPress itself is judged as usual.
      await asked();
      await newsroom.rest('/wp/v2/comments', { as: 'admin', method: 'POST', body: comment({ author_ip: undefined }) });
      const own = (await asked()).find(({ path }: { path: string }) => path === 'comment-check');
      expect(own?.user_ip).toBe('127.0.0.1');
    } finally {
      await newsroom.pretend({});
    }
  });
});

describe('WordPress’s own comment form', () => {
  const trusted = { author_name: 'Trusted Reader', author_email: 'trusted@example.com' };
  const send = async (fields: Record<string, string>) => {
    // WordPress refuses two comments from one address within seconds.
    await newsroom.php(
      `global $wpdb; return $wpdb->query( "UPDATE {$wpdb->comments} SET comment_date_gmt = '2020-01-01 00:00:00'" );`,
    );
    return newsroom.get('/wp-comments-post.php', {
      method: 'POST',
      redirect: 'manual',
      body: new URLSearchParams({ comment_post_ID: String(post), comment: `By form ${++number}.`, ...fields }),
    });
  };
  const count = (name: string) =>
    newsroom.php(
      `return count( array_filter( get_comments( array( 'status' => 'any' ) ), function ( $one ) use ( $input ) { return $input === $one->comment_author; } ) );`,
      name,
    );

  it('refuses a comment under the name of a trusted reader or the newspaper with 403', async () => {
    await approve((await write({ ...trusted, newsroom_key: 'first-of-trusted' })).json.id);
    const answers = [
      await send({ author: trusted.author_name, email: trusted.author_email }),
      await send({ author: 'The Sun', email: 'eve@example.com' }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([403, 403]);
    expect([await count(trusted.author_name), await count('The Sun')]).toEqual([1, 0]);
  });

  it('accepts comments on posts that the site does not show', async () => {
    const own = await newsroom.php(
      `return wp_insert_post( array( 'post_type' => 'post', 'post_title' => 'Of the theme', 'post_status' => 'publish', 'comment_status' => 'open' ) );`,
    );
    const answer = await send({ comment_post_ID: String(own), author: 'Blog Reader', email: 'blog@example.com' });
    expect([answer.status, await count('Blog Reader')]).toEqual([302, 1]);
  });
});

describe('a comment of a WordPress user who is not a moderator', () => {
  const names = () =>
    newsroom.php(
      `return array_values( array_unique( wp_list_pluck( get_comments( array( 'status' => 'any' ) ), 'comment_author' ) ) );`,
    );

  it('is refused over REST', async () => {
    const { author_ip: _, ...given } = comment({ author_name: 'The Editors', author_email: 'trusted@example.com' });
    const answer = await newsroom.rest('/wp/v2/comments', { as: 'reporter', method: 'POST', body: given });
    expect([answer.status, answer.json.message]).toEqual([
      403,
      'You can’t comment here. Comment on the newspaper’s site.',
    ]);
    expect(await names()).not.toContain('The Editors');
  });

  it('is refused over XML-RPC', async () => {
    await newsroom.php(
      `return wp_update_user( array( 'ID' => get_user_by( 'login', 'reporter' )->ID, 'display_name' => 'The Publisher', 'user_pass' => 'by-xml-rpc' ) );`,
    );
    const text = (value: string) => `<param><value><string>${value}</string></value></param>`;
    const content = '<member><name>content</name><value><string>By XML-RPC.</string></value></member>';
    const params = `${['1', 'reporter', 'by-xml-rpc', String(post)].map(text).join('')}<param><value><struct>${content}</struct></value></param>`;
    const { text: answer } = await newsroom.get('/xmlrpc.php', {
      method: 'POST',
      headers: { 'content-type': 'text/xml' },
      body: `<methodCall><methodName>wp.newComment</methodName><params>${params}</params></methodCall>`,
    });
    expect(answer).toContain('You can’t comment here. Comment on the newspaper’s site.');
    expect(await names()).not.toContain('The Publisher');
  });
});

describe('a comment with a draft key', () => {
  it('is stored once, even if it is sent repeatedly or at the same time', async () => {
    const key = 'draft-of-a-reader-1';
    const sent = comment({ newsroom_key: key });
    const answers = await Promise.all(
      [1, 2, 3].map(() => newsroom.rest('/wp/v2/comments', { as: 'site', method: 'POST', body: sent })),
    );
    const again = await newsroom.rest('/wp/v2/comments', { as: 'site', method: 'POST', body: sent });
    const ids = [...answers, again].filter(({ status }) => status < 300).map(({ json }) => json.id);
    expect(new Set(ids).size).toBe(1);
    expect(again.status).toBe(200);
    // The second response says nothing about the reader.
    expect(again.json).toEqual({ id: ids[0], status: 'hold' });
    const found = await newsroom.rest(`/newsroom/v1/comments?key=${key}`, { as: 'site' });
    expect(found.json).toEqual({ id: ids[0], status: 'hold' });
    const count = await newsroom.php(
      `return (int) get_comments( array( 'status' => 'any', 'count' => true, 'search' => $input ) );`,
      sent.content,
    );
    expect(count).toBe(1);
  });

  it('is found by its key in the trash', async () => {
    const { json } = await write({ newsroom_key: 'binned-by-the-editors' });
    await newsroom.rest(`/wp/v2/comments/${json.id}`, { as: 'admin', method: 'DELETE' });
    expect((await newsroom.rest('/newsroom/v1/comments?key=binned-by-the-editors', { as: 'site' })).json).toEqual({
      id: json.id,
      status: 'trash',
    });
  });

  it('gets 409 while another request saves it, for at most two minutes', async () => {
    const lock = (seconds: number) =>
      newsroom.php(
        `global $wpdb; $wpdb->replace( $wpdb->options, array( 'option_name' => 'newsroom_comment_' . md5( 'locked-draft' ), 'option_value' => time() - $input, 'autoload' => 'no' ) ); return true;`,
        seconds,
      );
    await lock(5);
    const refused = await write({ newsroom_key: 'locked-draft' });
    expect([refused.status, refused.json.code]).toEqual([409, 'newsroom_busy']);
    await lock(121);
    expect((await write({ newsroom_key: 'locked-draft' })).status).toBe(201);
    const left = await newsroom.php(
      `global $wpdb; return (int) $wpdb->get_var( "SELECT COUNT(*) FROM {$wpdb->options} WHERE option_name LIKE 'newsroom_comment_%'" );`,
    );
    expect(left).toBe(0);
  });

  it('cannot be looked up without the site’s credentials', async () => {
    for (const as of [undefined, 'reporter'] as const) {
      const options = as ? { as } : {};
      expect((await newsroom.rest('/newsroom/v1/comments?key=binned-by-the-editors', options)).status).toBeGreaterThan(
        400,
      );
    }
    expect((await newsroom.rest('/newsroom/v1/comments?key=no-such-key-here', { as: 'site' })).status).toBe(404);
  });
});

describe('a comment that its author edits', () => {
  const change = (id: number, content: string) =>
    newsroom.rest(`/wp/v2/comments/${id}`, { as: 'site', method: 'POST', body: { content, newsroom_author: true } });

  it('waits for approval again if WordPress moderates every comment', async () => {
    const { json } = await write();
    await approve(json.id);
    const changed = await change(json.id, 'Other words.');
    expect([changed.status, changed.json.status]).toEqual([200, 'hold']);
  });

  it('stays approved if WordPress trusts the author, unless the new text has a moderated word', async () => {
    await newsroom.php(
      `update_option( 'comment_moderation', 0 ); update_option( 'moderation_keys', 'casino' ); return true;`,
    );
    const { json } = await write();
    await approve(json.id);
    expect((await change(json.id, 'Better words.')).json.status).toBe('approved');
    expect((await change(json.id, 'Come to my casino.')).json.status).toBe('hold');
    await newsroom.php(
      `update_option( 'comment_moderation', 1 ); update_option( 'moderation_keys', '' ); return true;`,
    );
  });

  it('goes to the trash if the new text has a disallowed word, as a new comment does', async () => {
    await newsroom.php(`update_option( 'disallowed_keys', 'snake oil' ); return true;`);
    const fresh = await write({ content: 'Buy snake oil.' });
    const { json } = await write();
    await approve(json.id);
    expect((await change(json.id, 'Buy snake oil here.')).json.status).toBe('trash');
    expect(fresh.json.status).toBe('trash');
    await newsroom.php(`update_option( 'disallowed_keys', '' ); return true;`);
  });
});

it('a comment from an unconfirmed email address waits for approval, even if WordPress trusts the address', async () => {
  await newsroom.php(`update_option( 'comment_moderation', 0 ); return true;`);
  await approve((await write({ newsroom_key: 'of-the-one-who-is-trusted' })).json.id);
  expect((await write({ newsroom_key: 'trusted-as-before' })).json.status).toBe('approved');
  const unconfirmed = { newsroom_key: 'of-somebody-else', newsroom_unconfirmed: true };
  expect((await write(unconfirmed)).json.status).toBe('hold');
  await newsroom.php(`update_option( 'comment_moderation', 1 ); return true;`);
});

describe('reports of a comment', () => {
  it('hide it at the limit of three, and after an editor approves it, only new reports count', async () => {
    const { json } = await write();
    await approve(json.id);
    expect((await report(json.id, 2, 'site')).json).toEqual({ id: json.id, status: 'approved' });
    expect((await report(json.id, 3, 'site')).json).toEqual({ id: json.id, status: 'hold' });
    expect(await statusOf(json.id)).toBe('hold');
    await approve(json.id);
    expect((await report(json.id, 5, 'site')).json.status).toBe('approved');
    expect((await report(json.id, 6, 'site')).json.status).toBe('hold');
    expect((await report(json.id, 9)).status).toBe(401);
    expect((await report(json.id, 9, 'reporter')).status).toBe(403);
    expect((await report(999_999, 1, 'site')).status).toBe(404);
    // The API shows editors' fields to no one else.
    const open = await newsroom.rest('/wp/v2/comments?per_page=100');
    expect(open.text).not.toContain('newsroom_reports');
  });

  it('are shown in the list of comments, which can be filtered to reported ones', async () => {
    const cookie = await newsroom.signIn('admin');
    const screen = async (query = '') =>
      (await newsroom.get(`/wp-admin/edit-comments.php${query}`, { headers: { cookie }, redirect: 'manual' })).text;
    const { json: quiet } = await write();
    const { json: loud } = await write();
    await report(loud.id, 2, 'site');
    const all = await screen();
    expect(all.includes('>Reported</a>')).toBe(true);
    expect(all.includes('<strong>2 readers</strong>')).toBe(true);
    const reported = await screen('?newsroom_reported=1');
    const rows = [...reported.matchAll(/<tr id='comment-(\d+)'/g)].map(([, id]) => Number(id));
    expect(rows).toContain(loud.id);
    expect(rows).not.toContain(quiet.id);
  });
});

it('removing a comment’s author deletes the personal data and keeps the text', async () => {
  const { json } = await write({ newsroom_key: 'written-by-who-leaves', author_name: 'Vera Vane' });
  await approve(json.id);
  expect((await newsroom.rest(`/newsroom/v1/comments/${json.id}/author`, { method: 'DELETE' })).status).toBe(401);
  const answer = await newsroom.rest(`/newsroom/v1/comments/${json.id}/author`, { as: 'site', method: 'DELETE' });
  expect(answer.json).toEqual({ id: json.id, status: 'approved' });
  const kept = (await newsroom.rest(`/wp/v2/comments/${json.id}?context=edit`, { as: 'admin' })).json;
  expect([kept.author_name, kept.author_email, kept.author_ip, kept.author_user_agent]).toEqual([
    'A former reader',
    '',
    '',
    '',
  ]);
  expect(kept.content.raw).toMatch(/^Thought number/);
  expect((await newsroom.rest('/newsroom/v1/comments?key=written-by-who-leaves', { as: 'site' })).status).toBe(404);
});

it('the address and browser of a moderated comment are emptied after 30 days by a daily task', async () => {
  const dated = async (days: number, status: string) => {
    const { id } = (await write({ author_user_agent: 'A browser' })).json;
    await newsroom.php(
      `global $wpdb;
      $date = gmdate( 'Y-m-d H:i:s', time() - $input['days'] * DAY_IN_SECONDS );
      $row = array( 'comment_date' => $date, 'comment_date_gmt' => $date, 'comment_approved' => $input['status'] );
      return $wpdb->update( $wpdb->comments, $row, array( 'comment_ID' => $input['id'] ) );`,
      { id, days, status },
    );
    return id as number;
  };
  const ids = [
    await dated(31, '1'),
    await dated(31, 'spam'),
    await dated(31, 'trash'),
    await dated(31, '0'),
    await dated(29, '1'),
  ];
  const other = await newsroom.php(
    `$page = wp_insert_post( array( 'post_type' => 'post', 'post_title' => 'Not on the site', 'post_status' => 'publish' ) );
    return wp_insert_comment( array( 'comment_post_ID' => $page, 'comment_content' => 'Here.', 'comment_author_IP' => '203.0.113.9', 'comment_agent' => 'A browser', 'comment_date_gmt' => '2020-01-01 00:00:00' ) );`,
  );
  expect(await newsroom.php(`return wp_get_schedule( 'newsroom_forget_commenters' );`)).toBe('daily');
  await newsroom.php(`do_action( 'newsroom_forget_commenters' ); return true;`);
  const kept = await newsroom.php(
    `return array_map( function ( $id ) { $comment = get_comment( $id ); return array( $comment->comment_author_IP, $comment->comment_agent ); }, $input );`,
    [...ids, other],
  );
  const known = ['203.0.113.9', 'A browser'];
  expect(kept).toEqual([['', ''], ['', ''], ['', ''], known, known, known]);
});

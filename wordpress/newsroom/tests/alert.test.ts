/** Breaking news: the alert in the API, who may start one, the screen, and the webhook to the site. */
import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, it } from 'vitest';
import { xssPayloads } from '../../../tests/fixtures/xss.ts';
import { newsroom, receiver, withNewsroom } from './opened.ts';
import { untilSent } from './until-sent.ts';

withNewsroom();

beforeEach(async () => {
  await receiver.open();
  await newsroom.php(
    `delete_option( 'newsroom_alert' ); delete_option( 'newsroom_alert_ids' ); delete_transient( 'newsroom_site_down' ); global $wpdb; $wpdb->query( 'DELETE FROM ' . newsroom_table() ); return 1;`,
  );
  receiver.clear();
});

const given = (part: object = {}) => ({
  id: randomUUID(),
  text: 'The bridge is open',
  story: 0,
  hours: 4,
  mail: '1',
  push: '',
  ...part,
});
/** @returns `true`, or why not */
const start = (alert: object) =>
  newsroom.php(
    `$started = newsroom_start_alert( $input ); return is_wp_error( $started ) ? $started->get_error_message() : $started;`,
    alert,
  );
const withdraw = () => newsroom.php(`return newsroom_withdraw_alert( newsroom_running_alert()['id'] );`);
const wire = async () => (await newsroom.rest('/newsroom/v1/alert')).json.alert;
const report = (as: 'admin' | 'reporter' | 'site' | undefined = 'admin') =>
  newsroom.rest('/newsroom/v1/alert/report', { as });

it('an alert is in the API until it is withdrawn, and a webhook announces its start and end', async () => {
  expect(await wire()).toBeNull();
  const alert = given();
  expect(await start(alert)).toBe(true);
  expect(await wire()).toEqual({
    id: alert.id,
    text: 'The bridge is open',
    link: '',
    starts: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
    until: expect.any(String),
    mail: true,
    push: false,
  });
  const { starts, until } = await wire();
  expect(Date.parse(until) - Date.parse(starts)).toBe(4 * 3_600_000);
  // The button's request has waited for the site: no later request, no wp-cron.
  expect(receiver.deliveries.map(({ path, body }) => [path, body.event, body.type, body.slug])).toEqual([
    ['POST /api/v1/revalidate', 'publish', 'alerts', alert.id],
  ]);
  await withdraw();
  expect(await wire()).toBeNull();
  expect(receiver.deliveries.at(-1)?.body).toMatchObject({ event: 'unpublish', type: 'alerts', slug: alert.id });
});

it.each([
  ['Turnout <20% in runoff', 'Turnout <20% in runoff'],
  ['2 < 3 <4 <<5 <', '2 < 3 <4 <<5 <'],
  [
    'Rates &lt;3% & <b>falling</b><script>alert(1)</script><!-- note --> for <5 years',
    'Rates <3% & falling for <5 years',
  ],
])('a line keeps what follows a less-than sign that begins no tag: %s', async (entered, line) => {
  expect(await start(given({ text: entered }))).toBe(true);
  expect((await wire()).text).toBe(line);
  const again = await newsroom.php(`return array( newsroom_one_line( $input ), newsroom_headline( $input ) );`, line);
  expect(again).toEqual([line, line]);
});

it('the alert is sent again when the story that it links to is unpublished or gets another address', async () => {
  const story = await newsroom.php(
    `return wp_insert_post( array( 'post_type' => 'articles', 'post_title' => 'Bridge', 'post_status' => 'publish' ) );`,
  );
  const alert = given({ story });
  expect(await start(alert)).toBe(true);
  const changes: readonly [object, RegExp][] = [
    [{ title: 'Another headline' }, /\/article\/bridge$/],
    [{ slug: 'old-bridge' }, /\/article\/old-bridge$/],
    [{ status: 'draft' }, /^$/],
  ];
  const sent: unknown[] = [];
  for (const [body, link] of changes) {
    await untilSent(newsroom);
    receiver.clear();
    await newsroom.rest(`/wp/v2/articles/${story}`, { as: 'admin', method: 'POST', body });
    await untilSent(newsroom);
    sent.push(receiver.deliveries.flatMap(({ body: hook }) => (hook.type === 'alerts' ? [hook.slug] : [])));
    expect((await wire()).link).toMatch(link);
  }
  expect(sent).toEqual([[], [alert.id], [alert.id]]);
});

it('a form that is sent again starts no second alert, even after another alert', async () => {
  const alert = given();
  for (let press = 0; press < 3; press++) expect(await start(alert)).toBe(true);
  expect(receiver.deliveries).toHaveLength(1);
  const { until } = await wire();
  await start(given({ text: 'Another' }));
  expect(await start(alert)).toBe(true);
  expect((await wire()).text).toBe('Another');
  await withdraw();
  expect(await start(alert)).toBe(true);
  expect([await wire(), typeof until]).toEqual([null, 'string']);
});

it('an editor does not take down an alert with which a colleague has replaced the one on the screen', async () => {
  const cookie = await newsroom.signIn('editor');
  const screen = async () =>
    (await newsroom.get('/wp-admin/admin.php?page=newsroom-alert', { headers: { cookie } })).text;
  const takeDown = (html: string) => {
    const form = html.split('<form').find((part) => part.includes('value="newsroom_alert_end"')) ?? '';
    const fields = [...form.matchAll(/name="(\w+)" value="([^"]*)"/g)].map(([, name, value]) => [
      name ?? '',
      value ?? '',
    ]);
    return newsroom.get('/wp-admin/admin-post.php', {
      method: 'POST',
      redirect: 'manual',
      headers: { cookie },
      body: new URLSearchParams(fields),
    });
  };
  await start(given());
  const opened = await screen();
  await start(given({ text: 'The bridge is closed' }));
  expect((await takeDown(opened)).status).toBe(302);
  expect((await wire()).text).toBe('The bridge is closed');
  const reopened = await screen();
  expect(reopened).toContain('A colleague has replaced the alert since you opened this page.');
  expect((await takeDown(reopened)).status).toBe(302);
  expect(await wire()).toBeNull();
});

it('an alert ends at its end time', async () => {
  await start(given());
  await newsroom.php(
    `$alert = get_option( 'newsroom_alert' ); $alert['until'] = time() - 1; update_option( 'newsroom_alert', $alert ); return 1;`,
  );
  expect(await wire()).toBeNull();
  expect(await newsroom.php(`return newsroom_running_alert();`)).toBeNull();
});

it('an alert links to its story on the site for as long as the story is published', async () => {
  const story = await newsroom.php(
    `return wp_insert_post( array( 'post_type' => 'articles', 'post_title' => 'The Bridge', 'post_name' => 'the-bridge', 'post_status' => 'publish' ) );`,
  );
  expect(await start(given({ story }))).toBe(true);
  expect((await wire()).link).toBe(`${receiver.url}/article/the-bridge`);
  await newsroom.php(`return wp_update_post( array( 'ID' => $input, 'post_status' => 'draft' ) );`, story);
  expect((await wire()).link).toBe('');
});

it('an alert waits while the site is down, and withdrawing it replaces the waiting webhook', async () => {
  await receiver.close();
  const alert = given();
  expect(await start(alert)).toBe(true);
  expect((await report()).json).toMatchObject({
    banner: expect.stringContaining('WordPress will try again'),
    final: false,
  });
  await withdraw();
  await receiver.open();
  receiver.clear();
  await newsroom.php(
    `delete_transient( 'newsroom_site_down' ); global $wpdb; $wpdb->query( 'UPDATE ' . newsroom_table() . ' SET next_at = 0' ); newsroom_deliver_due( 5, 10 ); return 1;`,
  );
  expect(receiver.deliveries.map(({ body }) => body.event)).toEqual(['unpublish']);
});

describe('the alert form refuses with a message', () => {
  it.each([
    ['without text', { text: ' <em> </em> ' }, 'Write the alert first.'],
    ['that is too long', { text: 'x'.repeat(201) }, '200 characters'],
    ['about a story that isn’t published', { story: 999_999 }, 'Publish the story first'],
    ['without an ID', { id: '' }, 'Reload the page'],
    ['with an invalid ID', { id: "1' OR 1=1" }, 'Reload the page'],
  ])('an alert %s, and sends no webhook', async (_what, part, words) => {
    expect(await start(given(part))).toContain(words);
    expect([await wire(), receiver.deliveries]).toEqual([null, []]);
  });

  it('users who may not publish or may not edit others’ stories', async () => {
    const roles = ['editor', 'author', 'contributor', 'subscriber', 'newsroom_site'];
    const may = await newsroom.php(
      `$user = wp_insert_user( array( 'user_login' => 'alerts', 'user_pass' => 'x', 'role' => 'subscriber' ) ); $may = array(); foreach ( $input as $role ) { ( new WP_User( $user ) )->set_role( $role ); wp_set_current_user( 0 ); wp_set_current_user( $user ); $may[] = newsroom_may_alert(); } return $may;`,
      roles,
    );
    expect(may).toEqual([true, false, false, false, false]);
    for (const as of ['reporter', 'site', undefined] as const) {
      const { status } = as === undefined ? await newsroom.rest('/newsroom/v1/alert/report') : await report(as);
      expect([401, 403]).toContain(status);
    }
    for (const action of ['newsroom_alert', 'newsroom_alert_end']) {
      const posted = await newsroom.get(`/wp-admin/admin-post.php?action=${action}`, {
        method: 'POST',
        redirect: 'manual',
      });
      expect(posted.status).not.toBe(200);
    }
    expect(await wire()).toBeNull();
  });
});

it('an alert is stored as one line of plain text', async () => {
  expect(await start(given({ text: ' The\n bridge\t<b>is</b> &amp; stays   open\u2028 ' }))).toBe(true);
  expect((await wire()).text).toBe('The bridge is & stays open');
  // All payloads in one request, because each start of an alert waits for the site.
  const payloads = xssPayloads.filter((each) => each.isWellFormed());
  const lines: [string, string][] = await newsroom.php(
    `return array_map( function ( $payload ) { $line = newsroom_one_line( "A $payload B" ); ob_start(); newsroom_alert_banner( $line ); return array( $line, ob_get_clean() ); }, $input );`,
    payloads,
  );
  expect(lines).toHaveLength(payloads.length);
  for (const [line, html] of lines) {
    expect(line).not.toMatch(/[\r\n\u2028]/);
    expect(html.replace(/<\/?(?:p|b|span)(?: class="newsroom-alert-banner")?>/g, '')).not.toMatch(/<|>/);
  }
});

describe('the status of an alert', () => {
  const answer = (mail: object, push: object) => {
    receiver.reply = ({ path }) =>
      path.includes('/alerts/report')
        ? { status: 200, body: { ok: true, shown: null, mail, push } }
        : { status: 200, body: { ok: true, refreshed: [], ms: 7 } };
  };

  it.each([
    [
      'both in progress',
      { state: 'sending', readers: 12 },
      { state: 'sending', detail: '' },
      'Readers so far: 12.',
      'Sending.',
      false,
    ],
    [
      'both sent',
      { state: 'sent', readers: 1200 },
      { state: 'sent' },
      'Readers: 1,200.',
      'OneSignal has accepted it.',
      true,
    ],
    [
      'an email without readers',
      { state: 'sent', readers: 0 },
      { state: 'sent' },
      'no readers have signed up',
      'OneSignal has accepted it.',
      true,
    ],
    ['both switched off', { state: 'off' }, { state: 'off' }, 'reader accounts are off', 'ONESIGNAL_API_KEY', true],
    [
      'email stopped and push refused',
      { state: 'stopped', readers: 3 },
      { state: 'refused', detail: 'wrong key' },
      'Readers who got it: 3.',
      'refused it: wrong key',
      true,
    ],
    [
      'email not started and push unclear',
      { state: 'none' },
      { state: 'unclear', detail: 'no answer' },
      'hasn’t started',
      'won’t send it again. no answer',
      false,
    ],
  ])('shows email and push results: %s', async (_what, mail, push, mailLine, pushLine, final) => {
    answer(mail, push);
    const alert = given({ push: '1' });
    await start(alert);
    const { json } = await report();
    expect(json).toMatchObject({
      banner: expect.stringMatching(/^Live on the site in [\d,]+ ms\.$/),
      mail: expect.stringContaining(mailLine),
      push: expect.stringContaining(pushLine),
      final,
    });
    const asked = receiver.deliveries.at(-1);
    expect([asked?.path, asked?.body.type, asked?.body.slug]).toEqual([
      'POST /api/v1/alerts/report',
      'alerts',
      alert.id,
    ]);
    expect(asked?.signature).toMatch(/^sha256=[0-9a-f]{64}$/);
  });

  it('leaves out channels that were not chosen, and says if the site did not answer', async () => {
    answer({ state: 'sent', readers: 1 }, { state: 'sent' });
    await start(given({ mail: '', push: '' }));
    expect((await report()).json).toMatchObject({ mail: '', push: '', final: true });
    receiver.reply = ({ path }) => ({
      status: path.includes('report') ? 503 : 200,
      body: { ok: !path.includes('report') },
    });
    await start(given());
    expect((await report()).json).toMatchObject({
      mail: 'We couldn’t get the status from the site.',
      push: '',
      final: false,
    });
  });

  it('is on the alert screen, with a button to withdraw the alert', async () => {
    answer({ state: 'sent', readers: 2 }, { state: 'sent' });
    await start(given({ text: 'It’s "open" & so on' }));
    const html: string = await newsroom.php(`ob_start(); newsroom_alert_screen(); return ob_get_clean();`);
    expect(html).toContain('On every page now');
    expect(html).toContain('It’s &quot;open&quot; &amp; so on');
    expect(html).toContain('data-newsroom-alert="final"');
    expect(html).toMatch(/name="newsroom_alert_id" value="[0-9a-f-]{36}"/);
    expect(html).toContain('Take it down');
  });
});

it('the alert form is filled in from a published story, and not from a draft', async () => {
  const link = (status: string) =>
    newsroom.php(
      `$id = wp_insert_post( array( 'post_type' => 'articles', 'post_title' => 'Fire & Smoke', 'post_status' => $input ) ); ob_start(); newsroom_alert_link( get_post( $id ) ); $html = ob_get_clean(); $_GET['story'] = $id; return array( $html, newsroom_alert_begin() );`,
      status,
    );
  const [html, begin] = await link('publish');
  expect(html).toMatch(/admin\.php\?page=newsroom-alert&(?:amp;|#038;)story=\d+/);
  expect(begin).toMatchObject({ text: 'Fire & Smoke', hours: 4 });
  const [none, empty] = await link('draft');
  expect([none, empty.text, empty.story]).toEqual(['', '', 0]);
});

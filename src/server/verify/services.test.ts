/**
 * The checks of mail, sign-in, search, CDN and WordPress: each passes with a right answer, and says what to do about a wrong one.
 */
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startBucket } from '../../../sandbox/bucket/bucket.ts';
import { type Facebook, startFacebook } from '../../../sandbox/facebook/facebook.ts';
import { type Google, startGoogle } from '../../../sandbox/google/google.ts';
import { startPush } from '../../../sandbox/push/push.ts';
import { startQuotes } from '../../../sandbox/quotes/quotes.ts';
import { startVerifier, type Verifier } from '../../../sandbox/verifier/verifier.ts';
import { freePort } from '../../../scripts/setup/ports.mjs';
import { graphVersion } from '../../lib/accounts/social-providers.server.ts';
import { silent } from '../../lib/logging.ts';
import type { MailSettings } from '../../lib/mail/smtp.server.ts';
import { facebookCheck, googleCheck, mailCheck, verifierCheck, zephrCheck } from './accounts.ts';
import { type Check, type Line, runChecks } from './checks.ts';
import { bucketCheck, cdnCheck, pushCheck, searchCheck, tickerCheck } from './vendors.ts';
import { wordpressCheck } from './wordpress.ts';

const siteUrl = 'https://www.example.com';
const run = (check: Check): Promise<Line[]> => runChecks([check]);
const outcomes = (lines: readonly Line[]): string[] => lines.map(({ outcome }) => outcome);
/** The failed line; every other check passed or didn't run. */
async function failure(check: Check): Promise<Line> {
  const failed = (await run(check)).filter(({ outcome }) => outcome === 'failed');
  expect(failed).toHaveLength(1);
  expect(failed[0]?.remedy).toBeTruthy();
  return failed[0] as Line;
}

interface Answer {
  readonly status?: number;
  readonly json?: unknown;
  readonly headers?: Record<string, string>;
}
type Answers = (request: IncomingMessage) => Answer;

const servers: Server[] = [];
afterAll(() => {
  for (const server of servers) server.close();
});

/** A vendor that answers as a test says. @returns its origin */
async function vendor(answers: Answers): Promise<string> {
  const server = createServer((request, response) => {
    request.resume();
    const { status = 200, json = {}, headers = {} } = answers(request);
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(JSON.stringify(json));
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe('the checks of Google and Facebook', () => {
  let google: Google;
  let facebook: Facebook;
  beforeAll(async () => {
    [google, facebook] = await Promise.all([startGoogle({ siteUrl }), startFacebook({ siteUrl })]);
  });
  afterAll(async () => {
    await Promise.all([google.stop(), facebook.stop()]);
  });
  const googleSettings = () => {
    const { issuer, clientId, clientSecret } = google.access;
    return { url: issuer, clientId, clientSecret };
  };
  const facebookSettings = () => {
    const { wwwUrl, graphUrl, clientId, clientSecret } = facebook.access;
    return { url: wwwUrl, graphUrl, clientId, clientSecret };
  };
  const redirectUri = `${siteUrl}/blaize/oauth/google/callback`;

  it('pass with the app’s id and secret', async () => {
    expect(outcomes(await run(googleCheck(googleSettings(), redirectUri)))).toEqual(['ok', 'ok', 'ok']);
    expect(outcomes(await run(facebookCheck(facebookSettings(), graphVersion)))).toEqual(['ok', 'ok']);
  });

  it('fail with a wrong secret, without printing it', async () => {
    const wrong = await failure(googleCheck({ ...googleSettings(), clientSecret: 'gocspx-wrong' }, redirectUri));
    expect(wrong.result).toContain('invalid_client');
    const other = await failure(facebookCheck({ ...facebookSettings(), clientSecret: 'fb-wrong' }, graphVersion));
    expect(other.result).toContain('Error validating client secret');
    for (const { result, remedy } of [wrong, other]) expect(result + remedy).not.toMatch(/gocspx-wrong|fb-wrong/);
  });

  it('report an unregistered return address, and a disabled client', async () => {
    const unknown = await failure(
      googleCheck(googleSettings(), 'https://other.example.com/blaize/oauth/google/callback'),
    );
    expect([unknown.asks, unknown.result]).toEqual([
      'GET the authorization endpoint with our return address',
      'redirect_uri_mismatch',
    ]);
    expect(unknown.remedy).toContain('https://other.example.com/blaize/oauth/google/callback');
    // As Google itself answers: a redirect to an error page, with the code inside Base64.
    for (const code of ['redirect_uri_mismatch', 'disabled_client']) {
      const authError = Buffer.from(`\n\x15${code}\x12\x0fYou can't sign in`, 'latin1').toString('base64');
      const location = `https://accounts.google.com/signin/oauth/error?authError=${encodeURIComponent(authError)}`;
      let issuer = '';
      issuer = await vendor(({ url }) => {
        if (url?.startsWith('/auth')) return { status: 302, headers: { location } };
        if (url === '/token') return { status: 400, json: { error: 'invalid_grant' } };
        return { json: { issuer, token_endpoint: `${issuer}/token`, authorization_endpoint: `${issuer}/auth` } };
      });
      expect((await failure(googleCheck({ ...googleSettings(), url: issuer }, redirectUri))).result).toBe(code);
    }
  });

  it('report an app that its own token cannot read', async () => {
    const graphUrl = await vendor(({ url }) =>
      url?.includes('/oauth/access_token')
        ? { json: { access_token: 'app|token' } }
        : {
            status: 400,
            json: { error: { type: 'GraphMethodException', code: 100, message: 'Unsupported get request.' } },
          },
    );
    const { result, remedy } = await failure(facebookCheck({ ...facebookSettings(), graphUrl }, graphVersion));
    expect(result).toContain('GraphMethodException 100');
    expect(remedy).toContain(graphVersion);
  });

  it('report an address where something else answers, or nothing', async () => {
    const elsewhere = await vendor(() => ({ status: 404, json: { error: 'not found' } }));
    expect((await failure(googleCheck({ ...googleSettings(), url: elsewhere }, redirectUri))).result).toContain('404');
    const issuer = await vendor(() => ({
      json: { issuer: 'https://other.example', token_endpoint: 'https://x.example' },
    }));
    const { remedy } = await failure(googleCheck({ ...googleSettings(), url: issuer }, redirectUri));
    expect(remedy).toContain('GOOGLE_ISSUER_URL');
    const unreachable = await failure(
      facebookCheck({ ...facebookSettings(), graphUrl: `http://127.0.0.1:${await freePort()}` }, graphVersion),
    );
    expect(unreachable.result).toContain('ECONNREFUSED');
  });
});

it('the bucket check writes, lists, reads and deletes a file, and reports a denied write and a wrong secret', async () => {
  const bucket = await startBucket();
  const { id: keyId, secret, region } = bucket.key;
  const settings = { endpoint: bucket.url, bucket: bucket.name, prefix: '', region, keyId, secret };
  try {
    expect(outcomes(await run(bucketCheck(settings)))).toEqual(['ok', 'ok', 'ok', 'ok']);
    expect(bucket.requests).toEqual([
      'PUT _assets/broadsheet-verify.txt',
      'LIST',
      'GET _assets/broadsheet-verify.txt',
      'DELETE _assets/broadsheet-verify.txt',
    ]);
    bucket.fail('denied');
    expect(await failure(bucketCheck(settings))).toMatchObject({
      asks: 'PUT broadsheet-verify.txt',
      result: 'the bucket answers 403 AccessDenied',
    });
    bucket.fail(null);
    const { remedy } = await failure(bucketCheck({ ...settings, secret: 'another-secret' }));
    expect(remedy).toBe('check ASSETS_BUCKET_SECRET');
  } finally {
    await bucket.stop();
  }
});

describe('the mail check', () => {
  /** A mail server that sends these lines, one for each command, and closes the connection after the last. */
  async function smtp(greeting: string, answers: Readonly<Record<string, string>>): Promise<number> {
    const server = createTcpServer((socket) => {
      socket.on('error', () => {});
      socket.write(`${greeting}\r\n`);
      socket.on('data', (data) => {
        const command = data.toString().split(/[\s:]/)[0]?.toUpperCase() ?? '';
        socket.write(`${answers[command] ?? '250 fine'}\r\n`);
      });
    });
    servers.push(server as unknown as Server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return (server.address() as AddressInfo).port;
  }
  const mail = (port: number, auth: MailSettings['smtp']['auth'] = null): MailSettings => ({
    smtp: { host: '127.0.0.1', port, secure: false, auth },
    from: { name: 'The Sun', address: 'news@example.com' },
    replyTo: null,
  });
  const user = { user: 'sun', password: 'hush' };

  it('passes when sign-in succeeds', async () => {
    const port = await smtp('220 hello', { EHLO: '250-hello\r\n250 AUTH PLAIN', AUTH: '235 welcome' });
    expect(outcomes(await run(mailCheck(mail(port, user), null)))).toEqual(['ok', 'ok']);
  });

  it('reports a refused password, without printing it', async () => {
    const port = await smtp('220 hello', { EHLO: '250-hello\r\n250 AUTH PLAIN', AUTH: '535 5.7.8 wrong' });
    const { asks, remedy, result } = await failure(mailCheck(mail(port, user), null));
    expect([asks, remedy]).toEqual(['AUTH as the user in SMTP_URL', expect.stringContaining('SMTP_URL')]);
    expect(result + remedy).not.toContain('hush');
  });

  it('reports why a test message is refused', async () => {
    const answers = { EHLO: '250-hello\r\n250 AUTH PLAIN', AUTH: '235 welcome', RCPT: '550 5.1.1 no such user' };
    const { asks, result, remedy } = await failure(
      mailCheck(mail(await smtp('220 hello', answers), user), 'editor@example.com'),
    );
    expect(asks).toBe('a message to editor@example.com');
    expect(result).toContain('550');
    expect(remedy).toContain('MAIL_FROM');
  });

  it('reports a server that does not answer, and one that does not use TLS', async () => {
    expect((await failure(mailCheck(mail(await freePort()), null))).result).toContain('ECONNREFUSED');
    const port = await smtp('220 hello', {});
    const secure = { ...mail(port), smtp: { ...mail(port).smtp, secure: true } };
    expect((await failure(mailCheck(secure, null))).remedy).toContain('smtps://');
  });
});

describe('the search check', () => {
  const settings = { appId: 'APP', searchKey: 'search-key-1', writeKey: 'write-key-1', index: 'stories' };
  const algolia = (acl: readonly string[], status = 200): Promise<string> =>
    vendor(({ url }) =>
      url?.startsWith('/1/keys/')
        ? { status, json: { acl } }
        : { status, json: { nbHits: 7, hits: [], query: '', params: '' } },
    );

  it('passes when one key can search and the other can write', async () => {
    const url = await algolia(['addObject', 'deleteObject']);
    expect((await run(searchCheck({ ...settings, url }, silent))).map(({ result }) => result)).toEqual([
      '7 stories in stories',
      'addObject, deleteObject',
    ]);
  });

  it('reports a missing permission of the write key, and a refused key', async () => {
    const lacking = await failure(searchCheck({ ...settings, url: await algolia(['addObject']) }, silent));
    expect(lacking.result).toBe('it may not deleteObject');
    const refused = await failure(searchCheck({ ...settings, url: await algolia([], 403) }, silent));
    expect(refused.result).toContain('403');
  });
});

describe('the CDN check', () => {
  const accepted = { json: { success: true, errors: [], messages: [], result: { id: 'x' } } };
  const page = { 'cache-control': 'public, max-age=0, must-revalidate', 'cf-cache-status': 'HIT' };
  const cloudflare = async (answer: Answer, front: Answer = { headers: page }) => {
    const apiUrl = await vendor(() => answer);
    const site = await vendor(() => front);
    return cdnCheck({ provider: 'cloudflare', zone: 'zone', token: 'cf-token', apiUrl }, site, silent);
  };

  it('passes when the CDN accepts a purge of a tag that no page has, and keeps the front page', async () => {
    const lines = await run(await cloudflare(accepted));
    expect(outcomes(lines)).toEqual(['ok', 'ok']);
    expect(lines[1]?.result).toContain('HIT');
  });

  it('reports that browsers are told to keep pages, and names the setting', async () => {
    const headers = { ...page, 'cache-control': 'public, max-age=14400, must-revalidate' };
    const { result, remedy } = await failure(await cloudflare(accepted, { headers }));
    expect(result).toContain('max-age=14400');
    expect(remedy).toContain('Respect Existing Headers');
  });

  it.each(['DYNAMIC', 'BYPASS'])('reports that Cloudflare doesn’t keep pages: %s', async (status) => {
    const headers = { ...page, 'cf-cache-status': status };
    const { result, remedy } = await failure(await cloudflare(accepted, { headers }));
    expect(result).toContain(status);
    expect(remedy).toContain('cache rule');
  });

  it('reports a site that doesn’t answer', async () => {
    expect((await failure(await cloudflare(accepted, { status: 503 }))).result).toBe('it answers 503');
  });

  it('reports a refused token, without printing it', async () => {
    const errors = [{ code: 10_000, message: 'Authentication error' }];
    const { result } = await failure(await cloudflare({ status: 403, json: { success: false, errors } }));
    expect(result).toContain('CLOUDFLARE_TOKEN');
    expect(result).not.toContain('cf-token');
  });
});

describe('the WordPress check', () => {
  const right: Readonly<Record<string, unknown>> = {
    '/wp-json/': { name: 'The Sun', namespaces: ['wp/v2', 'newsroom/v1'] },
    '/wp-json/newsroom/v1/status': { plugin: '1.0.0', site_url: siteUrl, credentials: true },
    '/wp-json/wp/v2/users/me': { capabilities: { newsroom_read_restricted: true, moderate_comments: true } },
  };
  const check = async (changes: Readonly<Record<string, Answer>> = {}) => {
    const url = await vendor((request) => {
      const path = request.url?.split('?')[0] ?? '';
      return changes[path] ?? { json: right[path] };
    });
    return wordpressCheck({ url, user: 'site', password: 'app pass word' }, siteUrl, '1.0.0');
  };

  it('passes with this release’s plugin and an account that has the needed rights', async () => {
    expect(outcomes(await run(await check()))).toEqual(['ok', 'ok', 'ok', 'ok']);
  });

  it.each([
    ['plain permalinks', { '/wp-json/': { status: 404 } }, 'Plain'],
    ['a login of the web server', { '/wp-json/': { status: 401 } }, 'its own login'],
    [
      'a redirect to another address',
      { '/wp-json/': { status: 301, headers: { location: 'https://other.example/' } } },
      'WORDPRESS_URL',
    ],
    ['a missing plugin', { '/wp-json/': { json: { name: 'x', namespaces: ['wp/v2'] } } }, 'activate'],
    [
      'a clock that is an hour ahead',
      { '/wp-json/': { json: right['/wp-json/'], headers: { date: new Date(Date.now() + 3_600_000).toUTCString() } } },
      'NTP',
    ],
    [
      'another version of the plugin',
      { '/wp-json/newsroom/v1/status': { json: { plugin: '0.9.0', site_url: siteUrl, credentials: true } } },
      'of this release',
    ],
    [
      'a plugin that is set up for another site',
      {
        '/wp-json/newsroom/v1/status': {
          json: { plugin: '1.0.0', site_url: 'https://old.example', credentials: true },
        },
      },
      siteUrl,
    ],
    [
      'an ignored application password',
      { '/wp-json/newsroom/v1/status': { json: { plugin: '1.0.0', site_url: siteUrl, credentials: false } } },
      'Authorization header',
    ],
    [
      'a wrong application password',
      { '/wp-json/wp/v2/users/me': { status: 401, json: { code: 'incorrect_password' } } },
      'WORDPRESS_APP_PASSWORD',
    ],
    [
      'an account without rights',
      { '/wp-json/wp/v2/users/me': { json: { capabilities: { moderate_comments: true } } } },
      'Newsroom site',
    ],
  ] satisfies [string, Record<string, Answer>, string][])('says what to do about %s', async (_, changes, remedy) => {
    const line = await failure(await check(changes));
    expect(line.remedy).toContain(remedy);
    expect(line.result + line.remedy).not.toContain('app pass word');
  });
});

it('the WordPress check names the settings when no account is set', async () => {
  const url = await vendor(({ url: path }) =>
    path === '/wp-json/newsroom/v1/status'
      ? { json: { plugin: '1.0.0', site_url: siteUrl, credentials: true } }
      : { json: { name: 'The Sun', namespaces: ['newsroom/v1'] } },
  );
  const { result, remedy } = await failure(wordpressCheck({ url }, siteUrl, '1.0.0'));
  expect([result, remedy]).toEqual(['no account is set', expect.stringContaining('WORDPRESS_APP_PASSWORD')]);
});

describe('the check of the email verifier', () => {
  let verifier: Verifier;
  beforeAll(async () => {
    verifier = await startVerifier();
  });
  afterAll(() => verifier.stop());
  const settings = () => ({ vendor: 'kickbox', url: verifier.access.kickboxUrl, key: verifier.access.key }) as const;

  it('passes when the site’s own address is deliverable', async () => {
    const lines = await run(verifierCheck(settings(), 'news@example.com'));
    expect(lines.map(({ result }) => result)).toEqual(['deliverable']);
  });

  it('reports a wrong key and an unexpected answer, and prints no key', async () => {
    for (const [other, result] of [
      [{ ...settings(), key: 'live_wrong' }, 'it answers 403'],
      [{ ...settings(), url: verifier.access.url, vendor: 'plain', key: 'live_wrong' }, 'it answers 401'],
      [{ ...settings(), url: await vendor(() => ({ json: { ok: true } })) }, 'its answer has an unexpected format'],
    ] as const) {
      const line = await failure(verifierCheck(other, 'news@example.com'));
      expect(line.result).toBe(result);
      expect(line.result + line.remedy).not.toContain('live_wrong');
    }
  });
});

describe('the check of the market prices', () => {
  it('shows the price of the first symbol, and reports a wrong key', async () => {
    const { access, stop } = await startQuotes();
    try {
      expect((await run(tickerCheck(access, ['SPX', 'DJI']))).map(({ result }) => result)).toEqual([
        expect.stringMatching(/^SPX at \d/),
      ]);
      const { result, remedy } = await failure(tickerCheck({ ...access, key: 'wrong-key' }, ['SPX']));
      expect(result).toMatch(/^it answers 401/);
      expect(remedy).toContain('QUOTES_KEY');
    } finally {
      await stop();
    }
  });
});

describe('the OneSignal check', () => {
  it('passes when the breaking-news segment exists, else names the existing ones, and reports a wrong key', async () => {
    const { access, stop } = await startPush();
    try {
      const settings = { ...access, segment: 'Total Subscriptions' };
      expect(outcomes(await run(pushCheck(settings)))).toEqual(['ok']);
      expect((await fetch(`${access.url}/sent`).then((answer) => answer.json())).length).toBe(0);
      expect(await failure(pushCheck({ ...settings, segment: 'Everyone' }))).toMatchObject({
        result: 'there is no segment Everyone',
        remedy: expect.stringContaining('Total Subscriptions'),
      });
      const other = await failure(pushCheck({ ...settings, key: 'os_v2_wrong' }));
      expect(other.result).toBe('it answers 403');
      expect(other.result + other.remedy).not.toContain('os_v2_wrong');
    } finally {
      await stop();
    }
  });
});

it('the Zephr check accepts only a 401 from the tenant’s account API, and reports every other status', async () => {
  const tenant = await vendor(({ url }) => ({ status: url === '/blaize/account' ? 401 : 404 }));
  expect(outcomes(await run(zephrCheck(tenant)))).toEqual(['ok']);
  for (const status of [200, 204, 302, 400, 403, 404, 500]) {
    const other = await vendor(() => ({ status }));
    expect(await failure(zephrCheck(other))).toMatchObject({
      result: `status ${status}`,
      remedy: expect.stringContaining('ZEPHR_URL'),
    });
  }
});

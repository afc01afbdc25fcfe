import { expect, it } from 'vitest';
import { contentOf } from '../../../tests/fixtures/open-content.ts';
import { type FakeWordPress, fakeWordPress, json, restError, wireSection } from '../../../tests/fixtures/wordpress.ts';
import { silent } from '../../lib/logging.ts';

type Break = (wordpress: FakeWordPress) => void;
const page = (status: number, headers: Record<string, string> = {}): Response =>
  new Response('<html>no</html>', { status, headers: { 'Content-Type': 'text/html', ...headers } });
const status = (part: object): Break => {
  return (wordpress) => {
    wordpress.status = { ...wordpress.status, ...part };
  };
};
const answers = (answer: (url: URL) => Response | null): Break => {
  return (wordpress) => {
    wordpress.intercept = (request) => answer(new URL(request.url));
  };
};
const tls = (code: string): Break => {
  return (wordpress) => {
    wordpress.intercept = () => {
      throw new TypeError('fetch failed', { cause: { code } });
    };
  };
};

const clock = (ahead: number): Break => {
  return (wordpress) => {
    wordpress.clockAhead = ahead;
  };
};

async function meet(broken: Break) {
  const wordpress = fakeWordPress('https://cms.example');
  wordpress.put('categories', { id: 3, ...wireSection(3, 'politics', 1) });
  broken(wordpress);
  const logged: string[] = [];
  const content = contentOf(wordpress, {
    mediaHosts: ['media.example'],
    log: { ...silent, warn: (_, message) => void logged.push(message) },
  });
  const { ok } = await content.syncNow();
  const { problems } = content.status();
  await content.syncNow();
  const said = logged.filter((line) => problems.some(({ message }) => line.endsWith(message)));
  await content.stop();
  return { ok, problems, said };
}

const plugin = (code: string) => ({ credentials: false, problems: [{ code, message: `${code}: do this` }] });

it.each<[name: string, broken: Break, code: string, remedy: RegExp, goesOn: boolean]>([
  ['a private CA', tls('SELF_SIGNED_CERT_IN_CHAIN'), 'private-ca', /NODE_EXTRA_CA_CERTS=/, false],
  ['an unknown issuer', tls('UNABLE_TO_VERIFY_LEAF_SIGNATURE'), 'private-ca', /NODE_EXTRA_CA_CERTS=/, false],
  ['a certificate for another host', tls('ERR_TLS_CERT_ALTNAME_INVALID'), 'certificate', /WORDPRESS_URL/, false],
  [
    'HTTP Basic authentication in front of WordPress',
    answers(() => page(401, { 'WWW-Authenticate': 'Basic realm="Staging"' })),
    ...(['basic-auth', /exempt \/wp-json\/ and \/wp-content\/uploads\//, false] as const),
  ],
  ['a firewall', answers(() => page(403)), 'basic-auth', /let the site's address in/, false],
  [
    'plain permalinks',
    answers(({ searchParams }) =>
      searchParams.has('rest_route') ? json({ plugin: '1.1.0', credentials: true }) : page(404),
    ),
    ...(['plain-permalinks', /Settings → Permalinks/, false] as const),
  ],
  ['a missing plugin', answers(() => restError(404, 'rest_no_route')), 'no-plugin', /install and activate/, false],
  [
    'a wrong password',
    answers(() => restError(401, 'incorrect_password')),
    'password',
    /WORDPRESS_APP_PASSWORD/,
    false,
  ],
  [
    'application passwords disabled by Wordfence',
    answers(() => restError(401, 'application_passwords_disabled')),
    ...(['passwords-off', /Wordfence: All Options/, false] as const),
  ],
  ['WordPress without HTTPS', status(plugin('passwords-need-https')), 'passwords-need-https', /do this/, true],
  ['disabled application passwords', status(plugin('passwords-off')), 'passwords-off', /do this/, true],
  [
    'a web server that drops the Authorization header',
    status({ credentials: false, signed_in: false, signs_in: false }),
    ...(['authorization-lost', /CGIPassAuth On/, true] as const),
  ],
  [
    'a user without the needed role',
    status({ credentials: false, signed_in: true, signs_in: true }),
    ...(['role', /Newsroom site/, true] as const),
  ],
  ['an ignored password with an older plugin', status({ credentials: false }), 'password', /WORDPRESS_USER/, true],
  [
    'an uploads folder on another host',
    status({ uploads: 'https://cdn.example/uploads' }),
    ...(['uploads-elsewhere', /IMAGE_HOSTS=cdn\.example/, true] as const),
  ],
  ['a fast clock', clock(3600), 'clock', /\d{4} seconds ahead.*NTP/, true],
  ['a slow clock', clock(-3600), 'clock', /\d{4} seconds behind/, true],
])('%s is reported with its remedy, and logged once', async (_, broken, code, remedy, goesOn) => {
  const { ok, problems, said } = await meet(broken);
  expect(problems.map((problem) => problem.code)).toEqual([code]);
  expect(problems[0]?.message).toMatch(remedy);
  expect(said).toHaveLength(1);
  expect(ok).toBe(goesOn);
});

it('no problem is reported when all is well, including uploads on an allowed host', async () => {
  const well = status({ uploads: 'https://media.example/u', problems: [{ code: 'uploads-elsewhere', message: 'x' }] });
  expect(await meet(well)).toMatchObject({ ok: true, problems: [] });
  expect(await meet(status({ uploads: 'https://cms.example/wp-content/uploads' }))).toMatchObject({ problems: [] });
  // Errors without a name are logged unchanged.
  const { ok, problems } = await meet(answers(() => restError(404, 'rest_disabled')));
  expect([ok, problems]).toEqual([false, []]);
});

/** WordPress: its REST interface, the site's account, the plugin, the clock, and the account's permissions for comments. */
import type { WordPressConfig } from '../config/config.ts';
import { type Check, CheckFailure, checkOf, fields, type Reply, request } from './checks.ts';

/** Seconds that the two clocks may differ; the plugin's webhooks are refused beyond five minutes. */
const clockToleranceSeconds = 60;

/**
 * @param siteUrl this site's public address
 * @param pluginVersion the version of the plugin that this release ships
 */
export const wordpressCheck = (wordpress: WordPressConfig | null, siteUrl: string, pluginVersion: string): Check =>
  checkOf('wordpress', wordpress, 'set WORDPRESS_URL', [
    ['GET /wp-json/', async (settings) => interfaceOf(await ask(settings, '/wp-json/'))],
    ["WordPress's clock", async (settings) => clock(await ask(settings, '/wp-json/'))],
    [
      'GET /wp-json/newsroom/v1/status',
      async (settings) => plugin(await ask(settings, '/wp-json/newsroom/v1/status'), siteUrl, pluginVersion),
    ],
    [
      'GET /wp-json/wp/v2/users/me',
      async (settings) => {
        if (!settings.password) {
          throw new CheckFailure(
            'no account is set',
            'set WORDPRESS_USER and WORDPRESS_APP_PASSWORD to an account of the role Newsroom site',
          );
        }
        return rights(await ask(settings, '/wp-json/wp/v2/users/me?context=edit'));
      },
    ],
  ]);

const ask = ({ url, user, password }: WordPressConfig, path: string): Promise<Reply> =>
  request(`${url}${path}`, 'WORDPRESS_URL', {
    headers:
      user && password ? { authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}` } : {},
  });

function interfaceOf(reply: Reply): string {
  const { name, namespaces } = fields(reply.json);
  if (reply.status === 200 && Array.isArray(namespaces)) {
    if (!namespaces.includes('newsroom/v1')) {
      throw new CheckFailure(
        'the newsroom plugin is not active',
        'install wordpress/newsroom in WordPress and activate it',
      );
    }
    return `"${String(name)}" with the newsroom plugin`;
  }
  if (reply.status >= 300 && reply.status < 400) {
    const target = reply.headers.get('location') ?? 'another address';
    throw new CheckFailure(
      `a redirect to ${target}`,
      'set WORDPRESS_URL to the address that WordPress itself uses (Settings → General)',
    );
  }
  if (reply.status === 401) {
    throw new CheckFailure(
      'status 401',
      'the web server asks for its own login before WordPress; let /wp-json/ through',
    );
  }
  if (reply.status === 404) {
    throw new CheckFailure(
      'status 404',
      'choose permalinks other than "Plain" in WordPress (Settings → Permalinks), or correct WORDPRESS_URL',
    );
  }
  throw new CheckFailure(
    `status ${reply.status}, no REST interface`,
    'check that /wp-json/ is not blocked by a plugin, a firewall or the web server',
  );
}

function clock(reply: Reply): string {
  const there = Date.parse(reply.headers.get('date') ?? '');
  if (Number.isNaN(there)) return 'the response has no Date header, so the clocks were not compared';
  const seconds = Math.round((there - Date.now()) / 1000);
  if (Math.abs(seconds) <= clockToleranceSeconds) return `${Math.abs(seconds)} s apart`;
  const result = `${Math.abs(seconds)} s ${seconds > 0 ? 'ahead of' : 'behind'} this machine`;
  throw new CheckFailure(
    result,
    'set the clocks of both machines with NTP; webhooks from a clock that is minutes off are refused',
  );
}

function plugin(reply: Reply, siteUrl: string, pluginVersion: string): string {
  const { plugin: version, site_url: site, credentials } = fields(reply.json);
  if (reply.status !== 200 || typeof version !== 'string') {
    throw new CheckFailure(
      `status ${reply.status}`,
      'activate the newsroom plugin, and let /wp-json/newsroom/ through',
    );
  }
  if (version !== pluginVersion) {
    throw new CheckFailure(
      `version ${version}, this release has ${pluginVersion}`,
      'copy wordpress/newsroom of this release to WordPress',
    );
  }
  if (typeof site === 'string' && site.replace(/\/+$/, '') !== siteUrl) {
    const result = site === '' ? 'the plugin has no site address' : `the plugin calls ${site}`;
    throw new CheckFailure(result, `set the site's address to ${siteUrl} on the plugin's settings page`);
  }
  if (credentials !== true) {
    throw new CheckFailure(
      'the plugin does not see the site account',
      'WordPress ignored the application password: see docs/services/wordpress.md for servers that drop the Authorization header, Wordfence, and plain http',
    );
  }
  return `version ${version}, calls ${String(site)}`;
}

function rights(reply: Reply): string {
  const { capabilities } = fields(reply.json);
  if (reply.status !== 200) {
    const { code } = fields(reply.json);
    throw new CheckFailure(
      `status ${reply.status} ${typeof code === 'string' ? code : ''}`.trim(),
      'make a new application password for the site account, and copy it to WORDPRESS_APP_PASSWORD',
    );
  }
  const has = fields(capabilities);
  const lacking = ['newsroom_read_restricted', 'moderate_comments'].filter((name) => has[name] !== true);
  if (lacking.length === 0) return 'may read articles behind the paywall and submit comments';
  throw new CheckFailure(`lacks ${lacking.join(' and ')}`, 'give the account the role Newsroom site');
}

/** What the settings turn on. A feature without its credentials is off and says what would turn it on. */
import { isLoopback } from '../lib/loopback.ts';
import type { Config } from './config/config.ts';
import type { FeatureState, Features } from './services.ts';

export function describeFeatures(config: Config): Features {
  const needs = (missing: readonly (string | false)[], what: string): FeatureState => {
    const names = missing.filter((name) => name !== false);
    return names.length === 0 ? { on: true } : { on: false, why: `set ${names.join(' and ')} ${what}` };
  };
  const url = !config.wordpress && 'WORDPRESS_URL';
  const account = !config.wordpress?.password && 'WORDPRESS_USER and WORDPRESS_APP_PASSWORD';
  const secret = !config.newsroomSecret && 'NEWSROOM_SECRET';
  return {
    content: needs([url], 'to the WordPress that the paper is written in; until then pages answer 503'),
    restricted: needs([url, account], 'so that bodies for registered readers and subscribers are fetched whole'),
    webhooks: needs([url, secret], 'to the secret of the newsroom plugin; until then changes arrive by polling'),
    preview: needs([url, account, secret], 'so that editors can open drafts on the site'),
    comments: needs([url, account], 'so that comments can be handed to WordPress'),
    accounts: isOpenToListeners(config.siteUrl)
      ? {
          on: false,
          why: 'set SITE_URL to an https:// address; over http anybody on the way could take a reader’s session',
        }
      : needs(
          [!config.mail && !config.zephrUrl && 'SMTP_URL and MAIL_FROM'],
          'so that readers can be mailed links and codes to sign in with',
        ),
    billing: needs(
      [
        !config.stripe && 'STRIPE_SECRET_KEY, STRIPE_PUBLISHABLE_KEY and STRIPE_WEBHOOK_SECRET',
        !config.mail && 'SMTP_URL and MAIL_FROM',
      ],
      'so that readers can subscribe; until then the pages of plans show what there is and sell nothing',
    ),
    market: needs([!config.market && 'QUOTES_KEY'], 'so that the market ticker has prices to show'),
  };
}

/** Cookies go in the clear over http; that is only right where nobody can listen. */
function isOpenToListeners(siteUrl: string): boolean {
  const { protocol, hostname } = new URL(siteUrl);
  return protocol !== 'https:' && !isLoopback(hostname);
}

/** Features that the settings turn on or off. */
import { isLoopback } from '../lib/http/network.ts';
import type { Config } from './config/config.ts';

export type FeatureName =
  | 'content'
  | 'restricted'
  | 'webhooks'
  | 'preview'
  | 'comments'
  | 'accounts'
  | 'billing'
  | 'ticker';

export interface FeatureState {
  readonly on: boolean;
  /** The settings that would turn it on; only if it is off. */
  readonly why?: string;
}

export type Features = Readonly<Record<FeatureName, FeatureState>>;

/** A feature with missing settings is off, and names the settings that would turn it on. */
export function describeFeatures(config: Config): Features {
  const needs = (missing: readonly (string | false)[], what: string): FeatureState => {
    const names = missing.filter((name) => name !== false);
    return names.length === 0 ? { on: true } : { on: false, why: `set ${names.join(' and ')} ${what}` };
  };
  const url = !config.wordpress && 'WORDPRESS_URL';
  const account = !config.wordpress?.password && 'WORDPRESS_USER and WORDPRESS_APP_PASSWORD';
  const secret = !config.newsroomSecret && 'NEWSROOM_SECRET';
  return {
    content: needs([url], 'to the newspaper’s WordPress; until then pages respond with 503'),
    restricted: needs([url, account], 'so that bodies for registered readers and subscribers are fetched whole'),
    webhooks: needs([url, secret], 'to the secret of the newsroom plugin; until then changes arrive by polling'),
    preview: needs([url, account, secret], 'so that editors can open drafts on the site'),
    comments: needs([url, account], 'so that comments can be sent to WordPress'),
    accounts: isOpenToListeners(config.siteUrl)
      ? {
          on: false,
          why: 'set SITE_URL to an https:// address; over http, others on the network could steal a reader’s session',
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
      'so that readers can subscribe; until then the plan pages show the plans and sell nothing',
    ),
    ticker: needs([!config.ticker && 'QUOTES_KEY'], 'so that the market ticker has prices to show'),
  };
}

/** Over http, cookies are sent unencrypted; that is only acceptable on localhost. */
function isOpenToListeners(siteUrl: string): boolean {
  const { protocol, hostname } = new URL(siteUrl);
  return protocol !== 'https:' && !isLoopback(hostname);
}

/** What routes may call besides reading content: built once by `compose.ts`, handed out as `Astro.locals.services`. */
import type { Content } from '../content/service.ts';
import type { Access } from '../lib/access/service.ts';
import type { Accounts } from '../lib/accounts/service.ts';
import type { Billing } from '../lib/billing/service.ts';
import type { Comments } from '../lib/comments/service.ts';
import type { EmailVerification } from '../lib/email-verification/model.ts';
import type { Geo } from '../lib/geo/model.ts';
import type { Limiter } from '../lib/http/limiter.server.ts';
import { isLoopback } from '../lib/http/network.ts';
import type { Images } from '../lib/images/images.server.ts';
import type { Logger } from '../lib/logging.ts';
import type { MostRead } from '../lib/most-read/model.ts';
import type { Newsletters } from '../lib/newsletters/service.server.ts';
import type { Library } from '../lib/saved/model.ts';
import type { Sealer } from '../lib/sealed.server.ts';
import type { Search } from '../lib/search/model.ts';
import type { Support } from '../lib/support/service.server.ts';
import type { Ticker } from '../lib/ticker/model.ts';
import type { Config } from './config/config.ts';

export interface Services {
  /** Sync with WordPress: webhooks (`receive`), previews (`preview`), state (`status`). */
  readonly content: Content;
  /** The picture service behind `/image`. */
  readonly images: Images;
  /** Who reads, and how they sign in; `null` where accounts are off (`features.accounts`) or kept by a Zephr tenant. */
  readonly accounts: Accounts | null;
  /** Who a browser belongs to, wherever the accounts are kept; `null` where they are off. */
  readonly sessions: Pick<Accounts, 'session'> | null;
  /** Who may read what; `null` where accounts are off or kept by a Zephr tenant. */
  readonly access: Access | null;
  /** What readers save and have read; `null` where accounts are off or kept by a Zephr tenant. */
  readonly library: Library | null;
  /** Plans and payments; `null` where billing is off (`features.billing`). */
  readonly billing: Billing | null;
  /** What readers write under articles; `null` where comments or accounts are off, and where a tenant keeps the accounts. */
  readonly comments: Comments | null;
  /** What readers want by mail; `null` where accounts are off or kept by a Zephr tenant. */
  readonly newsletters: Newsletters | null;
  /** The support inbox; `null` where nothing is mailed, or a Zephr tenant keeps the accounts. */
  readonly support: Support | null;
  readonly emailVerification: EmailVerification;
  readonly geo: Geo;
  /** Rate limits of calls that belong to no service. */
  readonly limiter: Limiter;
  readonly search: Search;
  /** What is read most. */
  readonly mostRead: MostRead;
  /** The market ticker; `null` where no provider is set (`features.market`). */
  readonly ticker: Ticker | null;
  /** Seals what a browser keeps for us and is not to read, such as the address in a half-done sign-in. */
  readonly sealer: Sealer;
  readonly log: Logger;
  /** Which features are on, and what would turn on those that are off. */
  readonly features: Features;
}

export type FeatureName =
  | 'content'
  | 'restricted'
  | 'webhooks'
  | 'preview'
  | 'comments'
  | 'accounts'
  | 'billing'
  | 'market';

export interface FeatureState {
  readonly on: boolean;
  /** What to set in order to turn it on; only where it is off. */
  readonly why?: string;
}

export type Features = Readonly<Record<FeatureName, FeatureState>>;

// What the settings turn on. A feature without its credentials is off and says what would turn it on.

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

/** Cookies go in the clear over http; that is only right on this machine. */
function isOpenToListeners(siteUrl: string): boolean {
  const { protocol, hostname } = new URL(siteUrl);
  return protocol !== 'https:' && !isLoopback(hostname);
}

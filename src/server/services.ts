/** What routes may call besides reading content: built once by `compose.ts`, handed out as `Astro.locals.services`. */
import type { Content } from '../content/service.ts';
import type { Access } from '../lib/access/service.ts';
import type { Accounts } from '../lib/accounts/service.ts';
import type { Billing } from '../lib/billing/service.ts';
import type { Comments } from '../lib/comments/service.ts';
import type { EmailVerification } from '../lib/email-verification/model.ts';
import type { Geo } from '../lib/geo/model.ts';
import type { Limiter } from '../lib/http/limiter.server.ts';
import type { Images } from '../lib/images/images.server.ts';
import type { Logger } from '../lib/logging.ts';
import type { Popularity } from '../lib/most-read/service.ts';
import type { Newsletters } from '../lib/newsletters/service.server.ts';
import type { Library } from '../lib/saved/service.ts';
import type { Sealer } from '../lib/sealed.server.ts';
import type { Search } from '../lib/search/service.ts';
import type { Support } from '../lib/support/service.server.ts';
import type { Market } from '../lib/ticker/service.ts';

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
  readonly popularity: Popularity;
  /** Prices of the ticker; `null` where no provider is set (`features.market`). */
  readonly market: Market | null;
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

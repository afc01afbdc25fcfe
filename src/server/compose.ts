/**
 * Builds the services once, from settings. `main.ts` does so in production, `src/middleware.ts` in `astro dev`; tests
 * hand in what they want replaced.
 */
import { join } from 'node:path';
import { openContent } from '../content/content.server.ts';
import type { ContentChange } from '../content/service.ts';
import { createKeyed } from '../lib/accounts/engine/keyed.server.ts';
import { tenantSessions } from '../lib/accounts/zephr-sessions.server.ts';
import type { BillingStats } from '../lib/billing/engine/billing.server.ts';
import type { Database } from '../lib/database.ts';
import { createExternalCheck } from '../lib/email-verification/external.server.ts';
import { createMailDomainCheck } from '../lib/email-verification/mail-domain.server.ts';
import { createEmailVerification } from '../lib/email-verification/verification.server.ts';
import { createGeo } from '../lib/geo/geo.server.ts';
import { createImages } from '../lib/images/images.server.ts';
import { createLimiter } from '../lib/limits/limiter.server.ts';
import type { Logger } from '../lib/logging.ts';
import type { MailStats } from '../lib/mail/outbox.server.ts';
import { openMarket } from '../lib/market/market.server.ts';
import { createPopularity } from '../lib/popularity/popularity.server.ts';
import { createSealer } from '../lib/sealed.server.ts';
import { openAlgolia } from '../lib/search/algolia.server.ts';
import { createSearch } from '../lib/search/search.server.ts';
import { createAccessCookie } from '../press/delivery/access-cookie.ts';
import { publication } from '../publication.ts';
import { accessCookieName, accessKeysOf } from './access-keys.ts';
import { createWebhookBroadcast, type WebhookBroadcastStats } from './cluster/webhook-broadcast.ts';
import type { Config } from './config/config.ts';
import { openDataDir } from './data-dir.ts';
import { openDatabase } from './database/open.ts';
import { describeFeatures } from './features.ts';
import { keepPictures } from './keep-pictures.ts';
import { accountsSecret, openReaders, type ReadersState } from './readers.ts';
import type { Services } from './services.ts';

export interface House {
  readonly config: Config;
  readonly services: Services;
  /** The accounts' database; it is there where accounts are off, too. */
  readonly database: Database;
  /** What one request gets as `Astro.locals`; a fresh reader each time, for it records what the page shows. */
  locals(): App.Locals;
  /** How the accounts' database and the mail are; `null` where accounts are off. */
  readers(): ReadersState | null;
  /** What became of the mail; `null` where accounts are off. */
  readonly mailStats: (() => MailStats) | null;
  /** What was asked of Stripe; `null` where billing is off. */
  readonly billingStats: (() => BillingStats) | null;
  /** What became of webhooks between several processes; `null` where no PostgreSQL is shared. */
  readonly broadcastStats: (() => WebhookBroadcastStats) | null;
  /** Starts the sync with WordPress and the mail. */
  start(): void;
  /** Stops both and closes every file. */
  stop(): Promise<void>;
}

/** The content mirror's file in the data folder. */
export const contentFile = 'content.sqlite';

/** Hosts of pictures that articles may show beside WordPress's own: the poster pictures of videos. */
const pictureHosts = ['i.ytimg.com', 'img.youtube.com'];

/** Who is reading, where a Zephr tenant keeps the accounts. */
const tenantReaders = (config: Config): Services['sessions'] =>
  config.zephrUrl === null
    ? null
    : tenantSessions({
        url: config.zephrUrl,
        secure: config.siteUrl.startsWith('https:'),
        access: createAccessCookie({ name: accessCookieName, keys: accessKeysOf(config) }),
      });

/**
 * @param onChange told of every change of the content; what it resolves to is what a webhook's answer names
 * @param isKept whether what it was told outlives this process
 * @param onPrices told when the prices on the pages have changed
 * @throws Error with a sentence for the operator when the data folder cannot be written
 */
export async function compose(
  config: Config,
  log: Logger,
  onChange?: (change: ContentChange) => Promise<readonly string[]>,
  isKept?: () => boolean,
  onPrices?: () => void,
): Promise<House> {
  openDataDir(config.dataDir, log);
  const features = describeFeatures(config);
  for (const [feature, state] of Object.entries(features)) {
    if (!state.on) log.warn({ feature, why: state.why }, 'A feature is off');
  }

  const emailVerification = createEmailVerification({
    mailDomain: config.emailDnsCheck ? createMailDomainCheck() : null,
    external: config.emailVerifier && createExternalCheck({ ...config.emailVerifier, log }),
  });
  const readers = await openReaders(config, emailVerification, log, onPrices, () =>
    content
      .reader()
      .authors()
      .map(({ name }) => name),
  );
  const billing = readers?.billing ?? null;
  const images = await createImages({
    dir: join(config.dataDir, 'images'),
    maxBytes: config.imageCacheBytes,
    allowedHosts: [...pictureHosts, ...config.imageHosts],
    trustedHost: config.wordpress ? new URL(config.wordpress.url).host : undefined,
    log,
  });
  const content = openContent({
    file: join(config.dataDir, contentFile),
    wordpress: config.wordpress,
    siteUrl: config.siteUrl,
    secret: config.newsroomSecret ?? undefined,
    frameHosts: [...publication.embeds.frameHosts, ...config.frameHosts],
    mediaHosts: config.imageHosts,
    measure: (url) => images.measure(url),
    log,
    pollSeconds: config.syncPollSeconds,
    onChange: (change) => {
      pictures.soon();
      search.changed([...change.tags, ...(change.withdrawnTags ?? [])]);
      return onChange?.(change);
    },
    isKept,
  });
  const pictures = keepPictures({
    reader: () => content.reader(),
    measure: (url) => images.measure(url),
    log,
  });
  // Where accounts are off there is still something to count.
  const { dataDir, databaseUrl } = config;
  const database = readers?.database ?? (await openDatabase({ dataDir, databaseUrl, log }));
  const limiter = createLimiter(database, createKeyed(accountsSecret(config)), config.accounts.limits, Date.now, log);
  // Whoever has no pages to keep fresh must not take a webhook from whoever has some on the same mirror.
  const relay =
    config.wordpress && databaseUrl !== null && onChange
      ? createWebhookBroadcast({ content, db: database.db, url: databaseUrl, log })
      : null;
  const popularity = createPopularity({
    ...{ database, limiter, log, reader: () => content.reader(), rules: publication.popularity },
    file: join(dataDir, 'most-read.json'),
    onChange: (tags) => void onChange?.({ tags, withdrawn: [] }),
  });
  const search = createSearch({
    hosted: config.algolia && openAlgolia({ access: config.algolia, reader: content.reader, dataDir, log }),
    log,
  });
  const sealer = createSealer({ secrets: accessKeysOf(config).map(({ secret }) => secret) });
  const services: Services = {
    content: relay ? { ...content, receive: relay.receive } : content,
    images,
    accounts: readers?.accounts ?? null,
    access: readers?.access ?? null,
    library: readers?.library ?? null,
    billing,
    comments: readers?.comments ?? null,
    newsletters: readers?.correspondence.newsletters ?? null,
    support: readers?.correspondence.support ?? null,
    sessions: readers?.accounts ?? tenantReaders(config),
    emailVerification,
    geo: createGeo(config.geo),
    limiter,
    search,
    popularity,
    market: openMarket(config.market, publication.market, log),
    sealer,
    log,
    features,
  };

  return {
    config,
    services,
    database,
    locals: () => ({ content: content.reader(), variant: 'public', markAccess: () => {}, config, services }),
    readers: () => readers?.state() ?? null,
    mailStats: readers && (() => readers.outbox.stats()),
    billingStats: billing && (() => billing.stats()),
    broadcastStats: relay?.stats ?? null,
    start: () => {
      readers?.start();
      popularity.start();
      if (!config.wordpress) return;
      content.start();
      relay?.start();
      search.start();
      pictures.soon();
    },
    stop: async () => {
      pictures.stop();
      await relay?.stop();
      await search.stop();
      await popularity.stop();
      await content.stop();
      await images.close();
      await readers?.stop();
      if (!readers) await database.close();
    },
  };
}

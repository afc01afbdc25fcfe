/** Accounts and everything that needs them: database, mail, billing, comments, newsletters, support. */
import { type AccessOptions, createAccess } from '../lib/access/access.server.ts';
import type { Access } from '../lib/access/model.ts';
import { createAccounts, defaultKeeping } from '../lib/accounts/service.server.ts';
import type { Accounts } from '../lib/accounts/service.ts';
import type { BillingOptions, BillingStats, RunningBilling } from '../lib/billing/engine/billing.server.ts';
import type { Billing } from '../lib/billing/service.ts';
import { createModeration, type Moderation } from '../lib/comments/moderation.server.ts';
import { commentsData, createComments } from '../lib/comments/service.server.ts';
import type { Comments } from '../lib/comments/service.ts';
import type { ContentReader } from '../lib/content/reader.ts';
import type { AccountsTransaction, Database } from '../lib/database.ts';
import type { EmailVerification } from '../lib/email-verification/model.ts';
import type { Limiter } from '../lib/http/limiter.server.ts';
import type { Logger } from '../lib/logging.ts';
import type { Message, Outbox } from '../lib/mail/model.ts';
import { openOutbox, type RunningOutbox } from '../lib/mail/outbox.server.ts';
import { publisherAt } from '../lib/mail/publisher.ts';
import { openTransport } from '../lib/mail/smtp.server.ts';
import { withoutWithdrawn } from '../lib/newsletters/model.ts';
import { createNewsletters, forgetChoices, type Newsletters } from '../lib/newsletters/service.server.ts';
import type { SavedStories } from '../lib/saved/model.ts';
import { createSavedStories } from '../lib/saved/saved.server.ts';
import { createPrivateFeeds } from '../lib/sound/private-feeds.server.ts';
import type { PrivateFeeds } from '../lib/sound/private-feeds.ts';
import { createSupport, type Support } from '../lib/support/service.server.ts';
import { publication } from '../publication.ts';
import type { Config } from './config/config.ts';
import { describeFeatures } from './features.ts';
import type { OldRowsList } from './old-rows.ts';
import { type PersonalDataList, personalDataOf } from './personal-data.ts';
import { accountsSecret, openReaderCookies, type ReaderCookies } from './secrets.ts';

/** Services that need accounts. A new one is declared here and created in {@link createServices}, which tests use, too. */
export interface ReaderServices {
  /** Readers' accounts and sign-in. */
  readonly accounts: Accounts;
  /** Which articles a reader may read. */
  readonly access: Access;
  /** Saved stories and reading history. */
  readonly savedStories: SavedStories;
  /** Subscribers' own feeds of series. */
  readonly privateFeeds: PrivateFeeds;
  /** Plans and payments; `null` where billing is off (`features.billing`). */
  readonly billing: Billing | null;
  /** Readers' comments; `null` where comments are off. */
  readonly comments: Comments | null;
  readonly newsletters: Newsletters;
  /** The support inbox. */
  readonly support: Support;
}

/** The accounts' part of `/readyz`. */
export interface ReadersState {
  /** Why the database can't be used at present; `null` when it can. */
  readonly database: string | null;
  /** Number of waiting messages, and the reason; `null` while the mail server accepts mail. */
  readonly mail: { readonly waiting: number; readonly problem: string | null };
  /** `null` where billing is off. */
  readonly stripe: StripeProblems | null;
}

export interface StripeProblems {
  /** Why no request is sent to Stripe; `null`: its key is the right one. */
  readonly problem: string | null;
  /** Why wallets' buttons are missing; `null`: they aren't. */
  readonly wallets: string | null;
}

export interface Readers {
  readonly services: ReaderServices;
  readonly outbox: RunningOutbox;
  readonly billingStats: (() => BillingStats) | null;
  readonly oldRows: OldRowsList;
  state(): ReadersState;
  start(): void;
  stop(): Promise<void>;
}

export interface ReadersOptions {
  /** The accounts' database; the caller closes it. */
  readonly database: Database;
  readonly limiter: Limiter;
  readonly verification: EmailVerification;
  readonly log: Logger;
  /** Called when the prices on the pages have changed. */
  readonly onPrices?: () => void;
  /** A fresh reader of the content, of which newsletters are; without it they are mailed as they were written. */
  readonly content?: () => ContentReader;
  /** Names under which readers may not comment. */
  readonly authors?: () => readonly string[];
}

/** Connections to the mail server, and messages sent at once. */
const mailConnections = 4;

/**
 * Opens the mail, and the services on it and on the accounts' database.
 *
 * @returns `null` when accounts are off (features.ts has the reason) or a Zephr tenant has them
 * @throws Error with a sentence for the operator; an unavailable PostgreSQL isn't an error
 */
export async function openReaders(config: Config, options: ReadersOptions): Promise<Readers | null> {
  const { mail, siteUrl } = config;
  if (!mail || config.zephrUrl !== null || !describeFeatures(config).accounts.on) return null;
  const { database, log } = options;
  const secret = accountsSecret(config);
  const transport = openTransport(mail, mailConnections);
  const paper = publisherAt(siteUrl);
  const { content } = options;
  const revise = (message: Message) =>
    content && message.kind === 'newsletter' ? withoutWithdrawn(message, content(), Date.now()) : message;
  const outbox = openOutbox({
    database,
    transport,
    secret,
    log,
    concurrency: mailConnections,
    paper,
    revise,
    onUnknownMailbox: (address) => forgetChoices(database, address),
  });
  const { services } = await createServices(config, { ...options, outbox, secret });
  const { accounts, access, savedStories, billing, comments, support } = services;
  return {
    services,
    outbox,
    billingStats: billing && (() => billing.stats()),
    oldRows: {
      accounts: accounts.oldRows,
      access: access.oldRows,
      savedStories: savedStories.oldRows,
      support: support.oldRows,
      mail: outbox.oldRows,
    },
    state: () => {
      const { waiting, problem } = outbox.stats();
      return { database: database.problem(), mail: { waiting, problem }, stripe: billing && stripeProblems(billing) };
    },
    start() {
      outbox.start();
      billing?.start();
      comments?.start();
      support.start();
    },
    async stop() {
      // At once: mail that is sent while billing waits for Stripe could be sent again if the process is killed.
      await Promise.all([billing?.stop(), support.stop(), comments?.stop(), outbox.stop()]);
    },
  };
}

function stripeProblems(billing: RunningBilling): StripeProblems {
  const { keyProblem, walletProblem } = billing.stats();
  return { problem: keyProblem, wallets: walletProblem };
}

export interface ServicesOptions extends Omit<ReadersOptions, 'content'> {
  readonly outbox: Outbox<AccountsTransaction>;
  /** The accounts' secret. */
  readonly secret: string;
  /** What tests replace. */
  readonly replaced?: {
    /** Access rules that differ from the publication's. */
    readonly accessRules?: Partial<AccessOptions['rules']>;
    /** Products that a user pays for, besides those of billing. */
    readonly paid?: AccessOptions['paid'];
    readonly billing?: RunningBilling;
    readonly moderation?: Moderation;
  };
}

/** Creates the services, each after its dependencies, and the personal data of all of them. */
export async function createServices(
  config: Config,
  { verification, onPrices, authors = () => [], replaced = {}, ...shared }: ServicesOptions,
) {
  const { siteUrl } = config;
  const { auditDays, google, facebook } = config.accounts;
  const { database, log } = shared;
  const billing = replaced.billing ?? (await openBilling(config, { ...shared, onPrices }));
  const cookies = openReaderCookies(config);
  const access = openAccess(config, { ...shared, pass: cookies.passes, billing, replaced });
  const personalData = personalDataOf(() => personalDataList, log);
  const accounts = await createAccounts({
    ...shared,
    siteUrl,
    verification,
    access: cookies.access,
    keeping: { ...defaultKeeping, auditDays },
    google,
    facebook,
    grantFor: access.grantFor,
    personalData,
  });
  const savedStories = createSavedStories({ database, rules: publication.savedStories });
  const newsletters = createNewsletters({ ...shared, siteUrl });
  const { contact, support: supportRules } = publication;
  const support = createSupport({ ...shared, inbox: contact.email, keepDays: supportRules.keepDays });
  const isSubscriber = async (userId: string) => (await access.paidGrant(userId)).level === 'subscriber';
  const privateFeeds = createPrivateFeeds({ ...shared, isSubscriber });
  const moderation = replaced.moderation ?? moderationOf(config);
  const comments =
    moderation &&
    createComments({
      ...shared,
      moderation,
      accounts,
      rules: publication.comments,
      reservedNames: () => [publication.name, ...authors()],
      isSubscriber: ({ userId }) => isSubscriber(userId),
    });
  const personalDataList: PersonalDataList = {
    billing: billing?.personalData ?? null,
    newsletters: newsletters.personalData,
    support: support.personalData,
    comments: comments?.personalData ?? commentsData(database),
    access: access.personalData,
    savedStories: savedStories.personalData,
    privateFeeds: privateFeeds.personalData,
    accounts: accounts.personalData,
  };
  const services = {
    accounts,
    access,
    savedStories,
    privateFeeds,
    billing,
    comments,
    newsletters,
    support,
  } satisfies ReaderServices;
  return { services, personalData };
}

interface AccessParts extends Pick<ServicesOptions, 'database' | 'secret'> {
  readonly pass: ReaderCookies['passes'];
  readonly billing: RunningBilling | null;
  readonly replaced: NonNullable<ServicesOptions['replaced']>;
}

function openAccess({ siteUrl }: Config, { database, secret, pass, billing, replaced }: AccessParts) {
  return createAccess({
    database,
    secret,
    rules: { ...publication.access, ...replaced.accessRules },
    secure: siteUrl.startsWith('https:'),
    paid: async (userId) => [
      ...((await billing?.entitlements(userId)) ?? []),
      ...((await replaced.paid?.(userId)) ?? []),
    ],
    promotionDays: () => billing?.prices().find(({ promotion }) => promotion)?.promotion?.days ?? null,
    pass,
  });
}

/** `null` when billing is off; its modules aren't loaded then. */
async function openBilling(
  config: Config,
  options: Pick<BillingOptions, 'database' | 'limiter' | 'outbox' | 'secret' | 'log' | 'onPrices'>,
): Promise<RunningBilling | null> {
  if (!config.stripe || !describeFeatures(config).billing.on) return null;
  const { createBilling } = await import('../lib/billing/engine/billing.server.ts');
  return createBilling({ ...options, access: config.stripe, siteUrl: config.siteUrl, rules: publication.billing });
}

/** `null` without a WordPress account for sending comments. */
function moderationOf({ wordpress }: Config): Moderation | null {
  const { url, user, password } = wordpress ?? {};
  if (url === undefined || user === undefined || password === undefined) return null;
  return createModeration({ url, user, password });
}

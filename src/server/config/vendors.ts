/** Settings of vendors: the ticker, search, retention, the bucket, crawlers, and third parties whose scripts pages load. */

import { z } from 'zod';
import type { PushSettings } from '../../lib/alerts/onesignal.server.ts';
import type { ConsentPlatform } from '../../lib/consent/platform.ts';
import type { Participation } from '../../lib/headline-tests/model.ts';
import type { AlgoliaAccess } from '../../lib/search/model.ts';
import { defaultAddresses, type ThirdParties } from '../../lib/third-party/settings.ts';
import type { QuotesAccess } from '../../lib/ticker/twelve-data.server.ts';
import type { BucketSettings } from '../cluster/bucket.ts';
import { type CrawlerName, type CrawlersConfig, crawlerNames } from '../http/crawlers.ts';
import {
  apiAddress,
  hosts,
  matching,
  missingCompanions,
  oneOf,
  openAddress,
  partsOf,
  plainAddress,
  setting,
  vendorAddress,
  webAddress,
} from './fields.ts';

export const tickerFields = {
  QUOTES_KEY: matching(/^[\x21-\x7e]{1,200}$/, "isn't a key; copy it from the account of the provider"),
  QUOTES_URL: vendorAddress('https://api.twelvedata.com'),
};

export const tickerOf = ({
  QUOTES_KEY: key,
  QUOTES_URL: url,
}: z.infer<z.ZodObject<typeof tickerFields>>): QuotesAccess | null => (key === undefined ? null : { key, url });

const algoliaPage = 'copy it from the page "API Keys" of the dashboard of Algolia';

export const searchFields = {
  ALGOLIA_APP_ID: matching(/^\w+$/, `isn't an application id; ${algoliaPage}`),
  ALGOLIA_SEARCH_KEY: matching(/^\w{8,}$/, `isn't a key; ${algoliaPage}`),
  ALGOLIA_WRITE_KEY: matching(/^\w{8,}$/, `isn't a key; ${algoliaPage}`),
  ALGOLIA_INDEX: matching(
    /^[\w.-]{1,256}$/,
    "isn't the name of an index; give letters, digits, dots, dashes and underscores",
  ),
  ALGOLIA_URL: apiAddress('https://search.example.com'),
};

type SearchValues = z.infer<z.ZodObject<typeof searchFields>>;

/** {@link searchProblems} checks that nothing is missing. */
export function searchOf(values: SearchValues): AlgoliaAccess | null {
  const { ALGOLIA_APP_ID: appId, ALGOLIA_SEARCH_KEY: searchKey, ALGOLIA_INDEX: index } = values;
  if (!appId || !searchKey || !index) return null;
  const { ALGOLIA_WRITE_KEY: writeKey = null, ALGOLIA_URL: url = null } = values;
  return { appId, searchKey, index, writeKey, url };
}

/** Problems of settings that depend on each other. */
export function searchProblems(given: Readonly<Record<string, string>>): string[] {
  const first = Object.keys(searchFields).find((name) => given[name]);
  return first ? missingCompanions(given, { [first]: ['ALGOLIA_APP_ID', 'ALGOLIA_SEARCH_KEY', 'ALGOLIA_INDEX'] }) : [];
}

/** The retention widget (docs/services/churnkey.md), through which subscribers cancel. */
export interface RetentionSettings {
  readonly appId: string;
  /** Signs a customer's number; never leaves the server. */
  readonly apiKey: string;
  readonly scriptUrl: string;
  /** The same mode as the payment provider's. */
  readonly mode: 'live' | 'test';
}

export const retentionFields = {
  CHURNKEY_APP_ID: matching(/^[\w-]+$/, "isn't an app id; copy it from the settings of the account"),
  CHURNKEY_API_KEY: z.string().optional(),
  CHURNKEY_SCRIPT_URL: vendorAddress('https://assets.churnkey.co/js/app.js'),
};

type RetentionValues = z.infer<z.ZodObject<typeof retentionFields>> & {
  readonly STRIPE_SECRET_KEY?: string | undefined;
};

/** {@link retentionProblems} checks that nothing is missing. */
export function retentionOf(values: RetentionValues): RetentionSettings | null {
  const { CHURNKEY_APP_ID: appId, CHURNKEY_API_KEY: apiKey, CHURNKEY_SCRIPT_URL: scriptUrl } = values;
  if (!appId || !apiKey) return null;
  const mode = /^[a-z]+_live_/.test(values.STRIPE_SECRET_KEY ?? '') ? 'live' : 'test';
  return { appId, apiKey, scriptUrl, mode };
}

/** Problems of settings that depend on each other. */
export const retentionProblems = (given: Readonly<Record<string, string>>): string[] =>
  missingCompanions(given, { CHURNKEY_APP_ID: ['CHURNKEY_API_KEY'], CHURNKEY_API_KEY: ['CHURNKEY_APP_ID'] });

export const bucketFields = {
  ASSETS_BUCKET: setting((text) => {
    const url = plainAddress(text);
    const [, bucket = '', prefix = ''] =
      /^\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])((?:\/[\w-][\w.-]*)*)\/?$/.exec(url?.pathname ?? '') ?? [];
    if (!url || bucket === '' || bucket.includes('..')) return null;
    return { endpoint: url.origin, bucket, prefix: prefix.slice(1) };
  }, 'is not the address of a bucket; give the endpoint, the bucket and perhaps a folder, without the key, such as https://s3.us-east-1.amazonaws.com/my-bucket/site'),
  ASSETS_BUCKET_REGION: matching(
    /^[\w-]{1,64}$/,
    "isn't a region; give the one of the bucket, such as eu-central-1, or auto for Cloudflare R2",
  ).default('us-east-1'),
  ASSETS_BUCKET_KEY_ID: z
    .string()
    .regex(/^[\x21-\x2b\x2d\x2e\x30-\x7e]{3,128}$/, "isn't the id of an access key; copy it from the storage service")
    .refine((id) => !id.startsWith('ASIA'), 'is a temporary access key; create one that does not expire')
    .optional(),
  ASSETS_BUCKET_SECRET: matching(
    /^[\x21-\x7e]{8,256}$/,
    "isn't the secret of an access key; copy it from the storage service",
  ),
};

/** {@link bucketProblems} checks that nothing is missing. */
export function bucketOf(values: z.infer<z.ZodObject<typeof bucketFields>>): BucketSettings | null {
  const { ASSETS_BUCKET: place, ASSETS_BUCKET_REGION: region } = values;
  const { ASSETS_BUCKET_KEY_ID: keyId, ASSETS_BUCKET_SECRET: secret } = values;
  if (!place || !keyId || !secret) return null;
  const { endpoint, bucket, prefix } = place;
  return { endpoint, bucket, prefix, region, keyId, secret };
}

/** Problems of settings that depend on each other. */
export const bucketProblems = (given: Readonly<Record<string, string>>): string[] =>
  missingCompanions(given, {
    ASSETS_BUCKET: ['ASSETS_BUCKET_KEY_ID', 'ASSETS_BUCKET_SECRET', 'DATABASE_URL'],
    ASSETS_BUCKET_REGION: ['ASSETS_BUCKET'],
    ASSETS_BUCKET_KEY_ID: ['ASSETS_BUCKET'],
    ASSETS_BUCKET_SECRET: ['ASSETS_BUCKET'],
  });

// Crawlers that may read articles behind the paywall.

const isName = (text: string): text is CrawlerName => crawlerNames.some((name) => name === text);

export const crawlerFields = {
  CRAWLERS: z
    .string()
    .default('')
    .transform((text, context) => {
      const names = partsOf(text.toLowerCase());
      for (const name of names.filter((each) => !isName(each)))
        context.addIssue(`holds ${JSON.stringify(name)}; give ${crawlerNames.join(', ')}, or leave it out`);
      return [...new Set(names.filter(isName))];
    }),
  CRAWLER_RANGES: z
    .string()
    .default('')
    .transform((text, context) => {
      const ranges: Partial<Record<CrawlerName, string>> = {};
      for (const part of partsOf(text)) {
        const [, name = '', source = ''] = /^([a-z]+)=(.+)$/.exec(part) ?? [];
        const isAddress = /^[a-z]+:\/\//i.test(source);
        if (isName(name) && source !== '' && (!isAddress || webAddress(source))) ranges[name] = source;
        else
          context.addIssue(
            `holds ${JSON.stringify(part)}; give lists as name=file or name=address, such as google=https://www.example.com/googlebot.json`,
          );
      }
      return ranges;
    }),
};

type CrawlerValues = z.infer<z.ZodObject<typeof crawlerFields>>;

/** @returns `null` when no crawler may read more than other visitors */
export const crawlersOf = (values: CrawlerValues): CrawlersConfig | null =>
  values.CRAWLERS.length === 0 ? null : { names: values.CRAWLERS, ranges: values.CRAWLER_RANGES };

/** Problems of settings that depend on each other. */
export function crawlersProblems(given: Readonly<Record<string, string>>): string[] {
  const names = partsOf(given.CRAWLERS?.toLowerCase() ?? '');
  return partsOf(given.CRAWLER_RANGES ?? '')
    .map((part) => part.split('=', 1)[0] ?? '')
    .filter((name) => isName(name) && !names.includes(name))
    .map(
      (name) =>
        `CRAWLER_RANGES holds a list for ${name}, which CRAWLERS does not name; add it there, or remove the list`,
    );
}

// Third parties whose scripts pages load. Each is off without its id.

export interface ThirdPartyConfig {
  readonly thirdParties: ThirdParties;
  /** `null`: the site's own banner asks for consent. */
  readonly consentPlatform: ConsentPlatform | null;
  /** Notifications of breaking news through OneSignal; `null`: the site sends none. */
  readonly push: PushSettings | null;
  /** Which readers may take part in tests of headlines. */
  readonly headlineTests: Participation;
}

const id = (form: RegExp, what: string) => matching(form, `isn't ${what}`);

export const thirdPartyFields = {
  GTM_CONTAINER: id(/^GTM-[A-Z0-9]{4,12}$/, 'a container; copy it from Tag Manager, where it begins with GTM-'),
  GTM_SCRIPT_URL: vendorAddress(defaultAddresses.tagManager),
  TAG_HOSTS: hosts('tags.example.com or *.example.com', { wildcards: true }),
  MARFEEL_ACCOUNT: id(/^\d{1,10}$/, 'an account id; copy the number from the settings of Marfeel'),
  MARFEEL_SCRIPT_URL: vendorAddress(defaultAddresses.audience),
  ONESIGNAL_APP_ID: id(
    /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i,
    'an app id; copy it from Keys & IDs in OneSignal',
  ),
  ONESIGNAL_SDK_URL: vendorAddress(defaultAddresses.webPush),
  ONESIGNAL_API_KEY: id(/^[\x21-\x7e]{20,300}$/, 'a key; copy the App API key from Keys & IDs in OneSignal'),
  ONESIGNAL_API_URL: vendorAddress('https://api.onesignal.com'),
  ONESIGNAL_SEGMENT: z.string().max(100, 'is too long for the name of a segment').default('Total Subscriptions'),
  GROWSURF_CAMPAIGN: id(/^\w{4,16}$/, 'a campaign; copy it from the installation page of GrowSurf'),
  GROWSURF_SCRIPT_URL: vendorAddress(defaultAddresses.referral),
  CALENDLY_URL: setting(
    (text) => openAddress(text)?.href ?? null,
    "isn't an address of a booking page; give one such as https://calendly.com/the-sun/call",
  ),
  CALENDLY_SCRIPT_URL: vendorAddress(defaultAddresses.scheduling),
  GPT_NETWORK: id(/^\d{4,15}(?:,\d{4,15})?$/, 'a network code; copy the number from the settings of Ad Manager'),
  GPT_SCRIPT_URL: apiAddress(defaultAddresses.ads),
  CONSENT_PLATFORM_URL: z
    .string()
    .refine((text) => {
      const url = webAddress(text);
      return url !== null && !url.username && !url.password;
    }, "isn't an address of a script; copy the one in the src of your platform’s snippet")
    .optional(),
  CONSENT_PLATFORM_HOSTS: hosts('cdn.example.com or *.example.com', { wildcards: true }),
  ADS_WITHOUT_CONSENT: oneOf(['house', 'limited'], 'give house or limited').default('house'),
  HEADLINE_TESTS: oneOf(['consent', 'all'], 'give consent or all').default('consent'),
};

type Values = z.infer<z.ZodObject<typeof thirdPartyFields>>;

export function thirdPartiesOf(values: Values): ThirdPartyConfig {
  const { GTM_CONTAINER: container, MARFEEL_ACCOUNT: account, ONESIGNAL_APP_ID: appId } = values;
  const { ONESIGNAL_API_KEY: key, ONESIGNAL_API_URL: api, ONESIGNAL_SEGMENT: segment } = values;
  const { GROWSURF_CAMPAIGN: campaign, CALENDLY_URL: url, GPT_NETWORK: network } = values;
  const platform = values.CONSENT_PLATFORM_URL;
  return {
    headlineTests: values.HEADLINE_TESTS,
    push: appId && key ? { appId, key, url: api, segment } : null,
    consentPlatform: platform ? { scriptUrl: platform, hosts: values.CONSENT_PLATFORM_HOSTS } : null,
    thirdParties: {
      tagManager: container ? { container, scriptUrl: values.GTM_SCRIPT_URL, hosts: values.TAG_HOSTS } : null,
      audience: account ? { account, scriptUrl: values.MARFEEL_SCRIPT_URL } : null,
      webPush: appId ? { appId, sdkUrl: values.ONESIGNAL_SDK_URL } : null,
      referral: campaign ? { campaign, scriptUrl: values.GROWSURF_SCRIPT_URL } : null,
      scheduling: url ? { url, scriptUrl: values.CALENDLY_SCRIPT_URL } : null,
      ads: network
        ? {
            network,
            scriptUrl: values.GPT_SCRIPT_URL ?? defaultAddresses.ads,
            // In the sandbox one stand-in serves both.
            limitedScriptUrl: values.GPT_SCRIPT_URL ?? defaultAddresses.limitedAds,
            withoutConsent: values.ADS_WITHOUT_CONSENT,
          }
        : null,
    },
  };
}

/** Problems of settings that depend on each other. */
export const thirdPartiesProblems = (given: Readonly<Record<string, string>>): string[] =>
  missingCompanions(given, {
    GTM_SCRIPT_URL: ['GTM_CONTAINER'],
    TAG_HOSTS: ['GTM_CONTAINER'],
    MARFEEL_SCRIPT_URL: ['MARFEEL_ACCOUNT'],
    ONESIGNAL_SDK_URL: ['ONESIGNAL_APP_ID'],
    ONESIGNAL_API_KEY: ['ONESIGNAL_APP_ID'],
    ONESIGNAL_API_URL: ['ONESIGNAL_API_KEY'],
    ONESIGNAL_SEGMENT: ['ONESIGNAL_API_KEY'],
    GROWSURF_SCRIPT_URL: ['GROWSURF_CAMPAIGN'],
    CALENDLY_SCRIPT_URL: ['CALENDLY_URL'],
    GPT_SCRIPT_URL: ['GPT_NETWORK'],
    ADS_WITHOUT_CONSENT: ['GPT_NETWORK'],
    CONSENT_PLATFORM_HOSTS: ['CONSENT_PLATFORM_URL'],
  });

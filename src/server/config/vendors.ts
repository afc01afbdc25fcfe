/** Settings of vendors behind single features: the ticker, search, retention and crawlers. */
import { z } from 'zod';
import type { QuotesAccess } from '../../lib/ticker/twelve-data.server.ts';
import { type CrawlerName, type CrawlersConfig, crawlerNames } from '../http/crawlers.ts';
import { apiAddress, webAddress } from './fields.ts';

export interface TickerConfig {
  /** `null`: the site has no ticker. */
  readonly ticker: QuotesAccess | null;
}

const twelveData = 'https://api.twelvedata.com';

export const tickerFields = {
  QUOTES_KEY: z
    .string()
    .regex(/^[\x21-\x7e]{1,200}$/, 'is no key; copy it from the account of the provider')
    .optional(),
  QUOTES_URL: apiAddress(twelveData),
};

export const tickerOf = ({
  QUOTES_KEY: key,
  QUOTES_URL: url,
}: z.infer<z.ZodObject<typeof tickerFields>>): TickerConfig => ({
  ticker: key === undefined ? null : { key, url: url ?? twelveData },
});

export interface AlgoliaSettings {
  readonly appId: string;
  /** Key that may only search. */
  readonly searchKey: string;
  /** Key that may write; `null`: something else fills the index. */
  readonly writeKey: string | null;
  readonly index: string;
  /** Without a trailing slash; `null`: the vendor's own hosts. */
  readonly url: string | null;
}

export interface SearchConfig {
  /** `null`: the site's own index searches. */
  readonly algolia: AlgoliaSettings | null;
}

const key = z.string().regex(/^\w{8,}$/, 'is no key; copy it from the page "API Keys" of the dashboard of Algolia');

export const searchFields = {
  ALGOLIA_APP_ID: z
    .string()
    .regex(/^\w+$/, 'is no application id; copy it from the page "API Keys" of the dashboard of Algolia')
    .optional(),
  ALGOLIA_SEARCH_KEY: key.optional(),
  ALGOLIA_WRITE_KEY: key.optional(),
  ALGOLIA_INDEX: z
    .string()
    .regex(/^[\w.-]{1,256}$/, 'is no name of an index; give letters, digits, dots, dashes and underscores')
    .optional(),
  ALGOLIA_URL: apiAddress('https://search.example.com'),
};

type SearchValues = z.infer<z.ZodObject<typeof searchFields>>;

/** {@link searchTogether} checks that nothing is missing. */
export function searchOf(values: SearchValues): SearchConfig {
  const { ALGOLIA_APP_ID: appId, ALGOLIA_SEARCH_KEY: searchKey, ALGOLIA_INDEX: index } = values;
  if (!appId || !searchKey || !index) return { algolia: null };
  const { ALGOLIA_WRITE_KEY: writeKey = null, ALGOLIA_URL: url = null } = values;
  return { algolia: { appId, searchKey, index, writeKey, url } };
}

/** Problems of settings that depend on each other. */
export function searchTogether(given: Readonly<Record<string, string>>): string[] {
  const needed = ['ALGOLIA_APP_ID', 'ALGOLIA_SEARCH_KEY', 'ALGOLIA_INDEX'];
  const first = Object.keys(searchFields).find((name) => given[name]);
  if (!first) return [];
  return needed
    .filter((name) => !given[name])
    .map((name) => `${name} is missing; set it beside ${first}, or remove ${first}`);
}

/** The retention widget (vendors.md 4), through which subscribers cancel. */
export interface RetentionSettings {
  readonly appId: string;
  /** Signs a customer's number; never leaves the server. */
  readonly apiKey: string;
  readonly scriptUrl: string;
  /** The same mode as the payment provider's. */
  readonly mode: 'live' | 'test';
}

export interface RetentionConfig {
  /** `null`: only our own pages handle cancellation. */
  readonly retention: RetentionSettings | null;
}

export const retentionScript = 'https://assets.churnkey.co/js/app.js';

export const retentionFields = {
  CHURNKEY_APP_ID: z
    .string()
    .regex(/^[\w-]+$/, 'is no app id; copy it from the settings of the account')
    .optional(),
  CHURNKEY_API_KEY: z.string().optional(),
  CHURNKEY_SCRIPT_URL: apiAddress(retentionScript),
};

type RetentionValues = z.infer<z.ZodObject<typeof retentionFields>> & {
  readonly STRIPE_SECRET_KEY?: string | undefined;
};

/** {@link retentionTogether} checks that nothing is missing. */
export function retentionOf(values: RetentionValues): RetentionConfig {
  const { CHURNKEY_APP_ID: appId, CHURNKEY_API_KEY: apiKey, CHURNKEY_SCRIPT_URL: scriptUrl = retentionScript } = values;
  if (!appId || !apiKey) return { retention: null };
  const mode = /^[a-z]+_live_/.test(values.STRIPE_SECRET_KEY ?? '') ? 'live' : 'test';
  return { retention: { appId, apiKey, scriptUrl, mode } };
}

/** Problems of settings that depend on each other. */
export function retentionTogether(given: Readonly<Record<string, string>>): string[] {
  const [id, key] = ['CHURNKEY_APP_ID', 'CHURNKEY_API_KEY'];
  return [
    [id, key],
    [key, id],
  ].flatMap(([one = '', other = '']) =>
    given[one] && !given[other] ? [`${other} is missing; set it beside ${one}, or remove ${one}`] : [],
  );
}

// Crawlers that may read articles behind the paywall.

const isName = (text: string): text is CrawlerName => crawlerNames.some((name) => name === text);
const parts = (text: string): string[] =>
  text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');

export const crawlerFields = {
  CRAWLERS: z
    .string()
    .default('')
    .transform((text, context) => {
      const names = parts(text.toLowerCase());
      for (const name of names.filter((each) => !isName(each)))
        context.addIssue(`holds ${JSON.stringify(name)}; give ${crawlerNames.join(', ')}, or leave it out`);
      return [...new Set(names.filter(isName))];
    }),
  CRAWLER_RANGES: z
    .string()
    .default('')
    .transform((text, context) => {
      const ranges: Partial<Record<CrawlerName, string>> = {};
      for (const part of parts(text)) {
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
export function crawlersTogether(given: Readonly<Record<string, string>>): string[] {
  const names = parts(given.CRAWLERS?.toLowerCase() ?? '');
  return parts(given.CRAWLER_RANGES ?? '')
    .map((part) => part.split('=', 1)[0] ?? '')
    .filter((name) => isName(name) && !names.includes(name))
    .map(
      (name) =>
        `CRAWLER_RANGES holds a list for ${name}, which CRAWLERS does not name; add it there, or remove the list`,
    );
}

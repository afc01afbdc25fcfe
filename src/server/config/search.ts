/** Settings of a hosted search engine. */
import { z } from 'zod';
import { apiAddress } from './fields.ts';

export interface AlgoliaSettings {
  readonly appId: string;
  /** Key that may search, and nothing else. */
  readonly searchKey: string;
  /** Key that may write; `null`: somebody else fills the index. */
  readonly writeKey: string | null;
  readonly index: string;
  /** Without a slash at its end; `null`: the vendor's own hosts. */
  readonly url: string | null;
}

export interface SearchConfig {
  /** `null`: the paper's own index searches. */
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

type Values = z.infer<z.ZodObject<typeof searchFields>>;

/** That nothing is missing is {@link searchTogether}'s business. */
export function searchOf(values: Values): SearchConfig {
  const { ALGOLIA_APP_ID: appId, ALGOLIA_SEARCH_KEY: searchKey, ALGOLIA_INDEX: index } = values;
  if (!appId || !searchKey || !index) return { algolia: null };
  const { ALGOLIA_WRITE_KEY: writeKey = null, ALGOLIA_URL: url = null } = values;
  return { algolia: { appId, searchKey, index, writeKey, url } };
}

/** Problems of settings that make sense only together. */
export function searchTogether(given: Readonly<Record<string, string>>): string[] {
  const needed = ['ALGOLIA_APP_ID', 'ALGOLIA_SEARCH_KEY', 'ALGOLIA_INDEX'];
  const first = Object.keys(searchFields).find((name) => given[name]);
  if (!first) return [];
  return needed
    .filter((name) => !given[name])
    .map((name) => `${name} is missing; set it beside ${first}, or remove ${first}`);
}

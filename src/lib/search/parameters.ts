/** Reads the search parameters of an address, and makes the response from the results. */
import { fromZonedTime } from 'date-fns-tz/fromZonedTime';
import { publication } from '../../publication.ts';
import { shortByline } from '../bylines/model.ts';
import type { ContentReader, FoundArticles, SearchHit } from '../content/reader.ts';
import { isDay } from '../instants.ts';
import { snippetOf, snippetParts } from '../text.ts';
import { searchMessages } from './messages.ts';
import type { SearchAnswer, SearchHitAnswer } from './model.ts';
import { pictureOf } from './record.ts';

const hitOf = (hit: SearchHit): SearchHitAnswer => ({
  slug: hit.slug,
  post_id: hit.id,
  post_title: hit.title,
  image_url: pictureOf(hit.image),
  author: { post_title: shortByline(hit.byline) },
  snippet: snippetParts(snippetOf(hit)),
  section: hit.section && { slug: hit.section.slug, label: hit.section.label },
  ...(hit.isLive && { live: true }),
  date: hit.date,
  url: `/article/${hit.slug}`,
});

/** @param page from 0 */
export const answerOf = (
  { items, total, added }: FoundArticles,
  query: string,
  page: number,
  hitsPerPage: number,
): SearchAnswer => ({
  nbHits: total,
  hits: items.map(hitOf),
  page,
  nbPages: Math.ceil(total / hitsPerPage),
  hitsPerPage,
  query,
  instead: [...added],
});

/** The editors' choice for a search without results (spec section 2, "Search overlay"): the lead story and the next ones. */
export function featuredStories(content: ContentReader, limit: number) {
  const top = content.topStories();
  const [newest] = content.articles({ limit: 1 }).items;
  const lead = top.featured ?? newest;
  return lead ? [lead, ...top.others].slice(0, limit) : [];
}

/** Longest query, in UTF-16 code units; the field accepts no more. */
const longestQuery = 200;

/**
 * The query of a search page, cut to 200 code units but never inside a character: half a surrogate pair can't be part of a URL.
 */
export function searchTerms(params: URLSearchParams): string {
  return (params.get('q') ?? '')
    .trim()
    .slice(0, longestQuery)
    .replace(/[\ud800-\udbff]$/u, '');
}

/** What the address of a search asks for. */
export interface SearchParameters {
  /** `''` where nothing was typed. */
  readonly query: string;
  /** Slug of a section, `''` for all. */
  readonly section: string;
  /** First and last day in the newspaper's time zone, `yyyy-MM-dd`; `''`: no limit. */
  readonly from: string;
  readonly to: string;
}

export const noSearchParameters: SearchParameters = { query: '', section: '', from: '', to: '' };

export type ReadSearchParameters =
  | { readonly ok: true; readonly parameters: SearchParameters }
  /** `message` is for a reader. */
  | { readonly ok: false; readonly message: string; readonly query: string };

/** Reads the address of a search. An unknown section finds nothing; an invalid day is refused. */
export function readSearchParameters(params: URLSearchParams): ReadSearchParameters {
  const given = (name: string): string => (params.get(name) ?? '').trim();
  const [from, to] = [given('from'), given('to')];
  const query = searchTerms(params);
  const refuse = (message: string): ReadSearchParameters => ({ ok: false, query, message });
  if (![from, to].every((day) => day === '' || isDay(day))) {
    return refuse(searchMessages.badDate);
  }
  if (from !== '' && to !== '' && from > to) return refuse(searchMessages.datesReversed);
  return { ok: true, parameters: { query, section: given('section').slice(0, 400), from, to } };
}

/** The days of a search as UTC instants for the content store; `until` is exclusive. */
export function spanOf({ from, to }: Pick<SearchParameters, 'from' | 'to'>): { since?: string; until?: string } {
  const startOf = (day: string): string => fromZonedTime(`${day}T00:00:00`, publication.timeZone).toISOString();
  return { ...(from !== '' && { since: startOf(from) }), ...(to !== '' && { until: startOf(dayAfter(to)) }) };
}

function dayAfter(day: string): string {
  const noon = new Date(`${day}T12:00:00Z`);
  noon.setUTCDate(noon.getUTCDate() + 1);
  return noon.toISOString().slice(0, 10);
}

/** The search parameters as part of an address, without empty values; `''` if all are empty. */
export const searchParametersText = ({ query, section, from, to }: SearchParameters): string =>
  Object.entries({ q: query, section, from, to })
    .filter(([, value]) => value !== '')
    .map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
    .join('&');
